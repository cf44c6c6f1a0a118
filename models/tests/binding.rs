//! Features and variables by name, categories by label, boxes from a table, constraints.

mod support;

use leafgp_constraints::{ConstraintsBuilder, Domain, Tolerance, Variable};
use leafgp_models::{Binding, Column, Ensemble, FeatureKind, Goal, ReadOptions, Space, variables_from_table};
use leafgp_solver::{SearchOptions, Status};
use support::{golden, open};

fn number(name: &str, lower: f64, upper: f64) -> Variable {
    Variable { name: name.into(), domain: Domain::Continuous { lower, upper }, level_names: Vec::new() }
}

fn category(name: &str, levels: &[&str]) -> Variable {
    let level_names = levels.iter().map(|level| (*level).to_string()).collect();
    Variable { name: name.into(), domain: Domain::Categorical { levels: levels.len() }, level_names }
}

/// The variables of the models with categories, in another order than theirs.
fn mixed() -> Vec<Variable> {
    vec![
        category("grade", &["9", "3"]),
        number("dose", -1.0, 2.0),
        category("metal", &["zinc", "alu", "lead"]),
        number("load", -5.0, 5.0),
        number("speed", 0.0, 10.0),
    ]
}

#[test]
fn labels_of_every_library_are_read() {
    for name in ["lgb-categories.txt", "xgb-onehot.json", "xgb-partition.ubj", "cat-onehot.json"] {
        let model = open(&golden().join(name));
        let metal = model.features().iter().find(|feature| feature.name == "metal").unwrap();
        let FeatureKind::Categorical { labels: Some(labels) } = &metal.kind else {
            panic!("{name}: {metal:?}")
        };
        for label in ["alu", "chrome", "copper", "iron", "lead", "nickel", "tin", "zinc"] {
            assert!(labels.iter().any(|known| known == label), "{name}: {labels:?}");
        }
        let binding = Binding::by_name(&model, &mixed()).unwrap();
        let features = binding.features_of(&[1.0, 0.5, 2.0, -1.0, 7.0]);
        let code = |feature: usize, label: &str| model.features()[feature].code(label).unwrap() as f64;
        assert_eq!(features, [7.0, code(1, "lead"), -1.0, code(3, "3"), 0.5], "{name}");
    }
}

#[test]
fn a_mismatch_is_refused_with_both_lists() {
    let model = open(&golden().join("lgb-categories.txt"));
    let refused = |change: &dyn Fn(&mut Vec<Variable>)| {
        let mut variables = mixed();
        change(&mut variables);
        Binding::by_name(&model, &variables).unwrap_err().to_string()
    };
    let error = refused(&|v| v[4].name = "velocity".into());
    assert!(error.contains("no variable is called \"speed\""), "{error}");
    assert!(error.contains("\"metal\"") && error.contains("\"velocity\""), "{error}");
    let error = refused(&|v| v[2] = category("metal", &["zinc", "gold"]));
    assert!(error.contains("no category \"gold\"") && error.contains("\"nickel\""), "{error}");
    let error = refused(&|v| v[2] = number("metal", 0.0, 7.0));
    assert!(error.contains("is a category in the model"), "{error}");
    let error = refused(&|v| v[3] = category("load", &["1", "2"]));
    assert!(error.contains("is a number in the model"), "{error}");
    // A variable that the model does not ask is no mistake.
    let mut more = mixed();
    more.push(number("humidity", 0.0, 1.0));
    let binding = Binding::by_name(&model, &more).unwrap();
    let domains: Vec<Domain> = more.into_iter().map(|v| v.domain).collect();
    let space = Space::new(&domains, &binding);
    let optimum = model.optimize(&space, Goal::Minimize, &SearchOptions::default()).unwrap();
    assert_eq!(optimum.best.unwrap().point.len(), 6);
    // Other domains than those that were bound.
    let error =
        model.optimize(&Space::new(&domains[..5], &binding), Goal::Minimize, &SearchOptions::default());
    assert!(error.unwrap_err().to_string().contains("6 variables are bound"));
}

#[test]
fn by_position_is_deliberate() {
    let model = open(&golden().join("onnx-forest.onnx"));
    assert_eq!(model.features()[1].name, "X[1]");
    let variables = [number("speed", 0.0, 10.0), number("load", -5.0, 5.0), number("dose", -1.0, 2.0)];
    assert!(Binding::by_name(&model, &variables).is_err());
    let binding = Binding::by_position(&model, &variables).unwrap();
    assert_eq!(binding.features_of(&[1.0, 2.0, f64::NAN])[..2], [1.0, 2.0]);
    assert!(
        Binding::by_position(&model, &variables[..2]).unwrap_err().to_string().contains("3 features and 2")
    );
}

#[test]
fn a_table_spans_the_box() {
    let model = open(&golden().join("xgb-onehot.json"));
    let columns = [
        Column { name: "row", cells: &["1", "2", "3"] },
        Column { name: "speed", cells: &["2.5", "", " 1e1"] },
        Column { name: "metal", cells: &["zinc", "alu", "zinc"] },
        Column { name: "load", cells: &["-1", "-2", "nan"] },
        Column { name: "grade", cells: &["5.0", "3", ""] },
        Column { name: "dose", cells: &["0", "0", "0"] },
    ];
    let variables = variables_from_table(&model, &columns).unwrap();
    assert_eq!(variables[0], number("speed", 2.5, 10.0));
    assert_eq!(variables[1], category("metal", &["alu", "zinc"]));
    assert_eq!(variables[2], number("load", -2.0, -1.0));
    assert_eq!(variables[3], category("grade", &["3", "5.0"]));
    assert_eq!(variables[4], number("dose", 0.0, 0.0));
    assert!(Binding::by_name(&model, &variables).is_ok());
    let with = |name: &str, cells: &'static [&'static str]| {
        let change = |column: &Column<'static>| {
            if column.name == name { Column { name: column.name, cells } } else { *column }
        };
        let changed: Vec<Column<'_>> = columns.iter().map(change).collect();
        variables_from_table(&model, &changed).unwrap_err().to_string()
    };
    assert!(with("speed", &["1", "fast"]).contains("row 2 holds \"fast\""));
    assert!(with("speed", &["", ""]).contains("no values"));
    assert!(with("speed", &["inf"]).contains("finite"));
    assert!(with("metal", &["gold"]).contains("no category \"gold\""));
    let error = variables_from_table(&model, &columns[..3]).unwrap_err().to_string();
    assert!(error.contains("no column is called \"load\"") && error.contains("\"row\""), "{error}");
}

#[test]
fn a_constrained_optimum_equals_a_scan_of_feasible_points() {
    let model = open(&golden().join("cat-onehot.json"));
    let mut variables = mixed();
    // Few enough values to try them all.
    variables[1].domain = Domain::Discrete(vec![-1.0, 0.0, 0.5, 2.0]);
    variables[3].domain = Domain::Integer { lower: -5.0, upper: 5.0 };
    variables[4].domain = Domain::Integer { lower: 0.0, upper: 10.0 };
    let binding = Binding::by_name(&model, &variables).unwrap();
    let domains: Vec<Domain> = variables.iter().map(|v| v.domain.clone()).collect();
    let mut builder = ConstraintsBuilder::new(variables).unwrap();
    builder.constrain("budget", "speed + 2 * dose + abs(load) <= 6").unwrap();
    builder.constrain("alloy", "metal == 'lead' implies grade == '3'").unwrap();
    let constraints = builder.build();
    for goal in [Goal::Maximize, Goal::Minimize] {
        let space = Space::new(&domains, &binding).with_constraints(&constraints);
        let optimum = model.optimize(&space, goal, &SearchOptions::default()).unwrap();
        let best = optimum.best.unwrap();
        assert!(constraints.is_feasible(&best.point, Tolerance::Produce));
        let mut expected = f64::NAN;
        for grade in 0..2 {
            for dose in [-1.0, 0.0, 0.5, 2.0] {
                for metal in 0..3 {
                    for load in -5..=5 {
                        for speed in 0..=10 {
                            let x =
                                [f64::from(grade), dose, f64::from(metal), f64::from(load), f64::from(speed)];
                            let value = model.predict(&binding.features_of(&x));
                            let is_better =
                                if goal == Goal::Maximize { value > expected } else { value < expected };
                            if constraints.is_feasible(&x, Tolerance::Produce)
                                && (is_better || expected.is_nan())
                            {
                                expected = value;
                            }
                        }
                    }
                }
            }
        }
        assert!(
            (best.value - expected).abs() <= 2e-4 * expected.abs(),
            "{goal:?}: {} not {expected}",
            best.value
        );
        assert_eq!(optimum.status, Status::Optimal);
        // Without its cell the next is no better.
        let excluded = [best.cell.clone()];
        let next = model.optimize(&space.excluding(&excluded), goal, &SearchOptions::default()).unwrap();
        let next = next.best.unwrap();
        assert!(!best.cell.contains(&next.point));
        let gain = if goal == Goal::Maximize { next.value - best.value } else { best.value - next.value };
        assert!(gain <= 2e-4 * best.value.abs());
    }
}

#[test]
fn an_empty_space_is_an_outcome_and_several_cells_are_in_order() {
    let model = Ensemble::open(&golden().join("lgb-poisson.txt"), &ReadOptions::default()).unwrap();
    let names = ["Column_0", "Column_1", "Column_2"];
    let variables: Vec<Variable> = names.iter().map(|name| number(name, -2.0, 8.0)).collect();
    let binding = Binding::by_name(&model, &variables).unwrap();
    let domains: Vec<Domain> = variables.iter().map(|v| v.domain.clone()).collect();
    let mut builder = ConstraintsBuilder::new(variables).unwrap();
    builder.constrain("never", "Column_0 >= 9").unwrap();
    let never = builder.build();
    let space = Space::new(&domains, &binding).with_constraints(&never);
    let optimum = model.optimize(&space, Goal::Maximize, &SearchOptions::default()).unwrap();
    assert!(optimum.best.is_none());
    assert_eq!(optimum.status, Status::Infeasible);

    let mut options = SearchOptions::default();
    options.k_best = 4;
    let optimum = model.optimize(&Space::new(&domains, &binding), Goal::Maximize, &options).unwrap();
    let mut values = vec![optimum.best.unwrap().value];
    values.extend(optimum.others.iter().map(|other| other.value));
    assert_eq!(values.len(), 4);
    assert!(values.windows(2).all(|w| w[0] >= w[1]), "{values:?}");
    // In the model's unit: a rate, not its logarithm.
    assert!(values[0] > 1.0 && optimum.bound >= values[0] && optimum.bound < 1.01 * values[0]);
}
