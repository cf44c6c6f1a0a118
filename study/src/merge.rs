//! Shards and partial studies into one folder.

use std::path::PathBuf;

use super::folder::if_there;
use super::manifest::{CaseEntry, Manifest};
use super::record::{RunHeader, RunRecord, mixed};
use super::{StudyError, StudyFolder};
use leafgp::file::write_whole;

/// What a merge did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeSummary {
    /// Runs in the merged folder, complete or not.
    pub runs: usize,
    /// Those that are complete.
    pub complete: usize,
}

/// Merges the studies of several folders into `out`, which counts as the first of them when it holds one already. Problems, methods and seeds are united; of a run that
/// is in several folders the longest record is kept, and the shorter ones must be its beginning.
///
/// # Errors
/// Folders without a study, studies of different names or set-ups, records that contradict each other. Everything is checked before anything is written.
pub fn merge(folders: &[StudyFolder], out: &StudyFolder) -> Result<MergeSummary, StudyError> {
    out.refuse_agreement()?;
    let mut sources: Vec<(&StudyFolder, Manifest)> = Vec::new();
    if let Some(manifest) = out.manifest()? {
        sources.push((out, manifest));
    }
    for folder in folders {
        sources.push((folder, folder.existing_manifest()?));
    }
    let united = unite(&sources)?;

    let mut summary = MergeSummary::default();
    let mut copies: Vec<(PathBuf, PathBuf)> = Vec::new();
    for case in &united.cases {
        let needed = united.problem(&case.problem).map_or(0, |problem| problem.evaluations);
        for &seed in &united.seeds {
            let Some((source, record)) = longest(&sources, case, seed)? else { continue };
            summary.runs += 1;
            summary.complete += usize::from(record.steps.len() >= needed);
            if source.path() != out.path() {
                let of = |folder: &StudyFolder| {
                    [
                        folder.run_file(&case.problem, &case.method, seed),
                        folder.timing_file(&case.problem, &case.method, seed),
                    ]
                };
                copies.extend(of(source).into_iter().zip(of(out)));
            }
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

/// The union of the manifests, in order of appearance, seeds ascending when they were in each.
fn unite(sources: &[(&StudyFolder, Manifest)]) -> Result<Manifest, StudyError> {
    let Some(((first_folder, first), rest)) = sources.split_first() else {
        return Err(StudyError::Mixed("there is nothing to merge".to_owned()));
    };
    let mut united = first.clone();
    for (folder, other) in rest {
        let differ = |what: String| {
            StudyError::Mixed(format!(
                "{} and {} do not belong together: {what}",
                first_folder.path().display(),
                folder.path().display()
            ))
        };
        if other.name != united.name {
            return Err(differ(format!("their names are {:?} and {:?}", united.name, other.name)));
        }
        for problem in &other.problems {
            match united.problems.iter().find(|known| known.name == problem.name) {
                Some(known) if known == problem => {}
                Some(_) => return Err(differ(format!("the problem {:?} is not the same", problem.name))),
                None => united.problems.push(problem.clone()),
            }
        }
        for method in &other.methods {
            match united.methods.iter().find(|known| known.name == method.name) {
                Some(known) if known == method => {}
                Some(_) => return Err(differ(format!("the method {:?} is not the same", method.name))),
                None => united.methods.push(method.clone()),
            }
        }
        for case in &other.cases {
            match united.case(&case.problem, &case.method) {
                Some(known) if known.fingerprint == case.fingerprint => {}
                Some(_) => {
                    let name = format!("{}/{}", case.problem, case.method);
                    return Err(differ(format!("{name} was made with other settings")));
                }
                None => united.cases.push(case.clone()),
            }
        }
        let ascending = united.seeds.is_sorted() && other.seeds.is_sorted();
        let new: Vec<u64> = other.seeds.iter().copied().filter(|s| !united.seeds.contains(s)).collect();
        united.seeds.extend(new);
        if ascending {
            united.seeds.sort_unstable();
        }
    }
    // Cases stand problem by problem, methods in their order, as in a spec.
    let place = |case: &CaseEntry| {
        (
            united.problems.iter().position(|p| p.name == case.problem),
            united.methods.iter().position(|m| m.name == case.method),
        )
    };
    let mut cases = united.cases.clone();
    cases.sort_by_key(place);
    Ok(Manifest { cases, ..united })
}

/// The longest record of a run, the first of equals; the others must be its beginnings.
fn longest<'a>(
    sources: &[(&'a StudyFolder, Manifest)],
    case: &CaseEntry,
    seed: u64,
) -> Result<Option<(&'a StudyFolder, RunRecord)>, StudyError> {
    let mut best: Option<(&StudyFolder, RunRecord)> = None;
    for (folder, _) in sources {
        let path = folder.run_file(&case.problem, &case.method, seed);
        let Some(record) = RunRecord::read(&path)? else { continue };
        let header = RunHeader::new(&case.problem, &case.method, seed, &case.fingerprint);
        if record.header != header {
            return Err(mixed(&path, &record.header, &header));
        }
        if let Some((other, known)) = &best {
            let common = record.steps.len().min(known.steps.len());
            if record.steps[..common] != known.steps[..common] {
                return Err(StudyError::Mixed(format!(
                    "the run {}/{}/{seed} is not the same in {} and {}",
                    case.problem,
                    case.method,
                    other.path().display(),
                    folder.path().display()
                )));
            }
        }
        if best.as_ref().is_none_or(|(_, known)| record.steps.len() > known.steps.len()) {
            best = Some((folder, record));
        }
    }
    Ok(best)
}
