//! What a search is about: a set of constraints, a centre, limits; and the part of the set that is at hand.

use super::workspace::Workspace;
use crate::Constraints;
use crate::domain::Domain;
use crate::expr::{Attained, Settings};
use crate::limits::Limits;
use crate::metric::Metric;
use crate::model::Model;
use crate::region::{Range, Region};
use crate::tolerance::Tolerance;

/// One search.
#[derive(Debug)]
pub(crate) struct Search<'a> {
    pub(super) set: &'a Constraints,
    pub(super) model: &'a Model,
    pub(super) domains: &'a [Domain],
    pub(super) work: &'a mut Workspace,
    pub(super) metric: Metric,
    pub(super) limits: Limits,
    pub(super) nodes: usize,
    /// Stop at the first feasible point.
    pub(super) decide: bool,
    /// The first point should be near the centre, not in the middle.
    pub(super) near: bool,
    /// A box that the first node leaves open is looked at in exact fractions, for sets without an interior.
    pub(super) thorough: bool,
    /// Where the last dive came nearest to the constraints, in variable order; empty when it came nowhere.
    pub(super) nearly: Vec<f64>,
    pub(super) stopped: Option<&'static str>,
}

/// Some constraints: the roots, and the variables whose distance counts, ascending.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) roots: Vec<u32>,
    pub(super) variables: Vec<usize>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(
        set: &'a Constraints,
        work: &'a mut Workspace,
        centre: &[f64],
        limits: Limits,
        decide: bool,
    ) -> Self {
        let metric = Metric::new(&set.domains, centre);
        work.estimates.leave_switches();
        Self {
            set,
            model: &set.model,
            domains: &set.domains,
            work,
            metric,
            limits,
            nodes: 0,
            decide,
            near: false,
            thorough: false,
            nearly: Vec::new(),
            stopped: None,
        }
    }

    /// Asks for an answer where the set has no interior, too.
    pub(crate) fn thorough(mut self) -> Self {
        self.thorough = true;
        self
    }

    /// Asks a decision for a point near the centre.
    pub(crate) fn near_centre(mut self) -> Self {
        self.near = true;
        self
    }

    /// The constraints as the user stated them, not as the model has them.
    pub(super) fn is_feasible(&mut self, x: &[f64]) -> bool {
        self.set.is_feasible_in(&mut self.work.evaluation, x, Tolerance::Produce)
    }

    pub(super) fn everything(&self) -> Task {
        Task {
            roots: (0..self.model.roots.len() as u32).collect(),
            variables: (0..self.domains.len()).collect(),
        }
    }

    pub(super) fn out_of_limits(&mut self) -> bool {
        if self.stopped.is_none() {
            if self.nodes >= self.limits.nodes {
                self.stopped = Some("the node limit was reached");
            } else if self.limits.is_interrupted() {
                self.stopped = Some("it was interrupted");
            } else if self.limits.must_stop() {
                self.stopped = Some("the time limit was reached");
            }
        }
        self.stopped.is_some()
    }

    /// True when some constraint fails at every point of the box as f64 evaluates it, be it by a rounding.
    pub(super) fn fails_in_floats(&self, task: &Task, region: &Region) -> bool {
        let ends = |range: &Range| match range {
            Range::Interval { lower, upper } => Some((*lower, *upper)),
            Range::Levels(_) => None,
        };
        let program = &self.set.program;
        let attained = Attained::over(program, &region.0.iter().map(ends).collect::<Vec<_>>());
        task.roots.iter().any(|&r| {
            let piece = self.model.roots[r as usize].piece;
            attained.never_holds(program, piece.condition, piece.negated)
        })
    }

    pub(super) fn clamp(&self, region: &Region) -> Option<Vec<f64>> {
        self.metric.clamp(self.domains, region)
    }

    /// Exact check of some roots at a point.
    pub(super) fn holds(&mut self, roots: &[u32], x: &[f64]) -> bool {
        let program = &self.set.program;
        self.work.evaluation.run(program, x, Settings::PRODUCE);
        roots.iter().all(|&r| {
            let piece = self.model.roots[r as usize].piece;
            let settings = if piece.exact { Settings::EXACT } else { Settings::PRODUCE };
            self.work.evaluation.verdict(program, piece.condition, piece.negated, settings).holds()
        })
    }
}
