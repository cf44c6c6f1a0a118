//! Writes the proof of a finished search: the tree is searched once more, depth first and below the known bound, on record.

use std::time::Instant;

use crate::certificate::{Certificate, Forward, complete, digest};
use leafgp_constraints::Region;

use super::error::{CertifyError, SearchError};
use super::evidence::Refuter;
use super::local::Neighbours;
use super::model::Model;
use super::node::OpenNode;
use super::options::SearchOptions;
use super::pool::{Found, Pool};
use super::report::{Report, Status};
use super::subtree::{Context, Worker};
use crate::problem::Problem;

/// Slack, relative to the size of the bound, between what the search proved and what the certificate claims: the verifier rounds outward.
const SLACK: f64 = 1e-9;

/// Boxes that are looked at for claims about one leaf combination.
const REFUTATION_NODES: usize = 20_000;

/// Proves on record that no allowed point lies below the bound of a finished search (less a slack of 1e-9, relative). Takes about as long as the search
/// on one thread did; `options` gives the time limit and the interrupt flag.
///
/// # Errors
/// A report that is neither optimal nor infeasible, or a limit reached.
pub fn certify(
    problem: &Problem<'_>,
    report: &Report,
    options: &SearchOptions,
) -> Result<Certificate, CertifyError> {
    options.validate()?;
    problem.validate().map_err(SearchError::from)?;
    if problem.learned.is_some() {
        return Err(CertifyError::Learned);
    }
    let bound = match report.status {
        Status::Optimal => report.best_bound,
        Status::Infeasible => f64::INFINITY,
        Status::Feasible | Status::Unknown => return Err(CertifyError::NotProved),
    };
    let incumbent = report.incumbent.as_ref().map(|i| (i.objective, i.x.clone()));
    let claimed = if bound.is_finite() { bound - SLACK * bound.abs().max(1.0) } else { bound };
    let digest = digest(problem);
    let Some(model) = Model::new(problem) else {
        return Ok(Certificate { digest, bound: claimed, incumbent: None, nodes: vec![Default::default()] });
    };
    let options = SearchOptions { gap: 0.0, absolute_gap: 0.0, k_best: 1, progress: None, ..options.clone() };
    let neighbours = Neighbours::new(&model);
    let deadline = options.time_limit.and_then(|limit| Instant::now().checked_add(limit));
    let context = Context { model: &model, neighbours: &neighbours, options: &options, deadline };
    let mut pool = Pool::new(1, problem.cell_trees());
    if bound.is_finite() {
        // Stands for "everything at or above the bound is of no interest".
        pool.insert(&Found { objective: bound, leaves: Vec::new(), x: Vec::new() });
    }
    let root = OpenNode::root(&model, f64::NEG_INFINITY);
    let forward = problem.constraints.map(|constraints| Forward::new(constraints.statement()));
    let nodes =
        Worker::default().certify(&context, root, pool, forward.as_ref()).ok_or(CertifyError::Limit)?;
    let mut certificate = Certificate { digest, bound: claimed, incumbent, nodes };
    if let Some(forward) = &forward {
        let mut refuter = Refuter::default();
        let mut refute = |region: &Region| {
            let mut left = REFUTATION_NODES;
            refuter.refute(forward, region.clone(), &mut left, &|| context.must_stop())
        };
        complete(problem, &mut certificate, &mut refute).map_err(|_| CertifyError::Limit)?;
    }
    Ok(certificate)
}

impl From<SearchError> for CertifyError {
    fn from(error: SearchError) -> Self {
        Self::Search(error)
    }
}
