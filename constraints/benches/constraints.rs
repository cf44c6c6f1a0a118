//! Tables of projection, decision and contraction on the paper's constraint sets:
//! `cargo bench -p leafgp-constraints --bench constraints [-- TABLE... SET...]`, a table being `contract`, `decide` or `project`.
//!
//! Projection: random points of the whole domain, global to a gap of 1e-4. Decision: random boxes of 100 % to 2 % of each range, half of
//! them around a feasible point.

#![allow(missing_docs, reason = "a program")]

#[path = "../tests/support/sets.rs"]
mod sets;

use std::time::{Duration, Instant};

use leafgp_constraints::{Constraints, Decision, Limits, Propagator};
use leafgp_constraints::{Domain, LevelSet, Range, Region};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

const POINTS: usize = 200;
const BOXES: usize = 240;
const GAP: f64 = 1e-4;

fn random_point(domains: &[Domain], rng: &mut ChaCha8Rng) -> Vec<f64> {
    domains
        .iter()
        .map(|domain| {
            let (lower, upper) = domain.bounds();
            domain.nearest(lower + (upper - lower) * rng.random::<f64>(), lower, upper).unwrap()
        })
        .collect()
}

/// A box of `share` of each range at a random place.
fn random_box(domains: &[Domain], share: f64, rng: &mut ChaCha8Rng) -> Region {
    let range = |domain: &Domain, rng: &mut ChaCha8Rng| {
        let (lower, upper) = domain.bounds();
        if let Some(levels) = domain.levels() {
            let keep = ((levels as f64 * share).round() as usize).max(1);
            let first = rng.random_range(0..levels);
            return Range::Levels(LevelSet::from_indices(levels, (0..keep).map(|k| (first + k) % levels)));
        }
        let width = (upper - lower) * share;
        let at = lower + (upper - lower - width) * rng.random::<f64>();
        match domain.within(at, at + width) {
            Some((l, u)) => Range::Interval { lower: l, upper: u },
            None => {
                let x = domain.nearest(at, lower, upper).unwrap();
                Range::Interval { lower: x, upper: x }
            }
        }
    };
    Region(domains.iter().map(|d| range(d, rng)).collect())
}

/// A box of `share` of each range at a random place around a point.
fn box_around(domains: &[Domain], x: &[f64], share: f64, rng: &mut ChaCha8Rng) -> Region {
    let mut region = random_box(domains, share, rng);
    for ((range, domain), &v) in region.0.iter_mut().zip(domains).zip(x) {
        if let Range::Interval { lower, upper } = range {
            let (l, u) = domain.bounds();
            let width = (u - l) * share;
            let at = (v - width * rng.random::<f64>()).clamp(l, u - width);
            (*lower, *upper) = domain.within(at.min(v), (at + width).max(v)).unwrap();
        } else if !range.contains(v) {
            *range = Range::Levels(LevelSet::from_indices(domain.levels().unwrap(), [v as usize]));
        }
    }
    region
}

fn quantiles(times: &mut [f64]) -> (f64, f64, f64) {
    if times.is_empty() {
        return (f64::NAN, f64::NAN, f64::NAN);
    }
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() * 95 / 100], times[times.len() - 1])
}

fn project(name: &str, set: &Constraints) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let full = Region::full(set.domains());
    let (mut times, mut nodes, mut closed, mut found) = (Vec::new(), Vec::new(), 0, 0);
    for _ in 0..POINTS {
        let centre = random_point(set.domains(), &mut rng);
        let start = Instant::now();
        let limits =
            Limits { nodes: 200_000, deadline: Some(start + Duration::from_secs(5)), ..Limits::default() };
        let projection = set.project(&full, &centre, GAP, limits);
        times.push(start.elapsed().as_secs_f64() * 1e3);
        nodes.push(projection.nodes as f64);
        if let Some((_, distance)) = projection.nearest {
            found += 1;
            closed += usize::from(projection.bound >= distance * (1.0 - GAP) - 1e-12);
        }
    }
    let (median, p95, max) = quantiles(&mut times);
    let (nodes, nodes95, _) = quantiles(&mut nodes);
    println!(
        "{name:16} closed {closed:3}/{POINTS} (points {found})  ms median {median:8.3}  p95 {p95:8.3}  max {max:8.2}  \
         nodes median {nodes} p95 {nodes95}"
    );
}

fn decide(name: &str, set: &Constraints) {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let (mut times, mut counts) = (Vec::new(), [0; 3]);
    // Every other box holds a feasible point.
    let inside = set.design(BOXES / 12, &[], &[], &mut rng, Limits::default());
    for i in 0..BOXES {
        let share = [1.0, 0.5, 0.25, 0.1, 0.05, 0.02][i % 6];
        let mut region = random_box(set.domains(), share, &mut rng);
        while i / 6 % 2 == 0 && !region.contains(&inside[i % inside.len()]) {
            region = box_around(set.domains(), &inside[i % inside.len()], share, &mut rng);
        }
        let start = Instant::now();
        let limits =
            Limits { nodes: 100_000, deadline: Some(start + Duration::from_secs(2)), ..Limits::default() };
        let decision = set.decide(&region, limits);
        times.push(start.elapsed().as_secs_f64() * 1e6);
        counts[match decision {
            Decision::Feasible(_) => 0,
            Decision::Infeasible => 1,
            Decision::Undecided(_) => 2,
        }] += 1;
    }
    let (median, p95, max) = quantiles(&mut times);
    let [feasible, infeasible, undecided] = counts;
    println!(
        "{name:16} feasible {feasible:3}  infeasible {infeasible:3}  undecided {undecided}  us median {median:8.1}  p95 {p95:8.1}  max {max:9.0}"
    );
}

/// Full contraction of boxes, and contraction after one variable was halved.
fn contract(name: &str, set: &Constraints) {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut propagator = Propagator::new(set);
    let (mut full, mut one) = (Vec::new(), Vec::new());
    for i in 0..300 {
        let share = [1.0, 0.8, 0.5][i % 3];
        let mut region = random_box(set.domains(), share, &mut rng);
        let start = Instant::now();
        let kept = propagator.contract(set, &mut region, None);
        full.push(start.elapsed().as_secs_f64() * 1e6);
        let v = rng.random_range(0..region.0.len());
        if let (true, Range::Interval { lower, upper }) = (kept, &mut region.0[v]) {
            let Some((l, u)) = set.domains()[v].within(*lower, 0.5 * *lower + 0.5 * *upper) else { continue };
            (*lower, *upper) = (l, u);
            let start = Instant::now();
            let _ = propagator.contract(set, &mut region, Some(&[v]));
            one.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    let (a, _, _) = quantiles(&mut full);
    let (b, _, _) = quantiles(&mut one);
    println!("{name:16} us median: full {a:6.2}  one variable {b:6.2}");
}

fn main() {
    const TABLES: [&str; 3] = ["contract", "decide", "project"];
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|a| !a.starts_with('-')).map(|a| a.to_lowercase()).collect();
    let (tables, names): (Vec<_>, Vec<_>) = wanted.iter().partition(|w| TABLES.contains(&w.as_str()));
    let is_wanted = |table: &str| tables.is_empty() || tables.iter().any(|t| *t == table);
    let chosen: Vec<_> = sets::all()
        .into_iter()
        .filter(|(name, _)| {
            names.is_empty() || names.iter().any(|w| name.to_lowercase().starts_with(w.as_str()))
        })
        .collect();
    if is_wanted("contract") {
        println!("contraction");
        chosen.iter().for_each(|(name, set)| contract(name, set));
    }
    if is_wanted("decide") {
        println!("\ndecision of {BOXES} boxes, 100 % to 2 % wide");
        chosen.iter().for_each(|(name, set)| decide(name, set));
    }
    if is_wanted("project") {
        println!("\nprojection of {POINTS} random points, gap {GAP}");
        chosen.iter().for_each(|(name, set)| project(name, set));
    }
}
