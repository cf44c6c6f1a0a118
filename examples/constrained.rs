//! A mixture: fractions that sum to 1, a cost limit, and an ingredient that is left out or present with at least 10 %.
//!
//! `cargo run --release --example constrained`

use leafgp::engine::Optimizer;
use leafgp::problem::{Problem, Variable};
use leafgp::solver::constraints::Tolerance;

fn viscosity(x: &[f64]) -> f64 {
    (x[0] - 0.35).powi(2) + 2.0 * (x[1] - 0.4).powi(2) + 3.0 * x[2] * x[3] + (x[2] - 0.2).powi(2)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Problem::builder("mixture");
    for name in ["resin", "filler", "oil", "additive"] {
        builder = builder.variable(Variable::continuous(name, 0.0, 1.0));
    }
    let problem = builder
        .constraint("fractions", "resin + filler + oil + additive == 1")
        .constraint("cost", "5*resin + 1*filler + 2*oil + 20*additive <= 4")
        .constraint("additive is absent or effective", "additive == 0 or additive >= 0.1")
        .build()?;

    let mut optimizer = Optimizer::new(problem);
    for _ in 0..30 {
        let suggestion = optimizer.ask()?;
        let x = &suggestion.point;
        if !optimizer.problem().constraints().is_feasible(x, Tolerance::Produce) {
            return Err(format!("{x:?} violates a constraint").into());
        }
        optimizer.tell(x, viscosity(x))?;
    }

    let best = optimizer.best().ok_or("no experiment was told")?;
    println!("best of 30: {:.4} at {:?}, every suggestion feasible as printed", best.value, best.point);
    if best.value > 0.1 {
        return Err(format!("expected a value below 0.1, got {}", best.value).into());
    }
    Ok(())
}
