//! Shards and parts of an uncertainty study into one folder.

use super::record::{AgreementRecord, AgreementRun};
use super::run::Run;
use super::spec::AgreementSpec;
use crate::record::mixed;
use crate::{MergeSummary, StudyError, StudyFolder};

/// Merges uncertainty studies into `out`, which counts as the first of them when it holds one already. Functions, points and seeds are united, and
/// so are the answers of a run.
///
/// # Errors
/// Folders without such a study, studies that do not belong together, answers that contradict each other. Everything is checked before anything is written.
pub fn merge(folders: &[StudyFolder], out: &StudyFolder) -> Result<MergeSummary, StudyError> {
    out.refuse_ordinary()?;
    let mut sources = Vec::new();
    if let Some(spec) = AgreementSpec::of_folder(out)? {
        sources.push((out, spec));
    }
    for folder in folders {
        let none = || {
            StudyError::content(
                folder.path(),
                "there is no uncertainty study in this folder, but in another one that was named",
            )
        };
        sources.push((folder, AgreementSpec::of_folder(folder)?.ok_or_else(none)?));
    }
    let Some(((first, spec), rest)) = sources.split_first() else {
        return Err(StudyError::Mixed("there is nothing to merge".to_owned()));
    };
    let mut united = spec.clone();
    for (folder, other) in rest {
        let differ = |what| {
            let (one, two) = (first.path().display(), folder.path().display());
            StudyError::Mixed(format!("{one} and {two} do not belong together: {what}"))
        };
        united = united.united(other).map_err(differ)?;
    }
    let mut summary = MergeSummary::default();
    let mut runs = Vec::new();
    for run in united.all_runs() {
        let Some(record) = united_run(&sources, &united, run)? else { continue };
        summary.runs += 1;
        summary.complete += usize::from(record.records.len() >= united.ratios.len());
        runs.push((united.run_file(out, run.function, run.points, run.seed), record));
    }
    for (path, record) in runs {
        record.write(&path)?;
    }
    united.write_into(out)?;
    Ok(summary)
}

/// The answers of all folders to one run; `None` when there are none.
fn united_run(
    sources: &[(&StudyFolder, AgreementSpec)],
    spec: &AgreementSpec,
    Run { function, points, seed }: Run,
) -> Result<Option<AgreementRun>, StudyError> {
    let header = spec.header(function, points, seed);
    let mut records: Option<Vec<AgreementRecord>> = None;
    for (folder, _) in sources {
        let path = spec.run_file(folder, function, points, seed);
        let Some(run) = AgreementRun::read(&path)? else { continue };
        if run.header != header {
            return Err(mixed(&path, &run.header, &header));
        }
        let known = records.get_or_insert_default();
        for record in run.records {
            match known.iter().find(|k| k.ratio == record.ratio) {
                Some(same) if *same == record => {}
                Some(_) => {
                    let message =
                        format!("the answer for the ratio {} is not that of another folder", record.ratio);
                    return Err(StudyError::content(&path, message));
                }
                None => known.push(record),
            }
        }
        known.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    }
    Ok(records.map(|records| AgreementRun { header, records }))
}
