//! `leafgp verify`: re-checks the proof that `solve --certificate` wrote.

use std::io::Write;

use leafgp_solver::certificate::{Certificate, verify};
use serde_json::json;

use super::Status;
use super::args::{Format, VerifyArgs};
use super::failure::Failure;
use super::output::Output;
use leafgp::instance::Instance;

pub(super) fn command(args: &VerifyArgs, output: &mut Output) -> Result<Status, Failure> {
    let instance = Instance::read(&args.instance).map_err(Failure::input)?;
    let problem = instance.problem().map_err(Failure::input)?;
    let search_problem = problem.search();
    let bytes = std::fs::read(&args.certificate).map_err(|e| Failure::file(&args.certificate, e))?;
    let certificate = Certificate::read(&bytes).map_err(|e| Failure::file(&args.certificate, e))?;
    let verified = match verify(&search_problem, &certificate) {
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
