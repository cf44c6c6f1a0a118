//! Sums under construction.

use std::collections::BTreeMap;

use super::graph::NodeId;

/// `constant + sum coefficient * node`, with what is needed to bound rounding errors.
#[derive(Clone, Debug, Default)]
pub(super) struct LinearForm {
    /// Coefficient, and the sum of the absolute values that were merged into it.
    pub(super) terms: BTreeMap<NodeId, (f64, f64)>,
    pub(super) constant: f64,
    pub(super) constant_magnitude: f64,
    /// Number of f64 operations that may have rounded, in the text or here.
    pub(super) operations: u32,
}

/// A magnitude after a multiplication by something other than zero, or a division: infinite where digits are lost to underflow, so that the form is not used.
fn kept(before: f64, after: f64) -> f64 {
    if before != 0.0 && after < f64::MIN_POSITIVE { f64::INFINITY } else { after }
}

impl LinearForm {
    pub(super) fn constant(value: f64) -> Self {
        Self { constant: value, constant_magnitude: value.abs(), ..Self::default() }
    }

    pub(super) fn node(node: NodeId) -> Self {
        Self { terms: BTreeMap::from([(node, (1.0, 1.0))]), ..Self::default() }
    }

    /// The value when there are no terms.
    pub(super) fn as_constant(&self) -> Option<f64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// `coefficient * node` without constant.
    pub(super) fn as_single(&self) -> Option<(NodeId, f64)> {
        let (&node, &(coefficient, magnitude)) = self.terms.first_key_value()?;
        let alone = self.terms.len() == 1 && self.constant_magnitude == 0.0 && magnitude == coefficient.abs();
        alone.then_some((node, coefficient))
    }

    /// Whether no coefficient overflowed or lost its digits to underflow: then the operations of the text must stay as they are.
    pub(super) fn is_finite(&self) -> bool {
        let terms = self.terms.values().all(|(a, magnitude)| a.is_finite() && magnitude.is_finite());
        terms && self.constant.is_finite() && self.constant_magnitude.is_finite()
    }

    /// Adds `factor * other`.
    pub(super) fn add(&mut self, other: &Self, factor: f64) {
        let scaled =
            |magnitude: f64| if factor == 0.0 { 0.0 } else { kept(magnitude, factor.abs() * magnitude) };
        let mut operations = 0;
        for (&node, &(coefficient, magnitude)) in &other.terms {
            let entry = self.terms.entry(node).or_insert((0.0, 0.0));
            operations += u32::from(entry.1 != 0.0);
            entry.0 += factor * coefficient;
            entry.1 += scaled(magnitude);
        }
        operations += u32::from(other.constant_magnitude != 0.0 && self.constant_magnitude != 0.0);
        self.constant += factor * other.constant;
        self.constant_magnitude += scaled(other.constant_magnitude);
        self.count(other.operations);
        self.count(operations + if factor.abs() == 1.0 { 0 } else { 2 });
    }

    /// Counts `n` rounded operations of the text.
    pub(super) fn rounded(mut self, n: u32) -> Self {
        self.count(n);
        self
    }

    /// Counts `n` rounded operations.
    pub(super) fn count(&mut self, n: u32) {
        self.operations = self.operations.saturating_add(n);
    }

    /// Multiplies by a constant.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        let mut result = Self::default();
        result.add(self, factor);
        result
    }

    /// The same with the magnitudes of `form` times a factor, when that is more.
    pub(super) fn with_magnitude(mut self, form: &Self, factor: f64) -> Self {
        for (node, (_, magnitude)) in &mut self.terms {
            let unscaled = form.terms.get(node).map_or(0.0, |(_, magnitude)| *magnitude);
            *magnitude = magnitude.max(unscaled * factor);
        }
        self.constant_magnitude = self.constant_magnitude.max(form.constant_magnitude * factor);
        self
    }

    /// Raises the magnitudes so that the largest term is no smaller than the sum: for operations whose size is that of their value.
    pub(super) fn cover_the_sum(&mut self) {
        let n = self.terms.len() as f64 + 1.0;
        self.terms.values_mut().for_each(|(_, magnitude)| *magnitude *= n);
        self.constant_magnitude *= n;
    }

    /// Divides by a constant other than zero.
    pub(super) fn divided(mut self, divisor: f64) -> Self {
        for (coefficient, magnitude) in self.terms.values_mut() {
            *coefficient /= divisor;
            *magnitude = kept(*magnitude, *magnitude / divisor.abs());
        }
        self.constant /= divisor;
        self.constant_magnitude = kept(self.constant_magnitude, self.constant_magnitude / divisor.abs());
        self.rounded(2)
    }

    /// Takes the term of a node out.
    pub(super) fn take(&mut self, node: NodeId) -> Option<(f64, f64)> {
        self.terms.remove(&node)
    }
}
