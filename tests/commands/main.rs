//! The commands suggest, run, fit and solve, as a user meets them: the real binary in a temporary folder.

mod run;
mod solve;
mod suggest;
mod support;
