//! Random parts of rows and features, each from a stream of its own.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// What a random stream is for; with the seed it fixes the stream.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// Rows the bins are found from.
    Bins = 1,
    /// Rows set aside for early stopping.
    Validation = 2,
    /// Rows of a bag.
    Rows = 3,
    /// Features of a tree.
    Features = 4,
    /// Thresholds of extremely randomised trees.
    Thresholds = 5,
}

/// The stream for a purpose.
pub(super) fn stream(seed: u64, purpose: Purpose) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(purpose as u64);
    rng
}

/// `round(fraction * n)` of `0..n`, at least one, each subset equally likely, ascending (selection sampling, Knuth 3.4.2 S).
pub(super) fn subset(rng: &mut ChaCha8Rng, n: usize, fraction: f64) -> Vec<u32> {
    let mut wanted = ((n as f64 * fraction).round() as usize).clamp(1.min(n), n);
    let mut chosen = Vec::with_capacity(wanted);
    for i in 0..n {
        if wanted == 0 {
            break;
        }
        if rng.random_range(0..(n - i) as u64) < wanted as u64 {
            chosen.push(i as u32);
            wanted -= 1;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::{Purpose, stream, subset};

    #[test]
    fn subsets_have_the_asked_size_and_are_ascending() {
        let mut rng = stream(1, Purpose::Rows);
        for (n, fraction, expected) in [(10, 0.5, 5), (10, 1.0, 10), (3, 0.01, 1), (0, 0.5, 0), (7, 0.5, 4)] {
            let rows = subset(&mut rng, n, fraction);
            assert_eq!(rows.len(), expected);
            assert!(rows.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }

    #[test]
    fn every_element_is_drawn_equally_often() {
        let mut rng = stream(7, Purpose::Features);
        let mut hits = [0; 6];
        for _ in 0..6000 {
            for i in subset(&mut rng, 6, 0.5) {
                hits[i as usize] += 1;
            }
        }
        assert!(hits.iter().all(|&h| (2800..3200).contains(&h)), "{hits:?}");
    }
}
