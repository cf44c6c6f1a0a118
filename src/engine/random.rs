//! Named random streams: one for each purpose and number of rows, so that a loop of single calls equals one long run.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

/// What the random numbers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The space-filling first design.
    Design,
    /// Bagging and feature sampling of the trees.
    Trees,
    /// Restarts of the search's heuristics.
    Search,
    /// Ties of centres and choice among equivalent levels.
    Centre,
    /// The common first points of a study.
    Initial,
    /// Random search, and the samples of an acquisition that is only sampled.
    Sample,
    /// Candidates and random moves of the smooth process's search.
    Smooth,
    /// Values drawn for experiments that are still running.
    Pending,
}

/// The stream of a `seed` for one purpose after `n_rows` rows of history.
pub fn stream(seed: u64, purpose: Purpose, n_rows: usize) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&(purpose as u64 + 1).to_le_bytes());
    key[16..24].copy_from_slice(&(n_rows as u64).to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::{Purpose, stream};

    #[test]
    fn streams_differ_by_seed_purpose_and_rows_and_repeat_otherwise() {
        let first = |seed, purpose, rows| stream(seed, purpose, rows).next_u64();
        let base = first(1, Purpose::Design, 5);
        assert_eq!(base, first(1, Purpose::Design, 5));
        assert_ne!(base, first(2, Purpose::Design, 5));
        assert_ne!(base, first(1, Purpose::Centre, 5));
        assert_ne!(base, first(1, Purpose::Design, 6));
    }
}
