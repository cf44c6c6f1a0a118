use crate::support::Folder;

const SPEC: &str = r#"name = "small"
iterations = 3
initial = 3
seeds = "1..2"

[[problem]]
function = "branin"

[[method]]
name = "leaf-gp"

[[method]]
name = "random"
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.toml", SPEC);
    folder
}

#[test]
fn run_merge_and_report_end_with_a_page() {
    let folder = folder();
    let run = folder.run(&["study", "run", "s.toml", "--out", "a", "--shard", "1/2", "--jobs", "1", "-v"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "2 of 2 runs complete in a\n"), "{run:?}");
    assert!(run.stderr.contains("branin/leaf-gp/1 complete: best "), "{run:?}");
    assert_eq!(folder.run(&["study", "run", "s.toml", "--out", "b", "--shard", "2/2", "--quiet"]).stderr, "");
    let again = folder.run(&["study", "run", "s.toml", "--out", "b", "--shard", "2/2"]);
    assert!(again.stderr.contains("0 evaluations to make; 2 runs are complete"), "{again:?}");
    let run = folder.run(&["study", "merge", "a", "b", "--out", "all"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "4 runs in all, 4 of them complete\n"), "{run:?}");
    let run = folder.run(&["study", "report", "all"]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "all/report/report.html\n", ""));
    assert!(folder.read("all/report/report.html").contains("leaf-gp against random"));
    assert!(folder.read("all/report/final.csv").contains("branin,leaf-gp,2,2,"));
    let run = folder.run(&["study", "report", "a", "--out", "part"]);
    assert!(run.stderr.contains("covers the 2 complete runs of 4"), "{run:?}");
}

#[test]
fn bad_specs_are_refused_with_place_field_and_expectation_and_nothing_is_written() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("seeds = \"1..2\"", "sedes = [1]", &["s.toml:4:1", "sedes", "did you mean", "the study file"]),
        ("seeds = \"1..2\"", "", &["s.toml", "seeds", "101..120"]),
        ("\"1..2\"", "\"2..1\"", &["s.toml:4:9", "seeds", "range"]),
        ("\"1..2\"", "[1, 1]", &["seeds[1]", "twice"]),
        ("\"1..2\"", "[1.5]", &["seeds[0]"]),
        ("\"1..2\"", "[]", &["seeds", "empty"]),
        ("iterations = 3", "iterations = -1", &["s.toml:2:14", "iterations", "0..=1000000"]),
        ("initial = 3", "initial = 0", &["initial", "1..=1000000"]),
        ("branin", "barnin", &["s.toml:7:12", "problem[0].function", "branin"]),
        ("function = \"branin\"", "", &["problem[0]", "neither", "function"]),
        ("function = \"branin\"", "file = \"none.toml\"", &["none.toml", "cannot be read"]),
        ("function = \"branin\"", "function = \"branin\"\nevaluate = \"x\"", &["problem[0]", "exactly one"]),
        ("function = \"branin\"", "function = \"branin\"\ntimeout = 3", &["problem[0].timeout", "evaluate"]),
        (
            "function = \"branin\"",
            "function = \"g6\"\ninfeasible = \"none\"",
            &["problem[0].infeasible", "`skip`"],
        ),
        (
            "function = \"branin\"",
            "function = \"branin\"\ninfeasible = \"skip\"",
            &["problem[0].infeasible", "no constraints"],
        ),
        ("[[problem]]", "[problem]", &["problem", "two brackets"]),
        ("[[method]]\nname = \"random\"", "", &[]),
        ("name = \"random\"", "name = \"leaf-gp\"", &["method[1].name", "two have the name"]),
        ("name = \"random\"", "name = \"a/b\"\nkind = \"random\"", &["method[1].name", "folder"]),
        ("name = \"random\"", "name = \"x\"", &["method[1].kind", "missing", "feas-random"]),
        ("name = \"random\"", "kind = \"randon\"", &["method[1].kind", "randon", "`random`"]),
        (
            "name = \"random\"",
            "name = \"random\"\nsettings = { kappa = 1 }",
            &["method[1].settings", "no model"],
        ),
        ("name = \"random\"", "name = \"random\"\nconstraints = \"exact\"", &["method[1].constraints"]),
        ("name = \"random\"", "name = \"random\"\nsamples = 5", &["method[1].samples", "leaf-gp-rnd"]),
        ("name = \"random\"", "name = \"random\"\nproblems = [\"g1\"]", &["method[1].problems[0]", "branin"]),
        ("name = \"random\"", "name = \"p\"\nkind = \"external\"", &["method[1].command", "missing"]),
        (
            "name = \"leaf-gp\"",
            "name = \"leaf-gp\"\nconstraints = \"penalty\"",
            &["method[0].lambda", "weight"],
        ),
        ("name = \"leaf-gp\"", "name = \"leaf-gp\"\nlambda = 1", &["method[0].lambda", "penalty"]),
        (
            "name = \"leaf-gp\"",
            "name = \"leaf-gp\"\nconstraints = \"penalty\"\nlambda = -1",
            &["method[0].lambda", "[0, 1e30]"],
        ),
        (
            "name = \"leaf-gp\"",
            "name = \"leaf-gp\"\nsettings = { kapa = 1 }",
            &["s.toml:11:14", "method[0].settings.kapa", "kappa"],
        ),
        (
            "name = \"leaf-gp\"",
            "name = \"leaf-gp\"\nsettings = { trees = { n_trees = 0 } }",
            &["s.toml:11", "method[0].settings.trees.n_trees", "out of range"],
        ),
        (
            "name = \"leaf-gp\"",
            "name = \"leaf-gp\"\nsettings = { point = \"middle\" }",
            &["method[0].settings.point", "middle"],
        ),
        (
            "name = \"leaf-gp\"",
            "name = \"leaf-gp\"\nsettings = { solver = { time_limit = 5 } }",
            &["method[0].settings.solver.time_limit", "clock", "node_limit"],
        ),
        ("name = \"leaf-gp\"", "name = \"leaf-gp\"\nsettings = { seed = 5 }", &["settings.seed", "seeds"]),
        ("name = \"small\"", "name = 5", &["s.toml:1:8", "name", "text in quotes"]),
        ("name = \"small\"", "name = \"small", &["s.toml:1", "not valid TOML"]),
    ];
    for (from, to, parts) in cases {
        let folder = Folder::new();
        assert!(SPEC.contains(from), "{from}");
        folder.write("s.toml", SPEC.replacen(from, to, 1));
        if parts.is_empty() {
            assert_eq!(folder.run(&["study", "run", "s.toml", "--out", "o"]).code, 0);
            continue;
        }
        folder.refused(&["study", "run", "s.toml", "--out", "o"], parts);
        assert!(!folder.path("o").exists(), "{to}");
    }
}

#[test]
fn bad_arguments_and_foreign_folders_are_refused() {
    let folder = folder();
    for (arguments, part) in [
        (&["study", "run", "none.toml", "--out", "o"][..], "none.toml: cannot be read"),
        (&["study", "run", "s.toml", "--out", "o", "--seed", "5"], "seeds"),
        (&["study", "report", "o"], "no study's folder"),
        (&["study", "merge", "o", "--out", "m"], "no study's folder"),
    ] {
        folder.refused(arguments, &[part]);
    }
    for arguments in [
        &["study", "run", "s.toml"][..],
        &["study", "run", "s.toml", "--out", "o", "--shard", "3/2"],
        &["study"],
    ] {
        assert_eq!(folder.run(arguments).code, 2, "{arguments:?}");
    }
    assert!(!folder.path("o").exists() && !folder.path("m").exists());
    assert_eq!(folder.run(&["study", "run", "s.toml", "--out", "o"]).code, 0);
    folder.write("s.toml", SPEC.replace("initial = 3", "initial = 4"));
    folder.refused(&["study", "run", "s.toml", "--out", "o"], &["1.jsonl", "results are not mixed"]);
}

#[cfg(unix)]
#[test]
fn a_run_that_fails_does_not_stop_the_others_and_ends_with_code_1() {
    let folder = folder();
    folder.write(
        "s.toml",
        format!("{SPEC}[[method]]\nname = \"peer\"\nkind = \"external\"\ncommand = \"exit 7\"\n"),
    );
    let run = folder.run(&["study", "run", "s.toml", "--out", "o"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, "4 of 6 runs complete in o\n"), "{run:?}");
    assert!(run.stderr.contains("run branin/peer/2: the process ended"), "{run:?}");
    assert!(run.stderr.contains("error: 2 runs stopped with an error"), "{run:?}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_saves_everything_and_the_same_command_ends_with_the_same_bytes() {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    let folder = folder();
    folder.write("s.toml", SPEC.replace("iterations = 3", "iterations = 40"));
    let file = "o/runs/branin/leaf-gp/1.jsonl";
    let child = folder
        .command(&["study", "run", "s.toml", "--out", "o", "--jobs", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let lines = || std::fs::read_to_string(folder.path(file)).unwrap_or_default().lines().count();
    while lines() < 8 && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let interrupted =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the same command goes on from here"));
    let before = folder.read(file);
    assert!(before.ends_with('\n') && before.lines().count() >= 8);
    assert_eq!(folder.run(&["study", "run", "s.toml", "--out", "o"]).code, 0);
    assert_eq!(folder.run(&["study", "run", "s.toml", "--out", "p"]).code, 0);
    assert!(folder.read(file).starts_with(&before));
    assert_eq!(folder.read(file), folder.read("p/runs/branin/leaf-gp/1.jsonl"));
}

#[test]
fn uncertainty_studies_have_the_same_runner_and_neither_methods_nor_times() {
    let folder = Folder::new();
    folder.write(
        "u.toml",
        "kind = \"agreement\"\nfunctions = [\"branin\"]\npoints = [12]\nseeds = [1, 2]\nratios = [0.5, 1.0]\n",
    );
    let run = folder.run(&["study", "run", "u.toml", "--out", "a", "--shard", "1/2", "--jobs", "1", "-vv"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.stdout, "1 of 1 runs complete; summary and figures in a\n");
    for part in ["1 runs with 2 answers to make", "branin-12/agreement/1 ratio 0.5: ", "1 complete: mean "] {
        assert!(run.stderr.contains(part), "{part}: {run:?}");
    }
    assert_eq!(folder.run(&["study", "run", "u.toml", "--out", "b", "--shard", "2/2", "--quiet"]).stderr, "");
    let run = folder.run(&["study", "merge", "a", "b", "--out", "all"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "2 runs in all, 2 of them complete\n"), "{run:?}");
    folder.refused(&["study", "report", "all", "--without-times"], &["--without-times does not apply"]);
    folder.refused(&["study", "report", "all", "--baseline", "x"], &["--baseline does not apply"]);
    assert!(!folder.path("all/report").exists());
    let run = folder.run(&["study", "report", "all"]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "all/report/report.html\n", ""));
    // One run that cannot go on does not stop the other.
    let file = folder.read("all/runs/branin-12/agreement/1.jsonl");
    let lines: Vec<&str> = file.lines().collect();
    folder.write("all/runs/branin-12/agreement/1.jsonl", [lines[0], lines[2], ""].join("\n"));
    let other = folder.read("all/runs/branin-12/agreement/2.jsonl");
    folder.write("all/runs/branin-12/agreement/2.jsonl", &other[..other.len() - 9]);
    let run = folder.run(&["study", "run", "u.toml", "--out", "all", "--jobs", "1"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("run branin-12/agreement/1: ") && run.stderr.contains("0.5"), "{run:?}");
    assert_eq!(folder.read("all/runs/branin-12/agreement/2.jsonl"), other);
}
