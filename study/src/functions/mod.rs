//! Benchmark functions with known optima: the paper's twelve synthetic problems, and more of every kind: boxes, constraints, mixtures, categories,
//! jumps, variables that exist under a condition, noise.
//!
//! Each file holds one function: formula, box, constraints as expressions of the [problem file](leafgp::problem), known optimum and source.
//! All are minimised. Formulas follow the literature; where the paper's published code differs, the file says so.
//!
//! ```
//! let branin = leafgp_study::functions::find("branin")?;
//! assert!((branin.evaluate(&[std::f64::consts::PI, 2.275]) - branin.optimum.value).abs() < 1e-6);
//! # Ok::<(), leafgp_study::functions::UnknownFunction>(())
//! ```

mod ackley10;
mod alkylation;
mod benchmark;
mod branin;
mod branin_disc;
mod categories;
mod evaluator;
mod g1;
mod g10;
mod g3;
mod g4;
mod g6;
mod g7;
mod griewank6;
mod hartmann6;
mod layers;
mod levy8;
mod mixed;
mod mixture12;
mod noise;
mod pressure_vessel;
mod problem;
mod rastrigin;
mod rosenbrock6;
mod schwefel;
mod speed_reducer;
mod spring;
mod steps5;
mod styblinski_tang;
mod welded_beam;

pub use benchmark::{Benchmark, Constraint, Kind, Optimum, Variable};
pub use evaluator::FunctionEvaluator;

/// No benchmark has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no function `{name}`; known are {}", names().join(", "))]
pub struct UnknownFunction {
    /// The name asked for.
    pub name: String,
}

/// All benchmarks, in alphabetical order.
pub const ALL: [&Benchmark; 28] = [
    &ackley10::BENCHMARK,
    &alkylation::BENCHMARK,
    &branin::BENCHMARK,
    &branin_disc::BENCHMARK,
    &categories::BENCHMARK,
    &g1::BENCHMARK,
    &g10::BENCHMARK,
    &g3::BENCHMARK,
    &g4::BENCHMARK,
    &g6::BENCHMARK,
    &g7::BENCHMARK,
    &griewank6::BENCHMARK,
    &griewank6::NOISY,
    &hartmann6::BENCHMARK,
    &hartmann6::NOISY,
    &layers::BENCHMARK,
    &levy8::BENCHMARK,
    &mixed::BENCHMARK,
    &mixture12::BENCHMARK,
    &pressure_vessel::BENCHMARK,
    &rastrigin::BENCHMARK,
    &rosenbrock6::BENCHMARK,
    &schwefel::BENCHMARK,
    &speed_reducer::BENCHMARK,
    &spring::BENCHMARK,
    &steps5::BENCHMARK,
    &styblinski_tang::BENCHMARK,
    &welded_beam::BENCHMARK,
];

/// The names of all benchmarks, in alphabetical order.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|benchmark| benchmark.name).collect()
}

/// The benchmark of that name.
///
/// # Errors
/// [`UnknownFunction`], whose message lists the names.
pub fn find(name: &str) -> Result<&'static Benchmark, UnknownFunction> {
    ALL.into_iter()
        .find(|benchmark| benchmark.name == name)
        .ok_or_else(|| UnknownFunction { name: name.to_string() })
}

#[cfg(test)]
mod tests;
