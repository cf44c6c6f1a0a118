//! Reports and merging.

use std::fs;

use leafgp_study::{ReportOptions, Status, StudyError, merge, report};

use crate::support::{SMALL, Study, files, runs};

fn with_times() -> ReportOptions {
    ReportOptions { with_times: true, baseline: None }
}

#[test]
fn shards_merge_to_the_bytes_of_one_study() {
    let study = Study::new();
    study.run(SMALL, "whole", 2, None);
    let mut folders = Vec::new();
    for i in 1..=5 {
        let name = format!("shard{i}");
        study.run(SMALL, &name, 1, Some(&format!("{i}/5")));
        folders.push(study.out(&name));
    }
    // 12 runs dealt to 5 shards.
    let sizes: Vec<usize> = folders.iter().map(|f| runs(f.path()).len()).collect();
    assert_eq!(sizes, [3, 3, 2, 2, 2]);
    // In any order, and again into the same folder.
    folders.reverse();
    let summary = merge(&folders, &study.out("merged")).unwrap();
    assert_eq!((summary.runs, summary.complete), (12, 12));
    merge(&folders[..1], &study.out("merged")).unwrap();
    assert_eq!(runs(&study.path("merged")), runs(&study.path("whole")));
    for name in ["whole", "merged"] {
        let summary =
            report(&study.out(name), &study.path(&format!("{name}/report")), &ReportOptions::default())
                .unwrap();
        assert_eq!((summary.complete, summary.planned), (12, 12));
    }
    let [whole, merged] = ["whole/report", "merged/report"].map(|name| files(&study.path(name)));
    assert_eq!(whole.len(), 2 * 2 + 10 + 2);
    assert!(whole == merged, "the reports differ");
}

#[test]
fn half_a_study_merges_with_its_longer_self_and_not_with_another() {
    let study = Study::new();
    study.run(SMALL, "a", 2, None);
    let longer = SMALL.replace("[7, 8]", "[8, 6]");
    study.run(&longer, "b", 2, None);
    let file = study.out("b").run_file("branin", "leaf-gp", 8);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let summary = merge(&[study.out("b"), study.out("a")], &study.out("m")).unwrap();
    assert_eq!((summary.runs, summary.complete), (18, 18));
    assert_eq!(fs::read(study.out("m").run_file("branin", "leaf-gp", 8)).unwrap(), whole);

    // A record that says something else.
    let changed = String::from_utf8(whole).unwrap().replacen("\"iteration\":1", "\"iteration\":9", 1);
    fs::write(&file, changed).unwrap();
    let error = merge(&[study.out("a"), study.out("b")], &study.out("n")).unwrap_err().to_string();
    assert!(error.contains("branin/leaf-gp/8") && error.contains("not the same"), "{error}");
    study.run(&SMALL.replace("lambda = 10", "lambda = 1"), "c", 2, None);
    for (other, part) in [("c", "not the same"), ("nothing", "no such file")] {
        let error = merge(&[study.out("a"), study.out(other)], &study.out("n")).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
    assert!(!study.path("n").exists(), "nothing is written before everything was checked");
}

/// Three methods with results known beforehand: runs written by hand.
#[test]
fn tables_of_a_small_study_by_hand() {
    let study = Study::new();
    let text = "name = \"h\"\niterations = 1\ninitial = 1\nseeds = [1, 2, 3]\n[[problem]]\nfunction = \"branin\"\n\
                [[method]]\nname = \"a\"\nkind = \"random\"\n[[method]]\nname = \"b\"\nkind = \"feas-random\"\n[[method]]\nname = \"c\"\nkind = \"leaf-gp\"\n";
    study.run(text, "out", 1, None);
    // Best values after the first point and at the end; none for method c in seed 3.
    let values: [(&str, [[Option<f64>; 2]; 3]); 3] = [
        ("a", [[Some(9.0), Some(5.0)], [Some(9.0), Some(3.0)], [Some(9.0), Some(7.0)]]),
        ("b", [[Some(9.0), Some(6.0)], [Some(9.0), Some(3.0)], [Some(9.0), Some(8.0)]]),
        ("c", [[None, Some(1.0)], [None, Some(2.0)], [None, None]]),
    ];
    for (method, seeds) in values {
        for (seed, best) in (1..).zip(seeds) {
            let file = study.out("out").run_file("branin", method, seed);
            let text = fs::read_to_string(&file).unwrap();
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            for (k, best) in best.into_iter().enumerate() {
                let mut step: serde_json::Value = serde_json::from_str(&lines[k + 1]).unwrap();
                step["best"] = serde_json::json!(best);
                if (method, k) == ("c", 1) {
                    // Errors of 2 and -1/2 deviations, and an evaluation that failed.
                    let (value, mean) = [(Some(3.0), 1.0), (Some(2.0), 2.5), (None, 0.0)][seed as usize - 1];
                    step["value"] = serde_json::json!(value);
                    step["proof"] = serde_json::json!({ "status": "local", "gap": null, "bound": null,
                        "acquisition": 0.0, "mean": mean, "std": 1.0, "nodes": 0 });
                }
                lines[k + 1] = step.to_string();
            }
            fs::write(&file, lines.join("\n") + "\n").unwrap();
        }
    }
    let options = ReportOptions { with_times: true, baseline: Some("b".into()) };
    report(&study.out("out"), &study.path("report"), &options).unwrap();
    let read = |name: &str| fs::read_to_string(study.path("report").join(name)).unwrap();
    assert_eq!(
        read("curves/branin.csv"),
        "iteration,method,runs,lower_quartile,median,upper_quartile\n0,a,3,9,9,9\n1,a,3,4,5,6\n0,b,3,9,9,9\n1,b,3,4.5,6,7\n0,c,3,,,\n1,c,3,1.5,2,\n"
    );
    // Ranks: seed 1: c 1, a 2, b 3; seed 2: c 1, a and b 2.5; seed 3: a 1, b 2, c 3.
    let finals = read("final.csv");
    let rows: Vec<&str> = finals.lines().collect();
    assert!(rows[1].starts_with("branin,a,3,3,3,4,5,6,7,1.8333333333333333,0.39788"), "{finals}");
    assert!(rows[2].starts_with("branin,b,3,3,3,4.5,6,7,8,2.5,"), "{finals}");
    assert!(rows[3].starts_with("branin,c,3,2,1,1.5,2,,,1.6666666666666667,"), "{finals}");
    assert_eq!(
        read("signs.csv"),
        "problem,first,second,first_better,equal,second_better,p_value\nbranin,a,b,2,1,0,0.5\nbranin,a,c,1,0,2,1\nbranin,b,c,1,0,2,1\n"
    );
    // In units of 9 - 0.397887, the regret after the first points: logarithms of a -0.2716, -0.5193, -0.1149, of b -0.1863, -0.5193, -0.0537, of c -1.1554, -0.7299 and
    // the clipped 1.
    let regrets = read("regret.csv");
    let rows: Vec<Vec<&str>> = regrets.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let expected = [
        ("a", "b", -0.30195, -0.25307, ["2", "1", "0", "0.5"]),
        ("a", "c", -0.30195, -0.29495, ["1", "0", "2", "1"]),
        ("b", "c", -0.25307, -0.29495, ["1", "0", "2", "1"]),
    ];
    assert_eq!(rows.len(), expected.len(), "runs of two evaluations have no marks: {regrets}");
    for (row, (first, second, a, b, signs)) in rows.iter().zip(expected) {
        assert_eq!((row[..4].to_vec(), row[6..].to_vec()), (vec!["all", first, second, "3"], signs.to_vec()));
        for (cell, value) in [(row[4], a), (row[5], b)] {
            assert!((cell.parse::<f64>().unwrap() - value).abs() < 1e-5, "{regrets}");
        }
    }
    assert_eq!(
        read("calibration.csv"),
        "problem,method,steps,within_1,within_2,median_error\nbranin,c,2,0.5,1,1.25\n,c,2,0.5,1,1.25\n"
    );
    // Of c's last evaluations the third has no value.
    assert_eq!(
        read("outcomes.csv"),
        "problem,method,evaluations,infeasible,failed,share_infeasible\nbranin,a,3,0,0,0\nbranin,b,3,0,0,0\nbranin,c,3,0,1,0\n"
    );
    // Only the first seed of c comes below a tenth, with its second evaluation.
    let progress = read("progress.csv");
    let rows: Vec<&str> = progress.lines().skip(1).collect();
    assert_eq!(rows.len(), 9, "{progress}");
    for row in rows {
        let reached = if row.starts_with("branin,c,-1,") { "1" } else { "0" };
        assert!(row.ends_with(&format!(",3,{reached},,,")), "{row}");
    }
    assert_eq!(
        read("baseline.csv"),
        "method,problem,baseline,better,equal,worse,p_value,median,baseline_median\na,branin,b,2,1,0,0.5,5,6\nc,branin,b,2,0,1,1,2,6\n\
         a,,b,2,1,0,0.5,,\nc,,b,2,0,1,1,,\n"
    );
    assert_eq!(
        read("medians.md").lines().nth(2),
        Some("| branin | 5 [4, 6] | 6 [4.5, 7] | **2** [1.5, -] | 0.397887 |")
    );
    let unknown = ReportOptions { with_times: false, baseline: Some("aa".into()) };
    let error = report(&study.out("out"), &study.path("never"), &unknown).unwrap_err().to_string();
    assert!(
        error.contains("\"aa\"") && error.contains("a, b, c") && !study.path("never").exists(),
        "{error}"
    );
    assert!(read("results.csv").contains("branin,c,3,2,\n"));
    let proofs = read("proofs.csv");
    assert!(proofs.lines().all(|line| !line.starts_with("branin,a")), "{proofs}");
    let times = read("times.csv");
    assert_eq!(times.lines().count(), 4, "{times}");
    let page = read("report.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg") && page.contains("Seconds a step"));
    assert!(!page.contains("<script") && !page.contains("src=") && !page.contains("href=\"http"));
}

#[test]
fn the_share_of_proved_steps_is_counted() {
    let study = Study::new();
    // One node is not enough for every proof.
    let text = "name = \"p\"\niterations = 6\ninitial = 5\nseeds = [1, 2]\n[settings]\npreset = \"paper\"\n[[problem]]\nfunction = \"rastrigin\"\n[[method]]\nname = \"full\"\nkind = \"leaf-gp\"\n\
                [[method]]\nname = \"short\"\nkind = \"leaf-gp\"\nsettings = { solver = { node_limit = 1 }, trees = { min_data_in_bin = 1, max_depth = 6 } }\n";
    study.run(text, "out", 2, None);
    report(&study.out("out"), &study.path("report"), &ReportOptions::default()).unwrap();
    let proofs = fs::read_to_string(study.path("report/proofs.csv")).unwrap();
    for (line, method) in proofs.lines().skip(1).zip(["full", "short"]) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!((cells[1], cells[2]), (method, "12"));
        let steps = [1, 2].map(|seed| study.steps("out", "rastrigin", method, seed)).concat();
        let proved =
            steps.iter().filter_map(|s| s.proof.as_ref()).filter(|p| p.status == Status::Optimal).count();
        assert_eq!(cells[3], proved.to_string());
    }
    assert!(proofs.lines().nth(1).unwrap().contains("rastrigin,full,12,12,1,"), "{proofs}");
    let by_step = fs::read_to_string(study.path("report/proof_steps.csv")).unwrap();
    assert_eq!(by_step.lines().count(), 1 + 2 * 6, "{by_step}");
}

#[test]
fn steps_of_local_searches_are_recorded_as_such_and_are_no_proofs() {
    let study = Study::new();
    let text = "name = \"p\"\niterations = 20\ninitial = 5\nseeds = [1]\n[[problem]]\nfunction = \"branin\"\n[[method]]\nname = \"mixed\"\nkind = \"leaf-gp\"\n\
                [[method]]\nname = \"smooth\"\nkind = \"leaf-gp\"\nsettings = { preset = \"smooth\" }\n";
    study.run(text, "out", 2, None);
    report(&study.out("out"), &study.path("report"), &ReportOptions::default()).unwrap();
    for method in ["mixed", "smooth"] {
        for step in &study.steps("out", "branin", method, 1)[5..] {
            let proof = step.proof.as_ref().unwrap();
            // The evaluation after 23 rows is the mix's one proven step of these.
            if method == "mixed" && step.evaluation == 24 {
                assert!(proof.status == Status::Optimal && proof.gap.unwrap() <= 1e-4);
            } else {
                assert_eq!(
                    (proof.status, proof.gap, proof.bound, proof.nodes),
                    (Status::Local, None, None, 0)
                );
            }
        }
    }
    let proofs = fs::read_to_string(study.path("report/proofs.csv")).unwrap();
    assert!(proofs.lines().nth(1).unwrap().starts_with("branin,mixed,1,1,"), "{proofs}");
    assert_eq!(proofs.lines().count(), 2, "{proofs}");
}

/// Whether a step is proved depends on the gap that its case was made with.
#[test]
fn a_step_is_proved_to_the_gap_of_its_own_settings() {
    let study = Study::new();
    let text = "name = \"p\"\niterations = 2\ninitial = 5\nseeds = [1]\n[settings]\npreset = \"paper\"\n[[problem]]\nfunction = \"branin\"\n\
                [[method]]\nname = \"loose\"\nkind = \"leaf-gp\"\nsettings = { solver = { gap = 1e-2 } }\n\
                [[method]]\nname = \"tight\"\nkind = \"leaf-gp\"\nsettings = { solver = { gap = 1e-6 } }\n\
                [[method]]\nname = \"usual\"\nkind = \"leaf-gp\"\n";
    study.run(text, "out", 1, None);
    // Gaps written by hand: reached and missed.
    for (method, gaps) in [("loose", [5e-3, 2e-2]), ("tight", [5e-5, 5e-7]), ("usual", [1e-4, 5e-3])] {
        let file = study.out("out").run_file("branin", method, 1);
        let mut lines: Vec<String> = fs::read_to_string(&file).unwrap().lines().map(str::to_owned).collect();
        for (line, gap) in lines[6..].iter_mut().zip(gaps) {
            let mut step: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(step["proof"].is_object(), "{step}");
            step["proof"]["gap"] = serde_json::json!(gap);
            *line = step.to_string();
        }
        fs::write(&file, lines.join("\n") + "\n").unwrap();
    }
    report(&study.out("out"), &study.path("report"), &ReportOptions::default()).unwrap();
    let proofs = fs::read_to_string(study.path("report/proofs.csv")).unwrap();
    let counts: Vec<String> =
        proofs.lines().skip(1).map(|line| line.split(',').take(4).collect::<Vec<_>>().join(",")).collect();
    assert_eq!(counts, ["branin,loose,2,1", "branin,tight,2,1", "branin,usual,2,1"], "{proofs}");
    let by_step = fs::read_to_string(study.path("report/proof_steps.csv")).unwrap();
    for row in
        ["loose,1,1,1,", "loose,2,1,0,", "tight,1,1,0,", "tight,2,1,1,", "usual,1,1,1,", "usual,2,1,0,"]
    {
        assert!(by_step.contains(row), "{row}: {by_step}");
    }
    let page = fs::read_to_string(study.path("report/report.html")).unwrap();
    assert!(page.contains("the relative gap of each one's settings, 1e-6 to 1e-2"), "{page}");
}

#[test]
fn a_folder_that_is_no_study_is_told() {
    let study = Study::new();
    let error = report(&study.out("none"), &study.path("report"), &with_times()).unwrap_err();
    assert!(
        matches!(error, StudyError::Content { .. }) && error.to_string().contains("study.json"),
        "{error}"
    );
    fs::create_dir(study.path("odd")).unwrap();
    fs::write(study.path("odd/study.json"), "{}").unwrap();
    let error = report(&study.out("odd"), &study.path("report"), &with_times()).unwrap_err();
    assert!(error.to_string().contains("no study of leafgp"), "{error}");
    assert!(!study.path("report").exists());
}
