//! The model along each variable, through the best point.

use leafgp::engine::{INTERVAL, Importance, Model};
use leafgp::history::Best;
use leafgp::problem::{Problem, Scale, Variable};
use leafgp_solver::Domain;
use leafgp_solver::constraints::Tolerance;

use crate::plot::{SliceAxis, SliceChart};

/// Most slices on a page, of the variables that matter most.
const MOST: usize = 9;
/// Places along a real variable.
const PLACES: usize = 121;
/// Up to this many allowed values have each a place of its own.
const MOST_VALUES: usize = 121;
/// Up to this many allowed values are labels.
const MOST_LABELS: usize = 8;

/// A slice, and whether moving its variable alone breaks an equality everywhere.
pub(super) struct Slice {
    pub(super) chart: SliceChart,
    pub(super) is_tied: bool,
}

/// Slices along the variables, the most important first, all on one vertical axis; and how many variables are left out.
pub(super) fn slices(
    problem: &Problem,
    model: &Model,
    best: &Best,
    importances: &[Importance],
) -> (Vec<Slice>, usize) {
    let mut order: Vec<usize> = (0..problem.variables().len())
        .filter(|&i| problem.constraints().is_active(i, &best.point))
        .filter(|&i| {
            let (lower, upper) = problem.domains()[i].bounds();
            lower < upper
        })
        .collect();
    let gain = |i: usize| importances.get(i).map_or(0.0, |importance| importance.gain);
    order.sort_by(|&a, &b| gain(b).total_cmp(&gain(a)).then(a.cmp(&b)));
    let left_out = order.len().saturating_sub(MOST);
    let mut slices: Vec<Slice> = order.iter().take(MOST).map(|&i| slice(problem, model, best, i)).collect();
    let ends = slices.iter().map(|slice| slice.chart.values());
    let range = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    for slice in &mut slices {
        slice.chart.range = Some(range);
    }
    (slices, left_out)
}

fn slice(problem: &Problem, model: &Model, best: &Best, i: usize) -> Slice {
    let variable = &problem.variables()[i];
    let (values, labels) = places(variable, best.point[i]);
    let mut chart = SliceChart {
        title: variable.name.clone(),
        variable: variable
            .unit
            .as_ref()
            .map_or_else(|| variable.name.clone(), |unit| format!("{} [{unit}]", variable.name)),
        objective: problem.objective().name.clone(),
        axis: match (labels, variable.scale) {
            (true, _) => SliceAxis::Labels(values.iter().map(|&x| variable.format_value(x)).collect()),
            (false, Scale::Log) => SliceAxis::Log,
            (false, Scale::Linear) => SliceAxis::Linear,
        },
        x: Vec::new(),
        mean: Vec::new(),
        half_width: Vec::new(),
        feasible: Vec::new(),
        best: None,
        range: None,
    };
    for (k, &value) in values.iter().enumerate() {
        let mut point = best.point.clone();
        point[i] = value;
        problem.constraints().deactivate(&mut point);
        let Ok(prediction) = model.predict(&point) else { continue };
        chart.x.push(if labels { k as f64 } else { value });
        chart.mean.push(prediction.mean);
        chart.half_width.push(INTERVAL * prediction.std);
        chart.feasible.push(problem.constraints().is_feasible(&point, Tolerance::Judge));
        if value == best.point[i] {
            chart.best = chart.x.last().map(|&x| (x, best.value));
        }
    }
    // Where an equality ties the variable to others, alone it can go nowhere: the hatch would only hide the model.
    let allowed = chart.feasible.iter().filter(|&&allowed| allowed).count();
    let is_tied = allowed <= 1 && chart.x.len() > 2;
    if is_tied {
        chart.feasible.fill(true);
    }
    Slice { chart, is_tied }
}

/// Values along a variable, ascending, the best one among them; and whether they are labels.
fn places(variable: &Variable, best: f64) -> (Vec<f64>, bool) {
    let domain = variable.domain();
    if let Some(levels) = domain.levels() {
        return ((0..levels).map(|level| level as f64).collect(), true);
    }
    let (lower, upper) = domain.bounds();
    let share = |k: usize| k as f64 / (PLACES - 1) as f64;
    let even = |k: usize| match variable.scale {
        Scale::Log => (lower.ln() + share(k) * (upper.ln() - lower.ln())).exp().clamp(lower, upper),
        Scale::Linear => (lower + share(k) * (upper - lower)).clamp(lower, upper),
    };
    let mut values: Vec<f64> = match domain {
        Domain::Continuous { .. } => (0..PLACES).map(even).collect(),
        _ => {
            let mut all = Vec::new();
            let mut next = domain.ceil(lower);
            while let Some(value) = next.filter(|_| all.len() <= MOST_VALUES) {
                all.push(value);
                next = domain.ceil(value.next_up());
            }
            if all.len() > MOST_VALUES {
                all = (0..PLACES).filter_map(|k| domain.nearest(even(k), lower, upper)).collect();
            }
            all
        }
    };
    values.push(best);
    values.sort_by(f64::total_cmp);
    values.dedup();
    let labels = !matches!(domain, Domain::Continuous { .. }) && values.len() <= MOST_LABELS;
    (values, labels)
}
