//! The best input of a model, with proof.

use leafgp_constraints::{Constraints, Domain, Region};
use leafgp_solver::certificate::{Certificate, Refusal, Verified, verify};
use leafgp_solver::search::{CertifyError, certify};
use leafgp_solver::{Incumbent, Problem, Report, SearchError, SearchOptions, Status, StopReason, minimize};

use crate::binding::Binding;
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::forest::BoundForest;
use crate::goal::Goal;

/// Where the best input is sought.
#[derive(Clone, Debug)]
pub struct Space<'a> {
    /// The variables' domains, in the order of points.
    pub domains: &'a [Domain],
    /// Which variable is which feature.
    pub binding: &'a Binding,
    /// Known constraints over the same variables, in the same order.
    pub constraints: Option<&'a Constraints>,
    /// Boxes that must not be entered.
    pub excluded: &'a [Region],
}

impl<'a> Space<'a> {
    /// The box alone.
    pub fn new(domains: &'a [Domain], binding: &'a Binding) -> Self {
        Self { domains, binding, constraints: None, excluded: &[] }
    }

    /// Demands the constraints.
    #[must_use]
    pub fn with_constraints(mut self, constraints: &'a Constraints) -> Self {
        self.constraints = Some(constraints);
        self
    }

    /// Forbids the boxes.
    #[must_use]
    pub fn excluding(mut self, regions: &'a [Region]) -> Self {
        self.excluded = regions;
        self
    }
}

/// An input and what the model makes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The point, in the variables' order, a category as its level index; feasible as it stands.
    pub point: Vec<f64>,
    /// What the model's own library predicts there.
    pub value: f64,
    /// All points of the box in which no tree changes its leaf (constraints not considered).
    pub cell: Region,
}

/// The best input, and how far it is from the best there could be.
#[derive(Clone, Debug)]
pub struct Optimum {
    /// The best input found; `None` when there is none or the limits came first.
    pub best: Option<Candidate>,
    /// With [`k_best`](SearchOptions::k_best) above 1, the next best cells, best first.
    pub others: Vec<Candidate>,
    /// Proved, in the model's unit: no input of the space has a better value in exact arithmetic. What the library computes may differ from that by its
    /// own rounding, at most [`Ensemble::rounding`] in the raw score.
    pub bound: f64,
    /// `(objective - bound) / max(|objective|, 1e-9)` of the raw scores (of the last listed cell, with `k_best` above 1); infinite without an
    /// input.
    pub gap: f64,
    /// What is known.
    pub status: Status,
    /// Why the search ended.
    pub stop_reason: StopReason,
    /// Number of nodes of the search.
    pub nodes: u64,
    /// Wall-clock seconds of the search.
    pub seconds: f64,
    /// The search's own report, for a certificate.
    report: Report,
}

impl Ensemble {
    /// Finds the input with the largest or smallest prediction in a space, and proves it. The links are rising, so the raw score is searched.
    ///
    /// # Errors
    /// A binding or domains that do not fit; options out of range. An empty space and limits are outcomes.
    pub fn optimize(
        &self,
        space: &Space<'_>,
        goal: Goal,
        options: &SearchOptions,
    ) -> Result<Optimum, ModelError> {
        let bound = self.to_forest(space.domains, space.binding, goal)?;
        let report = minimize(&problem_of(space, &bound), options)?;
        let candidate = |incumbent: &Incumbent| Candidate {
            point: incumbent.x.clone(),
            value: self.predict(&space.binding.features_of(&incumbent.x)),
            cell: incumbent.region.clone(),
        };
        let best = report.incumbent.as_ref().map(candidate);
        let is_upper = goal == Goal::Maximize;
        // One rounding of the division, outwards.
        let scale = bound.scale;
        let raw = goal.sign() * report.best_bound / scale;
        let raw = if scale == 1.0 || raw.is_infinite() {
            raw
        } else if is_upper {
            raw.next_up()
        } else {
            raw.next_down()
        };
        Ok(Optimum {
            best,
            others: report.others.iter().map(candidate).collect(),
            bound: self.link().bound(raw, is_upper),
            gap: report.gap,
            status: report.status,
            stop_reason: report.stop_reason,
            nodes: report.nodes,
            seconds: report.seconds,
            report,
        })
    }

    /// The proof of an optimum that was found in the same space for the same goal: see [`leafgp_solver::search::certify`]. Objective and bound in it are those
    /// of the search: the raw score times [`BoundForest::scale`], turned round for a maximum.
    ///
    /// # Errors
    /// An optimum that is not proved, or a limit reached.
    pub fn certify(
        &self,
        space: &Space<'_>,
        goal: Goal,
        optimum: &Optimum,
        options: &SearchOptions,
    ) -> Result<Certificate, CertifyError> {
        let refused = |error: ModelError| CertifyError::Search(SearchError::Problem(error.to_string()));
        let bound = self.to_forest(space.domains, space.binding, goal).map_err(refused)?;
        certify(&problem_of(space, &bound), &optimum.report, options)
    }

    /// Checks a proof without the search; the outer error is a space that does not fit.
    ///
    /// # Errors
    /// A binding or domains that do not fit.
    pub fn verify(
        &self,
        space: &Space<'_>,
        goal: Goal,
        certificate: &Certificate,
    ) -> Result<Result<Verified, Refusal>, ModelError> {
        let bound = self.to_forest(space.domains, space.binding, goal)?;
        Ok(verify(&problem_of(space, &bound), certificate))
    }
}

fn problem_of<'a>(space: &Space<'a>, bound: &'a BoundForest) -> Problem<'a> {
    let mut problem = Problem::new(space.domains, &bound.forest, &bound.objective);
    if let Some(constraints) = space.constraints {
        problem = problem.with_constraints(constraints);
    }
    for region in space.excluded {
        problem = problem.excluding(region.clone());
    }
    problem
}
