//! Which rows are used when there are many.

use super::kernel::Columns;

/// The rows that decide the parameters: all, or the better half of `most` by target, and others at even steps in their order. Ascending.
pub(super) fn for_parameters(y: &[f64], most: usize) -> Vec<usize> {
    let n = y.len();
    if n <= most {
        return (0..n).collect();
    }
    let (mut rows, others) = split(y, most / 2);
    let wanted = most - rows.len();
    rows.extend((0..wanted).map(|k| others[k * others.len() / wanted]));
    rows.sort_unstable();
    rows
}

/// The rows the process is conditioned on: all, or the better half of `most` by target, and others by farthest-first traversal: each one is the row
/// farthest from all those chosen before, so the gaps that remain are as small as a greedy choice makes them. Ascending.
pub(super) fn for_conditioning(columns: &Columns, y: &[f64], most: usize) -> Vec<usize> {
    let n = y.len();
    if n <= most {
        return (0..n).collect();
    }
    let (mut rows, mut others) = split(y, most / 2);
    let distance = |a: usize, b: usize| -> f64 {
        (0..columns.values.len())
            .map(|j| columns.distance(j, columns.values[j][a], columns.values[j][b]).powi(2))
            .sum()
    };
    let mut nearest: Vec<f64> = others
        .iter()
        .map(|&i| rows.iter().map(|&chosen| distance(i, chosen)).fold(f64::INFINITY, f64::min))
        .collect();
    while rows.len() < most {
        let mut farthest = 0;
        for (k, distance) in nearest.iter().enumerate() {
            if *distance > nearest[farthest] {
                farthest = k;
            }
        }
        let chosen = others.remove(farthest);
        nearest.remove(farthest);
        rows.push(chosen);
        for (&i, nearest) in others.iter().zip(&mut nearest) {
            *nearest = nearest.min(distance(i, chosen));
        }
    }
    rows.sort_unstable();
    rows
}

/// The `best` rows by target, the first of equals, and the others in their order.
fn split(y: &[f64], best: usize) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..y.len()).collect();
    order.sort_by(|&a, &b| y[a].total_cmp(&y[b]));
    let mut others = order.split_off(best);
    others.sort_unstable();
    (order, others)
}

#[cfg(test)]
mod tests {
    use super::super::kernel::Columns;
    use super::{for_conditioning, for_parameters};

    #[test]
    fn few_rows_are_all_used() {
        let columns =
            Columns { values: vec![vec![0.0; 5]], category: vec![false], n_rows: 5, leaves: vec![] };
        assert_eq!(for_parameters(&[0.0; 5], 5), [0, 1, 2, 3, 4]);
        assert_eq!(for_conditioning(&columns, &[0.0; 5], 6), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn the_best_half_and_even_steps_decide_the_parameters() {
        let y: Vec<f64> = (0..20).map(|i| if i < 15 { 1.0 } else { -f64::from(i) }).collect();
        assert_eq!(for_parameters(&y, 10), [0, 3, 6, 9, 12, 15, 16, 17, 18, 19]);
    }

    #[test]
    fn conditioning_keeps_the_best_and_lone_rows() {
        // A crowd at 0, one row far away and one half way; the two best lie in the crowd.
        let mut u = vec![0.0; 10];
        (u[4], u[7]) = (1.0, 0.5);
        let mut y = vec![1.0; 10];
        (y[2], y[9]) = (-1.0, -2.0);
        let columns = Columns { values: vec![u], category: vec![false], n_rows: 10, leaves: vec![] };
        assert_eq!(for_conditioning(&columns, &y, 4), [2, 4, 7, 9]);
    }
}
