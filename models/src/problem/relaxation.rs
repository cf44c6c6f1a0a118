//! The union of the models' forests with stairs for functions of single variables: lower bounds of objective and constraints as sums of leaves.

use leafgp_constraints::{Quantity, Region};
use leafgp_solver::{Forest, LeafLimit, LeafObjective, LeafSum, Node, Tree};

use super::form::Form;
use super::stairs::Stairs;
use super::{ModelProblem, Stated};
use crate::error::ModelError;
use crate::forest::BoundForest;

/// Rounding of a sum of leaves, relative to the size of its terms.
const ROUNDING: f64 = 1e-12;

/// A function of the leaves: at most the quantity it stands for, at every feasible point.
#[derive(Clone, Debug)]
pub(super) struct LeafFunction {
    pub(super) constant: f64,
    /// Coefficient of each leaf of the union.
    pub(super) linear: Vec<f64>,
}

/// Everything that the search bounds with.
#[derive(Debug)]
pub(super) struct LeafRelaxation {
    pub(super) forest: Forest,
    /// At most the objective.
    pub(super) objective: LeafFunction,
    /// At most 0 at every feasible point.
    pub(super) constraints: Vec<LeafFunction>,
    /// The sum that each model's prediction follows from.
    pub(super) sums: Vec<LeafSum>,
    /// Number of the models' trees, which come first.
    pub(super) cell_trees: usize,
}

/// A constraint's part in the relaxation.
enum Part {
    Form(Form),
    /// Model, sign and end: `sign * raw <= sign * end`.
    Bent(usize, f64, f64),
}

impl ModelProblem {
    /// The relaxation of an objective that is minimised. `from` is a point on whose sides functions differ.
    pub(super) fn relax(
        &self,
        objective: &Quantity,
        from: Option<&[f64]>,
    ) -> Result<LeafRelaxation, ModelError> {
        let n = self.variables.len();
        let whole = self.whole();
        let unbounded = || ModelError::Unsupported {
            kind: "objective".into(),
            reason: "its values are unbounded over the variables' box".into(),
        };
        let objective = Form::new(objective, n, &self.models, &whole).ok_or_else(unbounded)?;
        let parts = self.parts(&whole)?;
        let trees: Vec<Tree> = self.forests.iter().flat_map(|bound| bound.forest.trees()).cloned().collect();
        let of_models = Forest::new(trees.clone(), &self.domains)?;
        let forms = || std::iter::once(&objective).chain(parts.iter().filter_map(Part::form));
        let stairs: Vec<Stairs> = (0..n)
            .filter(|&v| forms().any(|form| form.unary.iter().any(|(variable, ..)| *variable == v)))
            .map(|v| {
                let kink = from.map(|from| from[v]);
                Stairs::new(v, &self.domains[v], &of_models, kink)
            })
            .collect();
        let trees = trees.into_iter().chain(stairs.iter().map(|stairs| stairs.tree.clone())).collect();
        let union = Union { problem: self, forest: Forest::new(trees, &self.domains)?, stairs, whole };
        let objective = union.function(&objective).ok_or_else(unbounded)?;
        let constraints = parts.iter().filter_map(|part| match part {
            Part::Form(form) => union.function(form),
            &Part::Bent(model, sign, end) => Some(union.bent(model, sign, end)),
        });
        let constraints = constraints.collect();
        let sums = (0..self.models.len()).map(|k| union.sum(k)).collect();
        let cell_trees = of_models.n_trees();
        Ok(LeafRelaxation { forest: union.forest, objective, constraints, sums, cell_trees })
    }

    /// The whole box of variables and predictions.
    pub(super) fn whole(&self) -> Region {
        let outputs = self.outputs.iter().map(|output| output.domain.clone());
        Region::full(&self.domains.iter().cloned().chain(outputs).collect::<Vec<_>>())
    }

    /// What each constraint says as an inequality: those of models, and sums of functions of several variables.
    fn parts(&self, whole: &Region) -> Result<Vec<Part>, ModelError> {
        let n = self.variables.len();
        let mut parts = Vec::new();
        for stated in &self.stated {
            let Stated::Constraint { name, expression } = stated else { continue };
            let differences = self.builder.differences(expression);
            for quantity in differences.map_err(|error| ModelError::expression(name, error))? {
                let raw_range = |k: usize| raw_range(&self.forests[k]);
                if let Some((k, sign, end)) = Form::of_bent(&quantity, n, &self.models, raw_range) {
                    parts.push(Part::Bent(k, sign, end));
                    continue;
                }
                let Some(form) = Form::new(&quantity, n, &self.models, whole) else { continue };
                let several = form.is_whole && form.unary.len() > 1;
                if !form.models.is_empty() || several {
                    parts.push(Part::Form(form));
                }
            }
        }
        Ok(parts)
    }
}

impl Part {
    fn form(&self) -> Option<&Form> {
        match self {
            Self::Form(form) => Some(form),
            Self::Bent(..) => None,
        }
    }
}

/// The union forest while functions of its leaves are made.
struct Union<'a> {
    problem: &'a ModelProblem,
    forest: Forest,
    stairs: Vec<Stairs>,
    whole: Region,
}

impl Union<'_> {
    /// The leaves of a model's trees.
    fn leaves_of(&self, model: usize) -> std::ops::Range<usize> {
        let counts: Vec<usize> = self.problem.forests.iter().map(|bound| bound.forest.n_leaves()).collect();
        let first = counts[..model].iter().sum();
        first..first + counts[model]
    }

    /// The raw score of a model, in exact arithmetic but for one rounding of each coefficient where the model averages its trees.
    fn sum(&self, model: usize) -> LeafSum {
        let BoundForest { objective, scale, .. } = &self.problem.forests[model];
        let mut linear = vec![0.0; self.forest.n_leaves()];
        for (place, value) in linear[self.leaves_of(model)].iter_mut().zip(&objective.linear) {
            *place = value / scale;
        }
        let ensemble = &self.problem.models[model].ensemble;
        LeafSum {
            constant: objective.constant / scale,
            linear,
            link: ensemble.link().as_data(),
            rounding: ensemble.rounding(),
            is_double: ensemble.is_double(),
        }
    }

    fn add_model(&self, function: &mut LeafFunction, model: usize, coefficient: f64) {
        let sum = self.sum(model);
        function.constant += coefficient * sum.constant;
        for (place, value) in function.linear.iter_mut().zip(&sum.linear) {
            *place += coefficient * value;
        }
    }

    fn function(&self, form: &Form) -> Option<LeafFunction> {
        let mut function =
            LeafFunction { constant: form.constant, linear: vec![0.0; self.forest.n_leaves()] };
        for &(model, coefficient) in &form.models {
            self.add_model(&mut function, model, coefficient);
        }
        let first_tree = self.forest.n_trees() - self.stairs.len();
        for (i, stairs) in self.stairs.iter().enumerate() {
            let first = self.forest.leaf_offset(first_tree + i);
            for (leaf, height) in stairs.heights(form, &self.whole)?.into_iter().enumerate() {
                function.linear[first + leaf] = height;
            }
        }
        function.constant -= ROUNDING * function.size(&self.forest);
        (function.constant.is_finite() && function.linear.iter().all(|c| c.is_finite())).then_some(function)
    }

    fn bent(&self, model: usize, sign: f64, end: f64) -> LeafFunction {
        let mut function = LeafFunction { constant: -sign * end, linear: vec![0.0; self.forest.n_leaves()] };
        self.add_model(&mut function, model, sign);
        function.constant -= ROUNDING * function.size(&self.forest);
        function
    }
}

impl LeafFunction {
    /// Largest size of its terms, added up.
    pub(super) fn size(&self, forest: &Forest) -> f64 {
        let of_tree = |t: usize| {
            let leaves = &self.linear[forest.leaf_offset(t)..forest.leaf_offset(t + 1)];
            leaves.iter().fold(0.0f64, |largest, c| largest.max(c.abs()))
        };
        self.constant.abs() + (0..forest.n_trees()).map(of_tree).sum::<f64>()
    }

    /// The sum with a multiple of functions that are at most 0.
    pub(super) fn plus(&self, multipliers: &[f64], others: &[Self]) -> LeafObjective {
        let mut sum = self.clone();
        for (&multiplier, other) in multipliers.iter().zip(others).filter(|(m, _)| **m > 0.0) {
            sum.constant += multiplier * other.constant;
            sum.linear.iter_mut().zip(&other.linear).for_each(|(c, o)| *c += multiplier * o);
        }
        LeafObjective { constant: sum.constant, linear: sum.linear, quadratic: None }
    }

    /// "At most 0", in plain arithmetic.
    pub(super) fn at_most_zero(&self, forest: &Forest) -> LeafLimit {
        let coefficients = self.linear.iter().copied().enumerate().filter(|(_, c)| *c != 0.0).collect();
        let upper = ROUNDING * self.size(forest);
        LeafLimit { constant: self.constant, coefficients, lower: f64::NEG_INFINITY, upper }
    }
}

/// The raw scores that a model's trees can add up to.
pub(super) fn raw_range(bound: &BoundForest) -> (f64, f64) {
    let (mut lower, mut upper) = (bound.objective.constant, bound.objective.constant);
    let mut size = lower.abs();
    for tree in bound.forest.trees() {
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for node in &tree.nodes {
            if let Node::Leaf { value, .. } = node {
                (min, max) = (min.min(*value), max.max(*value));
            }
        }
        lower += min;
        upper += max;
        size += min.abs().max(max.abs());
    }
    let margin = ROUNDING * size;
    ((lower - margin) / bound.scale, (upper + margin) / bound.scale)
}
