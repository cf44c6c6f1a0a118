//! A problem compiled for the search: trees in cell space, leaves as items with cell masks and padded vectors.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::forest::{Node as TreeNode, Rule};
use leafgp_constraints::{Range, Region};

use super::cell_set::{self, Window, cells_in, holds, insert};
use super::cell_tree::CellTree;
use super::cells::{Cells, FeatureCells};
use super::index::{CellId, FeatureId, Id, IdVec, ItemId, LeafId, LimitId, MaskId, Partition, TreeId};
use super::item_rows::ItemRows;
use super::items::{Items, ItemsBuilder, Restriction};
use super::kernels::{COARSE_PAD, Kernels, PAD};
use crate::problem::Problem;

/// The deviation term.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deviation {
    /// Its weight; negative when the deviation is minimised.
    pub(crate) kappa: f64,
    /// Prior variance.
    pub(crate) prior: f64,
}

/// A linear limit over items.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    /// Rounding that no evaluation order exceeds.
    pub(crate) margin: f64,
    pub(crate) coefficients: IdVec<ItemId, f64>,
}

/// The compiled problem. Items are the reachable leaves, then the pieces around each excluded region; blocks of items of which exactly one
/// is active.
#[derive(Debug)]
pub(crate) struct Model<'a> {
    pub(crate) problem: &'a Problem<'a>,
    pub(crate) kernels: Kernels,
    pub(crate) cells: Cells,
    /// The trees of the forest.
    pub(crate) trees: IdVec<TreeId, CellTree>,
    pub(crate) items: Items,
    /// Items of each tree, then of each excluded region.
    pub(crate) tree_items: Partition<TreeId, ItemId>,
    /// The part that each item lies in.
    tree_of_item: IdVec<ItemId, TreeId>,
    /// Linear cost of each item.
    pub(crate) cost: IdVec<ItemId, f64>,
    /// Vector of each item.
    pub(crate) factor: ItemRows<f64>,
    /// The vectors in single precision, to find directions with.
    pub(crate) coarse: ItemRows<f32>,
    /// The vectors projected at random: lengths within some 20 %. Empty when the vectors are short anyway.
    pub(crate) sketch: IdVec<ItemId, [f64; SKETCH_DIM]>,
    /// `|v|^2` of each item.
    pub(crate) norm_sq: IdVec<ItemId, f64>,
    /// Sum over blocks of the largest `|v|`.
    pub(crate) norm_sum: f64,
    /// Constant of the objective.
    pub(crate) constant: f64,
    pub(crate) deviation: Option<Deviation>,
    pub(crate) limits: IdVec<LimitId, Limit>,
    /// Whether rows of numbers are kept by piece (see [`super::pieces`]) instead of by segment: faster for many trees, and the same up to rounding.
    pub(crate) by_piece: bool,
}

/// There was no time for the whole model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopped;

impl<'a> Model<'a> {
    /// Compiles a checked problem. `None` when a variable has no allowed value, or an excluded region covers everything.
    pub(crate) fn new(problem: &'a Problem<'a>) -> Option<Self> {
        Self::new_while(problem, &|| false).unwrap_or_default()
    }

    /// The same.
    ///
    /// # Errors
    /// [`Stopped`] when it must stop, which is asked between trees and now and then within them.
    pub(crate) fn new_while(
        problem: &'a Problem<'a>,
        must_stop: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, Stopped> {
        let cells = Cells::new(problem.domains, thresholds(problem));
        if cells.is_empty() {
            return Ok(None);
        }
        let full = cells.full();
        let mut items = ItemsBuilder::default();
        let mut tree_items = Partition::default();
        let mut trees = IdVec::default();
        for (t, tree) in problem.forest.trees().iter().enumerate() {
            let offset = problem.forest.leaf_offset(t);
            if must_stop() {
                return Err(Stopped);
            }
            trees.push(CellTree::new(tree, offset, &cells, &mut items, must_stop).ok_or(Stopped)?);
            tree_items.push_end(items.next_id());
        }
        if exclude(problem, &cells, &full, &mut items, &mut tree_items).is_none() {
            return Ok(None);
        }
        let items = items.finish();
        let objective = problem.objective;
        let leaf_value = |leaf: &Option<LeafId>| leaf.map_or(0.0, |leaf| objective.linear[leaf.index()]);
        let cost = items.leaf.iter().map(leaf_value).collect();
        let deviation = objective.quadratic.as_ref().and_then(|q| {
            let prior = q.bounding_prior();
            (q.kappa != 0.0 && prior > 0.0).then_some(Deviation { kappa: q.kappa, prior })
        });
        let stride = match (&objective.quadratic, deviation) {
            (Some(q), Some(_)) => q.dim.next_multiple_of(PAD),
            _ => 0,
        };
        let kernels = Kernels::new();
        let mut factor = vec![0.0; items.len() * stride];
        if let (Some(q), Some(_)) = (&objective.quadratic, deviation) {
            for (row, leaf) in items.leaf.iter().enumerate() {
                if let Some(leaf) = leaf {
                    factor[row * stride..row * stride + q.dim].copy_from_slice(q.row(leaf.index()));
                }
            }
        }
        let factor = ItemRows { values: factor, stride };
        let norm_sq: IdVec<ItemId, f64> = if stride == 0 {
            vec![0.0; items.len()].into()
        } else {
            factor.rows().map(|row| kernels.dot(row, row)).collect()
        };
        let coarse_stride = stride.next_multiple_of(COARSE_PAD);
        let mut coarse = vec![0.0; items.len() * coarse_stride];
        if stride > 0 {
            for (row, coarse) in factor.rows().zip(coarse.chunks_exact_mut(coarse_stride)) {
                coarse.iter_mut().zip(row).for_each(|(c, &v)| *c = v as f32);
            }
        }
        let tree_of_item = tree_items
            .ids()
            .into_iter()
            .flat_map(|tree| tree_items.part(tree).into_iter().map(move |_| tree))
            .collect();
        let norm_sum =
            tree_items.parts().map(|items| norm_sq[items].iter().fold(0.0f64, |a, &b| a.max(b)).sqrt()).sum();
        if must_stop() {
            return Err(Stopped);
        }
        Ok(Some(Self {
            problem,
            kernels,
            cells,
            trees,
            tree_of_item,
            tree_items,
            cost,
            sketch: sketch(kernels, &factor),
            factor,
            coarse: ItemRows { values: coarse, stride: coarse_stride },
            norm_sq,
            norm_sum,
            constant: objective.constant,
            deviation,
            limits: compile_limits(problem, &items),
            by_piece: deviation.is_none_or(|deviation| deviation.kappa < 0.0),
            items,
        }))
    }

    /// Number of variables.
    pub(crate) fn n_features(&self) -> usize {
        self.cells.n_features()
    }

    /// True when an excluded region takes cells away.
    pub(crate) fn has_exclusions(&self) -> bool {
        self.tree_items.len() > self.trees.len()
    }

    /// True when not every cell holds an allowed point.
    pub(crate) fn is_restricted(&self) -> bool {
        self.problem.constraints.is_some() || self.has_exclusions() || !self.limits.is_empty()
    }

    /// Length of the items' vectors, padded; 0 without a deviation.
    #[inline(always)]
    pub(crate) fn stride(&self) -> usize {
        self.factor.stride
    }

    /// Restrictions of an item, ascending by variable.
    #[inline(always)]
    pub(crate) fn restrictions(&self, item: ItemId) -> &[Restriction] {
        self.items.restrictions(item)
    }

    /// The block that an item belongs to in the whole problem: its tree, or its excluded region.
    pub(crate) fn tree_of(&self, item: ItemId) -> TreeId {
        self.tree_of_item[item]
    }

    /// Cells of a mask.
    #[inline(always)]
    pub(crate) fn mask(&self, mask: MaskId) -> Window<'_> {
        self.items.mask(mask)
    }

    /// Vector of an item.
    #[inline(always)]
    pub(crate) fn vector(&self, item: ItemId) -> &[f64] {
        self.factor.row(item)
    }

    /// Vector of an item in single precision.
    #[inline(always)]
    pub(crate) fn coarse_vector(&self, item: ItemId) -> &[f32] {
        self.coarse.row(item)
    }

    /// The item of a tree at the given cells.
    pub(crate) fn descend(&self, tree: TreeId, cell: &IdVec<FeatureId, CellId>) -> ItemId {
        self.trees[tree].descend(&self.items, cell)
    }
}

/// Length of the projected vectors that branching scores candidates with.
pub(crate) const SKETCH_DIM: usize = 32;

/// Projects the rows with a fixed random sign matrix (Johnson-Lindenstrauss). Estimates only: no bound depends on it.
fn sketch(kernels: Kernels, factor: &ItemRows<f64>) -> IdVec<ItemId, [f64; SKETCH_DIM]> {
    if factor.stride <= 2 * SKETCH_DIM {
        return IdVec::default();
    }
    let mut rng = ChaCha8Rng::seed_from_u64(0x6c65_6166);
    let scale = 1.0 / (SKETCH_DIM as f64).sqrt();
    let signs: Vec<[f64; SKETCH_DIM]> = (0..factor.stride)
        .map(|_| {
            let bits: u32 = rng.random();
            std::array::from_fn(|k| if bits >> k & 1 == 1 { scale } else { -scale })
        })
        .collect();
    let mut sketch = IdVec::from(vec![[0.0; SKETCH_DIM]; factor.values.len() / factor.stride]);
    kernels.dispatch(
        #[inline(always)]
        || {
            for (row, out) in factor.rows().zip(sketch.iter_mut()) {
                let mut sums = [0.0; SKETCH_DIM];
                for (&v, signs) in row.iter().zip(&signs) {
                    for (sum, sign) in sums.iter_mut().zip(signs) {
                        *sum += sign * v;
                    }
                }
                *out = sums;
            }
        },
    );
    sketch
}

/// Every threshold of each numeric variable, and the ends of excluded regions as thresholds.
fn thresholds(problem: &Problem<'_>) -> Vec<Vec<f64>> {
    let mut all = vec![Vec::new(); problem.domains.len()];
    for tree in problem.forest.trees() {
        for node in &tree.nodes {
            if let TreeNode::Split { feature, rule: Rule::Threshold(t), .. } = node {
                all[*feature].push(*t);
            }
        }
    }
    for region in &problem.excluded {
        for (cuts, range) in all.iter_mut().zip(&region.0) {
            if let Range::Interval { lower, upper } = range {
                cuts.push(lower.next_down());
                cuts.push(*upper);
            }
        }
    }
    all
}

/// For each excluded region a block of boxes that cover everything but the region. `None` when a region covers everything.
fn exclude(
    problem: &Problem<'_>,
    cells: &Cells,
    full: &[u64],
    items: &mut ItemsBuilder,
    tree_items: &mut Partition<TreeId, ItemId>,
) -> Option<()> {
    for Region(ranges) in &problem.excluded {
        let mut inside = full.to_vec();
        for (f, range) in cells.features().into_iter().zip(ranges) {
            cells.intersect(f, range, &mut inside);
        }
        let words = |f: FeatureId| cells.words(f);
        if cells.features().into_iter().any(|f| cell_set::is_empty(&inside[words(f)])) {
            continue;
        }
        let mut rest = full.to_vec();
        let first_item = items.next_id();
        for f in cells.features() {
            if inside[words(f)] == full[words(f)] {
                continue;
            }
            let outside: Vec<CellId> =
                cells_in(&full[words(f)]).filter(|&cell| !holds(&inside[words(f)], cell)).collect();
            let first_inside = cell_set::first(&inside[words(f)]).expect("not empty");
            // Below and above a number's interval are separate pieces, so that every mask of a number is an interval.
            let pieces: Vec<Vec<CellId>> = match cells.feature(f) {
                FeatureCells::Levels(_) => vec![outside],
                FeatureCells::Numeric(_) => {
                    let (below, above) = outside.into_iter().partition(|&cell| cell < first_inside);
                    vec![below, above]
                }
            };
            for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
                let mut at = rest.clone();
                at[words(f)].fill(0);
                piece.iter().for_each(|&cell| insert(&mut at[words(f)], cell));
                for f in cells.features().into_iter().filter(|&f| at[words(f)] != full[words(f)]) {
                    items.restrict(f, &Window::new(0, &at[words(f)]));
                }
                items.push(None);
            }
            rest[words(f)].copy_from_slice(&inside[words(f)]);
        }
        if items.next_id() == first_item {
            return None;
        }
        tree_items.push_end(items.next_id());
    }
    Some(())
}

/// Leaf limits over items, and then the sums of predictions.
fn compile_limits(problem: &Problem<'_>, items: &Items) -> IdVec<LimitId, Limit> {
    let of_items = |of_leaves: &[f64]| -> IdVec<ItemId, f64> {
        let coefficient = |leaf: &Option<LeafId>| leaf.map_or(0.0, |leaf| of_leaves[leaf.index()]);
        items.leaf.iter().map(coefficient).collect()
    };
    let n = problem.forest.n_trees() as f64 + 2.0;
    let mut dense = vec![0.0; problem.forest.n_leaves()];
    let mut limits = IdVec::default();
    for limit in &problem.limits {
        dense.fill(0.0);
        let mut largest = 0.0f64;
        for &(leaf, a) in &limit.coefficients {
            dense[leaf] = a;
            largest = largest.max(a.abs());
        }
        let scale = limit.constant.abs() + n * largest;
        limits.push(Limit {
            lower: limit.lower - limit.constant,
            upper: limit.upper - limit.constant,
            margin: 4.0 * f64::EPSILON * n * scale,
            coefficients: of_items(&dense),
        });
    }
    // The sums of predictions are watched like limits that always hold.
    for sum in problem.learned.iter().flat_map(|learned| learned.sums) {
        let largest = sum.linear.iter().fold(0.0f64, |largest, a| largest.max(a.abs()));
        limits.push(Limit {
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            margin: 4.0 * f64::EPSILON * n * (sum.constant.abs() + n * largest),
            coefficients: of_items(&sum.linear),
        });
    }
    limits
}
