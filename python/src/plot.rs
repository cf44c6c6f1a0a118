//! Charts of `leafgp plot` as SVG.

use leafgp::engine::{Optimizer, cross_validation, model_quality, permutation_importances};
use leafgp::history::History;
use leafgp::problem::Problem;
use leafgp::problem::reading::hint;
use leafgp_study::plot::{
    ConvergenceChart, ImportanceChart, MarkedPoint, Marker, ParallelChart, Predicted, PredictedChart,
    Progress, Surface, SurfaceChart, marked_rows,
};

use crate::failure::Failure;

/// Shuffles of a variable for its permutation importance.
const SHUFFLES: usize = 10;
/// Folds of held-out predictions.
const FOLDS: usize = 5;
/// Best experiments that stand out in parallel coordinates.
const BEST: usize = 5;
/// The charts.
const KINDS: [&str; 5] = ["convergence", "importance", "parallel", "predictions", "surface"];

/// A chart by its name.
pub(crate) fn svg(
    optimizer: &Optimizer,
    kind: &str,
    x: Option<&str>,
    y: Option<&str>,
) -> Result<String, Failure> {
    if kind != "surface" && (x.is_some() || y.is_some()) {
        return Err(Failure::request(format!(
            "x and y are the axes of a surface; {kind:?} has none to choose"
        )));
    }
    match kind {
        "convergence" => Ok(convergence(optimizer)),
        "importance" => importance(optimizer),
        "parallel" => Ok(parallel(optimizer)),
        "predictions" => predictions(optimizer),
        "surface" => surface(optimizer, x, y),
        _ => {
            let kinds = KINDS.join(", ");
            Err(Failure::request(format!(
                "there is no chart {kind:?}{}; expected one of {kinds}",
                hint(kind, KINDS)
            )))
        }
    }
}

fn history(optimizer: &Optimizer) -> History {
    let mut history = History::new();
    history.rows = optimizer.observations().to_vec();
    history
}

fn convergence(optimizer: &Optimizer) -> String {
    let problem = optimizer.problem();
    let progress = Progress::of(problem.name().to_owned(), &history(optimizer));
    let mut chart = ConvergenceChart::new(problem, vec![progress]);
    chart.title = problem.name().to_owned();
    chart.svg()
}

fn parallel(optimizer: &Optimizer) -> String {
    let problem = optimizer.problem();
    let history = history(optimizer);
    ParallelChart { title: problem.name().to_owned(), problem, history: &history, best: BEST }.svg()
}

fn importance(optimizer: &Optimizer) -> Result<String, Failure> {
    let (problem, rows) = (optimizer.problem(), optimizer.observations());
    let quality = model_quality(problem, rows, None)?;
    let shuffled = permutation_importances(problem, rows, SHUFFLES)?;
    let chart = ImportanceChart {
        title: problem.name().to_owned(),
        names: problem.variables().iter().map(|v| v.name.clone()).collect(),
        measures: vec![
            ("gain %".into(), quality.importances.iter().map(|i| 100.0 * i.gain).collect()),
            ("splits".into(), quality.importances.iter().map(|i| i.splits as f64).collect()),
            (format!("error of {} when shuffled", problem.objective().name), shuffled),
        ],
    };
    Ok(chart.svg())
}

fn predictions(optimizer: &Optimizer) -> Result<String, Failure> {
    let problem = optimizer.problem();
    let judged = cross_validation(problem, optimizer.observations(), FOLDS)?;
    let (_, errors) = judged.chooser();
    let chart = PredictedChart {
        title: problem.name().to_owned(),
        objective: problem.objective().name.clone(),
        points: errors.predictions.iter().map(Predicted::from).collect(),
    };
    Ok(chart.svg())
}

/// The trees' prediction over two variables, the others as at the best experiment; the two with the largest gain where they are not given.
fn surface(optimizer: &Optimizer, x: Option<&str>, y: Option<&str>) -> Result<String, Failure> {
    let (problem, rows) = (optimizer.problem(), optimizer.observations());
    if problem.variables().len() < 2 {
        return Err(Failure::request("a surface needs two variables; the problem has one"));
    }
    let chosen = [index(problem, "x", x)?, index(problem, "y", y)?];
    let (x, y) = axes(optimizer, chosen)?;
    let best = optimizer.best();
    let next = optimizer.ask().ok().map(|suggestion| suggestion.point);
    let mut points = marked_rows(problem, rows, best.as_ref().map(|best| best.row));
    let Some(at) = best.map(|best| best.point).or_else(|| next.clone()) else {
        return Err(Failure::new("NoModelError", "there is no feasible point to cut the surface at"));
    };
    if let Some(point) = next {
        let value =
            |(v, &x): (&leafgp::problem::Variable, &f64)| format!("{} = {}", v.name, v.format_value(x));
        let text: Vec<String> = problem.variables().iter().zip(&point).map(value).collect();
        points.push(MarkedPoint {
            marker: Marker::Suggested,
            label: format!("next: {}", text.join(", ")),
            point,
        });
    }
    let surface = Surface::new(problem, rows, x, y, &at)?;
    Ok(SurfaceChart { title: problem.name().to_owned(), surface: &surface, x, y, points }.svg())
}

fn index(problem: &Problem, axis: &str, name: Option<&str>) -> Result<Option<usize>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let names = || problem.variables().iter().map(|v| v.name.as_str());
    let unknown = || {
        let known = names().collect::<Vec<_>>().join(", ");
        Failure::request(format!(
            "{axis}: there is no variable {name:?}{}; there are {known}",
            hint(name, names())
        ))
    };
    problem.index_of(name).map(Some).ok_or_else(unknown)
}

/// The two axes: as given, else the variables with the largest gain.
fn axes(optimizer: &Optimizer, chosen: [Option<usize>; 2]) -> Result<(usize, usize), Failure> {
    let problem = optimizer.problem();
    if let [Some(x), Some(y)] = chosen {
        if x == y {
            return Err(Failure::request(format!("x and y are both {:?}", problem.variables()[x].name)));
        }
        return Ok((x, y));
    }
    let quality = model_quality(problem, optimizer.observations(), None)?;
    let gain = |i: usize| quality.importances[i].gain;
    let mut others: Vec<usize> =
        (0..problem.variables().len()).filter(|i| !chosen.contains(&Some(*i))).collect();
    others.sort_by(|&a, &b| gain(b).total_cmp(&gain(a)).then(a.cmp(&b)));
    Ok(match chosen {
        [Some(x), _] => (x, others[0]),
        [None, Some(y)] => (others[0], y),
        [None, None] => (others[0].min(others[1]), others[0].max(others[1])),
    })
}
