//! The cells of every variable: the pieces between consecutive thresholds that hold an allowed value, or the levels of a category.

use leafgp_constraints::{Domain, LevelSet, Range, Region};

use super::cell_set::{self, cells_in, fill};
use super::index::{CellId, FeatureId, Id, IdVec, Span};

/// Cells of all variables. A box is a bitset of the cells it keeps, one run of words for each variable.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    features: IdVec<FeatureId, FeatureCells>,
    /// First word of each variable in a box; one more entry than variables.
    offsets: IdVec<FeatureId, usize>,
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
        let mut features = IdVec::default();
        let mut offsets = IdVec::from(vec![0]);
        let mut n_words = 0;
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
            n_words += cells.len().div_ceil(64);
            offsets.push(n_words);
            features.push(cells);
        }
        Self { features, offsets }
    }

    /// Number of variables.
    pub(crate) fn n_features(&self) -> usize {
        self.features.len()
    }

    /// The variables.
    #[inline(always)]
    pub(crate) fn features(&self) -> Span<FeatureId> {
        self.features.ids()
    }

    /// Cells of one variable.
    pub(crate) fn feature(&self, feature: FeatureId) -> &FeatureCells {
        &self.features[feature]
    }

    /// Number of words of a box.
    pub(crate) fn n_words(&self) -> usize {
        self.offsets[self.features.next_id()]
    }

    /// The words of a variable within a box.
    #[inline(always)]
    pub(crate) fn words(&self, feature: FeatureId) -> std::ops::Range<usize> {
        self.offsets[feature]..self.offsets[feature.next()]
    }

    /// True when a variable has no cell: no point exists.
    pub(crate) fn is_empty(&self) -> bool {
        self.features.iter().any(|cells| cells.len() == 0)
    }

    /// The first cell of a numeric variable that lies above the threshold; the number of cells when none does.
    pub(crate) fn split_at(&self, feature: FeatureId, threshold: f64) -> CellId {
        CellId::new(match &self.features[feature] {
            FeatureCells::Numeric(cells) => cells.partition_point(|&(_, upper)| upper <= threshold),
            FeatureCells::Levels(_) => 0,
        })
    }

    /// The full box.
    pub(crate) fn full(&self) -> Vec<u64> {
        let mut words = vec![0; self.n_words()];
        for f in self.features() {
            fill(&mut words[self.words(f)], 0, self.features[f].len());
        }
        words
    }

    /// The cell that holds a value; values between cells belong to the next cell above, values beyond the ends to the outermost.
    pub(crate) fn cell_of(&self, feature: FeatureId, x: f64) -> CellId {
        CellId::new(match &self.features[feature] {
            FeatureCells::Numeric(cells) => {
                cells.partition_point(|&(_, upper)| upper < x).min(cells.len().saturating_sub(1))
            }
            FeatureCells::Levels(n) => (x.max(0.0) as usize).min(n.saturating_sub(1)),
        })
    }

    /// The smallest region that covers a non-empty box.
    pub(crate) fn hull(&self, cells: &[u64]) -> Region {
        let range = |f: FeatureId| {
            let words = &cells[self.words(f)];
            match &self.features[f] {
                FeatureCells::Numeric(bounds) => {
                    let first = cell_set::first(words).expect("a box keeps a cell of every variable");
                    let last = cell_set::last(words).expect("a box keeps a cell of every variable");
                    Range::Interval { lower: bounds[first.index()].0, upper: bounds[last.index()].1 }
                }
                FeatureCells::Levels(n) => {
                    Range::Levels(LevelSet::from_indices(*n, cells_in(words).map(Id::index)))
                }
            }
        };
        Region(self.features().into_iter().map(range).collect())
    }

    /// Drops the cells of one variable that do not touch the range; returns whether any was dropped.
    pub(crate) fn intersect(&self, feature: FeatureId, range: &Range, cells: &mut [u64]) -> bool {
        let words = &mut cells[self.words(feature)];
        let mut changed = false;
        let mut drop_unless = |keep: &dyn Fn(usize) -> bool| {
            for (w, word) in words.iter_mut().enumerate() {
                let mut rest = *word;
                while rest != 0 {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    if !keep(64 * w + bit) {
                        *word &= !(1 << bit);
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

#[cfg(test)]
mod tests {
    use super::{Cells, FeatureCells};
    use crate::search::cell_set::cells_in;
    use crate::search::index::{CellId, FeatureId, Id};
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
        let [a, b, c] = [0, 1, 2].map(FeatureId::new);
        match cells.feature(a) {
            FeatureCells::Numeric(c) => assert_eq!(c, &[(0.0, 2.0), (3.0, 5.0)]),
            FeatureCells::Levels(_) => panic!("a number"),
        }
        match cells.feature(b) {
            // One float wide cells exist; nothing lies above 1.
            FeatureCells::Numeric(c) => {
                let up = 0.5f64.next_up();
                assert_eq!(c, &[(0.0, 0.5), (up, up), (up.next_up(), 1.0)]);
            }
            FeatureCells::Levels(_) => panic!("a number"),
        }
        assert_eq!(cells.split_at(a, 2.5), CellId::new(1));
        assert_eq!(cells.cell_of(a, 3.0), CellId::new(1));
        let found = [cells.cell_of(b, 0.5), cells.cell_of(b, 0.7), cells.cell_of(c, 2.0)];
        assert_eq!(found, [0, 2, 2].map(CellId::new));
        let mut all = cells.full();
        assert_eq!(cells.hull(&all).0[1], Range::Interval { lower: 0.0, upper: 1.0 });
        assert!(cells.intersect(b, &Range::Interval { lower: 0.6, upper: 2.0 }, &mut all));
        assert_eq!(cells_in(&all[cells.words(b)]).collect::<Vec<_>>(), [CellId::new(2)]);
    }
}
