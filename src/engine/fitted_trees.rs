//! Trees and their process, fitted within a time limit, and remembered for the next question about the same rows.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use leafgp_solver::Domain;
use leafgp_solver::constraints::Limits;
use rand::Rng;

use super::error::EngineError;
use super::random::{Purpose, stream};
use super::training::TrainingSet;
use crate::Table;
use crate::gbdt::{self, GbdtModel, GbdtSettings};
use crate::gp::{GpError, GpSettings, Pace, TreeGp};
use crate::problem::Problem;

/// Share of the time left that a fit may take: the search has the rest.
const FIT_SHARE: f64 = 0.5;
/// Share of the time left after which a process that is not there is given up for one of fewer trees: its time was estimated wrongly, or others took the machine.
const LAST_SHARE: f64 = 0.8;
/// Leaves of those fewer trees, whose process takes a fraction of a second.
const FEW_LEAVES: usize = 400;
/// A fit may take this long whatever the limit.
const LEAST_FIT: Duration = Duration::from_millis(500);

/// When a fit must be done: after a part of the time that the limits leave.
pub(super) fn fit_deadline(limits: &Limits) -> Option<Instant> {
    after_share(FIT_SHARE, limits)
}

fn after_share(share: f64, limits: &Limits) -> Option<Instant> {
    let now = Instant::now();
    let left = limits.deadline?.saturating_duration_since(now);
    now.checked_add(left.mul_f64(share).max(LEAST_FIT))
}

/// The trees of some rows and the process on their leaves, conditioned on those rows. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct FittedTrees {
    pub(super) trees: Arc<GbdtModel>,
    pub(super) process: Arc<TreeGp>,
    /// True when the time limit left no time for all trees.
    pub(super) is_cut: bool,
}

impl FittedTrees {
    /// Fits to the measured and failed rows, within the limits' time. Boosting ends early when the process on more leaves would not be fitted in time: fewer trees are a model,
    /// too, and a suggestion in time is what was asked for. Where the process takes too long all the same, it is given up for that of the first trees with a few hundred leaves. It is decomposed
    /// once more for pending rows, if `has_pending`.
    ///
    /// # Errors
    /// [`EngineError::NoMeasuredRow`]; [`EngineError::NoIncumbent`] when the user wanted to stop; what the trainer and the process refuse.
    pub(super) fn new(
        problem: &Problem,
        training: &TrainingSet,
        has_pending: bool,
        limits: &Limits,
    ) -> Result<Self, EngineError> {
        if training.y.is_empty() {
            return Err(EngineError::NoMeasuredRow);
        }
        Self::by(
            problem,
            training,
            has_pending,
            limits,
            [fit_deadline(limits), after_share(LAST_SHARE, limits)],
        )
    }

    /// [`FittedTrees::new`], with the time by which the process should be there and the one at which it is given up.
    fn by(
        problem: &Problem,
        training: &TrainingSet,
        has_pending: bool,
        limits: &Limits,
        [deadline, patience]: [Option<Instant>; 2],
    ) -> Result<Self, EngineError> {
        let settings = problem.settings();
        let domains = problem.constraints().domains();
        let seed = stream(settings.seed, Purpose::Trees, training.y.len()).next_u64();
        // Two decompositions of n rows are one of more.
        let growth = if has_pending { 2f64.cbrt() } else { 1.0 };
        let (mut pace, mut is_cut, mut leaves_of_tree) = (Pace::default(), false, 0);
        let mut go_on = |n_leaves: usize| {
            // The next tree has about as many leaves as the one before.
            let next = n_leaves + (n_leaves - leaves_of_tree);
            leaves_of_tree = n_leaves;
            let n = (growth * training.y.len().min(next) as f64) as usize;
            is_cut = limits.is_interrupted() || deadline.is_some_and(|at| !pace.is_done_by(n, at));
            !is_cut
        };
        let (x, y) = (&training.x, &training.y);
        let train = |go_on: &mut dyn FnMut(usize) -> bool| {
            let trees = gbdt::train_while(x, domains, y, None, &settings.trees, seed, go_on)?;
            if limits.is_interrupted() { Err(stopped(GpError::Stopped, limits)) } else { Ok(trees) }
        };
        let process = |trees: &GbdtModel, deadline| {
            TreeGp::fit_within(&trees.forest, x, y, &settings.gp, &Limits { deadline, ..limits.clone() })
        };
        let mut trees = train(&mut go_on)?;
        let mut fitted = process(&trees, patience);
        if matches!(fitted, Err(GpError::Stopped)) && !limits.is_interrupted() {
            (trees, is_cut) = (train(&mut |n_leaves| n_leaves < FEW_LEAVES)?, true);
            fitted = process(&trees, None);
        }
        let process = fitted.map_err(|error| stopped(error, limits))?;
        Ok(Self { trees: Arc::new(trees), process: Arc::new(process), is_cut })
    }
}

/// The error of a fit in the words of a suggestion.
pub(super) fn stopped(error: GpError, limits: &Limits) -> EngineError {
    match error {
        GpError::Stopped => {
            let what = if limits.is_interrupted() { "interrupted" } else { "the time limit ended" };
            EngineError::NoIncumbent { reason: format!("{what} while the trees' process was fitted") }
        }
        error => error.into(),
    }
}

/// The last trees that were fitted. A suggestion and the stop sign beside it are about the same ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory(Arc<Mutex<Option<Remembered>>>);

/// Trees with all that they depend on.
#[derive(Debug)]
struct Remembered {
    seed: u64,
    domains: Vec<Domain>,
    settings: (GbdtSettings, GpSettings),
    x: Table,
    y: Vec<f64>,
    fitted: FittedTrees,
}

impl Memory {
    /// The trees of these rows, if they were the last ones fitted.
    pub(super) fn recall(&self, problem: &Problem, training: &TrainingSet) -> Option<FittedTrees> {
        let settings = problem.settings();
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |known: &&Remembered| {
            known.seed == settings.seed
                && known.settings.0 == settings.trees
                && known.settings.1 == settings.gp
                && known.domains == problem.constraints().domains()
                && known.x == training.x
                && known.y == training.y
        };
        known.as_ref().filter(is_same).map(|known| known.fitted.clone())
    }

    /// Keeps trees, in the place of those before.
    pub(super) fn keep(&self, problem: &Problem, training: &TrainingSet, fitted: &FittedTrees) {
        let settings = problem.settings();
        let remembered = Remembered {
            seed: settings.seed,
            domains: problem.constraints().domains().to_vec(),
            settings: (settings.trees.clone(), settings.gp.clone()),
            x: training.x.clone(),
            y: training.y.clone(),
            fitted: fitted.clone(),
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(remembered);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::time::{Duration, Instant};

    use leafgp_solver::constraints::Limits;

    use super::{FittedTrees, LEAST_FIT, fit_deadline};
    use crate::engine::{Context, EngineError, Optimizer, TrainingSet};
    use crate::problem::{Preset, Problem, Variable};

    fn within(time: Duration) -> Limits {
        Limits { deadline: Instant::now().checked_add(time), ..Limits::default() }
    }

    /// `n` rows of two variables, for trees of up to 200 leaves.
    fn measured(n: usize) -> Optimizer {
        let problem = Problem::builder("p")
            .variable(Variable::continuous("a", 0.0, 1.0))
            .variable(Variable::continuous("b", 0.0, 1.0))
            .build()
            .unwrap()
            .adjusted(|settings| {
                settings.preset = Preset::Paper;
                settings.trees.n_trees = 40;
                settings.trees.num_leaves = 200;
                settings.trees.max_depth = 12;
                settings.trees.min_data_in_leaf = 1;
            })
            .unwrap();
        let mut optimizer = Optimizer::new(problem);
        for k in 0..n {
            let x = [(k * 37 % n) as f64 / n as f64, (k * 61 % n) as f64 / n as f64];
            optimizer.tell(&x, (7.0 * x[0]).sin() * (x[1] - 0.3)).unwrap();
        }
        optimizer
    }

    fn fit(optimizer: &Optimizer, limits: &Limits) -> Result<FittedTrees, EngineError> {
        let training = TrainingSet::new(optimizer.problem(), optimizer.observations())?;
        FittedTrees::new(optimizer.problem(), &training, false, limits)
    }

    #[test]
    fn a_fit_has_half_of_the_time_and_half_a_second_at_least() {
        let left = |time| fit_deadline(&within(time)).unwrap().saturating_duration_since(Instant::now());
        let hundred = left(Duration::from_secs(100));
        assert!(hundred <= Duration::from_secs(50) && hundred > Duration::from_secs(10));
        assert!(left(Duration::ZERO) <= LEAST_FIT && left(Duration::ZERO) > LEAST_FIT / 10);
        assert_eq!(fit_deadline(&Limits::default()), None);
    }

    #[test]
    fn a_limit_that_does_not_bite_changes_nothing() {
        let optimizer = measured(60);
        let free = fit(&optimizer, &Limits::default()).unwrap();
        let limited = fit(&optimizer, &within(Duration::from_secs(1_000_000))).unwrap();
        assert!(!free.is_cut && !limited.is_cut);
        assert_eq!(free.trees.forest, limited.trees.forest);
        assert_eq!(free.process.hyperparameters(), limited.process.hyperparameters());
    }

    /// A deadline of long ago still gives a fit its least time; so the trees are too many for that, not the clock too fast.
    #[test]
    fn trees_whose_process_takes_too_long_are_left_out_and_that_is_said() {
        let optimizer = measured(4_000);
        let limits = within(Duration::ZERO);
        let training = TrainingSet::new(optimizer.problem(), optimizer.observations()).unwrap();
        let mut settings = optimizer.problem().settings().trees.clone();
        settings.n_trees = 2_000;
        let many = optimizer.problem().clone().adjusted(|all| all.trees = settings).unwrap();
        let cut = FittedTrees::new(&many, &training, false, &limits).unwrap();
        assert!(cut.is_cut && cut.trees.forest.n_trees() < 2_000);
        let surrogate = super::super::Surrogate::of_fitted(&many, training, cut);
        assert!(surrogate.note().is_some_and(|note| note.ends_with("of 2000 trees")));
    }

    #[test]
    fn a_process_that_is_given_up_makes_room_for_one_of_few_trees() {
        let optimizer = measured(4_000);
        let (problem, limits) = (optimizer.problem(), Limits::default());
        let training = TrainingSet::new(problem, optimizer.observations()).unwrap();
        let past = Instant::now().checked_sub(Duration::from_secs(1));
        let few = FittedTrees::by(problem, &training, false, &limits, [None, past]).unwrap();
        assert!(few.is_cut);
        // 200 leaves a tree: two reach the 400.
        assert_eq!(few.trees.forest.n_trees(), 2);
    }

    #[test]
    fn an_interrupted_fit_has_no_answer() {
        let optimizer = measured(60);
        let interrupt = Some(Arc::new(AtomicBool::new(true)));
        let limits = Limits { interrupt: interrupt.clone(), ..Limits::default() };
        let error = fit(&optimizer, &limits).unwrap_err().to_string();
        assert!(error.contains("interrupted while"), "{error}");
        let context = Context { interrupt, ..Context::default() };
        assert!(matches!(optimizer.ask_with(&context), Err(EngineError::NoIncumbent { .. })));
    }
}
