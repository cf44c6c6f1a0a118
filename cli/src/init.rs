//! `leafgp init`: a commented problem file, from a template or from a table.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use super::Status;
use super::args::InitArgs;
use super::failure::Failure;
use super::histories::refuse_input;
use super::init_table;
use super::output::Output;
use leafgp::file::{read_whole, write_new, write_whole};
use leafgp::history::{Columns, History};
use leafgp::problem::Problem;
use leafgp::problem::reading::hint;

/// The problem file that `init` writes.
const TEMPLATE: &str = include_str!("template.toml");

pub(super) fn command(args: &InitArgs, output: &mut Output) -> Result<Status, Failure> {
    let (text, file) = match &args.from {
        None => {
            if args.goal.is_some() || args.maximize || args.minimize {
                return Err(Failure::Input("--goal, --maximize and --minimize go with --from".into()));
            }
            (TEMPLATE.to_owned(), args.file.clone().unwrap_or_else(|| "problem.toml".into()))
        }
        Some(table) => {
            let file = args.file.clone().unwrap_or_else(|| table.with_extension("toml"));
            refuse_input(&file, &[table])?;
            (from_table(args, table, &file)?, file)
        }
    };
    if file == Path::new("-") {
        output.write_all(text.as_bytes())?;
        note_direction(args, output);
        return Ok(Status::Done);
    }
    let write = if args.force { write_whole } else { write_new };
    write(&file, text.as_bytes()).map_err(|e| {
        let file = file.display();
        match e.kind() {
            io::ErrorKind::AlreadyExists => Failure::Input(format!(
                "{file}: it exists already; expected a new file name, or --force to replace it"
            )),
            _ => Failure::Input(format!("{file}: it cannot be written: {e}")),
        }
    })?;
    note_direction(args, output);
    let history = match &args.from {
        Some(table) if *table != file.with_extension("csv") => format!(" --history {}", table.display()),
        _ => String::new(),
    };
    let file = file.display();
    output.note(&format!("wrote {file}; edit it, then: leafgp check {file}{history}"));
    Ok(Status::Done)
}

/// Nobody said which direction is better: the file's default may be the wrong one.
fn note_direction(args: &InitArgs, output: &mut Output) {
    if args.from.is_some() && !(args.maximize || args.minimize) {
        output.note("the goal is to be minimized; for the other direction use --maximize, or edit the file");
    }
}

/// The problem file of a table, which it reads as its history.
fn from_table(args: &InitArgs, table: &Path, file: &Path) -> Result<String, Failure> {
    let columns = Columns::read(table, &[])?;
    let goals = init_table::goals(&columns);
    let goal = match &args.goal {
        Some(goal) => goal.clone(),
        None => asked(table, &goals)?,
    };
    if !goals.contains(&goal.as_str()) {
        let message = format!("{goal:?} is no column of numbers{}", hint(&goal, goals.iter().copied()));
        return Err(Failure::file(table, format!("{message}; expected one of {}", goals.join(", "))));
    }
    let name = if file == Path::new("-") { table } else { file };
    let name = name.file_stem().map_or_else(|| "problem".into(), |stem| stem.to_string_lossy());
    let text = init_table::problem_text(&columns, &name, &goal, args.maximize);
    // What is written must be right: read back, with the table.
    let unusable = |what: String| Failure::file(table, format!("no problem file can be made of it: {what}"));
    let problem = Problem::from_text(file, &text).map_err(|e| unusable(e.to_string()))?;
    let bytes = read_whole(table).map_err(|e| Failure::file(table, e))?;
    History::from_bytes(&bytes, &problem).map_err(|e| unusable(e.to_string()))?;
    Ok(text)
}

/// Asks for the goal on a terminal; refuses to guess elsewhere.
fn asked(table: &Path, goals: &[&str]) -> Result<String, Failure> {
    let list = goals.join(", ");
    if goals.is_empty() {
        return Err(Failure::file(table, "no column holds numbers alone; expected one for the goal"));
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Failure::file(table, format!("which column is the goal? Give it with --goal: {list}")));
    }
    eprint!("Which column is the goal ({list})? ");
    let mut line = String::new();
    io::stdin()
        .read_line(&mut line)
        .map_err(|e| Failure::Input(format!("the answer cannot be read: {e}")))?;
    Ok(line.trim().to_owned())
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
