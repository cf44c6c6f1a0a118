//! What the folder of an uncertainty study says of itself: the study without its file.

use serde::{Deserialize, Serialize};

use super::spec::{AgreementSpec, Targets};
use crate::folder::read_json;
use crate::functions;
use crate::manifest::FORMAT;
use crate::{StudyError, StudyFolder};
use leafgp::problem::Settings;

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
        let read = read_json(&path, "uncertainty study", |manifest: &Manifest| manifest.format)?;
        let Some(manifest) = read else { return Ok(None) };
        let refuse = |message: String| StudyError::content(&path, message);
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
                let differ = |what| {
                    StudyError::content(&folder.agreement_file(), format!("{what}; take another folder"))
                };
                known.united(self).map_err(differ)?
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
        folder.write_json(&folder.agreement_file(), &manifest)
    }

    /// Both studies as one: functions, points and seeds are united.
    ///
    /// # Errors
    /// What differs, when the two do not belong together.
    pub(super) fn united(&self, other: &Self) -> Result<Self, String> {
        /// Ascending when both are.
        fn add<T: Copy + Ord>(known: &[T], more: &[T]) -> Vec<T> {
            let new = more.iter().filter(|item| !known.contains(item));
            let mut all: Vec<T> = known.iter().chain(new).copied().collect();
            if known.is_sorted() && more.is_sorted() {
                all.sort_unstable();
            }
            all
        }
        if self.name != other.name {
            return Err(format!("the names of the studies are {:?} and {:?}", self.name, other.name));
        }
        if self.targets != other.targets || self.settings != other.settings || self.ratios != other.ratios {
            return Err("the studies have other targets, ratios or settings".to_owned());
        }
        let mut functions = self.functions.clone();
        functions.extend(other.functions.iter().filter(|f| self.functions.iter().all(|k| k.name != f.name)));
        let (points, seeds) = (add(&self.points, &other.points), add(&self.seeds, &other.seeds));
        Ok(Self { functions, points, seeds, ..self.clone() })
    }
}
