//! The items of trees along one variable, the other variables' cells fixed: one walk over each tree instead of a descent for every cell.

use super::cell_set::Window;
use super::cell_tree::{CellNode, CellTree};
use super::cells::FeatureCells;
use super::index::{CellId, FeatureId, Id, IdVec, ItemId, LevelPlace, Span, TreeId, TreeNodeId};
use super::items::Items;
use super::model::Model;

/// Levels times trees whose items are kept at most (16 MiB); beyond that a descent finds each.
const MOST_ITEMS: usize = 1 << 22;

/// The items of the trees that split a variable, cell by cell.
#[derive(Debug, Default)]
pub(crate) struct Line {
    pieces: Vec<Piece>,
    /// Pieces of each tree, and which of them the last question was about.
    parts: IdVec<TreeId, (usize, usize)>,
    stack: Vec<(TreeNodeId, Span<CellId>)>,
    levels: Levels,
    /// Of a category: the item of each level, tree after tree. Empty when they would be too many.
    of_level: Vec<ItemId>,
}

/// Consecutive cells with the same item.
#[derive(Clone, Copy, Debug)]
struct Piece {
    cells: Span<CellId>,
    item: ItemId,
}

/// Levels in an order in which those that no split has told apart stand together.
#[derive(Debug, Default)]
struct Levels {
    order: IdVec<LevelPlace, CellId>,
    place: IdVec<CellId, LevelPlace>,
    stack: Vec<(TreeNodeId, Span<LevelPlace>)>,
}

impl Line {
    /// Walks along a variable; `cell` holds the cells of the others.
    pub(crate) fn draw(
        &mut self,
        model: &Model<'_>,
        trees: &[TreeId],
        cell: &IdVec<FeatureId, CellId>,
        along: FeatureId,
    ) {
        self.pieces.clear();
        self.of_level.clear();
        self.parts.resize(model.trees.len(), (0, 0));
        let n = model.cells.feature(along).len();
        match model.cells.feature(along) {
            FeatureCells::Numeric(_) => {
                for &t in trees {
                    self.parts[t] = (self.pieces.len(), self.pieces.len());
                    self.push_pieces(&model.trees[t], &model.items, cell, along, n);
                }
            }
            FeatureCells::Levels(_) if trees.len().saturating_mul(n) <= MOST_ITEMS => {
                self.of_level.resize(trees.len() * n, ItemId::default());
                for (&t, of_level) in trees.iter().zip(self.of_level.chunks_exact_mut(n)) {
                    self.levels.write_items(&model.trees[t], &model.items, cell, along, of_level);
                }
                for (k, &t) in trees.iter().enumerate() {
                    self.parts[t] = (k * n, k * n);
                }
            }
            FeatureCells::Levels(_) => {}
        }
    }

    /// The item of a tree at a cell of the variable; `cell` are the cells that the line was drawn at, and this one. Quick when the cells that are asked for rise or
    /// fall.
    pub(crate) fn item(
        &mut self,
        model: &Model<'_>,
        tree: TreeId,
        cell: &IdVec<FeatureId, CellId>,
        along: FeatureId,
    ) -> ItemId {
        let at = cell[along];
        let (first, last) = &mut self.parts[tree];
        match model.cells.feature(along) {
            FeatureCells::Numeric(_) => {
                while self.pieces[*last].cells.end <= at {
                    *last += 1;
                }
                while self.pieces[*last].cells.first > at {
                    *last -= 1;
                }
                self.pieces[*last].item
            }
            FeatureCells::Levels(_) if self.of_level.is_empty() => model.descend(tree, cell),
            FeatureCells::Levels(_) => self.of_level[*first + at.index()],
        }
    }

    /// Adds the pieces of a tree along a number's cells `0..n`, ascending.
    fn push_pieces(
        &mut self,
        tree: &CellTree,
        items: &Items,
        cell: &IdVec<FeatureId, CellId>,
        along: FeatureId,
        n: usize,
    ) {
        self.stack.push((TreeNodeId::default(), Span::up_to(n)));
        while let Some((mut at, mut cells)) = self.stack.pop() {
            loop {
                at = match tree.nodes[at] {
                    CellNode::Leaf(item) => {
                        self.pieces.push(Piece { cells, item });
                        break;
                    }
                    CellNode::Below { feature, split, left, right } if feature == along => {
                        if split >= cells.end {
                            left
                        } else if split <= cells.first {
                            right
                        } else {
                            self.stack.push((right, Span::new(split, cells.end)));
                            cells.end = split;
                            left
                        }
                    }
                    node => node.next(items, cell),
                };
            }
        }
    }
}

impl Levels {
    /// The item of a tree at each level of a category.
    fn write_items(
        &mut self,
        tree: &CellTree,
        items: &Items,
        cell: &IdVec<FeatureId, CellId>,
        along: FeatureId,
        of_level: &mut [ItemId],
    ) {
        if self.order.len() != of_level.len() {
            let all: Span<CellId> = Span::up_to(of_level.len());
            self.order = all.into_iter().collect();
            self.place = all.into_iter().map(|level| LevelPlace::from_raw(level.raw())).collect();
        }
        self.stack.push((TreeNodeId::default(), Span::up_to(of_level.len())));
        while let Some((mut at, mut places)) = self.stack.pop() {
            loop {
                at = match tree.nodes[at] {
                    CellNode::Leaf(item) => {
                        self.order[places].iter().for_each(|level| of_level[level.index()] = item);
                        break;
                    }
                    CellNode::Levels { feature, mask, left, right } if feature == along => {
                        let middle = self.part(items.mask(mask), places);
                        if middle == places.end {
                            left
                        } else if middle == places.first {
                            right
                        } else {
                            self.stack.push((right, Span::new(middle, places.end)));
                            places.end = middle;
                            left
                        }
                    }
                    node => node.next(items, cell),
                };
            }
        }
    }

    /// Brings the levels of a mask to the front of a part, in a time that the smaller of both decides; the place behind them.
    fn part(&mut self, mask: Window<'_>, part: Span<LevelPlace>) -> LevelPlace {
        let mut middle = part.first;
        if mask.len() < part.len() {
            for level in mask.cells() {
                let place = self.place[level];
                if part.first <= place && place < part.end {
                    self.swap(place, middle);
                    middle = middle.next();
                }
            }
        } else {
            for place in part {
                if mask.holds(self.order[place]) {
                    self.swap(place, middle);
                    middle = middle.next();
                }
            }
        }
        middle
    }

    fn swap(&mut self, a: LevelPlace, b: LevelPlace) {
        let (at_a, at_b) = (self.order[a], self.order[b]);
        (self.order[a], self.order[b]) = (at_b, at_a);
        (self.place[at_a], self.place[at_b]) = (b, a);
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::Line;
    use crate::search::index::{CellId, Id, TreeId};
    use crate::search::local::{Neighbours, random_cells};
    use crate::search::model::Model;
    use crate::testing::wave;
    use crate::{Domain, Forest, LeafObjective, LevelSet, Node, Problem, Rule, Tree};

    /// Trees of random splits: on a number, a short list and a category; on one variable again and again.
    fn random_tree(rng: &mut ChaCha8Rng, n_leaves: usize, levels: usize) -> Tree {
        let mut nodes = vec![Node::Leaf { leaf: 0, value: 0.0 }];
        let mut leaves = vec![0];
        while leaves.len() < n_leaves {
            let at = leaves.swap_remove(rng.random_range(0..leaves.len()));
            let feature = rng.random_range(0..3);
            let rule = if feature == 2 {
                let n = rng.random_range(1..levels);
                let set: std::collections::BTreeSet<usize> =
                    (0..n).map(|_| rng.random_range(0..levels)).collect();
                Rule::Levels(LevelSet::from_indices(levels, set))
            } else {
                Rule::Threshold(rng.random_range(0..40) as f64 / 4.0)
            };
            let (left, right) = (nodes.len(), nodes.len() + 1);
            nodes[at] = Node::Split { feature, rule, left, right };
            nodes.extend([Node::Leaf { leaf: 0, value: 0.0 }, Node::Leaf { leaf: 0, value: 0.0 }]);
            leaves.extend([left, right]);
        }
        let mut next = 0;
        for node in &mut nodes {
            if let Node::Leaf { leaf, .. } = node {
                *leaf = next;
                next += 1;
            }
        }
        Tree { nodes }
    }

    /// Against a descent for every cell.
    #[test]
    fn items_along_a_variable_are_those_of_descents() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for levels in [3, 70, 200] {
            let domains = [
                Domain::Continuous { lower: 0.0, upper: 10.0 },
                Domain::Integer { lower: 0.0, upper: 10.0 },
                Domain::Categorical { levels },
            ];
            let trees = (0..8).map(|_| random_tree(&mut rng, 40, levels)).collect();
            let forest = Forest::new(trees, &domains).unwrap();
            let linear = (0..forest.n_leaves()).map(wave).collect();
            let objective = LeafObjective { constant: 0.0, linear, quadratic: None };
            let problem = Problem::new(&domains, &forest, &objective);
            let model = Model::new(&problem).unwrap();
            let neighbours = Neighbours::new(&model);
            let mut line = Line::default();
            for _ in 0..20 {
                let start = random_cells(&model, &mut rng);
                for f in model.cells.features() {
                    let trees: &[TreeId] = neighbours.trees_of(f);
                    line.draw(&model, trees, &start, f);
                    let n = model.cells.feature(f).len();
                    let mut cell = start.clone();
                    for at in (0..n).chain((0..n).rev()).map(CellId::new) {
                        cell[f] = at;
                        for &t in trees {
                            assert_eq!(line.item(&model, t, &cell, f), model.descend(t, &cell));
                        }
                    }
                }
            }
        }
    }
}
