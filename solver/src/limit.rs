//! Linear limits on the active leaves.

/// A linear limit on the active leaves: `lower <= constant + sum of the active leaves' coefficients <= upper`, held in plain f64
/// arithmetic (sum in the order of the trees) by every point that is returned.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafLimit {
    /// Added to the sum.
    pub constant: f64,
    /// `(leaf in the forest's numbering, coefficient)`, ascending by leaf; leaves not listed count 0.
    pub coefficients: Vec<(usize, f64)>,
    /// Smallest allowed value; may be minus infinity.
    pub lower: f64,
    /// Largest allowed value; may be infinity.
    pub upper: f64,
}

impl LeafLimit {
    /// `constant + sum of coefficients` at the given active leaves (ascending, one a tree).
    pub fn value(&self, leaves: &[usize]) -> f64 {
        let coefficient = |leaf: &usize| match self.coefficients.binary_search_by_key(leaf, |&(l, _)| l) {
            Ok(at) => self.coefficients[at].1,
            Err(_) => 0.0,
        };
        self.constant + leaves.iter().map(coefficient).sum::<f64>()
    }

    /// True when the limit holds at the given active leaves.
    pub fn holds(&self, leaves: &[usize]) -> bool {
        let value = self.value(leaves);
        self.lower <= value && value <= self.upper
    }
}
