//! The real binary in a temporary folder: results, messages, exit codes, files.

mod arguments;
mod check;
mod history_file;
mod init;
#[cfg(unix)]
mod kills;
mod mixed;
mod model;
mod models;
#[cfg(unix)]
mod month;
mod plant_examples;
#[cfg(unix)]
mod plant_page;
mod plot;
mod predict;
mod problem_file;
mod promises;
mod report;
mod run;
mod second_verifier;
mod solve;
#[cfg(unix)]
mod strike;
mod study;
mod suggest;
mod support;
#[cfg(unix)]
mod takeover;
mod targets;
mod tell;
mod thin;
mod units;
mod wishes;
