//! The corpus of the fuzzer, replayed: seeds and what was found with them.

use leafgp_hostile::{TARGETS, changed};
use leafgp_testdata::root;

/// All inputs of a target, in order of name.
fn inputs(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = root().join("fuzz/corpus").join(name);
    let mut inputs: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), std::fs::read(&path).unwrap()))
        .collect();
    inputs.sort();
    inputs
}

#[test]
fn no_input_of_the_corpus_shows_a_fault() {
    for target in TARGETS {
        let inputs = inputs(target.name);
        assert!(inputs.len() >= 2, "the corpus of {} holds {} inputs", target.name, inputs.len());
        for (path, bytes) in inputs {
            println!("{path}");
            (target.run)(&bytes);
        }
    }
}

/// What the fuzzer does first, a hundredth of a second of it.
#[test]
fn changed_documents_show_no_fault() {
    for target in TARGETS.iter().filter(|target| ["own_model", "instance"].contains(&target.name)) {
        let (_, bytes) = inputs(target.name).swap_remove(0);
        for seed in 0..200 {
            (target.run)(&changed(&bytes, seed * 7919).unwrap());
        }
    }
}

/// The folders of the corpus are those of the targets, and every target has its program.
#[test]
fn every_target_has_a_corpus_and_a_program() {
    let mut folders: Vec<String> = std::fs::read_dir(root().join("fuzz/corpus"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    let mut names = TARGETS.map(|target| target.name);
    names.sort_unstable();
    assert_eq!(folders, names);
    for name in names {
        assert!(root().join("fuzz/fuzz_targets").join(format!("{name}.rs")).is_file(), "{name}");
    }
}
