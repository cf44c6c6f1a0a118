//! Space-filling designs of feasible points, without rejection sampling.
//!
//! A candidate is made by fixing variables (and settling disjunctions) one by one at random values of what propagation leaves of their
//! ranges, so that thin simplexes and ordered chains cost no more than boxes; a local solve meets equations that propagation cannot.
//! A few rounds of freeing two or three variables and choosing them again (block Gibbs) take away the bias of the order. Of several
//! candidates the one farthest from all points so far is kept (Mitchell's best candidate).

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use crate::domain::Domain;
use crate::questions::{ROUNDING, is_one_value};
use crate::region::{Range, Region};
use crate::search::{Search, Workspace};
use crate::{Constraints, Limits, Tolerance};

/// Candidates for each point.
const CANDIDATES: usize = 16;
/// Rounds of block moves for each candidate, each moving every variable once on average.
const ROUNDS: usize = 2;
/// Values tried for a variable before a projection decides.
const TRIES: usize = 4;
/// Discrete variables of at most this many values get balanced counts.
const BALANCED: usize = 12;
/// A real with less than this share of its size left may be at one value: a square is below zero at one point, which rounding widens to its root.
const NEARLY_ONE_VALUE: f64 = 1e-7;
/// Nodes of a projection that repairs a candidate.
const REPAIR_NODES: usize = 200;

/// Which reals of a box are settled before points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Settling {
    /// Those whose range is nothing but rounding.
    Rounding,
    /// Those whose range is [`NEARLY_ONE_VALUE`].
    NearlyOneValue,
    /// All that a constraint reads.
    Read,
}

/// A design under construction.
#[derive(Debug)]
pub(crate) struct Design<'a> {
    set: &'a Constraints,
    work: &'a mut Workspace,
    log_scale: &'a [bool],
    limits: Limits,
    points: Vec<Vec<f64>>,
    existing: usize,
    /// How often each alternative of each disjunction was taken, by root.
    taken: Vec<Vec<u32>>,
}

impl<'a> Design<'a> {
    pub(crate) fn new(
        set: &'a Constraints,
        work: &'a mut Workspace,
        existing: &[Vec<f64>],
        log_scale: &'a [bool],
        limits: Limits,
    ) -> Self {
        let taken = vec![Vec::new(); set.model.roots.len()];
        Self { set, work, log_scale, limits, points: existing.to_vec(), existing: existing.len(), taken }
    }

    pub(crate) fn points(mut self, n: usize, rng: &mut impl Rng) -> Vec<Vec<f64>> {
        let mut full = Region::full(&self.set.domains);
        if !self.work.propagator.contract(self.set, &mut full, None) {
            return Vec::new();
        }
        // Ranges of nothing but rounding have one value; others may turn out to have one, and where sets touch only the variables that no constraint reads are free.
        let mut tried: Vec<Region> = Vec::new();
        for stage in [Settling::Rounding, Settling::NearlyOneValue, Settling::Read] {
            if self.points.len() == self.existing + n {
                break;
            }
            let room = self.settled(&full, stage);
            if !tried.contains(&room) {
                self.collect(n, &room, rng);
                tried.push(room);
            }
        }
        self.points.split_off(self.existing)
    }

    /// The box with some reals at their value in some feasible point.
    fn settled(&mut self, full: &Region, stage: Settling) -> Region {
        let (domains, model) = (&self.set.domains, &self.set.model);
        let is_settled = |&v: &usize| match stage {
            Settling::Rounding => is_one_value(&domains[v], &full.0[v], ROUNDING),
            Settling::NearlyOneValue => is_one_value(&domains[v], &full.0[v], NEARLY_ONE_VALUE),
            Settling::Read => !domains[v].is_discrete() && !model.users[v].is_empty(),
        };
        let is_open = |v: &usize| !full.0[*v].is_fixed();
        let settled: Vec<usize> = (0..full.0.len()).filter(is_open).filter(is_settled).collect();
        if settled.is_empty() {
            return full.clone();
        }
        let first: Vec<f64> = full.0.iter().map(value_of).collect();
        let limits = Limits { nodes: REPAIR_NODES, ..self.limits.clone() };
        let decision = Search::new(self.set, self.work, &first, limits, true).thorough().decision(full);
        let crate::Decision::Feasible(mut x) = decision else { return full.clone() };
        if stage != Settling::Read {
            // Short decimals rather than what rounding left.
            let mut short = x.clone();
            for &v in &settled {
                if let Range::Interval { lower, upper } = full.0[v] {
                    short[v] = crate::search::simplest(lower, upper);
                }
            }
            if self.set.is_feasible(&short, Tolerance::Produce) {
                x = short;
            }
        }
        let mut room = full.clone();
        for v in settled {
            room.0[v] = crate::search::fixed(&self.set.domains[v], x[v]);
        }
        if self.work.propagator.contract(self.set, &mut room, None) { room } else { full.clone() }
    }

    /// Adds points until there are `n` new ones, or no more are found.
    fn collect(&mut self, n: usize, full: &Region, rng: &mut impl Rng) {
        let mut misses = 0;
        while self.points.len() < self.existing + n && misses < 3 && !self.limits.must_stop() {
            let mut best: Option<(f64, Vec<f64>)> = None;
            for _ in 0..CANDIDATES {
                if self.limits.must_stop() {
                    break;
                }
                let Some(x) = self.candidate(full, rng) else { continue };
                let distance = self.points.iter().map(|p| self.distance(p, &x)).fold(f64::INFINITY, f64::min);
                if distance > 0.0
                    && best.as_ref().is_none_or(|(d, _)| distance > *d)
                    && !self.points.iter().any(|p| self.are_one(p, &x))
                {
                    best = Some((distance, x));
                }
            }
            match best {
                Some((_, x)) => {
                    let short =
                        Search::new(self.set, self.work, &x, self.limits.clone(), true).shorten(&x, full);
                    // Rounding may meet a point that is there already.
                    let x = if self.points.contains(&short) { x } else { short };
                    misses = 0;
                    self.note(&x);
                    self.points.push(x);
                }
                None => {
                    misses += 1;
                    if let Some(x) = self.missing(full, rng) {
                        self.points.push(x);
                        misses = 0;
                    }
                }
            }
        }
    }

    /// Counts the alternatives that a point takes.
    fn note(&mut self, x: &[f64]) {
        let region = Region(
            self.set.domains.iter().zip(x).map(|(d, &v)| crate::search::fixed(d, v)).collect::<Vec<_>>(),
        );
        let mut search = Search::new(self.set, self.work, x, Limits::default(), true);
        for root in 0..self.taken.len() {
            for k in search.alternatives_taken(&region, root as u32) {
                if self.taken[root].len() <= k {
                    self.taken[root].resize(k + 1, 0);
                }
                self.taken[root][k] += 1;
            }
        }
    }

    /// A point of a small discrete space that random candidates keep missing: enumeration by branching.
    fn missing(&mut self, full: &Region, rng: &mut impl Rng) -> Option<Vec<f64>> {
        let discrete = self.set.domains.iter().zip(&full.0).all(|(d, r)| d.is_discrete() || r.is_fixed());
        if !discrete {
            return None;
        }
        let mut pending = vec![full.clone()];
        let mut steps = 0;
        while let Some(region) = pending.pop() {
            steps += 1;
            if steps > 20_000 || self.limits.must_stop() {
                return None;
            }
            let inside = self.points.iter().filter(|p| region.contains(p)).count();
            let size: f64 = self
                .set
                .domains
                .iter()
                .zip(&region.0)
                .map(|(d, r)| crate::search::size(d, r).max(1.0))
                .product();
            if size <= inside as f64 {
                continue;
            }
            let free: Vec<usize> = (0..region.0.len()).filter(|&v| !region.0[v].is_fixed()).collect();
            if free.is_empty() {
                let x: Vec<f64> = region.0.iter().map(value_of).collect();
                if self.set.is_feasible(&x, Tolerance::Produce) && !self.points.contains(&x) {
                    return Some(x);
                }
                continue;
            }
            let v = free[rng.random_range(0..free.len())];
            for value in self.choices(v, &region.0[v], rng) {
                let mut child = region.clone();
                child.0[v] = crate::search::fixed(&self.set.domains[v], value);
                if self.work.propagator.contract(self.set, &mut child, Some(&[v])) {
                    pending.push(child);
                }
            }
        }
        None
    }

    /// All values of a small discrete range in random order.
    fn choices(&self, v: usize, range: &Range, rng: &mut impl Rng) -> Vec<f64> {
        let mut all = Vec::new();
        match range {
            Range::Levels(levels) => all.extend(levels.iter().map(|l| l as f64)),
            Range::Interval { lower, upper } => {
                let domain = &self.set.domains[v];
                let mut at = domain.ceil(*lower);
                while let Some(x) = at.filter(|x| x <= upper) {
                    all.push(x);
                    at = domain.ceil(x.next_up());
                }
            }
        }
        all.shuffle(rng);
        all
    }

    fn candidate(&mut self, full: &Region, rng: &mut impl Rng) -> Option<Vec<f64>> {
        let mut region = full.clone();
        self.settle_disjunctions(&mut region, rng);
        let order = self.order(rng);
        let mut x = self.fill(region, &order, REPAIR_NODES, rng)?;
        let continuous: Vec<usize> = (0..x.len()).filter(|&v| !full.0[v].is_fixed()).collect();
        for _ in 0..ROUNDS {
            for _ in 0..continuous.len() {
                if self.limits.must_stop() {
                    return Some(x);
                }
                let count = if rng.random_bool(0.5) { 2 } else { 3 };
                let freed: Vec<usize> =
                    (0..count).map(|_| continuous[rng.random_range(0..continuous.len())]).collect();
                if let Some(y) = self.move_block(full, &x, &freed, rng) {
                    x = y;
                }
            }
        }
        Some(x)
    }

    /// Frees some variables of a point and chooses them again.
    fn move_block(
        &mut self,
        full: &Region,
        x: &[f64],
        freed: &[usize],
        rng: &mut impl Rng,
    ) -> Option<Vec<f64>> {
        let mut region = full.clone();
        for (v, range) in region.0.iter_mut().enumerate() {
            if !freed.contains(&v) {
                *range = crate::search::fixed(&self.set.domains[v], x[v]);
            }
        }
        if !self.work.propagator.contract(self.set, &mut region, None) {
            return None;
        }
        let mut order = freed.to_vec();
        order.shuffle(rng);
        // A move that leads nowhere is given up: there are others.
        self.fill(region, &order, 1, rng)
    }

    /// Takes a random alternative of each open disjunction, those taken seldom so far first.
    fn settle_disjunctions(&mut self, region: &mut Region, rng: &mut impl Rng) {
        let mut roots: Vec<usize> = (0..self.set.model.roots.len()).collect();
        roots.shuffle(rng);
        for root in roots {
            let alternatives = {
                let centre: Vec<f64> = region.0.iter().map(value_of).collect();
                let mut search = Search::new(self.set, self.work, &centre, Limits::default(), true);
                search.numbered_alternatives(region, root as u32)
            };
            let Some(mut alternatives) = alternatives else { continue };
            alternatives.shuffle(rng);
            let count = |k: usize| self.taken[root].get(k).copied().unwrap_or(0);
            alternatives.sort_by_key(|&(k, _)| count(k));
            // Mostly the seldom ones, sometimes any.
            if rng.random_bool(0.3) {
                alternatives.shuffle(rng);
            }
            for (_, truth) in alternatives {
                let mut child = region.clone();
                let (model, domains) = (&self.set.model, &self.set.domains);
                if self.work.propagator.assume(model, domains, &mut child, root as u32, truth) {
                    *region = child;
                    break;
                }
            }
        }
    }

    /// Variables that decide whether others exist come first, else a random order: an early child would always wake its parent.
    fn order(&self, rng: &mut impl Rng) -> Vec<usize> {
        let n = self.set.domains.len();
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(rng);
        let is_child = |v: usize| self.set.hierarchy.iter().any(|h| h.variable == v);
        let is_parent = |v: usize| {
            let gates = self.set.hierarchy.iter().map(|h| self.set.roots[h.constraint]);
            let mut gates =
                gates.filter_map(|id| self.set.model.roots.iter().find(|r| r.piece.condition == id));
            !is_child(v) && gates.any(|root| root.variables.contains(&v))
        };
        order.sort_by_key(|&v| if is_parent(v) { 0 } else { 1 + u8::from(is_child(v)) });
        order
    }

    /// Fixes the free variables of a contracted box in order; falls back on a search of so many nodes where propagation does not suffice.
    fn fill(
        &mut self,
        mut region: Region,
        order: &[usize],
        nodes: usize,
        rng: &mut impl Rng,
    ) -> Option<Vec<f64>> {
        for &v in order {
            if region.0[v].is_fixed() {
                continue;
            }
            let mut done = false;
            for value in self.random_values(v, &region.0[v], rng) {
                let mut child = region.clone();
                child.0[v] = crate::search::fixed(&self.set.domains[v], value);
                if self.work.propagator.contract(self.set, &mut child, Some(&[v])) {
                    region = child;
                    done = true;
                    break;
                }
            }
            if !done {
                return self.repair(&region, nodes, rng);
            }
        }
        let x: Vec<f64> = region.0.iter().map(value_of).collect();
        if self.set.is_feasible(&x, Tolerance::Produce) { Some(x) } else { self.repair(&region, nodes, rng) }
    }

    /// A feasible point of a box near a random one.
    fn repair(&mut self, region: &Region, nodes: usize, rng: &mut impl Rng) -> Option<Vec<f64>> {
        let mut target = Vec::with_capacity(region.0.len());
        for (v, range) in region.0.iter().enumerate() {
            target.push(*self.random_values(v, range, rng).first()?);
        }
        let limits = Limits { nodes, ..self.limits.clone() };
        let search = |work: &mut Workspace, region: &Region| match Search::new(
            self.set,
            work,
            &target,
            limits.clone(),
            true,
        )
        .near_centre()
        .decision(region)
        {
            crate::Decision::Feasible(x) => Some(x),
            _ => None,
        };
        let found = search(self.work, region);
        if found.is_some() || nodes == 1 {
            return found;
        }
        // Dead end: somewhere in the whole space then.
        search(self.work, &Region::full(&self.set.domains))
    }

    /// Values to try for a variable: all of a small discrete range, in a random order that favours those rare so far; a few of another.
    fn random_values(&self, v: usize, range: &Range, rng: &mut impl Rng) -> Vec<f64> {
        let domain = &self.set.domains[v];
        if crate::search::size(domain, range) <= BALANCED as f64 {
            let count = |x: f64| self.points.iter().filter(|p| p[v] == x).count();
            // Exponential races: the smallest of -ln(u) / weight is drawn with probability proportional to the weight.
            let mut raced: Vec<(f64, f64)> = self
                .choices(v, range, rng)
                .into_iter()
                .map(|x| (-rng.random::<f64>().max(1e-300).ln() * (1.0 + count(x) as f64).powi(2), x))
                .collect();
            raced.sort_by(|a, b| a.0.total_cmp(&b.0));
            return raced.into_iter().map(|(_, x)| x).collect();
        }
        let Range::Interval { lower, upper } = *range else { return Vec::new() };
        let draw = |u: f64| {
            let x = if self.is_log(v) && lower > 0.0 {
                (lower.ln() + u * (upper.ln() - lower.ln())).exp()
            } else {
                lower + u * (upper - lower)
            };
            domain.nearest(x, lower, upper)
        };
        (0..TRIES).filter_map(|_| draw(rng.random())).collect()
    }

    fn is_log(&self, v: usize) -> bool {
        self.log_scale.get(v).copied().unwrap_or(false) && self.set.domains[v].bounds().0 > 0.0
    }

    /// Whether two points differ by nothing but rounding.
    fn are_one(&self, a: &[f64], b: &[f64]) -> bool {
        self.set.domains.iter().enumerate().all(|(v, domain)| {
            let (lower, upper) = domain.bounds();
            let size = if self.is_log(v) { a[v].abs().max(b[v].abs()) } else { upper - lower };
            a[v] == b[v] || !domain.is_discrete() && (a[v] - b[v]).abs() <= ROUNDING * size
        })
    }

    /// Squared distance on the unit cube, logarithmic where asked; 1 for different levels.
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (v, domain) in self.set.domains.iter().enumerate() {
            if a[v] == b[v] {
                continue;
            }
            let (lower, upper) = domain.bounds();
            sum += if matches!(domain, Domain::Categorical { .. }) {
                1.0
            } else if self.is_log(v) && a[v] > 0.0 && b[v] > 0.0 {
                ((a[v] / b[v]).ln() / (upper / lower).ln()).powi(2)
            } else {
                ((a[v] - b[v]) / (upper - lower)).powi(2)
            };
        }
        sum
    }
}

/// The value of a fixed range, the first of another.
fn value_of(range: &Range) -> f64 {
    match range {
        Range::Interval { lower, .. } => *lower,
        Range::Levels(levels) => levels.first().unwrap_or(0) as f64,
    }
}
