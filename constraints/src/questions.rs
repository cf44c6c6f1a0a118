//! What can be asked about the points of a box: what it contracts to, whether one is feasible, which is nearest, which fill it.

use rand::Rng;

use crate::answer::{Decision, Projection};
use crate::constraints::Constraints;
use crate::design::Design;
use crate::domain::Domain;
use crate::limits::Limits;
use crate::propagate::Propagator;
use crate::region::{Range, Region};
use crate::search::{Search, Workspace};

/// A real whose feasible range is a smaller share of its domain than this is measured by that range.
const THIN: f64 = 0.01;
/// A real with less than this share of its size left is at one value, but for rounding.
pub(crate) const ROUNDING: f64 = 1e-12;

impl Constraints {
    /// The room that points have: the domains, and of a real of which contraction leaves less than a hundredth, what it leaves. The digits of a printed point and
    /// the distance that makes two points different are relative to it.
    pub fn room(&self) -> Region {
        let mut room = Region::full(&self.domains);
        let mut contracted = room.clone();
        if self.contract(&mut contracted) {
            for ((domain, range), left) in self.domains.iter().zip(&mut room.0).zip(contracted.0) {
                if is_thin(domain, &left) {
                    *range = left;
                }
            }
        }
        room
    }

    /// Shrinks a box without losing a feasible point; false when it is proved to hold none.
    #[must_use]
    pub fn contract(&self, region: &mut Region) -> bool {
        self.with_workspace(|work| work.propagator.contract(self, region, None))
    }

    /// Decides whether a box holds a feasible point.
    pub fn decide(&self, region: &Region, limits: Limits) -> Decision {
        let centre: Vec<f64> = region.0.iter().map(middle).collect();
        self.with_workspace(|work| Search::new(self, work, &centre, limits, true).thorough().decision(region))
    }

    /// The feasible point of a box nearest to `centre` in `sum ((x_i - c_i) / range_i)^2 + number of changed categories`, to a relative
    /// `gap` (Eq. 11).
    pub fn project(&self, region: &Region, centre: &[f64], gap: f64, limits: Limits) -> Projection {
        let finite = |(&c, range): (&f64, &Range)| if c.is_finite() { c } else { middle(range) };
        let centre: Vec<f64> = centre.iter().zip(&region.0).map(finite).collect();
        self.with_workspace(|work| {
            Search::new(self, work, &centre, limits, false).thorough().projection(region, gap)
        })
    }

    /// The same point in short decimals: continuous coordinates are rounded to about four digits of their range (or of their value, where
    /// that is finer), to more digits where the constraints or the box need them. Feasible, and within the box, whenever `x` is.
    pub fn shorten(&self, x: &[f64], region: &Region) -> Vec<f64> {
        self.with_workspace(|work| Search::new(self, work, x, Limits::default(), true).shorten(x, region))
    }

    /// `n` feasible points that fill the space, away from the points in `existing`. `log_scale[i]` asks for a spread on the
    /// logarithmic scale of variable `i`. Fewer than `n` points only when there are no more distinct ones or the limits ran out.
    ///
    /// Each free direction and each alternative of the constraints gets its share, and the coordinates are short decimals.
    pub fn design(
        &self,
        n: usize,
        existing: &[Vec<f64>],
        log_scale: &[bool],
        rng: &mut impl Rng,
        limits: Limits,
    ) -> Vec<Vec<f64>> {
        self.with_workspace(|work| Design::new(self, work, existing, log_scale, limits).points(n, rng))
    }

    fn with_workspace<T>(&self, f: impl FnOnce(&mut Workspace) -> T) -> T {
        self.pool.with(|| Workspace::new(&self.model, &self.domains), f)
    }
}

impl Propagator {
    /// Memory for a set of constraints.
    pub fn new(constraints: &Constraints) -> Self {
        Self::for_model(&constraints.model, &constraints.domains)
    }

    /// Shrinks a box without losing a feasible point; false when it is proved to hold none. With `changed`, only what follows from these
    /// variables is propagated: the box must have been contracted before they changed.
    #[must_use]
    pub fn contract(
        &mut self,
        constraints: &Constraints,
        region: &mut Region,
        changed: Option<&[usize]>,
    ) -> bool {
        self.contract_model(&constraints.model, &constraints.domains, region, changed)
    }
}

/// Whether a box leaves a real less than a hundredth of its domain, but more than a rounding.
fn is_thin(domain: &Domain, range: &Range) -> bool {
    let (l, u) = domain.bounds();
    match *range {
        Range::Interval { lower, upper } => {
            !domain.is_discrete() && upper - lower < THIN * (u - l) && !is_one_value(domain, range, ROUNDING)
        }
        Range::Levels(_) => false,
    }
}

/// Whether a box leaves a real nothing but a share of its size.
pub(crate) fn is_one_value(domain: &Domain, range: &Range, share: f64) -> bool {
    let (l, u) = domain.bounds();
    match *range {
        Range::Interval { lower, upper } => {
            let size = lower.abs().max(upper.abs()).max(0.1 * (u - l));
            !domain.is_discrete() && upper - lower <= share * size
        }
        Range::Levels(_) => false,
    }
}

/// The range that the digits of a real are relative to: its domain's, or what a box leaves of it when that is thin.
pub(crate) fn digits_range(domain: &Domain, range: &Range) -> f64 {
    let (l, u) = domain.bounds();
    match *range {
        Range::Interval { lower, upper } if is_thin(domain, range) => upper - lower,
        _ => u - l,
    }
}

/// The middle of an interval, the first of some levels.
fn middle(range: &Range) -> f64 {
    match range {
        Range::Interval { lower, upper } => 0.5 * lower + 0.5 * upper,
        Range::Levels(levels) => levels.first().unwrap_or(0) as f64,
    }
}
