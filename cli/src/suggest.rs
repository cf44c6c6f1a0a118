//! `leafgp suggest`: the next experiments.

use leafgp_solver::Range;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::Status;
use super::args::{Common, SuggestArgs, SuggestionFormat};
use super::failure::Failure;
use super::histories::{history_file, read_history, refuse_input};
use super::inputs::{read_problem, with_preset};
use super::interrupt;
use super::output::Output;
use super::progress::Meter;
use super::text_table::{short, text_table};
use super::wishes::Wishes;
use leafgp::engine::{
    Answer, Context, EngineError, Listed, Optimizer, Promise, Suggestion, TargetScale, TrainingSet,
    cross_validation, interrupted as is_raised, rounded_outward,
};
use leafgp::history::{Best, Forecast, HistoryFile, Outcome, csv_text};
use leafgp::problem::{Goal, Problem};

pub(super) fn command(args: &SuggestArgs, common: &Common, output: &mut Output) -> Result<Status, Failure> {
    let problem = read_problem(&args.problem.file, common, &args.solver, output)?;
    let problem = with_preset(problem, &args.preset)?;
    let file = history_file(&args.problem.history, &args.problem.file)?;
    if let Some(path) = &args.export_instance {
        refuse_input(path, &[&args.problem.file, file.path()])?;
    }
    args.problem.history.check_exists(&file)?;
    if args.append {
        args.problem.history.check_writable()?;
        file.check_writable(&problem)?;
    }
    let wishes = args.wishes.read(&problem)?;
    let interrupt = interrupt::flag();
    let context = |meter: &Meter, scale: TargetScale| Context {
        interrupt: Some(interrupt.clone()),
        progress: Some(meter.callback_in(move |score| scale.mean(score))),
        tree_excess: true,
    };

    let mut history = read_history(&file, &problem, output)?;
    args.problem.history.check_bounds(&file, &problem, &history)?;
    let (optimizer, answer, interrupted) = loop {
        let optimizer = Optimizer::with_history(problem.clone(), &history)?;
        let meter = Meter::spinner(output);
        let scale = TrainingSet::new(&problem, optimizer.observations())?.scale;
        let answer = optimizer.ask_for(&wishes.request, args.n, &context(&meter, scale));
        drop(meter);
        let interrupted = is_raised(Some(&interrupt));
        let answer = match answer {
            Err(error) if interrupted => return Err(Failure::Interrupted(format!("interrupted: {error}"))),
            answer => answer?,
        };
        if args.append && !interrupted {
            let rows: Vec<_> =
                answer.suggestions.iter().map(|s| (s.point.clone(), Outcome::Pending)).collect();
            if file.append_after(&problem, history.rows.len(), &rows)?.is_none() {
                // Somebody added rows meanwhile: what is suggested must know of them.
                history = file.read(&problem)?;
                continue;
            }
        }
        break (optimizer, answer, interrupted);
    };
    if let Some(path) = &args.export_instance {
        export_instance(&optimizer, &wishes, path)?;
    }

    let mut warnings = history.warnings.clone();
    warnings.extend(wishes.report(&answer, output));
    if let Some(fixed) = wishes.fixed_text(&problem) {
        output.note(&format!("only with {fixed}; what is proved is proved for that"));
    }
    let Answer { suggestions, fewer_because, .. } = answer;
    for note in suggestions.iter().filter_map(|suggestion| suggestion.note.as_ref()) {
        output.note(note);
        warnings.push(note.clone());
    }
    let fewer = suggestions.len() < args.n && !interrupted;
    if fewer {
        let why = match fewer_because {
            Some(EngineError::SpaceExhausted) => "every other feasible point is taken".to_owned(),
            None => "no further point was found".to_owned(),
            Some(EngineError::ExhaustedWith { with }) => {
                format!("every other feasible point with {with} is taken")
            }
            Some(EngineError::NoIncumbent { reason }) => {
                format!("no further point was found within the limits: {reason}")
            }
            Some(error) => error.to_string(),
        };
        let warning = format!("only {} of {} experiments: {why}", suggestions.len(), args.n);
        output.warning(&warning);
        warnings.push(warning);
    }
    let best = optimizer.best();
    let appended = args.append && !interrupted;
    let promise = match args.format {
        _ if interrupted => None,
        SuggestionFormat::Json | SuggestionFormat::Csv if !appended => None,
        _ => stop_sign(&optimizer, &context_of(&interrupt), output),
    };
    if appended {
        keep_forecasts(&file, optimizer.problem(), &suggestions, promise.as_ref(), output);
    }
    match args.format {
        SuggestionFormat::Json => {
            output.json(&to_json(optimizer.problem(), &suggestions, best.as_ref(), &warnings))?;
        }
        SuggestionFormat::Csv => {
            let points: Vec<_> = suggestions.iter().map(|s| s.point.clone()).collect();
            output.write_all(csv_text(optimizer.problem(), &points)?.as_bytes())?;
        }
        SuggestionFormat::Table => {
            write_text(&optimizer, &suggestions, best.as_ref(), output)?;
            if let Some(promise) = promise {
                write_promise(&optimizer, &promise, output)?;
            }
        }
    }
    if interrupted {
        return Err(Failure::Interrupted(
            "interrupted: the suggestion is the best found so far, nothing was appended".into(),
        ));
    }
    Ok(if fewer { Status::Fewer } else { Status::Done })
}

/// Without progress: a question beside the suggestions.
fn context_of(interrupt: &Arc<AtomicBool>) -> Context {
    Context { interrupt: Some(Arc::clone(interrupt)), ..Context::default() }
}

/// What is proved of all feasible settings. A model that cannot be fitted is a word on stderr, and no reason to keep the rest back.
pub(super) fn stop_sign(optimizer: &Optimizer, context: &Context, output: &mut Output) -> Option<Promise> {
    optimizer.promise(context).unwrap_or_else(|error| {
        output.note(&format!("nothing is proved of all feasible settings: {error}"));
        None
    })
}

/// The stop sign, and what it is not.
pub(super) fn write_promise(
    optimizer: &Optimizer,
    promise: &Promise,
    output: &mut Output,
) -> Result<(), Failure> {
    writeln!(output, "{}", promise.sentence())?;
    if promise.ends_at(0.0) {
        const NOTHING: &str = "nothing better than the best so far is promised anywhere";
        let judged = cross_validation(optimizer.problem(), optimizer.observations(), FOLDS);
        match judged.map(|judged| judged.process.verdict()) {
            Ok(verdict) if !verdict.is_to_be_trusted() => {
                let verdict = verdict.as_str();
                writeln!(
                    output,
                    "{NOTHING}, but the model that says so is {verdict}: alone that is no reason to stop"
                )?;
            }
            _ => writeln!(output, "stop: {NOTHING}")?,
        }
    }
    writeln!(output, "{TRUST}")?;
    Ok(())
}

/// Folds of the judgement of a model that asks to stop.
const FOLDS: usize = 5;

/// What a proof about a model is worth.
pub(super) const TRUST: &str = "(this is proved of the trees' model, not of the experiments; `leafgp fit FILE.toml --cv 5` says how far to trust it)";

/// For programs.
pub(super) fn promise_to_json(promise: &Promise) -> Value {
    json!({
        "bound": promise.bound, "kappa": promise.kappa, "best": promise.best, "gain": promise.gain(), "proved_of": "the trees' model",
    })
}

/// Keeps what was predicted beside the history. The experiments are in the table already, so a failure is a warning.
pub(super) fn keep_forecasts(
    file: &HistoryFile,
    problem: &Problem,
    suggestions: &[Suggestion],
    promise: Option<&Promise>,
    output: &mut Output,
) {
    let bound = promise.map(|promise| promise.bound);
    let forecasts: Vec<Forecast> = suggestions.iter().filter_map(|s| s.forecast(problem, bound)).collect();
    if let Err(error) = file.keep_forecasts(problem, &forecasts) {
        output.warning(&format!("the predictions are not kept: {error}"));
    }
}

/// The contract's object.
fn to_json(problem: &Problem, suggestions: &[Suggestion], best: Option<&Best>, warnings: &[String]) -> Value {
    json!({
        "suggestions": suggestions.iter().map(|s| s.to_json(problem)).collect::<Vec<_>>(),
        "best": best.map(|best| best_to_json(problem, best)),
        "warnings": warnings,
    })
}

/// The best experiment so far: its point, its value and its row (from 1, the header not counted).
pub(super) fn best_to_json(problem: &Problem, best: &Best) -> Value {
    json!({ "point": problem.point_to_json(&best.point), "value": best.value, "row": best.row + 1 })
}

fn write_text(
    optimizer: &Optimizer,
    suggestions: &[Suggestion],
    best: Option<&Best>,
    output: &mut Output,
) -> Result<(), Failure> {
    let problem = optimizer.problem();
    let scale = TrainingSet::new(problem, optimizer.observations())?.scale;
    for (number, suggestion) in suggestions.iter().enumerate() {
        if suggestions.len() > 1 {
            writeln!(output, "suggestion {}", number + 1)?;
        }
        if let Some(listed) = suggestion.listed {
            writeln!(output, "candidate {}", listed.index + 1)?;
        }
        let rows: Vec<Vec<String>> = problem
            .variables()
            .iter()
            .enumerate()
            .map(|(i, variable)| {
                let cell =
                    suggestion.proof.as_ref().map_or(String::new(), |proof| match &proof.region.0[i] {
                        Range::Interval { lower, upper } => format!("[{}, {}]", short(*lower), short(*upper)),
                        Range::Levels(levels) => levels
                            .iter()
                            .map(|level| variable.format_value(level as f64))
                            .collect::<Vec<_>>()
                            .join(", "),
                    });
                vec![
                    variable.name.clone(),
                    variable.format_value(suggestion.point[i]),
                    variable.unit.clone().unwrap_or_default(),
                    cell,
                ]
            })
            .collect();
        output.write_all(
            text_table(&["variable", "value", "unit", "same for the model in"], &rows).as_bytes(),
        )?;
        writeln!(output, "{}\n", what_is_known(problem, suggestion, scale))?;
    }
    if let Some(best) = best {
        writeln!(
            output,
            "best so far: {} {} in row {}",
            problem.objective().name,
            short(best.value),
            best.row + 1
        )?;
    }
    Ok(())
}

/// The prediction, and what is proved of a suggestion, in the objective's units and direction.
pub(super) fn what_is_known(problem: &Problem, suggestion: &Suggestion, scale: TargetScale) -> String {
    let Some(prediction) = suggestion.prediction() else {
        return suggestion.note.clone().unwrap_or_else(|| "space-filling point".to_owned());
    };
    let (name, mean, std) =
        (problem.objective().modelled_name(), short(prediction.mean), short(prediction.std));
    let predicted = format!("predicted {name} {mean} +- {std}");
    if let Some(Listed { n_open, score: Some(score), .. }) = suggestion.listed {
        return format!("{predicted}; {} of {n_open} candidates, each evaluated: none is better", score.by);
    }
    let by = suggestion.chosen.map_or("", |chosen| chosen.acquisition_name());
    match &suggestion.proof {
        Some(proof) => {
            let scores = format!(
                "{}: no feasible point scores better than {} (this one {}, gap {:.1e}; mean {} {} deviations of the trees)",
                proof.status,
                rounded_outward(proof.promised_bound, problem.objective().goal),
                short(proof.promised),
                proof.gap,
                if problem.objective().goal == Goal::Maximize { '+' } else { '-' },
                problem.settings().kappa,
            );
            match suggestion.chosen {
                None => format!("{predicted}; {scores}"),
                Some(_) => {
                    format!("{predicted}; its cell is {scores}; the point in it: {by}, by local search")
                }
            }
        }
        None => {
            let excess =
                suggestion.chosen.and_then(|chosen| chosen.tree_excess).map_or(String::new(), |excess| {
                    format!(
                        "; by the trees no feasible point scores better than this one by more than {}: proved",
                        short(scale.deviation(excess))
                    )
                });
            format!("{predicted}; {by} over all feasible points, by local search{excess}")
        }
    }
}

/// Writes the acquisition problem of the next suggestion.
fn export_instance(optimizer: &Optimizer, wishes: &Wishes, path: &std::path::Path) -> Result<(), Failure> {
    let instance = match optimizer.instance_for(&wishes.request) {
        Err(EngineError::NoMeasuredRow) => {
            let message = format!("{}: there is no instance without measured rows", path.display());
            return Err(Failure::Input(message));
        }
        instance => instance?,
    };
    instance.write(path).map_err(Failure::input)
}
