//! `leafgp verify`: re-checks the proof that `solve --certificate` wrote.

use std::io::Write;
use std::time::{Duration, Instant};

use leafgp_solver::certificate::{Certificate, WorkBudget, statement, verify_within};
use serde_json::json;

use super::Status;
use super::args::{Format, VerifyArgs};
use super::failure::Failure;
use super::histories::refuse_input;
use super::output::Output;
use leafgp::file::{read_whole, write_whole};
use leafgp::instance::Instance;

pub(super) fn command(args: &VerifyArgs, output: &mut Output) -> Result<Status, Failure> {
    if let Some(path) = &args.statement {
        refuse_input(path, &[&args.instance, &args.certificate])?;
    }
    let instance = Instance::read(&args.instance).map_err(Failure::input)?;
    let problem = instance.problem().map_err(Failure::input)?;
    let search_problem = problem.search();
    let bytes = read_whole(&args.certificate).map_err(|e| Failure::file(&args.certificate, e))?;
    let certificate = Certificate::read(&bytes).map_err(|e| Failure::file(&args.certificate, e))?;
    let limit = args.time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    let verified = match verify_within(
        &search_problem,
        &certificate,
        WorkBudget { deadline, ..WorkBudget::default() },
    ) {
        Ok(verified) => verified,
        Err(refusal) => {
            if args.format == Format::Json {
                output.json(&json!({ "verified": false, "reason": refusal.to_string() }))?;
            }
            let file = args.certificate.display();
            return Err(Failure::NoAnswer(format!("{file}: the proof is refused: {refusal}")));
        }
    };
    if let Some(file) = &args.statement {
        // Behind the check, which holds the problem's parts against each other.
        write_whole(file, &statement(&search_problem)).map_err(|e| Failure::file(file, e))?;
    }
    match args.format {
        Format::Json => output.json(&json!({
            "verified": true,
            "objective": verified.objective,
            "bound": verified.bound.is_finite().then_some(verified.bound),
            "gap": verified.gap,
            "nodes": verified.nodes,
            "bytes": bytes.len(),
        }))?,
        Format::Table => match verified.objective {
            Some(objective) => writeln!(
                output,
                "{}: verified: objective {objective}, no point below {}, gap {:.2e} ({} nodes, {} bytes)",
                instance.name,
                verified.bound,
                verified.gap,
                verified.nodes,
                bytes.len()
            )?,
            None => writeln!(
                output,
                "{}: verified: there is no feasible point ({} nodes)",
                instance.name, verified.nodes
            )?,
        },
    }
    Ok(Status::Done)
}
