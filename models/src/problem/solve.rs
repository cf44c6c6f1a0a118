//! The search for the best input.

use leafgp_constraints::Region;
use leafgp_solver::search::relative_gap;
use leafgp_solver::{Incumbent, Predictor, Report, SearchOptions, Status, StopReason, minimize};

use super::relaxation::LeafRelaxation;
use super::{ModelProblem, multipliers};
use crate::error::ModelError;
use crate::goal::Goal;

/// An input and what the models make of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCandidate {
    /// The point, in the variables' order, a category as its level index; feasible as it stands.
    pub point: Vec<f64>,
    /// The objective there, from the predictions of the models' own libraries.
    pub value: f64,
    /// The predictions, in the order of the models.
    pub predictions: Vec<f64>,
    /// All points of the box in which no tree of any model changes its leaf (constraints not considered). The objective's expression may still move in it.
    pub cell: Region,
}

/// The best input, and how far it is from the best there could be.
#[derive(Clone, Debug)]
pub struct ModelOptimum {
    /// The best input found; `None` when there is none or the limits came first.
    pub best: Option<ModelCandidate>,
    /// With [`k_best`](SearchOptions::k_best) above 1, the next best cells, best first; each with its best input, within the gap once the proof is complete.
    pub others: Vec<ModelCandidate>,
    /// Proved: no feasible input has a better objective, with predictions as the libraries compute them.
    pub bound: f64,
    /// `|value - bound| / max(|value|, 1e-9)`; infinite without an input. With `k_best` above 1: of the last listed cell, against the bound of all that is not
    /// listed.
    pub gap: f64,
    /// What is known.
    pub status: Status,
    /// Why the search ended.
    pub stop_reason: StopReason,
    /// Number of nodes of the search.
    pub nodes: u64,
    /// Wall-clock seconds of the search.
    pub seconds: f64,
    /// With which multiples of the constraints the search bounded, and its own report: for a certificate.
    pub(super) multipliers: Vec<f64>,
    pub(super) report: Report,
}

/// The expression that is minimised.
pub(super) fn minimized(objective: &str, goal: Goal) -> String {
    match goal {
        Goal::Minimize => objective.to_owned(),
        Goal::Maximize => format!("-({objective})"),
    }
}

impl ModelProblem {
    /// Finds the feasible input with the largest or smallest objective, and proves it. `excluded`: boxes of the variables that must not be entered.
    ///
    /// Points at which the objective is undefined are not feasible.
    ///
    /// # Errors
    /// An objective that is refused ([`check_objective`](Self::check_objective)) or unbounded; options out of range. An empty space and limits are outcomes.
    pub fn optimize(
        &self,
        objective: &str,
        goal: Goal,
        excluded: &[Region],
        options: &SearchOptions,
    ) -> Result<ModelOptimum, ModelError> {
        self.check_objective(objective)?;
        self.minimize(&minimized(objective, goal), goal, None, excluded, options)
    }

    /// Minimises an expression; values are reported for the goal. `from` is a point on whose sides the expression differs, and whose coordinates the answer
    /// takes where that costs nothing.
    pub(super) fn minimize(
        &self,
        expression: &str,
        goal: Goal,
        from: Option<&[f64]>,
        excluded: &[Region],
        options: &SearchOptions,
    ) -> Result<ModelOptimum, ModelError> {
        let started = std::time::Instant::now();
        let choose = |relaxation: &LeafRelaxation| multipliers::choose(relaxation, &self.domains, options);
        let compiled = self.compile(expression, from, choose)?;
        let problem = compiled.problem(excluded);
        let mut options = options.clone();
        options.time_limit = options.time_limit.map(|limit| limit.saturating_sub(started.elapsed()));
        let mut report = minimize(&problem, &options)?;
        for incumbent in report.incumbent.iter_mut().chain(&mut report.others) {
            let (point, objective) = (&mut incumbent.x, &mut incumbent.objective);
            for (v, &own) in from.unwrap_or_default().iter().enumerate() {
                let before = std::mem::replace(&mut point[v], own);
                let trial =
                    if before != own && problem.allows(point) { compiled.value(point) } else { f64::NAN };
                if trial <= *objective { *objective = trial } else { point[v] = before }
            }
        }
        let candidate = |incumbent: &Incumbent| {
            let point = incumbent.x.clone();
            let (predictions, cell) = (compiled.predictor.predict(&point), problem.level_set(&point));
            ModelCandidate { point, value: goal.sign() * incumbent.objective, predictions, cell }
        };
        let best = report.incumbent.as_ref().map(candidate);
        let others: Vec<_> = report.others.iter().map(candidate).collect();
        let gap = match &best {
            Some(best) if others.is_empty() => relative_gap(goal.sign() * best.value, report.best_bound),
            _ => report.gap,
        };
        Ok(ModelOptimum {
            bound: goal.sign() * report.best_bound,
            gap,
            status: report.status,
            stop_reason: report.stop_reason,
            nodes: report.nodes,
            seconds: started.elapsed().as_secs_f64(),
            best,
            others,
            multipliers: compiled.multipliers,
            report,
        })
    }
}
