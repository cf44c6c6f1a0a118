//! Problems over several models, smallest changes, and proofs of model optima.

use super::support::Folder;

/// A model of one stump on each of some features.
fn stumps(features: &[&str], stumps: &[(usize, f64, f64, f64)]) -> String {
    let mut text = format!(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx={}\nobjective=regression\n\
         feature_names={}\nfeature_infos={}\ntree_sizes={}\n",
        features.len() - 1,
        features.join(" "),
        vec!["[0:1]"; features.len()].join(" "),
        vec!["100"; stumps.len()].join(" ")
    );
    for (i, (feature, threshold, low, high)) in stumps.iter().enumerate() {
        text += &format!(
            "\nTree={i}\nnum_leaves=2\nnum_cat=0\nsplit_feature={feature}\nsplit_gain=1\nthreshold={threshold}\n\
             decision_type=2\nleft_child=-1\nright_child=-2\nleaf_value={low} {high}\n"
        );
    }
    text + "\nend of trees\n"
}

const MIX: &str = r#"
[objective]
name = "worth"
goal = "maximize"
expression = "strength - 0.5 * cost"

[variables]
flow = { type = "continuous", bounds = [0, 10] }
temp = { type = "integer", bounds = [20, 90] }

[models]
strength = { file = "strength.txt" }
purity = { file = "purity.txt" }

[define]
cost = "flow + 0.1 * temp"

[constraints]
"pure enough" = "purity >= 0.95"
"#;

/// A folder with `mix.toml` and its two models.
pub(crate) fn mix() -> Folder {
    let folder = Folder::new();
    folder.write("strength.txt", stumps(&["temp", "flow"], &[(1, 5.0, 1.0, 10.0), (0, 40.0, 10.0, 30.0)]));
    folder.write("purity.txt", stumps(&["flow"], &[(0, 7.5, 0.99, 0.9)]));
    folder.write("mix.toml", MIX);
    folder
}

#[test]
fn the_best_mix_of_two_models_and_a_cost() {
    let folder = mix();
    let best = folder.run(&["optimize", "mix.toml", "--format", "json"]).json();
    // Just above a flow of 5 and at 41 degrees: 40 - 0.5 (5 + 4.1).
    let value = best["value"].as_f64().unwrap();
    assert!((value - 35.45).abs() < 4e-3 && best["bound"].as_f64().unwrap() >= value, "{best}");
    assert_eq!((best["status"].as_str(), best["point"]["temp"].as_i64()), (Some("optimal"), Some(41)));
    assert_eq!(best["predictions"], serde_json::json!({ "strength": 40.0, "purity": 0.99 }));
    let text = folder.run(&["optimize", "mix.toml", "--fix", "flow=8"]);
    assert!(text.code == 1 && text.stdout.starts_with("infeasible"), "{}", text.stdout);
    let least = folder.run(&["optimize", "mix.toml", "--minimize", "--format", "json"]).json();
    // 11 - 0.5 (5 + 4) at the strength of 11: a flow of 5 and 40 degrees.
    assert!((least["value"].as_f64().unwrap() - 6.5).abs() < 1e-3, "{least}");
}

/// The stairs of the cost make no cells of their own.
#[test]
fn the_best_cells_of_two_models_are_listed() {
    let folder = mix();
    let list = folder.run(&["optimize", "mix.toml", "--top", "3", "--format", "json"]).json();
    let others = list["others"].as_array().unwrap();
    // 40 and 31 above 40 degrees, on both sides of a flow of 5; then 20 below.
    let values = [&list, &others[0], &others[1]].map(|cell| cell["value"].as_f64().unwrap());
    for (value, expected) in values.iter().zip([35.45, 28.95, 16.5]) {
        assert!((value - expected).abs() < 4e-3, "{list}");
    }
    assert_eq!(
        (
            list["status"].as_str(),
            others.len(),
            &others[0]["predictions"]["strength"],
            &others[0]["cell"]["flow"]
        ),
        (Some("optimal"), 2, &serde_json::json!(31.0), &serde_json::json!([0.0, 5.0]))
    );
    assert!(
        list["cell"]["flow"][1] == 7.5 && list["cell"]["temp"] == serde_json::json!([41.0, 90.0]),
        "{list}"
    );
    let text = folder.run(&["optimize", "mix.toml", "--top", "2"]).stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].starts_with("worth: ") && lines[3].starts_with("2.: ") && lines.len() == 6, "{text}");
    assert!(lines[4].starts_with("strength = 31, purity = 0.99"), "{text}");
    // The fourth cell is the last that is pure enough.
    let all = folder.run(&["optimize", "mix.toml", "--top", "9", "--format", "json"]).json();
    assert!(all["others"].as_array().unwrap().len() == 3 && all["status"] == "optimal", "{all}");
}

#[test]
fn mistakes_in_a_problem_over_models_have_their_place() {
    let folder = mix();
    let refused = |text: &str, parts: &[&str]| {
        folder.write("bad.toml", text);
        folder.refused(&["optimize", "bad.toml"], parts);
    };
    refused(&MIX.replace("purity.txt", "none.txt"), &["bad.toml:13", "none.txt"]);
    refused(&MIX.replace("purity >= 0.95", "purty >= 0.95"), &["bad.toml:19", "purty", "purity"]);
    refused(&MIX.replace("- 0.5 * cost", "- 0.5 * price"), &["bad.toml:5", "price"]);
    refused(&MIX.replace("expression = ", "expresion = "), &["bad.toml:5", "expression"]);
    refused(
        &MIX.replace("temp = {", "heat = {").replace("* temp", "* heat"),
        &["bad.toml:12", "\"temp\"", "heat"],
    );
    refused(&MIX.replace("purity = {", "flow = {"), &["flow", "variable too"]);
    refused(&MIX.replace("file = \"purity.txt\"", "path = \"purity.txt\""), &["bad.toml:13", "path", "file"]);
    folder.write("c.bin", "no proof");
    folder.refused(&["verify", "mix.toml", "c.bin"], &["c.bin", "checksum"]);
    folder.refused(&["verify", "mix.toml", "c.bin", "--data", "t.csv"], &["--data"]);
    folder.refused(&["verify", "mix.toml", "c.bin", "--by-position"], &["--by-position"]);
    folder.refused(&["optimize", "mix.toml", "--by-position"], &["--by-position"]);
    folder.refused(&["optimize", "mix.toml", "--data", "t.csv"], &["--data"]);
    let both = ["optimize", "strength.txt", "--data", "t.csv", "--problem", "p.toml"];
    folder.refused(&both, &["--data and --problem"]);
    folder.refused(&["suggest", "mix.toml"], &["mix.toml:11", "leafgp optimize"]);
    folder.refused(&["optimize", "strength.txt"], &["--data T.csv", "--problem FILE.toml"]);
}

#[test]
fn the_smallest_change_reaches_the_target_or_there_is_none() {
    let folder = mix();
    folder.write("t.csv", "temp,flow\n20,0\n90,10\n35,2.5\n");
    let reach = |target: &str, rest: &[&str]| {
        let mut arguments =
            vec!["reach", "strength.txt", "--data", "t.csv", "--from", "3", "--target", target];
        arguments.extend(["--format", "json"]);
        arguments.extend(rest);
        folder.run(&arguments)
    };
    // 31 needs more than 40 degrees: 5 of 70; the flow stays as it is, to the last digit.
    let nearest = reach(">= 31", &[]).json();
    assert!((nearest["distance"].as_f64().unwrap() - 5.0 / 70.0).abs() < 1e-5, "{nearest}");
    assert_eq!(
        (nearest["point"]["flow"].as_f64(), nearest["changes"].as_object().unwrap().len()),
        (Some(2.5), 1)
    );
    assert_eq!(nearest["predictions"]["prediction"], serde_json::json!(31.0));
    // 20 by the flow, 2.5 of 10, or with a change of temperature; by weights the other way.
    assert!((reach(">= 20", &[]).json()["distance"].as_f64().unwrap() - 5.0 / 70.0).abs() < 1e-5);
    let dear = reach(">= 20", &["--cost", "temp=10", "--cost", "flow=0.5"]).json();
    assert!((dear["distance"].as_f64().unwrap() - 0.125).abs() < 1e-4, "{dear}");
    let fixed = reach(">= 31", &["--fix", "temp=35"]);
    assert_eq!(fixed.code, 1);
    let fixed: serde_json::Value = serde_json::from_str(&fixed.stdout).unwrap();
    assert_eq!(
        (fixed["reachable"].as_bool(), fixed["predictions"]["prediction"].as_f64()),
        (Some(false), Some(20.0))
    );
    // With the constraints of a problem over models: 40 at a flow above 5, which the purity allows.
    let from = "flow=2.5, temp=35";
    let both = folder.run(&["reach", "mix.toml", "--from", from, "--target", "strength >= 40"]).stdout;
    assert!(both.starts_with("optimal") && both.contains("flow") && both.contains("purity = 0.99"), "{both}");
    for (arguments, parts) in [
        (["--from", "flow=2", "--target", ">= 1"], "no value for \"temp\""),
        (["--from", "9", "--target", ">= 1"], "there is no row 9; there are 3"),
        (["--from", "1", "--target", "60"], "expected such as"),
        (["--from", "1", "--target", "purity >= 60"], "prediction"),
    ] {
        let mut all = vec!["reach", "strength.txt", "--data", "t.csv"];
        all.extend(arguments);
        folder.refused(&all, &[parts]);
    }
}

#[test]
fn the_proof_of_a_model_optimum_is_written_and_checked() {
    let folder = mix();
    folder.write("t.csv", "temp,flow\n20,0\n90,10\n");
    let data = ["--data", "t.csv", "--maximize"];
    let optimize = |rest: &[&'static str]| [&["optimize", "strength.txt"], &data[..], rest].concat();
    let verify = |rest: &[&'static str]| [&["verify", "strength.txt", "c.bin"], rest].concat();
    assert_eq!(folder.run(&optimize(&["--certificate", "c.bin"])).code, 0);
    let verified = folder.run(&verify(&["--data", "t.csv", "--maximize", "--format", "json"])).json();
    assert_eq!((verified["verified"].as_bool(), verified["objective"].as_f64()), (Some(true), Some(-40.0)));
    // Another direction, another box: another problem.
    assert_eq!(folder.run(&verify(&["--data", "t.csv", "--minimize"])).code, 1);
    assert_eq!(folder.run(&verify(&["--data", "t.csv", "--maximize", "--fix", "temp=30"])).code, 1);
    folder.refused(&verify(&["--maximize"]), &["--data"]);
    // Under constraints too.
    let plain = "[objective]\nname = \"y\"\ngoal = \"maximize\"\n[variables]\n\
                 flow = { type = \"continuous\", bounds = [0, 10] }\ntemp = { type = \"integer\", bounds = [20, 90] }\n\
                 [constraints]\npump = \"temp + 10 * flow <= 85\"\n";
    folder.write("p.toml", plain);
    let run = folder.run(&["optimize", "strength.txt", "--problem", "p.toml", "--certificate", "c.bin"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let verified = folder.run(&verify(&["--problem", "p.toml", "--format", "json"])).json();
    assert_eq!((verified["verified"].as_bool(), verified["objective"].as_f64()), (Some(true), Some(-31.0)));
}

#[test]
fn the_proof_of_an_optimum_over_several_models_is_written_and_checked() {
    let folder = mix();
    let prove = |rest: &[&'static str]| {
        let run = folder.run(&[&["optimize", "mix.toml", "--certificate", "c.bin"], rest].concat());
        (run.code, run.stderr)
    };
    let check = |rest: &[&'static str]| folder.run(&[&["verify", "mix.toml", "c.bin"], rest].concat());
    assert_eq!(prove(&[]), (0, String::new()));
    let verified = check(&["--format", "json"]).json();
    // As it is searched: turned round. No mix is worth more than 35.45 and the gap.
    let (objective, bound) = (verified["objective"].as_f64().unwrap(), verified["bound"].as_f64().unwrap());
    assert!((objective + 35.45).abs() < 4e-3 && (-35.46..=-35.45).contains(&bound), "{verified}");
    let bytes = std::fs::metadata(folder.path("c.bin")).unwrap().len();
    assert_eq!((verified["verified"].as_bool(), verified["bytes"].as_u64()), (Some(true), Some(bytes)));
    // The numbers that the proof is tied to, and a limit that is long enough.
    assert_eq!(check(&["--statement", "statement", "--time-limit", "60"]).code, 0);
    assert!(std::fs::read(folder.path("statement")).unwrap().starts_with(b"leafgp problem 3"));
    folder.refused(
        &["verify", "mix.toml", "c.bin", "--statement", "mix.toml"],
        &["mix.toml", "reads this file"],
    );

    // Another direction, another box, another model, another expression, another limit: another problem.
    let refused = |what: &str, rest: &[&'static str]| {
        let run = check(rest);
        assert!(
            run.code == 1 && run.stderr.contains("another problem"),
            "{what}: {} {}",
            run.code,
            run.stderr
        );
    };
    refused("direction", &["--minimize"]);
    refused("box", &["--fix", "temp=41"]);
    let strength = std::fs::read_to_string(folder.path("strength.txt")).unwrap();
    folder.write("strength.txt", strength.replace("leaf_value=1 10", "leaf_value=1 10.5"));
    refused("leaf", &[]);
    folder.write("strength.txt", strength.replace("threshold=40", "threshold=42"));
    refused("split", &[]);
    folder.write("strength.txt", &strength);
    for (from, to) in [("0.1 * temp", "0.2 * temp"), ("0.95", "0.94"), ("0, 10]", "0, 11]")] {
        folder.write("mix.toml", MIX.replace(from, to));
        refused(to, &[]);
    }
    folder.write("mix.toml", MIX);
    assert_eq!(check(&[]).code, 0);

    // That nothing is feasible is proved, too; and a proof that is not finished is none.
    assert_eq!(prove(&["--fix", "flow=8"]).0, 1);
    let said = check(&["--fix", "flow=8"]);
    assert!(said.code == 0 && said.stdout.contains("there is no feasible point"), "{}", said.stdout);
    let mut bytes = std::fs::read(folder.path("c.bin")).unwrap();
    bytes[40] ^= 1;
    folder.write("c.bin", bytes);
    folder.refused(&["verify", "mix.toml", "c.bin", "--fix", "flow=8"], &["checksum"]);
}

#[test]
fn rows_of_tables_are_named_by_their_lines() {
    let folder = mix();
    folder.write("t.csv", "temp,flow\n20,0\n\n\n90,fast\n");
    folder.refused(
        &["optimize", "strength.txt", "--data", "t.csv", "--maximize"],
        &["t.csv:5", "row 2", "\"fast\""],
    );
    folder.refused(&["predict", "strength.txt", "t.csv"], &["t.csv:5", "row 2", "\"fast\""]);
}

/// The model's own reader judges models of other libraries: features by name, cut files refused.
#[test]
fn fit_reads_models_by_name_and_refuses_cut_ones() {
    let folder = Folder::new();
    let model = stumps(&["temp", "flow"], &[(1, 5.0, 1.0, 2.0), (0, 40.0, 10.0, 30.0)]);
    folder.write("m.txt", &model);
    folder.write("p.toml", "[objective]\nname = \"y\"\ngoal = \"minimize\"\n[variables]\n\
        flow = { type = \"continuous\", bounds = [0, 10] }\ntemp = { type = \"continuous\", bounds = [20, 90] }\n");
    folder.write("p.csv", "flow,temp,y\n1,30,11\n6,30,12\n1,50,31\n6,50,32\n");
    let quality = folder.run(&["fit", "p.toml", "--model", "m.txt", "--format", "json"]).json();
    assert_eq!((quality["trees_rmse"].as_f64(), quality["n_rows"].as_u64()), (Some(0.0), Some(4)));
    assert_eq!(quality["importances"]["temp"], serde_json::json!({ "gain": 0.5, "splits": 1 }));
    let cut = model.split("\nTree=1").next().unwrap().to_owned() + "\nend of trees\n";
    folder.write("cut.txt", &cut);
    folder.refused(&["fit", "p.toml", "--model", "cut.txt"], &["cut.txt", "tree"]);
    folder.write("other.txt", model.replace("feature_names=temp", "feature_names=heat"));
    folder.refused(&["fit", "p.toml", "--model", "other.txt"], &["\"heat\"", "temp"]);
}
