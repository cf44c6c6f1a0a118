//! Writes the proof of a finished search: the tree is searched once more, depth first and below the known bound, on record.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::certificate::{
    Certificate, Forward, LeafFunction, Multiplier, Relaxation, complete, digest, domains_below,
};
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
use crate::learned::Learned;
use crate::limit::LeafLimit;
use crate::objective::LeafObjective;
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
    let bound = match report.status {
        Status::Optimal => report.best_bound,
        Status::Infeasible => f64::INFINITY,
        Status::Feasible | Status::Unknown => return Err(CertifyError::NotProved),
    };
    let incumbent = report.incumbent.as_ref().map(|i| (i.objective, i.x.clone()));
    let claimed = if bound.is_finite() { bound - SLACK * bound.abs().max(1.0) } else { bound };
    let digest = digest(problem);
    let domains = match &problem.learned {
        Some(learned) => domains_below(problem, learned, bound),
        None => problem.domains.to_vec(),
    };
    let constraints = problem.learned.map(|learned| learned.system).or(problem.constraints);
    let forward = constraints.map(|set| Forward::new(set.statement()).within(&domains));
    let over_predictions = match (&problem.learned, &forward) {
        (Some(learned), Some(forward)) => Some(OverPredictions::new(problem, learned, forward)?),
        _ => None,
    };
    let multipliers = over_predictions.as_ref().map(|over| over.multipliers.clone());
    let searched = over_predictions.as_ref().map_or_else(|| problem.clone(), |over| over.problem(problem));
    let Some(model) = Model::new(&searched) else {
        let nodes = vec![Default::default()];
        return Ok(Certificate { digest, bound: claimed, incumbent: None, multipliers, nodes });
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
    let nodes =
        Worker::default().certify(&context, root, pool, forward.as_ref()).ok_or(CertifyError::Limit)?;
    let mut certificate = Certificate { digest, bound: claimed, incumbent, multipliers, nodes };
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

/// What the verifier will make of a problem over predictions: the search on record is bounded by the same sums of leaves.
struct OverPredictions {
    multipliers: Vec<Multiplier>,
    objective: LeafObjective,
    limits: Vec<LeafLimit>,
}

impl OverPredictions {
    fn new(
        problem: &Problem<'_>,
        learned: &Learned<'_>,
        forward: &Forward<'_>,
    ) -> Result<Self, CertifyError> {
        let relaxation = Relaxation::new(problem, learned, forward).ok_or(CertifyError::Learned)?;
        let used = problem.limits.iter().zip(learned.multipliers).filter(|(_, m)| **m > 0.0);
        let mut by_row: BTreeMap<u16, f64> = BTreeMap::new();
        for (row, multiplier) in used.filter_map(|(limit, &m)| multiplier_of(limit, m, &relaxation)) {
            *by_row.entry(row).or_default() += multiplier;
        }
        let multipliers: Vec<Multiplier> = by_row.into_iter().collect();
        let objective = relaxation.objective(&multipliers).ok_or(CertifyError::Learned)?;
        Ok(Self { multipliers, objective, limits: relaxation.limits() })
    }

    fn problem<'a>(&'a self, problem: &Problem<'a>) -> Problem<'a> {
        Problem { objective: &self.objective, limits: self.limits.clone(), ..problem.clone() }
    }
}

/// Differs by less from the row it came from: a limit is known by its shape.
const SAME_SHAPE: f64 = 1e-2;

/// The row that a limit came from, and the multiple of it that is the limit's.
fn multiplier_of(limit: &LeafLimit, multiplier: f64, relaxation: &Relaxation) -> Option<Multiplier> {
    let size_of_limit = limit.coefficients.iter().map(|(_, a)| a * a).sum::<f64>().sqrt();
    let distance = |function: &LeafFunction| {
        let size = function.linear.iter().map(|a| a * a).sum::<f64>().sqrt();
        let ratio = size_of_limit / size;
        let mut dense = vec![0.0; function.linear.len()];
        limit.coefficients.iter().for_each(|&(leaf, a)| dense[leaf] = a);
        let apart = |(a, b): (&f64, &f64)| (a - ratio * b) * (a - ratio * b);
        let sum: f64 = dense.iter().zip(&function.linear).map(apart).sum();
        let of_constants = limit.constant - ratio * function.constant;
        ((sum + of_constants * of_constants).sqrt() / (size_of_limit + limit.constant.abs()), ratio)
    };
    let functions = relaxation.rows.iter().enumerate().flat_map(|(row, sides)| {
        [1.0, -1.0].into_iter().zip(sides).filter_map(move |(sign, side)| Some((row, sign, side.as_ref()?)))
    });
    let nearest = functions.map(|(row, sign, function)| (row, sign, distance(function)));
    let nearest = nearest.filter(|(.., (apart, _))| *apart < SAME_SHAPE);
    let (row, sign, (_, ratio)) = nearest.min_by(|a, b| a.2.0.total_cmp(&b.2.0))?;
    Some((u16::try_from(row).ok()?, sign * multiplier * ratio))
}

impl From<SearchError> for CertifyError {
    fn from(error: SearchError) -> Self {
        Self::Search(error)
    }
}
