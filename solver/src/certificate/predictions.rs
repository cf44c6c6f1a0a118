//! What libraries predict where the sums of their trees lie in a range, from the data of a statement alone.

use crate::forest::Forest;
use crate::learned::{LeafSum, SumLink};

use super::values::Values;

/// Relative error of a link that the library computes in f32.
const SINGLE: f64 = 4e-6;
/// Relative error of a link in f64: the standard functions and the operations around them.
const DOUBLE: f64 = 16.0 * f64::EPSILON;

fn apply(link: SumLink, sum: f64) -> f64 {
    match link {
        SumLink::Identity => sum,
        SumLink::Logistic { scale } => 1.0 / (1.0 + (-scale * sum).exp()),
        SumLink::Exp => sum.exp(),
        SumLink::SignedSquare => sum.signum() * sum * sum,
        SumLink::Softplus => sum.exp().ln_1p(),
        SumLink::Step => f64::from(u8::from(sum > 0.0)),
    }
}

/// The predictions where the exact sum lies in `sums`.
pub(super) fn enclose(sum: &LeafSum, sums: Values) -> Values {
    let end = |raw: f64, up: bool| {
        let sign = if up { 1.0 } else { -1.0 };
        let raw = raw + sign * sum.rounding;
        let raw = if up { raw.next_up() } else { raw.next_down() };
        let value = apply(sum.link, raw);
        let mut error = match sum.link {
            SumLink::Identity | SumLink::Step => 0.0,
            _ => DOUBLE * value.abs() + f64::MIN_POSITIVE,
        };
        if sum.link != SumLink::Identity && !sum.is_double {
            error += 1.001 * SINGLE * value.abs() + f64::from(f32::MIN_POSITIVE);
        }
        let wide = value + sign * error;
        // What f32 does not hold becomes infinite there.
        if !sum.is_double && wide.abs() > 0.999 * f64::from(f32::MAX) { sign * f64::INFINITY } else { wide }
    };
    Values::new(end(sums.low, false), end(sums.high, true))
}

/// The same for a range from one number to another.
pub(crate) fn predicted(sum: &LeafSum, (low, high): (f64, f64)) -> (f64, f64) {
    let values = enclose(sum, Values { low, high });
    (values.low, values.high)
}

/// What the sum can be when each tree has one of the leaves given for it (their coefficients); nothing where a tree has none.
pub(super) fn range<T: IntoIterator<Item = f64>>(
    sum: &LeafSum,
    trees: impl IntoIterator<Item = T>,
) -> Values {
    let mut range = Values::point(sum.constant);
    for tree in trees {
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for a in tree {
            (min, max) = (min.min(a), max.max(a));
        }
        range = Values { low: (range.low + min).next_down(), high: (range.high + max).next_up() };
    }
    range
}

/// What the sum can be at all.
pub(super) fn whole_range(sum: &LeafSum, forest: &Forest) -> Values {
    let leaves = |t| sum.linear[forest.leaf_offset(t)..forest.leaf_offset(t + 1)].iter().copied();
    range(sum, (0..forest.n_trees()).map(leaves))
}

#[cfg(test)]
mod tests {
    use super::{enclose, range};
    use crate::certificate::values::Values;
    use crate::learned::{LeafSum, SumLink};

    fn sum(link: SumLink, rounding: f64, is_double: bool) -> LeafSum {
        LeafSum { constant: 1.0, linear: Vec::new(), link, rounding, is_double }
    }

    #[test]
    fn enclosures_by_hand() {
        let at = |link, is_double, x| enclose(&sum(link, 0.5, is_double), Values::point(x));
        let holds = |values: Values, low: f64, high: f64, within: f64| {
            assert!(values.low <= low && values.high >= high, "{values:?}");
            assert!(low - values.low <= within && values.high - high <= within, "{values:?}");
        };
        holds(at(SumLink::Identity, false, 3.0), 2.5, 3.5, 1e-15);
        holds(at(SumLink::SignedSquare, true, -3.0), -12.25, -6.25, 1e-12);
        holds(at(SumLink::Exp, false, 0.0), (-0.5f64).exp(), 0.5f64.exp(), 1e-5);
        holds(at(SumLink::Step, true, 0.0), 0.0, 1.0, 0.0);
        let logistic = |x: f64| 1.0 / (1.0 + (-2.0 * x).exp());
        holds(at(SumLink::Logistic { scale: 2.0 }, true, 1.0), logistic(0.5), logistic(1.5), 1e-14);
        holds(at(SumLink::Softplus, true, 0.0), (-0.5f64).exp().ln_1p(), 0.5f64.exp().ln_1p(), 1e-14);
        // Beyond f32.
        assert_eq!(at(SumLink::Exp, false, 100.0).high, f64::INFINITY);
        assert!(at(SumLink::Exp, true, 100.0).high.is_finite());
    }

    #[test]
    fn sums_range_over_the_leaves_of_each_tree() {
        let sum = sum(SumLink::Identity, 0.0, true);
        let values = range(&sum, [vec![0.1, -0.2], vec![0.3]]);
        assert!(values.low < 1.1 && values.low > 1.1 - 1e-14, "{values:?}");
        assert!(values.high > 1.4 && values.high < 1.4 + 1e-14, "{values:?}");
    }
}
