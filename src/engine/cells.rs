//! The best cells of the trees' acquisition, one after the other.

use std::time::Duration;

use leafgp_solver::search::{self, Incumbent, SearchOptions, Status};

use leafgp_solver::Region;

use super::error::EngineError;
use super::propose::joined;
use super::suggestion::Proof;
use super::surrogate::Surrogate;
use super::training::TargetScale;
use crate::acquisition::AcquisitionProblem;

/// Most cells tried when those before have no new point.
const MOST_CELLS: usize = 5;
/// Time limit of a search that has none left.
pub(super) const LEAST_TIME: Duration = Duration::from_millis(1);

/// The best cells of an acquisition problem, each one the best of those that are left.
pub(super) struct Cells {
    statement: AcquisitionProblem,
    options: SearchOptions,
    scale: TargetScale,
    noise: f64,
    /// What may be suggested: cells are told, and given, within it.
    region: Region,
    given: usize,
}

impl Cells {
    pub(super) fn new(statement: AcquisitionProblem, options: SearchOptions, surrogate: &Surrogate) -> Self {
        let (scale, noise) = (surrogate.scale(), surrogate.noise());
        Self { statement, options, scale, noise, region: surrogate.problem().region(), given: 0 }
    }

    /// The optimal cell; when asked again, the optimal one of the others. `None` when it is proved that none is left, after [`MOST_CELLS`], and when the limits left no
    /// time for another one.
    ///
    /// # Errors
    /// [`EngineError::NoIncumbent`] when the limits ended the search before it found a point; what the solver refuses.
    pub(super) fn next(&mut self) -> Result<Option<(Incumbent, Proof)>, EngineError> {
        if self.given == MOST_CELLS {
            return Ok(None);
        }
        let report = search::minimize(&self.statement.search(), &self.options)?;
        if report.status == Status::Infeasible {
            return Ok(None);
        }
        let Some(mut incumbent) = report.incumbent else {
            if self.given > 0 {
                return Ok(None);
            }
            let reason = format!("the search stopped: {}", report.stop_reason);
            return Err(EngineError::NoIncumbent { reason });
        };
        self.given += 1;
        incumbent.region = incumbent.region.within(&self.region);
        // All cells together have the time of one.
        let spent = Duration::from_secs_f64(report.seconds);
        self.options.time_limit =
            self.options.time_limit.map(|limit| limit.saturating_sub(spent).max(LEAST_TIME));
        self.statement.excluded.push(incumbent.region.clone());
        let proof = Proof {
            region: incumbent.region.clone(),
            mean: self.scale.mean(incumbent.mean),
            std: self.scale.deviation(incumbent.deviation),
            noise: self.noise,
            promised: self.scale.mean(incumbent.objective),
            promised_bound: self.scale.bound(report.best_bound),
            acquisition: incumbent.objective,
            bound: report.best_bound,
            gap: report.gap,
            status: report.status,
            stop_reason: report.stop_reason,
            nodes: report.nodes,
        };
        Ok(Some((incumbent, proof)))
    }

    /// What must be said of the last cell besides its proof, if anything.
    pub(super) fn note(&self, proof: &Proof) -> Option<String> {
        let unproved = (proof.status != Status::Optimal).then(|| {
            format!(
                "optimality is not proved: the search stopped: {} with gap {:.2e}",
                proof.stop_reason, proof.gap
            )
        });
        let others = self.given.saturating_sub(1);
        let passed_over = (others > 0).then(|| {
            format!("no new point was found in {others} better cells; the bound holds for the other cells")
        });
        joined([unproved, passed_over])
    }
}
