//! Noise that is a function of the point.

/// A number that looks like a draw of the standard normal distribution, the same for the same point: the bits of the coordinates are mixed
/// (splitmix64), two uniform numbers come from them, and one normal number from those (Box and Muller 1958).
pub(super) fn standard_normal(x: &[f64]) -> f64 {
    let mut state = x.iter().fold(0, |state, v| mixed(state ^ v.to_bits()));
    let mut uniform = || {
        state = mixed(state);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let (a, b) = (uniform(), uniform());
    (-2.0 * (1.0 - a).ln()).sqrt() * (2.0 * std::f64::consts::PI * b).cos()
}

/// One step of splitmix64 (Steele, Lea and Flood 2014).
fn mixed(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::standard_normal;

    #[test]
    fn moments_are_those_of_the_normal_distribution() {
        let draws: Vec<f64> = (0..20_000).map(|i| standard_normal(&[f64::from(i) * 0.1, 3.0])).collect();
        let moment = |k: i32| draws.iter().map(|z| z.powi(k)).sum::<f64>() / draws.len() as f64;
        // Four standard errors of each: 1, sqrt 2, sqrt 15, sqrt 96 over sqrt 20,000.
        for (k, expected, allowed) in [(1, 0.0, 0.028), (2, 1.0, 0.04), (3, 0.0, 0.11), (4, 3.0, 0.28)] {
            assert!((moment(k) - expected).abs() < allowed, "moment {k}: {}", moment(k));
        }
        assert_eq!(standard_normal(&[0.3, -2.0]), standard_normal(&[0.3, -2.0]));
    }
}
