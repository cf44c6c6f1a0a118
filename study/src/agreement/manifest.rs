//! What the folder of an uncertainty study says of itself: the study without its file.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::header::of_format_1;
use super::record::AgreementRecord;
use super::spec::{AgreementRunId, AgreementSpec, Targets};
use crate::error::StudyError;
use crate::folder::StudyFolder;
use crate::format::FORMAT;
use crate::functions;
use crate::manifest::union;
use crate::study_manifest::{PlannedRun, StudyManifest};

/// The content of `agreement.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgreementManifest {
    format: u32,
    name: String,
    leafgp: String,
    functions: Vec<String>,
    points: Vec<usize>,
    seeds: Vec<u64>,
    ratios: Vec<f64>,
    targets: Targets,
    /// As they were written: the digests of format 1 depend on it.
    settings: Value,
}

impl AgreementManifest {
    pub(super) fn new(spec: &AgreementSpec) -> Self {
        Self {
            format: FORMAT,
            name: spec.name.clone(),
            leafgp: env!("CARGO_PKG_VERSION").to_owned(),
            functions: spec.functions.iter().map(|f| f.name.to_owned()).collect(),
            points: spec.points.clone(),
            seeds: spec.seeds.clone(),
            ratios: spec.ratios.clone(),
            targets: spec.targets,
            settings: serde_json::to_value(&spec.settings).expect("settings are plain data"),
        }
    }

    /// The study, checked.
    pub(super) fn spec(&self) -> Result<AgreementSpec, String> {
        let functions = self.functions.iter().map(|name| functions::find(name));
        let spec = AgreementSpec {
            name: self.name.clone(),
            functions: functions.collect::<Result<_, _>>().map_err(|e| e.to_string())?,
            points: self.points.clone(),
            seeds: self.seeds.clone(),
            ratios: self.ratios.clone(),
            targets: self.targets,
            settings: serde_json::from_value(self.settings.clone()).map_err(|e| format!("settings: {e}"))?,
        };
        spec.validate().map_err(|e| e.to_string())?;
        Ok(spec)
    }
}

impl StudyManifest for AgreementManifest {
    type Record = AgreementRecord;

    const FILE: &'static str = "agreement.json";
    const WHAT: &'static str = "uncertainty study";

    fn format(&self) -> u32 {
        self.format
    }

    fn planned(&self) -> Result<Vec<PlannedRun>, String> {
        let spec = self.spec()?;
        let planned = |run: AgreementRunId| {
            let mut header = spec.header(run);
            if self.format != FORMAT {
                let name = run.function.name;
                header.fingerprint =
                    of_format_1(name, run.points, self.targets, &self.ratios, &self.settings);
                header.format = self.format;
            }
            PlannedRun { header, records: self.ratios.len() }
        };
        Ok(spec.all_runs().into_iter().map(planned).collect())
    }

    /// Functions, points and seeds are united, in order of appearance; numbers ascending when they were in each.
    fn united(&self, other: &Self) -> Result<Self, String> {
        if self.name != other.name {
            return Err(format!("the names of the studies are {:?} and {:?}", self.name, other.name));
        }
        let settings = (self.spec()?.settings, other.spec()?.settings);
        if self.targets != other.targets || settings.0 != settings.1 || self.ratios != other.ratios {
            return Err("the studies have other targets, ratios or settings".to_owned());
        }
        let mut functions = self.functions.clone();
        functions.extend(other.functions.iter().filter(|f| !self.functions.contains(f)).cloned());
        let (points, seeds) = (union(&self.points, &other.points), union(&self.seeds, &other.seeds));
        Ok(Self { functions, points, seeds, ..self.clone() })
    }
}

impl AgreementSpec {
    /// True when the folder is an uncertainty study's.
    pub fn is_in(folder: &StudyFolder) -> bool {
        folder.holds::<AgreementManifest>()
    }

    /// The study of a folder; `None` when there is none.
    ///
    /// # Errors
    /// An unreadable or foreign file.
    pub fn of_folder(folder: &StudyFolder) -> Result<Option<Self>, StudyError> {
        let Some(manifest) = folder.read_manifest::<AgreementManifest>()? else { return Ok(None) };
        let refuse = |message| StudyError::content(&folder.file_with::<AgreementManifest>(), message);
        manifest.spec().map(Some).map_err(refuse)
    }
}
