//! A benchmark function as a source of objective values.

use leafgp::engine::{Evaluate, Evaluation};
use leafgp::problem::Problem;

use super::benchmark::Benchmark;

/// One of the built-in benchmark functions.
#[derive(Clone, Copy, Debug)]
pub struct FunctionEvaluator(pub &'static Benchmark);

impl Evaluate for FunctionEvaluator {
    fn evaluate(&self, _problem: &Problem, point: &[f64]) -> Evaluation {
        match self.0.evaluate(point) {
            value if value.is_finite() => Evaluation::Value(value),
            value => Evaluation::Failed(format!("the function's value is {value}")),
        }
    }
}
