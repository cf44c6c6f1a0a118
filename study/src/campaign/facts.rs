//! What the page is about, gathered once.

use leafgp::engine::{
    Context, CrossValidation, EngineError, Importance, Model, Optimizer, Promise, Suggestion, Surrogate,
    cross_validation, model_quality, permutation_importances,
};
use leafgp::history::{Best, Forecast, History, Outcome, Row, forecast_of_rows};
use leafgp::problem::Problem;

/// Folds of the held-out predictions.
const FOLDS: usize = 5;
/// Most points of the proved bound over the experiments.
const MOST_BOUNDS: usize = 16;
/// Shuffles of a variable for its permutation importance.
const SHUFFLES: usize = 10;

/// One problem's experiments and what the models say of them.
///
/// ```
/// use leafgp::engine::{Context, Optimizer};
/// use leafgp::history::{History, Outcome};
/// use leafgp::problem::{Problem, Variable};
/// use leafgp_study::campaign::{Campaign, page};
///
/// let problem = Problem::builder("a & b").variable(Variable::continuous("x", 0.0, 1.0)).build()?;
/// let mut history = History::new();
/// for k in 0..10 {
///     let x = f64::from(k) / 10.0;
///     history.push(&problem, &[x], Outcome::Done((x - 0.4).powi(2)))?;
/// }
/// let optimizer = Optimizer::with_history(problem, &history)?;
/// let campaign = Campaign::new(optimizer, &[], &Context::default())?;
/// let html = page(&campaign);
/// assert!(html.contains("<title>a &amp; b</title>") && !html.contains("<script"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Campaign {
    pub(super) optimizer: Optimizer,
    /// What was predicted of each row, where it is known.
    pub(super) forecasts: Vec<Option<Forecast>>,
    pub(super) best: Option<Best>,
    /// The next experiment, or why there is none.
    pub(super) next: Result<Suggestion, String>,
    pub(super) promise: Option<Promise>,
    /// The bound after a number of experiments that were run.
    pub(super) bounds: Vec<(usize, f64)>,
    pub(super) cross_validation: Option<CrossValidation>,
    pub(super) importances: Vec<Importance>,
    pub(super) shuffled: Vec<f64>,
    /// The model that chooses the points.
    pub(super) model: Option<Model>,
    /// The trees, where they have a split.
    pub(super) surrogate: Option<Surrogate>,
}

impl Campaign {
    /// Gathers everything: fits both models, looks for the next experiment, judges the models by held-out rows, and proves the bound after up to 16 numbers of experiments.
    ///
    /// # Errors
    /// What the trainer and the processes refuse. Too little data, and no next experiment, are no errors.
    pub fn new(optimizer: Optimizer, forecasts: &[Forecast], context: &Context) -> Result<Self, EngineError> {
        let (problem, rows) = (optimizer.problem(), optimizer.observations());
        let n_measured = rows.iter().filter(|row| row.value().is_some()).count();
        let best = optimizer.best();
        let next = optimizer.ask_with(context).map_err(|error| error.to_string());
        let promise = optimizer.promise(context)?;
        let bounds = bounds(&optimizer, promise.as_ref(), context)?;
        let is_enough = n_measured >= 2;
        let cross_validation = if is_enough { Some(cross_validation(problem, rows, FOLDS)?) } else { None };
        let importances =
            if is_enough { model_quality(problem, rows, None)?.importances } else { Vec::new() };
        let shuffled = if is_enough { permutation_importances(problem, rows, SHUFFLES)? } else { Vec::new() };
        let model = if is_enough { Some(optimizer.model()?) } else { None };
        let surrogate = if is_enough { Some(optimizer.surrogate()?) } else { None };
        let surrogate = surrogate.filter(Surrogate::has_splits);
        let mut history = History::new();
        history.rows = rows.to_vec();
        let forecasts =
            forecast_of_rows(problem, &history, forecasts).into_iter().map(Option::<&_>::cloned).collect();
        Ok(Self {
            forecasts,
            best,
            next,
            promise,
            bounds,
            cross_validation,
            importances,
            shuffled,
            model,
            surrogate,
            optimizer,
        })
    }

    pub(super) fn problem(&self) -> &Problem {
        self.optimizer.problem()
    }

    pub(super) fn rows(&self) -> &[Row] {
        self.optimizer.observations()
    }

    /// Number of rows with this outcome.
    pub(super) fn count(&self, is: fn(Outcome) -> bool) -> usize {
        self.rows().iter().filter(|row| is(row.outcome)).count()
    }
}

/// The bound that the first experiments prove, for some numbers of them and for all; computed from the table as it is now.
fn bounds(
    optimizer: &Optimizer,
    last: Option<&Promise>,
    context: &Context,
) -> Result<Vec<(usize, f64)>, EngineError> {
    let problem = optimizer.problem();
    let run: Vec<&Row> =
        optimizer.observations().iter().filter(|row| row.outcome != Outcome::Pending).collect();
    let (first, n) = (problem.settings().design.initial.max(2), run.len());
    let Some(last) = last.filter(|_| n >= first) else { return Ok(Vec::new()) };
    let mut bounds = Vec::new();
    let parts = (n - first).min(MOST_BOUNDS - 1);
    for k in 0..parts {
        let count = first + k * (n - first) / parts;
        let mut history = History::new();
        history.rows = run[..count].iter().map(|&row| row.clone()).collect();
        let promise = Optimizer::with_history(problem.clone(), &history)?.promise(context)?;
        bounds.extend(promise.map(|promise| (count, promise.bound)));
    }
    bounds.push((n, last.bound));
    Ok(bounds)
}
