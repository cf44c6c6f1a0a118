//! Checks and preparation of the training data.

use leafgp_solver::Domain;

use super::error::GbdtError;
use crate::Table;

/// Largest number of rows: row numbers are stored in 32 bits.
const MAX_ROWS: usize = u32::MAX as usize;
/// Targets are rounded to single precision, as LightGBM keeps them, while their magnitude is at most this multiple of their
/// spread; beyond that the rounding would show.
const MAGNITUDE_PER_SPREAD: f64 = 16.0;
/// Targets whose largest magnitude is outside this range are scaled by a power of two, so that squares of sums stay finite.
const PLAIN_MAGNITUDES: std::ops::RangeInclusive<f64> = 1e-30..=1e30;

/// Checks table, domains, targets and weights; `allow_missing` admits NaN in the table.
pub(super) fn check(
    x: &Table,
    domains: &[Domain],
    y: &[f64],
    weights: Option<&[f64]>,
    allow_missing: bool,
) -> Result<(), GbdtError> {
    let n_rows = x.n_rows();
    if n_rows == 0 {
        return Err(GbdtError::NoRows);
    }
    if n_rows > MAX_ROWS {
        return Err(GbdtError::TooManyRows { n_rows, limit: MAX_ROWS });
    }
    let same_length = |what, expected, found| {
        if expected == found { Ok(()) } else { Err(GbdtError::Length { what, expected, found }) }
    };
    same_length("the list of domains", x.n_cols(), domains.len())?;
    same_length("the list of targets", n_rows, y.len())?;
    for (row, values) in x.rows().enumerate() {
        for (column, (&value, domain)) in values.iter().zip(domains).enumerate() {
            if let Some(problem) = value_problem(value, domain, allow_missing) {
                return Err(GbdtError::Value { row, column, value, problem });
            }
        }
    }
    if let Some(row) = y.iter().position(|target| !target.is_finite()) {
        return Err(GbdtError::Target { row, value: y[row] });
    }
    if let Some(weights) = weights {
        same_length("the list of weights", n_rows, weights.len())?;
        let is_bad = |weight: &f64| !(0.0..=1e30).contains(weight);
        if let Some(row) = weights.iter().position(is_bad) {
            return Err(GbdtError::Weight { row, value: weights[row] });
        }
        if weights.iter().all(|&weight| weight as f32 == 0.0) {
            return Err(GbdtError::Weight { row: 0, value: weights[0] });
        }
    }
    Ok(())
}

fn value_problem(value: f64, domain: &Domain, allow_missing: bool) -> Option<&'static str> {
    if value.is_nan() {
        return (!allow_missing).then_some("is missing; expected a number");
    }
    match domain {
        Domain::Categorical { levels } => {
            let is_level = value >= 0.0 && value.fract() == 0.0 && value < *levels as f64;
            (!is_level).then_some("is no level of the category")
        }
        _ => (!value.is_finite()).then_some("is infinite; expected a finite number"),
    }
}

/// Targets as the losses see them: `scale` times the given ones (a power of two, nearly always 1), perhaps in single precision.
#[derive(Debug)]
pub(super) struct Targets {
    pub(super) values: Vec<f64>,
    pub(super) scale: f64,
}

impl Targets {
    /// `weights` count because gradients, kept in single precision, are products with them.
    pub(super) fn new(y: &[f64], weights: Option<&[f64]>) -> Self {
        let magnitude = y.iter().fold(0.0f64, |largest, target| largest.max(target.abs()));
        let heaviest = weights.into_iter().flatten().fold(1.0f64, |heaviest, &weight| heaviest.max(weight));
        let reach = if magnitude < 1.0 { magnitude } else { magnitude * heaviest };
        let scale = if magnitude == 0.0 || PLAIN_MAGNITUDES.contains(&reach) {
            1.0
        } else {
            // 2^-exponent itself must stay within the range of f64.
            let exponent = reach.log2().clamp(-1000.0, 1000.0).floor() as i32;
            2.0f64.powi(-exponent)
        };
        let mut values: Vec<f64> = y.iter().map(|target| target * scale).collect();
        let (smallest, largest) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
        if magnitude * scale <= MAGNITUDE_PER_SPREAD * (largest - smallest) {
            for value in &mut values {
                *value = f64::from(*value as f32);
            }
        }
        Self { values, scale }
    }
}

/// Weights in single precision; `None` when every one is 1.
pub(super) fn single_weights(weights: Option<&[f64]>) -> Option<Vec<f32>> {
    weights
        .filter(|weights| weights.iter().any(|&weight| weight != 1.0))
        .map(|weights| weights.iter().map(|&weight| weight as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::{Targets, check};
    use crate::Table;
    use leafgp_solver::Domain;

    #[test]
    fn each_fault_is_named() {
        let domains = [Domain::Continuous { lower: 0.0, upper: 1.0 }, Domain::Categorical { levels: 2 }];
        let good = Table::from_rows(2, &[[0.5, 1.0], [0.25, 0.0]]);
        assert_eq!(check(&good, &domains, &[1.0, 2.0], Some(&[1.0, 0.0]), false), Ok(()));
        let with = |a: f64, b: f64| Table::from_rows(2, &[[0.5, 1.0], [a, b]]);
        let cases = [
            (check(&Table::new(2), &domains, &[], None, false), "no rows"),
            (check(&good, &domains[..1], &[1.0, 2.0], None, false), "domains has length 1; expected 2"),
            (check(&good, &domains, &[1.0], None, false), "targets has length 1; expected 2"),
            (check(&good, &domains, &[1.0, f64::NAN], None, false), "row 1: the target is NaN"),
            (check(&good, &domains, &[1.0, 2.0], Some(&[1.0]), false), "weights has length 1"),
            (check(&good, &domains, &[1.0, 2.0], Some(&[1.0, -1.0]), false), "row 1: the weight is -1"),
            (check(&good, &domains, &[1.0, 2.0], Some(&[0.0, 0.0]), false), "the weight is 0"),
            (
                check(&with(f64::NAN, 0.0), &domains, &[1.0, 2.0], None, false),
                "row 1, column 0: the value NaN",
            ),
            (check(&with(f64::INFINITY, 0.0), &domains, &[1.0, 2.0], None, true), "is infinite"),
            (check(&with(0.5, 2.0), &domains, &[1.0, 2.0], None, true), "no level"),
            (check(&with(0.5, 0.5), &domains, &[1.0, 2.0], None, true), "no level"),
        ];
        for (result, expected) in cases {
            let message = result.unwrap_err().to_string();
            assert!(message.contains(expected), "{message:?} should contain {expected:?}");
        }
        assert_eq!(check(&with(f64::NAN, f64::NAN), &domains, &[1.0, 2.0], None, true), Ok(()));
    }

    #[test]
    fn targets_keep_what_single_precision_would_lose() {
        assert_eq!(Targets::new(&[0.1, 2.0], None).values, [f64::from(0.1f32), 2.0]);
        let offset = [1e6 + 0.001, 1e6];
        assert_eq!(Targets::new(&offset, None).values, offset);
        let huge = Targets::new(&[1e300, -1e300], None);
        assert!(huge.values[0].abs() < 2.0 && (huge.values[0] / huge.scale - 1e300).abs() < 1e293);
        let tiny = Targets::new(&[1e-310, -1e-310], None);
        assert!(tiny.values[0] > 0.0 && tiny.scale.is_finite());
        let heavy = Targets::new(&[1e20, -1e20], Some(&[1e30, 1.0]));
        assert!(heavy.values[0] * 1e30 <= 2.0, "gradients times weights fit single precision");
    }
}
