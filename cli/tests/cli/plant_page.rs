//! `docs/plant.md`: what it says leafgp says, and its commands, as they are printed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Folder;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/plant.md")).unwrap()
}

/// A line that leafgp may say, as the page has it.
#[derive(Debug)]
struct Line {
    words: Vec<String>,
    /// True when a table or a list comes below.
    has_rows: bool,
    seen: bool,
}

/// All lines that leafgp may say.
pub(crate) struct Lines {
    lines: Vec<Line>,
    names: Vec<String>,
}

impl Lines {
    /// The page's table; `NAME` stands for one of these.
    pub(crate) fn of_the_page(names: &[&str]) -> Self {
        let page = page();
        let section = page.split("\n## What leafgp says, line by line\n").nth(1).unwrap();
        let line = |row: &str| {
            let mut cells = row.strip_prefix("| `")?.splitn(2, "` | ");
            let (line, meaning) = (cells.next()?, cells.next()?);
            let words = line.split_whitespace().map(str::to_owned).collect();
            Some(Line { words, has_rows: meaning.contains("a line each"), seen: false })
        };
        let lines: Vec<Line> = section.lines().filter_map(line).collect();
        assert!(lines.len() > 40, "{lines:?}");
        Self { lines, names: names.iter().map(|&name| name.to_owned()).collect() }
    }

    /// Each line of an output stands on the page.
    #[track_caller]
    pub(crate) fn check(&mut self, output: &str) {
        let mut in_rows = false;
        for text in output.lines() {
            let words: Vec<&str> = text.split_whitespace().collect();
            if words.is_empty() {
                in_rows = false;
                continue;
            }
            let names = &self.names;
            let found = self.lines.iter_mut().find(|line| matches(&line.words, &words, names));
            match found {
                Some(line) => {
                    line.seen = true;
                    in_rows = line.has_rows;
                }
                None => assert!(in_rows, "docs/plant.md does not say what this means: {text}\n{output}"),
            }
        }
    }

    /// Lines that never came are no documentation; those that a month need not bring are told apart here.
    #[track_caller]
    pub(crate) fn check_that_all_were_seen(&self) {
        let rare = [
            "stop: nothing",
            "nothing better",
            "better than",
            "worse than",
            "step N",
            "N of N model-based",
            "N of N candidates",
            "row N (line",
        ];
        for line in self.lines.iter().filter(|line| !line.seen) {
            let text = line.words.join(" ");
            assert!(rare.iter().any(|start| text.starts_with(start)), "never said: {text}");
        }
    }
}

/// True when the words are those of the pattern, with something for its words in capitals.
fn matches(pattern: &[String], words: &[&str], names: &[String]) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return words.is_empty() };
    if let Some(end) = first.strip_prefix("TEXT") {
        // Some words, at least one; what is glued to it (`TEXT:`) ends the last of them.
        return (1..=words.len()).any(|n| words[n - 1].ends_with(end) && matches(rest, &words[n..], names));
    }
    words
        .split_first()
        .is_some_and(|(word, words)| is_word(first, word, names) && matches(rest, words, names))
}

/// One word of a pattern: a placeholder between what is glued to it.
fn is_word(pattern: &str, word: &str, names: &[String]) -> bool {
    for (placeholder, fits) in [
        ("VALUE", &(|x: &str| x.parse::<f64>().is_ok()) as &dyn Fn(&str) -> bool),
        ("NAME", &|x: &str| names.iter().any(|name| name == x)),
        ("FILE", &|x: &str| x.contains('.')),
        ("N", &|x: &str| x.parse::<usize>().is_ok()),
    ] {
        let Some((before, after)) = pattern.split_once(placeholder) else { continue };
        // `NAME` holds an `N`; so may words in small letters not.
        let middle = word.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        if let Some(middle) = middle {
            return fits(middle);
        }
        return false;
    }
    pattern == word
}

#[test]
fn patterns_match_what_they_stand_for_and_nothing_else() {
    let names = ["Härte".to_owned()];
    let fits = |pattern: &str, text: &str| {
        let pattern: Vec<String> = pattern.split(' ').map(str::to_owned).collect();
        matches(&pattern, &text.split(' ').collect::<Vec<_>>(), &names)
    };
    assert!(fits("best: NAME = VALUE in row N (line N)", "best: Härte = -6.5e1 in row 3 (line 4)"));
    assert!(!fits("best: NAME = VALUE in row N (line N)", "best: Zeit = 61.5 in row 3 (line 4)"));
    assert!(!fits("best: NAME = VALUE in row N (line N)", "best: Härte = much in row 3 (line 4)"));
    assert!(!fits("best: NAME = VALUE in row N (line N)", "best: Härte = 61.5 in row 3.5 (line 4)"));
    assert!(fits("warning: FILE: TEXT: too cold", "warning: a.csv: rows 3, 4: too cold"));
    assert!(!fits("warning: FILE: TEXT: too cold", "warning: a.csv: too cold"));
}

/// The commands of the page in a folder with the examples, one after the other in a shell, as they are printed.
#[cfg(unix)]
#[test]
fn every_command_of_the_page_works_as_it_is_printed() {
    let folder = Folder::new();
    for entry in std::fs::read_dir(root().join("examples/plant")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, folder.path(path.file_name().unwrap().to_str().unwrap())).unwrap();
    }
    let page = page();
    let is_command = |line: &&str| ["    leafgp ", "    mkdir "].iter().any(|start| line.starts_with(start));
    let commands: Vec<&str> = page.lines().filter(is_command).map(str::trim).collect();
    assert!(commands.len() >= 18, "{commands:?}");
    let bin = Path::new(env!("CARGO_BIN_EXE_leafgp")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let mut said = String::new();
    for command in commands {
        let mut shell = Command::new("sh");
        shell.current_dir(folder.path(".")).args(["-c", command]).env_clear();
        let run = shell.env("PATH", &path).env("HOME", folder.path(".")).output().unwrap();
        let (stdout, stderr) =
            (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
        assert!(run.status.success(), "{command}: {stdout}{stderr}");
        said += &stdout;
    }
    for file in
        ["report.html", "predictions.svg", "coating.predictions.csv", ".local/share/man/man1/leafgp.1"]
    {
        assert!(folder.path(file).exists(), "{file}");
    }
    assert!(said.contains("as predicted") || said.contains("no feasible setting promises"), "{said}");
    // What the page says of the numbers of the experiments.
    let table = folder.read("coating.csv");
    assert!(table.lines().nth(14).unwrap().contains("61.5"), "{table}");
}
