//! The stop sign: what is proved of all feasible settings at once.

use std::time::Duration;

use leafgp_solver::search;

use super::Optimizer;
use super::ask::limits;
use super::choose::{everywhere, own_time};
use super::context::Context;
use super::error::EngineError;
use super::propose::{best_points, search_options};
use super::request::{Request, fixed_values};
use super::surrogate::Surrogate;
use super::training::TrainingSet;
use crate::history::{Outcome, Row};
use crate::problem::{Canonical, Goal, format_significant};

/// Most nodes of the search behind a promise: its bound is a proof wherever it stops.
const NODES: u64 = 500;
/// Share of the time limit that it may take: a suggestion's limit is kept with the sign beside it.
const SHARE: f64 = 0.05;
/// Digits of a bound in sentences.
const DIGITS: i32 = 6;

/// No feasible setting promises more than this, by the trees' model of the measured experiments: proved.
///
/// A setting promises `mean + kappa * deviation` where the objective is maximised, `mean - kappa * deviation` where it is minimised. The proof is about the model; how far the model is to be
/// trusted, held-out rows say ([`model_quality`](super::model_quality)).
///
/// ```
/// use leafgp::engine::{Context, Optimizer};
/// use leafgp::problem::{Goal, Problem, Variable};
///
/// let problem = Problem::builder("line")
///     .objective("yield", Goal::Maximize)
///     .variable(Variable::continuous("x", 0.0, 10.0))
///     .build()?;
/// let mut optimizer = Optimizer::new(problem);
/// for k in 0..20 {
///     let x = f64::from(k) / 2.0;
///     optimizer.tell(&[x], 3.0 * x)?;
/// }
/// let promise = optimizer.promise(&Context::default())?.unwrap();
/// let model = optimizer.surrogate()?;
/// let promised = |x: f64| model.predict(&[x]).map(|p| p.mean + promise.kappa * p.std);
/// assert!(promised(9.0)? <= promise.bound && promised(9.9)? <= promise.bound);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Promise {
    /// The bound, in the objective's units and direction (of a target, of the distance from it); rounded to the side on which it stays one.
    pub bound: f64,
    /// Weight of the deviation: the setting `kappa`.
    pub kappa: f64,
    /// The best feasible value measured, if there is one.
    pub best: Option<f64>,
    /// Which direction is better.
    pub goal: Goal,
}

impl Promise {
    /// By how much the bound is better than the best value so far, in the objective's units; 0 when nothing better is promised, `None` without a best value.
    pub fn gain(&self) -> Option<f64> {
        self.best.map(|best| (self.goal.sign() * (self.goal.modelled(best) - self.bound)).max(0.0))
    }

    /// True when no feasible setting promises to be better than the best value so far by more than `gain` (at least 0).
    pub fn ends_at(&self, gain: f64) -> bool {
        self.gain().is_some_and(|left| left <= gain)
    }

    /// The statement in a sentence, its bound rounded so that it stays true.
    pub fn sentence(&self) -> String {
        let bound = rounded_outward(self.bound, self.goal);
        let promised = match self.goal {
            Goal::Maximize => format!("no feasible setting promises more than {bound} (mean +"),
            Goal::Minimize => format!("no feasible setting promises less than {bound} (mean -"),
            Goal::Target(target) => {
                format!("no feasible setting promises to be nearer to {target} than {bound} (mean distance -")
            }
        };
        let promised = format!("{promised} {} deviations, proved)", self.kappa);
        match self.best {
            Some(best) => format!("{promised}; best so far {}", format_significant(best, DIGITS)),
            None => promised,
        }
    }
}

/// Few digits of a bound, on the side on which it stays a bound.
pub fn rounded_outward(bound: f64, goal: Goal) -> String {
    let sign = goal.sign();
    let is_bound = |text: &str| text.parse::<f64>().is_ok_and(|shown| sign * shown <= sign * bound);
    let shown = format_significant(bound, DIGITS);
    if is_bound(&shown) {
        return shown;
    }
    // One unit of the last digit, and half of one more where the sum is rounded down.
    let unit = 10f64.powf(bound.abs().log10().floor() - (DIGITS - 1) as f64);
    let outward = [1.0, 1.5].map(|units| format_significant(bound - goal.sign() * units * unit, DIGITS));
    let [first, second] = outward;
    if is_bound(&first) { first } else { second }
}

impl Optimizer {
    /// What is proved of all feasible settings by the trees' model of the measured and failed experiments; pending ones may still deliver, and are not believed. The agreement limit of the settings
    /// restricts suggestions, not this statement. `None` while the first design is not complete or there is too little data for trees with a split, and when the limits end the search before it has a bound.
    ///
    /// Costs a fit of the trees, within the time limit and unless a suggestion just made needed the same ones, and a search of a few hundred nodes, at most a second or a hundredth of the time limit if that
    /// is more, and never more than a twentieth of it.
    ///
    /// # Errors
    /// What the trainer, the process and the solver refuse.
    pub fn promise(&self, context: &Context) -> Result<Option<Promise>, EngineError> {
        self.promise_for(&Request::default(), context)
    }

    /// [`Optimizer::promise`] of the settings with the values that a request fixes; its other wishes do not count. The best value is that of all rows.
    ///
    /// # Errors
    /// As [`Optimizer::promise`], and an impossible fix.
    pub fn promise_for(&self, request: &Request, context: &Context) -> Result<Option<Promise>, EngineError> {
        let mut fixed = fixed_values(self.problem(), request)?;
        let known = self.observations().iter().filter(|row| row.outcome != Outcome::Pending);
        let mut rows: Vec<Row> = known.cloned().collect();
        // With its levels in the order in which suggestions are computed: the same trees.
        let canonical = Canonical::new(self.problem())?;
        if let Some(canonical) = &canonical {
            rows.iter_mut().for_each(|row| row.point = canonical.point(&row.point));
            fixed.iter_mut().for_each(|(i, value)| *value = canonical.value(*i, *value));
        }
        let whole = canonical.as_ref().map_or(self.problem(), Canonical::problem);
        let narrowed = (!fixed.is_empty()).then(|| whole.with_fixed(&fixed)).transpose()?;
        let problem = narrowed.as_ref().unwrap_or(whole);
        let training = TrainingSet::new(problem, &rows)?;
        let is_too_little = rows.len() < problem.settings().design.initial || training.y.len() < 2;
        if is_too_little || !training.has_spread {
            return Ok(None);
        }
        // What a suggestion was just made of is not fitted again.
        let surrogate = match self.memory.recall(problem, &training) {
            Some(known) => Surrogate::of_fitted(problem, training, known),
            None => match Surrogate::fit(problem, training, &limits(problem, context)) {
                Err(EngineError::NoIncumbent { .. }) => return Ok(None),
                surrogate => surrogate?,
            },
        };
        if !surrogate.has_splits() {
            return Ok(None);
        }
        let starts = best_points(surrogate.training());
        let mut options = search_options(problem, rows.len(), starts, context);
        let share = Duration::from_secs_f64(SHARE * problem.settings().solver.time_limit);
        options.time_limit = Some(own_time(problem.settings()).min(share));
        options.node_limit = Some(options.node_limit.map_or(NODES, |nodes| nodes.min(NODES)));
        let mut statement = everywhere(&surrogate);
        statement.agreement = None;
        let report = search::minimize(&statement.search(), &options)?;
        let is_proved = report.best_bound.is_finite() && report.status != search::Status::Infeasible;
        Ok(is_proved.then(|| Promise {
            bound: surrogate.scale().bound(report.best_bound),
            kappa: problem.settings().kappa,
            best: self.best().map(|best| best.value),
            goal: problem.objective().goal,
        }))
    }
}

#[cfg(test)]
mod tests {
    use leafgp_solver::constraints::Limits;

    use super::{Promise, rounded_outward};
    use crate::engine::fitted_trees::FittedTrees;
    use crate::engine::{Context, Optimizer, TrainingSet};
    use crate::history::Outcome;
    use crate::problem::{Canonical, Goal, Preset, Problem, Variable};
    use proptest::prelude::{ProptestConfig, any, proptest};

    fn promise(bound: f64, best: Option<f64>, goal: Goal) -> Promise {
        Promise { bound, kappa: 1.96, best, goal }
    }

    #[test]
    fn the_sentence_is_in_the_objectives_direction_and_its_bound_stays_one() {
        assert_eq!(
            promise(62.25, Some(61.5), Goal::Maximize).sentence(),
            "no feasible setting promises more than 62.25 (mean + 1.96 deviations, proved); best so far 61.5"
        );
        assert_eq!(
            promise(1.5, None, Goal::Minimize).sentence(),
            "no feasible setting promises less than 1.5 (mean - 1.96 deviations, proved)"
        );
        // 62.30001234 to the nearest is 62.3000, which would promise too little.
        assert_eq!(rounded_outward(62.300_012_34, Goal::Maximize), "62.3001");
        assert_eq!(rounded_outward(62.300_012_34, Goal::Minimize), "62.3");
        assert_eq!(rounded_outward(-62.300_012_34, Goal::Minimize), "-62.3001");
        assert_eq!(rounded_outward(-62.300_012_34, Goal::Maximize), "-62.3");
    }

    #[test]
    fn the_gain_is_never_negative_and_ends_at_its_own_size() {
        let hopeful = promise(62.25, Some(61.5), Goal::Maximize);
        assert_eq!(hopeful.gain(), Some(0.75));
        assert!(hopeful.ends_at(0.75) && !hopeful.ends_at(0.74));
        assert_eq!(promise(61.0, Some(61.5), Goal::Maximize).gain(), Some(0.0));
        assert_eq!(promise(61.0, Some(61.5), Goal::Minimize).gain(), Some(0.5));
        assert!(!promise(61.0, None, Goal::Minimize).ends_at(1e9));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn a_rounded_bound_is_a_bound_and_near(mantissa in -10.0..10.0f64, exponent in -200..200i32, maximize in any::<bool>()) {
            let x = mantissa * 10f64.powi(exponent);
            let goal = if maximize { Goal::Maximize } else { Goal::Minimize };
            let shown: f64 = rounded_outward(x, goal).parse().unwrap();
            assert!(!goal.is_better(x, shown), "{x} {shown}");
            assert!((x - shown).abs() <= 3e-5 * x.abs(), "{x} {shown}");
        }
    }

    /// A fine grid of the box is the slow twin of the search.
    #[test]
    fn no_feasible_setting_promises_more_and_some_promise_nearly_as_much() {
        for goal in [Goal::Maximize, Goal::Minimize] {
            let problem = Problem::builder("p")
                .objective("y", goal)
                .variable(Variable::continuous("a", 0.0, 1.0))
                .variable(Variable::continuous("b", 0.0, 1.0))
                .constraint("sum", "a + b <= 1")
                .build()
                .unwrap();
            let mut optimizer = Optimizer::new(problem);
            for k in 0..40 {
                let x = [f64::from(k % 7) / 7.0, f64::from(k % 11) / 11.0];
                optimizer.tell(&x, 50.0 + 10.0 * (x[0] - 0.3).powi(2) - 7.0 * x[1]).unwrap();
            }
            let promise = optimizer.promise(&Context::default()).unwrap().unwrap();
            let model = optimizer.surrogate().unwrap();
            let mut most: Option<f64> = None;
            for (i, j) in (0..=200).flat_map(|i| (0..=200 - i).map(move |j| (i, j))) {
                let p = model.predict(&[f64::from(i) / 200.0, f64::from(j) / 200.0]).unwrap();
                most = goal.better(most, Some(p.mean - goal.sign() * promise.kappa * p.std));
            }
            let most = most.unwrap();
            assert!(!goal.is_better(most, promise.bound), "{goal:?}: {most} {promise:?}");
            assert!((most - promise.bound).abs() < 1e-2, "{goal:?}: {most} {promise:?}");
            // What is pending may still deliver: it changes nothing.
            let mut waiting = optimizer.clone();
            waiting.tell_outcome(&[0.1, 0.2], Outcome::Pending).unwrap();
            assert_eq!(waiting.promise(&Context::default()).unwrap().unwrap().bound, promise.bound);
        }
    }

    /// Also where the levels are not listed in the order of their labels.
    #[test]
    fn the_stop_sign_is_about_the_trees_of_the_suggestion() {
        for levels in [["a", "b", "c"], ["c", "a", "b"]] {
            let problem = Problem::builder("p")
                .variable(Variable::continuous("x", 0.0, 1.0))
                .variable(Variable::categorical("kind", levels))
                .build()
                .unwrap()
                .adjusted(|settings| settings.preset = Preset::Paper)
                .unwrap();
            let mut optimizer = Optimizer::new(problem);
            for k in 0..30 {
                let (x, level) = (f64::from(k) / 30.0, f64::from(k % 3));
                optimizer.tell(&[x, level], (x - 0.4).powi(2) + 0.1 * level).unwrap();
            }
            let bound =
                |optimizer: &Optimizer| optimizer.promise(&Context::default()).unwrap().unwrap().bound;
            let alone = bound(&optimizer);
            optimizer.ask().unwrap();
            assert_eq!(bound(&optimizer), alone);

            // Other trees in the memory under the same rows: the promise is about them.
            let canonical = Canonical::new(optimizer.problem()).unwrap();
            let problem = canonical.as_ref().map_or(optimizer.problem(), Canonical::problem);
            let mut rows = optimizer.observations().to_vec();
            if let Some(canonical) = &canonical {
                rows.iter_mut().for_each(|row| row.point = canonical.point(&row.point));
            }
            let training = TrainingSet::new(problem, &rows).unwrap();
            assert!(optimizer.memory.recall(problem, &training).is_some(), "{levels:?}");
            let few = problem.clone().adjusted(|settings| settings.trees.n_trees = 1).unwrap();
            let fitted = FittedTrees::new(&few, &training, false, &Limits::default()).unwrap();
            optimizer.memory.keep(problem, &training, &fitted);
            assert!(bound(&optimizer) != alone);
            // Another row, another fit.
            optimizer.tell(&[0.41, 0.0], 0.0).unwrap();
            let clean = Optimizer::with_history(optimizer.problem().clone(), &optimizer.history).unwrap();
            assert_eq!(bound(&optimizer), bound(&clean));
        }
    }

    #[test]
    fn without_a_model_nothing_is_promised() {
        let problem = Problem::builder("p").variable(Variable::continuous("a", 0.0, 1.0)).build().unwrap();
        let mut optimizer = Optimizer::new(problem);
        for k in 0..8 {
            let promise = optimizer.promise(&Context::default()).unwrap();
            assert_eq!(promise.is_some(), k >= 5, "{k}: {promise:?}");
            optimizer.tell(&[f64::from(k) / 8.0], f64::from(k)).unwrap();
        }
    }
}
