//! The cells of every variable: the pieces between consecutive thresholds that hold an allowed value, or the levels of a category.

use leafgp_constraints::{Domain, LevelSet, Range, Region};

/// Cells of all variables. A box is a bitset of the cells it keeps, one run of words for each variable.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    features: Vec<FeatureCells>,
    /// First word of each variable in a box; one more entry than variables.
    offsets: Vec<usize>,
}

/// Cells of one variable.
#[derive(Clone, Debug)]
pub(crate) enum FeatureCells {
    /// Smallest and largest allowed value of each cell, ascending. The cells are `(t_k, t_{k+1}]`, the first closed below.
    Numeric(Vec<(f64, f64)>),
    /// Every level is a cell.
    Levels(usize),
}

impl FeatureCells {
    /// Number of cells.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Numeric(cells) => cells.len(),
            Self::Levels(n) => *n,
        }
    }
}

impl Cells {
    /// Cells of the domains between the thresholds of each variable (in any order, with repetitions; ignored for categories).
    pub(crate) fn new(domains: &[Domain], mut thresholds: Vec<Vec<f64>>) -> Self {
        let mut features = Vec::with_capacity(domains.len());
        let mut offsets = vec![0];
        for (domain, cuts) in domains.iter().zip(&mut thresholds) {
            let cells = match domain {
                Domain::Categorical { levels } => FeatureCells::Levels(*levels),
                Domain::Discrete(values) if values.is_empty() => FeatureCells::Numeric(Vec::new()),
                _ => {
                    cuts.sort_unstable_by(f64::total_cmp);
                    cuts.dedup();
                    let mut lower = f64::NEG_INFINITY;
                    let mut cells = Vec::with_capacity(cuts.len() + 1);
                    for &upper in cuts.iter().chain([&f64::INFINITY]) {
                        cells.extend(domain.within(lower, upper));
                        lower = upper.next_up();
                    }
                    FeatureCells::Numeric(cells)
                }
            };
            offsets.push(offsets.last().expect("starts with 0") + cells.len().div_ceil(64));
            features.push(cells);
        }
        Self { features, offsets }
    }

    /// Number of variables.
    pub(crate) fn n_features(&self) -> usize {
        self.features.len()
    }

    /// Cells of one variable.
    pub(crate) fn feature(&self, feature: usize) -> &FeatureCells {
        &self.features[feature]
    }

    /// Number of words of a box.
    pub(crate) fn n_words(&self) -> usize {
        self.offsets[self.features.len()]
    }

    /// The words of a variable within a box.
    pub(crate) fn words(&self, feature: usize) -> std::ops::Range<usize> {
        self.offsets[feature]..self.offsets[feature + 1]
    }

    /// True when a variable has no cell: no point exists.
    pub(crate) fn is_empty(&self) -> bool {
        self.features.iter().any(|cells| cells.len() == 0)
    }

    /// Number of cells of a numeric variable that lie at or below the threshold.
    pub(crate) fn split_at(&self, feature: usize, threshold: f64) -> usize {
        match &self.features[feature] {
            FeatureCells::Numeric(cells) => cells.partition_point(|&(_, upper)| upper <= threshold),
            FeatureCells::Levels(_) => 0,
        }
    }

    /// The full box.
    pub(crate) fn full(&self) -> Vec<u64> {
        let mut words = vec![0; self.n_words()];
        for f in 0..self.n_features() {
            fill(&mut words[self.words(f)], 0, self.features[f].len());
        }
        words
    }

    /// The cell that holds a value; values between cells belong to the next cell above, values beyond the ends to the outermost.
    pub(crate) fn cell_of(&self, feature: usize, x: f64) -> usize {
        match &self.features[feature] {
            FeatureCells::Numeric(cells) => {
                cells.partition_point(|&(_, upper)| upper < x).min(cells.len().saturating_sub(1))
            }
            FeatureCells::Levels(n) => (x.max(0.0) as usize).min(n.saturating_sub(1)),
        }
    }

    /// The smallest region that covers a non-empty box.
    pub(crate) fn hull(&self, cells: &[u64]) -> Region {
        let range = |f: usize| {
            let words = &cells[self.words(f)];
            match &self.features[f] {
                FeatureCells::Numeric(bounds) => {
                    let first = first_bit(words).expect("a box keeps a cell of every variable");
                    let last = last_bit(words).expect("a box keeps a cell of every variable");
                    Range::Interval { lower: bounds[first].0, upper: bounds[last].1 }
                }
                FeatureCells::Levels(n) => Range::Levels(LevelSet::from_indices(*n, bits(words))),
            }
        };
        Region((0..self.n_features()).map(range).collect())
    }

    /// Drops the cells of one variable that do not touch the range; returns whether any was dropped.
    pub(crate) fn intersect(&self, feature: usize, range: &Range, cells: &mut [u64]) -> bool {
        let words = &mut cells[self.words(feature)];
        let mut changed = false;
        let mut drop_unless = |keep: &dyn Fn(usize) -> bool| {
            for w in 0..words.len() {
                let mut rest = words[w];
                while rest != 0 {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    if !keep(64 * w + bit) {
                        words[w] &= !(1 << bit);
                        changed = true;
                    }
                }
            }
        };
        match (&self.features[feature], range) {
            (FeatureCells::Numeric(bounds), Range::Interval { lower, upper }) => {
                drop_unless(&|j| bounds[j].1 >= *lower && bounds[j].0 <= *upper);
            }
            (FeatureCells::Levels(_), Range::Levels(set)) => drop_unless(&|j| set.contains(j)),
            _ => debug_assert!(false, "a range that does not fit its variable"),
        }
        changed
    }
}

/// Sets the bits `first..end`.
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

/// Indices of the set bits, ascending.
pub(crate) fn bits(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(w, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                64 * w + bit
            })
        })
    })
}

/// The smallest set bit.
pub(crate) fn first_bit(words: &[u64]) -> Option<usize> {
    words.iter().position(|&w| w != 0).map(|i| 64 * i + words[i].trailing_zeros() as usize)
}

/// The largest set bit.
pub(crate) fn last_bit(words: &[u64]) -> Option<usize> {
    words.iter().rposition(|&w| w != 0).map(|i| 64 * i + 63 - words[i].leading_zeros() as usize)
}

/// Number of set bits.
pub(crate) fn count(words: &[u64]) -> usize {
    words.iter().map(|w| w.count_ones() as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::{Cells, FeatureCells, bits, fill, first_bit, last_bit};
    use crate::{Domain, Range};

    #[test]
    fn cells_without_an_allowed_value_do_not_exist() {
        let domains = [
            Domain::Integer { lower: 0.0, upper: 5.0 },
            Domain::Continuous { lower: 0.0, upper: 1.0 },
            Domain::Categorical { levels: 3 },
        ];
        let cuts = vec![vec![2.2, 2.8, 2.2, -7.0, 5.0], vec![0.5, 0.5f64.next_up(), 1.0], vec![]];
        let cells = Cells::new(&domains, cuts);
        match cells.feature(0) {
            FeatureCells::Numeric(c) => assert_eq!(c, &[(0.0, 2.0), (3.0, 5.0)]),
            FeatureCells::Levels(_) => panic!("a number"),
        }
        match cells.feature(1) {
            // One float wide cells exist; nothing lies above 1.
            FeatureCells::Numeric(c) => {
                let up = 0.5f64.next_up();
                assert_eq!(c, &[(0.0, 0.5), (up, up), (up.next_up(), 1.0)]);
            }
            FeatureCells::Levels(_) => panic!("a number"),
        }
        assert_eq!(cells.split_at(0, 2.5), 1);
        assert_eq!(cells.cell_of(0, 3.0), 1);
        assert_eq!((cells.cell_of(1, 0.5), cells.cell_of(1, 0.7), cells.cell_of(2, 2.0)), (0, 2, 2));
        let mut all = cells.full();
        assert_eq!(cells.hull(&all).0[1], Range::Interval { lower: 0.0, upper: 1.0 });
        assert!(cells.intersect(1, &Range::Interval { lower: 0.6, upper: 2.0 }, &mut all));
        assert_eq!(bits(&all[cells.words(1)]).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn bit_runs_cross_words() {
        let mut words = [0; 3];
        fill(&mut words, 60, 130);
        assert_eq!(bits(&words).collect::<Vec<_>>(), (60..130).collect::<Vec<_>>());
        assert_eq!((first_bit(&words), last_bit(&words)), (Some(60), Some(129)));
    }
}
