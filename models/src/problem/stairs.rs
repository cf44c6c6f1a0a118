//! Functions of one variable as trees: one leaf for each piece between cuts, a bound of the function as its value.

use leafgp_constraints::{Domain, LevelSet, Range, Region};
use leafgp_solver::{Forest, Node, Rule, Tree};

use super::form::{Form, least};

/// Cuts of an interval besides the models' own.
const EXTRA_CUTS: usize = 16;
/// A variable with at most this many values gets a leaf for each.
const MAX_VALUES: usize = 64;

/// The stairs of one variable: a tree, and the part of the domain that each leaf stands for.
#[derive(Debug)]
pub(super) struct Stairs {
    pub(super) variable: usize,
    pub(super) tree: Tree,
    pieces: Vec<Range>,
}

impl Stairs {
    /// Stairs over a domain, cut where the forest cuts, at `kink` (a place on whose sides a function differs) and some more.
    pub(super) fn new(variable: usize, domain: &Domain, forest: &Forest, kink: Option<f64>) -> Self {
        if let Some(levels) = domain.levels() {
            return Self::over_levels(variable, levels);
        }
        let (lower, upper) = domain.bounds();
        let mut cuts: Vec<f64> = kink.into_iter().flat_map(|kink| [kink.next_down(), kink]).collect();
        for node in forest.trees().iter().flat_map(|tree| &tree.nodes) {
            if let Node::Split { feature, rule: Rule::Threshold(t), .. } = node
                && *feature == variable
            {
                cuts.push(*t);
            }
        }
        match values(domain) {
            Some(values) => cuts.extend(values),
            None => cuts.extend((1..EXTRA_CUTS).map(|i| {
                let share = i as f64 / EXTRA_CUTS as f64;
                lower + share * (upper - lower)
            })),
        }
        cuts.sort_by(f64::total_cmp);
        cuts.dedup();
        let mut pieces = Vec::new();
        let mut ends = Vec::new();
        let mut from = lower;
        for cut in cuts.into_iter().filter(|&cut| lower <= cut && cut < upper).chain([upper]) {
            if let Some((first, last)) = domain.within(from, cut) {
                pieces.push(Range::Interval { lower: first, upper: last });
                ends.push(cut);
            }
            from = cut.next_up();
        }
        // What lies above the last piece's values is empty.
        let mut nodes = Vec::new();
        balanced(variable, &ends, 0, &mut nodes);
        Self { variable, tree: Tree { nodes }, pieces }
    }

    fn over_levels(variable: usize, levels: usize) -> Self {
        let pieces =
            (0..levels).map(|level| Range::Levels(LevelSet::from_indices(levels, [level]))).collect();
        let mut nodes = Vec::new();
        // Level by level against the rest.
        for level in 0..levels.saturating_sub(1) {
            let at = nodes.len();
            let rule = Rule::Levels(LevelSet::from_indices(levels, [level]));
            nodes.push(Node::Split { feature: variable, rule, left: at + 1, right: at + 2 });
            nodes.push(Node::Leaf { leaf: level, value: 0.0 });
        }
        nodes.push(Node::Leaf { leaf: levels.saturating_sub(1), value: 0.0 });
        Self { variable, tree: Tree { nodes }, pieces }
    }

    /// A lower bound of the form's functions of this variable on each piece; `None` where one is unbounded.
    pub(super) fn heights(&self, form: &Form, whole: &Region) -> Option<Vec<f64>> {
        let functions: Vec<_> =
            form.unary.iter().filter(|(variable, ..)| *variable == self.variable).collect();
        let mut region = whole.clone();
        let mut height = |piece: &Range| {
            region.0[self.variable] = piece.clone();
            let terms = functions.iter().map(|(_, coefficient, ranged)| least(ranged, *coefficient, &region));
            terms.sum::<Option<f64>>()
        };
        self.pieces.iter().map(&mut height).collect()
    }
}

/// The values of a domain with few.
fn values(domain: &Domain) -> Option<Vec<f64>> {
    if !domain.is_discrete() {
        return None;
    }
    let (mut values, mut next) = (Vec::new(), Some(domain.bounds().0));
    while let Some(value) = next {
        if values.len() == MAX_VALUES {
            return None;
        }
        values.push(value);
        next = domain.ceil(value.next_up()).filter(|&v| v > value);
    }
    Some(values)
}

/// A balanced tree over pieces that end at `ends`, numbered from `first`.
fn balanced(variable: usize, ends: &[f64], first: usize, nodes: &mut Vec<Node>) {
    if ends.len() <= 1 {
        nodes.push(Node::Leaf { leaf: first, value: 0.0 });
        return;
    }
    let half = ends.len() / 2;
    let at = nodes.len();
    nodes.push(Node::Leaf { leaf: 0, value: 0.0 });
    let left = nodes.len();
    balanced(variable, &ends[..half], first, nodes);
    let right = nodes.len();
    balanced(variable, &ends[half..], first + half, nodes);
    nodes[at] = Node::Split { feature: variable, rule: Rule::Threshold(ends[half - 1]), left, right };
}

#[cfg(test)]
mod tests {
    use leafgp_constraints::{Domain, Grid, Range};
    use leafgp_solver::{Forest, Node, Rule, Tree};

    use super::Stairs;

    #[test]
    fn every_point_ends_in_the_leaf_of_its_piece() {
        let domains = [
            Domain::Continuous { lower: -1.0, upper: 2.0 },
            Domain::Integer { lower: 0.0, upper: 500.0 },
            Domain::Grid(Grid::new(1, 5, 2, 9).unwrap()),
            Domain::Discrete(vec![0.0, 3.0, 3.5]),
            Domain::Categorical { levels: 4 },
        ];
        for (variable, domain) in domains.iter().enumerate() {
            let rule = Rule::Threshold(0.25);
            let cut = Tree {
                nodes: vec![
                    Node::Split { feature: 0, rule, left: 1, right: 2 },
                    Node::Leaf { leaf: 0, value: 0.0 },
                    Node::Leaf { leaf: 1, value: 1.0 },
                ],
            };
            let forest = Forest::new(vec![cut], &domains).unwrap();
            let stairs = Stairs::new(variable, domain, &forest, Some(1.0));
            let alone = Forest::new(vec![stairs.tree.clone()], &domains).unwrap();
            assert_eq!(alone.n_leaves(), stairs.pieces.len());
            let (lower, upper) = domain.bounds();
            let mut point = vec![0.0; domains.len()];
            for i in 0..=600 {
                let Some(x) = domain.nearest(lower + (upper - lower) * f64::from(i) / 600.0, lower, upper)
                else {
                    continue;
                };
                point[variable] = x;
                let piece = &stairs.pieces[alone.active_leaves(&point)[0]];
                assert!(piece.contains(x), "{x} of {domain:?} in {piece:?}");
            }
            if variable == 0 {
                let at = |x: f64| stairs.pieces.iter().position(|piece| piece.contains(x)).unwrap();
                assert!(at(0.25) != at(0.25f64.next_up()) && at(1.0) != at(1.0f64.next_down()));
                assert!(stairs.pieces.iter().any(
                    |p| matches!(p, Range::Interval { lower, upper } if *lower == 1.0 && *upper == 1.0)
                ));
            }
        }
    }
}
