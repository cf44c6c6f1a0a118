//! The stages of a fit one by one, for the benches.

use leafgp_solver::Domain;
use pulp::Arch;

use super::bin_matrix::BinMatrix;
use super::error::GbdtError;
use super::histogram::{Derivatives, Entry, HistogramBuilder, Rows};
use super::input::{Targets, check};
use super::model::GbdtModel;
use super::sampling::{Purpose, stream};
use super::search::{Histogram, Query, SplitFinder};
use super::settings::GbdtSettings;
use super::split::{LeafSums, LeafTotals, SplitLimits};
use super::split_numeric::ScanBuffers;
use super::train::Prepared;
use crate::Table;

/// [`train`](super::train) without early stopping in two steps, so that they can be timed apart.
#[derive(Debug)]
pub struct TwoSteps<'a> {
    prepared: Prepared<'a>,
    domains: &'a [Domain],
    settings: &'a GbdtSettings,
    seed: u64,
}

impl<'a> TwoSteps<'a> {
    /// Checks and bins; `settings` without early stopping.
    ///
    /// # Errors
    /// As [`train`](super::train).
    pub fn bin(
        x: &'a Table,
        domains: &'a [Domain],
        y: &[f64],
        settings: &'a GbdtSettings,
        seed: u64,
    ) -> Result<Self, GbdtError> {
        settings.validate()?;
        check(x, domains, y, None, false)?;
        let Targets { values, scale } = Targets::new(y, None);
        let prepared = Prepared::new(x, domains, values, None, scale, settings, seed);
        Ok(Self { prepared, domains, settings, seed })
    }

    /// Boosts.
    ///
    /// # Errors
    /// As [`train`](super::train).
    pub fn boost(&self) -> Result<GbdtModel, GbdtError> {
        GbdtModel::new(self.prepared.boost(self.settings, self.seed, None, &mut |_| true), self.domains)
    }
}

/// A binned table with the histogram of its root.
#[derive(Debug)]
pub struct Stages {
    bins: BinMatrix,
    limits: SplitLimits,
    gradients: Vec<f32>,
    root: LeafSums,
    builder: HistogramBuilder,
    histogram: Histogram,
    buffers: ScanBuffers,
}

impl Stages {
    /// Bins the table, and takes the centred targets as gradients.
    pub fn bin(x: &Table, domains: &[Domain], y: &[f64], settings: &GbdtSettings) -> Self {
        let bins = BinMatrix::new(x, domains, settings, &mut stream(0, Purpose::Bins));
        let mean = y.iter().sum::<f64>() / y.len() as f64;
        let histogram = Histogram {
            entries: vec![Entry::default(); bins.histogram_len],
            is_splittable: vec![true; bins.features.len()],
        };
        let gradients: Vec<f32> = y.iter().map(|target| (mean - target) as f32).collect();
        let gradient = gradients.iter().map(|&gradient| f64::from(gradient)).sum();
        Self {
            limits: SplitLimits::new(settings, 1.0, false),
            root: LeafSums { gradient, hessian: y.len() as f64, count: y.len() },
            gradients,
            builder: HistogramBuilder::default(),
            buffers: ScanBuffers::default(),
            histogram,
            bins,
        }
    }

    /// Sums the gradients of all rows into the histogram.
    pub fn sum(&mut self) {
        let derivatives = Derivatives { gradients: &self.gradients, hessians: None };
        let (rows, used) = (Rows::All(self.bins.n_rows), &self.histogram.is_splittable);
        self.builder.build(&self.bins, rows, derivatives, used, &mut self.histogram.entries);
    }

    /// The gain of the best split of the histogram; zero when there is none.
    pub fn scan(&mut self) -> f64 {
        self.histogram.is_splittable.fill(true);
        let query = Query { leaf: LeafTotals::new(self.root, &self.limits), random: None };
        let finder = SplitFinder { bins: &self.bins, limits: &self.limits, arch: Arch::new() };
        let best = finder.search_one(query, &mut self.histogram, &mut self.buffers);
        best.map_or(0.0, |split| split.gain)
    }
}
