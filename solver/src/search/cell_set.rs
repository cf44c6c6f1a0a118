//! Sets of cells of one variable as bits: cell `j` is bit `j % 64` of word `j / 64`.

use super::index::{CellId, Id};

/// Adds the cells `first..end`.
pub(crate) fn fill(words: &mut [u64], first: usize, end: usize) {
    for (w, word) in words.iter_mut().enumerate() {
        let (low, high) = (first.max(64 * w), end.min(64 * w + 64));
        if low < high {
            let n = high - low;
            let ones = if n == 64 { u64::MAX } else { (1 << n) - 1 };
            *word |= ones << (low - 64 * w);
        }
    }
}

/// True when the set holds the cell.
#[inline(always)]
pub(crate) fn holds(words: &[u64], cell: CellId) -> bool {
    let j = cell.index();
    words[j / 64] >> (j % 64) & 1 == 1
}

/// Adds a cell.
#[inline(always)]
pub(crate) fn insert(words: &mut [u64], cell: CellId) {
    let j = cell.index();
    words[j / 64] |= 1 << (j % 64);
}

/// Takes a cell out.
#[inline(always)]
pub(crate) fn remove(words: &mut [u64], cell: CellId) {
    let j = cell.index();
    words[j / 64] &= !(1 << (j % 64));
}

/// The cells, ascending.
pub(crate) fn cells_in(words: &[u64]) -> impl Iterator<Item = CellId> + '_ {
    words.iter().enumerate().flat_map(|(w, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                CellId::new(64 * w).plus(bit)
            })
        })
    })
}

/// The smallest cell.
pub(crate) fn first(words: &[u64]) -> Option<CellId> {
    words.iter().position(|&w| w != 0).map(|i| CellId::new(64 * i).plus(words[i].trailing_zeros()))
}

/// The largest cell.
pub(crate) fn last(words: &[u64]) -> Option<CellId> {
    words.iter().rposition(|&w| w != 0).map(|i| CellId::new(64 * i).plus(63 - words[i].leading_zeros()))
}

/// Number of cells.
pub(crate) fn len(words: &[u64]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

/// True when there is no cell.
pub(crate) fn is_empty(words: &[u64]) -> bool {
    words.iter().all(|&w| w == 0)
}

/// A set of cells by its words from the first to the last that hold any: most sets are small parts of a variable with many cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window<'a> {
    first_word: usize,
    words: &'a [u64],
}

impl<'a> Window<'a> {
    /// The words of a set, of which the first is number `first_word`; zeros at both ends are left out.
    pub(crate) fn new(first_word: usize, words: &'a [u64]) -> Self {
        let Some(first) = words.iter().position(|&w| w != 0) else {
            return Self { first_word: 0, words: &[] };
        };
        let end = words.iter().rposition(|&w| w != 0).map_or(0, |last| last + 1);
        Self { first_word: first_word + first, words: &words[first..end] }
    }

    /// What [`Window::first_word`] and [`Window::words`] gave.
    #[inline(always)]
    pub(crate) fn trimmed(first_word: usize, words: &'a [u64]) -> Self {
        Self { first_word, words }
    }

    /// Number of its first word.
    #[inline(always)]
    pub(crate) fn first_word(&self) -> usize {
        self.first_word
    }

    /// Its words.
    #[inline(always)]
    pub(crate) fn words(&self) -> &'a [u64] {
        self.words
    }

    /// The words of another set at the same places.
    #[inline(always)]
    pub(crate) fn of<'b>(&self, set: &'b [u64]) -> &'b [u64] {
        &set[self.first_word..self.first_word + self.words.len()]
    }

    /// True when the set holds the cell.
    #[inline(always)]
    pub(crate) fn holds(&self, cell: CellId) -> bool {
        let word = (cell.index() / 64).checked_sub(self.first_word).and_then(|w| self.words.get(w));
        word.is_some_and(|word| word >> (cell.index() % 64) & 1 == 1)
    }

    /// True when the sets share a cell.
    #[inline(always)]
    pub(crate) fn overlaps(&self, set: &[u64]) -> bool {
        self.words.iter().zip(self.of(set)).any(|(a, b)| a & b != 0)
    }

    /// True when the set holds all cells of another.
    pub(crate) fn covers(&self, set: &[u64]) -> bool {
        let (before, after) = (&set[..self.first_word], &set[self.first_word + self.words.len()..]);
        self.of(set).iter().zip(self.words).all(|(a, b)| a & !b == 0) && is_empty(before) && is_empty(after)
    }

    /// Adds its cells to a set.
    #[inline(always)]
    pub(crate) fn add_to(&self, set: &mut [u64]) {
        let set = &mut set[self.first_word..self.first_word + self.words.len()];
        set.iter_mut().zip(self.words).for_each(|(a, b)| *a |= b);
    }

    /// Drops the cells of a set that it does not hold.
    pub(crate) fn restrict(&self, set: &mut [u64]) {
        let end = self.first_word + self.words.len();
        set[..self.first_word].fill(0);
        set[end..].fill(0);
        set[self.first_word..end].iter_mut().zip(self.words).for_each(|(a, b)| *a &= b);
    }

    /// Its cells, ascending.
    pub(crate) fn cells(&self) -> impl Iterator<Item = CellId> + use<'a> {
        let first = 64 * self.first_word as u32;
        cells_in(self.words).map(move |cell| cell.plus(first))
    }

    /// Number of its cells.
    pub(crate) fn len(&self) -> usize {
        len(self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::{Window, cells_in, fill, first, holds, insert, is_empty, last, len, remove};
    use crate::search::index::{CellId, Id};

    /// Each operation of a window is that of the whole words.
    #[test]
    fn a_window_stands_for_its_words() {
        let sets: Vec<Vec<u64>> = [(0, 0), (0, 256), (70, 75), (130, 131), (60, 200), (192, 256)]
            .map(|(first, end)| {
                let mut words = vec![0; 4];
                fill(&mut words, first, end);
                words[2] &= 0xf0f0_f0f0_f0f0_f0f1;
                words
            })
            .into();
        for whole in &sets {
            let window = Window::new(0, whole);
            assert!(window.words().len() <= 4);
            let same = Window::new(1, &[0, 5, 0]);
            assert_eq!((same.first_word(), same.words()), (2, &[5][..]));
            assert!((0..256).map(CellId::new).all(|cell| window.holds(cell) == holds(whole, cell)));
            assert_eq!(window.cells().collect::<Vec<_>>(), cells_in(whole).collect::<Vec<_>>());
            assert_eq!(window.len(), len(whole));
            for set in &sets {
                assert_eq!(window.overlaps(set), set.iter().zip(whole).any(|(a, b)| a & b != 0));
                assert_eq!(window.covers(set), set.iter().zip(whole).all(|(a, b)| a & !b == 0));
                let (mut union, mut rest) = (set.clone(), set.clone());
                window.add_to(&mut union);
                window.restrict(&mut rest);
                assert!((0..4).all(|w| union[w] == set[w] | whole[w] && rest[w] == set[w] & whole[w]));
                assert_eq!(is_empty(&rest), !window.overlaps(set));
            }
        }
    }

    #[test]
    fn runs_of_cells_cross_words() {
        let mut words = [0; 3];
        fill(&mut words, 60, 130);
        let indices: Vec<_> = cells_in(&words).map(Id::index).collect();
        assert_eq!(indices, (60..130).collect::<Vec<_>>());
        assert_eq!((first(&words), last(&words)), (Some(CellId::new(60)), Some(CellId::new(129))));
        let cell = CellId::new(130);
        assert!(!holds(&words, cell));
        insert(&mut words, cell);
        assert!(holds(&words, cell) && last(&words) == Some(cell));
        remove(&mut words, cell);
        assert_eq!(last(&words), Some(CellId::new(129)));
    }
}
