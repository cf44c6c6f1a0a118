//! Decimal grids from the numbers a user writes.

use leafgp_solver::Grid;

use super::ProblemError;
use super::number::format_number;

/// `digits * 10^-places`, the exact value of a number's shortest decimal text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal {
    digits: i128,
    places: u32,
}

impl Decimal {
    /// `None` for more than 15 decimals or a magnitude of 2^53 and more.
    fn new(x: f64) -> Option<Self> {
        if !x.is_finite() || x.abs() >= 9_007_199_254_740_992.0 {
            return None;
        }
        // Display of an f64 is its shortest text, without an exponent.
        let text = format!("{x}");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let places = u32::try_from(fraction.len()).ok().filter(|&places| places <= Grid::MAX_DIGITS)?;
        Some(Self { digits: format!("{whole}{fraction}").parse().ok()?, places })
    }

    /// The digits at `places` decimals, not fewer than its own.
    fn at(self, places: u32) -> i128 {
        self.digits * 10_i128.pow(places - self.places)
    }
}

/// The grid `lower + k * step` up to `upper`; its last value is `upper` or the last one below it.
pub(super) fn decimal_grid(lower: f64, upper: f64, step: f64) -> Result<Grid, ProblemError> {
    let decimal = |field: &str, x: f64| {
        Decimal::new(x).ok_or_else(|| {
            let message = format!("{} is no decimal that a grid can hold exactly", format_number(x));
            ProblemError::new(field, message, "at most 15 decimals, below 2^53")
        })
    };
    let (first, last, width) =
        (decimal("bounds[0]", lower)?, decimal("bounds[1]", upper)?, decimal("step", step)?);
    if step <= 0.0 {
        return Err(ProblemError::new(
            "step",
            format!("{} is not positive", format_number(step)),
            "a step above 0",
        ));
    }
    if lower > upper {
        let message = format!(
            "the lower bound {} is above the upper bound {}",
            format_number(lower),
            format_number(upper)
        );
        return Err(ProblemError::new("bounds", message, "[lower, upper]"));
    }
    let places = first.places.max(width.places);
    let finest = places.max(last.places);
    let steps = (last.at(finest) - first.at(finest)) / width.at(finest);
    // The same bound twice is a constant, and meant.
    if steps < 1 && lower < upper {
        let message = format!("a step of {} leaves a single value", format_number(step));
        return Err(ProblemError::new("step", message, "a step that fits between the bounds"));
    }
    let grid = i64::try_from(first.at(places))
        .ok()
        .zip(i64::try_from(width.at(places)).ok())
        .and_then(|(first, width)| Grid::new(first, width, places, u64::try_from(steps + 1).ok()?));
    grid.ok_or_else(|| {
        let message = format!("a step of {} is too fine for these bounds", format_number(step));
        ProblemError::new("step", message, "values of at most 15 significant digits")
    })
}

#[cfg(test)]
mod tests {
    use super::decimal_grid;

    #[test]
    fn grids_are_exact_decimals() {
        let grid = decimal_grid(0.1, 0.6, 0.05).unwrap();
        assert_eq!(grid.numerators(), (10, 5, 2));
        assert_eq!((grid.count(), grid.value(4), grid.value(10)), (11, 0.3, 0.6));
        let coarse = decimal_grid(-1.0, 2.2, 1.5).unwrap();
        assert_eq!((coarse.count(), coarse.value(0), coarse.value(2)), (3, -1.0, 2.0));
        let tiny = decimal_grid(0.0, 1e-6, 1e-7).unwrap();
        assert_eq!((tiny.count(), tiny.value(3)), (11, 3e-7));
        let whole = decimal_grid(10.0, 100.0, 5.0).unwrap();
        assert_eq!(whole.numerators(), (10, 5, 0));
    }

    #[test]
    fn an_upper_bound_off_the_grid_ends_it_below() {
        let grid = decimal_grid(0.0, 1.0, 0.3).unwrap();
        assert_eq!(grid.value(grid.count() - 1), 0.9);
    }

    #[test]
    fn the_same_bound_twice_is_a_constant() {
        let grid = decimal_grid(0.3, 0.3, 0.1).unwrap();
        assert_eq!((grid.count(), grid.value(0)), (1, 0.3));
    }

    #[test]
    fn each_fault_names_its_field() {
        for (lower, upper, step, field) in [
            (0.0, 1.0, 0.0, "step"),
            (0.0, 1.0, -0.1, "step"),
            (0.0, 1.0, f64::NAN, "step"),
            (0.0, 1.0, 2.0, "step"),
            (0.0, 1.0, 1.0 / 3.0, "step"),
            (1.0 / 3.0, 1.0, 0.1, "bounds[0]"),
            (0.0, f64::INFINITY, 0.1, "bounds[1]"),
            (1.0, 0.0, 0.1, "bounds"),
            (0.0, 1e15, 1e-3, "step"),
        ] {
            let error = decimal_grid(lower, upper, step).unwrap_err();
            assert_eq!(error.field, field, "{error}");
            assert!(!error.expected.is_empty(), "{error}");
        }
    }
}
