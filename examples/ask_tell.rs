//! Leafgp inside another program: several experiments at once, one of which fails.
//!
//! `cargo run --release --example ask_tell`

use leafgp::engine::{Context, Optimizer};
use leafgp::history::Outcome;
use leafgp::problem::{Goal, Problem, Variable};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let problem = Problem::builder("three reactors")
        .objective("throughput", Goal::Maximize)
        .variable(Variable::continuous("flow", 0.1, 10.0).log())
        .variable(Variable::integer("stages", 1, 6))
        .build()?;
    let mut optimizer = Optimizer::new(problem);

    for batch in 0..8 {
        // Three reactors run side by side: each suggestion knows of the other two.
        let suggestions = optimizer.ask_many(3, &Context::default())?;
        for (i, a) in suggestions.iter().enumerate() {
            if suggestions[..i].iter().any(|b| a.point == b.point) {
                return Err(format!("{:?} was suggested twice in one batch", a.point).into());
            }
        }
        for suggestion in suggestions {
            let (flow, stages) = (suggestion.point[0], suggestion.point[1]);
            if flow > 8.0 {
                // The pump gives up: the experiment ran, but there is no value.
                optimizer.tell_outcome(&suggestion.point, Outcome::Failed)?;
            } else {
                optimizer.tell(&suggestion.point, 10.0 - (flow - 3.0).powi(2) - (stages - 4.0).powi(2))?;
            }
        }
        let best = optimizer.best().ok_or("every experiment failed")?;
        println!("after batch {}: {:.3} at {:?}", batch + 1, best.value, best.point);
    }

    let best = optimizer.best().ok_or("every experiment failed")?;
    if best.value < 8.5 {
        return Err(format!("expected a throughput above 8.5 (the maximum is 10), got {}", best.value).into());
    }
    Ok(())
}
