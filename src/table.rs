//! A dense table of points.

/// Points in variable order, row-major `[n_rows, n_cols]`; a category stands as its level index.
///
/// ```
/// use leafgp::Table;
///
/// let mut points = Table::from_rows(2, &[[0.5, 1.0], [0.7, 2.0]]);
/// points.push(&[0.9, 0.0]);
/// assert_eq!((points.n_rows(), points.row(1)), (3, &[0.7, 2.0][..]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    n_cols: usize,
    values: Vec<f64>,
}

impl Table {
    /// A table without rows.
    pub fn new(n_cols: usize) -> Self {
        Self { n_cols, values: Vec::new() }
    }

    /// A table from row-major values.
    ///
    /// # Panics
    /// When the values do not fill whole rows.
    pub fn from_values(n_cols: usize, values: Vec<f64>) -> Self {
        assert!(
            n_cols > 0 && values.len().is_multiple_of(n_cols),
            "{} values do not fill rows of {n_cols}",
            values.len()
        );
        Self { n_cols, values }
    }

    /// A table from rows of equal length `n_cols`.
    ///
    /// # Panics
    /// When a row has another length.
    pub fn from_rows<R: AsRef<[f64]>>(n_cols: usize, rows: &[R]) -> Self {
        let mut table = Self::new(n_cols);
        for row in rows {
            table.push(row.as_ref());
        }
        table
    }

    /// Appends a row.
    ///
    /// # Panics
    /// When the row has another length than `n_cols`.
    pub fn push(&mut self, row: &[f64]) {
        assert_eq!(row.len(), self.n_cols, "row length");
        self.values.extend_from_slice(row);
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.values.len() / self.n_cols.max(1)
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// Row `i`, length `n_cols`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n_cols..(i + 1) * self.n_cols]
    }

    /// The rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.n_cols.max(1))
    }

    /// The value in row `i`, column `j`.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.n_cols + j]
    }
}
