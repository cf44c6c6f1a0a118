//! Categories, whole numbers and reals together: a made-up reaction whose best solvent changes with the temperature.
//!
//! `cargo run --release --example mixed`

use leafgp::engine::Optimizer;
use leafgp::problem::{Goal, Problem, Variable};

/// Yield in percent: water is best when cold, toluene when hot and only with two equivalents.
fn reaction_yield(solvent: usize, equivalents: f64, temperature: f64) -> f64 {
    let (best_temperature, height) = [(35.0, 60.0), (65.0, 70.0), (95.0, 90.0)][solvent];
    let excess = if solvent == 2 { 20.0 } else { 8.0 } * (equivalents - 2.0).abs();
    (height - excess - ((temperature - best_temperature) / 6.0_f64).powi(2)).max(0.0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problem = Problem::builder("reaction")
        .objective("yield", Goal::Maximize)
        .variable(Variable::categorical("solvent", ["water", "ethanol", "toluene"]))
        .variable(Variable::integer("equivalents", 1, 4))
        .variable(Variable::continuous("temperature", 20.0, 110.0).unit("degree Celsius"))
        .build()?;

    let mut optimizer = Optimizer::new(problem);
    for _ in 0..40 {
        let point = optimizer.ask()?.point;
        optimizer.tell(&point, reaction_yield(point[0] as usize, point[1], point[2]))?;
    }

    let best = optimizer.best().ok_or("no experiment was told")?;
    let shown = serde_json::Value::Object(optimizer.problem().point_to_json(&best.point));
    println!("best of 40: {:.1} % at {shown} (the maximum is 90 %)", best.value);
    if best.value < 80.0 {
        return Err(format!("expected a yield above 80 %, got {}", best.value).into());
    }
    Ok(())
}
