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

/// True when there is no cell.
pub(crate) fn is_empty(words: &[u64]) -> bool {
    words.iter().all(|&w| w == 0)
}

/// True when the sets share a cell.
pub(crate) fn overlaps(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).any(|(a, b)| a & b != 0)
}

#[cfg(test)]
mod tests {
    use super::{cells_in, fill, first, holds, insert, last, remove};
    use crate::search::index::{CellId, Id};

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
