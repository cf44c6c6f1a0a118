//! The file of an uncertainty study: TOML in, checked [`AgreementSpec`] out; every error with its place.

use std::path::Path;

use toml::de::DeTable;

use super::spec::{AgreementSpec, Targets};
use crate::error::StudyError;
use crate::functions::{self, Benchmark};
use crate::spec::deterministic;
use crate::spec_reader::{SpecReader, parse};
use leafgp::problem::reading::{Located, hint};
use leafgp::problem::{ProblemError, Settings};

const KEYS: [&str; 8] = ["kind", "name", "functions", "points", "seeds", "ratios", "targets", "settings"];
/// The paper does not give the number of training points; 100 is the middle.
const POINTS: [usize; 3] = [50, 100, 200];
/// The paper's ratios: first, last, step.
const RATIOS: (f64, f64, f64) = (0.35, 1.0, 0.05);
/// Ratios of a study at most.
const MOST_RATIOS: f64 = 1000.0;

const POINTS_EXPECTED: &str = "whole numbers in 2..=100000, such as points = [50, 100, 200]";
const RATIOS_EXPECTED: &str =
    "ascending numbers in [0, 1], or ratios = { from = 0.35, to = 1.0, step = 0.05 }";

impl AgreementSpec {
    /// True when the text of a study file asks for this kind of study: `kind = "agreement"`.
    pub fn is_meant(text: &str) -> bool {
        let document = DeTable::parse(text).ok();
        let kind = document.as_ref().and_then(|document| document.get_ref().get("kind"));
        kind.and_then(|kind| kind.get_ref().as_str()) == Some("agreement")
    }

    /// Reads a study file.
    ///
    /// # Errors
    /// Unreadable file, syntax, unknown keys, values out of range: with file, place and field.
    pub fn from_file(path: &Path) -> Result<Self, StudyError> {
        read(&leafgp::problem::reading::Source::read(path)?)
    }

    /// Reads the text of a study file; `file` is the name for messages.
    ///
    /// # Errors
    /// As [`AgreementSpec::from_file`].
    pub fn from_text(file: &Path, text: &str) -> Result<Self, StudyError> {
        read(&leafgp::problem::reading::Source::new(file, text))
    }
}

fn read(source: &leafgp::problem::reading::Source) -> Result<AgreementSpec, StudyError> {
    let document = parse(source)?;
    let root = document.get_ref();
    let mut reader = SpecReader::new(source);
    reader.reader.check_keys(root, "", &KEYS)?;
    let targets = [("plain", Targets::Plain), ("negated", Targets::Negated)];
    let spec = AgreementSpec {
        name: reader.title(root)?,
        functions: reader.functions(root)?,
        points: reader.points(root)?,
        seeds: reader.seeds(root)?,
        ratios: reader.ratios(root)?,
        targets: match root.get("targets") {
            Some(value) => reader.reader.word("targets", value, &targets)?,
            None => Targets::default(),
        },
        settings: deterministic(reader.overlay("", root.get("settings"), &Settings::default())?),
    };
    spec.validate().map_err(|e| reader.reader.locate(e))?;
    Ok(spec)
}

impl SpecReader<'_> {
    fn functions(&mut self, root: &DeTable<'_>) -> Result<Vec<&'static Benchmark>, ProblemError> {
        const EXPECTED: &str = "functions = [\"rastrigin\", \"schwefel\"]";
        let Some(list) = root.get("functions") else {
            return Err(self.reader.locate(ProblemError::new(
                "functions",
                "the study has no functions",
                EXPECTED,
            )));
        };
        let mut known: Vec<&'static Benchmark> = Vec::new();
        for (k, value) in self.reader.array("functions", list, EXPECTED)?.into_iter().enumerate() {
            let at = format!("functions[{k}]");
            let name = self.reader.text(&at, value, "\"rastrigin\"")?;
            let Ok(function) = functions::find(&name) else {
                let message = format!("there is no function {name:?}{}", hint(&name, functions::names()));
                return Err(self.refuse(
                    value,
                    &at,
                    message,
                    format!("one of {}", functions::names().join(", ")),
                ));
            };
            if known.iter().any(|k| k.name == function.name) {
                return Err(self.refuse(value, &at, format!("{name} stands twice"), "distinct functions"));
            }
            known.push(function);
        }
        if known.is_empty() {
            return Err(self.refuse(list, "functions", "the list is empty", EXPECTED));
        }
        Ok(known)
    }

    fn points(&mut self, root: &DeTable<'_>) -> Result<Vec<usize>, ProblemError> {
        let Some(list) = root.get("points") else { return Ok(POINTS.to_vec()) };
        let mut points = Vec::new();
        for (k, value) in self.reader.array("points", list, POINTS_EXPECTED)?.into_iter().enumerate() {
            let at = format!("points[{k}]");
            let number = self.reader.number(&at, value)?;
            if number.fract() != 0.0 || !(2.0..=1e5).contains(&number) {
                return Err(self.refuse(value, &at, format!("{number} is out of range"), POINTS_EXPECTED));
            }
            if points.contains(&(number as usize)) {
                return Err(self.refuse(value, &at, format!("{number} stands twice"), "distinct numbers"));
            }
            points.push(number as usize);
        }
        if points.is_empty() {
            return Err(self.refuse(list, "points", "the list is empty", POINTS_EXPECTED));
        }
        Ok(points)
    }

    fn ratios(&mut self, root: &DeTable<'_>) -> Result<Vec<f64>, ProblemError> {
        let range = |(from, to, step): (f64, f64, f64)| -> Vec<f64> {
            let count = ((to - from) / step + 1e-9).floor() as usize;
            // Twelve decimals: 0.35 + 2 * 0.05 is meant to be 0.45.
            (0..=count).map(|k| ((from + k as f64 * step) * 1e12).round() / 1e12).collect()
        };
        let Some(value) = root.get("ratios") else { return Ok(range(RATIOS)) };
        if !value.get_ref().is_table() {
            return self.ratio_list(value);
        }
        let table = self.reader.table("ratios", value, RATIOS_EXPECTED)?;
        self.reader.check_keys(table, "ratios", &["from", "to", "step"])?;
        let mut ends = [0.0; 3];
        for (end, key) in ends.iter_mut().zip(["from", "to", "step"]) {
            let at = format!("ratios.{key}");
            let Some(number) = table.get(key) else {
                return Err(self.refuse(value, &at, format!("`{key}` is missing"), RATIOS_EXPECTED));
            };
            *end = self.reader.number(&at, number)?;
        }
        let [from, to, step] = ends;
        if !(0.0 <= from && from <= to && to <= 1.0 && step > 0.0 && (to - from) / step <= MOST_RATIOS) {
            let expected = "0 <= from <= to <= 1 and a step above 0, for at most 1000 ratios";
            return Err(self.refuse(value, "ratios", "this is no range", expected));
        }
        Ok(range((from, to, step)))
    }

    fn ratio_list(&mut self, list: &Located<'_>) -> Result<Vec<f64>, ProblemError> {
        let mut ratios: Vec<f64> = Vec::new();
        for (k, value) in self.reader.array("ratios", list, RATIOS_EXPECTED)?.into_iter().enumerate() {
            let at = format!("ratios[{k}]");
            let ratio = self.reader.number(&at, value)?;
            if !(0.0..=1.0).contains(&ratio) || ratios.last().is_some_and(|&last| last >= ratio) {
                let message = format!("{ratio} is out of range, or not above the one before it");
                return Err(self.refuse(value, &at, message, RATIOS_EXPECTED));
            }
            ratios.push(ratio);
        }
        if ratios.is_empty() {
            return Err(self.refuse(list, "ratios", "the list is empty", RATIOS_EXPECTED));
        }
        Ok(ratios)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{AgreementSpec, Targets};

    fn read(text: &str) -> Result<AgreementSpec, String> {
        AgreementSpec::from_text(Path::new("study.toml"), text).map_err(|e| e.to_string())
    }

    const GOOD: &str = "kind = \"agreement\"\nfunctions = [\"rastrigin\"]\nseeds = \"101..103\"\n";

    #[test]
    fn defaults_are_the_papers() {
        assert!(AgreementSpec::is_meant(GOOD) && !AgreementSpec::is_meant("name = \"x\""));
        let spec = read(GOOD).unwrap();
        assert_eq!((spec.name.as_str(), spec.seeds.as_slice()), ("study", &[101, 102, 103][..]));
        assert_eq!(spec.points, [50, 100, 200]);
        assert_eq!(spec.ratios.len(), 14);
        assert_eq!((spec.ratios[0], spec.ratios[2], spec.ratios[13]), (0.35, 0.45, 1.0));
        assert_eq!(spec.targets, Targets::Plain);
    }

    #[test]
    fn settings_reach_the_engine_and_the_digest() {
        let spec = read(&format!("{GOOD}[settings]\ntrees = {{ n_trees = 100, max_depth = 5 }}\n")).unwrap();
        assert_eq!((spec.settings.trees.n_trees, spec.settings.trees.max_depth), (100, 5));
        let plain = read(GOOD).unwrap();
        let function = spec.functions[0];
        assert_ne!(spec.fingerprint(function, 50), plain.fingerprint(function, 50));
        assert_ne!(plain.fingerprint(function, 100), plain.fingerprint(function, 50));
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (text, place, expected) in [
            (GOOD.replace("rastrigin", "rastrgin"), "2:14", "did you mean `rastrigin`"),
            (GOOD.replace("functions", "function"), "2:1", "functions"),
            (GOOD.replace("[\"rastrigin\"]", "[\"g1\", \"g1\"]"), "2:20", "g1 stands twice"),
            (GOOD.replace("101..103", "103..101"), "3:9", "seeds"),
            (format!("{GOOD}point = [3]\n"), "4:1", "point"),
            (format!("{GOOD}points = [3, 1]\n"), "4:14", "points[1]: 1 is out of range"),
            (format!("{GOOD}points = [3, 3]\n"), "4:14", "points[1]: 3 stands twice"),
            (format!("{GOOD}points = []\n"), "4:10", "points: the list is empty"),
            (format!("{GOOD}ratios = [0.5, 0.4]\n"), "4:16", "ratios[1]"),
            (format!("{GOOD}ratios = [0.5, 1.4]\n"), "4:16", "ratios[1]"),
            (format!("{GOOD}ratios = {{ from = 0.4, to = 1.0, step = 0.0 }}\n"), "4:10", "step"),
            (format!("{GOOD}ratios = {{ from = 0.4, to = 1.2, step = 0.1 }}\n"), "4:10", "to <= 1"),
            (
                format!("{GOOD}ratios = {{ from = 0.4, to = 1.0 }}\n"),
                "4:10",
                "ratios.step: `step` is missing",
            ),
            (format!("{GOOD}targets = \"both\"\n"), "4:11", "`negated`"),
            (format!("{GOOD}[settings]\nkappa = -1.0\n"), "5:9", "settings.kappa"),
            (format!("{GOOD}[settings]\nseed = 3\n"), "5:8", "settings.seed: the study's seeds decide"),
            (
                format!("{GOOD}[settings]\nsolver = {{ time_limit = 3 }}\n"),
                "5:25",
                "settings.solver.time_limit",
            ),
            (format!("{GOOD}seeds = [1\n"), "4:", "not valid TOML"),
        ] {
            let message = read(&text).unwrap_err();
            assert!(
                message.contains(expected) && message.contains(&format!("study.toml:{place}")),
                "{message}"
            );
        }
    }
}
