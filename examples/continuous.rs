//! A continuous function: minimise Branin from scratch.
//!
//! `cargo run --release --example continuous`

use leafgp::engine::Optimizer;
use leafgp::functions;
use leafgp::problem::{Problem, Variable};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let branin = functions::find("branin")?;
    let problem = Problem::builder("Branin")
        .variable(Variable::continuous("x0", -5.0, 10.0))
        .variable(Variable::continuous("x1", 0.0, 15.0))
        .build()?
        .adjusted(|settings| settings.seed = 7)?;

    let mut optimizer = Optimizer::new(problem);
    for _ in 0..40 {
        let suggestion = optimizer.ask()?;
        optimizer.tell(&suggestion.point, branin.evaluate(&suggestion.point))?;
    }

    let best = optimizer.best().ok_or("no experiment was told")?;
    println!(
        "best of 40: {:.4} at {:?} (the minimum is {:.4})",
        best.value, best.point, branin.optimum.value
    );
    if best.value > 2.0 {
        return Err(format!("expected a value near {}, got {}", branin.optimum.value, best.value).into());
    }
    Ok(())
}
