//! `leafgp run`.

use std::path::Path;

use crate::mixed::{MIXED, folder_with};
use crate::support::Folder;

fn rows(text: &str) -> usize {
    text.lines().count() - 1
}

#[test]
fn the_main_job_ends_with_a_table_the_best_design_and_the_proofs() {
    let folder = Folder::new();
    let vessel = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/pressure-vessel.toml");
    let arguments =
        ["run", vessel.to_str().unwrap(), "--history", "vessel.csv", "--function", "pressure-vessel"];
    let arguments = [&arguments[..], &["--preset", "paper"]].concat();
    let ended = folder.run(&[&arguments[..], &["--iterations", "6"]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("6 of 6 model-based steps proved optimal"), "{}", ended.stdout);
    assert!(ended.stdout.contains("best: cost = "), "{}", ended.stdout);
    let text = folder.read("vessel.csv");
    assert_eq!(rows(&text), 11);
    // Each row satisfies the three constraints at the printed values, in plain arithmetic.
    for row in text.lines().skip(1) {
        let x: Vec<f64> = row.split(',').map(|cell| cell.parse().unwrap()).collect();
        let pi = std::f64::consts::PI;
        assert!(0.0193 * x[2] <= 0.0625 * x[0] && 0.00954 * x[2] <= 0.0625 * x[1], "{row}");
        assert!(pi * x[3] * x[2].powi(2) + 4.0 / 3.0 * pi * x[2].powi(3) >= 1_296_000.0, "{row}");
        assert!(x[0].fract() == 0.0 && x[1].fract() == 0.0);
    }
    // Further iterations count from where the table is, and one long run equals two short ones.
    let ended = folder.run(&[&arguments[..], &["--iterations", "4"]].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    let long = Folder::new();
    assert_eq!(long.run(&[&arguments[..], &["--iterations", "10"]].concat()).code, 0);
    assert_eq!(folder.read("vessel.csv"), long.read("vessel.csv"));
}

#[test]
fn every_built_in_function_runs_feasibly_without_a_file() {
    for name in ["hartmann6", "branin", "g1", "g4", "g6", "mixed", "styblinski-tang"] {
        let folder = Folder::new();
        let arguments = ["run", "--function", name, "--iterations", "2", "--format", "json"];
        let ended = folder.run(&[&arguments[..], &["--preset", "paper"]].concat());
        let answer = ended.json();
        assert_eq!(answer["steps"].as_array().unwrap().len(), 7, "{name}");
        assert!(answer["best"]["value"].as_f64().is_some(), "{name}: a feasible value exists");
        for step in &answer["steps"].as_array().unwrap()[5..] {
            assert_eq!(step["status"], "optimal", "{name}: {step}");
        }
        assert_eq!(rows(&folder.read(&format!("{name}.csv"))), 7);
        let by_default = Folder::new();
        let answer = by_default.run(&arguments).json();
        for step in &answer["steps"].as_array().unwrap()[5..] {
            assert_eq!(
                (&step["status"], &step["method"]),
                (&"local".into(), &"smooth search".into()),
                "{name}: {step}"
            );
        }
        let proven = Folder::new();
        let answer = proven.run(&[&arguments[..], &["--preset", "proven"]].concat()).json();
        for step in &answer["steps"].as_array().unwrap()[5..] {
            assert_eq!(
                (&step["status"], &step["method"]),
                (&"optimal".into(), &"cell".into()),
                "{name}: {step}"
            );
        }
    }
}

#[test]
fn the_table_of_the_default_says_what_was_proved_and_what_was_not() {
    let folder = Folder::new();
    let arguments = ["run", "--function", "branin", "--iterations", "20"];
    let ended = folder.run(&arguments);
    assert_eq!(ended.code, 0, "{ended:?}");
    // 25 evaluations: the one after 23 rows is proven, the other nineteen model-based ones are not.
    assert!(
        ended.stdout.contains("19 steps by local search; 1 of 1 cells proved optimal"),
        "{}",
        ended.stdout
    );
    let steps: Vec<&str> = ended.stdout.lines().skip(1).take(25).collect();
    let count = |word: &str| steps.iter().filter(|line| line.contains(word)).count();
    assert_eq!((count("first design"), count("local search"), count("optimal")), (5, 19, 1));
    let refused = folder.run(&[&arguments[..], &["--preset", "papr"]].concat());
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("paper, proven, smooth, mixed"), "{}", refused.stderr);
}

#[test]
fn a_run_through_a_finite_space_ends_with_code_1_and_the_word_exhausted() {
    let folder = Folder::new();
    folder.write(
        "p.toml",
        "[objective]\nname = \"y\"\ngoal = \"minimize\"\n[variables]\nb = { type = \"binary\" }\n",
    );
    folder.write("p.csv", "b,y\n0,1\n1,2\n");
    let ended = folder.run(&["suggest", "p.toml"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("exhausted"), "{}", ended.stderr);
    folder.write("p.csv", "b,y\n0,1\n");
    let ended = folder.run(&["suggest", "p.toml", "-n", "3", "--format", "json"]);
    assert_eq!(ended.code, 3, "{ended:?}");
    let answer: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let suggestions = answer["suggestions"].clone();
    assert_eq!((suggestions.as_array().unwrap().len(), &suggestions[0]["point"]["b"]), (1, &1.into()));
}

#[cfg(unix)]
#[test]
fn a_command_measures_and_its_failures_are_kept_as_such() {
    let folder = folder_with(MIXED, "");
    // Fails for water; else prints a value after some chatter.
    folder.write(
        "measure.sh",
        "read point\ncase \"$point\" in *water*) exit 7;; esac\necho measuring\necho \"$point\" | sed 's/.*\"passes\":\\([0-9]*\\).*/\\1/'\n",
    );
    let arguments = ["run", "p.toml", "--evaluate", "sh measure.sh", "--iterations", "4", "--initial", "6"];
    let ended = folder.run(&arguments);
    assert_eq!(ended.code, 0, "{ended:?}");
    let text = folder.read("p.csv");
    assert_eq!(rows(&text), 10, "{text}");
    for row in text.lines().skip(1) {
        assert_eq!(row.contains("water"), row.ends_with("failed"), "{row}");
    }
    assert!(text.contains("water"), "the space-filling design tries each level: {text}");
    assert!(ended.stdout.contains("exit status: 7"), "{}", ended.stdout);
}

#[cfg(unix)]
#[test]
fn failures_alone_are_no_answer() {
    let folder = folder_with(MIXED, "");
    let ended = folder.run(&["run", "p.toml", "--evaluate", "exit 7", "--iterations", "1", "--initial", "2"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(
        ended.stderr.contains("evaluation 1 of 3: failed") && ended.stdout.contains("status: 7"),
        "{ended:?}"
    );
    assert_eq!(rows(&folder.read("p.csv")), 3);
}

#[cfg(unix)]
#[test]
fn a_table_deleted_during_the_run_is_written_again() {
    let folder = folder_with(MIXED, "");
    let arguments =
        ["run", "p.toml", "--evaluate", "rm -f p.csv; echo 9.75", "--iterations", "2", "--initial", "2"];
    let ended = folder.run(&arguments);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(rows(&folder.read("p.csv")), 4);
    assert!(ended.stderr.contains("was deleted"), "{}", ended.stderr);
}

#[cfg(unix)]
#[test]
fn experiments_side_by_side_are_distinct_and_reproducible() {
    // Row 2 ends first, then 1, 4, 3, 6 and so on: each waits until the one before it stands in the table.
    let measure = r#"read point
    cells=$(echo "$point" | sed 's/"[^"]*"://g; s/[{}"]//g; s/\.0\([,}]\|$\)/\1/g')
    row=$(($(grep -nF "$cells," p.csv | cut -d: -f1) - 1))
    if [ $((row % 2)) = 1 ]; then before=$((row + 1)); else before=$((row - 3)); fi
    while [ $before -gt 0 ] && ! sed -n "$((before + 1))p" p.csv | grep -q '[0-9]$'; do sleep 0.01; done
    echo "$row" >> ended; echo "${cells%%,*}""#;
    let run = |parallel: &str| {
        let folder = folder_with(MIXED, "");
        folder.write("measure.sh", measure);
        let arguments = ["run", "p.toml", "--evaluate", "sh measure.sh", "--iterations", "7"];
        let ended = folder.run(&[&arguments[..], &["--parallel", parallel]].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        (folder.read("p.csv"), folder.read("ended"))
    };
    let (text, ended) = run("3");
    assert_eq!(rows(&text), 12);
    let expected = [2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11].map(|row: usize| row.to_string() + "\n");
    assert_eq!(ended, expected.concat());
    let mut points: Vec<&str> = text.lines().skip(1).map(|row| row.rsplit_once(',').unwrap().0).collect();
    points.sort_unstable();
    points.dedup();
    assert_eq!(points.len(), 12, "{text}");
    assert_eq!(text, run("3").0);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_a_complete_table_and_code_130() {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    let folder = folder_with(MIXED, "");
    let mut child = folder
        .command(&["run", "p.toml", "--evaluate", "sleep 0.2; echo 1", "--iterations", "500"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    // The first row is there, as pending, before its evaluation starts.
    let has_value = || folder.path("p.csv").exists() && folder.read("p.csv").contains(",1\n");
    while !has_value() && started.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let interrupted =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let text = folder.read("p.csv");
    assert!(text.ends_with('\n') && rows(&text) >= 1);
    assert!(text.lines().skip(1).all(|row| row.split(',').count() == 6 && row.ends_with(",1")), "{text}");
}

#[test]
fn mistakes_in_the_arguments_are_named() {
    let folder = folder_with(MIXED, "");
    for (arguments, expected) in [
        (&["run", "--function", "rosenbrock", "--iterations", "1"][..], "styblinski-tang"),
        (&["run", "p.toml", "--function", "branin", "--iterations", "1"], "expects 2"),
        (&["run", "p.toml", "--iterations", "1"], "--evaluate"),
        (&["run", "p.toml", "--evaluate", "echo 1"], "--iterations"),
        (&["run", "p.toml", "--evaluate", "echo 1", "--iterations", "many"], "whole number"),
    ] {
        let ended = folder.run(arguments);
        assert_eq!(ended.code, 2, "{arguments:?}: {ended:?}");
        assert!(ended.stderr.contains(expected), "{arguments:?}: {ended:?}");
        assert!(!folder.path("p.csv").exists());
    }
}

#[cfg(unix)]
#[test]
fn a_command_that_does_not_exist_ends_the_run_and_excludes_nothing() {
    let folder = folder_with(MIXED, "");
    for command in ["no-such-program", "./p.toml"] {
        let ended = folder.run(&["run", "p.toml", "--evaluate", command, "--iterations", "100"]);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.contains("cannot be run") && ended.stderr.contains(command), "{ended:?}");
        assert!(!folder.path("p.csv").exists() || rows(&folder.read("p.csv")) == 0);
    }
    // What the others of the same round measured is kept.
    folder.write("once.sh", "mkdir once 2>/dev/null && { sleep 0.2; echo 5; exit; }; exit 127");
    let ended =
        folder.run(&["run", "p.toml", "--evaluate", "sh once.sh", "--iterations", "9", "--parallel", "3"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    let text = folder.read("p.csv");
    assert!(rows(&text) == 1 && text.ends_with(",5\n"), "{text}");
}

#[cfg(unix)]
#[test]
fn three_failures_in_a_row_end_a_run_unless_it_is_to_keep_going() {
    let arguments = ["run", "p.toml", "--evaluate", "echo 'a \"b\",c' >&2; exit 7", "--iterations", "4"];
    let folder = folder_with(MIXED, "");
    let ended = folder.run(&arguments);
    assert_eq!(ended.code, 1, "{ended:?}");
    for part in ["3 evaluations failed one after the other", "exit status: 7", "--keep-going"] {
        assert!(ended.stderr.contains(part), "{part}: {ended:?}");
    }
    let text = folder.read("p.csv");
    assert!(text.lines().next().unwrap().ends_with(",failure,status"), "{text}");
    assert_eq!(text.matches("the command ended with exit status: 7,failed").count(), 3, "{text}");
    let folder = folder_with(MIXED, "");
    let ended = folder.run(&[&arguments[..], &["--keep-going"]].concat());
    assert_eq!(ended.code, 1, "{ended:?}");
    assert_eq!(rows(&folder.read("p.csv")), 9);
    // A value in between starts the count again.
    let folder = folder_with(MIXED, "");
    folder.write(
        "third.sh",
        "n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n; [ $((n % 3)) = 0 ] && echo 1",
    );
    let ended = folder.run(&["run", "p.toml", "--evaluate", "sh third.sh", "--iterations", "4"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(rows(&folder.read("p.csv")), 9);
}
