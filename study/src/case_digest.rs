//! The digest of a case: everything that decides its results, seed and length apart.
//!
//! What only names or describes (units, the names of the objective and of constraints, how long an external process may take for an answer) has no part in it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::digest::Canonical;
use super::spec::{ConstraintHandling, Infeasible, Method, MethodKind, Source, StudyProblem};
use leafgp::problem::{Kind, Scale, Settings, Variable};

/// The digest of a method on a problem; `settings` are those in force.
pub(super) fn case_digest(problem: &StudyProblem, method: &Method, settings: &Settings) -> String {
    let mut whole = Canonical::default();
    whole
        .text("kind", "optimisers")
        .group("problem", &study_problem(problem))
        .group("method", &of_method(method));
    if method.kind.uses_model() {
        whole.group("settings", &of_settings(settings));
    }
    whole.digest()
}

fn study_problem(study: &StudyProblem) -> Canonical {
    let mut fields = Canonical::default();
    let problem = &study.problem;
    let (objective, variables) = (problem.objective(), problem.variables());
    let (definitions, expressions) = (problem.definitions(), problem.expressions());
    fields.text("goal", objective.goal.as_str());
    fields.list("variables", variables.iter().map(of_variable));
    fields.list(
        "define",
        definitions.iter().map(|define| {
            let mut fields = Canonical::default();
            fields.text("name", &define.name).text("expr", &define.expr).flag("integer", define.integer);
            fields
        }),
    );
    fields.texts("constraints", expressions.iter().map(|expression| expression.expr.as_str()));
    match &study.source {
        Source::Function(function) => {
            fields.text("function", function.name);
        }
        Source::Command { command, timeout } => {
            fields.text("command", command);
            if let Some(timeout) = timeout {
                fields.number("timeout", timeout.as_secs_f64());
            }
        }
        Source::Table(table) => {
            let points = table.points.iter().map(|point| {
                let mut fields = Canonical::default();
                fields.numbers("point", point);
                fields
            });
            fields.list("points", points).numbers("values", &table.values);
        }
    }
    // Not where they are measured: digests of old studies do not have it.
    if study.infeasible == Infeasible::Skip {
        fields.text("infeasible", "skip");
    }
    fields.count("initial", study.initial as u64);
    fields
}

fn of_variable(variable: &Variable) -> Canonical {
    let mut fields = Canonical::default();
    fields.text("name", &variable.name);
    match &variable.kind {
        Kind::Continuous { lower, upper } => {
            fields.text("type", "continuous").number("lower", *lower).number("upper", *upper);
        }
        Kind::Integer { lower, upper } => {
            fields.text("type", "integer").number("lower", *lower).number("upper", *upper);
        }
        Kind::Binary => {
            fields.text("type", "binary");
        }
        Kind::Discrete(values) => {
            fields.text("type", "discrete").numbers("values", values);
        }
        Kind::Categorical(levels) => {
            fields.text("type", "categorical").texts("levels", levels.iter().map(String::as_str));
        }
        Kind::Grid(grid) => {
            let (first, step, digits) = grid.numerators();
            fields.text("type", "grid").count("count", grid.count()).count("digits", u64::from(digits));
            // Whole numbers of either sign: exact as text.
            fields.text("first", &first.to_string()).text("step", &step.to_string());
        }
    }
    match variable.scale {
        Scale::Linear => {}
        Scale::Log => {
            fields.text("scale", "log");
        }
    }
    if let Some(decimals) = variable.decimals {
        fields.count("decimals", u64::from(decimals.places));
    }
    if let Some(condition) = &variable.active_if {
        fields.text("active_if", condition).number("inactive_value", variable.inactive_value);
    }
    fields
}

fn of_method(method: &Method) -> Canonical {
    let mut fields = Canonical::default();
    fields.text("kind", method.kind.as_str());
    match &method.kind {
        MethodKind::LeafGpRnd { samples } => {
            fields.count("samples", *samples as u64);
        }
        MethodKind::External { command, timeout: _ } => {
            fields.text("command", command);
        }
        MethodKind::LeafGp | MethodKind::FeasRandom | MethodKind::Random => {}
    }
    if let ConstraintHandling::Penalty { lambda } = method.constraints {
        fields.number("lambda", lambda);
    }
    if method.parallel > 1 {
        fields.count("parallel", method.parallel as u64);
    }
    fields
}

/// Settings as fields in alphabetical order, `section.key`. One that has its value of [`LEFT_OUT`] is left out, so a setting that is added later, with the value under which
/// nothing changes entered there, leaves every older digest as it was.
pub(crate) fn of_settings(settings: &Settings) -> Canonical {
    let mut flat = BTreeMap::new();
    flatten("", serde_json::to_value(settings).expect("settings are plain data"), &mut flat);
    let mut fields = Canonical::default();
    for (key, value) in flat {
        let written = value.to_string();
        if !LEFT_OUT.contains(&(key.as_str(), written.as_str())) && !WITHOUT_EFFECT.contains(&key.as_str()) {
            of_value(&mut fields, &key, &value);
        }
    }
    fields
}

fn flatten(path: &str, value: Value, flat: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                flatten(&leafgp::problem::reading::join(path, &key), value, flat);
            }
        }
        value => {
            flat.insert(path.to_owned(), value);
        }
    }
}

fn of_value(fields: &mut Canonical, key: &str, value: &Value) {
    match value {
        Value::Null => fields.group(key, &Canonical::default()),
        Value::Bool(flag) => fields.flag(key, *flag),
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(count), _) => fields.count(key, count),
            (None, Some(x)) => fields.number(key, x),
            (None, None) => fields.text(key, &number.to_string()),
        },
        Value::String(text) => fields.text(key, text),
        Value::Array(items) => fields.list(
            key,
            items.iter().map(|item| {
                let mut fields = Canonical::default();
                of_value(&mut fields, "", item);
                fields
            }),
        ),
        Value::Object(map) => fields.list(
            key,
            map.iter().map(|(key, item)| {
                let mut fields = Canonical::default();
                of_value(&mut fields, key, item);
                fields
            }),
        ),
    };
}

/// Settings that a study decides itself.
const WITHOUT_EFFECT: [&str; 4] = ["seed", "design.initial", "solver.threads", "solver.time_limit"];

/// The value of each setting, as JSON, that a digest does not mention. They are part of the format: an entry never changes, not even when a default does; a new setting gets a new
/// entry, the value under which results are what they were before there was the setting.
const LEFT_OUT: [(&str, &str); 49] = [
    ("preset", "\"paper\""),
    ("repeats", "true"),
    ("kappa", "1.96"),
    ("point", "\"centre\""),
    ("max_agreement", "null"),
    ("equality_tolerance", "0.001"),
    ("untried_levels", "false"),
    ("trees.n_trees", "50"),
    ("trees.learning_rate", "0.1"),
    ("trees.max_depth", "3"),
    ("trees.num_leaves", "31"),
    ("trees.min_data_in_leaf", "1"),
    ("trees.min_sum_hessian_in_leaf", "0.001"),
    ("trees.lambda_l1", "0.0"),
    ("trees.lambda_l2", "0.0"),
    ("trees.min_gain_to_split", "0.0"),
    ("trees.max_bin", "255"),
    ("trees.min_data_in_bin", "3"),
    ("trees.bin_construct_sample_cnt", "200000"),
    ("trees.cat_smooth", "10.0"),
    ("trees.cat_l2", "10.0"),
    ("trees.max_cat_threshold", "32"),
    ("trees.max_cat_to_onehot", "4"),
    ("trees.min_data_per_group", "1"),
    ("trees.boost_from_average", "true"),
    ("trees.bagging_fraction", "1.0"),
    ("trees.bagging_freq", "0"),
    ("trees.feature_fraction", "1.0"),
    ("trees.extra_trees", "false"),
    ("trees.objective", "\"l2\""),
    ("trees.alpha", "0.9"),
    ("trees.early_stopping_round", "0"),
    ("trees.validation_fraction", "0.1"),
    ("gp.epochs", "200"),
    ("gp.learning_rate", "0.1"),
    ("gp.signal_interval", "[0.05,20.0]"),
    ("gp.noise_interval", "[0.0005,0.2]"),
    ("gp.mean", "\"zero\""),
    ("gp.variance", "\"latent\""),
    ("smooth.kernel", "\"additive_and_joint\""),
    ("smooth.length_scales", "\"dimension\""),
    ("smooth.trees", "false"),
    ("smooth.parameter_rows", "120"),
    ("smooth.condition_rows", "1000"),
    ("smooth.acquisition", "\"in_turns\""),
    ("smooth.kappa", "2.0"),
    ("smooth.pending", "\"believer\""),
    ("solver.gap", "0.0001"),
    ("solver.node_limit", "20000"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Canonical, LEFT_OUT, WITHOUT_EFFECT, flatten, of_settings};
    use crate::Spec;
    use crate::spec::deterministic;
    use leafgp::problem::{Preset, Settings};

    const PROBLEM: &str = r#"
[objective]
name = "yield"
goal = "maximize"
[variables]
x = { type = "continuous", bounds = [0, 5], unit = "ml" }
n = { type = "integer", bounds = [1, 9] }
c = { type = "categorical", levels = ["a", "b"] }
g = { type = "continuous", bounds = [0.1, 0.6], step = 0.05 }
[constraints]
sum = "x + n <= 9"
[settings]
kappa = 1.5
preset = "paper"
"#;

    const SPEC: &str = "name = \"s\"\nseeds = [1]\ninitial = 4\n[settings]\nsolver = { gap = 0.01 }\n[[problem]]\nfile = \"p.toml\"\nevaluate = \"echo 1\"\n[[method]]\nname = \"leaf-gp\"\n\
                        [[method]]\nname = \"peer\"\nkind = \"external\"\ncommand = \"peer\"\nconstraints = \"penalty\"\nlambda = 10\n";

    /// The digests of both methods.
    fn digests(problem: &str, spec: &str) -> [String; 2] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("p.toml"), problem).unwrap();
        let spec = Spec::from_text(&folder.path().join("s.toml"), spec).unwrap_or_else(|e| panic!("{e}"));
        [0, 1].map(|case| spec.cases[case].fingerprint.clone())
    }

    fn replaced(text: &str, from: &str, to: &str) -> String {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    }

    #[test]
    fn digests_are_pinned() {
        // Computed apart, from the bytes that `digest` describes. A change here orphans every record: it needs a new format and a rule for the old one.
        assert_eq!(digests(PROBLEM, SPEC), ["d0e388afd8a74a71", "d64b3aa7e3fd5640"]);
    }

    #[test]
    fn what_decides_no_result_keeps_the_digest() {
        let before = digests(PROBLEM, SPEC);
        for (from, to) in [
            (", unit = \"ml\"", ", unit = \"l\""),
            (", unit = \"ml\"", ""),
            ("bounds = [0, 5], unit = \"ml\"", "unit = \"ml\", bounds = [0.0, 5.0]"),
            ("name = \"yield\"\ngoal = \"maximize\"", "goal = \"maximize\"\nname = \"yield\""),
            ("name = \"yield\"", "name = \"output\""),
            ("sum = ", "all = "),
            ("kappa = 1.5", "kappa = 1.50\nseed = 5\nsolver = { time_limit = 3, threads = 2 }\n"),
            ("kappa = 1.5", "trees = { n_trees = 50 }\nkappa = 1.5\nrepeats = true\n"),
        ] {
            assert_eq!(digests(&replaced(PROBLEM, from, to), SPEC), before, "{to}");
        }
        for (from, to) in [
            ("name = \"s\"", "name = \"t\""),
            ("seeds = [1]\ninitial = 4", "initial = 4\nseeds = [2, 3]\niterations = 7"),
            ("gap = 0.01", "node_limit = 20000, gap = 1e-2"),
            ("lambda = 10", "timeout = 5\nlambda = 10.0"),
            ("echo 1\"", "echo 1\"\ninfeasible = \"measure\""),
        ] {
            assert_eq!(digests(PROBLEM, &replaced(SPEC, from, to)), before, "{to}");
        }
    }

    #[test]
    fn what_decides_results_changes_the_digest() {
        let mut seen = vec![digests(PROBLEM, SPEC)];
        for (from, to) in [
            ("[0, 5]", "[0, 6]"),
            ("[0, 5]", "[1, 5]"),
            ("[0, 5]", "[1, 5], scale = \"log\""),
            ("[1, 9]", "[1, 8]"),
            ("[\"a\", \"b\"]", "[\"b\", \"a\"]"),
            ("step = 0.05", "step = 0.1"),
            ("x = {", "z = {"),
            ("maximize", "minimize"),
            ("x + n <= 9", "x + n <= 8"),
        ] {
            let problem =
                replaced(PROBLEM, from, to).replace("x + n", if to == "z = {" { "z + n" } else { "x + n" });
            seen.push(digests(&problem, SPEC));
        }
        for (from, to) in [
            ("initial = 4", "initial = 5"),
            ("echo 1", "echo 2"),
            ("echo 1\"", "echo 1\"\ntimeout = 3"),
            ("echo 1\"", "echo 1\"\ninfeasible = \"skip\""),
        ] {
            seen.push(digests(PROBLEM, &replaced(SPEC, from, to)));
        }
        for case in [0, 1] {
            for (i, digest) in seen.iter().enumerate() {
                assert!(seen[..i].iter().all(|other| other[case] != digest[case]), "{case} {i}");
            }
        }
        // Settings belong to methods with a model alone, commands and penalties to those that have them.
        let [model, peer] = &seen[0];
        for (from, to) in [
            ("gap = 0.01", "gap = 0.001"),
            ("gap = 0.01", "gap = 0.01, node_limit = 9"),
            ("[settings]", "[settings]\nkappa = 2"),
            ("[settings]", "[settings]\npreset = \"mixed\""),
            ("[settings]", "[settings]\npreset = \"proven\""),
            ("[settings]", "[settings]\nrepeats = false"),
            ("[settings]", "[settings]\nsmooth = { kernel = \"joint\" }"),
        ] {
            let [other, same] = digests(PROBLEM, &replaced(SPEC, from, to));
            assert!(other != *model && same == *peer, "{to}");
        }
        for (from, to) in [("command = \"peer\"", "command = \"pear\""), ("lambda = 10", "lambda = 1")] {
            let [same, other] = digests(PROBLEM, &replaced(SPEC, from, to));
            assert!(same == *model && other != *peer, "{to}");
        }
    }

    #[test]
    fn every_setting_has_a_value_that_is_left_out() {
        let mut flat = BTreeMap::new();
        flatten("", serde_json::to_value(Settings::default()).unwrap(), &mut flat);
        for key in flat.keys() {
            let known = LEFT_OUT.iter().any(|(k, _)| k == key) || WITHOUT_EFFECT.contains(&key.as_str());
            assert!(known, "{key}: enter the value that changes nothing, so that older digests stay");
        }
        // Records from before there were presets were made as the paper's preset does it.
        let of_preset = |preset| of_settings(&deterministic(Settings::with_preset(preset)));
        assert_eq!(of_preset(Preset::Paper), Canonical::default());
        for (word, preset) in Preset::WORDS {
            let mut expected = Canonical::default();
            if preset != Preset::Paper {
                expected.text("preset", word).flag("repeats", false);
            }
            if preset == Preset::Proven {
                expected.count("trees.max_depth", 2).count("trees.n_trees", 4);
            }
            assert_eq!(of_preset(preset), expected, "{word}");
        }
    }
}
