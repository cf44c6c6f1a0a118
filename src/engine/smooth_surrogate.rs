//! The smooth process, fitted to the experiments of a problem.

use leafgp_solver::constraints::Limits;

use crate::history::Row;
use crate::problem::{Problem, ValueError};
use crate::smooth::{Acquisition, Coordinates, PendingRule, SmoothProcess};

use super::error::EngineError;
use super::fitted_trees::fit_deadline;
use super::random::{Purpose, stream};
use super::surrogate::Prediction;
use super::training::{TargetScale, TrainingSet};

/// The smooth process of the experiments, ready to predict: the model that chooses the point in every preset but the paper's.
///
/// ```
/// use leafgp::engine::Optimizer;
/// use leafgp::problem::{Problem, Variable};
///
/// let problem = Problem::builder("line").variable(Variable::continuous("x", 0.0, 10.0)).build()?;
/// let mut optimizer = Optimizer::new(problem);
/// for x in [0.0, 2.0, 5.0, 7.0, 10.0] {
///     optimizer.tell(&[x], 3.0 * x)?;
/// }
/// let prediction = optimizer.smooth()?.predict(&[6.0])?;
/// assert!((prediction.mean - 18.0).abs() < 2.0 * prediction.std + 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SmoothSurrogate {
    problem: Problem,
    scale: TargetScale,
    /// Conditioned on the training set.
    fitted: SmoothProcess,
    /// Conditioned on the pending points, too; `None` without any, and where they are penalised instead.
    assuming: Option<SmoothProcess>,
    /// The pending points, where they are penalised.
    penalised: Vec<Vec<f64>>,
}

impl SmoothSurrogate {
    /// The process of the experiments. Its parameters are those of the measured rows, and failed rows stand at the worst measured value; pending rows have the values
    /// that [`PendingRule`] says.
    ///
    /// # Errors
    /// [`EngineError::NoMeasuredRow`]; rows of another problem; what the process refuses.
    pub fn of(problem: &Problem, rows: &[Row]) -> Result<Self, EngineError> {
        Self::fit(problem, &TrainingSet::new(problem, rows)?, &Limits::default())
    }

    /// [`SmoothSurrogate::of`] a training set.
    pub(super) fn fit(
        problem: &Problem,
        training: &TrainingSet,
        limits: &Limits,
    ) -> Result<Self, EngineError> {
        if training.y.is_empty() {
            return Err(EngineError::NoMeasuredRow);
        }
        let coordinates = Coordinates::new(problem.constraints().domains(), &problem.log_scale());
        let limits = Limits { deadline: fit_deadline(limits), ..limits.clone() };
        let (x, y, settings) = (&training.x, &training.y, &problem.settings().smooth);
        let fitted = SmoothProcess::fit_within(&coordinates, x, y, settings, &limits)?;
        let surrogate = Self {
            problem: problem.clone(),
            scale: training.scale,
            fitted,
            assuming: None,
            penalised: Vec::new(),
        };
        surrogate.with_pending(&training.pending)
    }

    /// The same parameters with other pending points.
    pub(super) fn with_pending(mut self, pending: &[Vec<f64>]) -> Result<Self, EngineError> {
        let settings = self.problem.settings();
        let rule = settings.smooth.pending;
        let fitted = &self.fitted;
        let lie = |value: f64| fitted.assume(pending, &vec![value; pending.len()]);
        let targets = fitted.measured_targets();
        let assuming = match rule {
            _ if pending.is_empty() => None,
            PendingRule::Penalised => None,
            PendingRule::Believer => Some(fitted.believe(pending)?),
            PendingRule::LiarBest => Some(lie(fitted.best())?),
            PendingRule::LiarMean => Some(lie(targets.iter().sum::<f64>() / targets.len() as f64)?),
            PendingRule::LiarWorst => Some(lie(targets.iter().copied().fold(f64::NEG_INFINITY, f64::max))?),
            PendingRule::Draw => {
                let rows = targets.len() + pending.len();
                Some(fitted.draw(pending, &mut stream(settings.seed, Purpose::Pending, rows))?)
            }
        };
        self.assuming = assuming;
        self.penalised = if rule == PendingRule::Penalised { pending.to_vec() } else { Vec::new() };
        Ok(self)
    }

    /// The pending points, where the search has to keep away from them by itself.
    pub(super) fn penalised(&self) -> &[Vec<f64>] {
        &self.penalised
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The process, pending points at their assumed values; in standardised minimisation units.
    pub fn process(&self) -> &SmoothProcess {
        self.assuming.as_ref().unwrap_or(&self.fitted)
    }

    /// Between standardised targets and the objective.
    pub fn scale(&self) -> TargetScale {
        self.scale
    }

    /// Standard deviation of a measurement's noise, in the objective's units.
    pub fn noise(&self) -> f64 {
        let variance = self.fitted.parameters().nugget * self.fitted.signal_variance();
        self.scale.deviation(variance.sqrt())
    }

    /// The prediction at a point in variable order; inactive variables take their inactive value.
    ///
    /// # Errors
    /// A point of the wrong length, a coordinate that is not finite or no level.
    pub fn predict(&self, x: &[f64]) -> Result<Prediction, ValueError> {
        self.problem.check_point(x)?;
        let mut x = x.to_vec();
        self.problem.constraints().deactivate(&mut x);
        Ok(self.prediction(&x))
    }

    /// [`SmoothSurrogate::predict`] at a point of the problem whose inactive variables hold their inactive value.
    pub(super) fn prediction(&self, x: &[f64]) -> Prediction {
        let posterior = self.process().posterior(x);
        Prediction { mean: self.scale.mean(posterior.mean), std: self.scale.deviation(posterior.deviation()) }
    }

    /// An acquisition at a point of the problem.
    pub(super) fn value(&self, x: &[f64], acquisition: Acquisition) -> f64 {
        let mut x = x.to_vec();
        self.problem.constraints().deactivate(&mut x);
        acquisition.value(self.process().posterior(&x), self.process().best())
    }
}
