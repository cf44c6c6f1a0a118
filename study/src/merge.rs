//! Shards and partial studies into one folder.

use std::path::PathBuf;

use super::agreement::AgreementManifest;
use super::error::{StudyError, if_there};
use super::folder::StudyFolder;
use super::manifest::Manifest;
use super::record::{Record, RunHeader, RunRecord};
use super::study_manifest::StudyManifest;
use leafgp::file::write_whole;

/// What a merge did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeSummary {
    /// Runs in the merged folder, complete or not.
    pub runs: usize,
    /// Those that are complete.
    pub complete: usize,
}

/// Merges the studies of several folders into `out`, which counts as the first of them when it holds one already. What the studies are made of is united (problems, methods, seeds; or
/// functions, points, seeds); of a run that is in several folders the longest record is kept, and the shorter ones must be its beginning.
///
/// # Errors
/// Folders without a study, studies of different kinds, names or set-ups, records that contradict each other. Everything is checked before anything is written.
pub fn merge(folders: &[StudyFolder], out: &StudyFolder) -> Result<MergeSummary, StudyError> {
    if folders.iter().chain([out]).any(StudyFolder::holds::<AgreementManifest>) {
        merge_kind::<AgreementManifest>(folders, out)
    } else {
        merge_kind::<Manifest>(folders, out)
    }
}

fn merge_kind<M: StudyManifest>(
    folders: &[StudyFolder],
    out: &StudyFolder,
) -> Result<MergeSummary, StudyError> {
    out.refuse_others::<M>()?;
    let mut sources: Vec<(&StudyFolder, M)> = Vec::new();
    if let Some(manifest) = out.read_manifest()? {
        sources.push((out, manifest));
    }
    for folder in folders {
        sources.push((folder, folder.existing_manifest()?));
    }
    let united = unite(&sources)?;

    let mut summary = MergeSummary::default();
    let mut copies: Vec<(PathBuf, PathBuf)> = Vec::new();
    let planned = united.planned().map_err(|what| StudyError::content(&out.file_with::<M>(), what))?;
    for run in planned {
        let Some((source, record)) = longest(&sources, &run.header)? else { continue };
        summary.runs += 1;
        summary.complete += usize::from(record.records.len() >= run.records);
        if source.path() != out.path() {
            let RunHeader { problem, method, seed, .. } = &run.header;
            copies.push((source.file_of(&run.header), out.file_of(&run.header)));
            let times = |folder: &StudyFolder| folder.timing_file(problem, method, *seed);
            copies.push((times(source), times(out)));
        }
    }
    for (from, to) in copies {
        // Times may be missing.
        let Some(bytes) = if_there(&from, std::fs::read(&from))? else { continue };
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder).map_err(StudyError::file(folder))?;
        }
        write_whole(&to, &bytes).map_err(StudyError::file(&to))?;
    }
    out.write_manifest(&united)?;
    Ok(summary)
}

/// The manifests as one.
fn unite<M: StudyManifest>(sources: &[(&StudyFolder, M)]) -> Result<M, StudyError> {
    let Some(((first, manifest), rest)) = sources.split_first() else {
        return Err(StudyError::Mixed("there is nothing to merge".to_owned()));
    };
    let mut united = manifest.clone();
    for (folder, other) in rest {
        let differ = |what: String| {
            let (one, two) = (first.path().display(), folder.path().display());
            StudyError::Mixed(format!("{one} and {two} do not belong together: {what}"))
        };
        let formats = (united.format(), other.format());
        if formats.0 != formats.1 {
            let (one, two) = formats;
            let what = format!("they are of formats {one} and {two}, whose digests cannot be compared");
            return Err(differ(what));
        }
        united = united.united(other).map_err(differ)?;
    }
    Ok(united)
}

/// What a folder has of a run.
type Found<'a, M> = (&'a StudyFolder, RunRecord<<M as StudyManifest>::Record>);

/// The longest record of a run, the first of equals; the others must be its beginnings.
fn longest<'a, M: StudyManifest>(
    sources: &[(&'a StudyFolder, M)],
    header: &RunHeader,
) -> Result<Option<Found<'a, M>>, StudyError> {
    let mut best: Option<Found<'_, M>> = None;
    for (folder, _) in sources {
        let path = folder.file_of(header);
        let Some(record) = RunRecord::<M::Record>::read_of(&path, header)? else { continue };
        if let Some((other, known)) = &best
            && let Some((ours, _)) = record.records.iter().zip(&known.records).find(|(a, b)| a != b)
        {
            return Err(StudyError::Mixed(format!(
                "the run {} is not the same in {} and {}: they part at {}",
                header.name(),
                other.path().display(),
                folder.path().display(),
                ours.name()
            )));
        }
        if best.as_ref().is_none_or(|(_, known)| record.records.len() > known.records.len()) {
            best = Some((folder, record));
        }
    }
    Ok(best)
}
