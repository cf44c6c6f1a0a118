//! Second-order branching: the split whose two children promise the largest products of bound gains.

use super::cells::FeatureCells;
use super::links::{FeatureLinks, Links};
use super::model::{Model, NONE, SKETCH_DIM};

/// A chosen split. Cells of one side; the other side keeps the rest of the box.
#[derive(Clone, Debug, Default)]
pub(crate) struct Split {
    pub(crate) feature: usize,
    /// Words of the variable's left cells.
    pub(crate) left: Vec<u64>,
    /// First-order gain of each side: valid additions to the plain bound.
    pub(crate) gains: [f64; 2],
    /// Estimated gain of each side.
    pub(crate) estimates: [f64; 2],
}

/// A candidate split: the first `prefix` positions of the variable's order, or position `single` alone.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    feature: u32,
    prefix: u32,
    single: u32,
    gains: [f64; 2],
    score: f64,
}

/// An item with weight, and its class of a link.
#[derive(Clone, Copy, Debug)]
struct Support {
    class: u32,
    position: u32,
    weight: f64,
}

/// `sum z v` of each block, in the coordinates of one matrix; computed when first needed.
#[derive(Debug, Default)]
struct BlockSums {
    sums: Vec<f64>,
    known: Vec<bool>,
    displacement: Vec<f64>,
}

/// Buffers of [`choose`].
#[derive(Debug, Default)]
pub(crate) struct BranchScratch {
    candidates: Vec<Candidate>,
    /// Position of each segment in the order of its variable.
    position: Vec<u32>,
    order: Vec<u32>,
    /// By position of the variable at hand: dropped since the links were built.
    dead: Vec<bool>,
    any_dead: bool,
    table: Vec<f64>,
    /// Suffix minima; masses by end and by start.
    suffix: Vec<f64>,
    ends: Vec<f64>,
    begins: Vec<f64>,
    gains: [Vec<f64>; 2],
    mass: Vec<f64>,
    class_cost: Vec<f64>,
    class_mass: Vec<f64>,
    class_span: Vec<(u32, u32)>,
    /// The restricted items with weight, by link: `support[support_ends[link - 1]..support_ends[link]]`.
    support: Vec<Support>,
    support_ends: Vec<u32>,
    sketch: BlockSums,
    exact: BlockSums,
    pub(crate) split: Split,
}

/// Candidates that get a second-order score.
const KEPT: usize = 16;
/// Candidates whose second-order score is computed exactly, when it was estimated from projected vectors first.
const FINALISTS: usize = 2;

/// What branching is based on: a node as it was when its links were built. Items dropped since have an infinite cost and no weight, segments
/// dropped since an infinite bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basis<'a> {
    /// Items and their weights, by block.
    pub(crate) items: &'a [u32],
    pub(crate) starts: &'a [u32],
    pub(crate) z: &'a [f64],
    /// Costs of the items: see [`super::dual::Dual::guide`].
    pub(crate) g: &'a [f64],
    /// Bound of each segment, which orders the levels of a category.
    pub(crate) segment_bound: &'a [f64],
    pub(crate) curvature: f64,
    /// How much a child must gain to be pruned.
    pub(crate) need: f64,
}

impl Basis<'_> {
    fn n_blocks(&self) -> usize {
        self.starts.len() - 1
    }

    fn block(&self, block: usize) -> std::ops::Range<usize> {
        self.starts[block] as usize..self.starts[block + 1] as usize
    }
}

/// Chooses a split into `scratch.split`. False when no variable tells items apart.
pub(crate) fn choose(
    model: &Model<'_>,
    links: &Links,
    basis: Basis<'_>,
    scratch: &mut BranchScratch,
) -> bool {
    model.kernels.dispatch(
        #[inline(always)]
        || list_candidates(model, links, basis, scratch),
    );
    if scratch.candidates.is_empty() {
        return false;
    }
    if basis.curvature == 0.0 {
        // Without curvature no weight is split, the mass is nothing, and the sum of gains would keep neighbours of one lopsided threshold.
        for candidate in &mut scratch.candidates {
            candidate.score = second_score(candidate.gains, basis.need);
        }
    }
    if scratch.candidates.len() > KEPT {
        keep_best(&mut scratch.candidates, KEPT);
    }
    scratch.sketch.reset(basis);
    scratch.exact.reset(basis);
    if basis.curvature > 0.0 && !model.sketch.is_empty() && scratch.candidates.len() > FINALISTS {
        for k in 0..scratch.candidates.len() {
            let estimates = estimate(model, links, basis, scratch, k, true);
            scratch.candidates[k].score = second_score(estimates, basis.need);
        }
        keep_best(&mut scratch.candidates, FINALISTS);
    }
    let mut best: Option<(f64, usize, [f64; 2])> = None;
    for k in 0..scratch.candidates.len() {
        let estimates = estimate(model, links, basis, scratch, k, false);
        let score = second_score(estimates, basis.need);
        if best.is_none_or(|(s, ..)| score > s) {
            best = Some((score, k, estimates));
        }
    }
    let (_, k, estimates) = best.expect("there is a candidate");
    let candidate = scratch.candidates[k];
    let feature = &links.features[candidate.feature as usize];
    let split = &mut scratch.split;
    split.feature = feature.feature as usize;
    split.gains = candidate.gains;
    split.estimates = estimates;
    split.left.clear();
    split.left.resize(model.cells.words(split.feature).len(), 0);
    for segment in links.segments(feature) {
        if on_left(&candidate, scratch.position[segment]) {
            for &cell in links.cells(segment) {
                split.left[cell as usize / 64] |= 1 << (cell % 64);
            }
        }
    }
    true
}

/// Keeps the candidates with the highest scores, in a fixed order.
fn keep_best(candidates: &mut Vec<Candidate>, n: usize) {
    let key = |c: &Candidate| (c.feature, c.prefix, c.single);
    candidates
        .select_nth_unstable_by(n, |a, b| b.score.total_cmp(&a.score).then_with(|| key(a).cmp(&key(b))));
    candidates.truncate(n);
    candidates.sort_unstable_by_key(key);
}

fn second_score(estimates: [f64; 2], need: f64) -> f64 {
    let [left, right] = estimates.map(|e| (e / need).clamp(1e-4, 1.0));
    left * right + 0.001 * left.min(right)
}

/// First-order gain plus half the curvature times the squared displacement, for each side.
fn estimate(
    model: &Model<'_>,
    links: &Links,
    basis: Basis<'_>,
    scratch: &mut BranchScratch,
    k: usize,
    sketched: bool,
) -> [f64; 2] {
    let candidate = scratch.candidates[k];
    let mut estimates = candidate.gains;
    if basis.curvature > 0.0 {
        model.kernels.dispatch(
            #[inline(always)]
            || {
                for (side, estimate) in estimates.iter_mut().enumerate() {
                    let moved = if sketched {
                        let matrix = (&model.sketch[..], SKETCH_DIM);
                        displacement_sq(matrix, links, &candidate, side, basis, scratch, true)
                    } else {
                        let matrix = (&model.factor[..], model.stride);
                        displacement_sq(matrix, links, &candidate, side, basis, scratch, false)
                    };
                    *estimate += 0.5 * basis.curvature * moved;
                }
            },
        );
    }
    estimates
}

#[inline(always)]
fn list_candidates(model: &Model<'_>, links: &Links, basis: Basis<'_>, scratch: &mut BranchScratch) {
    scratch.candidates.clear();
    scratch.position.clear();
    scratch.position.resize(links.segment_starts.len() - 1, 0);
    let n_classes = links.classes.len();
    scratch.class_cost.clear();
    scratch.class_cost.resize(n_classes, f64::INFINITY);
    scratch.class_mass.clear();
    scratch.class_mass.resize(n_classes, 0.0);
    scratch.support.clear();
    for (&position, &class) in links.members.iter().zip(&links.member_class) {
        let (g, k, weight) = (basis.g[position as usize], class as usize, basis.z[position as usize]);
        scratch.class_cost[k] = if g < scratch.class_cost[k] { g } else { scratch.class_cost[k] };
        if weight > 0.0 {
            scratch.class_mass[k] += weight;
            scratch.support.push(Support { class, position, weight });
        }
    }
    scratch.support_ends.clear();
    let mut end = 0;
    for link in &links.links {
        let all = link.end_class + u32::from(link.has_free);
        // The free class of a link comes after the others; it is on both sides of every split.
        end += scratch.support[end..].iter().take_while(|s| s.class < all).count();
        scratch.support_ends.push(end as u32);
    }
    scratch.class_span.clear();
    scratch.class_span.resize(links.classes.len(), (0, 0));
    for (number, feature) in links.features.iter().enumerate() {
        order_segments(model, links, feature, basis.segment_bound, scratch);
        score_prefixes(links, number, feature, basis.need, scratch);
        if matches!(model.cells.feature(feature.feature as usize), FeatureCells::Levels(_))
            && feature.n_segments > 2
        {
            score_singles(links, number, feature, basis.need, scratch);
        }
    }
}

fn on_left(candidate: &Candidate, position: u32) -> bool {
    if candidate.single == NONE { position < candidate.prefix } else { position == candidate.single }
}

/// Numbers keep their order; levels are ordered by their bounds.
#[inline(always)]
fn order_segments(
    model: &Model<'_>,
    links: &Links,
    feature: &FeatureLinks,
    bounds: &[f64],
    scratch: &mut BranchScratch,
) {
    let segments = links.segments(feature);
    let categorical = matches!(model.cells.feature(feature.feature as usize), FeatureCells::Levels(_));
    scratch.order.clear();
    scratch.order.extend(0..feature.n_segments);
    if categorical {
        let bounds = &bounds[segments.clone()];
        scratch.order.sort_by(|&a, &b| bounds[a as usize].total_cmp(&bounds[b as usize]));
    }
    scratch.dead.clear();
    for (position, &segment) in scratch.order.iter().enumerate() {
        scratch.position[segments.start + segment as usize] = position as u32;
        scratch.dead.push(bounds[segments.start + segment as usize] == f64::INFINITY);
    }
    scratch.any_dead = scratch.dead.contains(&true);
    let (position, dead) = (&scratch.position[segments], &scratch.dead);
    for link in links.links_of(feature) {
        for k in link.first_class as usize..link.end_class as usize {
            let runs = links.runs_of(&links.classes[k]);
            let span = if categorical {
                let all = runs.iter().flat_map(|&(a, b)| a..b).map(|s| position[s as usize]);
                let alive = all.filter(|&p| !dead[p as usize]);
                let span = alive.fold((NONE, 0), |(low, high), p| (low.min(p), high.max(p)));
                if span.0 == NONE { (0, 0) } else { span }
            } else {
                let (mut low, mut high) = (runs[0].0, runs[0].1 - 1);
                while scratch.any_dead && low < high && dead[low as usize] {
                    low += 1;
                }
                while scratch.any_dead && low < high && dead[high as usize] {
                    high -= 1;
                }
                (low, high)
            };
            scratch.class_span[k] = span;
        }
    }
}

/// Cheapest item of a link at each position.
#[inline(always)]
fn fill_table(links: &Links, number: usize, first_segment: usize, n: usize, scratch: &mut BranchScratch) {
    let BranchScratch { table, position, class_cost, dead, any_dead, .. } = scratch;
    let link = &links.links[number];
    table.clear();
    table.resize(n, if link.has_free { class_cost[link.end_class as usize] } else { f64::INFINITY });
    for k in link.first_class as usize..link.end_class as usize {
        for &(first, end) in links.runs_of(&links.classes[k]) {
            for segment in first as usize..end as usize {
                let entry = &mut table[position[first_segment + segment] as usize];
                *entry = if class_cost[k] < *entry { class_cost[k] } else { *entry };
            }
        }
    }
    if *any_dead {
        for (entry, _) in table.iter_mut().zip(&*dead).filter(|(_, dead)| **dead) {
            *entry = f64::INFINITY;
        }
    }
}

fn pre_score(gains: [f64; 2], mass: f64, need: f64) -> f64 {
    mass + 0.5 * (gains[0] / need).min(1.0) + 0.5 * (gains[1] / need).min(1.0)
}

#[inline(always)]
fn score_prefixes(
    links: &Links,
    number: usize,
    feature: &FeatureLinks,
    need: f64,
    scratch: &mut BranchScratch,
) {
    let n = feature.n_segments as usize;
    for gains in &mut scratch.gains {
        gains.clear();
        gains.resize(n, 0.0);
    }
    scratch.mass.clear();
    scratch.mass.resize(n, 0.0);
    for link_number in feature.first_link as usize..feature.end_link as usize {
        let link = &links.links[link_number];
        fill_table(links, link_number, feature.first_segment as usize, n, scratch);
        let BranchScratch { table, suffix, ends, begins, gains, mass, class_mass, class_span, .. } =
            &mut *scratch;
        suffix.clear();
        suffix.resize(n + 1, f64::INFINITY);
        ends.clear();
        ends.resize(n + 1, 0.0);
        begins.clear();
        begins.resize(n + 1, 0.0);
        for k in link.first_class as usize..link.end_class as usize {
            ends[class_span[k].1 as usize + 1] += class_mass[k];
            begins[class_span[k].0 as usize] += class_mass[k];
        }
        for p in (0..n).rev() {
            suffix[p] = suffix[p + 1].min(table[p]);
            begins[p] += begins[p + 1];
        }
        let min = suffix[0];
        let (mut prefix, mut left) = (f64::INFINITY, 0.0);
        for p in 1..n {
            prefix = prefix.min(table[p - 1]);
            left += ends[p];
            gains[0][p] += prefix - min;
            gains[1][p] += suffix[p] - min;
            mass[p] += left.min(begins[p]);
        }
    }
    let mut alive_before = false;
    for p in 1..n {
        alive_before |= !scratch.dead[p - 1];
        if !alive_before || scratch.dead[p] {
            continue;
        }
        let gains = [scratch.gains[0][p], scratch.gains[1][p]];
        let score = pre_score(gains, scratch.mass[p], need);
        scratch.candidates.push(Candidate {
            feature: number as u32,
            prefix: p as u32,
            single: NONE,
            gains,
            score,
        });
    }
}

/// One level (segment) of a category against the rest.
fn score_singles(
    links: &Links,
    number: usize,
    feature: &FeatureLinks,
    need: f64,
    scratch: &mut BranchScratch,
) {
    let n = feature.n_segments as usize;
    // Position 0 alone is a prefix already.
    if scratch.dead.iter().filter(|dead| !**dead).count() < 3 {
        return;
    }
    for p in 1..n as u32 {
        if scratch.dead[p as usize] {
            continue;
        }
        let (mut gains, mut mass) = ([0.0; 2], 0.0);
        for link_number in feature.first_link as usize..feature.end_link as usize {
            let link = &links.links[link_number];
            let free =
                if link.has_free { scratch.class_cost[link.end_class as usize] } else { f64::INFINITY };
            let (mut inside, mut outside) = (free, free);
            let (mut only_inside, mut only_outside) = (0.0, 0.0);
            for k in link.first_class as usize..link.end_class as usize {
                let cost = scratch.class_cost[k];
                let (low, high) = scratch.class_span[k];
                let covers = covers(links, k, feature, p, &scratch.position);
                if covers {
                    inside = inside.min(cost);
                } else {
                    only_outside += scratch.class_mass[k];
                }
                if covers && low == high {
                    only_inside += scratch.class_mass[k];
                } else {
                    outside = outside.min(cost);
                }
            }
            let min = inside.min(outside);
            gains[0] += inside - min;
            gains[1] += outside - min;
            mass += f64::min(only_inside, only_outside);
        }
        let score = pre_score(gains, mass, need);
        scratch.candidates.push(Candidate { feature: number as u32, prefix: 0, single: p, gains, score });
    }
}

fn covers(links: &Links, class: usize, feature: &FeatureLinks, position: u32, positions: &[u32]) -> bool {
    let positions = &positions[links.segments(feature)];
    links
        .runs_of(&links.classes[class])
        .iter()
        .any(|&(a, b)| (a..b).any(|s| positions[s as usize] == position))
}

impl BlockSums {
    fn reset(&mut self, basis: Basis<'_>) {
        self.known.clear();
        self.known.resize(basis.n_blocks(), false);
    }

    /// `sum z v` of a block.
    #[inline(always)]
    fn sum(&mut self, basis: Basis<'_>, (matrix, stride): (&[f64], usize), block: usize) -> &[f64] {
        if self.sums.len() < basis.n_blocks() * stride {
            self.sums.resize(basis.n_blocks() * stride, 0.0);
        }
        let sum = &mut self.sums[block * stride..(block + 1) * stride];
        if !self.known[block] {
            self.known[block] = true;
            sum.fill(0.0);
            for i in basis.block(block) {
                if basis.z[i] > 0.0 {
                    let item = basis.items[i] as usize;
                    add_scaled(sum, basis.z[i], &matrix[item * stride..(item + 1) * stride]);
                }
            }
        }
        sum
    }
}

#[inline(always)]
fn add_scaled(target: &mut [f64], factor: f64, row: &[f64]) {
    for (t, r) in target.iter_mut().zip(row) {
        *t += factor * r;
    }
}

/// `|D|^2`, where `D` moves `u` when the node is restricted to one side: the weight of items that only touch the other side goes to the
/// remaining items of their block in proportion, or to the cheapest remaining one when no weight is left.
#[inline(always)]
fn displacement_sq(
    (matrix, stride): (&[f64], usize),
    links: &Links,
    candidate: &Candidate,
    side: usize,
    basis: Basis<'_>,
    scratch: &mut BranchScratch,
    sketched: bool,
) -> f64 {
    let feature = &links.features[candidate.feature as usize];
    let BranchScratch { class_span, position, support, support_ends, sketch, exact, .. } = scratch;
    let sums = if sketched { sketch } else { exact };
    let row = |i: u32| {
        let item = basis.items[i as usize] as usize;
        &matrix[item * stride..(item + 1) * stride]
    };
    let mut displacement = std::mem::take(&mut sums.displacement);
    displacement.clear();
    displacement.resize(stride, 0.0);
    let mut any = false;
    for number in feature.first_link as usize..feature.end_link as usize {
        let link = &links.links[number];
        // True when the class lies wholly on the side that is cut off.
        let gone = |class: u32| {
            let (low, high) = class_span[class as usize];
            class < link.end_class
                && match (candidate.single, side) {
                    (NONE, 0) => low >= candidate.prefix,
                    (NONE, _) => high < candidate.prefix,
                    (single, 0) => !covers(links, class as usize, feature, single, position),
                    (single, _) => low == high && low == single,
                }
        };
        let first = if number == 0 { 0 } else { support_ends[number - 1] as usize };
        let support = &support[first..support_ends[number] as usize];
        let lost: f64 = support.iter().filter(|s| gone(s.class)).map(|s| s.weight).sum();
        if lost < 1e-9 {
            continue;
        }
        any = true;
        let left = 1.0 - lost;
        // With mass left: D = (lost / left) (sum z v - gone) - gone.
        let share = if left > 1e-6 { 1.0 / left } else { 1.0 };
        for s in support.iter().filter(|s| gone(s.class)) {
            add_scaled(&mut displacement, -share * s.weight, row(s.position));
        }
        let block = link.block as usize;
        if left > 1e-6 {
            let sum = sums.sum(basis, (matrix, stride), block);
            add_scaled(&mut displacement, lost / left, sum);
            continue;
        }
        let is_gone = |i: usize| {
            let holds = |k: u32| links.members_of(&links.classes[k as usize]).contains(&(i as u32));
            (link.first_class..link.end_class).any(|k| gone(k) && holds(k))
        };
        let g = basis.g;
        let heir = basis.block(block).filter(|&i| !is_gone(i)).min_by(|&a, &b| g[a].total_cmp(&g[b]));
        if let Some(heir) = heir {
            add_scaled(&mut displacement, lost, row(heir as u32));
        }
    }
    let mut length = [0.0; 4];
    if any {
        for four in displacement.chunks_exact(4) {
            for k in 0..4 {
                length[k] += four[k] * four[k];
            }
        }
    }
    sums.displacement = displacement;
    (length[0] + length[1]) + (length[2] + length[3])
}
