//! A list of points that a suggestion may be, and the best of them.

use leafgp_solver::constraints::Tolerance;
use rand::RngExt;

use super::among::best_of;
use super::error::EngineError;
use super::models::Models;
use super::random::{Purpose, stream};
use super::suggestion::{Listed, Suggestion};
use super::taken::Taken;
use super::training::TrainingSet;
use crate::history::{Outcome, Row};
use crate::problem::{Preset, Problem, ValueError};
use crate::smooth::Coordinates;

/// Why a candidate is not to be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// It cannot be suggested: names of the constraints that it breaks, or of variables whose values it has not.
    Infeasible(Vec<String>),
    /// It has other values than those that are fixed.
    NotFixed,
    /// An experiment has its point.
    Taken,
}

/// The points of a list.
#[derive(Debug)]
pub(super) struct Candidates {
    points: Vec<Vec<f64>>,
    /// Why each is not to be chosen, apart from what is taken.
    left_out: Vec<Option<LeftOut>>,
}

impl Candidates {
    /// The points, judged like suggestions; `fixed` is the problem with the values that are fixed.
    ///
    /// # Errors
    /// [`EngineError::BadCandidate`] for what is no point of the problem.
    pub(super) fn new(problem: &Problem, fixed: &Problem, points: &[Vec<f64>]) -> Result<Self, EngineError> {
        let mut candidates = Self { points: Vec::new(), left_out: Vec::new() };
        for (index, point) in points.iter().enumerate() {
            let refused = |e: ValueError| EngineError::BadCandidate { index, message: e.to_string() };
            let point = Row::new(problem, point, Outcome::Pending).map_err(refused)?.point;
            let is_feasible =
                |problem: &Problem| problem.constraints().is_feasible(&point, Tolerance::Produce);
            candidates.left_out.push(if !is_feasible(problem) {
                Some(LeftOut::Infeasible(broken(problem, &point)))
            } else if !is_feasible(fixed) {
                Some(LeftOut::NotFixed)
            } else {
                None
            });
            candidates.points.push(point);
        }
        Ok(candidates)
    }

    /// What is to be said of each candidate.
    pub(super) fn left_out(&self, taken: &Taken<'_>) -> Vec<Option<LeftOut>> {
        let state = |(point, left_out): (&Vec<f64>, &Option<LeftOut>)| {
            left_out.clone().or_else(|| taken.contains(point).then_some(LeftOut::Taken))
        };
        self.points.iter().zip(&self.left_out).map(state).collect()
    }

    /// The candidates that may be chosen.
    ///
    /// # Errors
    /// [`EngineError::NoCandidate`] when there is none.
    pub(super) fn open(&self, taken: &Taken<'_>) -> Result<Vec<usize>, EngineError> {
        let states = self.left_out(taken);
        let open: Vec<usize> = (0..states.len()).filter(|&i| states[i].is_none()).collect();
        if !open.is_empty() {
            return Ok(open);
        }
        let count = |is: fn(&LeftOut) -> bool| states.iter().flatten().filter(|state| is(state)).count();
        let parts = [
            (count(|state| *state == LeftOut::Taken), "hold an experiment already"),
            (count(|state| matches!(state, LeftOut::Infeasible(_))), "are not feasible"),
            (count(|state| *state == LeftOut::NotFixed), "have other values than those fixed"),
        ];
        let parts: Vec<String> =
            parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        let reason = match states.len() {
            0 => "the list is empty".to_owned(),
            n => format!("of {n}, {}", parts.join(", ")),
        };
        Err(EngineError::NoCandidate { reason })
    }

    /// The open candidate farthest from all experiments, in the unit cube: for a first design.
    pub(super) fn farthest(
        &self,
        problem: &Problem,
        open: &[usize],
        existing: &[&[f64]],
        reason: String,
    ) -> Suggestion {
        let coordinates = Coordinates::new(problem.constraints().domains(), &problem.log_scale());
        let mut rng = stream(problem.settings().seed, Purpose::Design, existing.len());
        let nearest = |index: usize| {
            let distances = existing.iter().map(|row| coordinates.distance_sq(row, &self.points[index]));
            distances.fold(f64::INFINITY, f64::min)
        };
        // Without experiments any one is as far as any other.
        let index = if existing.is_empty() {
            open[rng.random_range(0..open.len())]
        } else {
            open.iter().copied().rev().max_by(|&a, &b| nearest(a).total_cmp(&nearest(b))).unwrap_or(open[0])
        };
        self.suggestion(
            Listed { index, n_open: open.len(), score: None },
            Some(format!("space-filling candidate: {reason}")),
        )
    }

    /// The open candidate with the best acquisition after `n_rows` rows. With the paper's preset none in the cell of a pending or failed experiment, while there are
    /// others.
    ///
    /// # Errors
    /// [`EngineError::NoCandidate`] when the agreement limit forbids all; what the models refuse.
    pub(super) fn best(
        &self,
        models: &mut Models<'_>,
        training: &TrainingSet,
        n_rows: usize,
        open: &[usize],
    ) -> Result<Suggestion, EngineError> {
        let problem = models.problem;
        let mut of = open.to_vec();
        if problem.settings().preset == Preset::Paper {
            let excluded = models.trees(training.clone())?.acquisition().excluded;
            of.retain(|&i| !excluded.iter().any(|cell| cell.contains(&self.points[i])));
            if of.is_empty() {
                of = open.to_vec();
            }
        }
        let mut rng = stream(problem.settings().seed, Purpose::Centre, n_rows);
        let best = best_of(models, training, n_rows, &self.points, &of, &mut rng)?;
        let (index, score) = best.ok_or_else(|| EngineError::NoCandidate {
            reason: "none has max_agreement or less with every experiment".to_owned(),
        })?;
        Ok(self.suggestion(Listed { index, n_open: of.len(), score: Some(score) }, None))
    }

    fn suggestion(&self, listed: Listed, note: Option<String>) -> Suggestion {
        let point = self.points[listed.index].clone();
        Suggestion { point, proof: None, chosen: None, listed: Some(listed), note }
    }
}

/// What keeps a point from being suggested.
fn broken(problem: &Problem, point: &[f64]) -> Vec<String> {
    let outside = problem.variables().iter().zip(point).filter(|(v, x)| !v.domain().contains(**x));
    let outside: Vec<String> =
        outside.map(|(v, &x)| format!("{} = {} (not {})", v.name, v.format_value(x), v.expected())).collect();
    if !outside.is_empty() {
        return outside;
    }
    let violations = problem.constraints().violations(point, Tolerance::Produce);
    violations.iter().map(|v| problem.constraints().name(v.constraint).to_owned()).collect()
}
