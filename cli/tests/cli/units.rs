//! Rules in small units: what is suggested, flagged and called best is the same as with numbers near one.

use crate::support::Folder;

const CAP: &str = "[objective]\nname = \"turnover\"\ngoal = \"maximize\"\n[variables]\nmetal = { type = \"continuous\", bounds = [0.0, 1e-6] }\n\
    ligand = { type = \"continuous\", bounds = [0.0, 1e-6] }\n[constraints]\ncap = \"metal + ligand <= 2e-7\"\n";

/// The values of two variables in suggestions with this seed.
fn suggested(folder: &Folder, n: &str, seed: &str, names: [&str; 2]) -> Vec<[f64; 2]> {
    let run = folder.run(&["suggest", "p.toml", "-n", n, "--seed", seed, "--format", "json"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let answer = run.json();
    let of = |suggestion: &serde_json::Value| names.map(|name| suggestion["point"][name].as_f64().unwrap());
    answer["suggestions"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn an_ion_product_holds_to_a_billionth_of_itself() {
    let folder = Folder::with_problem(
        "[objective]\nname = \"rate\"\ngoal = \"maximize\"\n[variables]\n\
         acid = { type = \"continuous\", bounds = [1e-12, 1e-2], scale = \"log\" }\n\
         base = { type = \"continuous\", bounds = [1e-12, 1e-2], scale = \"log\" }\n[constraints]\nwater = \"acid * base == 1e-14\"\n",
    );
    folder.write("p.csv", "acid,base,rate\n");
    for seed in ["1", "2"] {
        let points = suggested(&folder, "4", seed, ["acid", "base"]);
        assert_eq!(points.len(), 4);
        for [acid, base] in points {
            assert!((acid * base / 1e-14 - 1.0).abs() <= 1.001e-9, "{acid:e} * {base:e}");
        }
    }
    // With measurements the models choose; a row that is off by a part in ten thousand was measured, one by a hundredth breaks the rule.
    folder.write("p.csv", "acid,base,rate\n1e-7,1e-7,1\n1e-5,1e-9,2\n1e-4,1.0001e-10,5\n1e-3,1e-11,3\n1e-9,1e-5,0.5\n1e-6,1.01e-8,9\n");
    let report = folder.run(&["check", "p.toml", "--format", "json"]).json();
    assert_eq!(report["best"]["row"], 3, "{report}");
    assert_eq!(report["rows"][5]["feasible"], false);
    for [acid, base] in suggested(&folder, "2", "3", ["acid", "base"]) {
        assert!((acid * base / 1e-14 - 1.0).abs() <= 1.001e-9, "{acid:e} * {base:e}");
    }
}

#[test]
fn a_sum_of_moles_holds_to_a_billionth_of_itself() {
    let folder = Folder::with_problem(
        "[objective]\nname = \"turnover\"\ngoal = \"maximize\"\n[variables]\nmetal = { type = \"continuous\", bounds = [0.0, 1e-9] }\n\
         ligand = { type = \"continuous\", bounds = [0.0, 1e-9] }\nheat = { type = \"continuous\", bounds = [20.0, 90.0] }\n\
         [constraints]\ntotal = \"metal + ligand == 7e-10\"\n",
    );
    let is_right = |metal: f64, ligand: f64| ((metal + ligand) / 7e-10 - 1.0).abs() <= 1.001e-9;
    let report = folder.run(&["check", "p.toml", "--format", "json"]).json();
    let at = |name: &str| report["point"][name].as_f64().unwrap();
    assert!(is_right(at("metal"), at("ligand")), "{report}");
    for [metal, ligand] in suggested(&folder, "3", "1", ["metal", "ligand"]) {
        assert!(is_right(metal, ligand), "{metal:e} + {ligand:e}");
    }
}

#[test]
fn rows_over_a_small_cap_are_flagged_and_never_best() {
    let folder = Folder::with_problem(CAP);
    folder.write("p.csv", "metal,ligand,turnover\n5e-7,5e-7,90\n1e-7,0,10\n9e-7,3e-7,95\n");
    let run = folder.run(&["check", "p.toml"]);
    for line in [
        "row 1 (line 2): violates \"cap\" by 8e-7",
        "row 3 (line 4): violates \"cap\" by",
        "best: turnover = 10 in row 2 (line 3)",
    ] {
        assert!(run.stdout.contains(line), "{line}:\n{}", run.stdout);
    }
    assert!(!run.stdout.contains("row 2 (line 3): violates"), "{}", run.stdout);
    let answer = folder.run(&["suggest", "p.toml", "--format", "json"]).json();
    assert_eq!(answer["best"]["row"], 2, "{answer}");
    for [metal, ligand] in suggested(&folder, "3", "1", ["metal", "ligand"]) {
        assert!(metal + ligand <= 2e-7, "{metal:e} + {ligand:e}");
    }
}

#[test]
fn whole_numbers_of_a_billion_are_counted() {
    let folder = Folder::with_problem(
        "[objective]\nname = \"yield\"\ngoal = \"maximize\"\n[variables]\ncells = { type = \"integer\", bounds = [0, 2000000000] }\n\
         beads = { type = \"integer\", bounds = [0, 2000000000] }\n[constraints]\nall = \"cells + beads == 2000000001\"\n",
    );
    folder.write(
        "p.csv",
        "cells,beads,yield\n1000000000,1000000000,9\n1000000000,1000000001,1\n1000000001,1000000001,8\n",
    );
    let report = folder.run(&["check", "p.toml", "--format", "json"]).json();
    assert_eq!(report["best"]["row"], 2, "{report}");
    for [cells, beads] in suggested(&folder, "2", "1", ["cells", "beads"]) {
        assert_eq!(cells + beads, 2_000_000_001.0);
    }
}

#[test]
fn check_names_rules_that_f64_decides_once_each() {
    let folder = Folder::with_problem(
        "[objective]\nname = \"yield\"\ngoal = \"maximize\"\n[variables]\na = { type = \"continuous\", bounds = [0, 1], step = 0.1 }\n\
         b = { type = \"discrete\", values = [0.1, 0.2, 0.7] }\nn = { type = \"integer\", bounds = [0, 9] }\n[constraints]\n\
         sum = \"a + b <= 0.9\"\nproduct = \"a * b <= 0.3 or b * a >= 0.6\"\ncount = \"n * n <= 60\"\n",
    );
    let run = folder.run(&["check", "p.toml"]);
    assert_eq!(run.stderr.matches("is decided in f64, not in exact decimals").count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("constraint \"product\""), "{}", run.stderr);
    let report = folder.run(&["check", "p.toml", "--format", "json"]).json();
    assert_eq!(report["in_floats"], serde_json::json!(["product"]));
}
