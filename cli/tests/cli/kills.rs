//! Nothing is lost, halved or done twice, whenever a program is killed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use crate::strike::{Random, strike, time_of};
use crate::support::Folder;

const PROBLEM: &str = r#"name = "p"

[objective]
name = "cost"
goal = "minimize"

[variables]
x = { type = "continuous", bounds = [0.0, 1.0] }
n = { type = "integer", bounds = [1, 9] }
head = { type = "categorical", levels = ["flat", "round"] }

[settings.design]
initial = 6
"#;
/// A table as a German spreadsheet writes it, with a column of somebody's own, a blank line and a quoted cell; enough rows for the model.
const TABLE: &str = "x;n;head;who;cost\r\n0,5;1;flat;Eva;3,5\r\n0,25;2;round;\"a;b\";7,5\r\n0,75;3;flat;;4\r\n\r\n0,125;4;round;;6,25\r\n0,875;5;flat;Jörg;5\r\n0,3;6;round;;6\r\n";
/// Notes what is measured as it begins, with the value that it will get.
const MEASURE: &str = "read p || exit 1; set -- $(echo \"$p\" | cksum); v=$(($1 % 1000)); echo \"$p $v\" >> measured; sleep 0.005; echo $v";
/// Rounds on one table; more would be a long history, and slow models.
const ROUNDS: usize = 40;

/// The table's rows as lines; every line has all its cells, the last one its end.
fn rows_of(text: &str) -> Vec<String> {
    let mut lines = text.split("\r\n");
    let header = lines.next().unwrap();
    assert!(["x;n;head;who;cost"].contains(&header), "{header}");
    assert!(text.ends_with("\r\n"), "half a row: {text}");
    let rows: Vec<String> = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
    for row in &rows {
        // `"a;b"` is one cell.
        assert_eq!(row.replace("a;b", "a").split(';').count(), 5, "half a row: {row}");
    }
    rows
}

fn point_of(row: &str) -> String {
    row.split(';').take(3).collect::<Vec<_>>().join(";")
}

fn value_of(row: &str) -> &str {
    row.rsplit(';').next().unwrap()
}

/// The evaluator's notes: point as the table writes it, value.
fn measured(folder: &Folder) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(folder.path("measured")).unwrap_or_default();
    let note = |line: &str| {
        let (json, value) = line.rsplit_once(' ').unwrap();
        let point: serde_json::Value = serde_json::from_str(json).unwrap();
        let (x, n) = (point["x"].to_string().replace('.', ","), point["n"].to_string());
        let x = x.strip_suffix(",0").unwrap_or(&x).to_owned();
        (format!("{x};{n};{}", point["head"].as_str().unwrap()), value.to_owned())
    };
    text.lines().map(note).collect()
}

/// A table, what its owner knows of it, and who is killed.
struct Plant {
    folder: Folder,
    random: Random,
    /// Values that were told, by their point.
    told: BTreeMap<String, String>,
    /// Points that were measured, or are being measured, as the evaluator noted it.
    begun: BTreeSet<String>,
    /// Commands that were killed.
    killed: usize,
}

impl Plant {
    fn new(seed: u64) -> Self {
        let folder = Folder::with_problem(PROBLEM);
        folder.write("p.csv", TABLE);
        let rows = rows_of(TABLE);
        let told = rows.iter().map(|row| (point_of(row), value_of(row).to_owned())).collect();
        Self { folder, random: Random(seed), told, begun: BTreeSet::new(), killed: 0 }
    }

    fn rows(&self) -> Vec<String> {
        rows_of(&self.folder.read("p.csv"))
    }

    /// The rows of the predictions, all of them whole.
    fn predictions(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path("p.predictions.csv")).unwrap_or_default();
        assert!(text.is_empty() || text.ends_with("\r\n"), "half a prediction: {text}");
        let rows: Vec<String> =
            text.split("\r\n").filter(|line| !line.is_empty()).map(str::to_owned).collect();
        for row in &rows {
            assert_eq!(row.split(';').count(), 10, "half a prediction: {row}");
        }
        rows
    }

    /// Kills a command, and says whether it came to its end all the same.
    fn strike(&mut self, arguments: &[&str], usual: Duration) -> bool {
        let before = self.predictions();
        let code = strike(&self.folder, "p.csv", arguments, usual, &mut self.random);
        assert!(matches!(code, None | Some(0)), "{arguments:?} ended with {code:?}");
        self.killed += usize::from(code.is_none());
        assert!(self.predictions().starts_with(&before), "no prediction is lost");
        code.is_some()
    }

    /// What always holds: told values stand in their rows, no point has two rows, what was planned has its prediction.
    fn check(&self) {
        let rows = self.rows();
        let mut points: Vec<String> = rows.iter().map(|row| point_of(row)).collect();
        for (point, value) in &self.told {
            assert!(
                rows.iter().any(|row| point_of(row) == *point && value_of(row) == value),
                "{point} {value} is lost: {rows:?}"
            );
        }
        let predictions = self.predictions();
        for point in &points[6..] {
            let is_there = predictions.iter().any(|row| point_of(row) == *point);
            assert!(is_there, "{point} is in the table without its prediction: {predictions:?}");
        }
        points.sort();
        let n = points.len();
        points.dedup();
        assert_eq!(points.len(), n, "a point has two rows: {points:?}");
        for row in ["0,25;2;round;\"a;b\";7,5", "0,875;5;flat;Jörg;5"] {
            assert!(rows.iter().any(|there| there == row), "{row}");
        }
    }

    /// The places of the pending rows, from 0.
    fn pending(&self) -> Vec<usize> {
        let rows = self.rows();
        (0..rows.len()).filter(|&i| value_of(&rows[i]).is_empty()).collect()
    }

    fn suggest(&mut self, usual: Duration) {
        let before = self.rows();
        let ended = self.strike(&["suggest", "p.toml", "-n", "2", "--append"], usual);
        let after = self.rows();
        assert!(after.starts_with(&before), "{before:?} {after:?}");
        let added = after.len() - before.len();
        assert!(added == 2 || added == 0 && !ended, "{added} of 2 suggestions");
    }

    fn tell(&mut self, usual: Duration) {
        let pending = self.pending();
        let Some(&i) = pending.get(self.random.below(pending.len().max(1))) else { return };
        let mut expected = self.rows();
        let before = expected.clone();
        let value = format!("{}.5", self.random.below(1000));
        let ended = self.strike(&["tell", "p.toml", &(i + 1).to_string(), &value], usual);
        let value = value.replace('.', ",");
        expected[i] += &value;
        let after = self.rows();
        assert!(after == expected || after == before && !ended, "{before:?} {after:?}");
        if after == expected {
            self.told.insert(point_of(&after[i]), value);
        }
    }

    fn cancel(&mut self, usual: Duration) {
        let Some(&i) = self.pending().first() else { return };
        let mut expected = self.rows();
        let before = expected.clone();
        let ended = self.strike(&["cancel", "p.toml", &(i + 1).to_string()], usual);
        let cancelled = point_of(&expected.remove(i));
        let after = self.rows();
        assert!(after == expected || after == before && !ended, "{before:?} {after:?}");
        if after == expected {
            // It may be suggested again, and measured.
            self.begun.remove(&cancelled);
        }
    }

    /// What was measured since there were so many notes; nothing of it for the second time, whoever was killed when.
    fn newly_measured(&mut self, n_before: usize, before: &[String]) -> Vec<(String, String)> {
        let measured = measured(&self.folder).split_off(n_before);
        for (point, _) in &measured {
            let was_done = before.iter().any(|row| point_of(row) == *point && !value_of(row).is_empty());
            assert!(!was_done, "{point} was measured again");
            assert!(self.begun.insert(point.clone()), "{point} was measured twice");
        }
        measured
    }

    fn run(&mut self, usual: Duration) {
        let (before, n_measured) = (self.rows(), measured(&self.folder).len());
        let ended = self.strike(&["run", "p.toml", "--iterations", "3", "--evaluate", MEASURE], usual);
        let after = self.rows();
        let new = self.newly_measured(n_measured, &before);
        let measured = measured(&self.folder);
        // All rows are there; a value in one is that which was measured there, by this loop or one that was killed.
        assert!(after.len() >= before.len());
        let mut recorded = 0;
        for (i, row) in after.iter().enumerate() {
            let old = before.get(i).map_or("", |old| value_of(old));
            assert!(before.get(i).is_none_or(|old| point_of(old) == point_of(row)), "{before:?} {after:?}");
            if value_of(row) != old {
                let told = (point_of(row), value_of(row).to_owned());
                assert!(measured.contains(&told), "{told:?} is none of {measured:?}");
                self.told.insert(told.0, told.1);
                recorded += 1;
            }
        }
        assert!(!ended || recorded == 3, "{before:?} {after:?}");
        // All but the last that was begun had been written down.
        let open = new.iter().filter(|(point, _)| !self.told.contains_key(point)).count();
        assert!(open <= usize::from(!ended), "{open} values are lost");
    }

    /// A killed loop beside one that lives: they share the pending rows.
    fn run_beside(&mut self, usual: Duration) {
        let (before, n_measured) = (self.rows(), measured(&self.folder).len());
        let mut command = self.folder.command(&["run", "p.toml", "--iterations", "3", "--evaluate", MEASURE]);
        let mut other =
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        self.strike(&["run", "p.toml", "--iterations", "3", "--evaluate", MEASURE], usual);
        assert!(other.wait().unwrap().success());
        let after = self.rows();
        // What the killed one was at, the other one takes over.
        self.newly_measured(n_measured, &before);
        let is_done = |row: &&String| !value_of(row).is_empty();
        assert!(after.len() >= before.len());
        let done = |rows: &[String]| rows.iter().filter(is_done).count();
        assert!(done(&after) - done(&before) >= 3, "the living one measured three");
        for row in after.iter().filter(is_done) {
            self.told.insert(point_of(row), value_of(row).to_owned());
        }
    }

    /// A loop that is left alone takes in what killed ones have left, and begins nothing again.
    fn take_in(&mut self) {
        let (before, n_measured) = (self.rows(), measured(&self.folder).len());
        let n = self.pending().len().max(1).to_string();
        let run = self.folder.run(&["run", "p.toml", "--iterations", &n, "--evaluate", MEASURE]);
        assert_eq!(run.code, 0, "{run:?}");
        self.newly_measured(n_measured, &before);
        assert!(self.pending().is_empty() && !self.folder.path("p.jobs").exists());
        let measured = measured(&self.folder);
        for (row, old) in
            self.rows().iter().zip(before.iter().map(|old| value_of(old)).chain(std::iter::repeat("")))
        {
            if value_of(row) != old {
                let told = (point_of(row), value_of(row).to_owned());
                assert!(measured.contains(&told), "{told:?} is none of {measured:?}");
                self.told.insert(told.0, told.1);
            }
        }
    }

    /// The next writer, much later, removes what the killed ones left.
    fn clean(&mut self) {
        self.take_in();
        let old = SystemTime::now() - Duration::from_secs(60);
        for (name, _) in self.folder.contents().iter().filter(|(name, _)| name.starts_with('.')) {
            let file = std::fs::File::options().append(true).open(self.folder.path(name)).unwrap();
            file.set_modified(old).unwrap();
        }
        let run = self.folder.run(&["suggest", "p.toml", "--append"]);
        assert_eq!(run.code, 0, "{run:?}");
        let mut names: Vec<String> = self.folder.contents().into_iter().map(|(name, _)| name).collect();
        names.retain(|name| name != "measured");
        assert_eq!(names, ["p.csv", "p.predictions.csv", "p.toml"]);
    }
}

/// Kills so many commands, on as many tables as that takes.
fn kill(n: usize) {
    let mut killed = 0;
    for seed in 1.. {
        let mut plant = Plant::new(0x9E37_79B9_7F4A_7C15 ^ (seed << 20));
        // How long they take: on a table of their own.
        let timed = Plant::new(seed).folder;
        let suggest = time_of(&timed, &["suggest", "p.toml", "-n", "2", "--append"]);
        let tell = time_of(&timed, &["tell", "p.toml", "7", "2"]);
        let run = time_of(&timed, &["run", "p.toml", "--iterations", "3", "--evaluate", MEASURE]);
        for round in 0..ROUNDS {
            match plant.random.below(12) {
                0..=3 => plant.suggest(suggest),
                4..=6 => plant.tell(tell),
                7 | 8 => plant.cancel(tell),
                9 | 10 => plant.run(run),
                _ => plant.run_beside(run),
            }
            plant.check();
            if round % 10 == 9 {
                plant.clean();
                plant.check();
            }
            if killed + plant.killed >= n {
                plant.clean();
                return;
            }
        }
        killed += plant.killed;
    }
}

#[test]
fn killed_commands_lose_no_told_value_leave_no_half_row_and_measure_nothing_twice() {
    kill(40);
}

#[test]
#[ignore = "two minutes"]
fn a_thousand_killed_commands_lose_no_told_value_leave_no_half_row_and_measure_nothing_twice() {
    kill(1000);
}
