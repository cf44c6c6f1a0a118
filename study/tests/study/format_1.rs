//! Folders of format 1, made by the first version: read, reported and merged, but no run is added.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use leafgp_study::agreement::{self, AgreementSpec};
use leafgp_study::{ReportOptions, RunOptions, Spec, StudyError, StudyFolder, Summary, merge, report, run};

use crate::support::{SMALL, Study, files, runs};

fn old(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/study/format-1").join(name)
}

/// The files of the report that the first version wrote.
fn report_of(name: &str) -> BTreeMap<String, Vec<u8>> {
    files(&old(name).join("report"))
}

/// A copy without the report.
fn copy(study: &Study, name: &str) -> StudyFolder {
    for (file, bytes) in files(&old(name)).into_iter().filter(|(file, _)| !file.starts_with("report")) {
        let path = study.path(name).join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    study.out(name)
}

#[test]
fn reports_of_old_folders_are_what_they_were() {
    let study = Study::new();
    let summary = report(&copy(&study, "ordinary"), &study.path("o"), &ReportOptions::default()).unwrap();
    assert_eq!((summary.complete, summary.planned), (12, 12));
    let summary = agreement::report(&copy(&study, "uncertainty"), &study.path("u")).unwrap();
    assert_eq!((summary.complete, summary.planned), (2, 2));
    for (name, out) in [("ordinary", "o"), ("uncertainty", "u")] {
        let new = files(&study.path(out));
        let old = report_of(name);
        assert!(!old.is_empty());
        for (file, bytes) in old {
            assert_eq!(new.get(&file), Some(&bytes), "{name} {file}");
        }
    }
}

#[test]
fn old_folders_are_merged_with_their_like_alone() {
    let study = Study::new();
    for name in ["ordinary", "uncertainty"] {
        let whole = copy(&study, name);
        let summary = merge(std::slice::from_ref(&whole), &study.out("merged")).unwrap();
        assert_eq!(summary.runs, summary.complete);
        assert_eq!(runs(&study.path("merged")), runs(whole.path()));
        let manifest = if name == "ordinary" { "study.json" } else { "agreement.json" };
        let written = |folder: &Path| fs::read_to_string(folder.join(manifest)).unwrap();
        assert_eq!(written(&study.path("merged")), written(whole.path()));
        // Nothing of a run of another digest.
        let run = files(&study.path("merged/runs")).into_keys().next().unwrap();
        let run = study.path("merged/runs").join(run);
        let text = fs::read_to_string(&run).unwrap().replacen("\"fingerprint\":\"", "\"fingerprint\":\"0", 1);
        fs::write(&run, text).unwrap();
        let error = merge(&[study.out("merged")], &study.out("other")).unwrap_err().to_string();
        assert!(error.contains("results are not mixed"), "{error}");
        fs::remove_dir_all(study.path("merged")).unwrap();
    }
    study.run(SMALL, "new", 1, Some("1/12"));
    let error = merge(&[study.out("ordinary"), study.out("new")], &study.out("m")).unwrap_err().to_string();
    assert!(error.contains("formats 1 and 2"), "{error}");
    assert!(!study.path("m").exists());
}

#[test]
fn no_run_is_added_to_an_old_folder() {
    let study = Study::new();
    let (ordinary, uncertainty) = (copy(&study, "ordinary"), copy(&study, "uncertainty"));
    let before = [files(ordinary.path()), files(uncertainty.path())];
    let options = RunOptions::default();
    let refused = |result: Result<Summary, StudyError>| {
        let error = result.unwrap_err().to_string();
        for part in ["format 1", "report and merge read it", "another --out"] {
            assert!(error.contains(part), "{error}");
        }
    };
    refused(run(&Spec::from_file(&old("small.toml")).unwrap(), &ordinary, &options, &|_| {}));
    refused(run(&AgreementSpec::from_file(&old("ag.toml")).unwrap(), &uncertainty, &options, &|_| {}));
    assert_eq!([files(ordinary.path()), files(uncertainty.path())], before);
    // Nor to its runs, when the manifest is gone.
    fs::remove_file(ordinary.manifest_file()).unwrap();
    let error = run(&study.spec(SMALL), &ordinary, &options, &|_| {}).unwrap_err().to_string();
    assert!(error.contains("it is of format 1, the study of format 2; results are not mixed"), "{error}");
    assert!(!ordinary.manifest_file().exists());
}

/// All but the digests: the same seeds give the same points.
#[test]
fn runs_are_what_they_were() {
    let study = Study::new();
    study.run(SMALL, "new", 2, None);
    let records = |folder: &Path| -> BTreeMap<String, Vec<String>> {
        let lines =
            |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().lines().skip(1).map(str::to_owned).collect();
        runs(folder).into_iter().map(|(file, bytes)| (file, lines(bytes))).collect()
    };
    assert_eq!(records(&study.path("new")), records(&old("ordinary")));
}

#[test]
fn formats_to_come_are_refused() {
    let study = Study::new();
    let folder = copy(&study, "ordinary");
    let text = fs::read_to_string(folder.manifest_file()).unwrap();
    fs::write(folder.manifest_file(), text.replacen("\"format\": 1", "\"format\": 3", 1)).unwrap();
    let error = report(&folder, &study.path("r"), &ReportOptions::default()).unwrap_err().to_string();
    assert!(error.contains("format 3 is not format 2"), "{error}");
}
