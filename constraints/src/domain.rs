//! What values a variable may take.

use crate::interval::{ceil, floor};

/// The allowed values of one variable. A point is a `&[f64]` in variable order; a category stands as its level index.
///
/// ```
/// use leafgp_constraints::Domain;
///
/// let dose = Domain::Discrete(vec![0.0, 12.0, 24.0, 48.0]);
/// assert!(dose.contains(24.0) && !dose.contains(25.0));
/// assert_eq!(dose.within(10.0, 30.0), Some((12.0, 24.0)));
/// assert_eq!(dose.nearest(40.0, 0.0, 30.0), Some(24.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// Every f64 in `[lower, upper]`.
    Continuous {
        /// Smallest value.
        lower: f64,
        /// Largest value.
        upper: f64,
    },
    /// Every whole number in `[lower, upper]`; both are whole and at most 2^53 in magnitude.
    Integer {
        /// Smallest value.
        lower: f64,
        /// Largest value.
        upper: f64,
    },
    /// `lower + k * step`, exact decimals.
    Grid(Grid),
    /// The listed numbers, strictly ascending.
    Discrete(Vec<f64>),
    /// Unordered levels `0..levels`.
    Categorical {
        /// Number of levels.
        levels: usize,
    },
}

/// The decimal grid `(first + k * step) / 10^digits` for `k` in `0..count`: each value is the f64 nearest to the decimal
/// (one correctly rounded division), so `0.1 + 4 * 0.05` is `0.3` and prints as such.
///
/// ```
/// use leafgp_constraints::Grid;
///
/// // 0.10, 0.15, ..., 0.60
/// let grid = Grid::new(10, 5, 2, 11).expect("small numbers");
/// assert_eq!(grid.value(4), 0.3);
/// assert_ne!(0.1 + 4.0 * 0.05, 0.3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    first: i64,
    step: i64,
    digits: u32,
    count: u64,
}

impl Grid {
    /// Largest number of decimals a grid may have: up to here `10^digits` is exact in f64.
    pub const MAX_DIGITS: u32 = 15;

    /// A grid from whole multiples of `10^-digits`. `None` unless `step > 0`, `count > 0`, `digits <= 15` and every numerator stays
    /// below 2^53, the condition for exact values.
    pub fn new(first: i64, step: i64, digits: u32, count: u64) -> Option<Self> {
        const LIMIT: i128 = 1 << 53;
        let last = i128::from(first) + i128::from(step) * (i128::from(count) - 1);
        let valid = step > 0
            && count > 0
            && digits <= Self::MAX_DIGITS
            && i128::from(first).abs() < LIMIT
            && last.abs() < LIMIT;
        valid.then_some(Self { first, step, digits, count })
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The grid's numerators: value `k` is `(first + k * step) / 10^digits`.
    pub fn numerators(&self) -> (i64, i64, u32) {
        (self.first, self.step, self.digits)
    }

    /// Value number `k`, `k < count`.
    pub fn value(&self, k: u64) -> f64 {
        debug_assert!(k < self.count, "grid index beyond the last value");
        (self.first + self.step * k as i64) as f64 / 10f64.powi(self.digits as i32)
    }

    /// Number of values `<= x`.
    fn rank(&self, x: f64) -> u64 {
        let scale = 10f64.powi(self.digits as i32);
        let guess = ((x * scale - self.first as f64) / self.step as f64).floor() + 1.0;
        let mut rank = guess.clamp(0.0, self.count as f64) as u64;
        while rank < self.count && self.value(rank) <= x {
            rank += 1;
        }
        while rank > 0 && self.value(rank - 1) > x {
            rank -= 1;
        }
        rank
    }
}

/// Why a domain was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}; expected {expected}")]
pub struct DomainError {
    /// What is wrong.
    pub message: String,
    /// What was expected.
    pub expected: &'static str,
}

impl Domain {
    /// Most levels of a category.
    pub const MAX_LEVELS: usize = 1 << 20;

    /// Every number in `[lower, upper]`.
    ///
    /// ```
    /// use leafgp_constraints::Domain;
    /// assert_eq!(Domain::continuous(0.0, 1.0)?.bounds(), (0.0, 1.0));
    /// assert!(Domain::continuous(0.0, f64::NAN).is_err());
    /// # Ok::<(), leafgp_constraints::DomainError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Domain::check`].
    pub fn continuous(lower: f64, upper: f64) -> Result<Self, DomainError> {
        Self::Continuous { lower, upper }.checked()
    }

    /// Every whole number in `[lower, upper]`.
    ///
    /// # Errors
    /// As [`Domain::check`].
    pub fn integer(lower: f64, upper: f64) -> Result<Self, DomainError> {
        Self::Integer { lower, upper }.checked()
    }

    /// The listed numbers.
    ///
    /// # Errors
    /// As [`Domain::check`].
    pub fn discrete(values: impl Into<Vec<f64>>) -> Result<Self, DomainError> {
        Self::Discrete(values.into()).checked()
    }

    /// Unordered levels `0..levels`.
    ///
    /// # Errors
    /// As [`Domain::check`].
    pub fn categorical(levels: usize) -> Result<Self, DomainError> {
        Self::Categorical { levels }.checked()
    }

    fn checked(self) -> Result<Self, DomainError> {
        self.check().map(|()| self)
    }

    /// Checks that the domain is what its variant says and holds at least one value: [`Grid`]s always are, the other variants can be written by hand.
    ///
    /// # Errors
    /// A bound or value that is not finite, a lower bound above the upper one, a whole-number bound that is not whole or beyond 2^53, a list that is empty or not
    /// strictly ascending, no level or more than [`Domain::MAX_LEVELS`].
    pub fn check(&self) -> Result<(), DomainError> {
        let refuse = |message: String, expected| Err(DomainError { message, expected });
        if let Self::Continuous { lower, upper } | Self::Integer { lower, upper } = self
            && !(lower <= upper && (upper - lower).is_finite())
        {
            return refuse(
                format!("the bounds are {lower} and {upper}"),
                "finite numbers, the lower one first",
            );
        }
        match self {
            Self::Integer { lower, upper } => {
                const LARGEST: f64 = 9_007_199_254_740_992.0;
                match [lower, upper].into_iter().find(|b| b.fract() != 0.0 || b.abs() > LARGEST) {
                    Some(bound) => {
                        refuse(format!("the bound is {bound}"), "a whole number of at most 2^53 in magnitude")
                    }
                    None => Ok(()),
                }
            }
            Self::Discrete(values) if values.is_empty() => {
                refuse("the list of values is empty".into(), "at least one")
            }
            Self::Discrete(values) => {
                let ascending = values.windows(2).all(|pair| pair[0] < pair[1]);
                if ascending && values.iter().all(|value| value.is_finite()) {
                    return Ok(());
                }
                refuse("the listed values are not in order".into(), "finite numbers, strictly ascending")
            }
            Self::Categorical { levels } if !(1..=Self::MAX_LEVELS).contains(levels) => {
                refuse(format!("there are {levels} levels"), "at least one and at most 2^20")
            }
            Self::Continuous { .. } | Self::Grid(_) | Self::Categorical { .. } => Ok(()),
        }
    }

    /// True for an unordered set of levels.
    pub fn is_categorical(&self) -> bool {
        matches!(self, Self::Categorical { .. })
    }

    /// True when the values are separate points: everything but [`Domain::Continuous`].
    pub fn is_discrete(&self) -> bool {
        !matches!(self, Self::Continuous { .. })
    }

    /// Number of levels of a category.
    pub fn levels(&self) -> Option<usize> {
        match self {
            Self::Categorical { levels } => Some(*levels),
            _ => None,
        }
    }

    /// Smallest and largest value; for a category, of the level indices. Without any value, the first is larger than the second.
    pub fn bounds(&self) -> (f64, f64) {
        match self {
            Self::Continuous { lower, upper } | Self::Integer { lower, upper } => (*lower, *upper),
            Self::Grid(grid) => (grid.value(0), grid.value(grid.count - 1)),
            Self::Discrete(values) => match (values.first(), values.last()) {
                (Some(&first), Some(&last)) => (first, last),
                _ => (f64::INFINITY, f64::NEG_INFINITY),
            },
            Self::Categorical { levels } => (0.0, *levels as f64 - 1.0),
        }
    }

    /// True when `x` is exactly an allowed value.
    pub fn contains(&self, x: f64) -> bool {
        self.ceil(x) == Some(x)
    }

    /// The smallest allowed value `>= x`, if there is one. NaN has none.
    pub fn ceil(&self, x: f64) -> Option<f64> {
        let (lower, upper) = self.bounds();
        if x.is_nan() || x > upper {
            return None;
        }
        let x = x.max(lower);
        match self {
            Self::Continuous { .. } => Some(x),
            Self::Integer { .. } | Self::Categorical { .. } => Some(ceil(x)),
            Self::Grid(grid) => {
                let rank = grid.rank(x);
                if rank > 0 && grid.value(rank - 1) == x { Some(x) } else { Some(grid.value(rank)) }
            }
            Self::Discrete(values) => values.get(values.partition_point(|&v| v < x)).copied(),
        }
    }

    /// The largest allowed value `<= x`, if there is one. NaN has none.
    pub fn floor(&self, x: f64) -> Option<f64> {
        let (lower, upper) = self.bounds();
        if x.is_nan() || x < lower {
            return None;
        }
        let x = x.min(upper);
        match self {
            Self::Continuous { .. } => Some(x),
            Self::Integer { .. } | Self::Categorical { .. } => Some(floor(x)),
            Self::Grid(grid) => Some(grid.value(grid.rank(x) - 1)),
            Self::Discrete(values) => {
                values.get(values.partition_point(|&v| v <= x).checked_sub(1)?).copied()
            }
        }
    }

    /// The smallest and largest allowed value in the closed interval `[lower, upper]`; `None` when there is none.
    pub fn within(&self, lower: f64, upper: f64) -> Option<(f64, f64)> {
        let (first, last) = match self {
            // Without a search for allowed values.
            Self::Continuous { lower: l, upper: u } if !lower.is_nan() && !upper.is_nan() => {
                (lower.max(*l), upper.min(*u))
            }
            _ => (self.ceil(lower)?, self.floor(upper)?),
        };
        (first <= last).then_some((first, last))
    }

    /// The allowed value in `[lower, upper]` nearest to `x`; the smaller of two at equal distance. `None` when there is none.
    pub fn nearest(&self, x: f64, lower: f64, upper: f64) -> Option<f64> {
        let (first, last) = self.within(lower, upper)?;
        let x = x.clamp(first, last);
        if matches!(self, Self::Continuous { .. }) && !x.is_nan() {
            return Some(x);
        }
        let (below, above) = (self.floor(x)?, self.ceil(x)?);
        Some(if above - x < x - below { above } else { below })
    }
}

#[cfg(test)]
mod tests {
    use super::{Domain, Grid};

    #[test]
    fn grid_values_are_the_decimals_that_print() {
        let grid = Grid::new(10, 5, 2, 11).unwrap();
        let printed: Vec<String> = (0..11).map(|k| grid.value(k).to_string()).collect();
        assert_eq!(printed[4], "0.3");
        assert_eq!(printed[10], "0.6");
        let domain = Domain::Grid(grid);
        assert!(domain.contains(0.3) && !domain.contains(0.1 + 4.0 * 0.05));
        assert_eq!(domain.nearest(0.326, 0.0, 1.0), Some(0.35));
        assert_eq!(domain.within(0.31, 0.34), None);
    }

    #[test]
    fn rounding_agrees_with_a_scan_of_the_values() {
        let values = vec![-2.5, 0.0, 0.1, 7.0];
        let grid = Grid::new(-25, 5, 1, 9).unwrap();
        let cases = [
            (Domain::Discrete(values.clone()), values),
            (Domain::Grid(grid), (0..9).map(|k| grid.value(k)).collect()),
            (Domain::Integer { lower: -3.0, upper: 2.0 }, (-3..=2).map(f64::from).collect()),
        ];
        for (domain, values) in cases {
            for i in -700..800 {
                let x = f64::from(i) * 0.01;
                assert_eq!(domain.ceil(x), values.iter().copied().find(|&v| v >= x), "{domain:?} {x}");
                assert_eq!(domain.floor(x), values.iter().copied().rev().find(|&v| v <= x), "{domain:?} {x}");
                assert_eq!(domain.contains(x), values.contains(&x));
            }
        }
    }

    #[test]
    fn domains_without_a_value_or_an_order_are_refused_and_harmless() {
        let interval = |lower, upper| Domain::Continuous { lower, upper };
        let whole = |lower, upper| Domain::Integer { lower, upper };
        let (nan, infinite) = (f64::NAN, f64::INFINITY);
        for (domain, expected) in [
            (interval(1.0, 0.0), "lower one first"),
            (interval(nan, 0.0), "NaN"),
            (interval(0.0, infinite), "finite"),
            (interval(-1e308, 1e308), "finite"),
            (whole(0.5, 2.0), "whole"),
            (whole(0.0, 1e17), "2^53"),
            (whole(3.0, 2.0), "lower one first"),
            (Domain::Discrete(vec![]), "empty"),
            (Domain::Discrete(vec![1.0, 1.0]), "ascending"),
            (Domain::Discrete(vec![2.0, 1.0]), "ascending"),
            (Domain::Discrete(vec![nan]), "finite"),
            (Domain::Categorical { levels: 0 }, "at least one"),
            (Domain::Categorical { levels: usize::MAX }, "2^20"),
        ] {
            let error = domain.check().unwrap_err().to_string();
            assert!(error.contains(expected), "{domain:?}: {error}");
            for x in [nan, -infinite, -1.0, 0.0, 1.5, 2.0, infinite] {
                let (lower, upper) = domain.bounds();
                // Whatever they say of a domain that holds nothing, they say it.
                let _ = (
                    domain.ceil(x),
                    domain.floor(x),
                    domain.nearest(x, lower, upper),
                    domain.within(x, upper),
                );
            }
        }
        for domain in [
            Domain::continuous(2.0, 2.0),
            Domain::integer(-3.0, 4.0),
            Domain::discrete([0.5]),
            Domain::categorical(1),
        ] {
            assert!(domain.unwrap().check().is_ok());
        }
    }

    #[test]
    fn an_interval_without_an_integer_holds_nothing() {
        let domain = Domain::Integer { lower: 0.0, upper: 9.0 };
        assert_eq!(domain.within(3.2, 3.9), None);
        assert_eq!(domain.within(3.0, 3.0), Some((3.0, 3.0)));
        assert_eq!(domain.within(9.5, 20.0), None);
        assert_eq!(domain.ceil(f64::NAN), None);
    }
}
