//! The problem files of `examples/plant`, and files made of tables.

use std::path::{Path, PathBuf};

use crate::mixed::{MIXED, folder_with, mixed_history};
use crate::support::Folder;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/plant")
}

#[test]
fn every_example_is_feasible_and_gives_suggestions_that_keep_its_rules() {
    let names = ["catalyst", "mixture", "network", "semibatch"];
    for name in names {
        let folder = Folder::new();
        let text = std::fs::read_to_string(examples().join(format!("{name}.toml"))).unwrap();
        folder.write("p.toml", text);
        if let Ok(table) = std::fs::read(examples().join(format!("{name}.csv"))) {
            folder.write("p.csv", table);
        }
        // That a rule is decided in f64 is worth knowing, and no fault of the file.
        let is_clean = |stderr: &str| stderr.lines().all(|line| line.contains("is decided in f64"));
        let check = folder.run(&["check", "p.toml"]);
        assert!(check.code == 0 && is_clean(&check.stderr), "{name}: {check:?}");
        assert!(check.stdout.contains("feasible, for instance:"), "{name}: {}", check.stdout);
        let run = folder.run(&["suggest", "p.toml", "-n", "2", "--append"]);
        assert_eq!(run.code, 0, "{name}: {run:?}");
        // Points that were planned break nothing.
        let check = folder.run(&["check", "p.toml"]);
        assert!(check.code == 0 && is_clean(&check.stderr), "{name}: {check:?}");
    }
    let files = std::fs::read_dir(examples()).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(files.filter(|path| path.extension().is_some_and(|e| e == "toml")).count(), names.len());
}

#[test]
fn a_table_becomes_a_problem_file_that_passes_check_with_it() {
    let folder = folder_with(MIXED, &mixed_history(30));
    folder.write(
        "t.csv",
        mixed_history(30)
            .replace("resin,", "nr,resin,")
            .lines()
            .enumerate()
            .map(|(i, line)| if i == 0 { format!("{line}\n") } else { format!("{i},{line}\n") })
            .collect::<String>(),
    );
    let run = folder.run(&["init", "--from", "t.csv", "--goal", "hardness", "--maximize"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
    assert!(
        run.stderr.contains("wrote t.toml") && run.stderr.contains("leafgp check t.toml\n"),
        "{}",
        run.stderr
    );
    let text = folder.read("t.toml");
    for line in [
        "name = \"hardness\"",
        "goal = \"maximize\"",
        "# no variable: nr (it counts the rows)",
        "passes = { type = \"integer\", bounds = [0, 6] }",
        "solvent = { type = \"categorical\", levels = [\"xylene\", \"butanol\", \"water\"] }",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(
        text.contains("\"bake temperature\" = { type = \"integer\"") && text.contains("step = 0.05 }"),
        "{text}"
    );
    let check = folder.run(&["check", "t.toml"]);
    assert_eq!((check.code, check.stderr.as_str()), (0, ""), "{}", check.stdout);
    assert_eq!(folder.run(&["suggest", "t.toml"]).code, 0);
}

#[test]
fn tables_of_other_programs_and_names_that_need_quotes_become_problem_files_too() {
    let folder = Folder::new();
    folder.write(
        "plan.csv",
        "\u{feff}Fluß [l/h];Lösemittel \"A\";Notiz;Status;Ausbeute %\r\n0,5;Wasser;kalt;;61,5\r\n1,25;\"a;b\";;done;62\r\n0,75;Wasser;;failed;\r\n2,5;x'y;;;70\r\n",
    );
    let run = folder.run(&["init", "deep.toml", "--from", "plan.csv", "--goal", "Ausbeute %"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stderr.contains("the goal is to be minimized") && run.stderr.contains("--history plan.csv"),
        "{}",
        run.stderr
    );
    let text = folder.read("deep.toml");
    assert!(
        text.contains(
            "\"Fluß\" = { type = \"continuous\", bounds = [0.25, 2.75], step = 0.25, unit = \"l/h\" }"
        ),
        "{text}"
    );
    assert!(
        text.contains(
            "\"Lösemittel \\\"A\\\"\" = { type = \"categorical\", levels = [\"Wasser\", \"a;b\", \"x'y\"] }"
        ),
        "{text}"
    );
    assert!(text.contains("# no variable: Notiz (3 of 4 cells are empty)"), "{text}");
    let check = folder.run(&["check", "deep.toml", "--history", "plan.csv"]);
    assert_eq!((check.code, check.stderr.as_str()), (0, ""), "{}", check.stdout);
}

#[test]
fn what_cannot_be_meant_is_refused_before_a_file_is_written() {
    let folder = Folder::new();
    folder.write("t.csv", "a,b,y\n1,x,2\n3,z,4\n");
    folder.refused(&["init", "--from", "t.csv"], &["which column is the goal", "--goal", "a, y"]);
    folder.refused(&["init", "--from", "t.csv", "--goal", "b"], &["\"b\" is no column of numbers", "a, y"]);
    folder.refused(&["init", "--from", "no.csv", "--goal", "y"], &["no.csv"]);
    folder.refused(&["init", "t.csv", "--from", "t.csv", "--goal", "y"], &["t.csv", "reads this file"]);
    folder.refused(&["init", "--goal", "y"], &["--from"]);
    folder.write("c.csv", "a,y\n1,2\n1,3\n");
    folder.refused(
        &["init", "--from", "c.csv", "--goal", "y"],
        &["c.csv", "no problem file can be made of it"],
    );
    folder.write("t.toml", "mine");
    folder.refused(&["init", "--from", "t.csv", "--goal", "y"], &["t.toml", "exists already"]);
}

#[test]
fn shells_and_manuals_know_every_command() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = folder.run(&["completions", shell]);
        assert_eq!(run.code, 0, "{run:?}");
        for word in ["suggest", "report", "until-gain", "predictions"] {
            assert!(run.stdout.contains(word), "{shell}: {word}");
        }
    }
    let page = folder.run(&["man"]).stdout;
    assert!(page.contains(".TH leafgp 1") && page.contains("suggest"), "{page}");
    assert_eq!(folder.run(&["man", "--out", "man/man1"]).code, 0);
    for page in ["leafgp.1", "leafgp-suggest.1", "leafgp-plot-predictions.1"] {
        assert!(folder.path("man/man1").join(page).exists(), "{page}");
    }
    assert!(folder.read("man/man1/leafgp-run.1").contains("until\\-gain"));
}
