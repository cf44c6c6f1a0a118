//! Hostile input to the library: whatever numbers, lengths, names and settings come in, an answer or an error comes out, never a panic.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::time::Duration;

use leafgp::engine::{
    Context, Optimizer, Purpose, model_quality, nearest_feasible, objective_trees, permutation_importances,
    stream, uniform,
};
use leafgp::history::{History, HistoryFile, Outcome, csv_text};
use leafgp::problem::{Goal, Preset, Problem, ProblemError, Scale, Settings, Variable};
use leafgp::solver::constraints::Limits;
use leafgp::solver::search::{SearchOptions, minimize};
use leafgp::solver::{LevelSet, Range, Region};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, any, prop_oneof, proptest};
use proptest::sample::select;
use proptest::strategy::Strategy;

/// Numbers that break arithmetic, and harmless ones.
fn number() -> impl Strategy<Value = f64> {
    let special = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        1e100,
        -1e-300,
        -0.0,
    ];
    prop_oneof![2 => select(special.to_vec()), 1 => any::<f64>(), 5 => (-4_i8..9).prop_map(f64::from)]
}

fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => select(vec!["a", "b", "c", "d"]), 1 => select(vec!["", "status", "x y", "a`b", "objective"])]
}

fn variable() -> impl Strategy<Value = Variable> {
    let kind = (name(), number(), number(), number()).prop_flat_map(|(name, lower, upper, step)| {
        prop_oneof![
            Just(Variable::continuous(name, lower, upper)),
            (any::<i64>(), -3_i64..9).prop_map(move |(a, b)| Variable::integer(name, a % 7, b)),
            Just(Variable::integer(name, i64::MIN, i64::MAX)),
            Just(Variable::binary(name)),
            vec(number(), 0..4).prop_map(move |values| Variable::discrete(name, values)),
            vec(select(vec!["u", "v", "w", ""]), 0..4)
                .prop_map(move |levels| Variable::categorical(name, levels)),
            Just(Variable::grid(name, lower, upper, step).unwrap_or_else(|_| Variable::binary(name))),
        ]
    });
    let condition = prop_oneof![4 => Just(None), 1 => select(vec!["b >= 1", "a == 'u'", "c <= 2 and a >= 0", ")"]).prop_map(Some)];
    (kind, condition, number(), any::<bool>()).prop_map(|(mut variable, condition, inactive, log)| {
        variable.scale = if log && inactive > 3.0 { Scale::Log } else { Scale::Linear };
        match condition {
            Some(condition) => variable.active_if(condition, inactive),
            None => variable,
        }
    })
}

/// A change of settings.
type Change<'a> = Box<dyn Fn(&mut Settings) + 'a>;

/// Settings that make a proposal quick.
fn quick(preset: Preset) -> Settings {
    let mut settings = Settings::with_preset(preset);
    settings.trees.n_trees = 4;
    settings.trees.min_data_in_leaf = 1;
    settings.trees.min_data_in_bin = 1;
    settings.solver.node_limit = Some(20);
    settings.solver.time_limit = 0.2;
    settings.solver.threads = 1;
    settings.design.initial = 1;
    settings
}

/// Problems that the builder let through; the others were errors.
fn hostile_problem() -> impl Strategy<Value = Problem> {
    built().prop_filter_map("refused", Result::ok)
}

fn built() -> impl Strategy<Value = Result<Problem, ProblemError>> {
    let constraint = select(vec![
        "a <= b",
        "a + b == 1",
        "1 / a <= b",
        "a == 'u'",
        "exp(a) * b >= sqrt(c)",
        "a implies",
        "a ^ b <= 3",
    ]);
    let preset = select(Preset::WORDS.to_vec());
    (vec(variable(), 0..4), vec(constraint, 0..2), any::<bool>(), preset).prop_map(
        |(variables, constraints, up, preset)| {
            let goal = if up { Goal::Maximize } else { Goal::Minimize };
            let mut builder = Problem::builder("hostile").objective("y", goal).settings(quick(preset.1));
            for variable in variables {
                builder = builder.variable(variable);
            }
            for constraint in constraints {
                builder = builder.constraint(constraint, constraint);
            }
            builder.build()
        },
    )
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![6 => number().prop_map(Outcome::Done), 1 => Just(Outcome::Pending), 1 => Just(Outcome::Failed)]
}

/// A point of the right length more often than not.
fn points() -> impl Strategy<Value = Vec<Vec<f64>>> {
    vec(vec(number(), 0..5), 0..8)
}

/// Cuts or fills a point to the problem's length, every other time.
fn fitted(problem: &Problem, mut point: Vec<f64>) -> Vec<f64> {
    if point.first().is_none_or(|x| x.is_nan()) {
        return point;
    }
    point.resize(problem.variables().len(), 1.0);
    let values = problem.domains().into_iter().zip(point);
    values.map(|(domain, x)| domain.nearest(x, domain.bounds().0, domain.bounds().1).unwrap_or(x)).collect()
}

/// Everything that can be asked of an optimiser; answers and errors are both fine.
fn question(optimizer: &Optimizer, points: &[Vec<f64>]) {
    let problem = optimizer.problem();
    if let Ok(suggestion) = optimizer.ask() {
        assert!(problem.check_point(&suggestion.point).is_ok());
        let _ = suggestion.to_json(problem);
    }
    let _ = optimizer.ask_many(2, &Context::default());
    let _ = (optimizer.ask_among(points), optimizer.best());
    let _ = model_quality(problem, optimizer.observations(), Some(2));
    let _ = (objective_trees(problem, optimizer.observations()), csv_text(problem, points));
    let _ = permutation_importances(problem, optimizer.observations(), 1);
    let Ok(surrogate) = optimizer.surrogate() else { return };
    for point in points {
        assert_eq!(surrogate.predict(point).is_ok(), problem.check_point(point).is_ok());
    }
    let _ = surrogate.mean_within_agreement(f64::NAN, points, &Context::default());
    let mut options = SearchOptions::default();
    options.node_limit = Some(5);
    let mut instance = surrogate.instance();
    for kappa in [f64::NAN, -1.0, f64::INFINITY] {
        instance.kappa = kappa;
        if let Ok(stated) = instance.problem() {
            let _ = minimize(&stated.search(), &options);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(300) })]
    #[test]
    fn no_problem_and_no_experiments_crash_the_engine(
        problem in hostile_problem(), points in points(), outcomes in vec(outcome(), 8),
    ) {
        let points: Vec<Vec<f64>> = points.into_iter().map(|point| fitted(&problem, point)).collect();
        let mut optimizer = Optimizer::new(problem);
        for (point, outcome) in points.iter().zip(outcomes) {
            let n_rows = optimizer.observations().len();
            let told = optimizer.tell_outcome(point, outcome);
            assert!(told.is_ok() || optimizer.observations().len() == n_rows);
        }
        question(&optimizer, &points);
        for point in &points {
            let _ = optimizer.cancel(point);
        }
    }

    #[test]
    fn no_setting_crashes_a_proposal(
        numbers in vec(number(), 8),
        counts in vec(prop_oneof![0_usize..4, Just(usize::MAX), 1_usize..200], 9),
        depth in prop_oneof![-2_i32..4, any::<i32>()],
        flags in any::<[bool; 2]>(),
    ) {
        let settings = quick(Preset::Paper);
        let problem = Problem::builder("p")
            .variable(Variable::continuous("x", 0.0, 1.0))
            .variable(Variable::categorical("c", ["u", "v", "w"]))
            .settings(settings)
            .build()
            .unwrap();
        // Each change alone, so that most of them are looked at by more than the check of the first.
        let changes: Vec<Change<'_>> = vec![
            Box::new(|s| s.kappa = numbers[0]),
            Box::new(|s| s.max_agreement = Some(numbers[1])),
            Box::new(|s| s.solver.time_limit = numbers[2].min(0.5)),
            Box::new(|s| s.solver.gap = numbers[3]),
            Box::new(|s| s.trees.learning_rate = numbers[4]),
            Box::new(|s| s.trees.bagging_fraction = numbers[5]),
            Box::new(|s| s.trees.feature_fraction = numbers[6]),
            Box::new(|s| s.trees.min_gain_to_split = numbers[7]),
            Box::new(|s| s.solver.threads = counts[0]),
            Box::new(|s| s.design.initial = counts[1]),
            Box::new(|s| s.trees.n_trees = counts[2].min(1000)),
            Box::new(|s| s.trees.num_leaves = counts[3]),
            Box::new(|s| s.trees.min_data_in_leaf = counts[4]),
            Box::new(|s| s.trees.max_bin = counts[5]),
            Box::new(|s| s.trees.min_data_in_bin = counts[6]),
            Box::new(|s| s.trees.bagging_freq = counts[7]),
            Box::new(|s| s.solver.node_limit = Some(counts[8] as u64)),
            Box::new(|s| s.trees.max_depth = depth),
            Box::new(|s| (s.trees.extra_trees, s.trees.boost_from_average) = flags.into()),
        ];
        let ask = |problem: Problem| {
            let mut optimizer = Optimizer::new(problem);
            for i in 0..6 {
                optimizer.tell(&[f64::from(i) / 6.0, f64::from(i % 3)], f64::from(i * i)).unwrap();
            }
            let _ = optimizer.ask();
        };
        for change in changes {
            if let Ok(problem) = problem.clone().adjusted(change) {
                ask(problem);
            }
        }
        let smooth_changes: Vec<Change<'_>> = vec![
            Box::new(|s| s.smooth.kappa = numbers[0]),
            Box::new(|s| s.smooth.parameter_rows = counts[0]),
            Box::new(|s| s.smooth.condition_rows = counts[1]),
            Box::new(|s| s.repeats = flags[0]),
            Box::new(|s| s.solver.time_limit = numbers[2].min(0.5)),
        ];
        for change in smooth_changes {
            let problem = problem.clone().adjusted(|settings| {
                settings.use_preset(if flags[1] { Preset::Proven } else { Preset::Smooth });
                change(settings);
            });
            if let Ok(problem) = problem {
                ask(problem);
            }
        }
    }

    #[test]
    fn no_rows_crash_a_history(points in points(), outcomes in vec(outcome(), 8)) {
        let problem = Problem::builder("p")
            .variable(Variable::integer("n", 1, 3))
            .variable(Variable::continuous("x", 0.0, 9.0).active_if("n >= 2", 0.0))
            .build()
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = HistoryFile::new(folder.path().join("h.csv"));
        let mut history = History::new();
        for (point, outcome) in points.iter().zip(outcomes) {
            let told = history.record(&problem, point, outcome);
            assert_eq!(told.is_ok(), file.record(&problem, point, outcome).is_ok());
            let _ = file.plan(&problem, &History::new(), std::slice::from_ref(point), &[]);
            let _ = (history.cancel(&problem, point), history.push(&problem, point, outcome));
        }
        // Rows of another problem.
        let other = Problem::builder("q").variable(Variable::binary("b")).build().unwrap();
        assert_eq!(Optimizer::with_history(other, &history).is_ok(), history.rows.is_empty());
    }

    #[test]
    fn no_box_crashes_a_sample(ranges in vec((number(), number(), any::<bool>()), 0..4), point in vec(number(), 0..4)) {
        let problem = Problem::builder("p")
            .variable(Variable::continuous("x", 0.0, 1.0))
            .variable(Variable::discrete("d", [0.0, 2.0]))
            .variable(Variable::categorical("c", ["u", "v"]))
            .constraint("sum", "x + d <= 2")
            .build()
            .unwrap();
        let range = |(lower, upper, levels): (f64, f64, bool)| match levels {
            true => Range::Levels(LevelSet::empty(2)),
            false => Range::Interval { lower, upper },
        };
        let region = Region(ranges.into_iter().map(range).collect());
        let _ = uniform(&problem, &region, &mut stream(1, Purpose::Sample, 0));
        let deadline = std::time::Instant::now().checked_add(Duration::from_millis(50));
        let limits = Limits { nodes: 50, deadline, ..Limits::default() };
        for region in [region, Region::full(&problem.domains())] {
            let _ = nearest_feasible(&problem, &region, point.clone(), limits.clone());
        }
    }
}
