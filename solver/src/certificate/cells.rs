//! The verifier's own view of cells and leaves, straight from the definitions.

use crate::forest::{Forest, Node, Rule};
use leafgp_constraints::{Domain, LevelSet, Range, Region};

/// For each variable, which cells are kept.
pub(super) type CellBox = Vec<Vec<bool>>;

/// Cells of a variable: the pieces between thresholds that hold an allowed value, or the levels.
#[derive(Clone, Debug)]
pub(super) enum VariableCells {
    Pieces(Vec<(f64, f64)>),
    Levels(usize),
}

/// A leaf that some cells reach, or a piece of what lies around an excluded region.
#[derive(Clone, Debug)]
pub(super) struct CellLeaf {
    /// Number in the forest; `None` for a piece around an excluded region.
    pub(super) leaf: Option<usize>,
    /// Variables that restrict it, and the cells it lies on.
    pub(super) on: Vec<(usize, Vec<bool>)>,
}

impl CellLeaf {
    /// A leaf on the given cells of every variable.
    fn new(leaf: Option<usize>, on: CellBox) -> Self {
        let restricted = on.into_iter().enumerate().filter(|(_, cells)| cells.contains(&false));
        Self { leaf, on: restricted.collect() }
    }
}

impl VariableCells {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Pieces(pieces) => pieces.len(),
            Self::Levels(n) => *n,
        }
    }
}

/// Cells of every variable; an excluded region is a union of cells.
pub(super) fn variable_cells(domains: &[Domain], forest: &Forest, excluded: &[Region]) -> Vec<VariableCells> {
    let mut cuts = vec![Vec::new(); domains.len()];
    for node in forest.trees().iter().flat_map(|tree| &tree.nodes) {
        if let Node::Split { feature, rule: Rule::Threshold(threshold), .. } = node {
            cuts[*feature].push(*threshold);
        }
    }
    for region in excluded {
        for (cuts, range) in cuts.iter_mut().zip(&region.0) {
            if let Range::Interval { lower, upper } = range {
                cuts.extend([lower.next_down(), *upper]);
            }
        }
    }
    let cells = |(domain, mut cuts): (&Domain, Vec<f64>)| match domain {
        Domain::Categorical { levels } => VariableCells::Levels(*levels),
        Domain::Discrete(values) if values.is_empty() => VariableCells::Pieces(Vec::new()),
        _ => {
            cuts.push(f64::INFINITY);
            cuts.sort_by(f64::total_cmp);
            let mut pieces = Vec::new();
            let mut above = f64::NEG_INFINITY;
            for cut in cuts {
                pieces.extend(domain.within(above, cut));
                above = above.max(cut.next_up());
            }
            VariableCells::Pieces(pieces)
        }
    };
    domains.iter().zip(cuts).map(cells).collect()
}

/// The reachable leaves of every tree.
pub(super) fn tree_leaves(forest: &Forest, cells: &[VariableCells]) -> Vec<Vec<CellLeaf>> {
    (0..forest.n_trees()).map(|t| leaves_of(forest, t, cells)).collect()
}

/// The reachable leaves of a tree.
pub(super) fn leaves_of(forest: &Forest, t: usize, cells: &[VariableCells]) -> Vec<CellLeaf> {
    let full: CellBox = cells.iter().map(|c| vec![true; c.len()]).collect();
    let mut leaves = Vec::new();
    let mut stack = vec![(0, full)];
    while let Some((at, on)) = stack.pop() {
        match &forest.trees()[t].nodes[at] {
            Node::Leaf { leaf, .. } => {
                if on.iter().all(|cells| cells.contains(&true)) {
                    leaves.push(CellLeaf::new(Some(forest.leaf_offset(t) + leaf), on));
                }
            }
            Node::Split { feature, rule, left, right } => {
                let goes_left = |j: usize| match &cells[*feature] {
                    VariableCells::Pieces(pieces) => rule.goes_left(pieces[j].1),
                    VariableCells::Levels(_) => rule.goes_left(j as f64),
                };
                let (mut below, mut above) = (on.clone(), on);
                for j in 0..cells[*feature].len() {
                    below[*feature][j] &= goes_left(j);
                    above[*feature][j] &= !goes_left(j);
                }
                stack.push((*right, above));
                stack.push((*left, below));
            }
        }
    }
    leaves
}

/// What lies around a region, in pieces of which each point outside has exactly one; `None` when the region holds no cell. To a point outside it is
/// what a tree is that costs nothing.
pub(super) fn around(cells: &[VariableCells], region: &Region) -> Option<Vec<CellLeaf>> {
    let full: CellBox = cells.iter().map(|c| vec![true; c.len()]).collect();
    let mut inside = full.clone();
    intersect(cells, &mut inside, region);
    if inside.iter().any(|cells| !cells.contains(&true)) {
        return None;
    }
    let mut pieces = Vec::new();
    let mut rest = full;
    for (f, inside) in inside.into_iter().enumerate() {
        let first = inside.iter().position(|&j| j).expect("not empty");
        let outside = |keep: &dyn Fn(usize) -> bool| -> Vec<bool> {
            inside.iter().enumerate().map(|(j, &inside)| !inside && keep(j)).collect()
        };
        let sides = match &cells[f] {
            VariableCells::Levels(_) => vec![outside(&|_| true)],
            VariableCells::Pieces(_) => vec![outside(&|j| j < first), outside(&|j| j > first)],
        };
        for side in sides.into_iter().filter(|side| side.contains(&true)) {
            let mut on = rest.clone();
            on[f] = side;
            pieces.push(CellLeaf::new(None, on));
        }
        rest[f] = inside;
    }
    Some(pieces)
}

/// The smallest region around a non-empty box.
pub(super) fn hull(cells: &[VariableCells], on: &CellBox) -> Region {
    Region(cells.iter().zip(on).map(|(cells, on)| range_of(cells, Some(on))).collect())
}

/// The smallest range around some cells of a variable, or around all.
pub(super) fn range_of(cells: &VariableCells, on: Option<&[bool]>) -> Range {
    let is_on = |j: usize| on.is_none_or(|on| on[j]);
    match cells {
        VariableCells::Pieces(pieces) => {
            let kept = || (0..pieces.len()).filter(|&j| is_on(j)).map(|j| pieces[j]);
            Range::Interval {
                lower: kept().map(|p| p.0).fold(f64::INFINITY, f64::min),
                upper: kept().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max),
            }
        }
        VariableCells::Levels(n) => Range::Levels(LevelSet::from_indices(*n, (0..*n).filter(|&j| is_on(j)))),
    }
}

/// Drops cells outside a region; returns whether any was dropped.
pub(super) fn intersect(cells: &[VariableCells], on: &mut CellBox, region: &Region) -> bool {
    let mut changed = false;
    for ((cells, on), range) in cells.iter().zip(on).zip(&region.0) {
        for (j, kept) in on.iter_mut().enumerate() {
            let touches = match (cells, range) {
                (VariableCells::Pieces(pieces), Range::Interval { lower, upper }) => {
                    pieces[j].1 >= *lower && pieces[j].0 <= *upper
                }
                (VariableCells::Levels(_), Range::Levels(set)) => set.contains(j),
                _ => false,
            };
            if *kept && !touches {
                *kept = false;
                changed = true;
            }
        }
    }
    changed
}

/// The allowed points of a box that lie in a region, as a box; `None` when there are none.
pub(crate) fn meet(mut common: Region, region: &Region, domains: &[Domain]) -> Option<Region> {
    for ((range, within), domain) in common.0.iter_mut().zip(&region.0).zip(domains) {
        match (range, within) {
            (Range::Interval { lower, upper }, Range::Interval { lower: l, upper: u }) => {
                (*lower, *upper) = domain.within(lower.max(*l), upper.min(*u))?;
            }
            (Range::Levels(set), Range::Levels(kept)) => {
                set.intersect_with(kept);
                if set.is_empty() {
                    return None;
                }
            }
            _ => return None,
        }
    }
    Some(common)
}
