//! The engine through its public API: determinism, little data, pending and failed experiments, honesty of what is reported.

use leafgp::engine::{Context, EngineError, Optimizer};
use leafgp::history::Outcome;
use leafgp::problem::{Goal, Preset, Problem, Settings, Variable};
use leafgp::solver::constraints::Tolerance;
use leafgp::solver::search::Status;

fn mixed(seed: u64) -> Problem {
    let problem = Problem::builder("mixed")
        .variable(Variable::continuous("x", -1.0, 2.0))
        .variable(Variable::categorical("c", ["a", "b", "d"]))
        .variable(Variable::integer("n", 0, 7))
        .variable(Variable::continuous("r", 1e-4, 1.0).log())
        .build()
        .unwrap();
    problem.adjusted(|settings| *settings = paper(seed)).unwrap()
}

/// What this file pins is the paper's method; `presets.rs` is about the others.
fn paper(seed: u64) -> Settings {
    let mut settings = Settings::with_preset(Preset::Paper);
    settings.seed = seed;
    settings
}

fn objective(x: &[f64]) -> f64 {
    (x[0] - 0.3).powi(2)
        + [0.4, 0.0, 0.7][x[1] as usize]
        + 0.1 * (x[2] - 5.0).abs()
        + 0.05 * (x[3].ln() + 4.0).powi(2)
}

fn after(problem: Problem, n: usize) -> Optimizer {
    let mut optimizer = Optimizer::new(problem);
    for _ in 0..n {
        let x = optimizer.ask().unwrap().point;
        optimizer.tell(&x, objective(&x)).unwrap();
    }
    optimizer
}

#[test]
fn a_loop_of_single_calls_equals_one_long_run() {
    let long = after(mixed(3), 14);
    let mut observations = Vec::new();
    for _ in 0..14 {
        // A fresh optimiser each time, as single calls of the command are.
        let mut fresh = Optimizer::new(mixed(3));
        for (x, y) in &observations {
            let x: &Vec<f64> = x;
            fresh.tell(x, *y).unwrap();
        }
        let x = fresh.ask().unwrap().point;
        let y = objective(&x);
        observations.push((x, y));
    }
    for (one, (x, _)) in long.observations().iter().zip(&observations) {
        assert_eq!(&one.point, x);
    }
    let other = after(mixed(4), 14);
    assert_ne!(other.observations(), long.observations(), "another seed gives another run");
}

#[test]
fn a_batch_equals_single_suggestions_told_as_pending() {
    let optimizer = after(mixed(5), 10);
    let batch = optimizer.ask_many(4, &Context::default()).unwrap();
    let mut single = optimizer.clone();
    for suggestion in &batch {
        let alone = single.ask().unwrap();
        assert_eq!(&alone, suggestion);
        single.tell_outcome(&alone.point, Outcome::Pending).unwrap();
    }
}

#[test]
fn what_is_reported_is_what_the_model_says_at_the_suggested_point() {
    for seed in 0..6 {
        let optimizer = after(mixed(seed), 9 + seed as usize);
        let suggestion = optimizer.ask().unwrap();
        let proof = suggestion.proof.as_ref().expect("enough data for a model");
        let surrogate = optimizer.surrogate().unwrap();
        let prediction = surrogate.predict(&suggestion.point).unwrap();
        assert!((prediction.mean - proof.mean).abs() < 1e-9 * (1.0 + proof.mean.abs()));
        assert!((prediction.std - proof.std).abs() < 1e-7 * (1.0 + proof.std.abs()));
        let posterior = surrogate.process().posterior(&suggestion.point);
        let acquisition = posterior.mean - optimizer.problem().settings().kappa * posterior.variance.sqrt();
        assert!(
            (acquisition - proof.acquisition).abs() < 1e-7,
            "{acquisition} against {}",
            proof.acquisition
        );
        assert_eq!(proof.status, Status::Optimal);
        assert!(proof.bound <= proof.acquisition && proof.gap <= 1e-4);
        assert!(proof.region.contains(&suggestion.point));
        // No sampled point beats the bound.
        let domains = optimizer.problem().domains();
        let mut state = 1u64;
        for _ in 0..2000 {
            let x: Vec<f64> = domains
                .iter()
                .map(|d| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let (lower, upper) = d.bounds();
                    let u = (state >> 11) as f64 / (1u64 << 53) as f64;
                    d.nearest(lower + u * (upper - lower), lower, upper).unwrap()
                })
                .collect();
            let p = surrogate.process().posterior(&x);
            assert!(p.mean - optimizer.problem().settings().kappa * p.variance.sqrt() >= proof.bound - 1e-9);
        }
    }
}

#[test]
fn zero_one_and_two_rows_and_constant_targets_give_feasible_points_with_a_reason() {
    let mut optimizer = Optimizer::new(mixed(1));
    for _ in 0..9 {
        let suggestion = optimizer.ask().unwrap();
        assert!(suggestion.proof.is_none());
        assert!(suggestion.note.as_ref().unwrap().contains("space-filling"), "{:?}", suggestion.note);
        assert!(optimizer.problem().constraints().is_feasible(&suggestion.point, Tolerance::Produce));
        assert!(optimizer.observations().iter().all(|o| o.point != suggestion.point), "a repeated point");
        optimizer.tell(&suggestion.point, 2.5).unwrap();
    }
    assert!(optimizer.ask().unwrap().note.unwrap().contains("equal"));
}

#[test]
fn failed_and_pending_cells_are_not_suggested_again() {
    for outcome in [Outcome::Failed, Outcome::Pending] {
        let mut optimizer = after(mixed(8), 10);
        let first = optimizer.ask().unwrap();
        let cell = first.proof.unwrap().region;
        optimizer.tell_outcome(&first.point, outcome).unwrap();
        let second = optimizer.ask().unwrap();
        assert_ne!(second.point, first.point);
        if outcome == Outcome::Pending {
            // The trees are the same, so the cell is too.
            assert!(!cell.contains(&second.point));
        }
    }
}

#[test]
fn a_pending_experiment_is_resolved_by_its_result_and_taken_back_by_cancel() {
    let mut optimizer = after(mixed(8), 10);
    let plain = optimizer.ask().unwrap();
    for outcome in [Outcome::Done(0.25), Outcome::Failed] {
        let mut planned = optimizer.clone();
        planned.tell_outcome(&plain.point, Outcome::Pending).unwrap();
        planned.tell_outcome(&plain.point, outcome).unwrap();
        let mut direct = optimizer.clone();
        direct.tell_outcome(&plain.point, outcome).unwrap();
        assert_eq!(planned.observations(), direct.observations());
        assert_eq!(planned.ask().unwrap(), direct.ask().unwrap());
        // Once it is known, a further result is another experiment.
        planned.tell(&plain.point, 0.5).unwrap();
        assert_eq!(planned.observations().len(), 12);
    }
    optimizer.tell_outcome(&plain.point, Outcome::Pending).unwrap();
    assert_ne!(optimizer.ask().unwrap().point, plain.point);
    assert!(optimizer.cancel(&plain.point).unwrap());
    assert!(!optimizer.cancel(&plain.point).unwrap(), "there is no second one");
    assert!(optimizer.cancel(&[1.0]).is_err());
    assert_eq!(optimizer.ask().unwrap(), plain);
}

#[test]
fn values_of_inactive_variables_do_not_hide_a_pending_experiment() {
    let problem = Problem::builder("p")
        .variable(Variable::integer("layers", 1, 3))
        .variable(Variable::continuous("second", 0.0, 5.0).active_if("layers >= 2", 0.0))
        .build()
        .unwrap();
    let mut optimizer = Optimizer::new(problem);
    optimizer.tell_outcome(&[1.0, 4.0], Outcome::Pending).unwrap();
    optimizer.tell(&[1.0, 3.0], 7.0).unwrap();
    let rows = optimizer.observations();
    assert_eq!((rows.len(), rows[0].outcome, &rows[0].point), (1, Outcome::Done(7.0), &vec![1.0, 0.0]));
}

#[test]
fn pending_rows_change_nothing_about_random_trees_and_a_batch_is_proposed_by_one_forest() {
    let mut builder = Problem::builder("random trees");
    for name in ["a", "b", "c"] {
        builder = builder.variable(Variable::continuous(name, 0.0, 1.0));
    }
    let mut settings = Settings::with_preset(Preset::Paper);
    settings.trees.min_data_in_leaf = 2;
    settings.trees.bagging_fraction = 0.6;
    settings.trees.bagging_freq = 1;
    settings.trees.extra_trees = true;
    let mut optimizer = Optimizer::new(builder.settings(settings).build().unwrap());
    for _ in 0..25 {
        let x = optimizer.ask().unwrap().point;
        optimizer.tell(&x, (x[0] - 0.3).powi(2) + x[1] * x[2]).unwrap();
    }
    let surrogate = optimizer.surrogate().unwrap();
    let (forest, domains) = (&surrogate.trees().forest, optimizer.problem().domains());
    let batch = optimizer.ask_many(4, &Context::default()).unwrap();
    let mut single = optimizer.clone();
    for suggestion in &batch {
        assert_eq!(&single.ask().unwrap(), suggestion);
        // The optimal region is a cell of these trees and of no others.
        assert_eq!(suggestion.proof.as_ref().unwrap().region, forest.cell(&domains, &suggestion.point));
        single.tell_outcome(&suggestion.point, Outcome::Pending).unwrap();
        let believing = single.surrogate().unwrap();
        assert_eq!(&believing.trees().forest, forest);
        let (before, after) = (surrogate.process(), believing.process());
        assert_eq!(before.hyperparameters(), after.hyperparameters());
        let x = &suggestion.point;
        assert!(after.posterior(x).variance < before.posterior(x).variance);
    }
}

#[test]
fn the_exported_instance_states_the_problem_that_is_asked() {
    let optimizer = after(mixed(9), 12);
    let surrogate = optimizer.surrogate().unwrap();
    let (asked, exported) = (surrogate.acquisition(), surrogate.instance().problem().unwrap());
    assert_eq!((&asked.domains, &asked.forest), (&exported.domains, &exported.forest));
    assert_eq!((asked.excluded.len(), &asked.agreement), (0, &exported.agreement));
    let suggestion = optimizer.ask().unwrap();
    let bound = suggestion.proof.unwrap().bound;
    for x in optimizer.observations().iter().map(|row| &row.point) {
        let (a, b, c) = (asked.evaluate(x), exported.evaluate(x), surrogate.evaluate(x).unwrap());
        for (other, tolerance) in [(b, 1e-9), (c, 1e-7)] {
            assert!((a.mean - other.mean).abs() < tolerance && (a.value - other.value).abs() < tolerance);
        }
        assert!(a.value >= bound - 1e-9);
    }
    let mut pending = optimizer.clone();
    pending.tell_outcome(&suggestion.point, Outcome::Pending).unwrap();
    let stated = pending.surrogate().unwrap();
    assert_eq!(stated.acquisition().excluded, [asked.forest.cell(&asked.domains, &suggestion.point)]);
    assert_eq!(stated.instance().x, surrogate.instance().x, "pending points are no measured rows");
}

#[test]
fn the_exported_instance_carries_pending_and_failed_rows_and_the_agreement_limit() {
    let mut optimizer = after(mixed(9).adjusted(|settings| settings.max_agreement = Some(0.8)).unwrap(), 12);
    for outcome in [Outcome::Pending, Outcome::Failed, Outcome::Pending] {
        let point = optimizer.ask().unwrap().point;
        optimizer.tell_outcome(&point, outcome).unwrap();
    }
    let surrogate = optimizer.surrogate().unwrap();
    let instance = surrogate.instance();
    let read = leafgp::instance::Instance::parse(&instance.to_json(), "again").unwrap();
    assert_eq!(read, instance);
    let (asked, exported) = (surrogate.acquisition(), read.problem().unwrap());
    assert_eq!(asked.excluded.len(), 3);
    assert_eq!((&asked.excluded, &asked.agreement), (&exported.excluded, &exported.agreement));
    for x in optimizer.observations().iter().map(|row| &row.point) {
        let (a, b) = (asked.evaluate(x), exported.evaluate(x));
        assert!((a.mean - b.mean).abs() < 1e-9 && (a.deviation - b.deviation).abs() < 1e-9, "{a:?} {b:?}");
    }
}

#[test]
fn only_failures_so_far_still_give_a_new_feasible_point() {
    let mut optimizer = Optimizer::new(mixed(2));
    for _ in 0..8 {
        let x = optimizer.ask().unwrap().point;
        assert!(optimizer.observations().iter().all(|o| o.point != x));
        optimizer.tell_outcome(&x, Outcome::Failed).unwrap();
    }
    assert_eq!(optimizer.best(), None);
}

#[test]
fn maximising_is_minimising_the_negative() {
    let run = |goal: Goal, sign: f64| {
        let problem = Problem::builder("goal")
            .objective("y", goal)
            .variable(Variable::continuous("x", 0.0, 1.0))
            .variable(Variable::continuous("z", 0.0, 1.0))
            .build()
            .and_then(|problem| problem.adjusted(|settings| *settings = paper(11)))
            .unwrap();
        let mut optimizer = Optimizer::new(problem);
        for _ in 0..12 {
            let x = optimizer.ask().unwrap().point;
            optimizer.tell(&x, sign * ((x[0] - 0.7).powi(2) + x[1])).unwrap();
        }
        optimizer
    };
    let (down, up) = (run(Goal::Minimize, 1.0), run(Goal::Maximize, -1.0));
    for (a, b) in down.observations().iter().zip(up.observations()) {
        assert_eq!(a.point, b.point);
    }
    assert_eq!(down.best().unwrap().value, -up.best().unwrap().value);
    let (a, b) = (down.ask().unwrap().proof.unwrap(), up.ask().unwrap().proof.unwrap());
    assert_eq!(a.mean, -b.mean);
    assert_eq!((a.std, a.acquisition, a.bound), (b.std, b.acquisition, b.bound));
}

#[test]
fn a_small_discrete_space_runs_out_with_a_clear_error() {
    let problem = Problem::builder("tiny")
        .variable(Variable::binary("a"))
        .variable(Variable::categorical("c", ["p", "q"]))
        .settings(paper(101))
        .build()
        .unwrap();
    let mut optimizer = Optimizer::new(problem);
    let all = optimizer.ask_many(usize::MAX, &Context::default()).unwrap();
    assert_eq!(all.len(), 4);
    for suggestion in all {
        optimizer.tell_outcome(&suggestion.point, Outcome::Pending).unwrap();
    }
    match optimizer.ask() {
        Err(EngineError::SpaceExhausted) => {}
        other => panic!("expected the space to be exhausted, got {other:?}"),
    }
}

#[test]
fn impossible_constraints_are_named() {
    let optimizer = Optimizer::new(
        Problem::builder("contradiction")
            .variable(Variable::continuous("x", 0.0, 1.0))
            .variable(Variable::continuous("y", 0.0, 1.0))
            .constraint("harmless", "x + y <= 3")
            .constraint("high", "x >= 0.8")
            .constraint("low", "x <= 0.7")
            .build()
            .unwrap(),
    );
    match optimizer.ask() {
        Err(EngineError::Infeasible { mut conflict }) => {
            conflict.sort();
            assert_eq!(conflict, ["high", "low"]);
        }
        other => panic!("expected a contradiction, got {other:?}"),
    }
}

#[test]
fn bad_observations_are_refused_and_leave_no_trace() {
    let mut optimizer = Optimizer::new(mixed(1));
    for (point, value) in [
        (vec![0.0, 0.0, 1.0], 1.0),
        (vec![f64::NAN, 0.0, 1.0, 0.1], 1.0),
        (vec![0.0, 3.0, 1.0, 0.1], 1.0),
        (vec![0.0, 0.5, 1.0, 0.1], 1.0),
        (vec![0.0, 0.0, 1.0, 0.1], f64::INFINITY),
    ] {
        assert!(matches!(optimizer.tell(&point, value), Err(EngineError::BadObservation { .. })));
        assert!(optimizer.observations().is_empty());
    }
    // Outside the box: kept for training, never the best.
    optimizer.tell(&[5.0, 0.0, 1.0, 0.1], -100.0).unwrap();
    optimizer.tell(&[0.5, 0.0, 1.0, 0.1], 1.0).unwrap();
    assert_eq!(optimizer.best().unwrap().value, 1.0);
}

#[test]
fn constrained_suggestions_are_feasible_as_printed() {
    let problem = || {
        Problem::builder("mixture")
            .variable(Variable::continuous("a", 0.0, 1.0))
            .variable(Variable::continuous("b", 0.0, 1.0))
            .variable(Variable::continuous("c", 0.0, 1.0))
            .variable(Variable::categorical("head", ["flat", "round"]))
            .constraint("sum", "a + b + c == 1")
            .constraint("implication", "head == 'flat' implies a <= 0.3")
            .constraint("product", "a * b <= 0.1")
            .settings(paper(101))
            .build()
            .unwrap()
    };
    let mut optimizer = Optimizer::new(problem());
    for _ in 0..16 {
        let suggestion = optimizer.ask().unwrap();
        // Through text and back: what is printed is what was checked.
        let x: Vec<f64> = optimizer
            .problem()
            .variables()
            .iter()
            .zip(&suggestion.point)
            .map(|(v, &value)| v.parse_value(&v.format_value(value)).unwrap())
            .collect();
        assert_eq!(x, suggestion.point);
        assert!((x[0] + x[1] + x[2] - 1.0).abs() <= 1e-9);
        assert!(x[3] != 0.0 || x[0] <= 0.3);
        assert!(x[0] * x[1] <= 0.1);
        if let Some(proof) = &suggestion.proof {
            assert_eq!(proof.status, Status::Optimal, "{proof:?}");
        }
        optimizer.tell(&x, (x[0] - 0.25).powi(2) + (x[1] - 0.4).powi(2) + 0.1 * x[3]).unwrap();
    }
}
