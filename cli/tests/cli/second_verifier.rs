//! Proofs of the binary before the second verifier, `peers/verify.py`, and forged ones before both. Skipped, with a word, where there is no `python3`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::models::mix;
use crate::support::Folder;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|file| file.extension().is_some_and(|e| e == "json") && !file.ends_with("expected.json"))
        .collect()
}

/// Runs a script of `peers/`; `None` without Python.
fn python(folder: &Folder, arguments: &[&str]) -> Option<Output> {
    let script = root().join("peers").join(arguments[0]);
    let mut command = Command::new("python3");
    // No compiled files beside the scripts.
    command.arg("-B").arg(script).args(&arguments[1..]).current_dir(folder.path(""));
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            println!("skipped: python3 does not start ({error})");
            None
        }
    }
}

/// Solves and verifies an instance; its statement and proof lie in the folder.
fn prove(folder: &Folder, instance: &Path) {
    std::fs::copy(instance, folder.path("i.json")).unwrap();
    let solved = folder.run(&["solve", "i.json", "--certificate", "proof"]);
    assert_eq!(solved.code, 0, "{}: {solved:?}", instance.display());
    let verified = folder.run(&["verify", "i.json", "proof", "--statement", "statement"]);
    assert_eq!(verified.code, 0, "{}: {verified:?}", instance.display());
}

/// The reference instances of the tree, and one with so little noise that its variance is a sum of its own.
fn with_instances(mut test: impl FnMut(&Folder, &Path)) {
    let golden = root().join("solver/tests/golden/instances");
    let mut files = json_files(&golden.join("plain"));
    files.extend(json_files(&golden.join("constrained")));
    assert_eq!(files.len(), 7);
    let folder = Folder::new();
    let text = std::fs::read_to_string(root().join("tests/golden/exact/tiny-noise.json")).unwrap();
    let cases: serde_json::Value = serde_json::from_str(&text).unwrap();
    folder.write("tiny.json", cases[2]["instance"].to_string());
    files.push(folder.path("tiny.json"));
    for file in &files {
        let folder = Folder::new();
        prove(&folder, file);
        test(&folder, file);
    }
}

#[test]
fn the_second_verifier_accepts_what_the_first_accepts() {
    with_instances(|folder, file| {
        let Some(output) = python(folder, &["verify.py", "statement", "proof"]) else { return };
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.starts_with("verified: "), "{}: {output:?}", file.display());
        // The same claim, not only the same verdict.
        let first = folder.run(&["verify", "i.json", "proof", "--format", "json"]).json();
        assert!(said.contains(&first["bound"].as_f64().unwrap().to_string()), "{said} {first}");
        // The proof of another problem.
        folder.write("statement", [&std::fs::read(folder.path("statement")).unwrap()[..], b"\0"].concat());
        let output = python(folder, &["verify.py", "statement", "proof"]).unwrap();
        assert_ne!(output.status.code(), Some(0));
    });
}

/// A few of the thousands of `docs/guarantees.md`: each forgery states what is false.
#[test]
fn both_verifiers_refuse_forged_proofs() {
    let mut n_forged = 0;
    with_instances(|folder, file| {
        std::fs::create_dir(folder.path("forged")).unwrap();
        let arguments = ["forge.py", "statement", "proof", "30", "--seed", "5", "--write", "forged"];
        let Some(output) = python(folder, &arguments) else { return };
        assert!(output.status.success(), "{}: {output:?}", file.display());
        for n in 1..=30 {
            let forged = format!("forged/{n}.proof");
            let ended = folder.run(&["verify", "i.json", &forged]);
            assert!(matches!(ended.code, 1 | 2), "{}, {forged}: {ended:?}", file.display());
            assert!(ended.stdout.is_empty());
            n_forged += 1;
        }
    });
    println!("{n_forged} forged proofs, each refused by both");
}

#[test]
fn a_check_ends_at_its_time_limit_without_a_verdict() {
    let folder = Folder::new();
    prove(&folder, &root().join("solver/tests/golden/instances/plain/ripples5-m50-t20d5.json"));
    let ended = folder.run(&["verify", "i.json", "proof", "--time-limit", "1e-9"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("time limit was reached"), "{ended:?}");
    assert_eq!(folder.run(&["verify", "i.json", "proof", "--time-limit", "600"]).code, 0);
    let ended = folder.run(&["verify", "i.json", "proof", "--statement", "proof"]);
    assert!(ended.code == 2 && ended.stderr.contains("reads this file"), "{ended:?}");
}

/// Over several models too, when there is an optimum and when nothing is feasible; forgeries of both are refused by both.
#[test]
fn proofs_over_several_models_stand_before_both_verifiers() {
    let folder = mix();
    for (fixed, code) in [(&[][..], 0), (&["--fix", "flow=8"], 1)] {
        let with = |arguments: &[&'static str]| folder.run(&[arguments, fixed].concat());
        assert_eq!(with(&["optimize", "mix.toml", "--certificate", "proof"]).code, code);
        let verified =
            with(&["verify", "mix.toml", "proof", "--statement", "statement", "--format", "json"]).json();
        let Some(output) = python(&folder, &["verify.py", "statement", "proof"]) else { return };
        let said = String::from_utf8_lossy(&output.stdout);
        let claim = verified["bound"].as_f64().map_or("no feasible point".into(), |bound| bound.to_string());
        assert!(output.status.success() && said.contains(&claim), "{output:?}");
        std::fs::create_dir_all(folder.path("forged")).unwrap();
        let forge = ["forge.py", "statement", "proof", "60", "--seed", "3", "--write", "forged"];
        let output = python(&folder, &forge).unwrap();
        assert!(output.status.success(), "{output:?}");
        for k in 1..=60 {
            let forged = format!("forged/{k}.proof");
            let run = folder.run(&[&["verify", "mix.toml", &forged], fixed].concat());
            assert_ne!(run.code, 0, "{forged}: {run:?}");
        }
    }
}
