//! What the data leave of the variance, for noise so small that the difference from the prior variance cancels.

use leafgp_solver::Remainder;

use super::Hyperparameters;
use super::leaf_matrix::LeafMatrix;
use super::spectrum::Spectrum;

/// Error of a deviation from which on it is worth its own formula, in units of the standardised targets: a tenth of what a certificate leaves between its claim and what
/// the search proved.
const WORTHWHILE: f64 = 1e-10;
/// Noise, as a share of the signal variance, below which a deviation at the data has lost too many of its own digits, however small it is. The default settings allow none below 2.5e-5.
const SMALL_NOISE: f64 = 1e-6;
/// What the difference is off by as a rule, as a share of the prior variance; [`rounding`] is what it may be off by.
const USUAL: f64 = 4.0 * f64::EPSILON;

/// The remainder of the latent variance, where the difference could be wrong in digits that matter.
///
/// With the spectrum `e_k`, the directions `w_k = Z'u_k / sqrt(e_k)`, `a = s2/T`, `d_k = a e_k + nz` and a one-hot leaf vector `z`:
/// `variance = sum_k (a nz / d_k) (w_k'z)^2 + a |z - sum_k w_k w_k'z|^2`. As `v_lk = a sqrt(e_k / d_k) w_lk`, the first sum is
/// `sum_k r_k u_k^2` with `r_k = nz / (a e_k)`, and `sum_k w_lk w_k'z` is `sum_k v_lk (1 + r_k) u_k / a`.
pub(super) fn remainder(
    z: &LeafMatrix,
    spectrum: &Spectrum,
    at: &Hyperparameters,
    n_leaves: usize,
) -> Option<Remainder> {
    let Hyperparameters { signal_variance, noise_variance, .. } = *at;
    let scale = signal_variance / spectrum.n_trees as f64;
    let largest = scale * spectrum.eigenvalues.first()?;
    // No point is known better than one whose leaves hold all the data.
    let least = signal_variance * noise_variance / (noise_variance + largest);
    let is_small = noise_variance < SMALL_NOISE * signal_variance;
    if !is_small && USUAL * signal_variance <= 2.0 * least.sqrt() * WORTHWHILE {
        return None;
    }
    let mut tree_variance = vec![0.0; n_leaves];
    z.forest_leaf.iter().for_each(|&leaf| tree_variance[leaf] = scale);
    let noise_shares = spectrum.eigenvalues.iter().map(|e| noise_variance / (scale * e)).collect();
    Some(Remainder { noise_shares, tree_variance, constant: 0.0, rounding: rounding(spectrum, scale, at) })
}

/// How far `s2 - |u|^2` may lie from the variance. The decomposition is exact for a Gram matrix that is off by some `eps` of its largest eigenvalue; with the weights
/// `(K + nz I)^-1 k` of a prediction that moves the variance by `a e_max |weights|^2 eps`, and `|weights|^2 <= s2 max_k a e_k / d_k^2`. The sums of the trees and of the squares
/// add their own.
fn rounding(spectrum: &Spectrum, scale: f64, at: &Hyperparameters) -> f64 {
    let of_weights = |e: &f64| scale * e / (scale * e + at.noise_variance).powi(2);
    let weights = spectrum.eigenvalues.iter().map(of_weights).fold(0.0, f64::max);
    let amplified = scale * spectrum.eigenvalues[0] * weights;
    let sums = (spectrum.n_trees + spectrum.rank() + 16) as f64;
    f64::EPSILON * at.signal_variance * (sums + 4.0 * amplified)
}
