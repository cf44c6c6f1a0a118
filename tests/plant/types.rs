//! Semi-continuous variables, decimals, constants, targets, and levels that come and go.

use leafgp::engine::{Optimizer, Request};
use leafgp::history::{History, Outcome, judge};
use leafgp::problem::{Goal, Preset, Problem, Variable};

use crate::{PRESETS, ask, assert_feasible, optimizer, with_preset};

/// Runs a loop of so many steps.
fn run(problem: &Problem, steps: usize, f: impl Fn(&[f64]) -> f64) -> Optimizer {
    let mut optimizer = Optimizer::new(problem.clone());
    for _ in 0..steps {
        let x = ask(&optimizer).point;
        assert_feasible(problem, &x);
        optimizer.tell(&x, f(&x)).unwrap();
    }
    optimizer
}

#[test]
fn semi_continuous_variables_are_zero_or_within_and_both_are_tried() {
    for preset in PRESETS {
        let problem = with_preset(
            Problem::builder("doses")
                .variable(Variable::semi_continuous("a", 0.5, 8.0))
                .variable(Variable::semi_continuous("b", -4.0, -1.0))
                .variable(Variable::semi_continuous("c", 2.0, 5.0))
                .variable(Variable::continuous("x", 0.0, 1.0))
                .constraint("some", "a + c >= 1"),
            preset,
        );
        // Best without b, with a little of a, and c at its middle: 0 at a = 1.5, b = 0, c = 3, x = 0.3.
        let f = |p: &[f64]| {
            (p[0] - 1.5).powi(2) / 8.0 + p[1].abs() / 2.0 + (p[2] - 3.0).powi(2) / 4.0 + (p[3] - 0.3).powi(2)
        };
        let optimizer = run(&problem, 30, f);
        let points: Vec<&Vec<f64>> = optimizer.observations().iter().map(|row| &row.point).collect();
        for x in &points {
            assert!(x[0] == 0.0 || (0.5..=8.0).contains(&x[0]), "{x:?}");
            assert!(x[1] == 0.0 || (-4.0..=-1.0).contains(&x[1]), "{x:?}");
            assert!(x[2] == 0.0 || (2.0..=5.0).contains(&x[2]), "{x:?}");
        }
        for i in 0..3 {
            let zeros = points.iter().filter(|x| x[i] == 0.0).count();
            assert!(zeros > 0 && zeros < points.len(), "{preset:?}: {zeros} zeros of variable {i}");
            let first = points[..5].iter().filter(|x| x[i] == 0.0).count();
            assert!(
                (1..=4).contains(&first),
                "{preset:?}: {first} zeros of variable {i} in the first design"
            );
        }
        let best = optimizer.best().unwrap();
        if preset != Preset::Paper && preset != Preset::Proven {
            assert!(best.value < 0.2 && best.point[1] == 0.0, "{preset:?} {best:?}");
        }
    }
}

#[test]
fn rows_in_the_gap_of_a_semi_continuous_variable_train_and_are_never_best() {
    let problem =
        with_preset(Problem::builder("p").variable(Variable::semi_continuous("a", 0.5, 8.0)), Preset::Mixed);
    let mut optimizer = Optimizer::new(problem.clone());
    optimizer.tell(&[0.25], -5.0).unwrap();
    optimizer.tell(&[0.0], 1.0).unwrap();
    optimizer.tell(&[0.5], 2.0).unwrap();
    assert_eq!(optimizer.best().unwrap().row, 1);
    assert!(optimizer.smooth().unwrap().predict(&[0.25]).unwrap().mean < 0.0, "it is learnt from");
    let fixed = optimizer.ask_for(&Request::default().fixed("a", 0.25), 1, &Default::default()).unwrap_err();
    assert!(fixed.to_string().contains("0 or a number in [0.5, 8]"), "{fixed}");
}

#[test]
fn decimals_are_those_of_suggestions_and_measured_rows_may_have_any() {
    for preset in PRESETS {
        let problem = with_preset(
            Problem::builder("recipe")
                .variable(Variable::decimal("a", 0.25, 8.0, 1).unwrap())
                .variable(Variable::decimal("b", 0.0, 100.0, 0).unwrap())
                .variable(Variable::decimal("c", 0.001, 0.5, 3).unwrap().log())
                .constraint("sum", "a + b <= 60")
                .constraint("ratio", "b >= 3 * a"),
            preset,
        );
        let optimizer = run(&problem, 14, |x| (x[0] - 3.17).powi(2) + (x[1] - 31.4).powi(2) / 100.0 + x[2]);
        for row in optimizer.observations() {
            let texts: Vec<String> =
                problem.variables().iter().zip(&row.point).map(|(v, &x)| v.format_value(x)).collect();
            for (text, decimals) in texts.iter().zip([1, 0, 3]) {
                let found = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
                assert_eq!(found, decimals, "{texts:?}");
            }
            // As printed, it is the point.
            let read: Vec<f64> = texts.iter().map(|text| text.parse().unwrap()).collect();
            assert_eq!(read, row.point);
        }
    }
    let problem = Problem::builder("p")
        .variable(Variable::decimal("a", 0.25, 8.0, 1).unwrap())
        .variable(Variable::decimal("b", 0.0, 1.0, 2).unwrap())
        .build()
        .unwrap();
    // On no grid, and without a word: not even at the ends, which one decimal cannot write.
    for x in [[1.83, 0.123_456], [0.26, 1.0 / 3.0], [7.99, 0.5]] {
        let judgement = judge(&problem, &x);
        assert_eq!(judgement, Default::default(), "{x:?}");
    }
    assert_eq!(judge(&problem, &[0.24, 0.5]).outside.len(), 1);
    let mut history = History::new();
    history.push(&problem, &[1.83, 0.123_456], Outcome::Done(1.0)).unwrap();
    assert_eq!(history.rows[0].point, [1.83, 0.123_456]);
    assert!(history.rows[0].is_eligible());
}

#[test]
fn constants_are_variables_like_others() {
    for preset in PRESETS {
        let problem = with_preset(
            Problem::builder("p")
                .variable(Variable::continuous("k", 2.0, 2.0))
                .variable(Variable::integer("n", 3, 3))
                .variable(Variable::grid("g", 0.3, 0.3, 0.1).unwrap())
                .variable(Variable::discrete("d", [0.7]))
                .variable(Variable::categorical("c", ["only"]))
                .variable(Variable::continuous("x", 0.0, 1.0))
                .constraint("r", "k * x + n <= 4.2"),
            preset,
        );
        let optimizer = run(&problem, 12, |x| (x[5] - 0.35).powi(2));
        assert!(optimizer.observations().iter().all(|row| row.point[..5] == [2.0, 3.0, 0.3, 0.7, 0.0]));
        assert!(optimizer.best().unwrap().value < 0.02, "{preset:?} {:?}", optimizer.best());
    }
    // Rows from before it was one train, and lie outside.
    let problem = with_preset(
        Problem::builder("p")
            .variable(Variable::continuous("k", 2.0, 2.0))
            .variable(Variable::integer("n", 0, 9)),
        Preset::Mixed,
    );
    let mut optimizer = Optimizer::new(problem);
    for (k, n, y) in [(1.0, 2.0, 0.5), (3.0, 4.0, 0.1), (2.0, 5.0, 0.7), (2.0, 7.0, 0.9), (2.0, 1.0, 0.6)] {
        optimizer.tell(&[k, n], y).unwrap();
    }
    assert_eq!(optimizer.best().unwrap().row, 4, "0.1 and 0.5 lie outside");
    assert_eq!(ask(&optimizer).point[0], 2.0);
}

#[test]
fn a_target_is_sought_from_both_sides() {
    for preset in PRESETS {
        let problem = with_preset(
            Problem::builder("p")
                .objective("pH", Goal::Target(7.5))
                .variable(Variable::continuous("x", 0.0, 10.0))
                .variable(Variable::continuous("y", 0.0, 1.0)),
            preset,
        );
        let ph = |x: &[f64]| 3.0 + x[0] - 2.0 * x[1];
        let optimizer = run(&problem, 20, ph);
        let best = optimizer.best().unwrap();
        let least = optimizer
            .observations()
            .iter()
            .map(|row| (row.value().unwrap() - 7.5).abs())
            .fold(f64::INFINITY, f64::min);
        assert_eq!((best.value - 7.5).abs(), least);
        assert!(least < 0.4, "{preset:?} {least}");
        assert!((ph(&best.point) - best.value).abs() < 1e-12, "values are told as measured");
        // The models predict distances.
        let model = optimizer.model().unwrap();
        let far = model.predict(&[0.0, 1.0]).unwrap();
        let near = model.predict(&best.point).unwrap();
        assert!(near.mean >= 0.0 && far.mean > near.mean + 1.0, "{preset:?} {far:?} {near:?}");
        for row in optimizer.observations().iter().take(5) {
            let (distance, expected) =
                ((row.value().unwrap() - 7.5).abs(), model.predict(&row.point).unwrap());
            let by_trees = preset == Preset::Paper;
            assert!(by_trees || (expected.mean - distance).abs() < 1.0, "{preset:?} {distance} {expected:?}");
        }
    }
    assert_eq!(Goal::Target(7.5).best([Some(9.0), None, Some(6.5), Some(8.5)]), Some((2, 6.5)));
}

#[test]
fn rows_with_a_removed_level_train_and_the_level_is_never_suggested_again() {
    for preset in PRESETS {
        let before = Problem::builder("p")
            .variable(Variable::continuous("x", 0.0, 1.0))
            .variable(Variable::categorical("c", ["ether", "water", "xylene"]));
        // Ether is by far the best.
        let f = |problem: &Problem, x: &[f64]| {
            let c = problem.variables()[1].format_value(x[1]);
            (x[0] - 0.5).powi(2) + if c == "ether" { 0.0 } else { 5.0 + c.len() as f64 }
        };
        let old = optimizer(with_preset(before, preset), 12, f);
        let after = Variable::categorical("c", ["water", "xylene"]).removed(["ether"]);
        let after = Problem::builder("p").variable(Variable::continuous("x", 0.0, 1.0)).variable(after);
        let after = with_preset(after, preset);
        let mut optimizer = Optimizer::new(after.clone());
        for row in old.observations() {
            let level = old.problem().variables()[1].format_value(row.point[1]);
            let level = after.variables()[1].parse_value(&level).unwrap();
            optimizer.tell(&[row.point[0], level], row.value().unwrap()).unwrap();
        }
        let ether = after.variables()[1].parse_value("ether").unwrap();
        assert!(optimizer.observations().iter().any(|row| row.point[1] == ether && !row.is_eligible()));
        assert!(optimizer.best().unwrap().point[1] != ether);
        assert!(optimizer.model().unwrap().predict(&[0.5, ether]).unwrap().mean < 3.0, "it is learnt from");
        for _ in 0..10 {
            let x = ask(&optimizer).point;
            assert!(x[1] != ether, "{preset:?} {x:?}");
            assert_feasible(&after, &x);
            optimizer.tell(&x, f(&after, &x)).unwrap();
        }
    }
}

#[test]
fn a_new_level_is_tried_within_a_few_asks() {
    for preset in PRESETS {
        for n_rows in [10, 24] {
            let with = |levels: &[&str]| {
                let builder = Problem::builder("p")
                    .variable(Variable::continuous("x", 0.0, 1.0))
                    .variable(Variable::continuous("y", 0.0, 1.0))
                    .variable(Variable::categorical("c", levels.iter().copied()));
                with_preset(builder, preset)
            };
            let f = |_: &Problem, x: &[f64]| (x[0] - 0.4).powi(2) + (x[1] - 0.6).powi(2) + 0.3 * x[2];
            let old = optimizer(with(&["a", "b", "c"]), n_rows, f);
            let problem = with(&["a", "b", "c", "d"]);
            let mut optimizer = Optimizer::new(problem.clone());
            for row in old.observations() {
                optimizer.tell(&row.point, row.value().unwrap()).unwrap();
            }
            // The smooth process is drawn to it; the trees alone need to be told.
            let by_trees = matches!(preset, Preset::Paper | Preset::Proven);
            let told = problem.clone().adjusted(|settings| settings.untried_levels = by_trees).unwrap();
            let mut optimizer = Optimizer::with_history(told, &history_of(&optimizer)).unwrap();
            let mut asks = 0;
            loop {
                asks += 1;
                assert!(asks <= 4, "{preset:?} after {n_rows} rows: not tried");
                let x = ask(&optimizer).point;
                if x[2] == 3.0 {
                    break;
                }
                optimizer.tell(&x, f(&problem, &x)).unwrap();
            }
        }
    }
}

fn history_of(optimizer: &Optimizer) -> History {
    let mut history = History::new();
    history.rows = optimizer.observations().to_vec();
    history
}

#[test]
fn a_level_that_no_feasible_point_has_is_passed_over() {
    for preset in PRESETS {
        let builder = Problem::builder("p")
            .variable(Variable::continuous("x", 0.0, 1.0))
            .variable(Variable::categorical("c", ["a", "b", "never", "new"]))
            .constraint("no", "c == 'never' implies x >= 2");
        let problem =
            with_preset(builder, preset).adjusted(|settings| settings.untried_levels = true).unwrap();
        let mut optimizer = Optimizer::new(problem);
        for k in 0..9 {
            optimizer.tell(&[f64::from(k) / 10.0, f64::from(k % 2)], f64::from(k)).unwrap();
        }
        let suggestion = ask(&optimizer);
        assert_eq!(suggestion.point[1], 3.0, "{preset:?}");
        assert!(suggestion.note.unwrap().contains("c = new: no experiment had this level"));
    }
}
