//! Several models in one problem: their names stand in constraints and objective like variables.

mod compiled;
mod form;
mod multipliers;
mod predictor;
mod proof;
mod reach;
mod relaxation;
mod solve;
mod stairs;

use leafgp_constraints::{ConstraintsBuilder, Domain, Quantity, Stated, Variable};

use crate::binding::Binding;
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::forest::BoundForest;
use crate::goal::Goal;

pub use reach::{Reach, ReachOutcome, Target};
pub use solve::{ModelCandidate, ModelOptimum};

/// A model under the name that expressions use.
#[derive(Clone, Debug)]
pub struct NamedModel {
    /// The name in expressions.
    pub name: String,
    /// The model.
    pub ensemble: Ensemble,
    /// Which variable is which feature.
    pub binding: Binding,
}

impl NamedModel {
    /// Matches the model's features with the variables: by name, or the first feature with the first variable and so on.
    ///
    /// # Errors
    /// As [`Binding::by_name`] and [`Binding::by_position`].
    pub fn bind(
        name: impl Into<String>,
        ensemble: Ensemble,
        variables: &[Variable],
        by_position: bool,
    ) -> Result<Self, ModelError> {
        let bind = if by_position { Binding::by_position } else { Binding::by_name };
        let binding = bind(&ensemble, variables)?;
        Ok(Self { name: name.into(), ensemble, binding })
    }
}

/// Variables, models and what is demanded of them. A model's name stands for what its library predicts, in the model's own unit.
///
/// ```
/// use leafgp_constraints::{Domain, Variable};
/// use leafgp_models::{Binding, Ensemble, Goal, ModelProblem, NamedModel, ReadOptions};
/// use leafgp_solver::SearchOptions;
///
/// let text = |low: f64, high: f64| format!("tree
/// version=v4
/// num_class=1
/// num_tree_per_iteration=1
/// max_feature_idx=0
/// objective=regression
/// feature_names=dose
/// tree_sizes=200
///
/// Tree=0
/// num_leaves=2
/// split_feature=0
/// threshold=5
/// decision_type=2
/// left_child=-1
/// right_child=-2
/// leaf_value={low} {high}
///
/// end of trees
/// ");
/// let domain = Domain::Continuous { lower: 0.0, upper: 10.0 };
/// let variables = vec![Variable { name: "dose".into(), domain, level_names: Vec::new() }];
/// let mut models = Vec::new();
/// for (name, low, high) in [("strength", 20.0, 32.0), ("purity", 0.99, 0.96)] {
///     let ensemble = Ensemble::read(text(low, high).as_bytes(), &ReadOptions::default())?;
///     let binding = Binding::by_name(&ensemble, &variables)?;
///     models.push(NamedModel { name: name.into(), ensemble, binding });
/// }
/// let mut problem = ModelProblem::new(variables, models)?;
/// problem.constrain("pure enough", "purity >= 0.95")?;
/// let optimum = problem.optimize("strength - 0.5 * dose", Goal::Maximize, &[], &SearchOptions::default())?;
/// let best = optimum.best.ok_or("nothing is feasible")?;
/// // Just above a dose of 5: 32 - 2.5.
/// assert!((best.value - 29.5).abs() < 3e-3 && optimum.bound >= best.value && best.predictions == [32.0, 0.96]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ModelProblem {
    variables: Vec<Variable>,
    domains: Vec<Domain>,
    models: Vec<NamedModel>,
    /// Each model's trees within the box.
    forests: Vec<BoundForest>,
    /// What each model can predict.
    outputs: Vec<Variable>,
    builder: ConstraintsBuilder,
    stated: Vec<Stated>,
}

impl ModelProblem {
    /// Starts from the variables, in the order of points, and the models.
    ///
    /// # Errors
    /// A name that occurs twice; domains without values; a binding that does not fit; a model whose predictions are unbounded.
    pub fn new(variables: Vec<Variable>, models: Vec<NamedModel>) -> Result<Self, ModelError> {
        let domains: Vec<Domain> = variables.iter().map(|variable| variable.domain.clone()).collect();
        let (mut forests, mut outputs) = (Vec::new(), Vec::new());
        for model in &models {
            let forest = model.ensemble.to_forest(&domains, &model.binding, Goal::Minimize)?;
            let (lower, upper) = relaxation::raw_range(&forest);
            let (lower, upper) = predictor::enclose(model, lower, upper);
            if !(lower.is_finite() && upper.is_finite()) {
                let problem = format!("the predictions of {:?} lie between {lower} and {upper}", model.name);
                return Err(ModelError::Unsupported { kind: "predictions".into(), reason: problem });
            }
            forests.push(forest);
            let domain = Domain::Continuous { lower, upper };
            outputs.push(Variable { name: model.name.clone(), domain, level_names: Vec::new() });
        }
        let all = variables.iter().chain(&outputs).cloned().collect();
        let builder = ConstraintsBuilder::new(all).map_err(|error| ModelError::expression("names", error))?;
        Ok(Self { variables, domains, models, forests, outputs, builder, stated: Vec::new() })
    }

    /// The variables.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The models.
    pub fn models(&self) -> &[NamedModel] {
        &self.models
    }

    /// Names a quantity (or a condition) for later expressions; `integer` demands a whole value.
    ///
    /// # Errors
    /// Syntax, unknown or duplicate names, types.
    pub fn define(&mut self, name: &str, expression: &str, integer: bool) -> Result<(), ModelError> {
        let (name, expression) = (name.to_owned(), expression.to_owned());
        self.state(Stated::Define { name, expression, integer })
    }

    /// Makes a variable hierarchical: where the condition is false it takes `inactive_value`.
    ///
    /// # Errors
    /// No such variable; syntax, unknown names, types; an inactive value outside the domain; a condition that depends on the variable itself.
    pub fn active_if(
        &mut self,
        variable: usize,
        condition: &str,
        inactive_value: f64,
    ) -> Result<(), ModelError> {
        self.state(Stated::ActiveIf { variable, condition: condition.to_owned(), inactive_value })
    }

    /// Demands a condition of the variables and the models.
    ///
    /// # Errors
    /// Syntax, unknown names, types.
    pub fn constrain(&mut self, name: &str, expression: &str) -> Result<(), ModelError> {
        let (name, expression) = (name.to_owned(), expression.to_owned());
        self.state(Stated::Constraint { name, expression })
    }

    /// Checks an objective: an expression of the variables, the models and the definitions.
    ///
    /// # Errors
    /// Syntax, unknown names, an expression that is no number.
    pub fn check_objective(&self, expression: &str) -> Result<(), ModelError> {
        self.quantity(expression).map(|_| ())
    }

    fn quantity(&self, expression: &str) -> Result<Quantity, ModelError> {
        self.builder.quantity(expression).map_err(|error| ModelError::expression("objective", error))
    }

    /// States one thing more: a definition, when a variable exists, or a constraint.
    ///
    /// # Errors
    /// As [`define`](Self::define), [`active_if`](Self::active_if) and [`constrain`](Self::constrain).
    pub fn state(&mut self, stated: Stated) -> Result<(), ModelError> {
        self.builder.state(&stated).map_err(|error| ModelError::expression(stated.name(), error))?;
        self.stated.push(stated);
        Ok(())
    }

    /// The same problem with more stated of it, such as all that a problem file says.
    ///
    /// # Errors
    /// As [`state`](Self::state).
    pub fn stating(mut self, all: impl IntoIterator<Item = Stated>) -> Result<Self, ModelError> {
        all.into_iter().try_for_each(|stated| self.state(stated))?;
        Ok(self)
    }
}
