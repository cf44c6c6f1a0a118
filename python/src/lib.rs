//! leafgp for Python. Everything is decided in the library; here values are carried over and back, the interpreter's lock is let go while something is computed, and Ctrl-C is
//! noticed.

#![warn(clippy::unwrap_used, clippy::print_stdout)]

mod array;
mod document;
mod ensemble;
mod failure;
mod model;
mod models;
mod optimizer;
mod plot;
mod problem;
mod value;
mod watched;

use pyo3::prelude::*;

/// The compiled half of the package `leafgp`.
#[pymodule]
mod _leafgp {
    #[pymodule_export]
    use super::ensemble::Ensemble;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::models::ModelProblem;
    #[pymodule_export]
    use super::optimizer::Optimizer;
    #[pymodule_export]
    use super::problem::Problem;
    #[pymodule_export]
    use super::watched::_panic;

    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
