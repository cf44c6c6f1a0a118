//! The bound of a deviation that is minimised: `w sqrt(s2 - |u|^2)` with `w = -kappa > 0`.
//!
//! With `f` the sum of the decided trees' vectors, `|u|^2 <= |f|^2 + sum_b q_b` over the open trees, where
//! `q_i = 2 f.v_i + |v_i|^2 + sum_b' max_j v_i.v_j` (other open trees `b'`). The root lies above its chord on `[0, top]`, `top` being the largest
//! value of the right side.

use crate::objective::Quadratic;

use super::arithmetic::{Bounds, dot};

/// A constant and a part of each leaf still possible, whose sum over one leaf a tree is at most `w` times the deviation. `vectors` holds the leaves of
/// each tree, `None` for one without a vector.
pub(super) fn secant(q: &Quadratic, vectors: &[Vec<Option<&[f64]>>]) -> (f64, Vec<Vec<f64>>) {
    let mut fixed = vec![Bounds::exact(0.0); q.dim];
    for vector in vectors.iter().filter(|leaves| leaves.len() == 1).filter_map(|leaves| leaves[0]) {
        fixed.iter_mut().zip(vector).for_each(|(sum, &v)| *sum = sum.add(Bounds::exact(v)));
    }
    let fixed_sq = fixed.iter().fold(Bounds::exact(0.0), |sum, &f| sum.add(f.mul(f))).high;
    let mut top = Bounds::exact(fixed_sq);
    let mut lengths: Vec<Vec<f64>> = Vec::with_capacity(vectors.len());
    for (b, leaves) in vectors.iter().enumerate() {
        if leaves.len() == 1 {
            lengths.push(vec![0.0]);
            continue;
        }
        let length = |v: &Option<&[f64]>| {
            let Some(v) = *v else { return 0.0 };
            let along =
                fixed.iter().zip(v).fold(Bounds::exact(0.0), |sum, (f, &v)| sum.add(f.mul(Bounds::exact(v))));
            let mut sum = along.add(along).add(dot(v, v));
            for (other, leaves) in vectors.iter().enumerate() {
                if other != b && leaves.len() > 1 {
                    let product = |w: &Option<&[f64]>| w.map_or(0.0, |w| dot(v, w).high);
                    let largest = leaves.iter().map(product).fold(f64::NEG_INFINITY, f64::max);
                    sum = sum.add(Bounds::exact(largest));
                }
            }
            sum.high
        };
        let of_tree: Vec<f64> = leaves.iter().map(length).collect();
        top = top.add(Bounds::exact(of_tree.iter().copied().fold(f64::NEG_INFINITY, f64::max)));
        lengths.push(of_tree);
    }
    let prior = Bounds::exact(q.bounding_prior());
    let top = Bounds::exact(top.high.clamp(0.0, q.bounding_prior()));
    let low = Bounds::exact(prior.sub(top).sqrt().low);
    let slope = if top.high > 1e-12 * q.bounding_prior() {
        Bounds::exact(prior.sqrt().low).sub(low).div_positive(top).low.max(0.0)
    } else {
        0.0
    };
    let (weight, slope) = (Bounds::exact(-q.kappa), Bounds::exact(slope));
    let base = weight.mul(low.add(slope.mul(top.sub(Bounds::exact(fixed_sq))))).low;
    let part = |&length: &f64| -weight.mul(slope.mul(Bounds::exact(length))).high;
    let parts = lengths.iter().map(|of_tree| of_tree.iter().map(part).collect()).collect();
    (base, parts)
}

#[cfg(test)]
mod tests {
    use super::secant;
    use crate::objective::{LeafObjective, Quadratic};
    use crate::testing::wave;

    /// Over every choice of leaves the sum of the parts stays at or below the weighted deviation, also where the vectors exceed the prior.
    #[test]
    fn the_sum_of_the_parts_is_a_lower_bound() {
        for (case, scale) in [0.05, 0.2, 0.5, 1.0].into_iter().enumerate() {
            let factor = (0..11 * 4).map(|k| scale * wave(k + 100 * case)).collect();
            let quadratic = Quadratic { kappa: -1.7, prior_variance: 1.0, dim: 4, factor, remainder: None };
            // Trees of 3, 1, 4 and 2 leaves, and a leaf without a vector.
            let trees: [&[usize]; 4] = [&[0, 1, 2], &[3], &[4, 5, 6, 7], &[8, 9]];
            let vectors: Vec<Vec<Option<&[f64]>>> = trees
                .iter()
                .map(|leaves| leaves.iter().map(|&leaf| (leaf != 5).then(|| quadratic.row(leaf))).collect())
                .collect();
            let (base, parts) = secant(&quadratic, &vectors);
            let objective =
                LeafObjective { constant: 0.0, linear: vec![0.0; 11], quadratic: Some(quadratic.clone()) };
            let mut closest = f64::INFINITY;
            for (i, j, k) in (0..24).map(|n| (n % 3, n / 3 % 4, n / 12)) {
                let chosen = [trees[0][i], trees[1][0], trees[2][j], trees[3][k]];
                let leaves: Vec<usize> = chosen.into_iter().filter(|&leaf| leaf != 5).collect();
                let bound = base + parts[0][i] + parts[1][0] + parts[2][j] + parts[3][k];
                let slack = objective.value(&leaves) - bound;
                assert!(slack >= 0.0, "case {case}, leaves {chosen:?}: {slack}");
                closest = closest.min(slack);
            }
            assert!(closest < 1.7, "case {case}: a bound that says nothing, {closest}");
        }
    }
}
