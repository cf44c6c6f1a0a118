//! Short numbers: reals with few digits where that costs nothing.

use super::descent::Surface;
use super::local::{Local, Place};
use super::repair::Metric;
use super::space::Choice;

/// How far a real may move, as a share of its range.
const REACH: f64 = 1e-6;
/// The same for a real at the edge of a constraint it is meant to touch: only rounding errors go.
const REACH_AT_EDGE: f64 = 1e-10;
/// The acquisition may rise by this share of its magnitude, at least 1.
const LOSS: f64 = 1e-6;
/// Most decimals tried.
const MAX_DECIMALS: i32 = 17;

/// The same point with fewer digits: no real moves by more than a millionth of its range, none off a constraint's edge, and the acquisition stays. An
/// equality moves the reals that are not yet short along.
pub(super) fn shorten<S: Surface>(local: &mut Local<'_, '_, S>, place: Place) -> Place {
    let space = local.space;
    let mut x = place.x.clone();
    let mut held: Vec<usize> = Vec::new();
    let reals = local.repair.reals().to_vec();
    let weights = vec![1.0; reals.len()];
    for &j in &reals {
        let v = space.variable(j);
        let (lower, upper) = space.coordinates.domains()[v].bounds();
        let reach = REACH * (upper - lower);
        let reach = if space.coordinates.axes()[j].is_log() { reach.min(REACH * x[v].abs()) } else { reach };
        let reach = if touches(local, &x, j, reach) { REACH_AT_EDGE * (upper - lower) } else { reach };
        for short in roundings(x[v], reach) {
            let mut trial = x.clone();
            trial[v] = short;
            held.push(j);
            let repaired = if space.is_feasible(&trial) {
                Some(trial)
            } else {
                local.repair.nearest(&trial, Metric::Diagonal(&weights), &held)
            };
            let near = repaired.filter(|found| found[v] == short && is_near(local, found, &place.x));
            if let Some(found) = near {
                x = found;
                break;
            }
            held.pop();
        }
    }
    match local.value(x) {
        Some(short) if short.value <= place.value + LOSS * place.value.abs().max(1.0) => short,
        _ => place,
    }
}

/// Whether a real cannot move by `reach` either way without violating a constraint, equalities not counted.
fn touches<S: Surface>(local: &Local<'_, '_, S>, x: &[f64], j: usize, reach: f64) -> bool {
    let space = local.space;
    let Choice::Real { lower, upper } = space.choices[j] else { return true };
    let v = space.variable(j);
    let (lowest, highest) = (space.real_value(j, lower), space.real_value(j, upper));
    [x[v] - reach, x[v] + reach].into_iter().any(|value| {
        let mut moved = x.to_vec();
        moved[v] = value.clamp(lowest, highest);
        let violations = space.constraints.violations(&moved, leafgp_solver::constraints::Tolerance::Produce);
        violations.iter().any(|violation| !local.repair.is_equality(violation.constraint))
    })
}

/// Whether no real moved by more than its reach, and nothing else moved.
fn is_near<S: Surface>(local: &Local<'_, '_, S>, a: &[f64], b: &[f64]) -> bool {
    let space = local.space;
    (0..space.n_coordinates()).all(|j| {
        let v = space.variable(j);
        let axis = space.coordinates.axes()[j];
        match space.choices[j] {
            Choice::Real { .. } => (axis.coordinate(a[v]) - axis.coordinate(b[v])).abs() <= REACH,
            _ => a[v] == b[v],
        }
    })
}

/// Decimals near `x`, from the fewest digits on; at most two of each length, the nearer first.
fn roundings(x: f64, reach: f64) -> impl Iterator<Item = f64> {
    // Fewer decimals than the reach allows cannot be near, except by chance.
    let coarsest = (-MAX_DECIMALS..=MAX_DECIMALS).flat_map(move |decimals| {
        let scale = 10f64.powi(decimals.abs());
        let (scaled, back): (f64, fn(f64, f64) -> f64) =
            if decimals >= 0 { (x * scale, |n, s| n / s) } else { (x / scale, |n, s| n * s) };
        let (down, up) = (back(scaled.floor(), scale), back(scaled.ceil(), scale));
        if x - down <= up - x { [down, up] } else { [up, down] }
    });
    coarsest.filter(move |short| (short - x).abs() <= reach)
}
