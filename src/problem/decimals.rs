//! Real numbers that a person sets with so many decimals.

use leafgp_solver::Grid;

use super::ProblemError;
use super::number::format_number;

/// Largest numerator of a grid.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// Numbers of so many decimals within bounds.
///
/// To the models and the search they are a grid. Unlike one with a step it does not begin at the lower bound, and what was measured may lie between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decimals {
    /// Number of decimals, at most 15.
    pub places: u32,
    /// Smallest value, of measured rows too.
    pub lower: f64,
    /// Largest value, of measured rows too.
    pub upper: f64,
}

impl Decimals {
    /// The numbers of so many decimals within the bounds, ascending.
    pub(super) fn grid(self) -> Result<Grid, ProblemError> {
        let Self { places, lower, upper } = self;
        if places > Grid::MAX_DIGITS {
            let message = format!("{places} decimals are more than f64 can hold");
            return Err(ProblemError::new("decimals", message, "a whole number from 0 to 15"));
        }
        let scale = 10f64.powi(places as i32);
        let too_many = || {
            let message = format!("{places} decimals are too many for these bounds");
            ProblemError::new("decimals", message, "values of at most 15 significant digits")
        };
        // Beyond, neighbours are no longer distinct.
        if !(lower.abs() * scale < LARGEST && upper.abs() * scale < LARGEST) {
            return Err(too_many());
        }
        // The products are rounded: the ends are looked for among the numbers themselves.
        let value = |k: f64| k / scale;
        let (mut first, mut last) = ((lower * scale).round(), (upper * scale).round());
        while value(first) < lower {
            first += 1.0;
        }
        while value(last) > upper {
            last -= 1.0;
        }
        if first > last {
            let message = format!(
                "no number of {places} decimals lies between {} and {}",
                format_number(lower),
                format_number(upper)
            );
            return Err(ProblemError::new("decimals", message, "more decimals, or wider bounds"));
        }
        Grid::new(first as i64, 1, places, (last - first) as u64 + 1).ok_or_else(too_many)
    }

    /// The number with so many decimals; with all that it has where it has more.
    pub(super) fn format(self, x: f64) -> String {
        // Adding zero turns -0 into 0.
        let text = format!("{:.*}", self.places as usize, x + 0.0);
        if text.parse() == Ok(x) { text } else { format_number(x) }
    }

    /// What a value looks like, for messages; `or_zero` is the interval beside 0.
    pub(super) fn expected(self, or_zero: Option<[f64; 2]>) -> String {
        let ([lower, upper], zero) = match or_zero {
            Some(interval) => (interval, "0 or "),
            None => ([self.lower, self.upper], ""),
        };
        let (lower, upper) = (format_number(lower), format_number(upper));
        match self.places {
            0 => format!("{zero}a number in [{lower}, {upper}] without decimals"),
            1 => format!("{zero}a number in [{lower}, {upper}] with one decimal"),
            places => format!("{zero}a number in [{lower}, {upper}] with {places} decimals"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Decimals;

    fn ends(places: u32, lower: f64, upper: f64) -> (f64, f64, u64) {
        let grid = Decimals { places, lower, upper }.grid().unwrap();
        (grid.value(0), grid.value(grid.count() - 1), grid.count())
    }

    #[test]
    fn the_grid_holds_the_numbers_of_so_many_decimals_within_the_bounds() {
        assert_eq!(ends(1, 0.25, 8.0), (0.3, 8.0, 78));
        assert_eq!(ends(1, 0.3, 0.7), (0.3, 0.7, 5));
        assert_eq!(ends(2, -0.015, 0.015), (-0.01, 0.01, 3));
        assert_eq!(ends(0, 19.5, 20.4), (20.0, 20.0, 1));
        assert_eq!(ends(3, 1.0 / 3.0, 2.0 / 3.0), (0.334, 0.666, 333));
        for (places, lower, upper) in
            [(16, 0.0, 1.0), (1, 0.21, 0.29), (15, 0.0, 100.0), (0, f64::NAN, 1.0), (0, 0.0, 1e300)]
        {
            let error = Decimals { places, lower, upper }.grid().unwrap_err();
            assert_eq!(error.field, "decimals", "{error}");
        }
    }

    #[test]
    fn numbers_have_their_decimals_and_finer_ones_all_of_them() {
        let one = Decimals { places: 1, lower: -5.0, upper: 5.0 };
        let shown = [3.0, 0.1 + 0.2, 1.83, -0.0, -0.5, 0.3].map(|x| one.format(x));
        assert_eq!(shown, ["3.0", "0.30000000000000004", "1.83", "0.0", "-0.5", "0.3"]);
    }
}
