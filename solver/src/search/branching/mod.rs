//! Second-order branching: the split whose two children promise the largest products of bound gains.

mod basis;
mod candidates;
mod displacement;

use super::cell_set::insert;
use super::index::{FeatureId, ItemId};
use super::links::Links;
use super::model::{Model, SKETCH_DIM};
use candidates::{Candidate, Candidates};
use displacement::BlockSums;

pub(crate) use basis::Basis;

/// A chosen split. Cells of one side; the other side keeps the rest of the box.
#[derive(Clone, Debug, Default)]
pub(crate) struct Split {
    pub(crate) feature: FeatureId,
    /// Words of the variable's left cells.
    pub(crate) left: Vec<u64>,
    /// First-order gain of each side: valid additions to the plain bound.
    pub(crate) gains: [f64; 2],
    /// Estimated gain of each side.
    pub(crate) estimates: [f64; 2],
}

/// The chosen split, and the buffers of its choice.
#[derive(Debug, Default)]
pub(crate) struct Branching {
    candidates: Candidates,
    sketch: BlockSums,
    exact: BlockSums,
    pub(crate) split: Split,
}

/// Candidates that get a second-order score.
const KEPT: usize = 16;
/// Candidates whose second-order score is computed exactly, when it was estimated from projected vectors first.
const FINALISTS: usize = 2;

/// Which vectors a displacement is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vectors {
    Projected,
    Exact,
}

impl Branching {
    /// Chooses a split. False when no variable tells items apart.
    pub(crate) fn choose(&mut self, model: &Model<'_>, links: &Links, basis: Basis<'_>) -> bool {
        model.kernels.dispatch(
            #[inline(always)]
            || self.candidates.collect(model, links, basis),
        );
        if self.candidates.list.is_empty() {
            return false;
        }
        if basis.curvature == 0.0 {
            // Without curvature no weight is split, the mass is nothing, and the sum of gains would keep neighbours of one lopsided threshold.
            for candidate in &mut self.candidates.list {
                candidate.score = second_score(candidate.gains, basis.need);
            }
        }
        self.candidates.keep_best(KEPT);
        self.sketch.reset(basis);
        self.exact.reset(basis);
        if basis.curvature > 0.0 && !model.sketch.is_empty() && self.candidates.list.len() > FINALISTS {
            for k in 0..self.candidates.list.len() {
                let estimates = self.estimate(model, links, basis, k, Vectors::Projected);
                self.candidates.list[k].score = second_score(estimates, basis.need);
            }
            self.candidates.keep_best(FINALISTS);
        }
        let mut best: Option<(f64, Candidate, [f64; 2])> = None;
        for k in 0..self.candidates.list.len() {
            let estimates = self.estimate(model, links, basis, k, Vectors::Exact);
            let score = second_score(estimates, basis.need);
            if best.is_none_or(|(s, ..)| score > s) {
                best = Some((score, self.candidates.list[k], estimates));
            }
        }
        let (_, candidate, estimates) = best.expect("there is a candidate");
        let linked = &links.features[candidate.linked];
        let split = &mut self.split;
        split.feature = linked.feature;
        split.gains = candidate.gains;
        split.estimates = estimates;
        split.left.clear();
        split.left.resize(model.cells.words(split.feature).len(), 0);
        for segment in linked.segments {
            if candidate.cut.on_left(self.candidates.rank[segment]) {
                links.cells(segment).iter().for_each(|&cell| insert(&mut split.left, cell));
            }
        }
        true
    }

    /// First-order gain plus half the curvature times the squared displacement, for each side of candidate `k`.
    fn estimate(
        &mut self,
        model: &Model<'_>,
        links: &Links,
        basis: Basis<'_>,
        k: usize,
        vectors: Vectors,
    ) -> [f64; 2] {
        let Self { candidates, sketch, exact, .. } = self;
        let candidate = candidates.list[k];
        let mut estimates = candidate.gains;
        if basis.curvature > 0.0 {
            model.kernels.dispatch(
                #[inline(always)]
                || {
                    for (side, estimate) in estimates.iter_mut().enumerate() {
                        let moved = match vectors {
                            Vectors::Projected => {
                                let rows = (|item: ItemId| &model.sketch[item][..], SKETCH_DIM);
                                sketch.displacement_sq(rows, links, candidates, &candidate, side, basis)
                            }
                            Vectors::Exact => {
                                let rows = (|item| model.vector(item), model.stride());
                                exact.displacement_sq(rows, links, candidates, &candidate, side, basis)
                            }
                        };
                        *estimate += 0.5 * basis.curvature * moved;
                    }
                },
            );
        }
        estimates
    }
}

fn second_score(estimates: [f64; 2], need: f64) -> f64 {
    let [left, right] = estimates.map(|e| (e / need).clamp(1e-4, 1.0));
    left * right + 0.001 * left.min(right)
}
