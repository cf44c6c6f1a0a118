//! Problem files and problems made in code, through the library.

use std::path::Path;

use leafgp::engine::Optimizer;
use leafgp::problem::{Goal, Kind, Preset, Problem, Scale, Settings, Variable};
use leafgp::solver::Domain;
use leafgp::solver::constraints::Tolerance;
use leafgp_testdata::{root, shared};
use proptest::prelude::{ProptestConfig, Strategy, proptest};

fn problem(text: &str) -> Problem {
    Problem::from_text(Path::new("p.toml"), text).unwrap_or_else(|e| panic!("{e}"))
}

const EVERYTHING: &str = r#"
name = "everything"
constraints = ["x <= `flow rate`", "`if` == 1 implies head == 'flat'"]
[objective]
name = "cost of it"
goal = "maximize"
[variables]
x = { type = "continuous", bounds = [-1, 2.5] }
rate = { type = "continuous", bounds = [1e-5, 1e-1], scale = "log", unit = "1/s" }
n = { type = "integer", bounds = [1.0, 99] }
"if" = { type = "binary" }
dose = { type = "discrete", values = [48, 0, 12.5, 24] }
head = { type = "categorical", levels = ["flat", 6, 0.0, true, "a, \"b\""] }
share = { type = "continuous", bounds = [0.1, 0.6], step = 0.05 }
tens = { type = "integer", bounds = [10, 100], step = 10 }
"flow rate" = { type = "continuous", bounds = [0, 8], active_if = "n >= 2", inactive_value = 3 }
late = { type = "discrete", values = [7, 3], active_if = "twice >= 6" }
[define]
twice = "2 * n"
whole = { expr = "twice / 2", integer = true }
[settings]
seed = 7
kappa = 2
[settings.trees]
n_trees = 100
max_depth = -1
[settings.gp]
mean = "constant"
[settings.solver]
node_limit = 1000
gap = 0
"#;

#[test]
fn every_part_of_a_problem_file_arrives() {
    let problem = problem(EVERYTHING);
    assert_eq!((problem.name(), problem.objective().name.as_str()), ("everything", "cost of it"));
    assert_eq!(problem.objective().goal, Goal::Maximize);
    let kinds: Vec<&Kind> = problem.variables().iter().map(|v| &v.kind).collect();
    assert_eq!(kinds[0], &Kind::Continuous { lower: -1.0, upper: 2.5 });
    assert_eq!(kinds[2], &Kind::Integer { lower: 1.0, upper: 99.0 });
    assert_eq!(kinds[3], &Kind::Binary);
    assert_eq!(kinds[4], &Kind::Discrete(vec![0.0, 12.5, 24.0, 48.0]));
    assert_eq!(problem.variables()[5].levels(), ["flat", "6", "0.0", "true", "a, \"b\""]);
    let grid: Vec<String> = match &problem.domains()[6] {
        Domain::Grid(grid) => {
            (0..grid.count()).map(|k| problem.variables()[6].format_value(grid.value(k))).collect()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(grid, ["0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4", "0.45", "0.5", "0.55", "0.6"]);
    assert_eq!(problem.domains()[7].within(11.0, 29.0), Some((20.0, 20.0)));
    assert_eq!(problem.variables()[1].scale, Scale::Log);
    assert_eq!(problem.variables()[1].unit.as_deref(), Some("1/s"));
    assert_eq!(problem.log_scale().iter().filter(|&&log| log).count(), 1);
    assert_eq!(problem.variables()[8].active_if.as_deref(), Some("n >= 2"));
    assert_eq!(problem.variables()[8].inactive_value, 3.0);
    assert_eq!(problem.variables()[4].inactive_value, 48.0, "a list rests at the value listed first");
    assert_eq!(problem.variables()[9].inactive_value, 7.0);
    let settings = problem.settings();
    assert_eq!((settings.seed, settings.kappa), (7, 2.0));
    assert_eq!(
        (settings.trees.n_trees, settings.trees.max_depth, settings.trees.learning_rate),
        (100, -1, 0.1)
    );
    assert_eq!((settings.solver.node_limit, settings.solver.gap), (Some(1000), 0.0));
    assert_eq!(settings.solver.time_limit, 100.0);
    assert_eq!(settings.design.initial, 5);
    let names: Vec<&str> = (0..problem.constraints().len()).map(|i| problem.constraints().name(i)).collect();
    assert_eq!(names.len(), 5, "whole define, two hierarchies, two constraints: {names:?}");
    assert_eq!(&names[3..], ["x <= `flow rate`", "`if` == 1 implies head == 'flat'"]);
}

#[test]
fn inactive_variables_rest_at_their_value() {
    let problem = problem(EVERYTHING);
    let mut point = vec![0.0, 1e-3, 1.0, 0.0, 0.0, 0.0, 0.1, 10.0, 5.0, 3.0];
    problem.constraints().deactivate(&mut point);
    assert_eq!(&point[8..], [3.0, 7.0]);
    assert!(problem.constraints().is_feasible(&point, Tolerance::Produce));
}

#[test]
fn the_same_problem_in_code_and_in_a_file() {
    let built = Problem::builder("p")
        .objective("y", Goal::Minimize)
        .variable(Variable::continuous("a", 1.0, 2.0).log().unit("m"))
        .variable(Variable::integer("n", 0, 5).active_if("a >= 1.5", 2.0))
        .variable(Variable::grid("g", 0.0, 1.0, 0.25).unwrap())
        .variable(Variable::categorical("c", ["u", "v"]))
        .define("twice", "2 * a", false)
        .constraint("k", "twice + n <= 6")
        .build()
        .unwrap();
    let read = problem(
        r#"
        name = "p"
        [objective]
        name = "y"
        goal = "minimize"
        [variables]
        a = { type = "continuous", bounds = [1, 2], scale = "log", unit = "m" }
        n = { type = "integer", bounds = [0, 5], active_if = "a >= 1.5", inactive_value = 2 }
        g = { type = "continuous", bounds = [0, 1], step = 0.25 }
        c = { type = "categorical", levels = ["u", "v"] }
        [define]
        twice = "2 * a"
        [constraints]
        k = "twice + n <= 6"
        "#,
    );
    assert_eq!(built.variables(), read.variables());
    assert_eq!(built.settings(), read.settings());
    assert_eq!(built.objective(), read.objective());
    for point in [[1.0, 2.0, 0.0, 0.0], [1.0, 3.0, 0.0, 0.0], [2.0, 2.0, 1.0, 1.0], [2.0, 3.0, 1.0, 1.0]] {
        let violated = |p: &Problem| p.constraints().violations(&point, Tolerance::Produce);
        assert_eq!(violated(&built), violated(&read), "{point:?}");
    }
}

#[test]
fn problems_in_code_are_checked_like_files() {
    let one = || Problem::builder("p").variable(Variable::continuous("x", 0.0, 1.0));
    type Case = (&'static str, leafgp::problem::ProblemBuilder);
    let cases: Vec<Case> = vec![
        ("variables", Problem::builder("p")),
        ("variables.x", one().variable(Variable::binary("x"))),
        ("variables.n.bounds", one().variable(Variable::integer("n", 4, 3))),
        ("variables.n.bounds[1]", one().variable(Variable::integer("n", 0, i64::MAX))),
        ("variables.y.bounds[0]", one().variable(Variable::continuous("y", f64::NAN, 1.0))),
        ("variables.\"a b\".levels", one().variable(Variable::categorical("a b", Vec::<String>::new()))),
        ("variables.d.values[1]", one().variable(Variable::discrete("d", [1.0, 1.0]))),
        ("variables.d.scale", one().variable(Variable::discrete("d", [0.0, 1.0]).log())),
        ("variables.b.scale", one().variable(Variable::binary("b").log())),
        ("variables.b.inactive_value", one().variable(Variable::binary("b").active_if("x >= 1", 2.0))),
        ("objective.name", one().objective("x", Goal::Minimize)),
        ("define.x", one().define("x", "1", false)),
        ("constraints.c", one().constraint("c", "x + y <= 1")),
    ];
    for (field, builder) in cases {
        let error = builder.build().unwrap_err();
        assert_eq!(error.field, field, "{error}");
        assert!(error.file.is_none() && !error.message.is_empty());
    }
    assert_eq!(Variable::grid("g", 0.0, 1.0, -0.1).unwrap_err().field, "step");
}

#[test]
fn json_values_keep_their_kind() {
    let problem = problem(EVERYTHING);
    let point = [0.1 + 0.2, 1e-3, 42.0, 1.0, 12.5, 1.0, 0.15, 20.0, -0.0, 3.0];
    let json = serde_json::Value::Object(problem.point_to_json(&point)).to_string();
    assert_eq!(
        json,
        r#"{"x":0.30000000000000004,"rate":0.001,"n":42,"if":1,"dose":12.5,"head":"6","share":0.15,"tens":20.0,"flow rate":0.0,"late":3.0}"#
    );
    let parsed: serde_json::Value = serde_json::from_str(&json).unwrap();
    for (variable, x) in problem.variables().iter().zip(point) {
        assert_eq!(variable.from_json(&parsed[&variable.name]).unwrap(), x, "{}", variable.name);
    }
    let head = &problem.variables()[5];
    assert_eq!(head.from_json(&serde_json::json!(6)).unwrap(), 1.0);
    assert_eq!(head.from_json(&serde_json::json!(true)).unwrap(), 3.0);
    assert!(head.from_json(&serde_json::Value::Null).is_err());
    assert!(problem.variables()[0].from_json(&serde_json::json!("abc")).is_err());
    assert_eq!(problem.variables()[3].from_json(&serde_json::json!(true)).unwrap(), 1.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn printed_values_are_read_back_exactly(
        x in proptest::num::f64::NORMAL,
        level in 0_usize..5,
        n in (-1_i64 << 53..1_i64 << 53).prop_map(|n| n as f64),
    ) {
        let problem = problem(EVERYTHING);
        for (i, value) in [(0, x), (5, level as f64), (2, n)] {
            let variable = &problem.variables()[i];
            assert_eq!(variable.parse_value(&variable.format_value(value)), Ok(value));
            assert_eq!(variable.from_json(&variable.to_json(value)), Ok(value));
        }
    }

    #[test]
    fn every_grid_value_is_allowed_and_printed_as_a_short_decimal(
        first in -1000_i32..1000, step in 1_i32..50, count in 2_i32..40, places in 0_usize..4,
    ) {
        let text = |numerator: i32| format!("{:.places$}", f64::from(numerator) / 10_f64.powi(places as i32));
        let last = first + step * (count - 1);
        let number = |numerator: i32| text(numerator).parse::<f64>().unwrap();
        let variable = Variable::grid("g", number(first), number(last), number(step)).unwrap();
        let domain = variable.domain();
        assert_eq!(domain.bounds(), (number(first), number(last)));
        for k in 0..count {
            let value = number(first + k * step);
            assert!(domain.contains(value), "{value}");
            assert_eq!(variable.format_value(value).parse::<f64>().unwrap(), value);
            assert!(variable.format_value(value).len() <= text(first + k * step).len());
        }
    }
}

#[test]
fn the_papers_problem_files_are_read() {
    let own = |name: &str| match name {
        "pressure-vessel" => root().join("examples/pressure-vessel.toml"),
        _ => root().join(format!("tests/problems/{name}.toml")),
    };
    let shared = shared("problems");
    for (name, variables, constraints) in
        [("cifar-nas", 29, 5 + 6 + 22), ("vae-nas", 32, 5 + 8 + 25), ("pressure-vessel", 4, 3)]
    {
        for file in shared.iter().map(|folder| folder.join(format!("{name}.toml"))).chain([own(name)]) {
            let problem = Problem::from_file(&file).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((problem.name(), problem.variables().len()), (name, variables));
            assert_eq!(problem.constraints().len(), constraints, "{name}");
            assert!(problem.warnings().is_empty());
        }
    }
}

#[test]
fn the_example_holds_the_literature_optimum() {
    let file = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/pressure-vessel.toml"));
    let problem = Problem::from_file(file).unwrap_or_else(|e| panic!("{e}"));
    let optimum = [13.0, 7.0, 42.0984455958549, 176.6365958424394];
    assert!(problem.constraints().is_feasible(&optimum, Tolerance::Judge));
    assert!(
        !problem
            .constraints()
            .is_feasible(&[12.0, 7.0, 42.0984455958549, 176.6365958424394], Tolerance::Judge)
    );
}

#[test]
fn a_point_is_read_from_json_whole_or_not_at_all() {
    use serde_json::{Value, json};

    let problem = Problem::builder("p")
        .variable(Variable::integer("layers", 1, 3))
        .variable(Variable::continuous("second", 0.0, 5.0).active_if("layers >= 2", 0.0))
        .variable(Variable::categorical("head", ["flat", "round"]))
        .build()
        .unwrap();
    let read = |value: Value| problem.point_from_json(value.as_object().unwrap());
    let point = vec![2.0, 1.5, 1.0];
    assert_eq!(read(Value::Object(problem.point_to_json(&point))), Ok(point));
    for (bad, expected) in [
        (json!({ "layers": 2, "head": "flat" }), "no \"second\""),
        (json!({ "layers": 2, "second": "much", "head": "flat" }), "\"second\": \"much\" is no number"),
        (json!({ "layers": 2, "second": null, "head": "flat" }), "\"second\": null"),
        (json!({ "layers": 2, "second": 1, "head": "square" }), "square"),
        (json!({ "layers": 2, "second": 1, "head": "flat", "third": 1 }), "\"third\", which is no variable"),
    ] {
        let error = read(bad).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Every setting below `[settings]` but the preset.
fn setting_names() -> Vec<String> {
    fn walk(path: &str, value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(fields) => {
                for (name, value) in fields {
                    walk(&format!("{path}.{name}"), value, found);
                }
            }
            _ => found.push(path.trim_start_matches('.').to_owned()),
        }
    }
    let mut found = Vec::new();
    walk("", &serde_json::to_value(Settings::default()).unwrap(), &mut found);
    found.retain(|name| name != "preset");
    found
}

/// The problem with another value of a setting than its preset's: the first of some that it takes.
fn with_another_value(preset: &str, name: &str) -> Problem {
    let text = |line: &str| {
        format!(
            "objective = {{ name = 'y', goal = 'minimize' }}\n\
             variables = {{ x = {{ type = 'continuous', bounds = [0, 1] }}, z = {{ type = 'continuous', bounds = [0, 1] }} }}\n\
             [settings]\npreset = '{preset}'\n{line}\n"
        )
    };
    let plain = problem(&text(""));
    let values = [
        "7",
        "0.5",
        "true",
        "false",
        "'away'",
        "'joint'",
        "'l1'",
        "'lower_bound'",
        "1",
        "0.01",
        "[0.01, 50]",
        "[0.001, 0.19]",
        "'expected_improvement'",
        "'normal'",
        "'constant'",
        "'observed'",
        "'depth_wise'",
        "'optimal'",
        "'gamma'",
        "'liar_best'",
    ];
    let read = values.iter().filter_map(|value| {
        Problem::from_text(Path::new("p.toml"), &text(&format!("{name} = {value}"))).ok()
    });
    let mut other = read.filter(|problem| problem.settings() != plain.settings());
    other.next().unwrap_or_else(|| panic!("{name}: none of the values is another one that it takes"))
}

#[test]
fn each_setting_that_decides_nothing_with_its_preset_is_told_and_no_other_is() {
    let names = setting_names();
    assert!(names.len() > 20, "{names:?}");
    let mut n_told = 0;
    for (word, preset) in Preset::WORDS {
        for name in &names {
            let problem = with_another_value(word, name);
            let is_idle = match preset {
                Preset::Paper => name.starts_with("smooth."),
                _ => name == "point",
            };
            let warnings = problem.warnings();
            assert_eq!(warnings.len(), usize::from(is_idle), "{word}, {name}: {warnings:?}");
            if !is_idle {
                continue;
            }
            n_told += 1;
            assert!(warnings[0].starts_with(&format!("settings.{name} has no effect")), "{}", warnings[0]);
            // It is true: the suggestions are those of the default.
            let plain = problem.clone().adjusted(|settings| settings.use_preset(preset)).unwrap();
            assert!(plain.warnings().is_empty(), "{word}: {:?}", plain.warnings());
            assert_eq!(suggested(&problem), suggested(&plain), "{word}, {name}");
        }
    }
    // Three presets with `point`, one with what the smooth process has.
    assert_eq!(n_told, 3 + names.iter().filter(|name| name.starts_with("smooth.")).count());
}

/// Points that are suggested after the first design, by the smooth process's turns and the proven step of `mixed`.
fn suggested(problem: &Problem) -> Vec<Vec<f64>> {
    let mut optimizer = Optimizer::new(problem.clone());
    let mut points = Vec::new();
    for i in 0..24 {
        let u = f64::from(i) * 0.618_033_988_75 % 1.0;
        let x = [u, (f64::from(i) * 0.754_877_666_25) % 1.0];
        if [7, 8, 23].contains(&i) {
            points.push(optimizer.ask().unwrap().point);
        }
        optimizer.tell(&x, (x[0] - 0.3).powi(2) + x[1]).unwrap();
    }
    points
}
