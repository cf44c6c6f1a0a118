//! Contour lines by marching squares.

use std::collections::BTreeMap;

/// Values at the nodes of a rectangular grid, row by row, `values[j * n_x + i]` at column `i` of row `j`.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) n_x: usize,
    pub(super) n_y: usize,
    pub(super) values: Vec<f64>,
}

/// An edge of the grid: lower or left node, and whether it goes up.
type Edge = (usize, usize, bool);

impl Field {
    fn at(&self, i: usize, j: usize) -> f64 {
        self.values[j * self.n_x + i]
    }

    /// The lines of a level as chains of points in units of the grid. Squares with a value that is not finite have none.
    pub(super) fn lines(&self, level: f64) -> Vec<Vec<(f64, f64)>> {
        let mut segments: Vec<(Edge, Edge)> = Vec::new();
        for j in 0..self.n_y.saturating_sub(1) {
            for i in 0..self.n_x.saturating_sub(1) {
                self.square(i, j, level, &mut segments);
            }
        }
        chains(&segments)
            .into_iter()
            .map(|chain| chain.into_iter().map(|edge| self.crossing(edge, level)).collect())
            .collect()
    }

    fn square(&self, i: usize, j: usize, level: f64, segments: &mut Vec<(Edge, Edge)>) {
        let corners = [self.at(i, j), self.at(i + 1, j), self.at(i + 1, j + 1), self.at(i, j + 1)];
        if corners.iter().any(|v| !v.is_finite()) {
            return;
        }
        let above = corners.map(|v| v > level);
        let edges: [Edge; 4] = [(i, j, false), (i + 1, j, true), (i, j + 1, false), (i, j, true)];
        let crossed: Vec<usize> = (0..4).filter(|&e| above[e] != above[(e + 1) % 4]).collect();
        match crossed.as_slice() {
            [a, b] => segments.push((edges[*a], edges[*b])),
            [_, _, _, _] => {
                // A saddle: the middle decides which corners are joined.
                let middle = 0.25 * corners.iter().sum::<f64>() > level;
                let pairs = if middle == above[0] { [(0, 1), (2, 3)] } else { [(3, 0), (1, 2)] };
                segments.extend(pairs.map(|(a, b)| (edges[a], edges[b])));
            }
            _ => {}
        }
    }

    /// Where the level crosses an edge.
    fn crossing(&self, (i, j, up): Edge, level: f64) -> (f64, f64) {
        let from = self.at(i, j);
        let to = if up { self.at(i, j + 1) } else { self.at(i + 1, j) };
        let share = if to == from { 0.5 } else { ((level - from) / (to - from)).clamp(0.0, 1.0) };
        if up { (i as f64, j as f64 + share) } else { (i as f64 + share, j as f64) }
    }
}

/// Joins segments that share an edge.
fn chains(segments: &[(Edge, Edge)]) -> Vec<Vec<Edge>> {
    let mut at: BTreeMap<Edge, Vec<usize>> = BTreeMap::new();
    for (k, (a, b)) in segments.iter().enumerate() {
        at.entry(*a).or_default().push(k);
        at.entry(*b).or_default().push(k);
    }
    let mut used = vec![false; segments.len()];
    let mut all = Vec::new();
    // Open lines begin at edges with one segment; what is left are rings.
    let ends: Vec<Edge> = at.iter().filter(|(_, list)| list.len() == 1).map(|(edge, _)| *edge).collect();
    for start in ends.into_iter().chain(segments.iter().map(|s| s.0)) {
        let mut chain = vec![start];
        let mut here = start;
        while let Some(&k) = at[&here].iter().find(|&&k| !used[k]) {
            used[k] = true;
            let (a, b) = segments[k];
            here = if a == here { b } else { a };
            chain.push(here);
        }
        if chain.len() > 1 {
            all.push(chain);
        }
    }
    all
}

/// `n` levels at evenly spaced quantiles of the finite values, so that steep and flat parts both show lines.
pub(super) fn quantile_levels(values: &[f64], n: usize) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return Vec::new() };
    let mut levels: Vec<f64> = (1..=n)
        .map(|k| {
            let at = k as f64 / (n + 1) as f64 * last as f64;
            let (low, t) = (at.floor() as usize, at.fract());
            sorted[low] + t * (sorted[(low + 1).min(last)] - sorted[low])
        })
        .collect();
    levels.dedup();
    levels
}

#[cfg(test)]
mod tests {
    use super::{Field, quantile_levels};
    use approx::assert_relative_eq;

    fn field(n: usize, f: impl Fn(f64, f64) -> f64) -> Field {
        let values = (0..n * n).map(|k| f((k % n) as f64, (k / n) as f64)).collect();
        Field { n_x: n, n_y: n, values }
    }

    #[test]
    fn a_plane_has_straight_lines() {
        let lines = field(5, |x, _| x).lines(1.25);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].len(), 5);
        for (x, _) in &lines[0] {
            assert_relative_eq!(*x, 1.25);
        }
    }

    #[test]
    fn a_bowl_has_closed_rings() {
        let lines = field(41, |x, y| (x - 20.0).powi(2) + (y - 20.0).powi(2)).lines(100.0);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        for (x, y) in &lines[0] {
            // Linear interpolation of a square errs by at most h^2/4 / (2 r).
            assert_relative_eq!((x - 20.0).hypot(y - 20.0), 10.0, epsilon = 0.02);
        }
    }

    #[test]
    fn saddles_and_gaps_break_nothing() {
        let lines = field(3, |x, y| (x - 1.0) * (y - 1.0)).lines(0.1);
        assert_eq!(lines.len(), 2);
        let mut gap = field(3, |x, y| x + y);
        gap.values[4] = f64::NAN;
        assert!(gap.lines(1.5).is_empty());
        assert!(field(4, |_, _| 2.0).lines(2.0).is_empty());
    }

    #[test]
    fn levels_are_quantiles() {
        assert_eq!(quantile_levels(&[0.0, 1.0, 2.0, 3.0, 4.0], 3), [1.0, 2.0, 3.0]);
        assert_eq!(quantile_levels(&[5.0; 9], 3), [5.0]);
        assert!(quantile_levels(&[f64::NAN], 3).is_empty());
    }
}
