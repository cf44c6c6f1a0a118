//! What holds a point back: bounds that it touches, rules that a small step would break.

use leafgp::problem::{Kind, Problem, Scale};
use leafgp_solver::Domain;
use leafgp_solver::constraints::Tolerance;

/// Size of a step, as a share of the variable's range.
const STEP: f64 = 0.01;
/// A value is at its bound when less than this share of the range is left.
const AT_BOUND: f64 = 1e-6;

/// Why a variable cannot be moved from a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Limit {
    /// The rule, or `None` for the variable's own bound.
    pub(super) rule: Option<String>,
    /// What it forbids: "more bake", "less resin", "solvent: xylene".
    pub(super) forbids: String,
}

/// The limits at a feasible point: every variable is moved by a small step (the next allowed value, each other level) to both sides, and what breaks then is active.
pub(super) fn limits(problem: &Problem, point: &[f64]) -> Vec<Limit> {
    let mut limits = Vec::new();
    let broken_at = |x: &[f64]| problem.constraints().violations(x, Tolerance::Judge);
    // What is off already says nothing about steps.
    let before: Vec<usize> = broken_at(point).iter().map(|v| v.constraint).collect();
    for i in 0..problem.variables().len() {
        if !problem.constraints().is_active(i, point) {
            continue;
        }
        for (value, name) in steps(problem, i, point[i]) {
            let Some(value) = value else {
                limits.push(Limit { rule: None, forbids: name });
                continue;
            };
            let mut moved = point.to_vec();
            moved[i] = value;
            problem.constraints().deactivate(&mut moved);
            for violation in broken_at(&moved) {
                let rule = problem.constraints().name(violation.constraint);
                if !before.contains(&violation.constraint) {
                    limits.push(Limit { rule: Some(rule.to_owned()), forbids: name.clone() });
                }
            }
        }
    }
    limits
}

/// Where a variable can be moved to, in words; `None` beyond its bounds.
fn steps(problem: &Problem, i: usize, x: f64) -> Vec<(Option<f64>, String)> {
    let variable = &problem.variables()[i];
    let name = &variable.name;
    if let Kind::Categorical(levels) = &variable.kind {
        let others = levels.iter().enumerate().filter(|(level, _)| *level as f64 != x);
        return others.map(|(level, text)| (Some(level as f64), format!("{name} {text}"))).collect();
    }
    let domain = variable.domain();
    let (lower, upper) = domain.bounds();
    let step = match variable.scale {
        Scale::Log if x > 0.0 => x * ((upper / lower).powf(STEP) - 1.0),
        _ => STEP * (upper - lower),
    };
    let (less, more) = match domain {
        Domain::Continuous { .. } => {
            // Local searches end a rounding away from a bound.
            let has = |room: f64| room > AT_BOUND * (upper - lower);
            let (less, more) = ((x - step).max(lower), (x + step).min(upper));
            (has(x - lower).then_some(less), has(upper - x).then_some(more))
        }
        _ => (domain.floor(x.next_down()), domain.ceil(x.next_up())),
    };
    vec![(less, format!("less {name}")), (more, format!("more {name}"))]
}
