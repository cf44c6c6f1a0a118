//! `leafgp completions` and `leafgp man`: what shells and manuals know of the command line, made from its own definition.

use std::io::Write;

use clap::CommandFactory;

use super::Status;
use super::args::{Arguments, CompletionsArgs, ManArgs};
use super::failure::Failure;
use super::output::Output;

/// The program's name.
const NAME: &str = "leafgp";

pub(super) fn completions(args: &CompletionsArgs, output: &mut Output) -> Result<Status, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), NAME, &mut script);
    output.write_all(&script)?;
    Ok(Status::Done)
}

pub(super) fn man(args: &ManArgs, output: &mut Output) -> Result<Status, Failure> {
    match &args.out {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
            output.write_all(&page)?;
        }
        Some(folder) => {
            let pages = std::fs::create_dir_all(folder);
            let pages = pages.and_then(|()| clap_mangen::generate_to(Arguments::command(), folder));
            pages.map_err(|e| Failure::file(folder, e))?;
            output.note(&format!("the pages are in {}", folder.display()));
        }
    }
    Ok(Status::Done)
}
