//! Parts of a study for job arrays.

/// A part of a study's runs: number `index` of `count`, from 1.
///
/// ```
/// use leafgp_study::Shard;
///
/// let third: Shard = "3/20".parse()?;
/// assert!(third.holds(2) && third.holds(22) && !third.holds(3));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which part, `1..=count`.
    pub index: usize,
    /// How many parts.
    pub count: usize,
}

impl Shard {
    /// True when the run at a position of the list of all runs belongs to the part: dealt out in turn, so that parts are alike.
    pub fn holds(self, position: usize) -> bool {
        position % self.count == self.index - 1
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    /// Reads `i/n`.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Self { index, count }),
            _ => Err("expected i/n with 1 <= i <= n, such as 3/20".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn shards_are_a_partition() {
        let shards: Vec<Shard> = (1..=3).map(|i| format!("{i}/3").parse().unwrap()).collect();
        for position in 0..20 {
            assert_eq!(shards.iter().filter(|shard| shard.holds(position)).count(), 1);
        }
        for bad in ["0/3", "4/3", "1", "a/b", "1/0", ""] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
