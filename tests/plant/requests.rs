//! Values that are fixed, lists to choose from, one value through a batch, and the order of labels.

use leafgp::engine::{Context, EngineError, LeftOut, Method, Optimizer, Request, Suggestion};
use leafgp::history::Outcome;
use leafgp::problem::{Preset, Problem, Variable};
use leafgp::solver::constraints::{Decision, Tolerance};
use leafgp::solver::{Range, Region};

use crate::{PRESETS, SOLVENTS, assert_feasible, coating, gloss, optimizer, with_preset};

fn asked(optimizer: &Optimizer, request: &Request, n: usize) -> Vec<Suggestion> {
    let answer = optimizer.ask_for(request, n, &Context::default()).unwrap_or_else(|e| panic!("{e}"));
    assert!(answer.fewer_because.is_none(), "{:?}", answer.fewer_because);
    assert_eq!(answer.suggestions.len(), n);
    answer.suggestions
}

#[test]
fn a_fix_is_a_box_of_exactly_that_value() {
    // Whatever digits the value has: propagation must not widen it, nor lose it.
    for k in 0..200 {
        let value = (f64::from(k) * 0.618_033_988_749_895).fract() * 10f64.powi(k % 7 - 3);
        let problem = Problem::builder("p")
            .variable(Variable::continuous("x", -20_000.0, 20_000.0))
            .variable(Variable::continuous("y", 0.0, 1.0))
            .build()
            .unwrap();
        for value in [value, -value] {
            let fixed = problem.with_fixed(&[(0, value)]).unwrap();
            let mut region = Region::full(fixed.constraints().domains());
            assert!(fixed.constraints().contract(&mut region));
            assert_eq!(region.0[0], Range::Interval { lower: value, upper: value });
            let point = fixed.constraints().decide(&fixed.region(), Default::default());
            assert!(matches!(point, Decision::Feasible(x) if x[0] == value));
        }
    }
}

#[test]
fn fixed_values_hold_exactly_in_every_preset_and_every_kind_of_step() {
    let fixes = [
        vec![("temperature", 61.7)],
        vec![("solvent", 1.0)],
        vec![("temperature", 95.0), ("solvent", 1.0)],
        vec![("filler", 0.35), ("passes", 2.0)],
        vec![("temperature", 33.3), ("filler", 0.05), ("passes", 5.0)],
    ];
    for preset in PRESETS {
        for n_rows in [0, 23] {
            let problem = with_preset(coating(), preset);
            let mut optimizer = optimizer(problem.clone(), n_rows, gloss);
            // Pending rows count.
            optimizer.tell_outcome(&[61.7, 0.35, 2.0, 1.0], Outcome::Pending).unwrap();
            for fixes in &fixes {
                let request = fixes
                    .iter()
                    .fold(Request::default(), |request, &(name, value)| request.fixed(name, value));
                let n = if fixes.len() == 3 { 3 } else { 4 };
                let suggestions = asked(&optimizer, &request, n);
                for (i, suggestion) in suggestions.iter().enumerate() {
                    let x = &suggestion.point;
                    assert_feasible(&problem, x);
                    for &(name, value) in fixes {
                        assert_eq!(x[problem.index_of(name).unwrap()], value, "{preset:?} {x:?}");
                    }
                    if let Some(proof) = &suggestion.proof {
                        assert!(proof.region.contains(x), "{proof:?}");
                    }
                    assert!(suggestions[..i].iter().all(|other| other.point != *x), "{preset:?} {x:?}");
                    assert!(*x != [61.7, 0.35, 2.0, 1.0]);
                }
            }
            let note = |s: &Suggestion| s.method();
            let free = asked(&optimizer, &Request::default(), 1);
            assert_eq!(note(&free[0]), note(&optimizer.ask().unwrap()));
        }
    }
}

/// 6 x 5 x 3 points, of which a rule takes some.
fn finite(preset: Preset) -> Problem {
    let builder = Problem::builder("finite")
        .variable(Variable::integer("a", 0, 5))
        .variable(Variable::discrete("d", [0.0, 1.0, 2.5, 4.0, 8.0]))
        .variable(Variable::categorical("c", ["n", "m", "k"]))
        .constraint("sum", "a + d <= 9")
        .constraint("pair", "c == 'm' implies a >= 2");
    with_preset(builder, preset)
}

fn all_points(problem: &Problem) -> Vec<Vec<f64>> {
    let mut points = Vec::new();
    for a in 0..6 {
        for d in [0.0, 1.0, 2.5, 4.0, 8.0] {
            for c in 0..3 {
                let x = vec![f64::from(a), d, f64::from(c)];
                if problem.constraints().is_feasible(&x, Tolerance::Produce) {
                    points.push(x);
                }
            }
        }
    }
    points
}

fn value(x: &[f64]) -> f64 {
    (x[0] - 3.0).powi(2) + (x[1] - 2.0).abs() + 2.0 * x[2] + 0.3 * x[0] * x[1]
}

#[test]
fn the_proof_under_a_fix_is_the_minimum_over_the_points_with_it() {
    for preset in [Preset::Paper, Preset::Proven] {
        let problem = finite(preset);
        // In the order of the labels, so that the surrogate asked here is the one that chose.
        let optimizer = optimizer(problem.clone(), 14, |_, x| value(x));
        let surrogate = optimizer.surrogate().unwrap();
        for (name, fixed) in [("a", 1.0), ("a", 5.0), ("d", 2.5), ("d", 8.0), ("c", 0.0), ("c", 1.0)] {
            let i = problem.index_of(name).unwrap();
            let suggestion = &asked(&optimizer, &Request::default().fixed(name, fixed), 1)[0];
            let Some(proof) = &suggestion.proof else { panic!("{preset:?} {name} {:?}", suggestion.note) };
            let least = all_points(&problem)
                .iter()
                .filter(|x| x[i] == fixed)
                .map(|x| surrogate.evaluate(x).unwrap().value)
                .fold(f64::INFINITY, f64::min);
            // A better cell without a new point may have been passed over.
            if suggestion.note.is_none() {
                assert!((proof.acquisition - least).abs() <= 1e-4 * least.abs() + 1e-9, "{proof:?} {least}");
            }
            assert!(proof.bound <= least + 1e-9 || suggestion.note.is_some(), "{proof:?} {least}");
            assert_eq!(suggestion.point[i], fixed);
        }
    }
}

#[test]
fn an_impossible_fix_is_named_with_what_excludes_it() {
    let optimizer = optimizer(with_preset(coating(), Preset::Mixed), 8, gloss);
    let refused = |request: Request| optimizer.ask_for(&request, 1, &Context::default()).unwrap_err();
    let fix = |name: &str, value: f64| Request::default().fixed(name, value);
    for (request, parts) in [
        (fix("temperature", 200.0), vec!["temperature cannot be fixed at 200", "in [20, 180]"]),
        (fix("filler", 0.52), vec!["filler", "0.52", "steps of 0.05"]),
        (fix("solvent", 3.0), vec!["solvent", "\"xylene\""]),
        (fix("temprature", 50.0), vec!["temprature", "did you mean `temperature`"]),
        (fix("passes", 2.0).fixed("passes", 3.0), vec!["passes", "both 2 and 3"]),
        (Request::default().same("solvnt"), vec!["did you mean `solvent`"]),
    ] {
        let error = refused(request);
        assert!(matches!(error, EngineError::BadRequest { .. }), "{error:?}");
        for part in parts {
            assert!(error.to_string().contains(part), "{part}: {error}");
        }
    }
    let EngineError::Infeasible { conflict } = refused(fix("temperature", 120.0).fixed("solvent", 1.0))
    else {
        panic!("water boils at 120");
    };
    assert_eq!(conflict, ["water boils", "temperature = 120 (fixed)", "solvent = water (fixed)"]);
    let EngineError::Infeasible { conflict } = refused(fix("filler", 0.6).fixed("passes", 3.0)) else {
        panic!("0.6 + 0.3 > 0.8");
    };
    assert_eq!(conflict, ["thin", "filler = 0.6 (fixed)", "passes = 3 (fixed)"]);
}

#[test]
fn exhaustion_with_a_fix_says_so_and_the_rest_of_the_space_is_open() {
    for preset in PRESETS {
        let problem = finite(preset).adjusted(|settings| settings.repeats = false).unwrap();
        let mut optimizer = optimizer(problem.clone(), 7, |_, x| value(x));
        let request = Request::default().fixed("a", 1.0).fixed("c", 0.0);
        let answer = optimizer.ask_for(&request, 30, &Context::default()).unwrap();
        let known = |x: &[f64]| optimizer.observations().iter().any(|row| row.point == x);
        let with_it = all_points(&problem).into_iter().filter(|x| x[0] == 1.0 && x[2] == 0.0 && !known(x));
        assert_eq!(
            answer.suggestions.len(),
            with_it.count(),
            "{preset:?}: every point that is left, and no other"
        );
        let why = answer.fewer_because.expect("fewer than 30");
        assert!(why.to_string().contains("exhausted with a = 1, c = n"), "{why}");
        for suggestion in &answer.suggestions {
            optimizer.tell(&suggestion.point, value(&suggestion.point)).unwrap();
        }
        let error = optimizer.ask_for(&request, 1, &Context::default()).unwrap_err();
        assert!(matches!(error, EngineError::ExhaustedWith { .. }), "{error:?}");
        assert!(optimizer.ask().is_ok());
    }
}

#[test]
fn one_value_through_a_batch() {
    for preset in PRESETS {
        for n_rows in [0, 12] {
            let problem = with_preset(coating(), preset);
            let optimizer = optimizer(problem.clone(), n_rows, gloss);
            let request = Request::default().same("temperature").same("solvent").fixed("passes", 2.0);
            let suggestions = asked(&optimizer, &request, 4);
            let first = &suggestions[0].point;
            for (i, suggestion) in suggestions.iter().enumerate() {
                let x = &suggestion.point;
                assert_feasible(&problem, x);
                assert_eq!((x[0], x[2], x[3]), (first[0], 2.0, first[3]), "{preset:?} {n_rows}");
                assert!(suggestions[..i].iter().all(|other| other.point != *x));
            }
            // The first one is what it would be alone.
            let alone = Request::default().fixed("passes", 2.0);
            assert_eq!(asked(&optimizer, &alone, 1)[0].point, *first);
        }
    }
}

fn candidates() -> Vec<Vec<f64>> {
    let mut points = vec![
        vec![120.0, 0.1, 1.0, 1.0], // water boils
        vec![50.0, 0.6, 5.0, 0.0],  // thin
        vec![50.0, 0.12, 1.0, 0.0], // beside the grid
        vec![300.0, 0.1, 1.0, 0.0], // outside
        // What 0.3 is after a sum in f64.
        vec![90.0, 0.1 + 0.2, 1.0, 0.0],
    ];
    for k in 0..40 {
        let t = 20.0 + 4.0 * f64::from(k % 17);
        points.push(vec![t, f64::from(5 * (k % 7)) / 100.0, f64::from(1 + k % 4), f64::from(k % 3)]);
    }
    points
}

#[test]
fn the_best_of_a_list_is_the_best_by_evaluation() {
    for preset in PRESETS {
        let problem = with_preset(coating(), preset);
        // 21 rows: the bound; 22: expected improvement; 23: the proven turn of the mix.
        for n_rows in [21, 22, 23] {
            let optimizer = optimizer(problem.clone(), n_rows, gloss);
            let points = candidates();
            let answer =
                optimizer.ask_for(&Request::default().among(points.clone()), 1, &Context::default()).unwrap();
            for (i, rules) in [
                (0, "water boils".to_owned()),
                (1, "thin".to_owned()),
                (2, "filler = 0.12 (not 0 to 0.6 in steps of 0.05)".to_owned()),
                (3, "temperature = 300 (not a number in [20, 180])".to_owned()),
            ] {
                assert_eq!(answer.left_out[i], Some(LeftOut::Infeasible(vec![rules])));
            }
            let suggestion = &answer.suggestions[0];
            let listed = suggestion.listed.expect("chosen from a list");
            assert_eq!(suggestion.method(), Method::Listed);
            assert!((suggestion.point[1] - points[listed.index][1]).abs() < 1e-9);
            // Written out: the score of every open candidate by the models themselves.
            let open: Vec<&Vec<f64>> = points
                .iter()
                .zip(&answer.left_out)
                .filter(|(_, out)| out.is_none())
                .map(|(x, _)| x)
                .collect();
            assert_eq!(listed.n_open, open.len());
            let score = listed.score.unwrap();
            let by_trees = preset == Preset::Paper
                || preset == Preset::Proven
                || (preset == Preset::Mixed && n_rows == 23);
            if by_trees {
                let surrogate = optimizer.surrogate().unwrap();
                let least =
                    open.iter().map(|x| surrogate.evaluate(x).unwrap().value).fold(f64::INFINITY, f64::min);
                // The trees see the labels in their own order: equal up to the last digits.
                assert!(
                    (score.acquisition - least).abs() <= 1e-6 * least.abs().max(1.0),
                    "{preset:?} {score:?} {least}"
                );
            } else if n_rows == 21 {
                let smooth = optimizer.smooth().unwrap();
                let bound = |x: &&Vec<f64>| {
                    let posterior = smooth.process().posterior(x);
                    posterior.mean - 2.0 * posterior.deviation()
                };
                let least = open.iter().map(bound).fold(f64::INFINITY, f64::min);
                assert!(
                    (score.acquisition - least).abs() <= 1e-6 * least.abs().max(1.0),
                    "{preset:?} {score:?} {least}"
                );
            }
        }
    }
}

#[test]
fn a_batch_out_of_a_list_takes_each_once_and_says_when_none_is_left() {
    for preset in PRESETS {
        for n_rows in [0, 10] {
            let problem = with_preset(coating(), preset);
            let mut optimizer = optimizer(problem.clone(), n_rows, gloss);
            let points: Vec<Vec<f64>> = candidates().into_iter().take(15).collect();
            let n_feasible = points.len() - 4;
            optimizer.tell_outcome(&points[5], Outcome::Pending).unwrap();
            let request = Request::default().among(points.clone());
            let answer = optimizer.ask_for(&request, 30, &Context::default()).unwrap();
            assert_eq!(answer.suggestions.len(), n_feasible - 1, "{preset:?}");
            assert_eq!(answer.left_out[5], Some(LeftOut::Taken));
            for (i, suggestion) in answer.suggestions.iter().enumerate() {
                assert!(suggestion.point[1] == 0.3 || points[5..].contains(&suggestion.point));
                assert!(suggestion.point != points[5]);
                assert!(answer.suggestions[..i].iter().all(|other| other.point != suggestion.point));
            }
            let why = answer.fewer_because.unwrap();
            assert!(
                why.to_string()
                    .contains(&format!("of 15, {n_feasible} hold an experiment already, 4 are not feasible")),
                "{why}"
            );
            // With a fix: the candidates with it, and no others.
            let fixed = request.clone().fixed("solvent", 1.0);
            let answer = optimizer.ask_for(&fixed, 30, &Context::default()).unwrap();
            assert!(answer.suggestions.iter().all(|s| s.point[3] == 1.0));
            let n = points[4..].iter().filter(|x| x[3] == 1.0 && **x != points[5]).count();
            assert_eq!(answer.suggestions.len(), n);
            // One value through the batch.
            let same = request.same("passes");
            let answer = optimizer.ask_for(&same, 3, &Context::default()).unwrap();
            let passes = answer.suggestions[0].point[2];
            assert!(answer.suggestions.iter().all(|s| s.point[2] == passes));
        }
    }
    let optimizer = optimizer(with_preset(coating(), Preset::Mixed), 3, gloss);
    let none = optimizer.ask_for(&Request::default().among(Vec::new()), 1, &Context::default()).unwrap_err();
    assert!(matches!(none, EngineError::NoCandidate { .. }), "{none:?}");
    let bad =
        optimizer.ask_for(&Request::default().among(vec![vec![1.0]]), 1, &Context::default()).unwrap_err();
    assert!(matches!(bad, EngineError::BadCandidate { index: 0, .. }), "{bad:?}");
}

#[test]
fn the_first_choices_out_of_a_list_lie_far_apart() {
    let problem =
        with_preset(Problem::builder("line").variable(Variable::continuous("x", 0.0, 10.0)), Preset::Mixed);
    let mut optimizer = Optimizer::new(problem);
    let points: Vec<Vec<f64>> = (0..=10).map(|k| vec![f64::from(k)]).collect();
    optimizer.tell(&[0.0], 1.0).unwrap();
    let answer = optimizer.ask_for(&Request::default().among(points), 3, &Context::default()).unwrap();
    let chosen: Vec<f64> = answer.suggestions.iter().map(|s| s.point[0]).collect();
    // The other end, the middle, and one of the quarters.
    assert_eq!(chosen[..2], [10.0, 5.0]);
    assert!([2.0, 3.0, 7.0, 8.0].contains(&chosen[2]), "{chosen:?}");
}

#[test]
fn the_order_of_labels_changes_nothing() {
    let orders = [[0, 1, 2], [2, 1, 0], [1, 2, 0]];
    for preset in PRESETS {
        for n_rows in [0, 7, 22, 23] {
            let mut answers: Vec<Vec<(String, String)>> = Vec::new();
            for order in orders {
                let labels = order.map(|i| SOLVENTS[i]);
                let kinds = order.map(|i| ["l10", "l9", "l1"][i]);
                let builder = Problem::builder("p")
                    .variable(Variable::categorical("solvent", labels))
                    .variable(Variable::continuous("x", 0.0, 1.0))
                    .variable(Variable::categorical("kind", kinds))
                    .constraint("k", "solvent == 'water' implies x <= 0.6");
                let problem = with_preset(builder, preset);
                let mut optimizer = Optimizer::new(problem.clone());
                for k in 0..n_rows {
                    let (solvent, kind) = (SOLVENTS[k % 3], ["l10", "l9", "l1"][(k / 3) % 3]);
                    let x = (0.377 * k as f64).fract() * 0.6;
                    let point = [
                        problem.variables()[0].parse_value(solvent).unwrap(),
                        x,
                        problem.variables()[2].parse_value(kind).unwrap(),
                    ];
                    let bonus = solvent.len() as f64 - kind.len() as f64;
                    optimizer.tell(&point, (x - 0.4).powi(2) * 5.0 + 0.1 * bonus).unwrap();
                }
                let said = |x: &[f64]| -> String {
                    problem.variables().iter().zip(x).map(|(v, &x)| v.format_value(x) + ";").collect()
                };
                let suggestions = asked(&optimizer, &Request::default().fixed("x", 0.25), 2);
                let free = asked(&optimizer, &Request::default(), 3);
                let all = suggestions.iter().chain(&free).map(|s| {
                    let mut json = s.to_json(&problem);
                    // Levels of a box are listed in the problem's order.
                    for name in ["solvent", "kind"] {
                        if let Some(levels) = json["region"][name].as_array_mut() {
                            levels.sort_by_key(ToString::to_string);
                        }
                    }
                    (said(&s.point), json.to_string())
                });
                answers.push(all.collect());
            }
            for other in &answers[1..] {
                assert_eq!(*other, answers[0], "{preset:?} after {n_rows} rows");
            }
        }
    }
}
