//! Bytes of strangers: one function for each kind of input that leafgp reads, which takes any bytes and panics only where leafgp is wrong.
//!
//! A function reads its bytes as leafgp would; what was read is used, and what must hold of it is asserted. `fuzz` calls them with bytes that a fuzzer makes,
//! the test `corpus` with those that are kept in `fuzz/corpus`.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a panic is what these functions are for")]

mod certificate;
mod expression;
mod grammar;
mod history;
mod instance;
mod json;
mod model;
mod problem;
mod study;

pub use certificate::{certificate, true_proofs};
pub use expression::expression;
pub use history::history;
pub use instance::instance;
pub use json::changed;
pub use model::{model, own_model};
pub use problem::problem;
pub use study::study_records;

/// A kind of input: the name of its corpus, and what is done with the bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name of the folder in `fuzz/corpus`, and of the program in `fuzz/fuzz_targets`.
    pub name: &'static str,
    /// Panics where leafgp is wrong.
    pub run: fn(&[u8]),
}

/// Every kind.
pub const TARGETS: [Target; 12] = [
    Target { name: "problem", run: problem },
    Target { name: "expression", run: expression },
    Target { name: "history", run: history },
    Target { name: "instance", run: instance },
    Target { name: "lightgbm", run: model },
    Target { name: "xgboost_json", run: model },
    Target { name: "xgboost_ubj", run: model },
    Target { name: "catboost", run: model },
    Target { name: "onnx", run: model },
    Target { name: "own_model", run: own_model },
    Target { name: "certificate", run: certificate },
    Target { name: "study_records", run: study_records },
];
