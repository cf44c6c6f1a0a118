//! Leaf limits from the verifier's side.

use crate::forest::Forest;
use crate::limit::LeafLimit;

use super::cells::CellLeaf;

/// A leaf limit with its ends moved out by what rounding can do to a sum in plain arithmetic, which is what points are held to.
pub(super) struct WideLimit {
    /// By leaf of the forest.
    coefficients: Vec<f64>,
    constant: f64,
    lower: f64,
    upper: f64,
}

impl WideLimit {
    pub(super) fn new(limit: &LeafLimit, forest: &Forest) -> Self {
        let mut coefficients = vec![0.0; forest.n_leaves()];
        for &(leaf, a) in &limit.coefficients {
            coefficients[leaf] = a;
        }
        let largest = coefficients.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        let n = forest.n_trees() as f64 + 1.0;
        let slack = f64::EPSILON * n * (limit.constant.abs() + n * largest);
        Self {
            coefficients,
            constant: limit.constant,
            lower: (limit.lower - slack).next_down(),
            upper: (limit.upper + slack).next_up(),
        }
    }

    /// True when the limit does not hold at the given active leaves.
    pub(super) fn rules_out(&self, leaves: &[usize]) -> bool {
        let terms = || leaves.iter().map(|&leaf| self.coefficients[leaf]);
        let low = terms().fold(self.constant, |sum, a| (sum + a).next_down());
        let high = terms().fold(self.constant, |sum, a| (sum + a).next_up());
        low > self.upper || high < self.lower
    }

    /// Drops leaves that no allowed point can have beside what is left in the other trees. `None` when a tree has nothing left, else whether any went.
    pub(super) fn filter(&self, trees: &[Vec<CellLeaf>], alive: &mut [Vec<usize>]) -> Option<bool> {
        let coefficient = |t: usize, i: usize| trees[t][i].leaf.map_or(0.0, |leaf| self.coefficients[leaf]);
        let ends = |(t, alive): (usize, &Vec<usize>)| {
            let all = alive.iter().map(|&i| coefficient(t, i));
            all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), a| (low.min(a), high.max(a)))
        };
        let ends: Vec<(f64, f64)> = alive.iter().enumerate().map(ends).collect();
        let low = ends.iter().fold(self.constant, |sum, (min, _)| (sum + min).next_down());
        let high = ends.iter().fold(self.constant, |sum, (_, max)| (sum + max).next_up());
        // Without trees the constant alone decides.
        if low > self.upper || high < self.lower {
            return None;
        }
        let mut changed = false;
        for (t, (alive, (min, max))) in alive.iter_mut().zip(ends).enumerate() {
            let (others_low, others_high) = ((low - min).next_down(), (high - max).next_up());
            let before = alive.len();
            alive.retain(|&i| {
                let a = coefficient(t, i);
                (others_low + a).next_down() <= self.upper && (others_high + a).next_up() >= self.lower
            });
            if alive.is_empty() {
                return None;
            }
            changed |= alive.len() < before;
        }
        Some(changed)
    }
}
