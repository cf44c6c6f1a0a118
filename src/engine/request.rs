//! What a suggestion is asked for besides being good: values that are fixed, a list to choose from, one value through a batch.

use super::ask::Batch;
use super::candidates::{Candidates, LeftOut};
use super::context::Context;
use super::error::EngineError;
use super::fitted_trees::Memory;
use super::suggestion::Suggestion;
use super::surrogate::Surrogate;
use super::taken::Taken;
use crate::history::{History, Row};
use crate::instance::Instance;
use crate::problem::reading::hint;
use crate::problem::{Canonical, Problem};

/// What the next experiments must be like. The models learn from all rows, whatever they are like.
///
/// ```
/// use leafgp::engine::{Context, Optimizer, Request};
/// use leafgp::problem::{Problem, Variable};
///
/// let problem = Problem::builder("p")
///     .variable(Variable::continuous("temperature", 20.0, 95.0))
///     .variable(Variable::categorical("solvent", ["water", "xylene"]))
///     .build()?;
/// let optimizer = Optimizer::new(problem);
/// let request = Request::default().fixed("solvent", 0.0).same("temperature");
/// let answer = optimizer.ask_for(&request, 3, &Context::default())?;
/// let temperature = answer.suggestions[0].point[0];
/// // The third one is not there: temperature and solvent leave a single point.
/// assert_eq!(answer.suggestions.len(), 1);
/// assert!(answer.suggestions.iter().all(|s| s.point == [temperature, 0.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// Variables by name, and the value that each must have; a category's is its level index. The box of the search is narrowed to them, and what is proved is proved for
    /// it.
    pub fixed: Vec<(String, f64)>,
    /// Points to choose from: the acquisition is evaluated at each that is feasible and not taken, so that the choice is the best of them.
    pub among: Option<Vec<Vec<f64>>>,
    /// Variables by name that have one value in all suggestions of a batch: the first suggestion decides it.
    pub same: Vec<String>,
}

impl Request {
    /// Fixes a variable.
    #[must_use]
    pub fn fixed(mut self, name: impl Into<String>, value: f64) -> Self {
        self.fixed.push((name.into(), value));
        self
    }

    /// Chooses only among these points.
    #[must_use]
    pub fn among(mut self, points: Vec<Vec<f64>>) -> Self {
        self.among = Some(points);
        self
    }

    /// Gives a variable one value through a batch.
    #[must_use]
    pub fn same(mut self, name: impl Into<String>) -> Self {
        self.same.push(name.into());
        self
    }
}

/// The next experiments as they were asked for.
#[derive(Debug)]
#[non_exhaustive]
pub struct Answer {
    /// At least one.
    pub suggestions: Vec<Suggestion>,
    /// Why there are fewer than were asked for, if so.
    pub fewer_because: Option<EngineError>,
    /// Of each candidate of the list, in its order, why it was not to be chosen from the beginning; empty without a list.
    pub left_out: Vec<Option<LeftOut>>,
}

/// A batch with its wishes, in the order of labels.
struct Work<'a> {
    problem: &'a Problem,
    request: &'a Request,
    context: &'a Context,
    memory: &'a Memory,
    /// By index.
    fixed: Vec<(usize, f64)>,
    suggestions: Vec<Suggestion>,
    left_out: Vec<Option<LeftOut>>,
}

/// The next `n` experiments of a problem after a history.
///
/// Levels are put in the order of their labels first: every tie and every draw is then the same, in whatever order the problem lists them.
pub(super) fn ask_for(
    problem: &Problem,
    history: &History,
    request: &Request,
    n: usize,
    (context, memory): (&Context, &Memory),
) -> Result<Answer, EngineError> {
    let fixed = fixed_values(problem, request)?;
    let same = request.same.iter().map(|name| index_of(problem, name)).collect::<Result<Vec<_>, _>>()?;
    let Some(canonical) = Canonical::new(problem)? else {
        return answered(problem, history.clone(), request, fixed, &same, n, (context, memory));
    };
    let rows = history.rows.iter().map(|row| Row { point: canonical.point(&row.point), ..row.clone() });
    let sorted_history = History { rows: rows.collect(), ..history.clone() };
    let place = |points: &Vec<Vec<f64>>| points.iter().map(|point| canonical.point(point)).collect();
    let sorted_request = Request { among: request.among.as_ref().map(place), ..request.clone() };
    let fixed = fixed.into_iter().map(|(i, value)| (i, canonical.value(i, value))).collect();
    let answer =
        answered(canonical.problem(), sorted_history, &sorted_request, fixed, &same, n, (context, memory))?;
    let suggestions = answer.suggestions.into_iter().map(|mut suggestion| {
        suggestion.point = canonical.original(&suggestion.point);
        if let Some(proof) = &mut suggestion.proof {
            proof.region = canonical.original_region(&proof.region);
        }
        suggestion
    });
    Ok(Answer { suggestions: suggestions.collect(), ..answer })
}

/// The acquisition problem of the trees that decide about a request, as a file: with its levels in the order of their labels and with what is fixed. For the paper's preset
/// it is the problem whose optimum the first suggestion is.
pub(super) fn instance(
    problem: &Problem,
    history: &History,
    request: &Request,
) -> Result<Instance, EngineError> {
    let fixed = fixed_values(problem, request)?;
    let canonical = Canonical::new(problem)?;
    let (narrowed, rows) = match &canonical {
        None => (problem.with_fixed(&fixed)?, history.rows.clone()),
        Some(canonical) => {
            let fixed: Vec<_> = fixed.into_iter().map(|(i, value)| (i, canonical.value(i, value))).collect();
            let rows = history.rows.iter();
            let rows = rows.map(|row| Row { point: canonical.point(&row.point), ..row.clone() }).collect();
            (canonical.problem().with_fixed(&fixed)?, rows)
        }
    };
    Ok(Surrogate::of(&narrowed, &rows)?.instance())
}

fn answered(
    problem: &Problem,
    history: History,
    request: &Request,
    fixed: Vec<(usize, f64)>,
    same: &[usize],
    n: usize,
    (context, memory): (&Context, &Memory),
) -> Result<Answer, EngineError> {
    let (suggestions, left_out) = (Vec::new(), Vec::new());
    let mut work = Work { problem, request, context, memory, fixed, suggestions, left_out };
    // The first one decides what is to be the same.
    let first = if same.is_empty() { n } else { n.min(1) };
    let mut ended = work.batch(history, first);
    if let (Ok(history), true) = (&mut ended, first < n) {
        let history = std::mem::take(history);
        let decided = work.suggestions.first().map(|suggestion| suggestion.point.clone()).unwrap_or_default();
        work.fixed.retain(|(i, _)| !same.contains(i));
        work.fixed.extend(same.iter().filter_map(|&i| Some((i, *decided.get(i)?))));
        ended = work.batch(history, n - first);
    }
    let Work { suggestions, left_out, .. } = work;
    match ended {
        Err(error) if suggestions.is_empty() => Err(error),
        ended => Ok(Answer { suggestions, fewer_because: ended.err(), left_out }),
    }
}

impl Work<'_> {
    /// Adds up to `n` suggestions. Returns the history with all of them as pending.
    fn batch(&mut self, history: History, n: usize) -> Result<History, EngineError> {
        let narrowed;
        let problem = if self.fixed.is_empty() {
            self.problem
        } else {
            narrowed = self.problem.with_fixed(&self.fixed)?;
            &narrowed
        };
        let candidates = match &self.request.among {
            Some(points) => Some(Candidates::new(self.problem, problem, points)?),
            None => None,
        };
        if let (Some(candidates), true) = (&candidates, self.suggestions.is_empty()) {
            self.left_out = candidates.left_out(&Taken::new(problem, &history.rows));
        }
        let mut batch = Batch::new(problem, history, self.context, self.memory.clone());
        for _ in 0..n {
            let suggestion = match &candidates {
                Some(candidates) => batch.ask_listed(candidates),
                None => match ask_untried(problem, batch.history(), self.context, self.memory)? {
                    Some(suggestion) => Ok(suggestion),
                    None => batch.ask(),
                },
            };
            let suggestion = suggestion.map_err(|error| self.said_with(error))?;
            batch.plan(&suggestion.point)?;
            self.suggestions.push(suggestion);
        }
        Ok(batch.into_history())
    }

    /// The error with what is fixed.
    fn said_with(&self, error: EngineError) -> EngineError {
        match error {
            EngineError::SpaceExhausted if !self.fixed.is_empty() => {
                let value = |&(i, x): &(usize, f64)| {
                    let variable = &self.problem.variables()[i];
                    format!("{} = {}", variable.name, variable.format_value(x))
                };
                let with: Vec<String> = self.fixed.iter().map(value).collect();
                EngineError::ExhaustedWith { with: with.join(", ") }
            }
            error => error,
        }
    }
}

/// With the setting `untried_levels` and an odd number of rows beyond the first design: the suggestion with a level that no row has, the first one with which there is a
/// new point.
///
/// # Errors
/// What the models refuse.
fn ask_untried(
    problem: &Problem,
    history: &History,
    context: &Context,
    memory: &Memory,
) -> Result<Option<Suggestion>, EngineError> {
    let (settings, n_rows) = (problem.settings(), history.rows.len());
    if !settings.untried_levels || n_rows < settings.design.initial || n_rows.is_multiple_of(2) {
        return Ok(None);
    }
    let region = problem.region();
    for (i, variable) in problem.variables().iter().enumerate() {
        for (level, name) in variable.offered_levels().iter().enumerate() {
            let level = level as f64;
            if !region.0[i].contains(level) || history.rows.iter().any(|row| row.point[i] == level) {
                continue;
            }
            let narrowed = problem.with_fixed(&[(i, level)])?;
            match Batch::new(&narrowed, history.clone(), context, memory.clone()).ask() {
                Ok(mut suggestion) => {
                    let why = format!("{} = {name}: no experiment had this level", variable.name);
                    suggestion.note =
                        Some(suggestion.note.map_or(why.clone(), |note| format!("{why}; {note}")));
                    return Ok(Some(suggestion));
                }
                Err(
                    EngineError::Infeasible { .. }
                    | EngineError::SpaceExhausted
                    | EngineError::NoIncumbent { .. },
                ) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(None)
}

/// The values that are fixed, by index.
pub(super) fn fixed_values(problem: &Problem, request: &Request) -> Result<Vec<(usize, f64)>, EngineError> {
    let mut fixed: Vec<(usize, f64)> = Vec::new();
    for (name, value) in &request.fixed {
        let index = index_of(problem, name)?;
        let variable = &problem.variables()[index];
        let refuse = |message: String| Err(EngineError::BadRequest { message });
        if let Err(error) = variable.check_offered(*value) {
            return refuse(format!("{} cannot be fixed at {error}", variable.name));
        }
        match fixed.iter().find(|(i, _)| *i == index) {
            Some((_, other)) if other != value => {
                let [one, two] = [*other, *value].map(|x| variable.format_value(x));
                return refuse(format!("{} cannot be fixed at both {one} and {two}", variable.name));
            }
            Some(_) => {}
            None => fixed.push((index, *value)),
        }
    }
    Ok(fixed)
}

fn index_of(problem: &Problem, name: &str) -> Result<usize, EngineError> {
    problem.index_of(name).ok_or_else(|| {
        let names: Vec<&str> = problem.variables().iter().map(|v| v.name.as_str()).collect();
        let message = format!(
            "there is no variable {name:?}{}; expected one of {}",
            hint(name, names.iter().copied()),
            names.join(", ")
        );
        EngineError::BadRequest { message }
    })
}
