//! How each method comes to its next point.

use leafgp_solver::Region;
use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use super::error::StudyError;
use super::initial::{TRIES, projection_limits};
use super::spec::{ConstraintHandling, LookUp, Method, MethodKind, Source, StudyProblem};
use super::step::{ProofRecord, Status};
use leafgp::engine::{
    Choice, Context, EngineError, Optimizer, Prediction, Purpose, nearest_feasible, stream, uniform,
};
use leafgp::problem::Problem;

/// A proposed point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Proposal {
    pub(super) point: Vec<f64>,
    pub(super) proof: Option<ProofRecord>,
}

/// The next point of an internal method. `optimizer` holds the method's view of the problem with all it was told; the same rows and seed give the same point.
pub(super) fn propose(
    problem: &StudyProblem,
    method: &Method,
    optimizer: &Optimizer,
    context: &Context,
) -> Result<Proposal, StudyError> {
    let seed = optimizer.problem().settings().seed;
    let mut rng = stream(seed, Purpose::Sample, optimizer.observations().len());
    if let Source::Table(table) = &problem.source {
        return propose_row(table, method, optimizer, &mut rng);
    }
    match &method.kind {
        MethodKind::LeafGp => suggested(optimizer, context),
        MethodKind::LeafGpRnd { samples } => {
            let samples: Vec<Vec<f64>> = (0..*samples).map(|_| random(problem, &mut rng)).collect();
            best_sample(problem, method, optimizer, samples)
        }
        MethodKind::Random => Ok(Proposal { point: random(problem, &mut rng), proof: None }),
        MethodKind::FeasRandom => (0..TRIES)
            .find_map(|_| projected(&problem.problem, random(problem, &mut rng)))
            .map(|point| Proposal { point, proof: None })
            .ok_or_else(|| not_projected(TRIES)),
        MethodKind::External { .. } => unreachable!("external processes propose for themselves"),
    }
}

/// The engine's own suggestion.
fn suggested(optimizer: &Optimizer, context: &Context) -> Result<Proposal, StudyError> {
    let suggestion = optimizer.ask_with(context)?;
    let proof = match (&suggestion.proof, &suggestion.chosen, suggestion.prediction()) {
        (Some(proof), _, Some(Prediction { mean, std })) => Some(ProofRecord {
            status: proof.status.into(),
            stop_reason: Some(proof.stop_reason.into()),
            gap: Some(proof.gap).filter(|gap| gap.is_finite()),
            bound: Some(proof.bound).filter(|bound| bound.is_finite()),
            acquisition: proof.acquisition,
            mean,
            std,
            nodes: proof.nodes,
        }),
        (None, Some(chosen), Some(Prediction { mean, std })) => Some(ProofRecord {
            status: Status::Local,
            stop_reason: None,
            gap: None,
            bound: None,
            acquisition: chosen.value,
            mean,
            std,
            nodes: 0,
        }),
        _ => None,
    };
    Ok(Proposal { point: suggestion.point, proof })
}

/// The best of random samples: of the feasible ones when the constraints are known; when none is feasible, the best one, projected.
fn best_sample(
    problem: &StudyProblem,
    method: &Method,
    optimizer: &Optimizer,
    mut samples: Vec<Vec<f64>>,
) -> Result<Proposal, StudyError> {
    use leafgp_solver::constraints::Tolerance::Produce;
    let n = samples.len();
    let constraints = problem.problem.constraints();
    let exact = method.constraints == ConstraintHandling::Exact && !constraints.is_empty();
    if exact && samples.iter().any(|x| constraints.is_feasible(x, Produce)) {
        samples.retain(|x| constraints.is_feasible(x, Produce));
    }
    loop {
        let choice = optimizer.ask_among(&samples).map_err(|e| match e {
            EngineError::SpaceExhausted => not_projected(n),
            other => other.into(),
        })?;
        let point = samples.swap_remove(choice.index);
        let proof = sampled(&choice, n, None);
        if !exact {
            return Ok(Proposal { point, proof });
        }
        if let Some(point) = projected(&problem.problem, point) {
            return Ok(Proposal { point, proof });
        }
    }
}

/// A row of the table that was not taken yet.
fn propose_row(
    table: &LookUp,
    method: &Method,
    optimizer: &Optimizer,
    rng: &mut ChaCha8Rng,
) -> Result<Proposal, StudyError> {
    let rest = rows_left(table, optimizer);
    if rest.is_empty() {
        return Err(EngineError::SpaceExhausted.into());
    }
    Ok(match &method.kind {
        MethodKind::LeafGp => {
            let choice = optimizer.ask_among(&rest)?;
            let proof = sampled(&choice, rest.len(), choice.acquisition);
            Proposal { point: rest[choice.index].clone(), proof }
        }
        MethodKind::LeafGpRnd { samples } => {
            let mut picks: Vec<usize> = (0..*samples).map(|_| rng.random_range(0..rest.len())).collect();
            picks.sort_unstable();
            picks.dedup();
            let drawn: Vec<Vec<f64>> = picks.iter().map(|&i| rest[i].clone()).collect();
            let choice = optimizer.ask_among(&drawn)?;
            Proposal { point: drawn[choice.index].clone(), proof: sampled(&choice, drawn.len(), None) }
        }
        MethodKind::Random | MethodKind::FeasRandom => {
            Proposal { point: rest[rng.random_range(0..rest.len())].clone(), proof: None }
        }
        MethodKind::External { .. } => unreachable!("external processes propose for themselves"),
    })
}

/// The rows of a table that were not evaluated yet, in its order.
fn rows_left(table: &LookUp, optimizer: &Optimizer) -> Vec<Vec<f64>> {
    let taken = |point: &Vec<f64>| optimizer.observations().iter().any(|o| o.point == *point);
    table.points.iter().filter(|point| !taken(point)).cloned().collect()
}

/// What is known of the best of `n` candidates; `bound` when they are all there is.
fn sampled(choice: &Choice, n: usize, bound: Option<f64>) -> Option<ProofRecord> {
    let (prediction, acquisition) = (choice.prediction?, choice.acquisition?);
    Some(ProofRecord {
        status: if bound.is_some() { Status::Optimal } else { Status::Sampled },
        stop_reason: None,
        gap: bound.map(|_| 0.0),
        bound,
        acquisition,
        mean: prediction.mean,
        std: prediction.std,
        nodes: n as u64,
    })
}

/// A uniform point of the box.
fn random(problem: &StudyProblem, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let constraints = problem.problem.constraints();
    let mut point = uniform(&problem.problem, &Region::full(constraints.domains()), rng);
    constraints.deactivate(&mut point);
    point
}

fn projected(problem: &Problem, point: Vec<f64>) -> Option<Vec<f64>> {
    nearest_feasible(problem, &Region::full(problem.constraints().domains()), point, projection_limits())
}

fn not_projected(tries: usize) -> StudyError {
    StudyError::Engine(EngineError::NoIncumbent {
        reason: format!("{tries} random points could not be projected onto the constraints"),
    })
}
