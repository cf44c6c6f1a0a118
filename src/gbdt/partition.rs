//! Which rows are in which leaf: one index list, a range of it per leaf, rows ascending within a leaf.

use rayon::prelude::*;

use super::bin_matrix::{BinMatrix, TileData};
use super::split::BinRule;
use super::tree::MissingType;

/// Leaves with at least this many rows are split in parallel, in chunks of that size; the result does not depend on it.
const CHUNK_ROWS: usize = 1 << 14;

/// Row indices grouped by leaf.
#[derive(Debug, Default)]
pub(super) struct Partition {
    rows: Vec<u32>,
    spare: Vec<u32>,
    ranges: Vec<std::ops::Range<usize>>,
}

impl Partition {
    /// Puts the rows (all `n_rows` when `bag` is `None`; ascending) into leaf 0.
    pub(super) fn reset(&mut self, n_rows: usize, bag: Option<&[u32]>) {
        self.rows.clear();
        match bag {
            Some(bag) => self.rows.extend_from_slice(bag),
            None => self.rows.extend(0..n_rows as u32),
        }
        self.spare.resize(self.rows.len(), 0);
        self.ranges.clear();
        self.ranges.push(0..self.rows.len());
    }

    /// The rows of a leaf, ascending.
    pub(super) fn rows(&self, leaf: usize) -> &[u32] {
        &self.rows[self.ranges[leaf].clone()]
    }

    /// Number of leaves.
    pub(super) fn n_leaves(&self) -> usize {
        self.ranges.len()
    }

    /// Sends the rows of `leaf` left (they keep the leaf's number) or right (a new leaf); returns both row counts. With all rows
    /// on one side nothing changes and `None` is returned.
    pub(super) fn split(
        &mut self,
        leaf: usize,
        bins: &BinMatrix,
        slot: usize,
        rule: &BinRule,
    ) -> Option<(usize, usize)> {
        let feature = &bins.features[slot];
        let tile = &bins.tiles[feature.tile];
        let range = self.ranges[leaf].clone();
        let (rows, spare) = (&mut self.rows[range.clone()], &mut self.spare[range.clone()]);
        let n_bins = feature.mapper.n_bins;
        let (width, lane) = (tile.width, feature.lane);
        let at = move |row: u32| row as usize * width + lane;
        let n_left = match rule {
            BinRule::UpTo { bin, default_left } => {
                // Missing values have the last bin, which is never the split's own.
                let missing_goes_left = *default_left && feature.mapper.missing == MissingType::Nan;
                let (bin, joins) = (*bin, if missing_goes_left { n_bins - 1 } else { *bin });
                match &tile.data {
                    TileData::Narrow(data) => {
                        let (bin, joins) = (bin as u8, joins as u8);
                        separate(rows, spare, move |row| {
                            let own = data[at(row)];
                            (own <= bin) | (own == joins)
                        })
                    }
                    TileData::Wide(data) => {
                        let (bin, joins) = (bin as u16, joins as u16);
                        separate(rows, spare, move |row| {
                            let own = data[at(row)];
                            (own <= bin) | (own == joins)
                        })
                    }
                }
            }
            BinRule::Listed(listed) => {
                let mut is_listed = vec![false; n_bins];
                for &bin in listed {
                    is_listed[usize::from(bin)] = true;
                }
                match &tile.data {
                    TileData::Narrow(data) => {
                        separate(rows, spare, |row| is_listed[usize::from(data[at(row)])])
                    }
                    TileData::Wide(data) => {
                        separate(rows, spare, |row| is_listed[usize::from(data[at(row)])])
                    }
                }
            }
        };
        let middle = range.start + n_left;
        if n_left == 0 || middle == range.end {
            return None;
        }
        self.ranges[leaf] = range.start..middle;
        self.ranges.push(middle..range.end);
        Some((n_left, range.end - middle))
    }
}

/// Stable partition: rows that go left first; returns how many there are.
fn separate(rows: &mut [u32], spare: &mut [u32], goes_left: impl Fn(u32) -> bool + Sync) -> usize {
    if rows.len() < 2 * CHUNK_ROWS {
        let n_left = separate_chunk(rows, spare, &goes_left);
        let n_right = rows.len() - n_left;
        rows[n_left..].copy_from_slice(&spare[..n_right]);
        return n_left;
    }
    // Each chunk: left rows to its front, right rows to the spare chunk's front; then everything moves to its final place.
    let counts: Vec<usize> = rows
        .par_chunks_mut(CHUNK_ROWS)
        .zip(spare.par_chunks_mut(CHUNK_ROWS))
        .map(|(rows, spare)| separate_chunk(rows, spare, &goes_left))
        .collect();
    let n_left: usize = counts.iter().sum();
    let mut at = 0;
    // Left rows move down within `rows`: never past their own place, so in order.
    for (chunk, &count) in counts.iter().enumerate() {
        let start = chunk * CHUNK_ROWS;
        rows.copy_within(start..start + count, at);
        at += count;
    }
    for (chunk, &count) in counts.iter().enumerate() {
        let start = chunk * CHUNK_ROWS;
        let n_right = CHUNK_ROWS.min(rows.len() - start) - count;
        rows[at..at + n_right].copy_from_slice(&spare[start..start + n_right]);
        at += n_right;
    }
    n_left
}

/// Left rows to the front of `rows`, right rows to the front of `spare`, without branches on the data.
#[inline(always)]
fn separate_chunk(rows: &mut [u32], spare: &mut [u32], goes_left: impl Fn(u32) -> bool) -> usize {
    let spare = &mut spare[..rows.len()];
    let mut n_left = 0;
    for i in 0..rows.len() {
        let row = rows[i];
        let left = goes_left(row);
        rows[n_left] = row;
        spare[i - n_left] = row;
        n_left += usize::from(left);
    }
    n_left
}

#[cfg(test)]
mod tests {
    use super::{CHUNK_ROWS, separate};

    #[test]
    fn separation_is_stable_for_any_size() {
        for n in [0, 1, 7, CHUNK_ROWS, 2 * CHUNK_ROWS, 3 * CHUNK_ROWS + 17] {
            let original: Vec<u32> = (0..n as u32).map(|i| i * 3).collect();
            let test = |row: u32| row.wrapping_mul(2_654_435_761) >> 16 & 3 == 0;
            let mut rows = original.clone();
            let n_left = separate(&mut rows, &mut vec![0; n], test);
            let (left, right): (Vec<u32>, Vec<u32>) = original.iter().partition(|&&row| test(row));
            assert_eq!(n_left, left.len());
            assert_eq!(rows, [left, right].concat());
        }
    }
}
