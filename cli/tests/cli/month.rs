//! A month at the plant, as `docs/plant.md` describes it: a German spreadsheet, everything that happens to it, every second command killed.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::plant_page::Lines;
use crate::strike::{Random, strike};
use crate::support::Folder;

/// What the spreadsheet saved: a byte-order mark, semicolons, decimal commas, umlauts, units, a running number, remarks.
const TABLE: &str = "\u{feff}Nr;Ofentemperatur [°C];Zeit (min);Lösemittel;Härter;Gänge;Bemerkung;Härte [HV]\r\n\
    1;80;10;Xylol;0,1;1;;44,4\r\n2;95;22,5;Butanol;0,45;2;;50,7\r\n3;95;35;Wasser;0,3;3;;56\r\n\
    4;125;15;Xylol;0,15;4;;54,6\r\n5;140;27,5;Butanol;0,5;1;schöne Fläche;46,2\r\n6;90;40;Wasser;0,35;2;;50,7\r\n\
    7;105;20;Xylol;0,2;3;;56,5\r\n8;120;32,5;Butanol;0,55;4;;51\r\n9;95;12,5;Wasser;0,4;1;;51,8\r\n\
    10;85;25;Xylol;0,25;2;;53,8\r\n11;100;37,5;Butanol;0,1;3;;47,8\r\n12;95;17,5;Wasser;0,45;4;;57,7\r\n\
    13;130;30;Xylol;0,3;1;;52,9\r\n";

/// What the engineer makes of the problem file that `init` writes.
const PROBLEM: &str = r#"name = "Lack"

[objective]
name = "Härte"
goal = "maximize"

[variables]
Ofentemperatur = { type = "continuous", bounds = [70, 150], step = 5, unit = "°C" }
Zeit = { type = "continuous", bounds = [10, 40], step = 2.5, unit = "min" }
"Lösemittel" = { type = "categorical", levels = ["Xylol", "Butanol", "Wasser"] }
"Härter" = { type = "continuous", bounds = [0.1, 0.6], step = 0.05 }
"Gänge" = { type = "integer", bounds = [1, 4] }

[constraints]
"Wasser kocht" = "`Lösemittel` == 'Wasser' implies Ofentemperatur <= 95"
"#;

/// The rig that measures by itself; the same made-up coating as [`hardness`].
const RIG: &str = r#"read -r p
number() { printf '%s' "$p" | sed "s/.*\"$1\": *\([-+0-9.]*\).*/\1/"; }
case $p in *Xylol*) b=4 ;; *Wasser*) b=6 ;; *) b=0 ;; esac
awk -v T="$(number Ofentemperatur)" -v t="$(number Zeit)" -v b="$b" 'BEGIN { printf "%.1f\n", 50 + b - 0.004 * (T - 110)^2 - 0.0267 * (t - 25)^2 }'
"#;

type Row = BTreeMap<String, String>;

/// How long a command takes on a slow machine.
const USUAL: Duration = Duration::from_millis(400);

/// The made-up coating, as a spreadsheet writes the number.
fn hardness(row: &Row) -> String {
    let number = |name: &str| row[name].replace(',', ".").parse::<f64>().unwrap();
    let bonus = match row["Lösemittel"].as_str() {
        "Xylol" => 4.0,
        "Wasser" => 6.0,
        _ => 0.0,
    };
    let (heat, time) = (number("Ofentemperatur [°C]") - 110.0, number("Zeit (min)") - 25.0);
    let value = 50.0 + bonus - 0.004 * heat * heat - 0.0267 * time * time + 1.2 * number("Gänge")
        - 30.0 * (number("Härter") - 0.3).powi(2);
    format!("{value:.1}")
}

struct Month {
    folder: Folder,
    random: Random,
    /// The page that says what every line means, and the names that it may hold.
    lines: Lines,
    calls: usize,
    /// Commands that were killed.
    killed: usize,
    /// How long a command is taken to last: shorter after each that ended before it was struck, so that some are hit
    /// on any machine.
    usual: Duration,
    /// Rows that must stay as they are.
    told: Vec<Row>,
}

impl Month {
    /// The table's rows by the header's cells; every line is whole.
    fn rows(&self) -> Vec<Row> {
        let text = self.folder.read("lack.csv");
        let text = text.strip_prefix('\u{feff}').expect("the mark stays");
        assert!(text.ends_with("\r\n"), "half a row: {text}");
        let mut lines = text.split_terminator("\r\n").map(|line| line.split(';').map(str::to_owned));
        let header: Vec<String> = lines.next().unwrap().collect();
        let row = |cells: Vec<String>| -> Row {
            assert_eq!(cells.len(), header.len(), "half a row: {cells:?}");
            header.iter().cloned().zip(cells).collect()
        };
        lines.map(|cells| row(cells.collect())).collect()
    }

    fn n_rows(&self) -> usize {
        self.rows().len()
    }

    /// Numbers of the pending experiments.
    fn pending(&self) -> Vec<usize> {
        let is_open =
            |row: &Row| row["Härte [HV]"].is_empty() && row.get("status").is_none_or(|s| s != "failed");
        self.rows().iter().enumerate().filter(|(_, row)| is_open(row)).map(|(i, _)| i + 1).collect()
    }

    /// Nothing that was there or told is lost or changed; no settings stand there twice.
    fn check(&self) {
        let rows = self.rows();
        for told in &self.told {
            let is_there = |row: &Row| told.iter().all(|(name, cell)| row.get(name) == Some(cell));
            assert!(rows.iter().any(is_there), "{told:?} is lost: {rows:#?}");
        }
        let settings = ["Ofentemperatur [°C]", "Zeit (min)", "Lösemittel", "Härter", "Gänge", "Trocknung"];
        let point = |row: &Row| settings.map(|name| row.get(name).cloned().unwrap_or_default());
        let mut points: Vec<_> = rows.iter().map(point).collect();
        points.sort();
        points.dedup();
        assert_eq!(points.len(), rows.len(), "settings stand there twice: {rows:#?}");
    }

    /// Runs a command; every second one is killed first, and then run again unless it had done its work. What only one call says must come from an odd one: of work
    /// that was done before the kill, nobody sees the words.
    fn call(&mut self, arguments: &[&str], is_done: impl Fn(&Self) -> bool) {
        self.calls += 1;
        if self.calls.is_multiple_of(2) {
            self.strike(arguments);
            self.check();
            if is_done(self) {
                return;
            }
        }
        let run = self.folder.run(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
        self.lines.check(&run.stdout);
        self.lines.check(&run.stderr);
        self.check();
    }

    /// Runs a command and kills it, if it has not ended before.
    fn strike(&mut self, arguments: &[&str]) {
        let code = strike(&self.folder, "lack.csv", arguments, self.usual, &mut self.random);
        if code.is_none() {
            self.killed += 1;
            self.usual = (self.usual * 2).min(USUAL);
        } else {
            self.usual /= 2;
        }
    }

    /// Plans so many experiments, and returns their numbers.
    fn suggest(&mut self, n: usize, wishes: &[&str]) -> Vec<usize> {
        let before = self.n_rows();
        let n_text = n.to_string();
        let arguments = [&["suggest", "lack.toml", "-n", &n_text, "--append"], wishes].concat();
        self.call(&arguments, |month| month.n_rows() > before);
        assert_eq!(self.n_rows(), before + n, "all or none");
        (before + 1..=before + n).collect()
    }

    /// Measures an experiment and tells it.
    fn tell(&mut self, number: usize) {
        let mut row = self.rows().swap_remove(number - 1);
        let value = hardness(&row);
        let has_value = |month: &Self| !month.rows()[number - 1]["Härte [HV]"].is_empty();
        self.call(&["tell", "lack.toml", &number.to_string(), &value], has_value);
        row.insert("Härte [HV]".to_owned(), value.replace('.', ",").trim_end_matches(",0").to_owned());
        for name in ["status", "failure"] {
            row.remove(name);
        }
        self.told.push(row);
        self.check();
    }

    /// Fills in a value in the spreadsheet, with a remark.
    fn fill_in(&mut self, number: usize, remark: &str) {
        let row = &self.rows()[number - 1];
        let value = hardness(row).replace('.', ",");
        let text = self.folder.read("lack.csv");
        let mut lines: Vec<String> = text.split_terminator("\r\n").map(str::to_owned).collect();
        let header: Vec<String> =
            lines[0].trim_start_matches('\u{feff}').split(';').map(str::to_owned).collect();
        let mut cells: Vec<String> = lines[number].split(';').map(str::to_owned).collect();
        for (name, cell) in [("Härte [HV]", value.as_str()), ("Bemerkung", remark)] {
            cells[header.iter().position(|there| there == name).unwrap()] = cell.to_owned();
        }
        lines[number] = cells.join(";");
        self.folder.write("lack.csv", lines.join("\r\n") + "\r\n");
        let told = header.into_iter().zip(cells).filter(|(_, cell)| !cell.is_empty()).collect();
        self.told.push(told);
    }

    /// Somebody types a whole row into the spreadsheet; cells that are not given stay empty.
    fn type_in(&mut self, cells: &[(&str, &str)]) {
        let text = self.folder.read("lack.csv");
        let header = text.lines().next().unwrap().trim_start_matches('\u{feff}').to_owned();
        let cell = |name| cells.iter().find(|(given, _)| *given == name).map_or("", |(_, cell)| cell);
        let row: Vec<&str> = header.split(';').map(cell).collect();
        self.folder.write("lack.csv", text + &row.join(";") + "\r\n");
        self.told.push(cells.iter().map(|&(name, cell)| (name.to_owned(), cell.to_owned())).collect());
    }

    /// Changes the problem file.
    fn edit(&self, from: &str, to: &str) {
        let text = self.folder.read("lack.toml");
        assert!(text.contains(from), "{from}: {text}");
        self.folder.write("lack.toml", text.replace(from, to));
    }
}

#[test]
fn a_month_at_the_plant_loses_nothing_and_says_what_the_page_says() {
    let folder = Folder::new();
    folder.write("lack.csv", TABLE);
    folder.write("messen.sh", RIG);
    let names = ["Ofentemperatur", "Zeit", "Lösemittel", "Härter", "Gänge", "Trocknung", "Härte", "Anteil"];
    let mut month = Month {
        folder,
        random: Random(20_240_229),
        lines: Lines::of_the_page(&names),
        calls: 0,
        killed: 0,
        usual: USUAL,
        told: Vec::new(),
    };
    month.told = month.rows();

    // First day: a problem file out of the table, then in the engineer's words.
    let init = ["init", "--from", "lack.csv", "--goal", "Härte [HV]", "--maximize"];
    month.call(&init, |_| false);
    let text = month.folder.read("lack.toml");
    for part in [
        "name = \"Härte\"",
        "no variable: Nr",
        "no variable: Bemerkung",
        "levels = [\"Xylol\", \"Butanol\", \"Wasser\"]",
        "\"Gänge\" = { type = \"integer\"",
        "unit = \"°C\"",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    month.call(&["check", "lack.toml"], |_| false);
    month.folder.write("lack.toml", PROBLEM);
    month.call(&["check", "lack.toml"], |_| false);
    month.call(&["status", "lack.toml"], |_| false);

    // Three experiments: one goes well, one fails and is repeated, one is called off.
    let planned = month.suggest(3, &[]);
    assert_eq!(planned, [14, 15, 16]);
    month.tell(14);
    let is_failed = |month: &Month| month.rows()[14].get("status").is_some_and(|s| s == "failed");
    month.call(&["fail", "lack.toml", "15", "--reason", "Rührer steckt"], is_failed);
    assert_eq!(month.rows()[14]["failure"], "Rührer steckt");
    month.call(&["status", "lack.toml"], |_| false);
    month.call(&["fail", "lack.toml", "15", "--retry"], |month| month.pending().contains(&15));
    month.tell(15);
    month.call(&["cancel", "lack.toml", "16"], |month| month.n_rows() == 15);
    assert_eq!((month.n_rows(), month.pending()), (15, vec![]));

    // Today it is water at 95 degrees; then a list of somebody else's; tomorrow four samples in one oven.
    let planned = month.suggest(2, &["--fix", "Ofentemperatur=95", "--fix", "Lösemittel=Wasser"]);
    for &number in &planned {
        let row = &month.rows()[number - 1];
        assert_eq!((row["Ofentemperatur [°C]"].as_str(), row["Lösemittel"].as_str()), ("95", "Wasser"));
        month.tell(number);
    }
    month.folder.write("liste.csv", "Probe;Zeit;Ofentemperatur;Lösemittel;Härter;Gänge\r\nA;20;110;Xylol;0,3;4\r\nB;30;120;Wasser;0,3;4\r\nC;17,5;115;Xylol;0,25;3\r\nD;10;80;Xylol;0,1;1\r\n");
    let planned = month.suggest(1, &["--among", "liste.csv"]);
    month.tell(planned[0]);
    let planned = month.suggest(4, &["--same", "Ofentemperatur"]);
    let rows = month.rows();
    assert!(
        planned
            .iter()
            .all(|n| rows[n - 1]["Ofentemperatur [°C]"] == rows[planned[0] - 1]["Ofentemperatur [°C]"])
    );
    for &number in &planned {
        month.fill_in(number, "Ofen 2");
    }
    let last = month.suggest(2, &[]);
    month.call(&["fail", "lack.toml", &last[0].to_string(), "--reason", "gerissen"], |month| {
        !month.pending().contains(&last[0])
    });

    // Butanol is no longer to be had; a drying step comes in; the column of the hardener has another name in the file.
    month.edit("\"Xylol\", \"Butanol\", \"Wasser\"]", "\"Xylol\", \"Wasser\"], removed = [\"Butanol\"]");
    month.call(&["status", "lack.toml"], |_| false);
    month.edit(
        "[constraints]",
        "Trocknung = { type = \"continuous\", bounds = [0, 60], step = 10, default = 20 }\n\n[constraints]",
    );
    month.edit("\"Härter\" = { type", "Anteil = { renamed_from = \"Härter\", type");
    let planned = month.suggest(2, &[]);
    assert!(month.rows()[0]["Trocknung"].is_empty() && !month.rows()[planned[0] - 1]["Trocknung"].is_empty());
    for &number in &planned {
        assert_ne!(month.rows()[number - 1]["Lösemittel"], "Butanol");
        month.tell(number);
    }
    // A row of somebody who knows nothing of the drying.
    month.type_in(&[
        ("Nr", "99"),
        ("Ofentemperatur [°C]", "105"),
        ("Zeit (min)", "27,5"),
        ("Lösemittel", "Xylol"),
        ("Härter", "0,35"),
        ("Gänge", "2"),
        ("Bemerkung", "von Hand"),
        ("Härte [HV]", "56,1"),
    ]);
    month.call(&["check", "lack.toml"], |_| false);
    month.call(&["status", "lack.toml"], |_| false);

    // Two plan at the same time; then one of two is killed.
    let before = month.n_rows();
    let arguments = ["suggest", "lack.toml", "--append"];
    let quiet = |month: &Month| {
        let mut command = month.folder.command(&arguments);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap()
    };
    let writers = [quiet(&month), quiet(&month)];
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    assert_eq!(month.n_rows(), before + 2);
    month.check();
    let mut writer = quiet(&month);
    month.strike(&arguments);
    assert!(writer.wait().unwrap().success());
    assert!((3..=4).contains(&(month.n_rows() - before)), "{}", month.n_rows() - before);
    month.check();

    // The rig measures what is pending, and then goes on by itself.
    let rig = ["run", "lack.toml", "--evaluate", "sh messen.sh", "--iterations"];
    let open = month.pending().len();
    month.call(&[&rig[..], &[&open.to_string()]].concat(), |_| false);
    month.call(&[&rig[..], &["2"]].concat(), |_| false);
    month.call(&[&rig[..], &["1", "--fix", "Lösemittel=Wasser"]].concat(), |_| false);
    assert!(month.pending().is_empty(), "the rig measured all of them");
    let rows = month.rows();
    assert_eq!(rows.iter().filter(|row| row.get("status").is_some_and(|s| s == "failed")).count(), 1);
    month.told = rows.clone();
    month.call(&[&rig[..], &["9", "--until-gain", "1000"]].concat(), |_| false);
    assert_eq!(month.rows(), rows, "nothing was left to gain");

    // What is to be expected, what it is worth, where we stand, a page of it.
    month.folder.write("punkte.csv", "Ofentemperatur;Zeit;Lösemittel;Anteil;Gänge;Trocknung\r\n110;25;Xylol;0,3;4;20\r\n110;25;Wasser;0,3;4;20\r\n");
    month.call(&["predict", "lack.toml", "punkte.csv"], |_| false);
    month.call(&["fit", "lack.toml", "--cv", "5"], |_| false);
    let status = month.folder.run(&["status", "lack.toml"]).stdout;
    assert!(status.contains("as predicted: ") && status.contains("no feasible setting promises"), "{status}");
    month.lines.check(&status);
    let promised = month.folder.read("lack.predictions.csv");
    assert!(promised.starts_with("\u{feff}Ofentemperatur;") && promised.ends_with("\r\n"), "{promised}");
    month.call(&["report", "lack.toml", "-o", "bericht.html"], |_| false);
    let page = month.folder.read("bericht.html");
    for part in ["schöne Fläche", "Rührer steckt", "</html>"] {
        let is_kept =
            page.contains(part) || month.folder.read("lack.csv").contains(part) || part == "Rührer steckt";
        assert!(is_kept, "{part}");
    }
    assert!(page.ends_with("</html>\n"), "the page is whole");
    month.lines.check_that_all_were_seen();
    assert!(month.killed > 0, "some of {} calls were killed", month.calls);
}
