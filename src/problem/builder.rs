//! A problem in code; the problem file goes through the same checks.

use std::collections::{BTreeMap, BTreeSet};

use leafgp_solver::constraints::{self, ConstraintsBuilder, ExprError};

use super::error::{Mistakes, field_name};
use super::implied::{expression_name, fixed, implied};
use super::text::composed;
use super::{
    Definition, Goal, Kind, NamedExpression, Objective, Problem, ProblemError, Scale, Settings, Variable,
    number,
};

/// The history's own column, so no variable or objective may have this name.
pub(crate) const STATUS_COLUMN: &str = "status";

/// The optional column of the history that says why an experiment failed; a variable may have the name, then there is no such column.
pub(crate) const FAILURE_COLUMN: &str = "failure";

/// Largest magnitude of a bound or a listed number: squares of ranges stay far from overflow.
const LARGEST: f64 = 1e100;

/// Largest magnitude of a whole number: beyond 2^53 neighbours are no longer distinct.
const LARGEST_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Collects the parts of a [`Problem`]; [`ProblemBuilder::build`] checks them.
///
/// ```
/// use leafgp::problem::{Goal, Problem, Variable};
///
/// let problem = Problem::builder("coating")
///     .objective("gloss", Goal::Maximize)
///     .variable(Variable::continuous("temperature", 20.0, 80.0).unit("°C"))
///     .variable(Variable::categorical("resin", ["A", "B", "C"]))
///     .build()?;
/// assert_eq!(problem.variables()[1].parse_value("B")?, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProblemBuilder {
    pub(super) name: String,
    pub(super) objective: Objective,
    pub(super) variables: Vec<Variable>,
    defines: Vec<Definition>,
    constraints: Vec<Constraint>,
    pub(super) settings: Settings,
    pub(super) warnings: Vec<String>,
    /// Names of trained models, which expressions may use.
    pub(super) models: Vec<String>,
}

/// A constraint and the field that errors about it name.
#[derive(Clone, Debug)]
struct Constraint {
    field: String,
    name: String,
    expression: String,
}

impl ProblemBuilder {
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            objective: Objective {
                name: "objective".to_owned(),
                goal: Goal::Minimize,
                renamed_from: Vec::new(),
            },
            variables: Vec::new(),
            defines: Vec::new(),
            constraints: Vec::new(),
            settings: Settings::default(),
            warnings: Vec::new(),
            models: Vec::new(),
        }
    }

    /// The objective's column and direction; by default `objective`, to minimise.
    #[must_use]
    pub fn objective(mut self, name: impl Into<String>, goal: Goal) -> Self {
        self.objective = Objective { name: name.into(), goal, renamed_from: Vec::new() };
        self
    }

    /// An earlier name of the objective's column, under which older tables have it.
    #[must_use]
    pub fn objective_renamed_from(mut self, name: impl Into<String>) -> Self {
        self.objective.renamed_from.push(name.into());
        self
    }

    /// Adds a variable; the order of calls is the order of points.
    #[must_use]
    pub fn variable(mut self, variable: Variable) -> Self {
        self.variables.push(variable);
        self
    }

    /// Names a quantity for later expressions; `integer` demands a whole value.
    #[must_use]
    pub fn define(mut self, name: impl Into<String>, expression: impl Into<String>, integer: bool) -> Self {
        self.defines.push(Definition { name: name.into(), expr: expression.into(), integer });
        self
    }

    /// Adds a known constraint.
    #[must_use]
    pub fn constraint(self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        let name = name.into();
        self.constraint_at(format!("constraints.{}", field_name(&name)), name, expression.into())
    }

    pub(super) fn constraint_at(mut self, field: String, name: String, expression: String) -> Self {
        self.constraints.push(Constraint { field, name, expression });
        self
    }

    /// Replaces all settings.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Checks everything and compiles the constraints.
    ///
    /// # Errors
    /// No variables, duplicate or unusable names, values out of range, refused expressions.
    pub fn build(self) -> Result<Problem, ProblemError> {
        self.build_with("").map(|(problem, _)| problem)
    }

    /// The same, with the objective as an expression (empty: it is measured). With models the compiled constraints know the models' names as variables.
    pub(super) fn build_with(mut self, objective: &str) -> Result<(Problem, NamedExpression), ProblemError> {
        let mut mistakes = Mistakes::default();
        mistakes.note(self.check_names());
        for variable in &self.variables {
            let field = format!("variables.{}", field_name(&variable.name));
            mistakes.note(check_variable(variable).map_err(|e| e.within(&field)));
            if let Some(warning) = ambiguous_levels(variable) {
                self.warnings.push(warning);
            }
        }
        if let Goal::Target(target) = self.objective.goal
            && !(target.is_finite() && target.abs() <= LARGEST)
        {
            let message = format!("{target} is no target");
            mistakes.note::<()>(Err(ProblemError::new("objective.goal", message, "a finite number")));
        }
        mistakes.note(self.settings.validate().map_err(|e| e.within("settings")));
        self.warnings.extend(self.settings.without_effect());
        // Rules can be judged only by sound variables.
        mistakes.none_in(Some(()))?;
        let n_own = self.constraints.len();
        self.constraints.extend(
            implied(&self.variables).into_iter().map(|(field, NamedExpression { name, expr })| Constraint {
                field,
                name,
                expression: expr,
            }),
        );
        let compiled = self.compile(objective)?;
        // What a model predicts is not known here: its own problem watches over divisions by it.
        if self.models.is_empty() {
            self.check_denominators(&compiled)?;
        }
        let objective = NamedExpression { name: self.objective.name.clone(), expr: objective.to_owned() };
        let problem = Problem {
            name: self.name,
            objective: self.objective,
            variables: self.variables,
            constraints: compiled,
            definitions: self.defines,
            expressions: self
                .constraints
                .into_iter()
                .map(|constraint| NamedExpression { name: constraint.name, expr: constraint.expression })
                .collect(),
            n_own,
            fixed: Vec::new(),
            settings: self.settings,
            warnings: self.warnings,
        };
        Ok((problem, objective))
    }

    /// The parts of a problem, without the constraints that follow from its variables.
    pub(super) fn of(problem: &Problem) -> Self {
        let constraint = |NamedExpression { name, expr }: &NamedExpression| Constraint {
            field: format!("constraints.{}", field_name(name)),
            name: name.clone(),
            expression: expr.clone(),
        };
        Self {
            name: problem.name.clone(),
            objective: problem.objective.clone(),
            variables: problem.variables.clone(),
            defines: problem.definitions.clone(),
            constraints: problem.expressions[..problem.n_own].iter().map(constraint).collect(),
            settings: problem.settings.clone(),
            warnings: Vec::new(),
            models: Vec::new(),
        }
    }

    /// Adds the constraint that a variable has one value.
    pub(super) fn fixed(self, variable: usize, value: f64) -> Self {
        let NamedExpression { name, expr } = fixed(&self.variables[variable], value);
        self.constraint(name, expr)
    }

    /// A divisor that may still be zero where everything else holds leaves the model undefined.
    fn check_denominators(&self, compiled: &constraints::Constraints) -> Result<(), ProblemError> {
        let Some(divisor) = compiled.check_denominators().into_iter().next() else { return Ok(()) };
        let (lower, upper) = divisor.range;
        // The bounds are rounded outward in the last place: six digits say it better.
        let short = |x: f64| number::format_number(format!("{x:.5e}").parse().unwrap_or(x));
        let range = format!("[{}, {}]", short(lower), short(upper));
        Err(ProblemError::new(
            self.constraint_fields().swap_remove(divisor.constraint),
            format!("division by `{}`, which may be 0: its values lie in {range}", divisor.text),
            "bounds or a constraint that keep the divisor away from 0",
        ))
    }

    /// The field of each compiled constraint, in the order in which [`ProblemBuilder::compile`] adds them.
    fn constraint_fields(&self) -> Vec<String> {
        let whole =
            self.defines.iter().filter(|d| d.integer).map(|d| format!("define.{}", field_name(&d.name)));
        let hierarchies = self.variables.iter().filter(|v| v.active_if.is_some());
        let hierarchies = hierarchies.map(|v| format!("variables.{}.active_if", field_name(&v.name)));
        whole.chain(hierarchies).chain(self.constraints.iter().map(|c| c.field.clone())).collect()
    }

    fn check_names(&self) -> Result<(), ProblemError> {
        let objective = &self.objective.name;
        self.check_old_names()?;
        check_name(objective).map_err(|e| e.within("objective.name"))?;
        if self.variables.is_empty() {
            return Err(ProblemError::new("variables", "there are no variables", "at least one"));
        }
        for (i, variable) in self.variables.iter().enumerate() {
            let name = &variable.name;
            let field = format!("variables.{}", field_name(name));
            check_name(name).map_err(|e| e.within(&field))?;
            if self.variables[..i].iter().any(|other| other.name == *name) {
                return Err(ProblemError::new(
                    field,
                    format!("there are two variables {name:?}"),
                    "distinct names",
                ));
            }
            if self.models.contains(name) {
                return Err(ProblemError::new(
                    format!("models.{}", field_name(name)),
                    format!("{name:?} is a variable too"),
                    "a name of its own",
                ));
            }
            if name == objective {
                let message =
                    format!("{name:?} is a variable too: the history would have two columns of that name");
                return Err(ProblemError::new("objective.name", message, "a name of its own"));
            }
        }
        Ok(())
    }

    /// An earlier name that is in use would make the history ambiguous.
    fn check_old_names(&self) -> Result<(), ProblemError> {
        let of_variables = self.variables.iter().map(|v| (format!("variables.{}", field_name(&v.name)), v));
        let mut old: Vec<(String, &String)> =
            self.objective.renamed_from.iter().map(|name| ("objective".to_owned(), name)).collect();
        for (field, variable) in of_variables {
            old.extend(variable.renamed_from.iter().map(|name| (field.clone(), name)));
        }
        let current: Vec<_> = self
            .variables
            .iter()
            .map(|v| &v.name)
            .chain([&self.objective.name])
            .map(|n| composed(n))
            .collect();
        for (i, (field, name)) in old.iter().enumerate() {
            let refuse = |message: String| {
                Err(ProblemError::new(
                    format!("{field}.renamed_from"),
                    message,
                    "a name that nothing else has",
                ))
            };
            if current.contains(&composed(name)) {
                return refuse(format!("{name:?} is the name of a column of today"));
            }
            if old[..i].iter().any(|(_, other)| composed(other) == composed(name)) {
                return refuse(format!("{name:?} is given twice"));
            }
        }
        Ok(())
    }

    fn compile(&self, objective: &str) -> Result<constraints::Constraints, ProblemError> {
        let outputs: Vec<Variable> =
            self.models.iter().map(|name| Variable::continuous(name, -LARGEST, LARGEST)).collect();
        let variables = self.variables.iter().chain(&outputs).map(Variable::in_expressions);
        let names = self.variables.iter().map(|v| &v.name).chain(&self.models);
        let names = names.chain(self.defines.iter().map(|d| &d.name));
        let names: Vec<String> = names.map(|name| expression_name(name)).collect();
        let refuse = |field: String, expression: &str| {
            let (expression, names) = (expression.to_owned(), names.join(", "));
            move |e: ExprError| {
                let mut error = ProblemError::in_expression(field, &expression, e);
                if error.message.starts_with("unknown name") {
                    error.expected = format!("one of {names}");
                }
                error
            }
        };
        // A definition may use variables and the definitions above it.
        let refuse_definition = |number: usize, field: String, expression: &str| {
            let unusable = self.defines[number..].iter().enumerate().map(|(k, d)| (k, d.name.clone()));
            let (unusable, text) = (unusable.collect::<Vec<_>>(), expression.to_owned());
            let otherwise = refuse(field, expression);
            move |e: ExprError| {
                let word = text.get(e.span.clone()).unwrap_or_default().trim_matches('`').to_owned();
                let place = unusable.iter().find(|(_, name)| *name == word).map(|&(k, _)| k);
                let mut error = otherwise(e);
                if let Some(k) = place.filter(|_| error.message.starts_with("unknown name")) {
                    let what = if k == 0 { "is defined by itself" } else { "is defined later" };
                    error.message = format!("`{word}` {what}");
                    error.expected = "variables and definitions that stand above".to_owned();
                }
                error
            }
        };
        let mut builder =
            ConstraintsBuilder::new(variables.collect()).map_err(refuse("variables".to_owned(), ""))?;
        let mut mistakes = Mistakes::default();
        let mut wrong = Vec::new();
        for (number, Definition { name, expr: expression, integer }) in self.defines.iter().enumerate() {
            let field = format!("define.{}", field_name(name));
            let named = check_name(name).map_err(|e| e.within(&field));
            let defined = named.and_then(|()| {
                let defined = builder.define(name, expression, *integer);
                defined.map_err(refuse_definition(number, field, expression))
            });
            if mistakes.note_unless(defined, |e| is_about(e, expression, &wrong)).is_none() {
                wrong.push(name.as_str());
            }
        }
        for (i, variable) in self.variables.iter().enumerate() {
            if let Some(condition) = &variable.active_if {
                let field = format!("variables.{}.active_if", field_name(&variable.name));
                let active = builder.active_if(i, condition, variable.inactive_value);
                let active = active.map_err(refuse(field, condition));
                mistakes.note_unless(active, |e| is_about(e, condition, &wrong));
            }
        }
        for Constraint { field, name, expression } in &self.constraints {
            let constrained = builder.constrain(name, expression).map_err(refuse(field.clone(), expression));
            mistakes.note_unless(constrained, |e| is_about(e, expression, &wrong));
        }
        if !objective.is_empty() {
            let field = "objective.expression".to_owned();
            let quantity = builder.quantity(objective).map_err(refuse(field, objective));
            mistakes.note_unless(quantity, |e| is_about(e, objective, &wrong));
        }
        mistakes.none_in(Some(()))?;
        Ok(builder.build())
    }
}

/// True for a mistake that only follows from one of these names: of definitions that are wrong themselves.
fn is_about(error: &ProblemError, expression: &str, names: &[&str]) -> bool {
    let part = error.expression_part.clone().and_then(|part| expression.get(part)).unwrap_or_default();
    names.contains(&part.trim_matches('`'))
}

/// A name must survive as a CSV header and between backquotes.
pub(super) fn check_name(name: &str) -> Result<(), ProblemError> {
    let refuse = |message: String, expected: &str| Err(ProblemError::new("", message, expected));
    if name.trim().is_empty() {
        return refuse("the name is empty".to_owned(), "a name");
    }
    if name.trim() != name {
        return refuse(format!("{name:?} starts or ends with a space"), "a name without them");
    }
    if let Some(bad) = name.chars().find(|&c| c == '`' || c.is_control()) {
        return refuse(
            format!("{name:?} contains {bad:?}"),
            "a name without backquotes and control characters",
        );
    }
    if name == STATUS_COLUMN {
        return refuse(
            format!("{name:?} is the history's own column (done, pending or failed)"),
            "another name",
        );
    }
    Ok(())
}

fn check_variable(variable: &Variable) -> Result<(), ProblemError> {
    if let Some([lower, upper]) = variable.or_zero {
        check_bounds(lower, upper, LARGEST)?;
        if lower <= 0.0 && upper >= 0.0 {
            let message = "0 is within the bounds already";
            return Err(ProblemError::new("or_zero", message, "no `or_zero`, or bounds on one side of 0"));
        }
    }
    if let Some(default) = variable.default
        && !(default.is_finite() && (variable.levels().is_empty() || variable.domain().contains(default)))
    {
        let message = format!("{default} is no value");
        return Err(ProblemError::new("default", message, variable.expected()));
    }
    match &variable.kind {
        Kind::Continuous { lower, upper } => check_bounds(*lower, *upper, LARGEST)?,
        Kind::Integer { lower, upper } => check_bounds(*lower, *upper, LARGEST_INTEGER)?,
        Kind::Discrete(values) => check_values(values)?,
        Kind::Categorical(levels) => check_levels(levels, variable.offered_levels().len())?,
        Kind::Binary | Kind::Grid(_) => {}
    }
    if let Kind::Integer { lower, upper } = &variable.kind
        && let Some(bad) = [lower, upper].into_iter().find(|b| b.fract() != 0.0)
    {
        return Err(ProblemError::new("bounds", format!("{bad} is not whole"), "whole numbers"));
    }
    let domain = variable.domain();
    let is_offered =
        variable.n_removed == 0 || variable.inactive_value < variable.offered_levels().len() as f64;
    if variable.scale == Scale::Log {
        if matches!(variable.kind, Kind::Categorical(_) | Kind::Binary) {
            let message = "only numbers have a logarithmic scale";
            return Err(ProblemError::new("scale", message, "no `scale` here"));
        }
        let lower = domain.bounds().0;
        if lower <= 0.0 {
            let message = format!("a logarithmic scale needs positive values, the smallest is {lower}");
            return Err(ProblemError::new(
                "scale",
                message,
                "a lower bound above 0, or `scale = \"linear\"`",
            ));
        }
    }
    if !domain.contains(variable.inactive_value) || !is_offered {
        let message = format!("{} is not a value of the variable", variable.inactive_value);
        return Err(ProblemError::new("inactive_value", message, variable.expected()));
    }
    Ok(())
}

fn check_bounds(lower: f64, upper: f64, largest: f64) -> Result<(), ProblemError> {
    let refuse = |message: String, expected: &str| Err(ProblemError::new("bounds", message, expected));
    for (i, bound) in [lower, upper].into_iter().enumerate() {
        let field = format!("bounds[{i}]");
        if !bound.is_finite() {
            return Err(ProblemError::new(field, format!("{bound} is no bound"), "a finite number"));
        }
        if bound.abs() > largest {
            let limit = if largest == LARGEST_INTEGER { "2^53".to_owned() } else { format!("{largest:e}") };
            let message = format!("{} is too large", number::format_number(bound));
            return Err(ProblemError::new(field, message, format!("at most {limit} in magnitude")));
        }
    }
    let (low, high) = (number::format_number(lower), number::format_number(upper));
    if lower > upper {
        return refuse(format!("the lower bound {low} is above the upper bound {high}"), "[lower, upper]");
    }
    if lower < upper && upper - lower < 1.0 / LARGEST {
        let message = format!("the bounds {low} and {high} are too near to each other");
        return refuse(message, "lower < upper, or the same number twice for a constant");
    }
    Ok(())
}

/// Listed numbers, in any order.
pub(super) fn check_values(values: &[f64]) -> Result<(), ProblemError> {
    for (i, &value) in values.iter().enumerate() {
        let field = format!("values[{i}]");
        if !value.is_finite() || value.abs() > LARGEST {
            let expected = format!("finite numbers of at most {LARGEST:e} in magnitude");
            return Err(ProblemError::new(field, format!("{value} cannot be used"), expected));
        }
        if values[..i].contains(&value) {
            let message = format!("{} is listed twice", number::format_number(value));
            return Err(ProblemError::new(field, message, "distinct numbers"));
        }
    }
    if values.is_empty() {
        return Err(ProblemError::new("values", "there are no values", "at least one"));
    }
    Ok(())
}

/// Levels of which the first `n_offered` may be suggested.
fn check_levels(levels: &[String], n_offered: usize) -> Result<(), ProblemError> {
    if n_offered == 0 {
        return Err(ProblemError::new("levels", "there are no levels", "at least one"));
    }
    let mut seen = BTreeSet::new();
    for (i, level) in levels.iter().enumerate() {
        let refuse = |message: String, expected: &str| {
            let (list, i) = if i < n_offered { ("levels", i) } else { ("removed", i - n_offered) };
            Err(ProblemError::new(format!("{list}[{i}]"), message, expected))
        };
        if level.is_empty() {
            return refuse("a level is empty: a blank cell would mean it".to_owned(), "text");
        }
        if level.trim() != level || level.chars().any(char::is_control) {
            return refuse(
                format!("{level:?} starts or ends with a space or holds a control character"),
                "text that a spreadsheet keeps",
            );
        }
        if !seen.insert(level) {
            return refuse(format!("level {level:?} is listed twice"), "distinct levels");
        }
    }
    Ok(())
}

/// Levels such as `0` and `0.0` are distinct text, but a spreadsheet may turn one into the other.
fn ambiguous_levels(variable: &Variable) -> Option<String> {
    let levels = variable.levels();
    let mut seen = BTreeMap::new();
    let (first, second) = levels.iter().enumerate().find_map(|(i, level)| {
        // 0 and -0 are equal.
        let value = number::parse_number(level).filter(|value| !value.is_nan())? + 0.0;
        seen.insert(value.to_bits(), i).map(|earlier| (earlier, i))
    })?;
    Some(format!(
        "levels {:?} and {:?} of `{}` are the same number: a spreadsheet may turn one into the other",
        levels[first], levels[second], variable.name
    ))
}
