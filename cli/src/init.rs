//! `leafgp init`: a commented problem file.

use std::io::{self, Write};
use std::path::Path;

use super::Status;
use super::args::InitArgs;
use super::failure::Failure;
use super::output::Output;
use leafgp::file::{write_new, write_whole};

/// The problem file that `init` writes.
const TEMPLATE: &str = include_str!("template.toml");

pub(super) fn command(args: &InitArgs, output: &mut Output) -> Result<Status, Failure> {
    if args.file == Path::new("-") {
        output.write_all(TEMPLATE.as_bytes())?;
        return Ok(Status::Done);
    }
    let write = if args.force { write_whole } else { write_new };
    write(&args.file, TEMPLATE.as_bytes()).map_err(|e| {
        let file = args.file.display();
        match e.kind() {
            io::ErrorKind::AlreadyExists => Failure::Input(format!(
                "{file}: it exists already; expected a new file name, or --force to replace it"
            )),
            _ => Failure::Input(format!("{file}: it cannot be written: {e}")),
        }
    })?;
    let file = args.file.display();
    output.note(&format!("wrote {file}; edit it, then: leafgp check {file}"));
    Ok(Status::Done)
}

#[cfg(test)]
mod tests {
    use super::TEMPLATE;
    use leafgp::problem::Problem;
    use std::path::Path;

    #[test]
    fn the_template_is_a_valid_problem() {
        let problem = Problem::from_text(Path::new("template.toml"), TEMPLATE).unwrap();
        assert!(problem.warnings().is_empty(), "{:?}", problem.warnings());
        assert!(problem.variables().len() >= 5 && !problem.constraints().is_empty());
    }
}
