//! The best predicted mean at a limited distance from the data (Eq. 12).

use leafgp_solver::constraints::Limits;
use leafgp_solver::search::{self, Status, StopReason};

use super::centre::point_of_cell;
use super::context::Context;
use super::error::EngineError;
use super::propose::search_options;
use super::random::{Purpose, stream};
use super::surrogate::Surrogate;
use crate::acquisition::{AcquisitionProblem, largest_agreement};

/// The answer to [`Surrogate::mean_within_agreement`].
#[derive(Clone, Debug, PartialEq)]
pub struct MeanWithinAgreement {
    /// The centre of the optimal cell, projected onto the constraints.
    pub point: Vec<f64>,
    /// Its predicted objective, in the objective's units and direction.
    pub mean: f64,
    /// Standard deviation of the prediction, in the objective's units.
    pub std: f64,
    /// No feasible point within the agreement limit has a better mean than this: proved.
    pub bound: f64,
    /// Largest share of trees agreeing with one data point, `<= ratio`.
    pub agreement: f64,
    /// Relative gap of the proof, in standardised units.
    pub gap: f64,
    /// How the search ended.
    pub status: Status,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// Nodes of the search.
    pub nodes: u64,
}

impl Surrogate {
    /// The point of the best predicted mean (largest for a maximisation) among those that agree with no training point in more than a share `ratio` of the trees: Eq. 12,
    /// to proven optimality within the solver settings' gap and limits. `None` when it is proved that there is no such point. `start` are points to begin from, such as
    /// the answers for smaller ratios, which stay allowed.
    ///
    /// # Errors
    /// [`EngineError::NoIncumbent`] when the limits ended the search before it found a point; what the solver refuses.
    pub fn mean_within_agreement(
        &self,
        ratio: f64,
        start: &[Vec<f64>],
        context: &Context,
    ) -> Result<Option<MeanWithinAgreement>, EngineError> {
        let (problem, training) = (self.problem(), self.training());
        let statement = AcquisitionProblem::of_mean(self.process(), problem.constraints().clone())
            .with_max_agreement(&training.x, ratio);
        let n_rows = training.y.len();
        let options = search_options(problem, n_rows, start.to_vec(), context);
        let report = search::minimize(&statement.search(), &options)?;
        if report.status == Status::Infeasible {
            return Ok(None);
        }
        let Some(incumbent) = report.incumbent else {
            let reason = format!("the search stopped: {}", report.stop_reason);
            return Err(EngineError::NoIncumbent { reason });
        };
        let mut rng = stream(problem.settings().seed, Purpose::Centre, n_rows);
        let limits = Limits { interrupt: context.interrupt.clone(), ..Limits::default() };
        let point = point_of_cell(problem, &incumbent.region, &incumbent.x, &training.x, &mut rng, limits);
        let prediction = self.predict(&point)?;
        Ok(Some(MeanWithinAgreement {
            mean: prediction.mean,
            std: prediction.std,
            bound: self.scale().mean(report.best_bound),
            agreement: largest_agreement(&statement.forest, training.x.rows(), &point),
            gap: report.gap,
            status: report.status,
            stop_reason: report.stop_reason,
            nodes: report.nodes,
            point,
        }))
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use leafgp_solver::search::Status;

    use crate::acquisition::{AgreementLimit, largest_agreement};
    use crate::engine::{Context, Optimizer, Surrogate};
    use crate::history::{Outcome, Row};
    use crate::problem::{Goal, Preset, Problem, Settings, Variable};

    /// Two variables of few values: every point can be looked at.
    fn setting(goal: Goal) -> (Problem, Surrogate) {
        let mut settings = Settings::default();
        settings.trees.min_data_in_bin = 1;
        settings.trees.n_trees = 20;
        let problem = Problem::builder("p")
            .objective("y", goal)
            .variable(Variable::integer("a", 0, 9))
            .variable(Variable::integer("b", 0, 9))
            .constraint("sum", "a + b <= 15")
            .settings(settings)
            .build()
            .unwrap();
        let rows: Vec<Row> = (0..14)
            .map(|i| {
                let (a, b) = (f64::from(7 * i % 10), f64::from((3 * i + 1) % 10));
                let value = 20.0 + (a - 4.0).powi(2) - 2.0 * b;
                Row::new(&problem, &[a, b], Outcome::Done(value)).unwrap()
            })
            .collect();
        let surrogate = Surrogate::of(&problem, &rows).unwrap();
        (problem, surrogate)
    }

    #[test]
    fn the_answer_is_the_best_of_all_points_within_the_limit() {
        for goal in [Goal::Maximize, Goal::Minimize] {
            let (_, surrogate) = setting(goal);
            let (forest, training) = (&surrogate.trees().forest, surrogate.training());
            let mut last: Option<f64> = None;
            for ratio in [0.0, 0.2, 0.35, 0.5, 0.7, 1.0] {
                let limit = AgreementLimit::new(forest, training.x.rows(), ratio);
                let mut best: Option<f64> = None;
                for (a, b) in (0..10).flat_map(|a| (0..10).map(move |b| (a, b))) {
                    let x = [f64::from(a), f64::from(b)];
                    let leaves = forest.active_leaves(&x);
                    let agrees = |data: &Vec<usize>| leaves.iter().zip(data).filter(|(l, d)| l == d).count();
                    if a + b > 15 || limit.data_leaves.iter().any(|data| agrees(data) > limit.max_trees) {
                        continue;
                    }
                    let mean = surrogate.predict(&x).unwrap().mean;
                    if best.is_none_or(|b| goal.is_better(mean, b)) {
                        best = Some(mean);
                    }
                }
                let found = surrogate.mean_within_agreement(ratio, &[], &Context::default()).unwrap();
                let Some(best) = best else {
                    assert_eq!(found, None, "ratio {ratio}");
                    continue;
                };
                let found = found.unwrap();
                assert_eq!(found.status, Status::Optimal);
                assert_relative_eq!(found.mean, best, max_relative = 1e-3);
                assert!(found.agreement <= ratio + 1e-9, "{} > {ratio}", found.agreement);
                assert_relative_eq!(
                    found.agreement,
                    largest_agreement(forest, training.x.rows(), &found.point)
                );
                if let Some(last) = last {
                    assert!(
                        !goal.is_better(last, found.mean + goal.sign() * -1e-3),
                        "a looser limit is no worse"
                    );
                }
                last = Some(found.mean);
            }
            assert!(last.is_some());
        }
    }

    #[test]
    fn suggestions_keep_to_the_setting_and_a_limit_that_nothing_meets_says_so() {
        let (problem, surrogate) = setting(Goal::Minimize);
        let problem = problem.adjusted(|settings| settings.use_preset(Preset::Paper)).unwrap();
        let training = surrogate.training();
        let mut optimizer = Optimizer::new(problem.clone());
        for (x, y) in training.x.rows().zip(&training.y) {
            optimizer.tell(x, *y).unwrap();
        }
        let free = optimizer.ask().unwrap().proof.unwrap();
        for ratio in [0.3, 0.5, 0.7] {
            let problem = problem.clone().adjusted(|settings| settings.max_agreement = Some(ratio)).unwrap();
            let history = optimizer.observations().to_vec();
            let mut limited = Optimizer::new(problem);
            for row in history {
                limited.tell_outcome(&row.point, row.outcome).unwrap();
            }
            let suggestion = limited.ask().unwrap();
            let Some(proof) = suggestion.proof else {
                assert!(suggestion.note.unwrap().contains("max_agreement"));
                continue;
            };
            let agreement =
                largest_agreement(&surrogate.trees().forest, training.x.rows(), &suggestion.point);
            assert!(agreement <= ratio + 1e-9, "{agreement} > {ratio}");
            assert!(proof.acquisition >= free.bound - 1e-9, "a limit improves nothing");
        }
        for bad in [0.0, -0.1, 1.5, f64::NAN] {
            let refused = problem.clone().adjusted(|settings| settings.max_agreement = Some(bad));
            assert!(refused.unwrap_err().to_string().contains("max_agreement"));
        }
    }
}
