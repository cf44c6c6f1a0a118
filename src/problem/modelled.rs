//! A problem over trained models: their names stand in expressions, and an expression is the objective.

use std::path::{Path, PathBuf};

use super::source::Source;
use leafgp_solver::constraints::Stated;

use super::{Goal, NamedExpression, Problem, ProblemError, Settings, ValueError, Variable, file};

/// A trained model as the problem file names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelEntry {
    /// The name in expressions.
    pub name: String,
    /// Its file, below the folder of the problem file unless absolute.
    pub file: PathBuf,
    /// The class (or target) of a model of several, from 0.
    pub class: Option<usize>,
    /// Takes the first feature to be the first variable, and so on, whatever the names.
    pub by_position: bool,
}

/// What a problem file with `[models]` states. The models themselves are read by others: here only their names count.
#[derive(Clone, Debug)]
pub struct Modelled {
    pub(super) problem: Problem,
    pub(super) objective: NamedExpression,
    pub(super) models: Vec<ModelEntry>,
    pub(super) source: Option<Source>,
    pub(super) spans: Vec<std::ops::Range<usize>>,
}

impl Modelled {
    /// Reads a problem file; `None` when it has no `[models]`.
    ///
    /// ```
    /// use std::path::Path;
    /// use leafgp::problem::Modelled;
    ///
    /// let text = "
    /// objective = { name = 'worth', goal = 'maximize', expression = 'strength - 0.1 * dose' }
    /// variables = { dose = { type = 'continuous', bounds = [0, 10] } }
    /// models = { strength = { file = 'strength.txt' } }
    /// constraints = { 'strong enough' = 'strength >= 40' }
    /// ";
    /// let stated = Modelled::from_text(Path::new("mix.toml"), text)?.expect("there are models");
    /// assert_eq!((stated.models()[0].name.as_str(), stated.objective().expr.as_str()), ("strength", "strength - 0.1 * dose"));
    /// # Ok::<(), leafgp::problem::ProblemError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Problem::from_file`].
    pub fn from_file(path: &Path) -> Result<Option<Self>, ProblemError> {
        file::parse_modelled(Source::read(path)?)
    }

    /// Reads the text of a problem file; `file` is the name for messages.
    ///
    /// # Errors
    /// As [`Modelled::from_file`].
    pub fn from_text(file: &Path, text: &str) -> Result<Option<Self>, ProblemError> {
        file::parse_modelled(Source::new(file, text))
    }

    /// The problem's name.
    pub fn name(&self) -> &str {
        self.problem.name()
    }

    /// Which direction is better.
    pub fn goal(&self) -> Goal {
        self.problem.objective().goal
    }

    /// The objective's name and expression.
    pub fn objective(&self) -> &NamedExpression {
        &self.objective
    }

    /// The models, in the order of the file.
    pub fn models(&self) -> &[ModelEntry] {
        &self.models
    }

    /// The variables.
    pub fn variables(&self) -> &[Variable] {
        self.problem.variables()
    }

    /// The constraints as they were written, and after them those that variables imply; they may name models.
    pub fn expressions(&self) -> &[NamedExpression] {
        self.problem.expressions()
    }

    /// What the file states of variables and models: see [`Problem::stated`]. Definitions and constraints may name models.
    pub fn stated(&self) -> impl Iterator<Item = Stated> + '_ {
        self.problem.stated()
    }

    /// The index of a variable.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.problem.index_of(name)
    }

    /// Reads a point: see [`Problem::point_from_json`].
    ///
    /// # Errors
    /// As [`Problem::point_from_json`].
    pub fn point_from_json(
        &self,
        point: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<Vec<f64>, ValueError> {
        self.problem.point_from_json(point)
    }

    /// Settings with their defaults filled in.
    pub fn settings(&self) -> &Settings {
        self.problem.settings()
    }

    /// What is legal but probably not meant, one sentence each.
    pub fn warnings(&self) -> &[String] {
        self.problem.warnings()
    }

    /// An error about model number `model`, at its place in the file.
    pub fn refuse_model(&self, model: usize, message: impl Into<String>) -> ProblemError {
        let error = ProblemError::new(format!("models.{}", self.models[model].name), message, "");
        match (&self.source, self.spans.get(model)) {
            (Some(source), Some(span)) => source.locate(error, span),
            _ => error,
        }
    }
}
