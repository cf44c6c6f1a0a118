//! Variables as coordinates of the unit cube.

use leafgp_solver::Domain;

/// Coordinates are kept within this distance of the cube: a row of an old table may lie anywhere, and its squared distances must stay finite.
const FARTHEST: f64 = 1e6;

/// The coordinates the process works in: `(x - lower) / (upper - lower)`, of logarithms on a log scale; categories keep their level index.
/// A variable with a single value has none.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinates {
    domains: Vec<Domain>,
    axes: Vec<Axis>,
}

/// One coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    /// Index of its variable.
    pub(super) variable: usize,
    pub(super) kind: AxisKind,
}

/// How a coordinate relates to its variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AxisKind {
    /// From 0 at the smallest value to 1 at the largest.
    Number { lower: f64, upper: f64, log: bool },
    /// The level's index.
    Category,
}

impl Axis {
    /// The coordinate of a value, which may lie outside the domain.
    pub(super) fn coordinate(&self, x: f64) -> f64 {
        match self.kind {
            AxisKind::Category => x,
            AxisKind::Number { lower, upper, log } => {
                // At the ends exactly 0 and 1; halves, so that the widest range does not overflow.
                let u = if log {
                    (x.max(f64::MIN_POSITIVE).ln() - lower.ln()) / (upper.ln() - lower.ln())
                } else {
                    (0.5 * x - 0.5 * lower) / (0.5 * upper - 0.5 * lower)
                };
                u.clamp(-FARTHEST, FARTHEST)
            }
        }
    }

    /// The value at a coordinate; exactly the bounds at 0 and 1 and beyond.
    pub(super) fn value(&self, u: f64) -> f64 {
        match self.kind {
            AxisKind::Category => u,
            AxisKind::Number { lower, upper, .. } if u <= 0.0 || u >= 1.0 => {
                if u <= 0.0 {
                    lower
                } else {
                    upper
                }
            }
            AxisKind::Number { lower, upper, log } => {
                let x = if log {
                    (lower.ln() + u * (upper.ln() - lower.ln())).exp()
                } else {
                    lower * (1.0 - u) + upper * u
                };
                x.clamp(lower, upper)
            }
        }
    }

    /// How much the value grows for a step of the coordinate, at a value of the domain.
    pub(super) fn stretch(&self, x: f64) -> f64 {
        match self.kind {
            AxisKind::Category => 1.0,
            AxisKind::Number { lower, upper, log: true } => x * (upper.ln() - lower.ln()),
            AxisKind::Number { lower, upper, log: false } => upper - lower,
        }
    }

    pub(super) fn is_log(&self) -> bool {
        matches!(self.kind, AxisKind::Number { log: true, .. })
    }

    pub(super) fn is_category(&self) -> bool {
        self.kind == AxisKind::Category
    }
}

impl Coordinates {
    /// Two points whose reals differ by no more (in coordinates) are the same experiment.
    pub const SAME: f64 = 1e-7;

    /// Coordinates of variables over `domains`; `log_scale[i]` asks for the logarithm of variable `i`, whose values must then be positive
    /// (it is not followed otherwise).
    ///
    /// # Panics
    /// When the two differ in length.
    pub fn new(domains: &[Domain], log_scale: &[bool]) -> Self {
        assert_eq!(domains.len(), log_scale.len(), "one scale a variable");
        let axis = |(variable, (domain, &log)): (usize, (&Domain, &bool))| {
            let (lower, upper) = domain.bounds();
            let kind = if domain.is_categorical() {
                AxisKind::Category
            } else {
                AxisKind::Number { lower, upper, log: log && lower > 0.0 }
            };
            (upper > lower).then_some(Axis { variable, kind })
        };
        let axes = domains.iter().zip(log_scale).enumerate().filter_map(axis).collect();
        Self { domains: domains.to_vec(), axes }
    }

    /// Number of variables, which is the length of points.
    pub fn n_variables(&self) -> usize {
        self.domains.len()
    }

    /// Number of coordinates: of variables with more than one value.
    pub fn n_coordinates(&self) -> usize {
        self.axes.len()
    }

    /// The variables' domains.
    pub fn domains(&self) -> &[Domain] {
        &self.domains
    }

    /// The coordinates of a point `x` in variable order, `[n_coordinates]`.
    pub fn of(&self, x: &[f64]) -> Vec<f64> {
        let mut u = Vec::with_capacity(self.axes.len());
        self.write(x, &mut u);
        u
    }

    /// [`Coordinates::of`] into a buffer.
    pub(super) fn write(&self, x: &[f64], u: &mut Vec<f64>) {
        u.clear();
        u.extend(self.axes.iter().map(|axis| axis.coordinate(x[axis.variable])));
    }

    /// The point in variable order at coordinates `u`; variables with one value have it.
    pub(super) fn point(&self, u: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = self.domains.iter().map(|domain| domain.bounds().0).collect();
        for (axis, &u) in self.axes.iter().zip(u) {
            x[axis.variable] = axis.value(u);
        }
        x
    }

    pub(super) fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// True when two points are the same experiment: reals at most [`Coordinates::SAME`] apart, everything else equal. Variables with one value do not count.
    pub fn are_same(&self, a: &[f64], b: &[f64]) -> bool {
        self.axes.iter().all(|axis| {
            let (a, b) = (a[axis.variable], b[axis.variable]);
            match self.domains[axis.variable] {
                Domain::Continuous { .. } => (axis.coordinate(a) - axis.coordinate(b)).abs() <= Self::SAME,
                _ => a == b,
            }
        })
    }

    /// Squared distance of two points in coordinates; two levels are 1 apart.
    pub fn distance_sq(&self, a: &[f64], b: &[f64]) -> f64 {
        let square = |axis: &Axis| {
            let (a, b) = (a[axis.variable], b[axis.variable]);
            if axis.is_category() {
                f64::from(u8::from(a != b))
            } else {
                (axis.coordinate(a) - axis.coordinate(b)).powi(2)
            }
        };
        self.axes.iter().map(square).sum()
    }

    /// The value of a variable that lies `by` coordinates from `x`; `None` outside the bounds, and for a variable without a coordinate or an order.
    pub fn moved(&self, variable: usize, x: f64, by: f64) -> Option<f64> {
        let axis = self.axes.iter().find(|axis| axis.variable == variable && !axis.is_category())?;
        let u = axis.coordinate(x) + by;
        (0.0..=1.0).contains(&u).then(|| axis.value(u))
    }
}

#[cfg(test)]
mod tests {
    use leafgp_solver::{Domain, Grid};

    use super::Coordinates;

    fn continuous(lower: f64, upper: f64) -> Domain {
        Domain::Continuous { lower, upper }
    }

    #[test]
    fn each_kind_has_its_coordinate_and_a_single_value_has_none() {
        let domains = [
            continuous(-1.0, 3.0),
            continuous(2.0, 2.0),
            continuous(1e-4, 1.0),
            Domain::Integer { lower: 2.0, upper: 6.0 },
            Domain::Discrete(vec![0.0, 12.0, 48.0]),
            Domain::Categorical { levels: 3 },
            Domain::Grid(Grid::new(1, 1, 1, 1).unwrap()),
        ];
        let coordinates = Coordinates::new(&domains, &[false, false, true, false, false, false, false]);
        assert_eq!((coordinates.n_variables(), coordinates.n_coordinates()), (7, 5));
        let u = coordinates.of(&[0.0, 2.0, 1e-2, 3.0, 12.0, 2.0, 0.1]);
        assert!((u[1] - 0.5).abs() < 1e-15, "the geometric middle of a log scale: {}", u[1]);
        assert_eq!([u[0], u[2], u[3], u[4]], [0.25, 0.25, 0.25, 2.0]);
    }

    #[test]
    fn values_return_from_their_coordinates_and_the_ends_exactly() {
        let domains = [continuous(-0.1, 0.7), continuous(1e-5, 0.3), continuous(-1e308, 1.7e308)];
        let coordinates = Coordinates::new(&domains, &[false, true, false]);
        for axis in coordinates.axes() {
            let (lower, upper) = domains[axis.variable].bounds();
            assert_eq!((axis.coordinate(lower), axis.coordinate(upper)), (0.0, 1.0));
            assert_eq!((axis.value(0.0), axis.value(1.0)), (lower, upper));
            for k in 0..=100 {
                let u = f64::from(k) / 100.0;
                assert!((axis.coordinate(axis.value(u)) - u).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn the_same_experiment_is_one_whose_reals_are_a_ten_millionth_apart_and_whose_other_values_are_equal() {
        let domains =
            [continuous(0.0, 10.0), Domain::Integer { lower: 0.0, upper: 9e15 }, continuous(2.0, 2.0)];
        let coordinates = Coordinates::new(&domains, &[false; 3]);
        let point = [5.0, 8e15, 2.0];
        assert!(coordinates.are_same(&point, &[5.0 + 0.9e-6, 8e15, 7.0]));
        assert!(!coordinates.are_same(&point, &[5.0 + 1.1e-6, 8e15, 2.0]));
        assert!(!coordinates.are_same(&point, &[5.0, 8e15 + 1.0, 2.0]));
        assert!((coordinates.moved(0, 5.0, 0.1).unwrap() - 6.0).abs() < 1e-12);
        assert_eq!((coordinates.moved(0, 9.5, 0.1), coordinates.moved(2, 2.0, 0.1)), (None, None));
    }

    #[test]
    fn values_outside_have_finite_coordinates_outside_the_cube() {
        let coordinates = Coordinates::new(&[continuous(0.0, 2.0), continuous(1.0, 100.0)], &[false, true]);
        assert_eq!(coordinates.of(&[-1.0, 1e4]), [-0.5, 2.0]);
        for x in [1e300, -1e300, 0.0, f64::MAX] {
            assert!(coordinates.of(&[x, x]).iter().all(|u| u.is_finite()));
        }
    }
}
