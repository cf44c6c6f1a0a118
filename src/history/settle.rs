//! Values as people and balances give them, beside values as the problem states them.

use leafgp_solver::Domain;

/// Relative difference up to which two texts mean the same number: a spreadsheet's 0.30000000000000004 is 0.3.
const SAME_NUMBER: f64 = 1e-12;
/// The same on a grid, as a share of its step.
const SAME_STEP: f64 = 1e-9;

/// The width of a grid's step.
pub(super) fn step(domain: &Domain) -> Option<f64> {
    let Domain::Grid(grid) = domain else { return None };
    let (_, step, digits) = grid.numerators();
    Some(step as f64 / 10f64.powi(digits as i32))
}

/// The allowed value nearest to `x`.
fn nearest(domain: &Domain, x: f64) -> Option<f64> {
    let (lower, upper) = domain.bounds();
    if domain.is_categorical() { None } else { domain.nearest(x.clamp(lower, upper), lower, upper) }
}

/// `x`, or the allowed value that it is but for rounding.
pub(super) fn settled(domain: &Domain, x: f64) -> f64 {
    if domain.contains(x) {
        return x;
    }
    let Some(value) = nearest(domain, x) else { return x };
    let relative = SAME_NUMBER * x.abs().max(value.abs());
    let tolerance = step(domain).map_or(relative, |step| relative.min(0.5 * step).max(SAME_STEP * step));
    if (x - value).abs() <= tolerance { value } else { x }
}

/// How far a measured value may lie from the allowed ones: half a step on a grid, where it was weighed and not set; nothing elsewhere.
pub(super) fn is_in_reach(domain: &Domain, x: f64) -> bool {
    let Some(step) = step(domain) else { return domain.contains(x) };
    let (lower, upper) = domain.bounds();
    let reach = step * (0.5 + SAME_STEP);
    lower - reach <= x && x <= upper + reach
}

/// How far a value lies from the nearest allowed one; 0 for an allowed one and for categories.
pub(super) fn distance(domain: &Domain, x: f64) -> f64 {
    nearest(domain, x).map_or(0.0, |value| (x - value).abs())
}

#[cfg(test)]
mod tests {
    use super::{distance, is_in_reach, settled};
    use leafgp_solver::{Domain, Grid};

    fn grid() -> Domain {
        // 0, 0.1, ..., 0.7
        Domain::Grid(Grid::new(0, 1, 1, 8).unwrap())
    }

    #[test]
    fn rounding_is_taken_back_and_measured_deviations_stay() {
        assert_eq!(settled(&grid(), 0.1 + 0.2), 0.3);
        assert_eq!(settled(&grid(), -1e-17), 0.0);
        assert_eq!(settled(&grid(), 0.31), 0.31);
        assert_eq!(settled(&Domain::Discrete(vec![0.1, 0.3]), 0.1 + 0.2), 0.3);
        assert_eq!(settled(&Domain::Discrete(vec![1e-12, 2e-12]), 1.5e-12), 1.5e-12);
        let unit = Domain::Continuous { lower: 0.0, upper: 1.0 };
        assert_eq!(settled(&unit, 1.0f64.next_up()), 1.0);
        assert_eq!(settled(&unit, 1.0 + 1e-9), 1.0 + 1e-9);
        assert_eq!(settled(&Domain::Integer { lower: 1.0, upper: 9.0 }, 4.000_000_1), 4.000_000_1);
        let tiny = Domain::Grid(Grid::new(0, 1, 12, 8).unwrap());
        assert_eq!(settled(&tiny, 1.3e-12), 1.3e-12);
    }

    #[test]
    fn a_grid_reaches_half_a_step_beyond_its_ends_and_other_domains_do_not() {
        for (x, expected) in [(0.34, true), (-0.05, true), (0.75, true), (-0.06, false), (0.76, false)] {
            assert_eq!(is_in_reach(&grid(), x), expected, "{x}");
        }
        assert!(!is_in_reach(&Domain::Integer { lower: 1.0, upper: 9.0 }, 1.5));
        assert!(!is_in_reach(&Domain::Continuous { lower: 0.0, upper: 1.0 }, 1.000_001));
        assert!((distance(&grid(), 0.34) - 0.04).abs() < 1e-15 && distance(&grid(), 0.3) == 0.0);
    }
}
