//! `leafgp verify`: re-checks the proof that `solve --certificate` or `optimize --certificate` wrote.

use std::io::Write;
use std::time::{Duration, Instant};

use leafgp_solver::certificate::{Certificate, Refusal, Verified, WorkBudget, statement, verify_within};
use serde_json::json;

use super::Status;
use super::args::{Common, Format, ModelArgs, SolverArgs, VerifyArgs};
use super::failure::Failure;
use super::histories::refuse_input;
use super::model_space::{ModelSpace, is_problem_file};
use super::optimize_problem;
use super::output::Output;
use leafgp::file::{read_whole, write_whole};
use leafgp::instance::Instance;

pub(super) fn command(args: &VerifyArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    if let Some(path) = &args.statement {
        refuse_input(path, &[&args.instance, &args.certificate])?;
    }
    let bytes = || read_whole(&args.certificate).map_err(|e| Failure::file(&args.certificate, e));
    let read = |bytes: &[u8]| Certificate::read(bytes).map_err(|e| Failure::file(&args.certificate, e));
    if is_problem_file(&args.instance) {
        let mut n_bytes = 0;
        let certificate = || {
            let bytes = bytes()?;
            n_bytes = bytes.len();
            read(&bytes)
        };
        let checked = optimize_problem::check(&model(args), args, certificate, output)?;
        return report(args, &args.instance.display().to_string(), n_bytes, checked, output);
    }
    let of_model = args.space.data.is_some() || args.space.problem.is_some();
    if of_model {
        if args.time_limit.is_some() || args.statement.is_some() {
            let message = "--time-limit and --statement are for instances and problems over models, not for single models";
            return Err(Failure::Input(message.into()));
        }
        let model = model(args);
        ModelSpace::check_one_box(&args.space)?;
        let space = ModelSpace::open(&model, &args.space, common, &SolverArgs::default(), output)?;
        let goal = space.goal(args.goal)?;
        let bytes = bytes()?;
        let checked = space.model.verify(&space.space(), goal, &read(&bytes)?);
        let checked = checked.map_err(|error| Failure::file(&args.instance, error))?;
        let name = args.instance.display().to_string();
        return report(args, &name, bytes.len(), checked, output);
    }
    let options = [
        (args.goal.maximize, "--maximize"),
        (args.goal.minimize, "--minimize"),
        (args.class.is_some(), "--class"),
        (args.by_position, "--by-position"),
        (!args.space.fix.is_empty(), "--fix"),
    ];
    if let Some((_, option)) = options.iter().find(|(given, _)| *given) {
        let message = format!("{option} is for trained models: give their --data or --problem too");
        return Err(Failure::Input(message));
    }
    let instance = Instance::read(&args.instance).map_err(Failure::input)?;
    let problem = instance.problem().map_err(Failure::input)?;
    let search_problem = problem.search();
    let bytes = bytes()?;
    let certificate = read(&bytes)?;
    let checked = verify_within(&search_problem, &certificate, args.budget());
    if let (Some(file), Ok(_)) = (&args.statement, &checked) {
        write_whole(file, &statement(&search_problem)).map_err(|e| Failure::file(file, e))?;
    }
    report(args, &instance.name, bytes.len(), checked, output)
}

/// The model, or the problem file in its place.
fn model(args: &VerifyArgs) -> ModelArgs {
    ModelArgs { model: args.instance.clone(), class: args.class, by_position: args.by_position }
}

impl VerifyArgs {
    /// The default work, until the time limit.
    pub(super) fn budget(&self) -> WorkBudget {
        let limit = self.time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        WorkBudget { deadline, ..WorkBudget::default() }
    }
}

fn report(
    args: &VerifyArgs,
    name: &str,
    n_bytes: usize,
    checked: Result<Verified, Refusal>,
    output: &mut Output,
) -> Result<Status, Failure> {
    let verified = match checked {
        Ok(verified) => verified,
        Err(refusal) => {
            if args.format == Format::Json {
                output.json(&json!({ "verified": false, "reason": refusal.to_string() }))?;
            }
            let file = args.certificate.display();
            return Err(Failure::NoAnswer(format!("{file}: the proof is refused: {refusal}")));
        }
    };
    match args.format {
        Format::Json => output.json(&json!({
            "verified": true,
            "objective": verified.objective,
            "bound": verified.bound.is_finite().then_some(verified.bound),
            "gap": verified.gap,
            "nodes": verified.nodes,
            "bytes": n_bytes,
        }))?,
        Format::Table => match verified.objective {
            Some(objective) => writeln!(
                output,
                "{}: verified: objective {objective}, no point below {}, gap {:.2e} ({} nodes, {} bytes)",
                name, verified.bound, verified.gap, verified.nodes, n_bytes
            )?,
            None => {
                writeln!(output, "{name}: verified: there is no feasible point ({} nodes)", verified.nodes)?;
            }
        },
    }
    Ok(Status::Done)
}
