//! Arrays of numpy: a row for each point, read where they lie.

use numpy::ndarray::{ArrayView1, ArrayView2};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};

use crate::failure::Failure;

/// The array, if it has a column for each of the names; `of` says what they are.
pub(crate) fn view<'a>(
    array: &'a PyReadonlyArray2<'_, f64>,
    names: &[&str],
    of: &str,
) -> Result<ArrayView2<'a, f64>, Failure> {
    let (found, n) = (array.shape()[1], names.len());
    if found != n {
        let names = names.join(", ");
        return Err(Failure::point(format!(
            "the array has {found} columns; expected {n}, one for each {of}: {names}"
        )));
    }
    Ok(array.as_array())
}

/// Does something with each row; only rows whose numbers do not lie side by side are copied.
pub(crate) fn map_rows<T>(
    array: ArrayView2<'_, f64>,
    mut f: impl FnMut(usize, &[f64]) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let mut buffer = Vec::new();
    let mut row = |(i, row): (usize, ArrayView1<'_, f64>)| match row.as_slice() {
        Some(row) => f(i, row),
        None => {
            buffer.clear();
            buffer.extend(row.iter());
            f(i, &buffer)
        }
    };
    array.rows().into_iter().enumerate().map(&mut row).collect()
}
