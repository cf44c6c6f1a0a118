//! A vector on file: whole steps of one size.

/// A vector whose entries are multiples of a step, in 16 bits each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Steps {
    pub(super) size: f32,
    pub(super) counts: Vec<i16>,
}

impl Steps {
    /// The nearest such vector: each entry is off by at most half a step, a step being the largest entry over 32767.
    pub(crate) fn near(vector: &[f64]) -> Self {
        let largest = vector.iter().fold(0.0f64, |a, v| a.max(v.abs()));
        let size = (largest / f64::from(i16::MAX)) as f32;
        // A float beyond the range of 16 bits becomes the nearest end of it, and NaN (0 / 0) becomes 0.
        let counts = vector.iter().map(|v| (v / f64::from(size)).round() as i16).collect();
        Self { size, counts }
    }

    /// The vector, exact: 24 and 16 bits multiply without rounding.
    pub(crate) fn vector(&self) -> Vec<f64> {
        self.counts.iter().map(|&count| f64::from(self.size) * f64::from(count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Steps;

    #[test]
    fn entries_are_off_by_half_a_step_at_most() {
        let vector: Vec<f64> = (0..50).map(|k| f64::from((k * 7919) % 1013) * 1e-4 - 0.05).collect();
        let steps = Steps::near(&vector);
        let half = 0.5001 * f64::from(steps.size);
        assert!(half < 1e-6);
        assert!(steps.vector().iter().zip(&vector).all(|(s, v)| (s - v).abs() <= half));
        // What is on the steps stays where it is.
        assert_eq!(Steps::near(&steps.vector()), steps);
        assert_eq!(Steps::near(&[0.0, 0.0]).vector(), [0.0, 0.0]);
        assert!(Steps::near(&[]).vector().is_empty());
    }
}
