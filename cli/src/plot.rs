//! `leafgp plot`: pictures of the model and the history.

use std::io::Write;
use std::path::{Path, PathBuf};

use leafgp_solver::Region;

use super::Status;
use super::args::{
    Common, HistoryArgs, PictureArgs, PlotCommand, PlotConvergenceArgs, PlotImportanceArgs, PlotParallelArgs,
    PlotPredictionsArgs, PlotSurfaceArgs, SolverArgs,
};
use super::failure::Failure;
use super::histories::{history_file, read_history, refuse_input};
use super::inputs::{read_problem, with_overrides};
use super::output::Output;
use leafgp::engine::{
    Optimizer, Purpose, cross_validation, model_quality, permutation_importances, stream, uniform,
};
use leafgp::file::write_whole;
use leafgp::history::{History, HistoryFile, Outcome};
use leafgp::problem::Problem;
use leafgp::problem::reading::hint;
use leafgp_study::functions::{self, Benchmark};
use leafgp_study::plot::{
    ConvergenceChart, ImportanceChart, MarkedPoint, Marker, ParallelChart, Predicted, PredictedChart,
    Progress, Size, Surface, SurfaceChart, marked_rows,
};

/// Shuffles of a variable for its permutation importance.
const SHUFFLES: usize = 10;

pub(super) fn command(
    command: &PlotCommand,
    common: &Common,
    output: &mut Output,
) -> Result<Status, Failure> {
    let picture = match command {
        PlotCommand::Surface(args) => &args.picture,
        PlotCommand::Convergence(args) => &args.picture,
        PlotCommand::Parallel(args) => &args.picture,
        PlotCommand::Importance(args) => &args.picture,
        PlotCommand::Predictions(args) => &args.picture,
    };
    if picture.output != Path::new("-") {
        let inputs = inputs(command)?;
        refuse_input(&picture.output, &inputs.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    }
    let svg = match command {
        PlotCommand::Surface(args) => surface(args, common, output)?,
        PlotCommand::Convergence(args) => convergence(args, common, output)?,
        PlotCommand::Parallel(args) => parallel(args, common, output)?,
        PlotCommand::Importance(args) => importance(args, common, output)?,
        PlotCommand::Predictions(args) => predictions(args, common, output)?,
    };
    if picture.output == Path::new("-") {
        output.write_all(svg.as_bytes())?;
    } else {
        write_whole(&picture.output, svg.as_bytes()).map_err(|e| Failure::file(&picture.output, e))?;
        output.note(&format!("{} is written", picture.output.display()));
    }
    Ok(Status::Done)
}

/// The size asked for, where one was; `None` leaves it to the chart.
fn size(picture: &PictureArgs, usual: Size) -> Option<Size> {
    (picture.width.is_some() || picture.height.is_some())
        .then(|| Size::new(picture.width.unwrap_or(usual.width), picture.height.unwrap_or(usual.height)))
}

fn title(picture: &PictureArgs, problem: &Problem) -> String {
    picture.title.clone().unwrap_or_else(|| problem.name().to_owned())
}

/// The files that a command reads.
fn inputs(command: &PlotCommand) -> Result<Vec<PathBuf>, Failure> {
    let with_history = |file: &Path, history: &HistoryArgs| {
        Ok(vec![file.to_owned(), history_file(history, file)?.path().to_owned()])
    };
    match command {
        PlotCommand::Surface(args) => {
            args.file.as_deref().map_or(Ok(Vec::new()), |file| with_history(file, &args.history))
        }
        PlotCommand::Convergence(args) => {
            let beside = args.file.with_extension("csv");
            Ok([args.file.clone(), beside].into_iter().chain(args.history.iter().cloned()).collect())
        }
        PlotCommand::Parallel(args) => with_history(&args.problem.file, &args.problem.history),
        PlotCommand::Importance(args) => with_history(&args.problem.file, &args.problem.history),
        PlotCommand::Predictions(args) => with_history(&args.problem.file, &args.problem.history),
    }
}

fn surface(args: &PlotSurfaceArgs, common: &Common, output: &mut Output) -> Result<String, Failure> {
    let function = args.function.as_deref().map(functions::find).transpose().map_err(Failure::input)?;
    let problem = match (&args.file, function) {
        (Some(file), _) => read_problem(file, common, &args.solver, output)?,
        (None, Some(function)) => with_overrides(function.problem()?, common, &args.solver)?,
        (None, None) => unreachable!("one of them is required"),
    };
    if let Some(function) = function {
        function.check_fits(&problem).map_err(Failure::Input)?;
    }
    let history = surface_history(args, function, &problem, output)?;
    if problem.variables().len() < 2 {
        return Err(Failure::Input("a surface needs two variables; the problem has one".into()));
    }
    let optimizer = Optimizer::with_history(problem.clone(), &history)?;
    let best = optimizer.best();
    // Before any work: are the names and values right?
    let chosen = [
        args.x.as_deref().map(|name| variable(&problem, "--x", name)).transpose()?,
        args.y.as_deref().map(|name| variable(&problem, "--y", name)).transpose()?,
    ];
    let fixed = fixed_values(args, &problem)?;

    let mut points = marked_rows(&problem, &history.rows, best.as_ref().map(|b| b.row));
    let mut suggested = None;
    if !args.no_suggestion {
        match optimizer.ask() {
            Ok(suggestion) => suggested = Some(suggestion.point),
            Err(error) => output.warning(&format!("no next experiment is drawn: {error}")),
        }
    }
    let (x, y) = axes(&problem, &optimizer, chosen)?;
    let mut at = best.map(|b| b.point).or_else(|| suggested.clone()).unwrap_or_else(|| {
        problem
            .domains()
            .iter()
            .map(|d| {
                d.nearest(0.5 * (d.bounds().0 + d.bounds().1), d.bounds().0, d.bounds().1)
                    .unwrap_or(d.bounds().0)
            })
            .collect()
    });
    for (i, value) in fixed {
        if i == x || i == y {
            let name = &problem.variables()[i].name;
            return Err(Failure::Input(format!("--at {name}: the variable is an axis of the surface")));
        }
        at[i] = value;
    }
    problem.constraints().deactivate(&mut at);
    if let Some(point) = suggested {
        let text: Vec<String> = problem
            .variables()
            .iter()
            .zip(&point)
            .map(|(v, &x)| format!("{} = {}", v.name, v.format_value(x)))
            .collect();
        points.push(MarkedPoint {
            marker: Marker::Suggested,
            label: format!("next: {}", text.join(", ")),
            point,
        });
    }
    let mut surface = Surface::new(&problem, optimizer.observations(), x, y, &at)?;
    if let Some(function) = function {
        surface = surface.with_truth(&problem, function, x, y, &at);
    }
    let chart = SurfaceChart { title: title(&args.picture, &problem), surface: &surface, x, y, points };
    Ok(size(&args.picture, SurfaceChart::SIZE).map_or_else(|| chart.svg(), |size| chart.svg_sized(size)))
}

/// The history of a surface: a file, or random points of the function.
fn surface_history(
    args: &PlotSurfaceArgs,
    function: Option<&Benchmark>,
    problem: &Problem,
    output: &mut Output,
) -> Result<History, Failure> {
    if let (Some(n), Some(function)) = (args.sample, function) {
        let full = Region::full(problem.constraints().domains());
        let mut rng = stream(problem.settings().seed, Purpose::Initial, 0);
        let mut history = History::new();
        for _ in 0..n {
            let point = uniform(problem, &full, &mut rng);
            history
                .push(problem, &point, Outcome::Done(function.evaluate(&point)))
                .map_err(Failure::input)?;
        }
        return Ok(history);
    }
    match (&args.file, &args.history.history) {
        (None, None) => Err(Failure::Input(
            "there is no history: give --history H.csv, or --sample N for random points of the function"
                .into(),
        )),
        (None, Some(path)) => read_history(&HistoryFile::new(path), problem, output),
        (Some(file), _) => read_history(&history_file(&args.history, file)?, problem, output),
    }
}

/// The two axes: as given, else the variables with the largest gain.
fn axes(
    problem: &Problem,
    optimizer: &Optimizer,
    chosen: [Option<usize>; 2],
) -> Result<(usize, usize), Failure> {
    if let [Some(x), Some(y)] = chosen {
        if x == y {
            return Err(Failure::Input(format!("--x and --y are both {:?}", problem.variables()[x].name)));
        }
        return Ok((x, y));
    }
    let mut order: Vec<usize> = (0..problem.variables().len()).collect();
    if order.len() > 2 {
        let quality = model_quality(problem, optimizer.observations(), None)?;
        let gain = |i: usize| quality.importances[i].gain;
        order.sort_by(|&a, &b| gain(b).total_cmp(&gain(a)).then(a.cmp(&b)));
    }
    let mut others = order.into_iter().filter(|i| !chosen.contains(&Some(*i)));
    let mut next = || others.next().expect("there are two variables");
    Ok(match chosen {
        [Some(x), None] => (x, next()),
        [None, Some(y)] => (next(), y),
        _ => {
            let (a, b) = (next(), next());
            (a.min(b), a.max(b))
        }
    })
}

fn variable(problem: &Problem, option: &str, name: &str) -> Result<usize, Failure> {
    problem.index_of(name).ok_or_else(|| {
        let names: Vec<&str> = problem.variables().iter().map(|v| v.name.as_str()).collect();
        let hint = hint(name, names.iter().copied());
        Failure::Input(format!(
            "{option}: there is no variable {name:?}{hint}; there are {}",
            names.join(", ")
        ))
    })
}

/// `--at name=value`, each checked against its variable.
fn fixed_values(args: &PlotSurfaceArgs, problem: &Problem) -> Result<Vec<(usize, f64)>, Failure> {
    let mut fixed: Vec<(usize, f64)> = Vec::new();
    for text in &args.at {
        // A name may hold an equals sign itself.
        let split = text.match_indices('=').map(|(k, _)| (text[..k].trim(), text[k + 1..].trim()));
        let known = split.clone().find(|(name, _)| problem.index_of(name).is_some());
        let Some((name, value)) = known.or_else(|| split.clone().next()) else {
            return Err(Failure::Input(format!("--at {text}: expected NAME=VALUE")));
        };
        let index = variable(problem, "--at", name)?;
        let variable = &problem.variables()[index];
        let refuse = |what: String| Failure::Input(format!("--at {text}: {what}"));
        let value = variable.parse_value(value).map_err(|e| refuse(e.to_string()))?;
        if !variable.domain().contains(value) {
            return Err(refuse(format!("the value is not allowed; expected {}", variable.expected())));
        }
        if fixed.iter().any(|(i, _)| *i == index) {
            return Err(refuse("the variable is fixed twice".into()));
        }
        fixed.push((index, value));
    }
    Ok(fixed)
}

fn convergence(args: &PlotConvergenceArgs, common: &Common, output: &mut Output) -> Result<String, Failure> {
    let problem = read_problem(&args.file, common, &SolverArgs::default(), output)?;
    let paths = match args.history.as_slice() {
        [] => vec![None],
        given => given.iter().cloned().map(Some).collect(),
    };
    let mut histories = Vec::new();
    for path in paths {
        let file = existing_history(&HistoryArgs { history: path, ..HistoryArgs::default() }, &args.file)?;
        let history = read_history(&file, &problem, output)?;
        let label = file.path().file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        histories.push(Progress::of(label, &history));
    }
    let mut chart = ConvergenceChart::new(&problem, histories);
    chart.title = title(&args.picture, &problem);
    chart.log_y = args.log;
    Ok(size(&args.picture, ConvergenceChart::SIZE).map_or_else(|| chart.svg(), |size| chart.svg_sized(size)))
}

fn parallel(args: &PlotParallelArgs, common: &Common, output: &mut Output) -> Result<String, Failure> {
    let (problem, history) = problem_and_history(&args.problem, common, output)?;
    let title = title(&args.picture, &problem);
    let chart = ParallelChart { title, problem: &problem, history: &history, best: args.best };
    Ok(size(&args.picture, ParallelChart::SIZE).map_or_else(|| chart.svg(), |size| chart.svg_sized(size)))
}

fn importance(args: &PlotImportanceArgs, common: &Common, output: &mut Output) -> Result<String, Failure> {
    let (problem, history) = problem_and_history(&args.problem, common, output)?;
    let optimizer = Optimizer::with_history(problem, &history)?;
    let (problem, observations) = (optimizer.problem(), optimizer.observations());
    let quality = model_quality(problem, observations, None)?;
    let shuffled = permutation_importances(problem, observations, SHUFFLES)?;
    let chart = ImportanceChart {
        title: title(&args.picture, problem),
        names: problem.variables().iter().map(|v| v.name.clone()).collect(),
        measures: vec![
            ("gain %".into(), quality.importances.iter().map(|i| 100.0 * i.gain).collect()),
            ("splits".into(), quality.importances.iter().map(|i| i.splits as f64).collect()),
            (format!("error of {} when shuffled", problem.objective().name), shuffled),
        ],
    };
    let usual = Size::new(840.0, 90.0 + 24.0 * chart.names.len() as f64);
    Ok(size(&args.picture, usual).map_or_else(|| chart.svg(), |size| chart.svg_sized(size)))
}

fn predictions(args: &PlotPredictionsArgs, common: &Common, output: &mut Output) -> Result<String, Failure> {
    let (problem, history) = problem_and_history(&args.problem, common, output)?;
    let cross_validation = cross_validation(&problem, &history.rows, args.cv as usize)?;
    let (model, errors) = cross_validation.chooser();
    output.note(&format!("the {model} is {}", errors.sentence()));
    let chart = PredictedChart {
        title: title(&args.picture, &problem),
        objective: problem.objective().name.clone(),
        points: errors.predictions.iter().map(Predicted::from).collect(),
    };
    Ok(size(&args.picture, PredictedChart::SIZE).map_or_else(|| chart.svg(), |size| chart.svg_sized(size)))
}

fn problem_and_history(
    args: &super::args::ProblemArgs,
    common: &Common,
    output: &mut Output,
) -> Result<(Problem, History), Failure> {
    let problem = read_problem(&args.file, common, &SolverArgs::default(), output)?;
    let file = existing_history(&args.history, &args.file)?;
    let history = read_history(&file, &problem, output)?;
    Ok((problem, history))
}

/// The history's file. Only suggestions can start from nothing: a picture of a misspelt file would be an empty one.
fn existing_history(args: &HistoryArgs, problem_file: &Path) -> Result<HistoryFile, Failure> {
    let file = history_file(args, problem_file)?;
    if args.is_stdin() || file.path().exists() {
        Ok(file)
    } else {
        Err(Failure::file(file.path(), "there is no such file"))
    }
}
