//! Certificates of problems over models: each proves what enumeration finds, and no forgery proves more.

mod support;

use leafgp_models::{Goal, ModelProblem};
use leafgp_solver::Status;
use leafgp_solver::certificate::{Certificate, WorkBudget};
use support::problems::{Rule, enumerate, models, objective, options, rule, variables};
use support::random::Numbers;

/// A random problem, its optimum by enumeration, and the bytes of its proof.
struct Proved {
    what: String,
    problem: ModelProblem,
    text: String,
    goal: Goal,
    /// Of the objective that is minimised.
    expected: Option<f64>,
    bytes: Vec<u8>,
}

impl Proved {
    /// The bound that a proof of these bytes has, if it is accepted.
    fn bound_of(&self, bytes: &[u8]) -> Result<f64, String> {
        let certificate = Certificate::read(bytes).map_err(|e| e.to_string())?;
        let checked =
            self.problem.verify(&self.text, self.goal, &[], &certificate, WorkBudget::default()).unwrap();
        checked.map(|verified| verified.bound).map_err(|e| e.to_string())
    }
}

fn each_proof(n_problems: usize, seed: u64, mut test: impl FnMut(&Proved)) {
    let mut numbers = Numbers(seed);
    for i in 0..n_problems {
        let n = 1 + numbers.next(2);
        let variables = variables(&mut numbers);
        let models = models(&mut numbers, n, &variables);
        let rules: Vec<Rule> = (0..numbers.next(4)).map(|_| rule(&mut numbers, n)).collect();
        let mut problem = ModelProblem::new(variables.clone(), models.clone()).unwrap();
        problem.define("second or first", ["first", "second"][n - 1], false).unwrap();
        for (k, rule) in rules.iter().enumerate() {
            problem.constrain(&format!("rule {k}"), &rule.text).unwrap();
        }
        let objective = objective(&mut numbers, n);
        let expected = enumerate(&models, &variables, &rules, &objective);
        let texts: Vec<&str> = rules.iter().map(|rule| rule.text.as_str()).collect();
        let what = format!("problem {i}: {} under {texts:?}", objective.text);
        let (text, goal) = match numbers.next(2) {
            0 => (format!("-({})", objective.text), Goal::Maximize),
            _ => (objective.text.clone(), Goal::Minimize),
        };
        let mut options = options();
        options.gap = 1e-5;
        let optimum = problem.optimize(&text, goal, &[], &options).unwrap();
        assert_eq!(optimum.status == Status::Infeasible, expected.is_none(), "{what}");
        let certificate = problem.certify(&text, goal, &[], &optimum, &options);
        let certificate = certificate.unwrap_or_else(|error| panic!("{what}: {error}; {optimum:?}"));
        test(&Proved { what, problem, text, goal, expected, bytes: certificate.write() });
    }
}

/// Proofs verify, and what they prove is true and as much as was found.
fn check(n_problems: usize, seed: u64) -> [usize; 2] {
    let mut counts = [0, 0];
    each_proof(n_problems, seed, |proved| {
        let bound = proved.bound_of(&proved.bytes).unwrap_or_else(|e| panic!("{}: {e}", proved.what));
        counts[usize::from(proved.expected.is_none())] += 1;
        match proved.expected {
            None => assert_eq!(bound, f64::INFINITY, "{}", proved.what),
            Some(expected) => {
                let size = expected.abs().max(1.0);
                assert!(bound <= expected + 1e-12 * size, "{}: {bound} of {expected}", proved.what);
                assert!(bound >= expected - 3e-5 * size, "{}: {bound} of {expected}", proved.what);
            }
        }
    });
    counts
}

#[test]
fn every_optimum_and_every_infeasibility_is_proved_on_file() {
    let [feasible, infeasible] = check(100, 21);
    assert!(feasible > 40 && infeasible > 8, "{feasible} feasible, {infeasible} not");
}

/// `cargo test --release -p leafgp-models --test proofs -- --ignored`
#[test]
#[ignore = "minutes"]
fn optima_of_many_random_problems_are_proved_on_file() {
    check(3000, 22);
}
