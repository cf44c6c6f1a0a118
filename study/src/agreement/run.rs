//! The runs: fit, then one proved answer a ratio.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use leafgp_solver::Region;

use super::record::{AgreementRecord, AgreementRun};
use super::spec::{AgreementSpec, Targets};
use crate::functions::Benchmark;
use crate::record::{RunHeader, mixed};
use crate::{RunOptions, StudyError, StudyFolder};
use leafgp::engine::{Context, EngineError, MeanWithinAgreement, Purpose, Surrogate, stream, uniform};
use leafgp::history::{Outcome, Row};
use leafgp::problem::{Goal, Problem};

/// The method's name in folders and headers.
const METHOD: &str = "agreement";

/// What became of the runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgreementSummary {
    /// Complete runs, those from before included.
    pub complete: usize,
    /// Runs of the part asked for.
    pub total: usize,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

/// One run of a study.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) function: &'static Benchmark,
    pub(super) points: usize,
    pub(super) seed: u64,
}

impl AgreementSpec {
    /// All runs, seed by seed.
    pub(super) fn all_runs(&self) -> Vec<Run> {
        let mut runs = Vec::new();
        for &seed in &self.seeds {
            for &points in &self.points {
                for &function in &self.functions {
                    runs.push(Run { function, points, seed });
                }
            }
        }
        runs
    }

    /// The runs of the part asked for.
    fn runs(&self, options: &RunOptions) -> Vec<Run> {
        let of_shard = |k: usize| options.shard.is_none_or(|shard| shard.holds(k));
        self.all_runs().into_iter().enumerate().filter(|(k, _)| of_shard(*k)).map(|(_, run)| run).collect()
    }

    /// How many answers [`run`] has still to find.
    ///
    /// # Errors
    /// Damaged or unreadable files.
    pub fn missing_answers(&self, folder: &StudyFolder, options: &RunOptions) -> Result<usize, StudyError> {
        let mut missing = 0;
        for run in self.runs(options) {
            let path = self.run_file(folder, run.function, run.points, run.seed);
            let known = AgreementRun::read(&path)?.map_or(0, |record| record.records.len());
            missing += self.ratios.len().saturating_sub(known);
        }
        Ok(missing)
    }

    /// The file of a run.
    pub fn run_file(&self, folder: &StudyFolder, function: &Benchmark, points: usize, seed: u64) -> PathBuf {
        folder.run_file(&problem_name(function, points), METHOD, seed)
    }

    /// What a run's file must begin with.
    pub(super) fn header(&self, function: &Benchmark, points: usize, seed: u64) -> RunHeader {
        RunHeader::new(&problem_name(function, points), METHOD, seed, &self.fingerprint(function, points))
    }
}

fn problem_name(function: &Benchmark, points: usize) -> String {
    format!("{}-{points}", function.name)
}

/// Makes every run that is not complete, `options.jobs` at a time; `on_answer` hears of each answer. Results do not depend on the number of jobs.
///
/// # Errors
/// Files of other set-ups, damaged or unwritable ones; what the engine refuses. The first error ends the work.
pub fn run(
    spec: &AgreementSpec,
    folder: &StudyFolder,
    options: &RunOptions,
    on_answer: &(dyn Fn(&str, &AgreementRecord) + Sync),
) -> Result<AgreementSummary, StudyError> {
    spec.write_into(folder)?;
    let runs = spec.runs(options);
    let context = Context { interrupt: options.interrupt.clone(), progress: None };
    let state: Mutex<(AgreementSummary, Option<StudyError>)> =
        Mutex::new((AgreementSummary { total: runs.len(), ..AgreementSummary::default() }, None));
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(&run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if state.lock().unwrap_or_else(PoisonError::into_inner).1.is_some() || context.is_interrupted() {
                return;
            }
            let result = run_one(spec, run, folder, &context, on_answer);
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            match result {
                Ok(true) => state.0.complete += 1,
                Ok(false) => {}
                Err(error) => state.1 = Some(error),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..options.jobs.clamp(1, runs.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    let (mut summary, error) = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    summary.interrupted = context.is_interrupted() && summary.complete < summary.total;
    error.map_or(Ok(summary), Err)
}

/// Makes or continues a run; true when it is complete.
fn run_one(
    spec: &AgreementSpec,
    run: Run,
    folder: &StudyFolder,
    context: &Context,
    on_answer: &(dyn Fn(&str, &AgreementRecord) + Sync),
) -> Result<bool, StudyError> {
    let path = spec.run_file(folder, run.function, run.points, run.seed);
    let header = spec.header(run.function, run.points, run.seed);
    let mut record = match AgreementRun::read(&path)? {
        Some(record) if record.header == header => record,
        Some(record) => return Err(mixed(&path, &record.header, &header)),
        None => AgreementRun { header, records: Vec::new() },
    };
    let missing = |record: &AgreementRun| {
        spec.ratios.iter().copied().find(|ratio| record.records.iter().all(|r| r.ratio != *ratio))
    };
    if missing(&record).is_none() {
        return Ok(true);
    }
    let fitted = Fitted::new(spec, run)?;
    let name = format!("{} {}", record.header.problem, run.seed);
    while let Some(ratio) = missing(&record) {
        // Answers for smaller ratios stay allowed for larger ones. What lies above a gap in the records is not used: a continued run is the same run.
        let start: Vec<Vec<f64>> = record
            .records
            .iter()
            .filter(|r| r.ratio < ratio)
            .filter_map(|r| r.point.as_ref())
            .map(|point| fitted.problem.point_from_json(point))
            .collect::<Result<_, _>>()
            .map_err(|what| StudyError::content(&path, what.to_string()))?;
        let answer = fitted.answer(ratio, &start, context)?;
        if context.is_interrupted() {
            return Ok(false);
        }
        on_answer(&name, &answer);
        record.records.push(answer);
        record.records.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        record.write(&path)?;
    }
    Ok(true)
}

/// The model of a run.
struct Fitted {
    function: &'static Benchmark,
    sign: f64,
    problem: Problem,
    surrogate: Surrogate,
}

impl Fitted {
    fn new(spec: &AgreementSpec, run: Run) -> Result<Self, StudyError> {
        let mut settings = spec.settings.clone();
        settings.seed = run.seed;
        let problem = run.function.problem()?.with_settings(settings)?.with_goal(Goal::Maximize);
        let sign = match spec.targets {
            Targets::Plain => 1.0,
            Targets::Negated => -1.0,
        };
        // The first points of a longer list are the shorter list.
        let mut rng = stream(run.seed, Purpose::Initial, 0);
        let full = Region::full(problem.constraints().domains());
        let rows: Vec<Row> = (0..run.points)
            .map(|_| {
                let point = uniform(&problem, &full, &mut rng);
                let value = sign * run.function.evaluate(&point);
                Row::new(&problem, &point, Outcome::Done(value)).map_err(EngineError::from)
            })
            .collect::<Result<_, _>>()?;
        let surrogate = Surrogate::of(&problem, &rows)?;
        Ok(Self { function: run.function, sign, problem, surrogate })
    }

    fn answer(
        &self,
        ratio: f64,
        start: &[Vec<f64>],
        context: &Context,
    ) -> Result<AgreementRecord, StudyError> {
        let found = self.surrogate.mean_within_agreement(ratio, start, context);
        let none = |status: &str| AgreementRecord {
            ratio,
            status: status.to_owned(),
            point: None,
            mean: None,
            std: None,
            value: None,
            error: None,
            agreement: None,
            bound: None,
            gap: None,
            nodes: 0,
        };
        let found: MeanWithinAgreement = match found {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(none("infeasible")),
            Err(EngineError::NoIncumbent { .. }) => return Ok(none("unknown")),
            Err(error) => return Err(error.into()),
        };
        let value = self.sign * self.function.evaluate(&found.point);
        let error = ((found.mean - value) / found.mean).abs();
        Ok(AgreementRecord {
            ratio,
            status: found.status.as_str().to_owned(),
            point: Some(self.problem.point_to_json(&found.point)),
            mean: Some(found.mean),
            std: Some(found.std),
            value: Some(value),
            error: Some(error).filter(|e| e.is_finite()),
            agreement: Some(found.agreement),
            bound: Some(found.bound).filter(|b| b.is_finite()),
            gap: Some(found.gap).filter(|g| g.is_finite()),
            nodes: found.nodes,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::run;
    use crate::agreement::{AgreementRun, AgreementSpec, charts, merge, report, summarise, summary_csv};
    use crate::{RunOptions, StudyFolder};

    fn spec() -> AgreementSpec {
        let text = "kind = \"agreement\"\nfunctions = [\"branin\", \"mixed\"]\nseeds = [1, 2, 3]\npoints = [15]\n\
                    ratios = [0.2, 0.6, 1.0]\n[settings]\ntrees = { n_trees = 10 }\n";
        AgreementSpec::from_text(Path::new("s.toml"), text).unwrap()
    }

    fn options(jobs: usize, shard: Option<&str>) -> RunOptions {
        RunOptions { jobs, shard: shard.map(|s| s.parse().unwrap()), interrupt: None }
    }

    /// All files with their contents.
    fn contents(folder: &StudyFolder, spec: &AgreementSpec) -> Vec<String> {
        let mut all = Vec::new();
        for function in &spec.functions {
            for seed in &spec.seeds {
                all.push(std::fs::read_to_string(spec.run_file(folder, function, 15, *seed)).unwrap());
            }
        }
        all
    }

    #[test]
    fn runs_resume_and_shards_give_the_same_bytes() {
        let spec = spec();
        let whole = tempfile::tempdir().unwrap();
        let folder = StudyFolder::new(whole.path());
        let summary = run(&spec, &folder, &options(1, None), &|_, _| {}).unwrap();
        assert_eq!((summary.complete, summary.total, summary.interrupted), (6, 6, false));
        let expected = contents(&folder, &spec);

        let parts = tempfile::tempdir().unwrap();
        let shards = ["1/2", "2/2"].map(|shard| {
            let folder = StudyFolder::new(parts.path().join(shard.replace('/', "-")));
            run(&spec, &folder, &options(2, Some(shard)), &|_, _| {}).unwrap();
            folder
        });
        let folder = StudyFolder::new(parts.path().join("merged"));
        let summary = merge(&shards, &folder).unwrap();
        assert_eq!((summary.runs, summary.complete), (6, 6));
        assert_eq!(contents(&folder, &spec), expected);
        let reports = [whole.path(), folder.path()].map(|path| {
            let out = path.join("report");
            let summary = report(&StudyFolder::new(path), &out).unwrap();
            assert_eq!((summary.complete, summary.planned), (6, 6));
            ["report.html", "agreement.csv", "agreement-branin-error.svg", "agreement-mixed-mean.svg"]
                .map(|name| std::fs::read_to_string(out.join(name)).unwrap())
        });
        assert_eq!(reports[0], reports[1]);
        assert_eq!(reports[0][0].matches("<svg").count(), 4);
        assert_eq!(AgreementSpec::of_folder(&folder).unwrap().unwrap().seeds, spec.seeds);

        // A run that stopped after its first answer goes on to the same bytes, and complete ones are left alone.
        let path = spec.run_file(&folder, spec.functions[0], 15, 1);
        let mut half = AgreementRun::read(&path).unwrap().unwrap();
        half.records.truncate(1);
        half.write(&path).unwrap();
        let answers = std::sync::atomic::AtomicUsize::new(0);
        run(&spec, &folder, &options(1, None), &|_, _| {
            answers.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        })
        .unwrap();
        assert_eq!(answers.into_inner(), 2);
        assert_eq!(contents(&folder, &spec), expected);

        let mut other = spec.clone();
        other.settings.kappa = 3.0;
        let refused = run(&other, &folder, &options(1, None), &|_, _| {}).unwrap_err().to_string();
        assert!(refused.contains("agreement.json"), "{refused}");
        assert_eq!(contents(&folder, &spec), expected);
    }

    #[test]
    fn parts_that_do_not_belong_together_are_not_merged() {
        let spec = AgreementSpec { seeds: vec![1], ..spec() };
        let parts = tempfile::tempdir().unwrap();
        let folder = |name: &str| StudyFolder::new(parts.path().join(name));
        let made = |name: &str, spec: &AgreementSpec| {
            run(spec, &folder(name), &options(1, None), &|_, _| {}).unwrap()
        };
        made("a", &spec);
        made("more", &AgreementSpec { seeds: vec![2], points: vec![15, 12], ..spec.clone() });
        made("ratios", &AgreementSpec { ratios: vec![0.6, 0.8], ..spec.clone() });
        let mut other = spec.clone();
        other.settings.kappa = 3.0;
        made("other", &other);
        let refused = |names: &[&str], expected: &str| {
            let folders: Vec<StudyFolder> = names.iter().map(|name| folder(name)).collect();
            let message = merge(&folders, &folder("out")).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
            assert!(!parts.path().join("out").exists());
        };
        refused(&["a", "other"], "settings");
        refused(&["a", "ratios"], "ratios");
        refused(&["a", "nowhere"], "nowhere");
        made("b", &spec);
        let path = spec.run_file(&folder("b"), spec.functions[0], 15, 1);
        let mut altered = AgreementRun::read(&path).unwrap().unwrap();
        altered.records[1].nodes += 1;
        altered.write(&path).unwrap();
        refused(&["a", "b"], "ratio 0.6");
        // More seeds and points.
        let summary = merge(&[folder("a"), folder("more")], &folder("out")).unwrap();
        assert_eq!((summary.runs, summary.complete), (6, 6));
        let united = AgreementSpec::of_folder(&folder("out")).unwrap().unwrap();
        assert_eq!((united.seeds, united.points), (vec![1, 2], vec![15, 12]));
        // One folder, one kind of study.
        let text = "iterations = 1\nseeds = [1]\n[[method]]\nname = \"random\"\n[[problem]]\nfunction = \"branin\"\n";
        let ordinary = crate::Spec::from_text(Path::new("o.toml"), text).unwrap();
        let make = |name: &str| crate::run(&ordinary, &folder(name), &options(1, None), &|_| {});
        assert!(make("a").unwrap_err().to_string().contains("agreement.json"));
        make("plain").unwrap();
        assert!(run(&spec, &folder("plain"), &options(1, None), &|_, _| {}).is_err());
        assert!(merge(&[folder("a")], &folder("plain")).is_err());
        assert!(crate::merge(&[folder("plain")], &folder("a")).is_err());
        assert!(!AgreementSpec::is_in(&folder("plain")) && folder("a").manifest().unwrap().is_none());
    }

    #[test]
    fn means_grow_with_the_ratio_and_the_summary_holds_their_quartiles() {
        let spec = spec();
        let whole = tempfile::tempdir().unwrap();
        let folder = StudyFolder::new(whole.path());
        run(&spec, &folder, &options(2, None), &|_, record| {
            let (Some(mean), Some(value)) = (record.mean, record.value) else {
                assert_eq!(record.status, "infeasible");
                return;
            };
            assert_eq!(record.error.unwrap(), ((mean - value) / mean).abs());
            assert!(record.agreement.unwrap() <= record.ratio + 1e-9);
        })
        .unwrap();
        let rows = summarise(&spec, &folder).unwrap();
        assert_eq!(rows.len(), 6);
        let path = |seed| spec.run_file(&folder, spec.functions[0], 15, seed);
        let mut means: Vec<f64> = [1, 2, 3]
            .map(|seed| AgreementRun::read(&path(seed)).unwrap().unwrap().records[2].mean.unwrap())
            .to_vec();
        means.sort_by(f64::total_cmp);
        let row = rows.iter().find(|r| r.function == "branin" && r.ratio == 1.0).unwrap();
        assert_eq!((row.runs, row.found), (3, 3));
        assert_eq!(row.mean[1], means[1]);
        // Quartiles of three values by linear interpolation: half way between neighbours.
        assert_eq!(row.mean[0], 0.5 * (means[0] + means[1]));
        let same = |w: &[crate::agreement::AgreementRow]| w[0].function == w[1].function && w[0].found == 3;
        for pair in rows.windows(2).filter(|w| same(w)) {
            assert!(pair[1].mean[1] >= pair[0].mean[1] - 1e-3 * pair[0].mean[1].abs(), "{pair:?}");
        }
        assert_eq!(summary_csv(&rows).lines().count(), 7);
        assert_eq!(charts(&spec, &rows).len(), 4);
    }
}
