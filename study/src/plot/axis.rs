//! Axes: from values to pixels, and where the ticks stand.

use leafgp::problem::format_significant;

/// How values are spread along an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scale {
    /// Evenly.
    Linear { lower: f64, upper: f64 },
    /// By their logarithm; both ends are positive.
    Log { lower: f64, upper: f64 },
    /// One band of equal width for each label; value `i` is the middle of band `i`.
    Bands(Vec<String>),
}

/// An axis on the screen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) scale: Scale,
    /// Pixel of the lower end.
    pub(super) from: f64,
    /// Pixel of the upper end; smaller than `from` on a vertical axis.
    pub(super) to: f64,
}

/// A tick: where (pixel) and what it says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
}

impl Scale {
    /// A linear scale over a range of data with a margin (share of the range) at both ends. A range without extent or without any number is widened.
    pub(super) fn linear_around(lower: f64, upper: f64, margin: f64) -> Self {
        let (lower, upper) = widened(lower, upper);
        let pad = margin * (0.5 * upper - 0.5 * lower) * 2.0;
        let (padded_lower, padded_upper) = (lower - pad, upper + pad);
        let finite = padded_lower.is_finite() && padded_upper.is_finite();
        let (lower, upper) = if finite { (padded_lower, padded_upper) } else { (lower, upper) };
        Self::Linear { lower, upper }
    }

    /// A logarithmic scale over a range of positive data; see [`Scale::linear_around`].
    pub(super) fn log_around(lower: f64, upper: f64, margin: f64) -> Self {
        if !(lower > 0.0 && upper.is_finite() && lower <= upper) {
            return Self::Log { lower: 1.0, upper: 10.0 };
        }
        if lower == upper {
            return Self::Log {
                lower: (lower / 2.0).max(f64::MIN_POSITIVE),
                upper: (upper * 2.0).min(f64::MAX),
            };
        }
        let pad = margin * (upper.ln() - lower.ln());
        Self::Log {
            lower: (lower.ln() - pad).exp().max(f64::MIN_POSITIVE),
            upper: (upper.ln() + pad).exp().min(f64::MAX),
        }
    }
}

/// Ends that are finite and apart.
fn widened(lower: f64, upper: f64) -> (f64, f64) {
    if !(lower.is_finite() && upper.is_finite() && lower <= upper) {
        return (0.0, 1.0);
    }
    if lower < upper && 0.5 * upper - 0.5 * lower > 1e-14 * lower.abs().max(upper.abs()) {
        return (lower, upper);
    }
    let pad = if lower == 0.0 { 1.0 } else { 0.1 * lower.abs() };
    ((lower - pad).max(f64::MIN), (upper + pad).min(f64::MAX))
}

impl Axis {
    /// The pixel of a value; on a band scale the value is a band's index (halves reach its edges). Values outside land outside; on a log scale, what is not
    /// positive lands at the lower end.
    pub(super) fn position(&self, value: f64) -> f64 {
        let share = match &self.scale {
            // Halves keep ranges up to the largest numbers finite.
            Scale::Linear { lower, upper } => (0.5 * value - 0.5 * lower) / (0.5 * upper - 0.5 * lower),
            Scale::Log { lower, .. } if value <= 0.0 || value < *lower && value < f64::MIN_POSITIVE => 0.0,
            Scale::Log { lower, upper } => (value.ln() - lower.ln()) / (upper.ln() - lower.ln()),
            Scale::Bands(labels) => (value + 0.5) / labels.len().max(1) as f64,
        };
        self.from + share * (self.to - self.from)
    }

    /// Length in pixels.
    pub(super) fn length(&self) -> f64 {
        (self.to - self.from).abs()
    }

    /// Ticks at least about `spacing` pixels apart, in ascending order of value.
    pub(super) fn ticks(&self, spacing: f64) -> Vec<Tick> {
        let most = ((self.length() / spacing) as usize).clamp(2, 12);
        let values = match &self.scale {
            Scale::Linear { lower, upper } => linear_ticks(*lower, *upper, most),
            Scale::Log { lower, upper } => log_ticks(*lower, *upper, most),
            Scale::Bands(labels) => {
                let step = labels.len().div_ceil(((self.length() / spacing) as usize).max(1)).max(1);
                let shown = labels.iter().enumerate().step_by(step);
                return shown
                    .map(|(i, label)| Tick { at: self.position(i as f64), label: label.clone() })
                    .collect();
            }
        };
        let labels = tick_labels(&values);
        values.iter().zip(labels).map(|(&value, label)| Tick { at: self.position(value), label }).collect()
    }
}

/// Multiples of 1, 2 or 5 times a power of ten within a range, at most `most + 1`.
pub(super) fn linear_ticks(lower: f64, upper: f64, most: usize) -> Vec<f64> {
    let span = 0.5 * upper - 0.5 * lower;
    let rough = span / most.max(1) as f64 * 2.0;
    if !(rough.is_finite() && rough > 0.0) {
        return vec![lower, upper];
    }
    let power = rough.log10().floor() as i32;
    let candidates = [1.0, 2.0, 5.0, 10.0].map(|factor| decimal(factor, power));
    let step = candidates.into_iter().find(|&step| step >= rough * (1.0 - 1e-9)).unwrap_or(candidates[3]);
    let (first, last) = ((lower / step - 1e-9).ceil(), (upper / step + 1e-9).floor());
    let count = (last - first).clamp(0.0, 2.0 * most as f64 + 2.0) as usize;
    // Dividing by a power of ten gives the decimal that is meant; multiplying by 0.1 would not.
    (0..=count)
        .map(|i| {
            let multiple = first + i as f64;
            let value = if power < 0 {
                multiple * (step * 10f64.powi(-power)).round() / 10f64.powi(-power)
            } else {
                multiple * step
            };
            value + 0.0
        })
        .filter(|value| value.is_finite())
        .collect()
}

fn decimal(factor: f64, power: i32) -> f64 {
    if power < 0 { factor / 10f64.powi(-power) } else { factor * 10f64.powi(power) }
}

/// Powers of ten within a range (with 2 and 5 between them while there are few); linear ticks inside a single decade.
fn log_ticks(lower: f64, upper: f64, most: usize) -> Vec<f64> {
    let (first, last) = (lower.log10().floor() as i32, upper.log10().ceil() as i32);
    let inside = |x: f64| x >= lower * (1.0 - 1e-9) && x <= upper * (1.0 + 1e-9);
    let decades: Vec<f64> = (first..=last).map(|p| decimal(1.0, p)).filter(|&x| inside(x)).collect();
    if decades.len() > most {
        return decades.iter().copied().step_by(decades.len().div_ceil(most)).collect();
    }
    let with_factors = |factors: &[f64]| -> Vec<f64> {
        (first..=last)
            .flat_map(|p| factors.iter().map(move |&f| decimal(f, p)))
            .filter(|&x| inside(x))
            .collect()
    };
    let finer = with_factors(&[1.0, 2.0, 5.0]);
    if decades.len() <= 2 && finer.len() >= 3 {
        finer
    } else if decades.len() >= 2 {
        decades
    } else {
        linear_ticks(lower, upper, most.min(5)).into_iter().filter(|&x| x > 0.0).collect()
    }
}

/// Labels with as many decimals as tell the values apart, all in one notation.
pub(super) fn tick_labels(values: &[f64]) -> Vec<String> {
    let largest = values.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
    let smallest = values.iter().map(|v| v.abs()).filter(|&v| v > 0.0).fold(f64::INFINITY, f64::min);
    let plain = largest < 1e6 && (smallest >= 1e-4 || smallest.is_infinite());
    if plain {
        for decimals in 0..=6 {
            let exact = |v: &f64| {
                let text = format!("{v:.decimals$}");
                text.parse::<f64>().is_ok_and(|back| (back - v).abs() <= 1e-9 * largest.max(1e-300))
            };
            // On a logarithmic axis each value has its own number of decimals.
            let spread = largest / smallest > 50.0 && smallest < 1.0;
            if values.iter().all(exact) && !spread {
                return values.iter().map(|v| format!("{:.decimals$}", v + 0.0)).collect();
            }
        }
        return values.iter().map(|&v| short(v)).collect();
    }
    values.iter().map(|&v| scientific(v)).collect()
}

fn scientific(x: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    let text = format!("{x:.5e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
            format!("{mantissa}e{exponent}")
        }
        None => text,
    }
}

/// A number in at most five significant digits, for hover texts and single labels.
pub(super) fn short(x: f64) -> String {
    if !x.is_finite() {
        return "-".to_owned();
    }
    if x != 0.0 && !(1e-4..1e6).contains(&x.abs()) {
        return scientific(x);
    }
    format_significant(x, 5)
}

#[cfg(test)]
mod tests {
    use super::{Axis, Scale, linear_ticks, log_ticks, short, tick_labels};
    use approx::assert_relative_eq;
    use proptest::prelude::{ProptestConfig, any, proptest};

    #[test]
    fn ticks_are_round_decimals() {
        assert_eq!(linear_ticks(0.0, 1.0, 5), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(linear_ticks(-5.0, 10.0, 6), [-5.0, 0.0, 5.0, 10.0]);
        assert_eq!(linear_ticks(0.33, 1.02, 8), [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]);
        assert_eq!(linear_ticks(0.0, 2.5e7, 5), [0.0, 5e6, 1e7, 1.5e7, 2e7, 2.5e7]);
    }

    #[test]
    fn log_ticks_are_powers_of_ten_or_finer() {
        assert_eq!(log_ticks(1e-5, 1e-1, 8), [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]);
        assert_eq!(log_ticks(1.0, 30.0, 8), [1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(log_ticks(1e-30, 1e30, 6).len(), 6);
        assert!(log_ticks(3.0, 4.0, 6).len() >= 3);
    }

    #[test]
    fn labels_share_their_decimals() {
        assert_eq!(tick_labels(&[0.0, 0.5, 1.0]), ["0.0", "0.5", "1.0"]);
        assert_eq!(tick_labels(&[-5.0, 0.0, 5.0]), ["-5", "0", "5"]);
        assert_eq!(tick_labels(&[0.001, 0.1, 10.0]), ["0.001", "0.1", "10"]);
        assert_eq!(tick_labels(&[0.0, 1e7, 2e7]), ["0", "1e7", "2e7"]);
    }

    #[test]
    fn values_reach_their_pixels() {
        let axis = Axis { scale: Scale::Linear { lower: -5.0, upper: 10.0 }, from: 100.0, to: 400.0 };
        assert_relative_eq!(axis.position(-5.0), 100.0);
        assert_relative_eq!(axis.position(2.5), 250.0);
        let log = Axis { scale: Scale::Log { lower: 0.01, upper: 100.0 }, from: 300.0, to: 100.0 };
        assert_relative_eq!(log.position(1.0), 200.0);
        assert_relative_eq!(log.position(0.0), 300.0);
        let bands = Axis { scale: Scale::Bands(vec!["a".into(), "b".into()]), from: 0.0, to: 100.0 };
        assert_relative_eq!(bands.position(1.0), 75.0);
        assert_eq!(bands.ticks(20.0).iter().map(|t| t.label.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn numbers_for_people() {
        for (x, text) in
            [(0.0, "0"), (-1.04739389, "-1.0474"), (123456.7, "123457"), (1e-9, "1e-9"), (2e6, "2e6")]
        {
            assert_eq!(short(x), text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn any_range_has_finitely_many_finite_ticks_inside(a in any::<f64>(), b in any::<f64>()) {
            for scale in [Scale::linear_around(a.min(b), a.max(b), 0.05), Scale::log_around(a.min(b), a.max(b), 0.05)] {
                let axis = Axis { scale, from: 0.0, to: 300.0 };
                let ticks = axis.ticks(40.0);
                assert!(ticks.len() <= 30, "{axis:?}: {ticks:?}");
                for tick in ticks {
                    assert!((-0.5..=300.5).contains(&tick.at), "{axis:?}: {tick:?}");
                }
            }
        }
    }
}
