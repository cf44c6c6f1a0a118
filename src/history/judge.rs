//! Whether a measured point keeps the rules, with the tolerance of the scale that it was measured on.

use leafgp_solver::constraints::{Tolerance, Violation};

use crate::problem::{Decimals, Problem};

use super::settle::{distance, is_in_reach};

/// How a point stands to the problem's rules.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Judgement {
    /// Variables outside their box or list, or more than half a step from their grid, with the distance to the nearest allowed value.
    pub outside: Vec<(usize, f64)>,
    /// Constraints that are violated beyond the tolerance; empty when a variable is outside, where constraints are not defined.
    pub violations: Vec<Violation>,
    /// Variables beside their grid but within half a step, with the distance.
    pub beside: Vec<(usize, f64)>,
    /// Constraints that hold within the tolerance only.
    pub nearly: Vec<Violation>,
}

/// Judges a point as measured: half a step on grids, `equality_tolerance` of the settings for equalities and 1e-6 for inequalities, both relative to the size of
/// the rule's terms ([`Tolerance`]). Suggestions are held to far stricter ones.
///
/// ```
/// use leafgp::history::judge;
/// use leafgp::problem::{Problem, Variable};
///
/// let mixture = Problem::builder("mixture")
///     .variable(Variable::continuous("a", 0.0, 1.0))
///     .variable(Variable::continuous("b", 0.0, 1.0))
///     .constraint("all", "a + b == 1")
///     .build()?;
/// assert!(judge(&mixture, &[0.5, 0.4995]).violations.is_empty());
/// assert_eq!(judge(&mixture, &[0.5, 0.4]).violations.len(), 1);
/// # Ok::<(), leafgp::problem::ProblemError>(())
/// ```
pub fn judge(problem: &Problem, point: &[f64]) -> Judgement {
    let mut judgement = Judgement::default();
    for (i, (domain, &x)) in problem.constraints().domains().iter().zip(point).enumerate() {
        if let Some(Decimals { lower, upper, .. }) = problem.variables()[i].decimals {
            // Decimals are how a suggestion is set, not what may be measured.
            if !(lower..=upper).contains(&x) {
                judgement.outside.push((i, (lower - x).max(x - upper)));
            }
        } else if !is_in_reach(domain, x) {
            judgement.outside.push((i, distance(domain, x)));
        } else if !domain.contains(x) {
            judgement.beside.push((i, distance(domain, x)));
        }
    }
    if !judgement.outside.is_empty() {
        return judgement;
    }
    let rows = Tolerance::Rows { equality: problem.settings().equality_tolerance };
    judgement.violations = problem.constraints().violations(point, rows);
    // What rounding does to a suggestion is not worth a word.
    judgement.nearly = problem.constraints().violations(point, Tolerance::Rounded);
    judgement.nearly.retain(|near| judgement.violations.iter().all(|far| far.constraint != near.constraint));
    judgement
}
