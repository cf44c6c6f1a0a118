//! Where f32 comparisons cut the f64 line.

/// The largest f64 `x` with `x as f32 <= t`: what a library that keeps its inputs in f32 sends to the left of `x <= t`. Conversion rounds to
/// nearest, ties to even. `t` must not be NaN; for minus infinity the answer is the largest f64 that overflows to it.
pub(crate) fn last_at_most(t: f32) -> f64 {
    if t == f32::INFINITY {
        return f64::INFINITY;
    }
    // The next f32 above starts at the middle of the two or just after it. Beyond the largest f32 it would stand at 2^128.
    let above = if t == f32::MAX { 2f64.powi(128) } else { f64::from(t.next_up()) };
    let below = if t == f32::NEG_INFINITY { -2f64.powi(128) } else { f64::from(t) };
    let middle = 0.5 * below + 0.5 * above;
    if middle as f32 <= t { middle } else { middle.next_down() }
}

/// The largest f64 `x` with `(x as f32) < t`; minus infinity when there is none.
pub(crate) fn last_below(t: f32) -> f64 {
    if t == f32::NEG_INFINITY { f64::NEG_INFINITY.next_down() } else { last_at_most(t.next_down()) }
}

#[cfg(test)]
mod tests {
    use super::{last_at_most, last_below};

    #[test]
    fn the_last_f64_on_the_left_and_its_successor_are_on_different_sides() {
        let mut bits = 0x9e37_79b9_u32;
        let mut values = vec![
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.1,
            f32::MIN_POSITIVE,
            -f32::MIN_POSITIVE,
            1e-45,
            -1e-45,
            f32::MAX,
            f32::MIN,
        ];
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            values.push(f32::from_bits(bits));
        }
        for t in values.into_iter().filter(|t| t.is_finite()) {
            let (most, below) = (last_at_most(t), last_below(t));
            assert!(most as f32 <= t && most.next_up() as f32 > t, "{t:e}: {most:e}");
            assert!((below as f32) < t && below.next_up() as f32 >= t, "{t:e}: {below:e}");
        }
        assert_eq!(last_at_most(f32::INFINITY), f64::INFINITY);
        assert_eq!(last_below(f32::INFINITY) as f32, f32::MAX);
        assert!(last_at_most(f32::NEG_INFINITY) as f32 == f32::NEG_INFINITY);
        assert!(last_at_most(f32::NEG_INFINITY).next_up() as f32 == f32::MIN);
    }
}
