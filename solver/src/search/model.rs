//! A problem compiled for the search: trees in cell space, leaves as items with cell masks and padded vectors.

use std::collections::BTreeMap;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::forest::{Node as TreeNode, Rule, Tree};
use leafgp_constraints::{Range, Region};

use super::cells::{Cells, FeatureCells, bits, fill};
use super::kernels::{COARSE_PAD, Kernels, PAD};
use crate::problem::Problem;

/// No item: a leaf that no cell reaches.
pub(crate) const NONE: u32 = u32::MAX;

/// A leaf's restriction to some cells of one variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Restriction {
    /// The variable.
    pub(crate) feature: u32,
    /// Number of the mask.
    pub(crate) mask: u32,
}

/// A node of a tree in cell space.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CellNode {
    /// Cells below `split` of a number go left.
    Below { feature: u32, split: u32, left: u32, right: u32 },
    /// Levels in the mask go left.
    Levels { feature: u32, mask: u32, left: u32, right: u32 },
    /// The leaf's item, or [`NONE`].
    Leaf(u32),
}

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
pub(crate) struct Row {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    /// Rounding that no evaluation order exceeds.
    pub(crate) margin: f64,
}

/// The compiled problem. Items are the reachable leaves, then the pieces around each excluded region; blocks of items of which exactly one
/// is active.
#[derive(Debug)]
pub(crate) struct Model<'a> {
    pub(crate) problem: &'a Problem<'a>,
    pub(crate) kernels: Kernels,
    pub(crate) cells: Cells,
    /// Nodes of each tree of the forest, root first.
    pub(crate) trees: Vec<Vec<CellNode>>,
    /// Items of block `b`: `block_starts[b]..block_starts[b + 1]`.
    pub(crate) block_starts: Vec<u32>,
    /// Linear cost of each item.
    pub(crate) cost: Vec<f64>,
    /// Vector of each item, rows of `stride`.
    pub(crate) factor: Vec<f64>,
    pub(crate) stride: usize,
    /// The vectors in single precision, to find directions with; rows of `coarse_stride`.
    pub(crate) coarse: Vec<f32>,
    pub(crate) coarse_stride: usize,
    /// The vectors projected at random to [`SKETCH_DIM`] coordinates, one row each: lengths within some 20 %. Empty when the vectors are
    /// short anyway.
    pub(crate) sketch: Vec<f64>,
    /// `|v|^2` of each item.
    pub(crate) norm_sq: Vec<f64>,
    /// Sum over blocks of the largest `|v|`.
    pub(crate) norm_sum: f64,
    /// Constant of the objective.
    pub(crate) constant: f64,
    pub(crate) deviation: Option<Deviation>,
    restrictions: Vec<Restriction>,
    restriction_starts: Vec<u32>,
    /// Bit `f % 64` is set when the item is restricted on variable `f`.
    pub(crate) feature_bits: Vec<u64>,
    masks: Vec<u64>,
    mask_starts: Vec<u32>,
    /// Leaf limits; coefficients `[n_rows, n_items]`.
    pub(crate) rows: Vec<Row>,
    pub(crate) row_coefficients: Vec<f64>,
    /// The excluded regions as boxes of cells.
    pub(crate) excluded: Vec<Vec<u64>>,
    /// Forest leaf of each item; [`NONE`] for pieces around exclusions.
    pub(crate) item_leaf: Vec<u32>,
}

/// Collects unique masks.
#[derive(Default)]
struct Masks {
    words: Vec<u64>,
    starts: Vec<u32>,
    known: BTreeMap<(usize, Vec<u64>), u32>,
}

impl Masks {
    fn number(&mut self, feature: usize, mask: &[u64]) -> u32 {
        if let Some(&number) = self.known.get(&(feature, mask.to_vec())) {
            return number;
        }
        let number = self.starts.len() as u32;
        self.starts.push(self.words.len() as u32);
        self.words.extend_from_slice(mask);
        self.known.insert((feature, mask.to_vec()), number);
        number
    }
}

/// Items under construction.
#[derive(Default)]
struct Items {
    masks: Masks,
    restrictions: Vec<Restriction>,
    starts: Vec<u32>,
    leaf: Vec<u32>,
}

impl Items {
    /// Adds an item that lives on the box (a subset of `full`).
    fn push(&mut self, cells: &Cells, full: &[u64], at: &[u64], leaf: u32) -> u32 {
        for f in 0..cells.n_features() {
            let words = cells.words(f);
            if at[words.clone()] != full[words.clone()] {
                let mask = self.masks.number(f, &at[words]);
                self.restrictions.push(Restriction { feature: f as u32, mask });
            }
        }
        self.starts.push(self.restrictions.len() as u32);
        self.leaf.push(leaf);
        self.leaf.len() as u32 - 1
    }
}

impl<'a> Model<'a> {
    /// Compiles a checked problem. `None` when a variable has no allowed value, or an excluded region covers everything.
    pub(crate) fn new(problem: &'a Problem<'a>) -> Option<Self> {
        let cells = Cells::new(problem.domains, thresholds(problem));
        if cells.is_empty() {
            return None;
        }
        let full = cells.full();
        let mut items = Items { starts: vec![0], ..Items::default() };
        let mut block_starts = vec![0];
        let mut trees = Vec::with_capacity(problem.forest.n_trees());
        for (t, tree) in problem.forest.trees().iter().enumerate() {
            let offset = problem.forest.leaf_offset(t);
            let nodes = compile_tree(tree, offset, &cells, &full, &mut items);
            trees.push(nodes);
            block_starts.push(items.leaf.len() as u32);
        }
        let excluded = exclude(problem, &cells, &full, &mut items, &mut block_starts)?;
        let objective = problem.objective;
        let leaf_value = |leaf: u32| if leaf == NONE { 0.0 } else { objective.linear[leaf as usize] };
        let cost: Vec<f64> = items.leaf.iter().map(|&leaf| leaf_value(leaf)).collect();
        let deviation = objective.quadratic.as_ref().and_then(|q| {
            (q.kappa != 0.0 && q.prior_variance > 0.0)
                .then_some(Deviation { kappa: q.kappa, prior: q.prior_variance })
        });
        let stride = match (&objective.quadratic, deviation) {
            (Some(q), Some(_)) => q.dim.next_multiple_of(PAD),
            _ => 0,
        };
        let kernels = Kernels::new();
        let mut factor = vec![0.0; items.leaf.len() * stride];
        if let (Some(q), Some(_)) = (&objective.quadratic, deviation) {
            for (row, &leaf) in items.leaf.iter().enumerate() {
                if leaf != NONE {
                    factor[row * stride..row * stride + q.dim].copy_from_slice(q.row(leaf as usize));
                }
            }
        }
        let norm_sq: Vec<f64> = if stride == 0 {
            vec![0.0; items.leaf.len()]
        } else {
            factor.chunks_exact(stride).map(|row| kernels.dot(row, row)).collect()
        };
        let coarse_stride = stride.next_multiple_of(COARSE_PAD);
        let mut coarse = vec![0.0; items.leaf.len() * coarse_stride];
        if stride > 0 {
            for (row, coarse) in factor.chunks_exact(stride).zip(coarse.chunks_exact_mut(coarse_stride)) {
                coarse.iter_mut().zip(row).for_each(|(c, &v)| *c = v as f32);
            }
        }
        let sketch = sketch(kernels, &factor, stride);
        let norm_sum = block_starts
            .windows(2)
            .map(|w| norm_sq[w[0] as usize..w[1] as usize].iter().fold(0.0f64, |a, &b| a.max(b)).sqrt())
            .sum();
        let feature_bits = items
            .starts
            .windows(2)
            .map(|w| {
                items.restrictions[w[0] as usize..w[1] as usize]
                    .iter()
                    .fold(0, |bits, r| bits | 1 << (r.feature % 64))
            })
            .collect();
        let (rows, row_coefficients) = compile_rows(problem, &items.leaf);
        let mut mask_starts = items.masks.starts;
        mask_starts.push(items.masks.words.len() as u32);
        Some(Self {
            problem,
            kernels,
            cells,
            trees,
            block_starts,
            cost,
            factor,
            stride,
            coarse,
            coarse_stride,
            sketch,
            norm_sq,
            norm_sum,
            constant: objective.constant,
            deviation,
            restrictions: items.restrictions,
            restriction_starts: items.starts,
            feature_bits,
            masks: items.masks.words,
            mask_starts,
            rows,
            row_coefficients,
            excluded,
            item_leaf: items.leaf,
        })
    }

    /// Number of items.
    pub(crate) fn n_items(&self) -> usize {
        self.cost.len()
    }

    /// Number of variables.
    pub(crate) fn n_features(&self) -> usize {
        self.cells.n_features()
    }

    /// Restrictions of an item, ascending by variable.
    pub(crate) fn restrictions(&self, item: u32) -> &[Restriction] {
        let i = item as usize;
        &self.restrictions[self.restriction_starts[i] as usize..self.restriction_starts[i + 1] as usize]
    }

    /// The block that an item belongs to in the whole problem: its tree, or its excluded region.
    pub(crate) fn tree_of(&self, item: u32) -> u32 {
        self.block_starts.partition_point(|&start| start <= item) as u32 - 1
    }

    /// Words of a mask.
    pub(crate) fn mask(&self, mask: u32) -> &[u64] {
        let m = mask as usize;
        &self.masks[self.mask_starts[m] as usize..self.mask_starts[m + 1] as usize]
    }

    /// Number of masks.
    pub(crate) fn n_masks(&self) -> usize {
        self.mask_starts.len() - 1
    }

    /// Vector of an item.
    pub(crate) fn vector(&self, item: u32) -> &[f64] {
        &self.factor[item as usize * self.stride..][..self.stride]
    }

    /// Vector of an item in single precision.
    pub(crate) fn coarse_vector(&self, item: u32) -> &[f32] {
        &self.coarse[item as usize * self.coarse_stride..][..self.coarse_stride]
    }

    /// The coefficient of an item in a leaf limit.
    pub(crate) fn row_coefficient(&self, row: usize, item: u32) -> f64 {
        self.row_coefficients[row * self.n_items() + item as usize]
    }

    /// The item of a tree at the given cells.
    pub(crate) fn descend(&self, tree: usize, cell: &[u32]) -> u32 {
        let nodes = &self.trees[tree];
        let mut at = 0;
        loop {
            match nodes[at] {
                CellNode::Leaf(item) => return item,
                CellNode::Below { feature, split, left, right } => {
                    at = if cell[feature as usize] < split { left } else { right } as usize;
                }
                CellNode::Levels { feature, mask, left, right } => {
                    let j = cell[feature as usize] as usize;
                    at = if self.mask(mask)[j / 64] >> (j % 64) & 1 == 1 { left } else { right } as usize;
                }
            }
        }
    }
}

/// Length of the projected vectors that branching scores candidates with.
pub(crate) const SKETCH_DIM: usize = 32;

/// Projects the rows with a fixed random sign matrix (Johnson-Lindenstrauss). Estimates only: no bound depends on it.
fn sketch(kernels: Kernels, factor: &[f64], stride: usize) -> Vec<f64> {
    if stride <= 2 * SKETCH_DIM {
        return Vec::new();
    }
    let mut rng = ChaCha8Rng::seed_from_u64(0x6c65_6166);
    let scale = 1.0 / (SKETCH_DIM as f64).sqrt();
    let signs: Vec<[f64; SKETCH_DIM]> = (0..stride)
        .map(|_| {
            let bits: u32 = rng.random();
            std::array::from_fn(|k| if bits >> k & 1 == 1 { scale } else { -scale })
        })
        .collect();
    let mut sketch = vec![0.0; factor.len() / stride * SKETCH_DIM];
    kernels.dispatch(
        #[inline(always)]
        || {
            for (row, out) in factor.chunks_exact(stride).zip(sketch.chunks_exact_mut(SKETCH_DIM)) {
                let mut sums = [0.0; SKETCH_DIM];
                for (&v, signs) in row.iter().zip(&signs) {
                    for (sum, sign) in sums.iter_mut().zip(signs) {
                        *sum += sign * v;
                    }
                }
                out.copy_from_slice(&sums);
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

/// Rewrites a tree in cell space and collects its reachable leaves as items.
fn compile_tree(tree: &Tree, offset: usize, cells: &Cells, full: &[u64], items: &mut Items) -> Vec<CellNode> {
    let mut nodes = Vec::with_capacity(tree.nodes.len());
    nodes.push(CellNode::Leaf(NONE));
    // Depth first, left before right; a slot is reserved before its subtree is built.
    let mut stack = vec![(0, 0, full.to_vec())];
    while let Some((source, slot, at)) = stack.pop() {
        match &tree.nodes[source] {
            TreeNode::Leaf { leaf, .. } => {
                let reachable = (0..cells.n_features()).all(|f| at[cells.words(f)].iter().any(|&w| w != 0));
                nodes[slot] = CellNode::Leaf(if reachable {
                    items.push(cells, full, &at, (offset + leaf) as u32)
                } else {
                    NONE
                });
            }
            TreeNode::Split { feature, rule, left, right } => {
                let words = cells.words(*feature);
                let mut left_mask = vec![0; words.len()];
                let children = (nodes.len(), nodes.len() + 1);
                let f = *feature as u32;
                nodes[slot] = match rule {
                    Rule::Threshold(threshold) => {
                        let split = cells.split_at(*feature, *threshold);
                        fill(&mut left_mask, 0, split);
                        CellNode::Below {
                            feature: f,
                            split: split as u32,
                            left: children.0 as u32,
                            right: children.1 as u32,
                        }
                    }
                    Rule::Levels(set) => {
                        for level in set.iter() {
                            left_mask[level / 64] |= 1 << (level % 64);
                        }
                        let mask = items.masks.number(*feature, &left_mask);
                        CellNode::Levels {
                            feature: f,
                            mask,
                            left: children.0 as u32,
                            right: children.1 as u32,
                        }
                    }
                };
                nodes.push(CellNode::Leaf(NONE));
                nodes.push(CellNode::Leaf(NONE));
                let mut left_box = at.clone();
                let mut right_box = at;
                for (w, m) in words.zip(&left_mask) {
                    left_box[w] &= m;
                    right_box[w] &= !m;
                }
                stack.push((*right, children.1, right_box));
                stack.push((*left, children.0, left_box));
            }
        }
    }
    nodes
}

/// For each excluded region a block of boxes that cover everything but the region. `None` when a region covers everything.
fn exclude(
    problem: &Problem<'_>,
    cells: &Cells,
    full: &[u64],
    items: &mut Items,
    block_starts: &mut Vec<u32>,
) -> Option<Vec<Vec<u64>>> {
    let mut boxes = Vec::new();
    for Region(ranges) in &problem.excluded {
        let mut inside = full.to_vec();
        for (f, range) in ranges.iter().enumerate() {
            cells.intersect(f, range, &mut inside);
        }
        let words = |f: usize| cells.words(f);
        if (0..cells.n_features()).any(|f| inside[words(f)].iter().all(|&w| w == 0)) {
            continue;
        }
        let mut rest = full.to_vec();
        let first_item = items.leaf.len();
        for f in 0..cells.n_features() {
            if inside[words(f)] == full[words(f)] {
                continue;
            }
            let outside: Vec<usize> =
                bits(&full[words(f)]).filter(|&j| inside[words(f)][j / 64] >> (j % 64) & 1 == 0).collect();
            let first_inside = bits(&inside[words(f)]).next().expect("not empty");
            // Below and above a number's interval are separate pieces, so that every mask of a number is an interval.
            let pieces: Vec<Vec<usize>> = match cells.feature(f) {
                FeatureCells::Levels(_) => vec![outside],
                FeatureCells::Numeric(_) => {
                    let (below, above) = outside.into_iter().partition(|&j| j < first_inside);
                    vec![below, above]
                }
            };
            for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
                let mut at = rest.clone();
                at[words(f)].fill(0);
                for &j in piece {
                    at[words(f)][j / 64] |= 1 << (j % 64);
                }
                items.push(cells, full, &at, NONE);
            }
            rest[words(f)].copy_from_slice(&inside[words(f)]);
        }
        if items.leaf.len() == first_item {
            return None;
        }
        block_starts.push(items.leaf.len() as u32);
        boxes.push(inside);
    }
    Some(boxes)
}

/// Leaf limits over items.
fn compile_rows(problem: &Problem<'_>, item_leaf: &[u32]) -> (Vec<Row>, Vec<f64>) {
    let mut dense = vec![0.0; problem.forest.n_leaves()];
    let mut rows = Vec::new();
    let mut coefficients = Vec::with_capacity(problem.limits.len() * item_leaf.len());
    for limit in &problem.limits {
        dense.fill(0.0);
        let mut largest = 0.0f64;
        for &(leaf, a) in &limit.coefficients {
            dense[leaf] = a;
            largest = largest.max(a.abs());
        }
        coefficients
            .extend(item_leaf.iter().map(|&leaf| if leaf == NONE { 0.0 } else { dense[leaf as usize] }));
        let n = problem.forest.n_trees() as f64 + 2.0;
        let scale = limit.constant.abs() + n * largest;
        rows.push(Row {
            lower: limit.lower - limit.constant,
            upper: limit.upper - limit.constant,
            margin: 4.0 * f64::EPSILON * n * scale,
        });
    }
    (rows, coefficients)
}
