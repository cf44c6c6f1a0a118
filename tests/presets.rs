//! The presets in which the smooth process chooses the point: turns, proofs, what is said of a suggestion, no point twice.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use leafgp::engine::{Context, EngineError, Method, Optimizer, Suggestion, uniform};
use leafgp::history::Outcome;
use leafgp::problem::{Goal, Preset, Problem, Settings, Variable};
use leafgp::smooth::Acquisition;
use leafgp::solver::Region;
use leafgp::solver::constraints::Tolerance;
use leafgp::solver::search::Status;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

const SMOOTH: [Preset; 3] = [Preset::Proven, Preset::Smooth, Preset::Mixed];

fn settings(preset: Preset, seed: u64) -> Settings {
    let mut settings = Settings::with_preset(preset);
    settings.seed = seed;
    settings
}

/// Reals, a category, whole numbers, a condition and a constraint.
fn mixed(preset: Preset, seed: u64) -> Problem {
    Problem::builder("mixed")
        .variable(Variable::continuous("x", -1.0, 2.0))
        .variable(Variable::categorical("c", ["a", "b", "d"]))
        .variable(Variable::integer("n", 0, 7))
        .variable(Variable::continuous("r", 1e-4, 1.0).log())
        .variable(Variable::continuous("t", 0.0, 3.0).active_if("c == 'd'", 0.0))
        .constraint("line", "2 * x + n <= 6")
        .constraint("logic", "c == 'b' implies x <= 1")
        .settings(settings(preset, seed))
        .build()
        .unwrap()
}

fn objective(x: &[f64]) -> f64 {
    (x[0] - 0.3).powi(2)
        + [0.4, 0.0, 0.7][x[1] as usize]
        + 0.1 * (x[2] - 5.0).abs()
        + 0.05 * (x[3].ln() + 4.0).powi(2)
        + 0.1 * (x[4] - 2.0).abs()
}

fn after(problem: Problem, n: usize) -> Optimizer {
    let mut optimizer = Optimizer::new(problem);
    for _ in 0..n {
        let x = optimizer.ask().unwrap().point;
        optimizer.tell(&x, objective(&x)).unwrap();
    }
    optimizer
}

fn again(optimizer: &Optimizer, change: impl FnOnce(&mut Settings)) -> Optimizer {
    let mut other = Optimizer::new(optimizer.problem().clone().adjusted(change).unwrap());
    for row in optimizer.observations() {
        other.tell_outcome(&row.point, row.outcome).unwrap();
    }
    other
}

/// As far as it goes: the points in order, and the error at the end.
fn exhaust(mut optimizer: Optimizer, most: usize, f: impl Fn(&[f64]) -> f64) -> (Vec<Vec<f64>>, EngineError) {
    let mut points = Vec::new();
    loop {
        match optimizer.ask() {
            Ok(suggestion) => {
                assert!(points.len() < most, "more suggestions than points");
                optimizer.tell(&suggestion.point, f(&suggestion.point)).unwrap();
                points.push(suggestion.point);
            }
            Err(error) => return (points, error),
        }
    }
}

#[test]
fn turns_methods_and_what_is_said_of_each_suggestion() {
    for preset in SMOOTH {
        let mut optimizer = after(mixed(preset, 3), 17);
        for n in 17..26 {
            let suggestion = optimizer.ask().unwrap();
            let chosen = suggestion.chosen.expect("the smooth process chose");
            let proven_turn = preset == Preset::Mixed && n >= 20 && n % 4 == 3;
            let in_cell = preset == Preset::Proven || proven_turn;
            assert_eq!(suggestion.method(), if in_cell { Method::Cell } else { Method::SmoothSearch });
            let improvement = n % 2 == 0 || proven_turn;
            assert_eq!(
                chosen.acquisition == Acquisition::LogExpectedImprovement,
                improvement,
                "{preset:?} {n}"
            );
            if !improvement {
                assert_eq!(chosen.acquisition, Acquisition::LowerBound { kappa: 2.0 });
            }
            // What is shown is what the process says at the point.
            let smooth = optimizer.smooth().unwrap();
            assert_eq!(smooth.predict(&suggestion.point).unwrap(), chosen.prediction);
            let posterior = smooth.process().posterior(&suggestion.point);
            assert_eq!(chosen.acquisition.value(posterior, smooth.process().best()), chosen.value);
            let json = suggestion.to_json(optimizer.problem());
            assert_eq!(
                (&json["mean"], &json["std"]),
                (&chosen.prediction.mean.into(), &chosen.prediction.std.into())
            );
            if let Some(proof) = &suggestion.proof {
                assert_eq!(proof.status, Status::Optimal);
                assert!(proof.region.contains(&suggestion.point) && proof.bound <= proof.acquisition);
                // The trees' own value at the point is the one that is proved.
                let value = optimizer.surrogate().unwrap().evaluate(&suggestion.point).unwrap().value;
                assert!((value - proof.acquisition).abs() < 1e-7);
                assert_eq!((&json["status"], &json["method"]), (&"optimal".into(), &"cell".into()));
                assert_eq!(json["acquisition"], proof.acquisition);
            } else {
                assert_eq!((&json["status"], &json["method"]), (&"local".into(), &"smooth search".into()));
                assert!(json["bound"].is_null() && json["gap"].is_null() && json["region"].is_null());
                assert_eq!(json["acquisition"], chosen.value);
                assert!(!json.to_string().contains("optimal"), "nothing is proved: {json}");
            }
            assert_eq!(
                json["smooth"]["acquisition"],
                if improvement { "expected improvement" } else { "lower bound" }
            );
            optimizer.tell(&suggestion.point, objective(&suggestion.point)).unwrap();
        }
    }
}

#[test]
fn the_trees_judge_a_free_step_by_a_proof_and_change_nothing_about_it() {
    for seed in 0..4 {
        let optimizer = after(mixed(Preset::Smooth, seed), 16 + seed as usize);
        let plain = optimizer.ask().unwrap();
        let asked = optimizer.ask_with(&Context { tree_excess: true, ..Context::default() }).unwrap();
        assert_eq!(asked.point, plain.point);
        assert_eq!(plain.chosen.unwrap().tree_excess, None);
        let excess = asked.chosen.unwrap().tree_excess.unwrap();
        let surrogate = optimizer.surrogate().unwrap();
        let value = |x: &[f64]| surrogate.evaluate(x).unwrap().value;
        let constraints = optimizer.problem().constraints();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let full = Region::full(constraints.domains());
        let mut feasible = 0;
        for _ in 0..3000 {
            let mut x = uniform(optimizer.problem(), &full, &mut rng);
            constraints.deactivate(&mut x);
            if constraints.is_feasible(&x, Tolerance::Produce) {
                feasible += 1;
                assert!(value(&x) >= value(&asked.point) - excess - 1e-9, "{x:?} is better by more");
            }
        }
        assert!(feasible > 100);
        // The paper's search finds the minimum: what is said is not far from the truth.
        let paper =
            again(&optimizer, |settings| settings.use_preset(Preset::Paper)).ask().unwrap().proof.unwrap();
        assert!(excess <= value(&asked.point) - paper.acquisition + 1e-3 * paper.acquisition.abs().max(1.0));
    }
}

#[test]
fn the_papers_preset_says_what_it_always_said() {
    let optimizer = after(mixed(Preset::Paper, 3), 22);
    let suggestion = optimizer.ask().unwrap();
    assert_eq!((suggestion.method(), suggestion.chosen), (Method::Cell, None));
    let json = suggestion.to_json(optimizer.problem());
    let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let mut known =
        ["point", "region", "mean", "std", "acquisition", "bound", "gap", "status", "stop_reason"];
    known.sort_unstable();
    let mut keys = keys;
    keys.sort_unstable();
    assert_eq!(keys, known);
    assert_eq!(json["mean"], suggestion.proof.unwrap().mean);
}

#[test]
fn suggestions_are_feasible_as_printed_and_never_the_same() {
    for preset in SMOOTH {
        for seed in 0..3 {
            let optimizer = after(mixed(preset, seed), 30);
            let (problem, rows) = (optimizer.problem(), optimizer.observations());
            for (i, row) in rows.iter().enumerate() {
                let printed: Vec<f64> = problem
                    .variables()
                    .iter()
                    .zip(&row.point)
                    .map(|(v, &x)| v.parse_value(&v.format_value(x)).unwrap())
                    .collect();
                assert_eq!(printed, row.point);
                assert!(
                    problem.constraints().is_feasible(&printed, Tolerance::Produce),
                    "{preset:?} {printed:?}"
                );
                assert!(2.0 * printed[0] + printed[2] <= 6.0 && (printed[1] != 1.0 || printed[0] <= 1.0));
                assert!(printed[1] == 2.0 || printed[4] == 0.0);
                assert!(
                    rows[..i].iter().all(|other| other.point != row.point),
                    "{preset:?} repeats {printed:?}"
                );
            }
        }
    }
}

#[test]
fn single_calls_batches_and_threads_give_the_same() {
    for preset in SMOOTH {
        let optimizer = after(mixed(preset, 5), 21);
        let batch = optimizer.ask_many(4, &Context::default()).unwrap();
        let mut single = again(&optimizer, |settings| settings.solver.threads = 1);
        let mut double = again(&optimizer, |settings| settings.solver.threads = 2);
        for suggestion in &batch {
            // A fresh optimiser each time, as single calls of the command are.
            for other in [&mut single, &mut double] {
                let alone = again(other, |_| {}).ask().unwrap();
                assert_eq!(&alone, suggestion, "{preset:?}");
                other.tell_outcome(&alone.point, Outcome::Pending).unwrap();
            }
        }
        // Pending rows count in the turns: 21, 22, 23, 24 rows.
        let methods: Vec<Method> = batch.iter().map(Suggestion::method).collect();
        use Method::{Cell, SmoothSearch};
        assert_eq!(
            methods,
            match preset {
                Preset::Mixed => [SmoothSearch, SmoothSearch, Cell, SmoothSearch],
                Preset::Proven => [Cell; 4],
                _ => [SmoothSearch; 4],
            }
        );
        let before = optimizer.smooth().unwrap();
        let pending = single.smooth().unwrap();
        for suggestion in &batch {
            let (a, b) =
                (before.predict(&suggestion.point).unwrap(), pending.predict(&suggestion.point).unwrap());
            assert!(b.std < a.std, "a planned experiment is believed");
        }
    }
}

#[test]
fn maximising_is_minimising_the_negative() {
    for preset in SMOOTH {
        let run = |goal: Goal, sign: f64| {
            let mut optimizer = Optimizer::new(mixed(preset, 11).with_goal(goal));
            for _ in 0..25 {
                let x = optimizer.ask().unwrap().point;
                optimizer.tell(&x, sign * objective(&x)).unwrap();
            }
            optimizer
        };
        let (down, up) = (run(Goal::Minimize, 1.0), run(Goal::Maximize, -1.0));
        for (a, b) in down.observations().iter().zip(up.observations()) {
            assert_eq!(a.point, b.point);
        }
        let (a, b) = (down.ask().unwrap().prediction().unwrap(), up.ask().unwrap().prediction().unwrap());
        assert_eq!((a.mean, a.std), (-b.mean, b.std));
    }
}

#[test]
fn an_agreement_limit_is_kept_by_cells_in_every_preset() {
    for preset in SMOOTH {
        let optimizer = after(mixed(preset, 7), 18);
        let limited = again(&optimizer, |settings| settings.max_agreement = Some(0.75));
        let suggestion = limited.ask().unwrap();
        if suggestion.method() == Method::Design {
            assert!(suggestion.note.unwrap().contains("max_agreement"));
            continue;
        }
        assert_eq!(suggestion.method(), Method::Cell);
        let surrogate = limited.surrogate().unwrap();
        let limit = surrogate.agreement_limit().unwrap();
        assert!(limit.allows(&surrogate.trees().forest, &suggestion.point));
    }
}

#[test]
fn failed_and_pending_points_are_not_suggested_again() {
    for preset in SMOOTH {
        for outcome in [Outcome::Failed, Outcome::Pending] {
            let mut optimizer = after(mixed(preset, 8), 12);
            for _ in 0..6 {
                let x = optimizer.ask().unwrap().point;
                assert!(optimizer.observations().iter().all(|row| row.point != x));
                optimizer.tell_outcome(&x, outcome).unwrap();
            }
        }
    }
}

#[test]
fn a_raised_flag_and_a_spent_clock_end_the_search_with_a_feasible_point_or_a_reason() {
    for preset in SMOOTH {
        for n in [19, 23] {
            let optimizer = after(mixed(preset, 2), n);
            let raised = Context { interrupt: Some(Arc::new(AtomicBool::new(true))), ..Context::default() };
            let spent = again(&optimizer, |settings| settings.solver.time_limit = 1e-9);
            for answer in [optimizer.ask_with(&raised), spent.ask()] {
                match answer {
                    Ok(suggestion) => {
                        let constraints = optimizer.problem().constraints();
                        assert!(constraints.is_feasible(&suggestion.point, Tolerance::Produce));
                        if let Some(proof) = &suggestion.proof {
                            assert_ne!(proof.status, Status::Optimal);
                            assert!(suggestion.note.unwrap().contains("not proved"));
                        }
                    }
                    Err(error) => assert!(matches!(error, EngineError::NoIncumbent { .. }), "{error:?}"),
                }
            }
        }
    }
}

#[test]
fn both_values_of_a_binary_variable_are_all_there_is() {
    for preset in SMOOTH {
        let binary = || Problem::builder("p").variable(Variable::binary("b"));
        let problem = binary().settings(settings(preset, 1)).build().unwrap();
        let (points, error) = exhaust(Optimizer::new(problem), 2, |x| x[0]);
        assert_eq!(points.len(), 2);
        assert!(matches!(error, EngineError::SpaceExhausted), "{error:?}");
        assert!(error.to_string().contains("exhausted"));
        // Values that leave nothing to learn, and failures, take points as well.
        let mut failing = Optimizer::new(binary().settings(settings(preset, 1)).build().unwrap());
        failing.tell_outcome(&[0.0], Outcome::Failed).unwrap();
        failing.tell(&[1.0], 3.0).unwrap();
        assert!(matches!(failing.ask(), Err(EngineError::SpaceExhausted)));
    }
}

#[test]
fn the_setting_repeats_decides_whether_a_point_comes_again() {
    let problem = |preset: Preset, repeats: bool| {
        let mut settings = settings(preset, 1);
        settings.repeats = repeats;
        settings.design.initial = 3;
        let build = Problem::builder("p").variable(Variable::integer("n", 0, 9)).settings(settings).build();
        build.unwrap()
    };
    let value = |x: &[f64]| (x[0] - 4.0).powi(2);
    for preset in [Preset::Paper, Preset::Proven, Preset::Smooth, Preset::Mixed] {
        let (points, error) = exhaust(Optimizer::new(problem(preset, false)), 10, value);
        assert_eq!(points.len(), 10, "{preset:?}");
        assert!(matches!(error, EngineError::SpaceExhausted));
        let mut repeating = Optimizer::new(problem(preset, true));
        for _ in 0..14 {
            let x = repeating.ask().unwrap().point;
            repeating.tell(&x, value(&x)).unwrap();
        }
        assert_eq!(repeating.best().unwrap().value, 0.0);
    }
}

#[test]
fn a_space_of_reals_that_constraints_make_finite_ends_as_well() {
    for preset in SMOOTH {
        let problem = Problem::builder("p")
            .variable(Variable::continuous("x", 0.0, 1.0))
            .variable(Variable::integer("n", 0, 4))
            .constraint("grid", "x == n / 4")
            .settings(settings(preset, 4))
            .build()
            .unwrap();
        let (points, error) = exhaust(Optimizer::new(problem), 5, |x| (x[0] - 0.6).abs());
        assert_eq!(points.len(), 5);
        assert!(matches!(error, EngineError::SpaceExhausted), "{error:?}");
    }
}

#[test]
fn the_best_triple_of_whole_numbers_is_found_within_twenty_experiments() {
    let solved = (1..=10).filter(|&seed| {
        let mut builder = Problem::builder("a").objective("y", Goal::Maximize);
        for name in ["m1", "m2", "m3"] {
            builder = builder.variable(Variable::integer(name, 1, 12));
        }
        let problem =
            builder.constraint("sum", "m1 + m2 + m3 <= 14").settings(settings(Preset::DEFAULT, seed));
        let mut optimizer = Optimizer::new(problem.build().unwrap());
        for _ in 0..20 {
            let x = optimizer.ask().unwrap().point;
            optimizer.tell(&x, 3.0 * x[0] + 2.0 * x[1] + 4.0 * x[2]).unwrap();
        }
        optimizer.best().unwrap().value == 53.0
    });
    assert!(solved.count() >= 9);
}

#[test]
fn a_product_of_whole_numbers_beside_a_real_is_solved_within_forty_experiments() {
    let solved = (1..=10).filter(|&seed| {
        let problem = Problem::builder("b")
            .variable(Variable::integer("nx", 1, 40))
            .variable(Variable::integer("ny", 1, 40))
            .variable(Variable::continuous("s", 0.5, 2.0))
            .constraint("product", "nx * ny <= 48")
            .settings(settings(Preset::DEFAULT, seed));
        let mut optimizer = Optimizer::new(problem.build().unwrap());
        for _ in 0..40 {
            let x = optimizer.ask().unwrap().point;
            let value = (x[0] - 7.0).powi(2) + (x[1] - 7.0).powi(2) + (x[2] - 1.0).powi(2);
            optimizer.tell(&x, value).unwrap();
        }
        optimizer.best().unwrap().value <= 1.01
    });
    assert!(solved.count() >= 9);
}
