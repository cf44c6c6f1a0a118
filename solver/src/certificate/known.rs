//! What is known of the operations over a box.

use leafgp_constraints::Region;
use leafgp_constraints::statement::{NumberId, Statement};

use super::forward::Shared;
use super::size::size;
use super::values::Values;
use super::wholes::{self, Whole};

/// Values, sizes and whole values of the operations over a box, and of the conditions that others share what was found out.
pub(super) struct Known {
    values: Vec<Values>,
    sizes: Vec<f64>,
    /// Empty when nothing is decided in whole numbers.
    wholes: Vec<Whole>,
    pub(super) shared: Shared,
}

impl Known {
    pub(super) fn nothing(statement: &Statement<'_>, shared: Shared) -> Self {
        let n = statement.numbers.len();
        let n_wholes = if statement.whole_rows.is_empty() { 0 } else { n };
        Self {
            values: vec![Values::ANY; n],
            sizes: vec![f64::INFINITY; n],
            wholes: vec![None; n_wholes],
            shared,
        }
    }

    /// Adds an operation, `taken` being which alternatives of an `if` are possible.
    pub(super) fn learn(
        &mut self,
        statement: &Statement<'_>,
        k: u32,
        values: Values,
        region: &Region,
        taken: (bool, bool),
    ) {
        let k = k as usize;
        let number = &statement.numbers[k];
        self.values[k] = values;
        self.sizes[k] = size(statement, number, values, |id| self.size(id), || taken);
        if !self.wholes.is_empty() {
            let range = |v: usize| wholes::ends(&region.0[v]);
            self.wholes[k] = wholes::over(number, range, |id| self.whole(id.0), || taken);
        }
    }

    pub(super) fn values(&self, id: NumberId) -> Values {
        self.values[id.0 as usize]
    }

    /// No less than the size at any point of the box.
    pub(super) fn size(&self, id: NumberId) -> f64 {
        self.sizes[id.0 as usize]
    }

    pub(super) fn whole(&self, k: u32) -> Whole {
        self.wholes[k as usize]
    }

    /// Least and largest difference of two whole numbers.
    pub(super) fn whole_difference(&self, a: NumberId, b: NumberId) -> Whole {
        let ((a, b), (c, d)) = (self.whole(a.0)?, self.whole(b.0)?);
        Some((a.checked_sub(d)?, b.checked_sub(c)?))
    }
}
