//! The commands: arguments in, results on stdout, messages on stderr, an exit code.
//!
//! `args` is what was typed, `inputs` what it means; one file for each command.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::print_stdout))]

mod args;
mod check;
mod failure;
mod fit;
mod histories;
mod init;
mod init_table;
mod inputs;
mod interrupt;
mod ledger;
mod model;
mod model_space;
mod optimize;
mod optimize_problem;
mod output;
mod plot;
mod predict;
mod predict_model;
mod progress;
mod reach;
mod report;
mod run;
mod shell;
mod solve;
mod status;
mod study;
mod suggest;
mod tell;
mod text_table;
mod verify;
mod wishes;

use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use leafgp::problem::reading::nearest;

use args::{Arguments, Command};
use failure::Failure;
use output::Output;

/// How a command ended that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// There is an answer.
    Done,
    /// It ran, but there is no answer: infeasible, or nothing found within the limits. What is known is on stdout.
    NoAnswer,
    /// There are suggestions, but fewer than were asked for.
    Fewer,
}

/// Runs the command line and returns its exit code: 0 done, 1 no answer, 2 bad input, 3 fewer suggestions than asked for, 130 interrupted.
fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let mut output = Output::new(arguments.quiet);
    let result = match &arguments.command {
        Command::Init(args) => init::command(args, &mut output),
        Command::Check(args) => check::command(args, &arguments.common, &mut output),
        Command::Suggest(args) => suggest::command(args, &arguments.common, &mut output),
        Command::Status(args) => status::command(args, &arguments.common, &mut output),
        Command::Predict(args) => predict::command(args, &arguments.common, &mut output),
        Command::Tell(args) => tell::tell(args, &arguments.common, &mut output),
        Command::Fail(args) => tell::fail(args, &arguments.common, &mut output),
        Command::Cancel(args) => tell::cancel(args, &arguments.common, &mut output),
        Command::Run(args) => run::command(args, &arguments.common, &mut output),
        Command::Fit(args) => fit::command(args, &arguments.common, &mut output),
        Command::Plot { command } => plot::command(command, &arguments.common, &mut output),
        Command::Report(args) => report::command(args, &arguments.common, &mut output),
        Command::Solve(args) => solve::command(args, &arguments.common, &mut output),
        Command::Optimize(args) => optimize::command(args, &arguments.common, &mut output),
        Command::Study { command } => study::command(command, &arguments.common, &mut output),
        Command::Reach(args) => reach::command(args, &arguments.common, &mut output),
        Command::Verify(args) => verify::command(args, &arguments.common, &mut output),
        Command::Completions(args) => shell::completions(args, &mut output),
        Command::Man(args) => shell::man(args, &mut output),
    };
    let result = result.and_then(|status| output.finish().map(|()| status));
    exit_code(result, &mut output)
}

fn exit_code(result: Result<Status, Failure>, output: &mut Output) -> ExitCode {
    let failure = match result {
        Ok(Status::Done) => return ExitCode::SUCCESS,
        Ok(Status::NoAnswer) => return ExitCode::from(1),
        Ok(Status::Fewer) => return ExitCode::from(3),
        Err(failure) => failure,
    };
    if let Some(message) = failure.message() {
        output.error(message);
    }
    ExitCode::from(failure.exit_code())
}

/// What people type, and the command that they mean.
const MEANT: [(&[&str], &str); 8] = [
    (&["best", "result", "results", "show", "list", "pending", "info"], "status"),
    (&["ask", "next", "propose", "recommend", "experiment"], "suggest"),
    (&["record", "add", "set", "done", "measure"], "tell"),
    (&["remove", "delete", "undo", "drop"], "cancel"),
    (&["optimize", "optimise", "loop", "start"], "run"),
    (&["validate", "test", "lint"], "check"),
    (&["new", "create", "template"], "init"),
    (&["evaluate", "estimate", "forecast"], "predict"),
];

/// Help and version go to stdout, mistakes to stderr with code 2; a closed pipe is no mistake.
fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    {
        let is_suggested = error.get(ContextKind::SuggestedSubcommand).is_some();
        if let Some(advice) = meant(word, is_suggested) {
            eprintln!("\n{advice}");
        }
    }
    if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

/// What to say of a word that is no command, when something can be meant by it.
fn meant(word: &str, is_suggested: bool) -> Option<String> {
    let command =
        |word: &str| MEANT.iter().find(|(words, _)| words.contains(&word)).map(|(_, command)| command);
    if let Some(command) = command(word) {
        return Some(format!("`leafgp {command}` does that."));
    }
    if word.ends_with(".toml") {
        return Some(format!("The command comes first, for instance `leafgp suggest {word}`."));
    }
    if is_suggested {
        return None;
    }
    let near = nearest(word, MEANT.iter().flat_map(|(words, _)| words.iter().copied()))?;
    Some(format!("`leafgp {}` does that, if you mean {near:?}.", command(near)?))
}
