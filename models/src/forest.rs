//! From a model's trees to the solver's forest, exact at every f64 of the box.

use leafgp_constraints::{Domain, LevelSet, Range};
use leafgp_solver::{Forest, LeafObjective, Node as SolverNode, Rule as SolverRule, Tree as SolverTree};

use crate::binding::{Binding, Bound};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::goal::Goal;
use crate::tree::{Node, Rule, Tree};

/// Largest number of leaves within a box.
const MAX_LEAVES: usize = 20_000_000;

/// A model within a box: the solver's forest and the raw score as an objective to minimise.
#[derive(Clone, Debug)]
pub struct BoundForest {
    /// The trees over the variables. A leaf's value is its share of the raw score, without the base.
    pub forest: Forest,
    /// `sign * (base + sum of the leaves)` in the unit of [`Ensemble::raw`] times [`scale`](Self::scale); the sign is -1 for a maximum.
    pub objective: LeafObjective,
    /// Number by which the objective is larger than the raw score: that of the trees where the model averages them, else 1.
    pub scale: f64,
}

impl Ensemble {
    /// The trees within the variables' domains, without what no point of them reaches. Missing values are not part of the box. Where zeros follow a
    /// direction of their own, the split becomes several.
    ///
    /// # Errors
    /// Domains that do not fit the binding; trees that would get more than 20 million leaves.
    pub fn to_forest(
        &self,
        domains: &[Domain],
        binding: &Binding,
        goal: Goal,
    ) -> Result<BoundForest, ModelError> {
        self.check_binding(domains, binding)?;
        let mut builder = Builder { domains, binding, n_leaves: 0 };
        let mut trees = Vec::with_capacity(self.trees().len());
        for tree in self.trees() {
            trees.push(builder.tree(tree)?);
        }
        let forest = Forest::new(trees, domains)?;
        let (sign, scale) = (goal.sign(), self.divisor());
        let mut objective = LeafObjective::prediction(&forest);
        objective.constant = sign * self.base() * scale;
        objective.linear.iter_mut().for_each(|c| *c *= sign);
        Ok(BoundForest { forest, objective, scale })
    }

    /// Checks that the domains are those that were bound.
    fn check_binding(&self, domains: &[Domain], binding: &Binding) -> Result<(), ModelError> {
        if binding.columns().len() != self.features().len() || binding.n_variables() != domains.len() {
            let problem = format!(
                "{} features and {} variables are bound; there are {} and {}",
                binding.columns().len(),
                binding.n_variables(),
                self.features().len(),
                domains.len()
            );
            return Err(ModelError::format("the binding", problem));
        }
        for (feature, bound) in self.features().iter().zip(binding.columns()) {
            let fits = match domains[bound.variable].levels() {
                Some(levels) => feature.is_categorical() && levels == bound.codes.len(),
                None => !feature.is_categorical(),
            };
            if !fits {
                let problem = "the domain is not the one that was bound".into();
                return Err(ModelError::Feature { feature: feature.name.clone(), problem });
            }
        }
        Ok(())
    }
}

/// Builds trees within a box.
struct Builder<'a> {
    domains: &'a [Domain],
    binding: &'a Binding,
    n_leaves: usize,
}

/// A step of the walk through a tree.
enum Step {
    /// Build the model's node into a place of the solver's tree.
    Node { node: usize, place: usize },
    /// Build the pieces from `first` on of a split with several cuts.
    Pieces { node: usize, first: usize, place: usize },
    /// Keep only a part of a variable, after which the parts below are walked.
    Narrow { variable: usize, range: Range },
}

impl Builder<'_> {
    fn tree(&mut self, tree: &Tree) -> Result<SolverTree, ModelError> {
        let mut walk = Walk {
            ranges: self.domains.iter().map(Range::full).collect(),
            nodes: vec![SolverNode::Leaf { leaf: 0, value: 0.0 }],
            steps: vec![Step::Node { node: 0, place: 0 }],
        };
        let mut n_leaves = 0;
        // Without recursion: a tree may be as deep as it has nodes. Each branch narrows the box on its way in and gets the old part back after.
        while let Some(step) = walk.steps.pop() {
            match step {
                Step::Narrow { variable, range } => walk.ranges[variable] = range,
                Step::Pieces { node, first, place } => match &tree.nodes()[node] {
                    Node::Split { feature, rule: Rule::Pieces { cuts, first_left }, left, right, .. } => {
                        let bound = &self.binding.columns()[*feature];
                        walk.pieces(
                            node,
                            bound,
                            cuts,
                            first,
                            *first_left,
                            [*left, *right],
                            place,
                            self.domains,
                        );
                    }
                    _ => unreachable!("only a split with pieces has steps for them"),
                },
                Step::Node { node, place } => match &tree.nodes()[node] {
                    Node::Leaf(value) => {
                        walk.nodes[place] = SolverNode::Leaf { leaf: n_leaves, value: value * tree.weight() };
                        n_leaves += 1;
                        self.n_leaves += 1;
                        if self.n_leaves > MAX_LEAVES {
                            return Err(ModelError::TooLarge { limit: MAX_LEAVES });
                        }
                    }
                    Node::Split { feature, rule, left, right, .. } => {
                        let bound = &self.binding.columns()[*feature];
                        let children = [*left, *right];
                        match rule {
                            Rule::Threshold(t) => {
                                let [left, right] = children;
                                let below = Step::Node { node: left, place: 0 };
                                let above = Step::Node { node: right, place: 0 };
                                walk.threshold(bound.variable, *t, below, above, place, self.domains);
                            }
                            Rule::Pieces { cuts, first_left } => {
                                walk.pieces(node, bound, cuts, 0, *first_left, children, place, self.domains);
                            }
                            Rule::Codes { listed, listed_left } => {
                                let goes_left = |&code: &usize| listed.contains(code) == *listed_left;
                                walk.levels(bound, goes_left, children, place);
                            }
                        }
                    }
                },
            }
        }
        Ok(SolverTree { nodes: walk.nodes })
    }
}

/// State of the walk through one tree.
struct Walk {
    /// What is left of each variable on the way to the node at hand.
    ranges: Vec<Range>,
    nodes: Vec<SolverNode>,
    steps: Vec<Step>,
}

impl Walk {
    /// A split into two branches, each within its part of the variable.
    fn branch(
        &mut self,
        variable: usize,
        rule: SolverRule,
        parts: [Range; 2],
        steps: [Step; 2],
        place: usize,
    ) {
        let first = self.nodes.len();
        let empty = SolverNode::Leaf { leaf: 0, value: 0.0 };
        self.nodes.extend([empty.clone(), empty]);
        self.nodes[place] = SolverNode::Split { feature: variable, rule, left: first, right: first + 1 };
        let whole = self.ranges[variable].clone();
        let [left, right] = parts;
        let [to_left, to_right] = steps;
        // Popped from the end: left within its part, right within its part, then the whole again.
        self.steps.push(Step::Narrow { variable, range: whole });
        self.steps.push(to_right.at(first + 1));
        self.steps.push(Step::Narrow { variable, range: right });
        self.steps.push(to_left.at(first));
        self.steps.push(Step::Narrow { variable, range: left });
    }

    /// `x <= t` or above; a side without values is left out.
    fn threshold(
        &mut self,
        variable: usize,
        t: f64,
        below: Step,
        above: Step,
        place: usize,
        domains: &[Domain],
    ) {
        let Range::Interval { lower, upper } = self.ranges[variable] else {
            unreachable!("the binding was checked");
        };
        let parts = [(lower, upper.min(t)), (lower.max(t.next_up()), upper)];
        let holds =
            parts.map(|(lower, upper)| lower <= upper && domains[variable].within(lower, upper).is_some());
        match holds {
            [true, true] => {
                let ranges = parts.map(|(lower, upper)| Range::Interval { lower, upper });
                self.branch(variable, SolverRule::Threshold(t), ranges, [below, above], place);
            }
            // Neither holds a value when nothing reaches the node: any side will do.
            [_, false] => self.steps.push(below.at(place)),
            [false, true] => self.steps.push(above.at(place)),
        }
    }

    /// The pieces from `first` on: the first of them against the rest.
    #[expect(clippy::too_many_arguments, reason = "the parts of a split, taken apart once")]
    fn pieces(
        &mut self,
        node: usize,
        bound: &Bound,
        cuts: &[f64],
        first: usize,
        first_left: bool,
        children: [usize; 2],
        place: usize,
        domains: &[Domain],
    ) {
        let is_left = first.is_multiple_of(2) == first_left;
        let here = Step::Node { node: if is_left { children[0] } else { children[1] }, place };
        match cuts.get(first) {
            None => self.steps.push(here),
            Some(&cut) => {
                let rest = Step::Pieces { node, first: first + 1, place };
                self.threshold(bound.variable, cut, here, rest, place, domains);
            }
        }
    }

    /// The levels whose code goes left against the others.
    fn levels(
        &mut self,
        bound: &Bound,
        goes_left: impl Fn(&usize) -> bool,
        [left, right]: [usize; 2],
        place: usize,
    ) {
        let Range::Levels(levels) = &self.ranges[bound.variable] else {
            unreachable!("the binding was checked");
        };
        let n = bound.codes.len();
        let set = LevelSet::from_indices(n, (0..n).filter(|&level| goes_left(&bound.codes[level])));
        let (mut inside, mut outside) = (levels.clone(), levels.clone());
        inside.intersect_with(&set);
        outside.intersect_with(&set.complement());
        let [left, right] = [left, right].map(|node| Step::Node { node, place });
        match (inside.is_empty(), outside.is_empty()) {
            (false, false) => {
                let parts = [Range::Levels(inside), Range::Levels(outside)];
                self.branch(bound.variable, SolverRule::Levels(set), parts, [left, right], place);
            }
            (_, true) => self.steps.push(left),
            (true, false) => self.steps.push(right),
        }
    }
}

impl Step {
    /// The same step into another place.
    fn at(self, place: usize) -> Self {
        match self {
            Self::Node { node, .. } => Self::Node { node, place },
            Self::Pieces { node, first, .. } => Self::Pieces { node, first, place },
            narrow @ Self::Narrow { .. } => narrow,
        }
    }
}
