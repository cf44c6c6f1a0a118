//! A continuous function: minimise Branin from scratch.
//!
//! `cargo run --release --example continuous`

use std::f64::consts::PI;

use leafgp::engine::Optimizer;
use leafgp::problem::{Problem, Variable};

/// Branin's function; three minima of [`MINIMUM`].
fn branin(x: &[f64]) -> f64 {
    let valley = x[1] - 5.1 / (4.0 * PI * PI) * x[0] * x[0] + 5.0 / PI * x[0] - 6.0;
    valley * valley + 10.0 * (1.0 - 1.0 / (8.0 * PI)) * x[0].cos() + 10.0
}

const MINIMUM: f64 = 0.397887;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problem = Problem::builder("Branin")
        .variable(Variable::continuous("x0", -5.0, 10.0))
        .variable(Variable::continuous("x1", 0.0, 15.0))
        .build()?
        .adjusted(|settings| settings.seed = 7)?;

    let mut optimizer = Optimizer::new(problem);
    for _ in 0..40 {
        let suggestion = optimizer.ask()?;
        optimizer.tell(&suggestion.point, branin(&suggestion.point))?;
    }

    let best = optimizer.best().ok_or("no experiment was told")?;
    println!("best of 40: {:.4} at {:?} (the minimum is {:.4})", best.value, best.point, MINIMUM);
    if best.value > 2.0 {
        return Err(format!("expected a value near {}, got {}", MINIMUM, best.value).into());
    }
    Ok(())
}
