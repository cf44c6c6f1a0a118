//! Kills, threads and other set-ups.

use std::fs;

use leafgp_study::{RunOptions, StudyError, run};

use crate::support::{SMALL, Study, files, runs};

#[test]
fn a_killed_run_resumes_to_the_same_bytes_wherever_it_was_cut() {
    let study = Study::new();
    study.run(SMALL, "whole", 1, None);
    for (problem, method) in [("g6", "leaf-gp"), ("branin", "rnd")] {
        let whole = fs::read(study.out("whole").run_file(problem, method, 7)).unwrap();
        let mut cuts = vec![0, 1];
        for (i, _) in whole.iter().enumerate().filter(|(_, b)| **b == b'\n') {
            // The whole line but its end, the line, and a bit of the next one; and the middle of a line.
            cuts.extend([i - 40, i, i + 1, i + 2]);
        }
        for cut in cuts.into_iter().filter(|&cut| cut < whole.len()) {
            let file = study.out("whole").run_file(problem, method, 7);
            fs::write(&file, &whole[..cut]).unwrap();
            study.run(SMALL, "whole", 1, None);
            assert_eq!(fs::read(&file).unwrap(), whole, "{problem}/{method} cut at byte {cut}");
        }
    }
}

#[test]
fn what_a_crash_leaves_at_the_end_of_a_file_is_repaired_and_damage_elsewhere_is_told() {
    let study = Study::new();
    study.run(SMALL, "out", 1, None);
    let file = study.out("out").run_file("branin", "leaf-gp", 7);
    let whole = fs::read(&file).unwrap();
    let line = whole.iter().position(|&b| b == b'\n').unwrap() + 1;
    for tail in [&b"\0\0\0\0"[..], b"{\"evaluation\":\n", b"\xff\xfe", b"{}\n"] {
        fs::write(&file, [&whole[..line], tail].concat()).unwrap();
        study.run(SMALL, "out", 1, None);
        assert_eq!(fs::read(&file).unwrap(), whole);
    }
    let mut spoiled = whole.clone();
    spoiled[line] = b'x';
    fs::write(&file, &spoiled).unwrap();
    let options = RunOptions { jobs: 1, shard: None, interrupt: None };
    let error = run(&study.spec(SMALL), &study.out("out"), &options, &|_| {}).unwrap_err().to_string();
    assert!(error.contains("7.jsonl") && error.contains("line 2 is damaged"), "{error}");
    assert_eq!(fs::read(&file).unwrap(), spoiled, "damage is not overwritten");
}

#[test]
fn finished_runs_are_never_made_again_and_more_iterations_go_on_where_they_ended() {
    let study = Study::new();
    assert_eq!(study.run_counting(SMALL, "out"), 12 * 7);
    let before = files(&study.path("out"));
    assert_eq!(study.run_counting(SMALL, "out"), 0);
    assert_eq!(files(&study.path("out")), before);
    let longer = SMALL.replace("iterations = 4", "iterations = 6");
    assert_eq!(study.run_counting(&longer, "out"), 12 * 2);
    assert_eq!(study.run_counting(&longer, "fresh"), 12 * 9);
    assert_eq!(runs(&study.path("out")), runs(&study.path("fresh")));
    // Another seed and another method leave the rest alone.
    let wider = longer.replace("[7, 8]", "[7, 8, 9]") + "[[method]]\nname = \"random\"\n";
    assert_eq!(study.run_counting(&wider, "out"), 9 * (6 + 2 * 3));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let study = Study::new();
    study.run(SMALL, "one", 1, None);
    study.run(SMALL, "five", 5, None);
    assert_eq!(runs(&study.path("one")).len(), 12);
    assert_eq!(runs(&study.path("one")), runs(&study.path("five")));
    assert_eq!(
        fs::read(study.out("one").manifest_file()).unwrap(),
        fs::read(study.out("five").manifest_file()).unwrap()
    );
}

#[test]
fn results_of_other_settings_are_not_mixed() {
    let study = Study::new();
    study.run(SMALL, "out", 2, None);
    let before = files(&study.path("out"));
    let options = RunOptions { jobs: 1, shard: None, interrupt: None };
    for other in [
        SMALL.replace("lambda = 10", "lambda = 100"),
        SMALL.replace("samples = 50", "samples = 60"),
        SMALL.replace("initial = 3", "initial = 4"),
        SMALL.replace("name = \"leaf-gp\"\n", "name = \"leaf-gp\"\nsettings = { kappa = 1 }\n"),
        SMALL.replace("preset = \"paper\"", "preset = \"paper\"\ntrees = { n_trees = 20 }"),
        SMALL.replace("preset = \"paper\"", "preset = \"mixed\""),
    ] {
        let error = run(&study.spec(&other), &study.out("out"), &options, &|_| {}).unwrap_err();
        assert!(matches!(error, StudyError::Content { .. }), "{error}");
        assert!(error.to_string().contains("results are not mixed"), "{error}");
    }
    let renamed = SMALL.replace("\"small\"", "\"large\"");
    let error = run(&study.spec(&renamed), &study.out("out"), &options, &|_| {}).unwrap_err();
    assert!(matches!(error, StudyError::Mixed(_)), "{error}");
    assert_eq!(files(&study.path("out")), before);
    // Settings mean nothing to a method without a model.
    let random = "name = \"r\"\niterations = 2\nseeds = [1]\n[[problem]]\nfunction = \"branin\"\n[[method]]\nname = \"random\"\n";
    study.run(random, "r", 1, None);
    study.run(&random.replace("seeds", "settings = { kappa = 1 }\nseeds"), "r", 1, None);
}

#[test]
fn a_file_of_another_set_up_is_refused_as_it_is() {
    let study = Study::new();
    study.run(SMALL, "out", 1, None);
    let file = study.out("out").run_file("branin", "rnd", 7);
    let whole = fs::read(&file).unwrap();
    let other = study.spec(&SMALL.replace("lambda = 10", "lambda = 100"));
    let refused = |content: &[u8], part: &str| {
        fs::write(&file, content).unwrap();
        let error = run(&other, &study.out("out"), &RunOptions::default(), &|_| {}).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
        assert_eq!(fs::read(&file).unwrap(), content, "a refused file is not touched");
    };
    refused(&whole[..whole.len() - 9], "results are not mixed");
    // Not even a whole first line, but another one's.
    let line = whole.iter().position(|&b| b == b'\n').unwrap();
    refused(&whole[..line - 5], "the first line is no run's");
    refused(b"minutes of the meeting", "the first line is no run's");
    // What a crash makes of this run's first line is repaired.
    for crashed in [&b"\0\0\0"[..], &[&whole[..9], b"\0\0"].concat()] {
        fs::write(&file, crashed).unwrap();
        study.run(SMALL, "out", 1, None);
        assert_eq!(fs::read(&file).unwrap(), whole);
    }
}

#[test]
fn a_run_that_another_process_is_at_is_left_to_it() {
    let study = Study::new();
    let path = study.out("out").run_file("g6", "leaf-gp", 8);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let other = fs::File::create(&path).unwrap();
    other.lock().unwrap();
    let options = RunOptions { jobs: 2, shard: None, interrupt: None };
    let summary = run(&study.spec(SMALL), &study.out("out"), &options, &|_| {}).unwrap();
    assert_eq!((summary.complete, summary.busy, summary.total), (11, 1, 12));
    assert_eq!(fs::read(&path).unwrap(), b"");
    drop(other);
    assert_eq!(study.run(SMALL, "out", 1, None).complete, 12);
}
