//! The binned training table: tiles of a few features each, row-major within a tile.
//!
//! A tile's histograms fit the first-level cache together, and one row of a tile is read with one access, whether rows are visited
//! in order (the root) or through an index list (a leaf): row-wise access within a tile, column-wise between tiles.

use leafgp_solver::Domain;
use rand::rngs::ChaCha8Rng;
use rand::seq::index;
use rayon::prelude::*;

use super::bin_mapper::{BinMapper, Bins, thresholds};
use super::settings::GbdtSettings;
use super::tree::MissingType;
use crate::Table;

/// Features in a full tile: four histograms of 256 bins take 16 KiB, half of a usual first-level cache.
pub(super) const TILE_WIDTH: usize = 4;
/// Below this many values (rows times features) binning stays on one thread.
const PARALLEL_VALUES: usize = 1 << 15;

/// A feature that can be split on, in the order of the histograms ("slot").
#[derive(Debug)]
pub(super) struct BinnedFeature {
    /// Column of the table.
    pub(super) column: usize,
    pub(super) mapper: BinMapper,
    /// Threshold that separates bins `..=b` from the rest, numeric features only.
    pub(super) thresholds: Vec<f64>,
    /// First entry of the feature's histogram.
    pub(super) offset: usize,
    /// Tile and position within it.
    pub(super) tile: usize,
    pub(super) lane: usize,
}

/// Bins of a few features, `[n_rows, width]`.
#[derive(Debug)]
pub(super) struct Tile {
    pub(super) data: TileData,
    pub(super) width: usize,
    /// First slot of the tile.
    pub(super) first_slot: usize,
}

/// The bins of a tile in the narrowest integer that holds them.
#[derive(Debug)]
pub(super) enum TileData {
    Narrow(Vec<u8>),
    Wide(Vec<u16>),
}

/// All bins of the training rows.
#[derive(Debug)]
pub(super) struct BinMatrix {
    pub(super) n_rows: usize,
    pub(super) features: Vec<BinnedFeature>,
    pub(super) tiles: Vec<Tile>,
    /// Entries between the histograms of two neighbouring narrow features: 16, 64 or 256.
    pub(super) stride: usize,
    /// Entries of a whole histogram.
    pub(super) histogram_len: usize,
    /// Entries before each tile's histograms, then the total.
    pub(super) tile_offsets: Vec<usize>,
}

impl BinMatrix {
    /// Finds bins and bins the table. The table's values have been checked against the domains.
    pub(super) fn new(x: &Table, domains: &[Domain], settings: &GbdtSettings, rng: &mut ChaCha8Rng) -> Self {
        let n_rows = x.n_rows();
        let sample: Option<Vec<usize>> = (n_rows > settings.bin_construct_sample_cnt).then(|| {
            let mut rows = index::sample(rng, n_rows, settings.bin_construct_sample_cnt).into_vec();
            rows.sort_unstable();
            rows
        });
        let find = |column: usize| {
            let mut values: Vec<f64> = match &sample {
                Some(rows) => rows.iter().map(|&row| x.get(row, column)).collect(),
                None => x.rows().map(|row| row[column]).collect(),
            };
            BinMapper::find(&mut values, &domains[column], settings)
        };
        let parallel = n_rows * x.n_cols() >= PARALLEL_VALUES;
        let mappers: Vec<BinMapper> = if parallel {
            (0..x.n_cols()).into_par_iter().map(find).collect()
        } else {
            (0..x.n_cols()).map(find).collect()
        };
        let mut matrix = Self::lay_out(mappers, n_rows);
        matrix.fill(x, parallel);
        matrix
    }

    /// Puts features that are not constant into tiles, narrow ones first.
    fn lay_out(mappers: Vec<BinMapper>, n_rows: usize) -> Self {
        let (narrow, wide): (Vec<_>, Vec<_>) = mappers
            .into_iter()
            .enumerate()
            .filter(|(_, mapper)| !mapper.is_constant)
            .partition(|(_, mapper)| mapper.n_bins <= 256);
        let most_bins = narrow.iter().map(|(_, mapper)| mapper.n_bins).max().unwrap_or(0);
        let stride = [16, 64].into_iter().find(|&stride| most_bins <= stride).unwrap_or(256);
        let mut matrix = Self {
            n_rows,
            features: Vec::new(),
            tiles: Vec::new(),
            stride,
            histogram_len: 0,
            tile_offsets: vec![0],
        };
        matrix.push_tiles(narrow, Some(stride));
        matrix.push_tiles(wide, None);
        matrix
    }

    fn push_tiles(&mut self, mappers: Vec<(usize, BinMapper)>, stride: Option<usize>) {
        let n_features = mappers.len();
        for (i, (column, mapper)) in mappers.into_iter().enumerate() {
            let lane = i % TILE_WIDTH;
            if lane == 0 {
                let width = (n_features - i).min(TILE_WIDTH);
                let cells = self.n_rows * width;
                let data = match stride {
                    Some(_) => TileData::Narrow(vec![0; cells]),
                    None => TileData::Wide(vec![0; cells]),
                };
                self.tiles.push(Tile { data, width, first_slot: self.features.len() });
                self.tile_offsets.push(self.histogram_len);
            }
            let offset = self.histogram_len;
            self.histogram_len += stride.unwrap_or(mapper.n_bins);
            let tile = self.tiles.len() - 1;
            self.tile_offsets[tile + 1] = self.histogram_len;
            self.features.push(BinnedFeature { column, mapper, thresholds: Vec::new(), offset, tile, lane });
        }
    }

    /// Bins every value and derives the thresholds from the values that occur.
    fn fill(&mut self, x: &Table, parallel: bool) {
        let features = &self.features;
        let fill_tile = |tile: &mut Tile| -> Vec<Vec<f64>> {
            let members = &features[tile.first_slot..tile.first_slot + tile.width];
            match &mut tile.data {
                TileData::Narrow(data) => fill_cells(data, members, x, |bin| bin as u8),
                TileData::Wide(data) => fill_cells(data, members, x, |bin| bin as u16),
            }
        };
        let found: Vec<Vec<Vec<f64>>> = if parallel {
            self.tiles.par_iter_mut().map(fill_tile).collect()
        } else {
            self.tiles.iter_mut().map(fill_tile).collect()
        };
        for (feature, thresholds) in self.features.iter_mut().zip(found.into_iter().flatten()) {
            feature.thresholds = thresholds;
        }
    }

    /// The bin of one row.
    #[cfg(test)]
    pub(super) fn bin(&self, slot: usize, row: usize) -> usize {
        let feature = &self.features[slot];
        let tile = &self.tiles[feature.tile];
        let at = row * tile.width + feature.lane;
        match &tile.data {
            TileData::Narrow(data) => data[at].into(),
            TileData::Wide(data) => data[at].into(),
        }
    }
}

/// Writes the bins of a tile; returns the thresholds of each of its features.
fn fill_cells<T: Copy>(
    cells: &mut [T],
    members: &[BinnedFeature],
    x: &Table,
    narrow: impl Fn(usize) -> T,
) -> Vec<Vec<f64>> {
    let nothing = (f64::INFINITY, f64::NEG_INFINITY);
    let mut extremes: Vec<Vec<(f64, f64)>> = members.iter().map(|m| vec![nothing; m.mapper.n_bins]).collect();
    for (cells, row) in cells.chunks_exact_mut(members.len()).zip(x.rows()) {
        for ((cell, member), extremes) in cells.iter_mut().zip(members).zip(&mut extremes) {
            let value = row[member.column];
            let bin = member.mapper.bin(value);
            *cell = narrow(bin);
            let value =
                if value.is_nan() && member.mapper.missing == MissingType::None { 0.0 } else { value };
            let (smallest, largest) = &mut extremes[bin];
            *smallest = smallest.min(value);
            *largest = largest.max(value);
        }
    }
    let of_member = |(member, extremes): (&BinnedFeature, &Vec<(f64, f64)>)| match &member.mapper.bins {
        Bins::Numeric { upper } => thresholds(upper, extremes),
        Bins::Categorical { .. } => Vec::new(),
    };
    members.iter().zip(&extremes).map(of_member).collect()
}

#[cfg(test)]
mod tests {
    use super::{BinMatrix, TileData};
    use crate::Table;
    use crate::gbdt::GbdtSettings;
    use leafgp_solver::Domain;
    use rand::SeedableRng;
    use rand::rngs::ChaCha8Rng;

    #[test]
    fn features_land_in_tiles_by_width_and_keep_their_bins() {
        let n_rows = 400;
        let mut x = Table::new(7);
        for i in 0..n_rows {
            let v = f64::from(i);
            // Column 1 is constant, column 2 has 400 distinct values.
            x.push(&[f64::from(i % 5), 1.0, v, v % 3.0, v % 7.0, (v * 0.37).sin(), v % 2.0]);
        }
        let domain = Domain::Continuous { lower: -1.0, upper: 500.0 };
        let settings = GbdtSettings { max_bin: 1000, min_data_in_bin: 1, ..GbdtSettings::default() };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let matrix = BinMatrix::new(&x, &vec![domain; 7], &settings, &mut rng);
        let columns: Vec<usize> = matrix.features.iter().map(|f| f.column).collect();
        assert_eq!(columns, [0, 3, 4, 6, 2, 5], "narrow first, without the constant");
        assert_eq!(matrix.tiles.iter().map(|t| t.width).collect::<Vec<_>>(), [4, 2]);
        assert!(matches!(matrix.tiles[1].data, TileData::Wide(_)));
        assert_eq!(matrix.stride, 16);
        for (slot, feature) in matrix.features.iter().enumerate() {
            for row in 0..n_rows as usize {
                assert_eq!(matrix.bin(slot, row), feature.mapper.bin(x.get(row, feature.column)));
            }
        }
        assert_eq!(matrix.features[4].thresholds[..3], [0.5, 1.5, 2.5]);
    }
}
