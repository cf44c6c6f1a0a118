//! The trees of the kernel.

use std::sync::Arc;

use leafgp_solver::Forest;

use super::coordinates::Coordinates;
use crate::Table;
use crate::gbdt::{GbdtSettings, train};

const N_TREES: usize = 100;
/// A leaf's number fits into a byte.
const DEPTH: i32 = 4;
/// Of the random thresholds: the same data give the same trees.
const SEED: u64 = 7;

/// A forest of boosted trees with randomised thresholds.
#[derive(Clone, Debug)]
pub(super) struct Leaves {
    forest: Arc<Forest>,
}

impl Leaves {
    /// The forest of the data; `None` where no tree splits.
    pub(super) fn grow(coordinates: &Coordinates, x: &Table, y: &[f64]) -> Option<Self> {
        let settings = GbdtSettings {
            n_trees: N_TREES,
            max_depth: DEPTH,
            extra_trees: true,
            min_data_in_bin: 1,
            ..GbdtSettings::default()
        };
        let forest = train(x, coordinates.domains(), y, None, &settings, SEED).ok()?.forest;
        let splits = forest.trees().iter().any(|tree| tree.n_leaves() > 1);
        splits.then(|| Self { forest: Arc::new(forest) })
    }

    /// The leaf in each tree of a point in variable order, `[n_trees]`.
    pub(super) fn of(&self, x: &[f64]) -> Vec<u8> {
        self.forest.trees().iter().map(|tree| tree.leaf_of(x).0 as u8).collect()
    }
}

/// Share of equal leaves.
#[inline]
pub(super) fn agreement(a: &[u8], b: &[u8]) -> f64 {
    let equal: u32 = a.iter().zip(b).map(|(a, b)| u32::from(a == b)).sum();
    f64::from(equal) / a.len() as f64
}
