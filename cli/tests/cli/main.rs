//! The real binary in a temporary folder: results, messages, exit codes, files.

mod arguments;
mod check;
mod history_file;
mod init;
mod mixed;
mod model;
mod models;
mod plant_examples;
mod plot;
mod predict;
mod problem_file;
mod promises;
mod report;
mod run;
mod solve;
mod study;
mod suggest;
mod support;
mod targets;
mod tell;
mod thin;
mod units;
mod wishes;
