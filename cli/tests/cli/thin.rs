//! Feasible sets without an interior, or next to none: what `check` says, what `suggest` prints.

use serde_json::Value;

use crate::support::Folder;

fn folder(variables: &[(&str, &str)], constraints: &[(&str, &str)]) -> Folder {
    let mut text = "name = \"p\"\n[objective]\nname = \"y\"\ngoal = \"maximize\"\n[variables]\n".to_owned();
    for (name, spec) in variables {
        text += &format!("{name} = {{ type = \"continuous\", {spec} }}\n");
    }
    text += "[constraints]\n";
    for (name, rule) in constraints {
        text += &format!("\"{name}\" = \"{rule}\"\n");
    }
    Folder::with_problem(&text)
}

fn shift() -> Folder {
    let eight = "bounds = [0.0, 8.0]";
    let folder = folder(
        &[("wash", eight), ("cook", eight), ("cool", eight), ("heat", "bounds = [20.0, 90.0]")],
        &[
            ("wash then cook", "wash + 3 <= cook"),
            ("cook then cool", "cook + 2 <= cool"),
            ("shift ends", "cool + 3 <= 8"),
        ],
    );
    folder.write(
        "p.csv",
        "wash,cook,cool,heat,y\n0,3,5,30,1\n0,3,5,80,2\n0,3,5,50,3\n0,3,5,41,2.5\n0,3,5,60,2.7\n0,3,5,66,2.2\n",
    );
    folder
}

fn slots(end: &str) -> Folder {
    let range = format!("bounds = [0.0, {end}]");
    folder(
        &[("a", &range), ("b", &range), ("c", &range), ("d", &range)],
        &[("ab", "b - a >= 0.5"), ("bc", "c - b >= 0.5"), ("cd", "d - c >= 0.5")],
    )
}

fn numbers(row: &str) -> Vec<f64> {
    row.trim_end_matches(',').split(',').map(|cell| cell.parse().unwrap()).collect()
}

/// The points of `suggest --format csv`.
fn suggested(folder: &Folder, arguments: &[&str]) -> Vec<Vec<f64>> {
    let run = folder.run(&[&["suggest", "p.toml", "--format", "csv"], arguments].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.stdout.lines().skip(1).map(numbers).collect()
}

#[test]
fn a_corner_is_the_only_point() {
    let bowl = folder(
        &[
            ("flour", "bounds = [0.3, 1.0]"),
            ("water", "bounds = [0.5, 1.0]"),
            ("salt", "bounds = [0.0, 0.1]"),
        ],
        &[("bowl", "flour + water <= 0.8")],
    );
    let report: Value = bowl.run(&["check", "p.toml", "--format", "json"]).json();
    assert_eq!(report["feasible"], true);
    assert_eq!((&report["point"]["flour"], &report["point"]["water"]), (&0.3.into(), &0.5.into()));
}

#[test]
fn a_full_shift_is_feasible_and_its_free_temperature_gives_new_points() {
    let report = shift().run(&["check", "p.toml", "--format", "json"]).json();
    assert_eq!(report["feasible"], true);
    for seed in 1..=10 {
        let folder = shift();
        let points = suggested(&folder, &["-n", "6", "--seed", &seed.to_string()]);
        assert_eq!(points.len(), 6);
        let mut heats = vec![30.0, 80.0, 50.0, 41.0, 60.0, 66.0];
        for x in points {
            assert_eq!(x[..3], [0.0, 3.0, 5.0]);
            assert!((20.0..=90.0).contains(&x[3]) && !heats.contains(&x[3]), "{} after {heats:?}", x[3]);
            heats.push(x[3]);
        }
    }
}

#[test]
fn slots_that_just_fit_have_one_place() {
    for seed in ["1", "2", "3"] {
        assert_eq!(suggested(&slots("1.5"), &["--seed", seed]), [[0.0, 0.5, 1.0, 1.5]]);
    }
    let two = slots("1.5").run(&["suggest", "p.toml", "-n", "2"]);
    assert_eq!(two.code, 3, "{}", two.stderr);
    assert!(two.stderr.contains("every other feasible point is taken"), "{}", two.stderr);
    let folder = slots("1.5");
    folder.write("p.csv", "a,b,c,d,y\n0,0.5,1,1.5,7\n");
    let none = folder.run(&["suggest", "p.toml"]);
    assert_eq!(none.code, 1);
    assert!(none.stderr.contains("exhausted"), "{}", none.stderr);
    let short = slots("1.499").run(&["check", "p.toml"]);
    assert_eq!(short.code, 1);
    assert!(short.stderr.contains("\"ab\", \"bc\", \"cd\""), "{}", short.stderr);
}

#[test]
fn strict_comparisons_that_contradict_each_other_are_named() {
    let unit = "bounds = [0.0, 1.0]";
    for (rules, named) in [
        (&[("first", "low < high"), ("second", "high < low")][..], "\"first\", \"second\""),
        (&[("first", "low < high"), ("second", "high <= low")], "\"first\", \"second\""),
        (
            &[("idle", "low >= 0.2"), ("one", "low + mid < 2*high"), ("two", "2*high <= low + mid")],
            "\"one\", \"two\"",
        ),
        (
            &[("one", "low + 0.1 <= mid"), ("two", "mid + 0.2 < high"), ("three", "high <= low + 0.3")],
            "\"one\", \"two\", \"three\"",
        ),
    ] {
        let run = folder(&[("low", unit), ("mid", unit), ("high", unit)], rules).run(&["check", "p.toml"]);
        assert_eq!(run.code, 1, "{rules:?}: {}", run.stderr);
        assert!(run.stderr.contains(&format!("cannot hold together: {named}")), "{rules:?}: {}", run.stderr);
        assert!(!run.stderr.contains("idle"), "{}", run.stderr);
    }
}

#[test]
fn a_trace_gets_a_new_value_each_time() {
    let ppm = folder(&[("additive", "bounds = [0.0, 1.0]")], &[("ppm", "additive <= 0.001")]);
    let points = suggested(&ppm, &["-n", "8"]);
    let mut seen: Vec<f64> = Vec::new();
    for x in points {
        assert!((0.0..=0.001).contains(&x[0]) && !seen.contains(&x[0]), "{} after {seen:?}", x[0]);
        seen.push(x[0]);
    }
    assert_eq!(seen.len(), 8);
    for _ in 0..3 {
        assert_eq!(ppm.run(&["suggest", "p.toml", "--append"]).code, 0);
    }
    let mut rows: Vec<String> = ppm.read("p.csv").lines().skip(1).map(str::to_owned).collect();
    rows.sort();
    rows.dedup();
    assert_eq!(rows.len(), 3, "{rows:?}");
}

/// Nothing of the search's own is left to find the measured point: the row is the witness.
#[test]
fn a_measured_row_is_a_witness_when_the_search_does_not_decide() {
    let hard = || {
        folder(
            &[("a", "bounds = [0.1, 3.0]"), ("b", "bounds = [0.1, 3.0]")],
            &[
                ("one", "exp(a) * b <= 1.7"),
                ("two", "exp(a) * b >= 1.7"),
                ("three", "sqrt(a) + log(b) == 0.3"),
            ],
        )
    };
    let limits = ["check", "p.toml", "--node-limit", "1", "--time-limit", "0.000001"];
    let unknown = hard().run(&limits);
    assert_eq!(unknown.code, 1, "{}", unknown.stderr);
    assert!(unknown.stderr.contains("it is not known"), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("limit was reached"), "{}", unknown.stderr);
    let easy = folder(&[("a", "bounds = [0.0, 1.0]")], &[("half", "a <= 0.5")]);
    easy.write("p.csv", "a,y\n0.7,1\n0.25,2\n");
    let known = easy.run(&limits);
    assert_eq!(known.code, 0, "{}", known.stderr);
    assert!(known.stdout.contains("feasible, for instance:\n  a  0.25"), "{}", known.stdout);
}

#[test]
fn at_most_four_of_sixteen_parts_in_hundredths_are_found() {
    let names: Vec<String> = (1..=16).map(|i| format!("x{i}")).collect();
    let variables: Vec<(&str, &str)> =
        names.iter().map(|name| (name.as_str(), "bounds = [0.0, 1.0], step = 0.01")).collect();
    let recipe = |least: &str| {
        folder(
            &variables,
            &[("four", "count(x1..x16 > 0) <= 4"), ("whole", "sum(x1..x16) == 1"), ("share", least)],
        )
    };
    let report = recipe("all(x1..x16 <= 0.3)").run(&["check", "p.toml", "--format", "json"]).json();
    let parts: Vec<f64> = names.iter().map(|name| report["point"][name].as_f64().unwrap()).collect();
    assert_eq!(parts.iter().map(|x| (100.0 * x).round() as i64).sum::<i64>(), 100);
    assert!(parts.iter().filter(|&&x| x > 0.0).count() <= 4 && parts.iter().all(|&x| x <= 0.3), "{parts:?}");
    let run = recipe("all(x1..x16 <= 0.24)").run(&["check", "p.toml", "--node-limit", "50"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("\"four\", \"whole\", \"share\""), "{}", run.stderr);
}
