//! Local search with exact moves of two or three variables at a time, for sums of trees.
//!
//! With all variables but a few fixed, each tree is a few boxes of cells of those. Their sum is a step function whose steps are the boxes' ends, so a table of
//! differences with one row for each end, summed along every axis, holds the objective of every choice of the moved variables.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use leafgp_constraints::Limits;

use super::cell_tree::CellNode;
use super::index::{CellId, FeatureId, Id, IdVec, Span, TreeId, TreeNodeId};
use super::local::{Neighbours, realise};
use super::model::Model;
use super::pool::Found;

/// Most variables of a move.
const MOST_MOVED: usize = 3;
/// Moves of a pass over all choices of variables; with more choices, a random part of them.
const MOVES_OF_A_PASS: usize = 300;
/// Most entries of a table; larger moves are left out.
const MOST_ENTRIES: usize = 1 << 20;
/// Lowest entries that are offered to restrictions, in turn.
const OFFERED: usize = 6;
/// Variables that a kick changes: 2 to so many.
const MOST_KICKED: usize = 5;

/// Cells of the moved variables on which a tree has one value, half-open; variables that a move lacks count as one of a single cell.
#[derive(Clone, Copy, Debug)]
struct Part {
    first: [CellId; MOST_MOVED],
    end: [CellId; MOST_MOVED],
    cost: f64,
}

/// One axis of the table.
#[derive(Debug, Default)]
struct Axis {
    /// First cell of each row, ascending.
    starts: Vec<CellId>,
    /// Row of each cell that starts one; one more entry for the end.
    row: IdVec<CellId, u32>,
}

impl Axis {
    /// The rows that the ends of the parts make of `n` cells.
    fn fill(&mut self, parts: &[Part], axis: usize, n: usize) {
        const NONE: u32 = u32::MAX;
        self.row.refill(n + 1, NONE);
        for part in parts {
            self.row[part.first[axis]] = 0;
            self.row[part.end[axis]] = 0;
        }
        self.starts.clear();
        for cell in Span::<CellId>::up_to(n) {
            if self.row[cell] != NONE {
                self.row[cell] = self.starts.len() as u32;
                self.starts.push(cell);
            }
        }
        self.row[CellId::new(n)] = self.starts.len() as u32;
    }
}

/// How many variables move at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All pairs.
    Pairs,
    /// All pairs, and triples where no pair helps.
    Triples,
}

/// A point as one cell of each variable, and work space.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    cells: IdVec<FeatureId, CellId>,
    trees: Vec<TreeId>,
    parts: Vec<Part>,
    stack: Vec<(TreeNodeId, Part)>,
    axes: [Axis; MOST_MOVED],
    table: Vec<f64>,
    /// The lowest entries of the table, ascending, and the cells that they stand for.
    lowest: Vec<(f64, [CellId; MOST_MOVED])>,
}

impl Moves {
    /// True when a table holds the objective itself.
    pub(crate) fn fit(model: &Model<'_>) -> bool {
        model.deviation.is_none() && model.problem.learned.is_none()
    }

    /// Descends from the given cells and then from as many kicks of the best point as asked, and returns the best allowed point met.
    pub(crate) fn chain(
        &mut self,
        model: &Model<'_>,
        neighbours: &Neighbours,
        start: IdVec<FeatureId, CellId>,
        (kicks, reach): (usize, Reach),
        limits: &Limits,
        rng: &mut impl Rng,
    ) -> Option<Found> {
        self.cells = start;
        let mut best = self.descend(model, neighbours, reach, limits, rng);
        let mut at = self.cells.clone();
        for _ in 0..kicks {
            if limits.must_stop() {
                break;
            }
            self.cells.clone_from(&at);
            for _ in 0..rng.random_range(2..=MOST_KICKED) {
                let f = FeatureId::new(rng.random_range(0..self.cells.len()));
                self.cells[f] = CellId::from_raw(rng.random_range(0..model.cells.feature(f).len() as u32));
            }
            let found = self.descend(model, neighbours, reach, limits, rng);
            let better = match (&found, &best) {
                (Some(found), Some(best)) => found.objective < best.objective,
                (found, _) => found.is_some(),
            };
            if better {
                best = found;
                at.clone_from(&self.cells);
            }
        }
        best
    }

    /// Moves pairs (and triples) in random order until none helps.
    fn descend(
        &mut self,
        model: &Model<'_>,
        neighbours: &Neighbours,
        reach: Reach,
        limits: &Limits,
        rng: &mut impl Rng,
    ) -> Option<Found> {
        let matters =
            |f: &FeatureId| model.cells.feature(*f).len() > 1 && !neighbours.trees_of(*f).is_empty();
        let features: Vec<FeatureId> = model.cells.features().into_iter().filter(matters).collect();
        let mut best = realise(model, &self.cells, limits);
        let mut n_moved = 2.min(features.len());
        loop {
            let mut choices = choices(&features, n_moved);
            choices.shuffle(rng);
            choices.truncate(MOVES_OF_A_PASS);
            let mut any = false;
            for moved in &choices {
                if limits.must_stop() {
                    return best;
                }
                let improved = self.step(model, neighbours, moved, &mut best, limits);
                any |= improved;
                if improved && n_moved == MOST_MOVED {
                    // Pairs are cheaper.
                    break;
                }
            }
            n_moved = match (any, reach) {
                (true, _) => 2.min(features.len()),
                (false, Reach::Triples) if n_moved == 2 && features.len() > 2 => 3,
                (false, _) => return best,
            };
        }
    }

    /// Moves the variables to their best allowed cells among those on offer; returns whether that helped.
    fn step(
        &mut self,
        model: &Model<'_>,
        neighbours: &Neighbours,
        moved: &[FeatureId],
        best: &mut Option<Found>,
        limits: &Limits,
    ) -> bool {
        let offered = if model.is_restricted() { OFFERED } else { 1 };
        // From a forbidden point every allowed one is better.
        if !self.look(model, neighbours, moved, offered, best.is_none()) {
            return false;
        }
        let old = self.cells.clone();
        for k in 0..self.lowest.len() {
            for (&f, &cell) in moved.iter().zip(&self.lowest[k].1) {
                self.cells[f] = cell;
            }
            // Evaluated anew: the table's sums are rounded in another order.
            let found = realise(model, &self.cells, limits);
            if let Some(found) = found
                && best.as_ref().is_none_or(|best| found.objective < best.objective)
            {
                *best = Some(found);
                return true;
            }
        }
        self.cells = old;
        false
    }

    /// Lists the lowest entries over all cells of the moved variables, the others fixed: those below the value here, or all. False when no tree asks for
    /// them, or the table would be too large.
    fn look(
        &mut self,
        model: &Model<'_>,
        neighbours: &Neighbours,
        moved: &[FeatureId],
        offered: usize,
        all: bool,
    ) -> bool {
        self.trees.clear();
        self.trees.extend(moved.iter().flat_map(|&f| neighbours.trees_of(f)));
        self.trees.sort_unstable();
        self.trees.dedup();
        if self.trees.is_empty() {
            return false;
        }
        self.parts.clear();
        let mut here = 0.0;
        for k in 0..self.trees.len() {
            here += model.cost[model.descend(self.trees[k], &self.cells)];
            self.collect(model, self.trees[k], moved);
        }
        for axis in 0..MOST_MOVED {
            let n = moved.get(axis).map_or(1, |&f| model.cells.feature(f).len());
            self.axes[axis].fill(&self.parts, axis, n);
        }
        let sizes = self.axes.each_ref().map(|axis| axis.starts.len());
        if sizes.iter().product::<usize>() > MOST_ENTRIES {
            return false;
        }
        self.sum_up(sizes);
        let below = if all { f64::INFINITY } else { here - 1e-9 * here.abs().max(1.0) };
        self.lowest.clear();
        let mut worst = below;
        for (at, &entry) in self.table.iter().enumerate() {
            if entry < worst {
                let at = [at / (sizes[1] * sizes[2]), at / sizes[2] % sizes[1], at % sizes[2]];
                let mut cells = [CellId::default(); MOST_MOVED];
                for axis in 0..MOST_MOVED {
                    cells[axis] = self.axes[axis].starts[at[axis]];
                }
                let place = self.lowest.partition_point(|&(low, _)| low <= entry);
                self.lowest.insert(place, (entry, cells));
                self.lowest.truncate(offered);
                if self.lowest.len() == offered {
                    worst = self.lowest[offered - 1].0;
                }
            }
        }
        true
    }

    /// Lists the parts of a tree.
    fn collect(&mut self, model: &Model<'_>, tree: TreeId, moved: &[FeatureId]) {
        let mut whole = Part { first: Default::default(), end: [CellId::new(1); MOST_MOVED], cost: 0.0 };
        for (end, &f) in whole.end.iter_mut().zip(moved) {
            *end = CellId::new(model.cells.feature(f).len());
        }
        self.stack.push((TreeNodeId::default(), whole));
        let Self { stack, parts, cells, .. } = self;
        while let Some((at, part)) = stack.pop() {
            match model.trees[tree].nodes[at] {
                CellNode::Unreachable => {}
                CellNode::Leaf(item) => parts.push(Part { cost: model.cost[item], ..part }),
                CellNode::Below { feature, split, left, right } => {
                    let Some(axis) = moved.iter().position(|&f| f == feature) else {
                        stack.push((if cells[feature] < split { left } else { right }, part));
                        continue;
                    };
                    let (mut below, mut above) = (part, part);
                    below.end[axis] = part.end[axis].min(split);
                    above.first[axis] = part.first[axis].max(split);
                    for (child, side) in [(left, below), (right, above)] {
                        if side.first[axis] < side.end[axis] {
                            stack.push((child, side));
                        }
                    }
                }
                CellNode::Levels { feature, mask, left, right } => {
                    let child = |level| if model.mask(mask).holds(level) { left } else { right };
                    let Some(axis) = moved.iter().position(|&f| f == feature) else {
                        stack.push((child(cells[feature]), part));
                        continue;
                    };
                    // Neighbouring levels that go the same way stay together.
                    let mut run = part;
                    for level in Span::new(part.first[axis], part.end[axis]) {
                        run.end[axis] = level.next();
                        if run.end[axis] == part.end[axis] || child(level.next()) != child(level) {
                            stack.push((child(level), run));
                            run.first[axis] = level.next();
                        }
                    }
                }
            }
        }
    }

    /// Sums the parts at every entry of the table.
    fn sum_up(&mut self, sizes: [usize; MOST_MOVED]) {
        let Self { table, axes, parts, .. } = self;
        let strides = [sizes[1] * sizes[2], sizes[2], 1];
        table.clear();
        table.resize(sizes[0] * strides[0], 0.0);
        for part in &*parts {
            let ends: [[usize; 2]; MOST_MOVED] = std::array::from_fn(|axis| {
                let row = |cell| axes[axis].row[cell] as usize;
                [row(part.first[axis]), row(part.end[axis])]
            });
            for corner in 0..1_usize << MOST_MOVED {
                let at: [usize; MOST_MOVED] = std::array::from_fn(|axis| ends[axis][corner >> axis & 1]);
                // Beyond the last row there is nothing to take back.
                if (0..MOST_MOVED).all(|axis| at[axis] < sizes[axis]) {
                    let sign = if corner.count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
                    table[at[0] * strides[0] + at[1] * strides[1] + at[2]] += sign * part.cost;
                }
            }
        }
        for block in table.chunks_exact_mut(strides[0]) {
            for row in block.chunks_exact_mut(strides[1]) {
                let mut sum = 0.0;
                for entry in row {
                    sum += *entry;
                    *entry = sum;
                }
            }
            add_previous(block, strides[1]);
        }
        add_previous(table, strides[0]);
    }
}

/// Adds to each stretch of the given length the one before, in turn.
fn add_previous(table: &mut [f64], length: usize) {
    for start in (length..table.len()).step_by(length) {
        let (before, rest) = table.split_at_mut(start);
        for (entry, previous) in rest[..length].iter_mut().zip(&before[start - length..]) {
            *entry += previous;
        }
    }
}

/// All choices of `n` of the variables; the pair or single one that there is when there are fewer.
fn choices(features: &[FeatureId], n: usize) -> Vec<Vec<FeatureId>> {
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        let longer = |choice: &Vec<FeatureId>| {
            let after = features.iter().filter(|&f| choice.last().is_none_or(|last| f > last));
            after.map(|&f| choice.iter().copied().chain([f]).collect()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all.retain(|choice| !choice.is_empty());
    all
}

#[cfg(test)]
mod tests;
