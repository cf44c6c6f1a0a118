//! Re-checks a certificate: plain code, outward rounding, nothing shared with the search but the problem.

use crate::objective::relative_gap;
use crate::problem::Problem;
use leafgp_constraints::Region;

use super::checker::Checker;
use super::claims::Claim;
use super::digest::digest;
use super::relaxation::domains_below;
use super::state::State;
use super::work::{Objection, Work, WorkBudget};
use super::{Certificate, Evidence, ProofEnd, Refusal};

/// What a certificate proves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verified {
    /// Objective of the incumbent, evaluated; `None` when the problem is infeasible.
    pub objective: Option<f64>,
    /// No allowed point has a smaller objective.
    pub bound: f64,
    /// `(objective - bound) / max(|objective|, 1e-9)`; 0 when infeasible.
    pub gap: f64,
    /// Nodes of the proof.
    pub nodes: usize,
    /// Elementary steps that the check took, see [`WorkBudget`].
    pub work: u64,
}

/// Re-checks a certificate against its problem.
///
/// # Errors
/// Says what does not hold. A refusal does not mean that the claimed bound is wrong, only that this is no proof of it.
pub fn verify(problem: &Problem<'_>, certificate: &Certificate) -> Result<Verified, Refusal> {
    verify_within(problem, certificate, WorkBudget::default())
}

/// The same with as much work as stated.
///
/// # Errors
/// As [`verify`]; [`Refusal::OutOfWork`] or [`Refusal::OutOfTime`] when the proof takes more.
pub fn verify_within(
    problem: &Problem<'_>,
    certificate: &Certificate,
    budget: WorkBudget,
) -> Result<Verified, Refusal> {
    walk(problem, certificate, budget, &mut Source::File)
}

/// Adds the claims about leaf combinations that `refute` finds, and checks the whole on the way: what comes out verifies.
pub(crate) fn complete(
    problem: &Problem<'_>,
    certificate: &mut Certificate,
    refute: &mut dyn FnMut(&Region) -> Option<Vec<Claim>>,
) -> Result<(), Refusal> {
    let mut found = vec![Vec::new(); certificate.nodes.len()];
    walk(problem, certificate, WorkBudget::default(), &mut Source::Found { refute, found: &mut found })?;
    for (node, found) in certificate.nodes.iter_mut().zip(found) {
        if let ProofEnd::Enumerated(claims) = &mut node.end {
            *claims = found;
        }
    }
    Ok(())
}

/// Where the claims about leaf combinations come from.
enum Source<'a> {
    File,
    Found { refute: &'a mut dyn FnMut(&Region) -> Option<Vec<Claim>>, found: &'a mut [Vec<Vec<Claim>>] },
}

fn walk(
    problem: &Problem<'_>,
    certificate: &Certificate,
    budget: WorkBudget,
    source: &mut Source<'_>,
) -> Result<Verified, Refusal> {
    problem.validate().map_err(|error| Refusal::Format(error.to_string()))?;
    if digest(problem) != certificate.digest {
        return Err(Refusal::OtherProblem);
    }
    let bound = certificate.bound;
    if bound.is_nan() {
        return Err(Refusal::Format("the bound is not a number".into()));
    }
    if problem.learned.is_some() != certificate.multipliers.is_some() {
        return Err(Refusal::Format("multipliers belong to problems over models, and to no others".into()));
    }
    let objective = check_incumbent(problem, certificate)?;
    let domains = match &problem.learned {
        Some(learned) => domains_below(problem, learned, bound),
        None => problem.domains().to_vec(),
    };
    let checker = Checker::new(problem, certificate, &domains)?;
    let mut work = Work::new(budget);
    // `None` is an empty box: nothing of it is kept, however often a hostile proof splits it.
    let mut stack = vec![Some(checker.root())];
    let mut number = 0;
    while let Some(state) = stack.pop() {
        work.next_node();
        let children = node(&checker, certificate, number, state, source, &mut work);
        stack.extend(children.map_err(|objection| refusal(number, objection))?.into_iter().flatten());
        number += 1;
    }
    if number < certificate.nodes.len() {
        return Err(refusal(number, Objection::Flaw("the proof ends before it")));
    }
    let gap = objective.map_or(0.0, |o| relative_gap(o, bound));
    Ok(Verified { objective, bound, gap, nodes: certificate.nodes.len(), work: work.used() })
}

fn refusal(node: usize, objection: Objection) -> Refusal {
    match objection {
        Objection::Flaw(problem) => Refusal::Node { node, problem: problem.into() },
        Objection::OutOfWork { node: of_node } => Refusal::OutOfWork { node, of_node },
        Objection::OutOfTime => Refusal::OutOfTime { node },
    }
}

/// Checks one node. Returns its children, the right one first, where it has some.
fn node(
    checker: &Checker<'_>,
    certificate: &Certificate,
    number: usize,
    mut state: Option<State>,
    source: &mut Source<'_>,
    work: &mut Work,
) -> Result<Option<[Option<State>; 2]>, Objection> {
    let node = certificate.nodes.get(number).ok_or(Objection::Flaw("it is missing"))?;
    work.charge(1)?;
    if let Some(left) = &mut state
        && !checker.filter(left, work)?
    {
        state = None;
    }
    for evidence in &node.evidence {
        let Some(left) = &mut state else { break };
        let some_left = match evidence {
            Evidence::Round(round) => !checker.round(left, round, work)?,
            Evidence::Contraction(claims) => checker.contract(left, claims, work)?,
        };
        if !some_left {
            state = None;
        }
    }
    match (&node.end, state) {
        (ProofEnd::Closed, None) | (ProofEnd::Enumerated(_), None) => Ok(None),
        (ProofEnd::Closed, Some(_)) => Err(Objection::Flaw("points may be left below the bound")),
        (ProofEnd::Enumerated(claims), Some(state)) => {
            match source {
                Source::File => {
                    let mut stored = |k: usize, _: &Region| claims.get(k).cloned();
                    if checker.enumerate(&state, &mut stored, work)? != claims.len() {
                        return Err(Objection::Flaw("claims about leaf combinations are left over"));
                    }
                }
                Source::Found { refute, found } => {
                    let mut search = |_: usize, region: &Region| {
                        let claims = refute(region)?;
                        found[number].push(claims.clone());
                        Some(claims)
                    };
                    checker.enumerate(&state, &mut search, work)?;
                }
            }
            Ok(None)
        }
        (ProofEnd::Split { feature, left }, state) => {
            checker.split(*feature as usize, left, state, work).map(Some)
        }
    }
}

fn check_incumbent(problem: &Problem<'_>, certificate: &Certificate) -> Result<Option<f64>, Refusal> {
    let Some((objective, x)) = &certificate.incumbent else {
        return if certificate.bound == f64::INFINITY {
            Ok(None)
        } else {
            Err(Refusal::Incumbent("none, though the bound is finite".into()))
        };
    };
    if !problem.allows(x) {
        return Err(Refusal::Incumbent("the point is not allowed".into()));
    }
    let value = problem.value(x, &problem.forest().active_leaves(x));
    if value.to_bits() != objective.to_bits() {
        return Err(Refusal::Incumbent(format!("the objective is {value}, not {objective}")));
    }
    if certificate.bound > value {
        return Err(Refusal::Incumbent(format!(
            "the bound {} is above its objective {value}",
            certificate.bound
        )));
    }
    Ok(Some(value))
}
