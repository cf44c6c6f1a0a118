//! Boxes: an interval or a set of levels for each variable.

use crate::domain::Domain;
use crate::level_set::LevelSet;

/// The part of one variable's domain that a box keeps.
///
/// ```
/// use leafgp_constraints::{Domain, LevelSet, Range};
///
/// assert_eq!(Range::full(&Domain::Integer { lower: 1.0, upper: 6.0 }), Range::Interval { lower: 1.0, upper: 6.0 });
/// let some = Range::Levels(LevelSet::from_indices(3, [0, 2]));
/// assert!(some.contains(2.0) && !some.contains(1.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Range {
    /// Allowed values in the closed interval. A half-open cell `(t, u]` is written `[t.next_up(), u]`, the same set of f64.
    Interval {
        /// Smallest value, attained.
        lower: f64,
        /// Largest value, attained.
        upper: f64,
    },
    /// The levels a category may still take.
    Levels(LevelSet),
}

impl Range {
    /// The whole domain.
    pub fn full(domain: &Domain) -> Self {
        match domain {
            Domain::Categorical { levels } => Self::Levels(LevelSet::full(*levels)),
            _ => {
                let (lower, upper) = domain.bounds();
                Self::Interval { lower, upper }
            }
        }
    }

    /// True when the value (or level index) lies in the range. The domain's own membership is not tested.
    pub fn contains(&self, x: f64) -> bool {
        match self {
            Self::Interval { lower, upper } => *lower <= x && x <= *upper,
            Self::Levels(set) => x >= 0.0 && x.fract() == 0.0 && set.contains(x as usize),
        }
    }

    /// True when the range is a single value of an interval or a single level.
    pub fn is_fixed(&self) -> bool {
        match self {
            Self::Interval { lower, upper } => lower == upper,
            Self::Levels(set) => set.len() == 1,
        }
    }

    /// True when nothing is left.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Interval { lower, upper } => lower > upper,
            Self::Levels(set) => set.is_empty(),
        }
    }
}

/// A box: one [`Range`] for each variable, in variable order.
///
/// ```
/// use leafgp_constraints::{Domain, Range, Region};
///
/// let domains = [Domain::Continuous { lower: 0.0, upper: 1.0 }, Domain::Categorical { levels: 3 }];
/// let mut region = Region::full(&domains);
/// region.0[0] = Range::Interval { lower: 0.25, upper: 0.5 };
/// assert!(region.contains(&[0.3, 2.0]) && !region.contains(&[0.6, 2.0]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Region(pub Vec<Range>);

impl Region {
    /// The whole space.
    pub fn full(domains: &[Domain]) -> Self {
        Self(domains.iter().map(Range::full).collect())
    }

    /// The boxes that together hold all values of one variable but `value`: what is excluded where that variable is fixed. Any other value of the
    /// variable's domain lies in exactly one of them; there is none where the domain has but this value.
    ///
    /// ```
    /// use leafgp_constraints::{Domain, Region};
    ///
    /// let domains = [Domain::Continuous { lower: 0.0, upper: 1.0 }, Domain::Categorical { levels: 3 }];
    /// let excludes = |variable, value, x: &[f64]| Region::all_but(&domains, variable, value).iter().any(|r| r.contains(x));
    /// assert!(!excludes(0, 0.5, &[0.5, 2.0]) && excludes(0, 0.5, &[0.5f64.next_up(), 2.0]) && excludes(0, 0.5, &[0.0, 1.0]));
    /// assert!(!excludes(1, 2.0, &[0.1, 2.0]) && excludes(1, 2.0, &[0.1, 0.0]));
    /// assert_eq!((Region::all_but(&domains, 0, 0.0).len(), Region::all_but(&domains, 1, 0.0).len()), (1, 1));
    /// ```
    pub fn all_but(domains: &[Domain], variable: usize, value: f64) -> Vec<Self> {
        let without = |range: Range| {
            let mut region = Self::full(domains);
            region.0[variable] = range;
            region
        };
        if let Some(levels) = domains[variable].levels() {
            let others = LevelSet::from_indices(levels, (0..levels).filter(|&level| level as f64 != value));
            return if levels > 1 { vec![without(Range::Levels(others))] } else { Vec::new() };
        }
        let (lower, upper) = domains[variable].bounds();
        let below = (value > lower).then(|| without(Range::Interval { lower, upper: value.next_down() }));
        let above = (value < upper).then(|| without(Range::Interval { lower: value.next_up(), upper }));
        below.into_iter().chain(above).collect()
    }

    /// What both boxes hold. A category's levels must be counted alike.
    ///
    /// ```
    /// use leafgp_constraints::{Range, Region};
    ///
    /// let interval = |lower, upper| Region(vec![Range::Interval { lower, upper }]);
    /// assert_eq!(interval(0.0, 2.0).within(&interval(1.0, 3.0)), interval(1.0, 2.0));
    /// ```
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        let both = |(a, b): (&Range, &Range)| match (a, b) {
            (Range::Interval { lower, upper }, Range::Interval { lower: least, upper: most }) => {
                Range::Interval { lower: lower.max(*least), upper: upper.min(*most) }
            }
            (Range::Levels(levels), Range::Levels(others)) => {
                let mut levels = levels.clone();
                levels.intersect_with(others);
                Range::Levels(levels)
            }
            _ => a.clone(),
        };
        Self(self.0.iter().zip(&other.0).map(both).collect())
    }

    /// True when every coordinate lies in its range.
    pub fn contains(&self, x: &[f64]) -> bool {
        self.0.len() == x.len() && self.0.iter().zip(x).all(|(range, &v)| range.contains(v))
    }
}
