//! Benchmark functions.
/// temporary
#[derive(Debug)]
pub struct Benchmark { /// v
 pub evaluate: fn(&[f64]) -> f64 }
