//! What a plant asks of suggestions: fixed values, lists to choose from, variables as people set them, tables that outlive their problem file.

mod requests;
mod tables;
mod types;

use leafgp::engine::{Context, Optimizer, Suggestion};
use leafgp::problem::{Goal, Preset, Problem, ProblemBuilder, Variable};
use leafgp::solver::constraints::Tolerance;

/// Every preset.
const PRESETS: [Preset; 4] = [Preset::Paper, Preset::Proven, Preset::Smooth, Preset::Mixed];

/// Levels in an order that is not theirs.
const SOLVENTS: [&str; 3] = ["xylene", "water", "butanol"];

/// A coating with a rule for sums and one for a category.
fn coating() -> ProblemBuilder {
    Problem::builder("coating")
        .objective("gloss", Goal::Maximize)
        .variable(Variable::continuous("temperature", 20.0, 180.0))
        .variable(Variable::grid("filler", 0.0, 0.6, 0.05).unwrap())
        .variable(Variable::integer("passes", 1, 5))
        .variable(Variable::categorical("solvent", SOLVENTS))
        .constraint("water boils", "solvent == 'water' implies temperature <= 95")
        .constraint("thin", "filler + 0.1 * passes <= 0.8")
}

fn gloss(problem: &Problem, x: &[f64]) -> f64 {
    let solvent = problem.variables()[3].format_value(x[3]);
    let offset = match solvent.as_str() {
        "water" => 3.0,
        "butanol" => 1.0,
        _ => 0.0,
    };
    offset - ((x[0] - 80.0) / 40.0).powi(2) - (x[1] - 0.25).powi(2) + 0.1 * x[2]
}

fn with_preset(builder: ProblemBuilder, preset: Preset) -> Problem {
    let problem = builder.build().unwrap_or_else(|e| panic!("{e}"));
    problem
        .adjusted(|settings| {
            settings.use_preset(preset);
            settings.solver.threads = 1;
            settings.trees.n_trees = settings.trees.n_trees.min(15);
        })
        .unwrap()
}

/// An optimiser with so many rows of its own suggestions.
fn optimizer(problem: Problem, n_rows: usize, f: impl Fn(&Problem, &[f64]) -> f64) -> Optimizer {
    let mut optimizer = Optimizer::new(problem.clone());
    let mut rng = leafgp::engine::stream(5, leafgp::engine::Purpose::Sample, 0);
    let points =
        problem.constraints().design(n_rows, &[], &problem.log_scale(), &mut rng, Default::default());
    assert_eq!(points.len(), n_rows);
    for x in points {
        optimizer.tell(&x, f(&problem, &x)).unwrap();
    }
    optimizer
}

fn ask(optimizer: &Optimizer) -> Suggestion {
    optimizer.ask_with(&Context::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn assert_feasible(problem: &Problem, x: &[f64]) {
    assert!(problem.constraints().is_feasible(x, Tolerance::Produce), "{x:?}");
}
