//! A set of small indices (levels of a category, cells of a feature) as a bitset of any size.

use smallvec::{SmallVec, smallvec};

/// A set of indices `0..capacity`, one bit each. Two sets are comparable only when they have the same capacity.
///
/// ```
/// use leafgp_constraints::LevelSet;
///
/// let mut levels = LevelSet::from_indices(5, [1, 2, 4]);
/// assert!(levels.intersect_with(&LevelSet::from_indices(5, [0, 2, 4])), "it changed");
/// assert_eq!(levels.iter().collect::<Vec<_>>(), [2, 4]);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LevelSet {
    words: SmallVec<[u64; 2]>,
    capacity: usize,
}

impl LevelSet {
    /// The empty subset of `0..capacity`.
    pub fn empty(capacity: usize) -> Self {
        Self { words: smallvec![0; capacity.div_ceil(64)], capacity }
    }

    /// All of `0..capacity`.
    pub fn full(capacity: usize) -> Self {
        let mut set = Self::empty(capacity);
        for (i, word) in set.words.iter_mut().enumerate() {
            let bits = (capacity - 64 * i).min(64);
            *word = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        }
        set
    }

    /// The set holding the listed indices.
    ///
    /// # Panics
    /// When an index is `>= capacity`.
    pub fn from_indices(capacity: usize, indices: impl IntoIterator<Item = usize>) -> Self {
        let mut set = Self::empty(capacity);
        for index in indices {
            set.insert(index);
        }
        set
    }

    /// Number of indices the set could hold.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Number of indices in the set.
    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// True when no index is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    /// True when `index` is in the set; false for an index beyond the capacity.
    pub fn contains(&self, index: usize) -> bool {
        index < self.capacity && self.words[index / 64] >> (index % 64) & 1 == 1
    }

    /// Adds an index.
    ///
    /// # Panics
    /// When `index >= capacity`.
    pub fn insert(&mut self, index: usize) {
        assert!(index < self.capacity, "index {index} outside a set of capacity {}", self.capacity);
        self.words[index / 64] |= 1 << (index % 64);
    }

    /// Removes an index; nothing happens when it is not in the set.
    pub fn remove(&mut self, index: usize) {
        if index < self.capacity {
            self.words[index / 64] &= !(1 << (index % 64));
        }
    }

    /// Keeps only what is also in `other`; returns whether the set changed.
    pub fn intersect_with(&mut self, other: &Self) -> bool {
        debug_assert_eq!(self.capacity, other.capacity, "sets of different capacity");
        let mut changed = false;
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            changed |= *a & !b != 0;
            *a &= b;
        }
        changed
    }

    /// Adds everything in `other`.
    pub fn union_with(&mut self, other: &Self) {
        debug_assert_eq!(self.capacity, other.capacity, "sets of different capacity");
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a |= b;
        }
    }

    /// True when the two sets share an index.
    pub fn intersects(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// True when every index of the set is in `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(a, b)| a & !b == 0)
    }

    /// The indices outside the set.
    pub fn complement(&self) -> Self {
        let mut all = Self::full(self.capacity);
        for (a, b) in all.words.iter_mut().zip(&self.words) {
            *a &= !b;
        }
        all
    }

    /// The smallest index in the set.
    pub fn first(&self) -> Option<usize> {
        self.words.iter().position(|&w| w != 0).map(|i| 64 * i + self.words[i].trailing_zeros() as usize)
    }

    /// The indices in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    64 * i + bit
                })
            })
        })
    }
}

impl std::fmt::Debug for LevelSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::LevelSet;

    #[test]
    fn full_set_has_no_bits_beyond_its_capacity() {
        for capacity in [0, 1, 63, 64, 65, 128, 200] {
            let full = LevelSet::full(capacity);
            assert_eq!(full.len(), capacity);
            assert!(full.complement().is_empty());
            assert!(!full.contains(capacity));
            assert_eq!(full.iter().collect::<Vec<_>>(), (0..capacity).collect::<Vec<_>>());
        }
    }

    #[test]
    fn set_operations_agree_with_the_definition() {
        let a = LevelSet::from_indices(130, [0, 64, 65, 129]);
        let b = LevelSet::from_indices(130, [64, 100, 129]);
        let mut both = a.clone();
        assert!(both.intersect_with(&b));
        assert_eq!(both.iter().collect::<Vec<_>>(), [64, 129]);
        assert!(both.is_subset(&a) && both.is_subset(&b) && a.intersects(&b));
        let mut either = a.clone();
        either.union_with(&b);
        assert_eq!(either.len(), 5);
        assert_eq!(a.first(), Some(0));
        assert_eq!(LevelSet::empty(3).first(), None);
    }
}
