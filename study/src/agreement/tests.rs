//! Runs, parts and summaries of small uncertainty studies.

use std::fs;
use std::path::{Path, PathBuf};

use super::{AgreementRun, AgreementRunId, AgreementSpec, charts, report, summarise, summary_csv};
use crate::{Event, RunOptions, Status, StudyFolder, merge, run};

fn spec() -> AgreementSpec {
    let text = "kind = \"agreement\"\nfunctions = [\"branin\", \"mixed\"]\nseeds = [1, 2, 3]\npoints = [15]\n\
                ratios = [0.2, 0.6, 1.0]\n[settings]\ntrees = { n_trees = 10 }\n";
    AgreementSpec::from_text(Path::new("s.toml"), text).unwrap()
}

fn options(jobs: usize, shard: Option<&str>) -> RunOptions {
    RunOptions { jobs, shard: shard.map(|s| s.parse().unwrap()), interrupt: None }
}

fn path(spec: &AgreementSpec, folder: &StudyFolder, function: &str, seed: u64) -> PathBuf {
    let function = crate::functions::find(function).unwrap();
    spec.run_file(folder, AgreementRunId { function, points: 15, seed })
}

/// All files with their contents.
fn contents(folder: &StudyFolder, spec: &AgreementSpec) -> Vec<String> {
    let mut all = Vec::new();
    for function in &spec.functions {
        for seed in &spec.seeds {
            all.push(std::fs::read_to_string(path(spec, folder, function.name, *seed)).unwrap());
        }
    }
    all
}

#[test]
fn runs_resume_and_shards_give_the_same_bytes() {
    let spec = spec();
    let whole = tempfile::tempdir().unwrap();
    let folder = StudyFolder::new(whole.path());
    let summary = run(&spec, &folder, &options(1, None), &|_| {}).unwrap();
    assert_eq!((summary.complete, summary.total, summary.interrupted), (6, 6, false));
    let expected = contents(&folder, &spec);

    let parts = tempfile::tempdir().unwrap();
    let shards = ["1/2", "2/2"].map(|shard| {
        let folder = StudyFolder::new(parts.path().join(shard.replace('/', "-")));
        run(&spec, &folder, &options(2, Some(shard)), &|_| {}).unwrap();
        folder
    });
    let folder = StudyFolder::new(parts.path().join("merged"));
    let summary = merge(&shards, &folder).unwrap();
    assert_eq!((summary.runs, summary.complete), (6, 6));
    assert_eq!(contents(&folder, &spec), expected);
    let reports = [whole.path(), folder.path()].map(|path| {
        let out = path.join("report");
        let summary = report(&StudyFolder::new(path), &out).unwrap();
        assert_eq!((summary.complete, summary.planned), (6, 6));
        ["report.html", "agreement.csv", "agreement-branin-error.svg", "agreement-mixed-mean.svg"]
            .map(|name| std::fs::read_to_string(out.join(name)).unwrap())
    });
    assert_eq!(reports[0], reports[1]);
    assert_eq!(reports[0][0].matches("<svg").count(), 4);
    assert_eq!(AgreementSpec::of_folder(&folder).unwrap().unwrap().seeds, spec.seeds);

    // A run that stopped after its first answer goes on to the same bytes, and complete ones are left alone.
    let path = path(&spec, &folder, "branin", 1);
    let text = fs::read_to_string(&path).unwrap();
    let end = text.match_indices('\n').nth(1).unwrap().0 + 1;
    // Half of the next line stands there too, as after a kill.
    fs::write(&path, &text[..end + 20]).unwrap();
    let answers = std::sync::atomic::AtomicUsize::new(0);
    run(&spec, &folder, &options(1, None), &|event| {
        if let Event::Step { .. } = event {
            answers.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    })
    .unwrap();
    assert_eq!(answers.into_inner(), 2);
    assert_eq!(contents(&folder, &spec), expected);

    let mut other = spec.clone();
    other.settings.kappa = 3.0;
    let refused = run(&other, &folder, &options(1, None), &|_| {}).unwrap_err().to_string();
    assert!(refused.contains("agreement.json"), "{refused}");
    assert_eq!(contents(&folder, &spec), expected);
}

#[test]
fn parts_that_do_not_belong_together_are_not_merged() {
    let spec = AgreementSpec { seeds: vec![1], ..spec() };
    let parts = tempfile::tempdir().unwrap();
    let folder = |name: &str| StudyFolder::new(parts.path().join(name));
    let made =
        |name: &str, spec: &AgreementSpec| run(spec, &folder(name), &options(1, None), &|_| {}).unwrap();
    made("a", &spec);
    made("more", &AgreementSpec { seeds: vec![2], points: vec![15, 12], ..spec.clone() });
    made("ratios", &AgreementSpec { ratios: vec![0.6, 0.8], ..spec.clone() });
    let mut other = spec.clone();
    other.settings.kappa = 3.0;
    made("other", &other);
    let refused = |names: &[&str], expected: &str| {
        let folders: Vec<StudyFolder> = names.iter().map(|name| folder(name)).collect();
        let message = merge(&folders, &folder("out")).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
        assert!(!parts.path().join("out").exists());
    };
    refused(&["a", "other"], "settings");
    refused(&["a", "ratios"], "ratios");
    refused(&["a", "nowhere"], "nowhere");
    made("b", &spec);
    let path = path(&spec, &folder("b"), "branin", 1);
    let text = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[2] = lines[2].replace("\"nodes\":", "\"nodes\":1");
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    refused(&["a", "b"], "ratio 0.6");
    // More seeds and points.
    let summary = merge(&[folder("a"), folder("more")], &folder("out")).unwrap();
    assert_eq!((summary.runs, summary.complete), (6, 6));
    let united = AgreementSpec::of_folder(&folder("out")).unwrap().unwrap();
    assert_eq!((united.seeds, united.points), (vec![1, 2], vec![15, 12]));
    // One folder, one kind of study.
    let text =
        "iterations = 1\nseeds = [1]\n[[method]]\nname = \"random\"\n[[problem]]\nfunction = \"branin\"\n";
    let ordinary = crate::Spec::from_text(Path::new("o.toml"), text).unwrap();
    let make = |name: &str| crate::run(&ordinary, &folder(name), &options(1, None), &|_| {});
    assert!(make("a").unwrap_err().to_string().contains("agreement.json"));
    make("plain").unwrap();
    assert!(run(&spec, &folder("plain"), &options(1, None), &|_| {}).is_err());
    assert!(merge(&[folder("a")], &folder("plain")).is_err());
    assert!(crate::merge(&[folder("plain")], &folder("a")).is_err());
    assert!(!AgreementSpec::is_in(&folder("plain")) && folder("a").manifest().unwrap().is_none());
}

#[test]
fn means_grow_with_the_ratio_and_the_summary_holds_their_quartiles() {
    let spec = spec();
    let whole = tempfile::tempdir().unwrap();
    let folder = StudyFolder::new(whole.path());
    run(&spec, &folder, &options(2, None), &|event| {
        let Event::Step { step: record, .. } = event else { return };
        let (Some(mean), Some(value)) = (record.mean, record.value) else {
            assert_eq!(record.status, Status::Infeasible);
            return;
        };
        assert_eq!(record.error.unwrap(), ((mean - value) / mean).abs());
        assert!(record.agreement.unwrap() <= record.ratio + 1e-9);
    })
    .unwrap();
    let read =
        |function: &str, seed| AgreementRun::read(&path(&spec, &folder, function, seed)).unwrap().unwrap();
    let runs: Vec<AgreementRun> =
        ["branin", "mixed"].iter().flat_map(|f| [1, 2, 3].map(|seed| read(f, seed))).collect();
    let rows = summarise(&spec, &runs);
    assert_eq!(rows.len(), 6);
    let mut means: Vec<f64> = runs[..3].iter().map(|run| run.records[2].mean.unwrap()).collect();
    means.sort_by(f64::total_cmp);
    let row = rows.iter().find(|r| r.function == "branin" && r.ratio == 1.0).unwrap();
    assert_eq!((row.runs, row.found), (3, 3));
    assert_eq!(row.mean[1], means[1]);
    // Quartiles of three values by linear interpolation: half way between neighbours.
    assert_eq!(row.mean[0], 0.5 * (means[0] + means[1]));
    let same = |w: &[crate::agreement::AgreementRow]| w[0].function == w[1].function && w[0].found == 3;
    for pair in rows.windows(2).filter(|w| same(w)) {
        assert!(pair[1].mean[1] >= pair[0].mean[1] - 1e-3 * pair[0].mean[1].abs(), "{pair:?}");
    }
    assert_eq!(summary_csv(&rows).lines().count(), 7);
    assert_eq!(charts(&spec, &rows).len(), 4);
}

#[test]
fn a_run_of_another_set_up_is_refused_before_anything_is_written() {
    let spec = AgreementSpec { seeds: vec![1], ..spec() };
    let whole = tempfile::tempdir().unwrap();
    let folder = StudyFolder::new(whole.path());
    run(&spec, &folder, &options(1, None), &|_| {}).unwrap();
    let manifest = whole.path().join("agreement.json");
    let mut other = spec.clone();
    other.settings.trees.n_trees = 11;
    // Without its manifest the folder takes any study; the runs in it do not.
    fs::remove_file(&manifest).unwrap();
    let file = path(&spec, &folder, "mixed", 1);
    let cut = fs::read(&file).unwrap();
    let cut = &cut[..cut.len() - 9];
    fs::write(&file, cut).unwrap();
    let error = run(&other, &folder, &options(1, None), &|_| {}).unwrap_err().to_string();
    assert!(error.contains("results are not mixed"), "{error}");
    assert!(!manifest.exists());
    assert_eq!(fs::read(&file).unwrap(), cut);
    run(&spec, &folder, &options(1, None), &|_| {}).unwrap();
    assert!(manifest.exists());
}

#[test]
fn answers_that_the_study_does_not_ask_for_are_told() {
    let spec = AgreementSpec { seeds: vec![1], functions: spec().functions[..1].to_vec(), ..spec() };
    let whole = tempfile::tempdir().unwrap();
    let folder = StudyFolder::new(whole.path());
    run(&spec, &folder, &options(1, None), &|_| {}).unwrap();
    let file = path(&spec, &folder, "branin", 1);
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&file, [lines[0], lines[2], ""].join("\n")).unwrap();
    let summary = run(&spec, &folder, &options(1, None), &|_| {}).unwrap();
    let [(name, error)] = summary.failed.as_slice() else { panic!("{summary:?}") };
    assert!(name == "branin-15/agreement/1" && error.contains("0.6") && error.contains("0.2"), "{error}");
    fs::write(&file, [lines[0], lines[2], lines[1], lines[3], ""].join("\n")).unwrap();
    let error = run(&spec, &folder, &options(1, None), &|_| {}).unwrap_err().to_string();
    assert!(error.contains("line 3 is damaged: the ratio 0.2 after 0.6"), "{error}");
}

#[test]
fn digests_are_pinned() {
    // Computed apart, from the bytes that `digest` describes.
    let spec = spec();
    assert_eq!(spec.fingerprint(spec.functions[0], 50), "b0b05443d492f711");
}
