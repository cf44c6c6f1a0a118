//! What the folder of an uncertainty study says of itself: the study without its file.

use serde::{Deserialize, Serialize};

use super::spec::{AgreementSpec, Targets};
use crate::file::write_whole;
use crate::functions;
use crate::problem::Settings;
use crate::study::folder::if_there;
use crate::study::manifest::FORMAT;
use crate::study::{StudyError, StudyFolder};

/// The content of `agreement.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    format: u32,
    name: String,
    leafgp: String,
    functions: Vec<String>,
    points: Vec<usize>,
    seeds: Vec<u64>,
    ratios: Vec<f64>,
    targets: Targets,
    settings: Settings,
}

impl AgreementSpec {
    /// True when the folder is an uncertainty study's.
    pub fn is_in(folder: &StudyFolder) -> bool {
        folder.agreement_file().exists()
    }

    /// The study of a folder; `None` when there is none.
    ///
    /// # Errors
    /// An unreadable or foreign file.
    pub fn of_folder(folder: &StudyFolder) -> Result<Option<Self>, StudyError> {
        let path = folder.agreement_file();
        let Some(text) = if_there(&path, std::fs::read_to_string(&path))? else { return Ok(None) };
        let refuse = |message: String| StudyError::content(&path, message);
        let manifest: Manifest = serde_json::from_str(&text)
            .map_err(|e| refuse(format!("this is no uncertainty study of leafgp: {e}")))?;
        if manifest.format != FORMAT {
            return Err(refuse(format!("format {} is not format {FORMAT}", manifest.format)));
        }
        let functions = manifest.functions.iter().map(|name| functions::find(name));
        let spec = Self {
            name: manifest.name,
            functions: functions.collect::<Result<_, _>>().map_err(|e| refuse(e.to_string()))?,
            points: manifest.points,
            seeds: manifest.seeds,
            ratios: manifest.ratios,
            targets: manifest.targets,
            settings: manifest.settings,
        };
        spec.validate().map_err(|e| refuse(e.to_string()))?;
        Ok(Some(spec))
    }

    /// Writes the study into a folder, united with what is there already.
    ///
    /// # Errors
    /// A folder with another study, an unreadable or unwritable file.
    pub(super) fn write_into(&self, folder: &StudyFolder) -> Result<(), StudyError> {
        folder.refuse_ordinary()?;
        let known = Self::of_folder(folder)?;
        let spec = match &known {
            Some(known) => {
                let differ = |what: &str| {
                    StudyError::content(&folder.agreement_file(), format!("{what}; take another folder"))
                };
                known.united(self).map_err(|what| differ(&what))?
            }
            None => self.clone(),
        };
        let manifest = Manifest {
            format: FORMAT,
            name: spec.name,
            leafgp: env!("CARGO_PKG_VERSION").to_owned(),
            functions: spec.functions.iter().map(|f| f.name.to_owned()).collect(),
            points: spec.points,
            seeds: spec.seeds,
            ratios: spec.ratios,
            targets: spec.targets,
            settings: spec.settings,
        };
        std::fs::create_dir_all(folder.path()).map_err(StudyError::file(folder.path()))?;
        let path = folder.agreement_file();
        let value = serde_json::to_value(manifest).expect("a manifest is plain data");
        write_whole(&path, format!("{value:#}\n").as_bytes()).map_err(StudyError::file(&path))
    }

    /// Both studies as one: functions, points and seeds are united.
    ///
    /// # Errors
    /// What differs, when the two do not belong together.
    pub(super) fn united(&self, other: &Self) -> Result<Self, String> {
        fn add<T: Clone + PartialEq>(known: &[T], more: &[T]) -> Vec<T> {
            let new = more.iter().filter(|item| !known.contains(item));
            known.iter().chain(new).cloned().collect()
        }
        if self.name != other.name {
            return Err(format!("the names of the studies are {:?} and {:?}", self.name, other.name));
        }
        if self.targets != other.targets || self.settings != other.settings || self.ratios != other.ratios {
            return Err("the studies have other targets, ratios or settings".to_owned());
        }
        let mut functions = self.functions.clone();
        functions.extend(other.functions.iter().filter(|f| self.functions.iter().all(|k| k.name != f.name)));
        let mut seeds = add(&self.seeds, &other.seeds);
        if self.seeds.is_sorted() && other.seeds.is_sorted() {
            seeds.sort_unstable();
        }
        let mut points = add(&self.points, &other.points);
        if self.points.is_sorted() && other.points.is_sorted() {
            points.sort_unstable();
        }
        Ok(Self { functions, points, seeds, ..self.clone() })
    }
}
