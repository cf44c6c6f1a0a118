//! Benchmark functions.
