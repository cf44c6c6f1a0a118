//! Where the commands on trained models ask one: its box from a table or a problem file, what is held fixed, and the direction.

use std::path::Path;

use leafgp_models::{Binding, Ensemble, Goal as ModelGoal, Space};
use leafgp_solver::constraints::Variable;
use leafgp_solver::{Domain, Region};

use super::args::{Common, GoalArgs, ModelArgs, SolverArgs, SpaceArgs};
use super::failure::Failure;
use super::inputs::{override_settings, read_problem};
use super::model::{bind, read_model, variables_of};
use super::output::Output;
use leafgp::history::Columns;
use leafgp::problem::{Goal, Problem, Settings};

/// A model and where it is asked.
pub(super) struct ModelSpace {
    pub(super) model: Ensemble,
    pub(super) problem: Option<Problem>,
    pub(super) variables: Vec<Variable>,
    pub(super) binding: Binding,
    domains: Vec<Domain>,
    /// What `--fix` leaves out.
    pub(super) excluded: Vec<Region>,
}

/// Whether a problem file stands where a model could.
pub(super) fn is_problem_file(model: &Path) -> bool {
    model.extension().is_some_and(|extension| extension == "toml")
}

impl ModelSpace {
    pub(super) fn open(
        args: &ModelArgs,
        space: &SpaceArgs,
        common: &Common,
        solver: &SolverArgs,
        output: &mut Output,
    ) -> Result<Self, Failure> {
        let model = read_model(args)?;
        let problem = match &space.problem {
            Some(file) => Some(read_problem(file, common, solver, output)?),
            None => None,
        };
        let variables = match (&problem, &space.data) {
            (Some(problem), _) => {
                problem.variables().iter().map(leafgp::problem::Variable::in_expressions).collect()
            }
            (None, Some(file)) => {
                let wanted: Vec<&str> =
                    model.features().iter().map(|feature| feature.name.as_str()).collect();
                variables_of(args, &model, file, &Columns::read(file, &wanted)?)?
            }
            (None, None) => {
                let message = "the box is missing: give --data T.csv or --problem FILE.toml";
                return Err(Failure::Input(message.into()));
            }
        };
        let binding = bind(args, &model, &variables)?;
        let domains = variables.iter().map(|variable| variable.domain.clone()).collect();
        let excluded = fixings(&space.fix, &variables)?;
        Ok(Self { model, problem, variables, binding, domains, excluded })
    }

    /// A box from a table or from a problem file, not from both.
    pub(super) fn check_one_box(space: &SpaceArgs) -> Result<(), Failure> {
        match (&space.data, &space.problem) {
            (Some(_), Some(_)) => Err(Failure::Input("--data and --problem exclude each other".into())),
            _ => Ok(()),
        }
    }

    /// The space of the search.
    pub(super) fn space(&self) -> Space<'_> {
        let space = Space::new(&self.domains, &self.binding).excluding(&self.excluded);
        match self.problem.as_ref().filter(|problem| !problem.constraints().is_empty()) {
            Some(problem) => space.with_constraints(problem.constraints()),
            None => space,
        }
    }

    /// The problem's settings, or the defaults, below those of the command line.
    pub(super) fn settings(&self, common: &Common, solver: &SolverArgs) -> Result<Settings, Failure> {
        let mut settings =
            self.problem.as_ref().map_or_else(Settings::default, |problem| problem.settings().clone());
        override_settings(&mut settings, common, solver)?;
        Ok(settings)
    }

    /// What was asked for, else the problem's own direction.
    pub(super) fn goal(&self, args: GoalArgs) -> Result<ModelGoal, Failure> {
        let own = self.problem.as_ref().map(|problem| problem.objective().goal);
        if matches!(own, Some(Goal::Target(_))) && !args.maximize && !args.minimize {
            let message = "the problem's goal is a target, which is not sought in a trained model; give --maximize or --minimize";
            return Err(Failure::Input(message.into()));
        }
        goal(args, own).ok_or_else(|| Failure::Input("give --maximize or --minimize".into()))
    }
}

/// What was asked for, else the problem's own direction.
pub(super) fn goal(args: GoalArgs, own: Option<Goal>) -> Option<ModelGoal> {
    let maximize = match (args.maximize, args.minimize, own) {
        (false, false, None | Some(Goal::Target(_))) => return None,
        (false, false, Some(own)) => own == Goal::Maximize,
        (maximize, ..) => maximize,
    };
    Some(ModelGoal::maximize_if(maximize))
}

/// What the values of `--fix` leave out.
pub(super) fn fixings(texts: &[String], variables: &[Variable]) -> Result<Vec<Region>, Failure> {
    let name_of = |text: &str| text.split('=').next().unwrap_or_default().trim().to_owned();
    for (i, text) in texts.iter().enumerate() {
        if texts[..i].iter().any(|other| name_of(other) == name_of(text)) {
            return Err(Failure::Input(format!("--fix {text}: the variable is fixed twice")));
        }
    }
    Ok(texts.iter().map(|text| fixed(text, variables)).collect::<Result<Vec<_>, _>>()?.concat())
}

/// What `name=value` leaves out: all other values of that variable.
fn fixed(text: &str, variables: &[Variable]) -> Result<Vec<Region>, Failure> {
    let refused = |what: String| Failure::Input(format!("--fix {text}: {what}"));
    let (name, value) = text.split_once('=').ok_or_else(|| refused("expected NAME=VALUE".into()))?;
    let (name, value) = (name.trim(), value.trim());
    let index = variables.iter().position(|variable| variable.name == name).ok_or_else(|| {
        let names: Vec<&str> = variables.iter().map(|variable| variable.name.as_str()).collect();
        refused(format!("there is no variable {name:?}; known are {names:?}"))
    })?;
    let variable = &variables[index];
    let domains: Vec<Domain> = variables.iter().map(|variable| variable.domain.clone()).collect();
    if variable.domain.is_categorical() {
        let level = variable.level_names.iter().position(|label| label == value);
        let level = level
            .ok_or_else(|| refused(format!("{value:?} is no level; known are {:?}", variable.level_names)))?;
        return Ok(Region::all_but(&domains, index, level as f64));
    }
    let number: f64 = value.parse().map_err(|_| refused(format!("{value:?} is no number")))?;
    let (lower, upper) = variable.domain.bounds();
    if !variable.domain.contains(number) {
        let allowed = match &variable.domain {
            Domain::Discrete(values) => format!("its values are {values:?}"),
            Domain::Continuous { .. } => format!("its bounds are {lower} and {upper}"),
            _ => format!("its values are whole numbers or steps from {lower} to {upper}"),
        };
        return Err(refused(format!("{value} is not allowed; {allowed}")));
    }
    Ok(Region::all_but(&domains, index, number))
}
