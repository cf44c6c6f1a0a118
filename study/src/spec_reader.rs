//! What the readers of study files share: the document, and the values that both kinds of study have.

use std::path::PathBuf;
use std::time::Duration;

use toml::Spanned;
use toml::de::DeTable;

use super::error::StudyError;
use leafgp::problem::reading::{Located, Reader, join, overlay_settings};
use leafgp::problem::{ProblemError, Settings};

const LARGEST_COUNT: f64 = 1e6;

/// The document of a study file.
pub(super) fn parse(source: &leafgp::problem::reading::Source) -> Result<Spanned<DeTable<'_>>, StudyError> {
    let located = |e: toml::de::Error| {
        let message = format!("not valid TOML: {}", e.message().replace('\n', ", "));
        let end = source.text().len();
        source.locate(ProblemError::new("", message, ""), &e.span().unwrap_or(end..end))
    };
    Ok(DeTable::parse(source.text()).map_err(located)?)
}

/// Reads a study file, every error with its place.
pub(super) struct SpecReader<'a> {
    pub(super) reader: Reader<'a>,
    /// Files are relative to it.
    folder: PathBuf,
    /// The file's name without ending.
    stem: String,
}

impl<'a> SpecReader<'a> {
    pub(super) fn new(source: &'a leafgp::problem::reading::Source) -> Self {
        let folder = source.file().parent().map_or_else(PathBuf::new, Into::into);
        let stem =
            source.file().file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Self { reader: Reader::new(source, "the study file"), folder, stem }
    }

    /// The study's name; the file's unless it is given.
    pub(super) fn title(&mut self, root: &DeTable<'_>) -> Result<String, ProblemError> {
        match root.get("name") {
            Some(value) => self.reader.text("name", value, "name = \"figure 3\""),
            None => Ok(self.stem.clone()),
        }
    }

    pub(super) fn overlay(
        &mut self,
        path: &str,
        section: Option<&Located<'_>>,
        base: &Settings,
    ) -> Result<Settings, ProblemError> {
        let Some(section) = section else { return Ok(base.clone()) };
        let field = join(path, "settings");
        let table = self.reader.table(&field, section, "settings = { kappa = 1.96 }")?;
        for (outer, key, message, expected) in DECIDED {
            let table = match outer {
                "" => Some(table),
                _ => table.get(outer).and_then(|section| section.get_ref().as_table()),
            };
            let value = table.and_then(|table| table.get(key));
            let key = join(outer, key);
            if let Some(value) = value {
                return Err(self.refuse(value, &format!("{field}.{key}"), message, expected));
            }
        }
        overlay_settings(&mut self.reader, &field, section, base)
    }

    pub(super) fn seeds(&mut self, root: &DeTable<'_>) -> Result<Vec<u64>, ProblemError> {
        const EXPECTED: &str = "seeds = [101, 102], or a range with both ends, seeds = \"101..120\"";
        let Some(value) = root.get("seeds") else {
            return Err(self.reader.locate(ProblemError::new("seeds", "the study has no seeds", EXPECTED)));
        };
        let mut seeds = Vec::new();
        let items = match value.get_ref().as_array() {
            Some(array) => array.iter().collect(),
            None => vec![value],
        };
        for (k, item) in items.into_iter().enumerate() {
            let at = if value.get_ref().is_array() { format!("seeds[{k}]") } else { "seeds".to_owned() };
            let range = match item.get_ref().as_str() {
                Some(text) => seed_range(text),
                None => {
                    let seed = self.reader.number(&at, item)?;
                    (seed >= 0.0 && seed.fract() == 0.0 && seed < 9e15).then_some((seed as u64, seed as u64))
                }
            };
            let Some((first, last)) = range else {
                return Err(self.refuse(item, &at, "no seed and no range of at most 10000 seeds", EXPECTED));
            };
            for seed in first..=last {
                if seeds.contains(&seed) {
                    return Err(self.refuse(
                        item,
                        &at,
                        format!("seed {seed} stands twice"),
                        "distinct seeds",
                    ));
                }
                seeds.push(seed);
            }
        }
        if seeds.is_empty() {
            return Err(self.refuse(value, "seeds", "the list is empty", EXPECTED));
        }
        Ok(seeds)
    }

    pub(super) fn count(
        &mut self,
        field: &str,
        value: Option<&Located<'_>>,
        smallest: usize,
    ) -> Result<Option<usize>, ProblemError> {
        let Some(value) = value else { return Ok(None) };
        let number = self.reader.number(field, value)?;
        if number.fract() != 0.0 || !(smallest as f64..=LARGEST_COUNT).contains(&number) {
            let expected = format!("a whole number in {smallest}..={LARGEST_COUNT}");
            return Err(self.refuse(value, field, format!("{number} is out of range"), expected));
        }
        Ok(Some(number as usize))
    }

    pub(super) fn seconds(
        &mut self,
        field: &str,
        value: Option<&Located<'_>>,
    ) -> Result<Option<Duration>, ProblemError> {
        let Some(value) = value else { return Ok(None) };
        let seconds = self.reader.number(field, value)?;
        if !(seconds > 0.0 && seconds <= 1e9) {
            let message = format!("{seconds} is out of range");
            return Err(self.refuse(value, field, message, "seconds, above 0 and at most 1e9"));
        }
        Ok(Some(Duration::from_secs_f64(seconds)))
    }

    pub(super) fn path(
        &mut self,
        field: &str,
        value: &Located<'_>,
        example: &str,
    ) -> Result<PathBuf, ProblemError> {
        Ok(self.folder.join(self.reader.text(field, value, example)?))
    }

    pub(super) fn refuse(
        &self,
        value: &Located<'_>,
        field: &str,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> ProblemError {
        self.reader.refuse(&value.span(), field, message, expected)
    }
}

/// Settings that a study decides itself: section, key, why, and what is meant instead.
const DECIDED: [(&str, &str, &str, &str); 4] = [
    ("", "seed", "the study's seeds decide", "seeds = [101, 102] above the tables"),
    ("solver", "time_limit", "a study knows no clock", "solver.node_limit"),
    ("solver", "threads", "each run has one thread", "--jobs K on the command line"),
    ("design", "initial", "first points are the study's", "`initial` above the tables"),
];

/// `first..last`, both ends included, as its two ends; at most 10000 seeds.
fn seed_range(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once("..")?;
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first <= last && last - first < 10_000).then_some((first, last))
}
