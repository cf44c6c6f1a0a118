//! The tables of a report: curves, final values, ranks, sign tests, proofs, times.

use super::data::{CaseData, Data, Run};
use crate::manifest::ProblemEntry;
use crate::statistics::{Signs, quartiles, ranks};
use crate::step::{ProofRecord, Status, StepRecord};

/// Median and quartiles over seeds of the best feasible value, by iteration, in the objective's own direction. Values are infinite where too many runs have none.
#[derive(Debug)]
pub(super) struct Curve {
    pub(super) method: String,
    pub(super) n: usize,
    /// `[iteration][lower, median, upper]`; lower and upper are quartiles ordered as numbers.
    pub(super) points: Vec<[f64; 3]>,
}

/// A method's results on a problem.
#[derive(Debug)]
pub(super) struct Final {
    pub(super) method: String,
    pub(super) n: usize,
    /// Runs with a feasible value.
    pub(super) feasible: usize,
    /// First quartile, median, third quartile, ordered from good to bad.
    pub(super) quartiles: [f64; 3],
    pub(super) best: f64,
    pub(super) worst: f64,
    /// Mean over the common seeds; NaN without any.
    pub(super) mean_rank: f64,
}

/// One method against another.
#[derive(Debug)]
pub(super) struct Duel {
    pub(super) first: String,
    pub(super) second: String,
    pub(super) signs: Signs,
}

/// How steps of a case were proved.
#[derive(Debug)]
pub(super) struct Proofs {
    pub(super) problem: String,
    pub(super) method: String,
    /// The relative gap at which a proof is complete.
    pub(super) gap: f64,
    /// Steps of a model with a search, and those proved to that gap.
    pub(super) steps: usize,
    pub(super) proved: usize,
    pub(super) median_gap: f64,
    pub(super) largest_gap: f64,
    pub(super) median_nodes: f64,
    pub(super) most_nodes: f64,
}

/// Seconds of a case's proposals after the first points.
#[derive(Debug)]
pub(super) struct Times {
    pub(super) problem: String,
    pub(super) method: String,
    pub(super) steps: usize,
    pub(super) quartiles: [f64; 3],
    pub(super) largest: f64,
    pub(super) total: f64,
}

pub(super) fn curve(case: &CaseData) -> Curve {
    let iterations = case.runs.iter().map(Run::iterations).max().unwrap_or(0);
    let points = (0..=iterations).map(|iteration| {
        let values: Vec<f64> = case.runs.iter().map(|run| run.best_after(iteration)).collect();
        let mut three = quartiles(&values).map(|value| own(case, value));
        three.sort_by(f64::total_cmp);
        three
    });
    let points = if case.runs.is_empty() { Vec::new() } else { points.collect() };
    Curve { method: case.method.clone(), n: case.runs.len(), points }
}

fn own(case: &CaseData, value: f64) -> f64 {
    case.runs.first().map_or(value, |run| run.in_own_direction(value))
}

/// The seeds that every one of the cases has.
pub(super) fn common_seeds(cases: &[&CaseData]) -> Vec<u64> {
    let Some((first, rest)) = cases.split_first() else { return Vec::new() };
    let has = |case: &CaseData, seed: u64| case.runs.iter().any(|run| run.seed == seed);
    first.runs.iter().map(|run| run.seed).filter(|&seed| rest.iter().all(|case| has(case, seed))).collect()
}

fn result(case: &CaseData, seed: u64) -> f64 {
    case.runs.iter().find(|run| run.seed == seed).map_or(f64::INFINITY, Run::result)
}

/// The final values of a problem; ranks over the seeds that all its methods have.
pub(super) fn finals(data: &Data, problem: &str) -> Vec<Final> {
    let cases: Vec<&CaseData> = data.cases_of(problem).filter(|case| !case.runs.is_empty()).collect();
    let seeds = common_seeds(&cases);
    let mut sums = vec![0.0; cases.len()];
    for &seed in &seeds {
        let values: Vec<f64> = cases.iter().map(|case| result(case, seed)).collect();
        for (sum, rank) in sums.iter_mut().zip(ranks(&values)) {
            *sum += rank;
        }
    }
    let row = |(case, sum): (&&CaseData, f64)| {
        let mut values: Vec<f64> = case.runs.iter().map(Run::result).collect();
        values.sort_by(f64::total_cmp);
        Final {
            method: case.method.clone(),
            n: values.len(),
            feasible: values.iter().filter(|value| value.is_finite()).count(),
            quartiles: quartiles(&values).map(|value| own(case, value)),
            best: own(case, values[0]),
            worst: own(case, values[values.len() - 1]),
            mean_rank: sum / seeds.len() as f64,
        }
    };
    cases.iter().zip(sums).map(row).collect()
}

/// Every pair of methods on a problem, over the seeds that both have.
pub(super) fn duels(data: &Data, problem: &str) -> Vec<Duel> {
    let cases: Vec<&CaseData> = data.cases_of(problem).filter(|case| !case.runs.is_empty()).collect();
    let mut duels = Vec::new();
    for (i, &a) in cases.iter().enumerate() {
        for &b in &cases[i + 1..] {
            let pairs = common_seeds(&[a, b]).into_iter().map(|seed| (result(a, seed), result(b, seed)));
            duels.push(Duel {
                first: a.method.clone(),
                second: b.method.clone(),
                signs: Signs::count(pairs),
            });
        }
    }
    duels
}

/// Every pair of methods over all problems.
pub(super) fn duels_over_all(data: &Data) -> Vec<Duel> {
    let mut all: Vec<Duel> = Vec::new();
    for problem in &data.manifest.problems {
        for duel in duels(data, &problem.name) {
            match all.iter_mut().find(|d| d.first == duel.first && d.second == duel.second) {
                Some(known) => known.signs = known.signs.plus(duel.signs),
                None => all.push(duel),
            }
        }
    }
    all
}

/// A method against the baseline on one problem.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) problem: String,
    pub(super) method: String,
    /// Over the seeds that both have; wins are the method's.
    pub(super) signs: Signs,
    /// Medians over those seeds, in the objective's own direction.
    pub(super) median: f64,
    pub(super) baseline_median: f64,
}

/// Every other method against a baseline, method by method, on the problems that both have.
pub(super) fn against(data: &Data, baseline: &str) -> Vec<Comparison> {
    let case = |problem: &str, method: &str| {
        data.cases.iter().find(|case| case.problem == problem && case.method == method)
    };
    let mut rows = Vec::new();
    for method in data.manifest.methods.iter().filter(|method| method.name != baseline) {
        for problem in &data.manifest.problems {
            let (Some(a), Some(b)) = (case(&problem.name, &method.name), case(&problem.name, baseline))
            else {
                continue;
            };
            let seeds = common_seeds(&[a, b]);
            if seeds.is_empty() {
                continue;
            }
            let values = |case: &CaseData| seeds.iter().map(|&seed| result(case, seed)).collect::<Vec<f64>>();
            let (ours, theirs) = (values(a), values(b));
            rows.push(Comparison {
                problem: problem.name.clone(),
                method: method.name.clone(),
                median: own(a, quartiles(&ours)[1]),
                baseline_median: own(b, quartiles(&theirs)[1]),
                signs: Signs::count(ours.into_iter().zip(theirs)),
            });
        }
    }
    rows
}

/// Each method's comparisons over all problems, with the number of problems on which its median is better, equal, worse.
pub(super) fn against_over_all(data: &Data, rows: &[Comparison]) -> Vec<(String, Signs, Signs)> {
    let sign = |problem: &str| data.manifest.problem(problem).map_or(1.0, ProblemEntry::sign);
    let mut all: Vec<(String, Signs, Signs)> = Vec::new();
    for row in rows {
        let sign = sign(&row.problem);
        let medians = Signs::count([(sign * row.median, sign * row.baseline_median)].into_iter());
        match all.iter_mut().find(|(method, ..)| *method == row.method) {
            Some((_, signs, problems)) => {
                *signs = signs.plus(row.signs);
                *problems = problems.plus(medians);
            }
            None => all.push((row.method.clone(), row.signs, medians)),
        }
    }
    all
}

/// Each method's mean over problems of its mean ranks, with the number of problems; in the order of methods.
pub(super) fn mean_ranks(data: &Data) -> Vec<(String, f64, usize)> {
    let finals: Vec<Final> = data.manifest.problems.iter().flat_map(|p| finals(data, &p.name)).collect();
    let row = |name: &String| {
        let of = finals.iter().filter(|row| row.method == *name && row.mean_rank.is_finite());
        let ranks: Vec<f64> = of.map(|row| row.mean_rank).collect();
        (name.clone(), ranks.iter().sum::<f64>() / ranks.len() as f64, ranks.len())
    };
    data.manifest.methods.iter().map(|method| row(&method.name)).collect()
}

/// True when a step was proved to a relative gap, up to the rounding of the gap itself.
fn is_proved(proof: &ProofRecord, gap: f64) -> bool {
    proof.gap.is_some_and(|reached| reached <= gap * (1.0 + 1e-9))
}

impl Proofs {
    /// The proofs among some steps of a case.
    pub(super) fn of<'a>(case: &CaseData, steps: impl Iterator<Item = &'a StepRecord>) -> Self {
        let searched = steps.filter_map(|step| step.proof.as_ref());
        let searched: Vec<_> =
            searched.filter(|proof| !matches!(proof.status, Status::Sampled | Status::Local)).collect();
        let gaps: Vec<f64> = searched.iter().map(|proof| proof.gap.unwrap_or(f64::INFINITY)).collect();
        let nodes: Vec<f64> = searched.iter().map(|proof| proof.nodes as f64).collect();
        Self {
            problem: case.problem.clone(),
            method: case.method.clone(),
            gap: case.gap,
            steps: searched.len(),
            proved: searched.iter().filter(|proof| is_proved(proof, case.gap)).count(),
            median_gap: quartiles(&gaps)[1],
            largest_gap: gaps.iter().copied().fold(0.0, f64::max),
            median_nodes: quartiles(&nodes)[1],
            most_nodes: nodes.iter().copied().fold(0.0, f64::max),
        }
    }
}

/// The cases whose steps have proofs.
pub(super) fn proofs(data: &Data) -> Vec<Proofs> {
    let rows = data.cases.iter().map(|case| Proofs::of(case, case.runs.iter().flat_map(|run| &run.steps)));
    rows.filter(|row| row.steps > 0).collect()
}

/// The times of the cases that have some.
pub(super) fn times(data: &Data) -> Vec<Times> {
    let rows = data.cases.iter().map(|case| {
        let seconds: Vec<f64> = case.runs.iter().flat_map(|run| run.seconds.iter().copied()).collect();
        Times {
            problem: case.problem.clone(),
            method: case.method.clone(),
            steps: seconds.len(),
            quartiles: quartiles(&seconds),
            largest: seconds.iter().copied().fold(0.0, f64::max),
            total: seconds.iter().sum(),
        }
    });
    rows.filter(|row| row.steps > 0).collect()
}
