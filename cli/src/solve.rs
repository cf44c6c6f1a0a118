//! `leafgp solve`: one acquisition problem from a file, to proven optimality.

use std::io::Write;

use leafgp_solver::Range;
use leafgp_solver::search::{self, Report, Status as SearchStatus};
use serde_json::{Value, json};

use super::Status;
use super::args::{Common, Format, SolveArgs};
use super::failure::Failure;
use super::histories::refuse_input;
use super::inputs::{override_settings, search_options};
use super::interrupt;
use super::output::Output;
use super::progress::Meter;
use super::text_table::short;
use leafgp::engine::interrupted;
use leafgp::file::write_whole;
use leafgp::instance::Instance;
use leafgp::problem::Settings;

pub(super) fn command(args: &SolveArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    if let Some(path) = &args.certificate {
        refuse_input(path, &[&args.instance])?;
    }
    let instance = Instance::read(&args.instance).map_err(Failure::input)?;
    let problem = instance.problem().map_err(Failure::input)?;
    let search_problem = problem.search();

    let mut settings = Settings::default();
    override_settings(&mut settings, common, &args.solver)?;
    let interrupt = interrupt::flag();
    let meter = Meter::spinner(output);
    let mut options = search_options(&settings, &interrupt, &meter);
    options.start_points = instance.x.rows().map(<[f64]>::to_vec).collect();
    let report = search::minimize(&search_problem, &options);
    drop(meter);
    let report = report.map_err(|e| Failure::file(&args.instance, e))?;

    match args.format {
        Format::Json => output.json(&to_json(&instance, &report))?,
        Format::Table => write_text(&instance, &report, output)?,
    }
    if interrupted(Some(&interrupt)) {
        return Err(Failure::Interrupted(
            "interrupted: the report holds what was found and proved so far".into(),
        ));
    }
    if let Some(path) = &args.certificate {
        let certificate = search::certify(&search_problem, &report, &options)
            .map_err(|e| Failure::NoAnswer(format!("{}: {e}", path.display())))?;
        write_whole(path, &certificate.write()).map_err(|e| Failure::file(path, e))?;
    }
    match report.status {
        SearchStatus::Optimal | SearchStatus::Feasible => Ok(Status::Done),
        SearchStatus::Infeasible | SearchStatus::Unknown => Ok(Status::NoAnswer),
    }
}

/// A finite number, or null.
fn finite(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

fn to_json(instance: &Instance, report: &Report) -> Value {
    let incumbent = report.incumbent.as_ref();
    let region = incumbent.map(|incumbent| {
        let ranges = incumbent.region.0.iter().map(|range| match range {
            Range::Interval { lower, upper } => json!([lower, upper]),
            Range::Levels(levels) => json!(levels.iter().collect::<Vec<_>>()),
        });
        ranges.collect::<Vec<_>>()
    });
    json!({
        "name": instance.name,
        "status": report.status.as_str(),
        "stop_reason": report.stop_reason.as_str(),
        "objective": incumbent.map(|i| i.objective),
        "bound": finite(report.best_bound),
        "gap": finite(report.gap),
        "region": region,
        "x": incumbent.map(|i| i.x.clone()),
        "mean": incumbent.map(|i| i.mean),
        "std": incumbent.map(|i| i.deviation),
        "nodes": report.nodes,
        "seconds": report.seconds,
        "threads": report.threads,
    })
}

fn write_text(instance: &Instance, report: &Report, output: &mut Output) -> Result<(), Failure> {
    writeln!(output, "{}: {} ({})", instance.name, report.status, report.stop_reason)?;
    if let Some(incumbent) = &report.incumbent {
        writeln!(
            output,
            "objective {} = mean {} - {} * std {}",
            incumbent.objective,
            short(incumbent.mean),
            instance.kappa,
            short(incumbent.deviation)
        )?;
        let point: Vec<String> =
            instance.variables.iter().zip(&incumbent.x).map(|(v, x)| format!("{} = {x}", v.name)).collect();
        writeln!(output, "at {}", point.join(", "))?;
    }
    writeln!(
        output,
        "bound {}, gap {:.2e}, {} nodes, {:.3} s, {} threads",
        report.best_bound, report.gap, report.nodes, report.seconds, report.threads
    )?;
    Ok(())
}
