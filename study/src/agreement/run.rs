//! The runs: fit, then one proved answer a ratio.

use leafgp_solver::Region;

use super::manifest::AgreementManifest;
use super::record::AgreementRecord;
use super::spec::{AgreementRunId, AgreementSpec, Targets};
use crate::error::StudyError;
use crate::folder::StudyFolder;
use crate::functions::Benchmark;
use crate::run_file::RunFile;
use crate::step::Status;
use crate::study::{Ended, Study};
use crate::study_manifest::{PlannedRun, StudyManifest};
use leafgp::engine::{Context, EngineError, MeanWithinAgreement, Purpose, Surrogate, stream, uniform};
use leafgp::history::{Outcome, Row};
use leafgp::problem::{Goal, Problem};

impl Study for AgreementSpec {
    type Manifest = AgreementManifest;
    type Run = AgreementRunId;

    fn runs(&self) -> Vec<AgreementRunId> {
        self.all_runs()
    }

    fn planned(&self, run: AgreementRunId) -> PlannedRun {
        PlannedRun { header: self.header(run), records: self.ratios.len() }
    }

    /// United with what is there already.
    fn manifest_after(&self, known: Option<&AgreementManifest>) -> Result<AgreementManifest, String> {
        let ours = AgreementManifest::new(self);
        known.map_or(Ok(ours.clone()), |known| known.united(&ours))
    }

    fn go_on(
        &self,
        run: AgreementRunId,
        _: &StudyFolder,
        file: &mut RunFile<AgreementRecord>,
        context: &Context,
        on_record: &dyn Fn(&AgreementRecord),
    ) -> Result<Ended, StudyError> {
        for (record, ratio) in file.records().iter().zip(&self.ratios) {
            if record.ratio != *ratio {
                let message = format!("the ratio {} stands where {ratio} was expected", record.ratio);
                return Err(StudyError::content(file.path(), message));
            }
        }
        let interrupted = || context.is_interrupted();
        if interrupted() {
            return Ok(Ended::Interrupted);
        }
        let fitted = Fitted::new(self, run)?;
        while let Some(&ratio) = self.ratios.get(file.records().len()) {
            // Answers for smaller ratios stay allowed for larger ones.
            let points = file.records().iter().filter_map(|record| record.point.as_ref());
            let start: Vec<Vec<f64>> = points
                .map(|point| fitted.problem.point_from_json(point))
                .collect::<Result<_, _>>()
                .map_err(|what| StudyError::content(file.path(), what.to_string()))?;
            let answer = fitted.answer(ratio, &start, context)?;
            if interrupted() {
                return Ok(Ended::Interrupted);
            }
            file.append(answer.clone())?;
            on_record(&answer);
        }
        Ok(Ended::Complete)
    }
}

/// The model of a run.
struct Fitted {
    function: &'static Benchmark,
    sign: f64,
    problem: Problem,
    surrogate: Surrogate,
}

impl Fitted {
    fn new(spec: &AgreementSpec, run: AgreementRunId) -> Result<Self, StudyError> {
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
        let none = |status: Status| AgreementRecord {
            ratio,
            status,
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
            Ok(None) => return Ok(none(Status::Infeasible)),
            Err(EngineError::NoIncumbent { .. }) => return Ok(none(Status::Unknown)),
            Err(error) => return Err(error.into()),
        };
        let value = self.sign * self.function.evaluate(&found.point);
        let error = ((found.mean - value) / found.mean).abs();
        Ok(AgreementRecord {
            ratio,
            status: found.status.into(),
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
