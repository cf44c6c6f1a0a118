//! The splits that a node offers, with their first-order gains.

use crate::search::cells::FeatureCells;
use crate::search::index::{
    ClassId, Id, IdVec, LinkId, LinkedId, LocalSegment, Partition, Position, Rank, SegmentId, Span, SupportId,
};
use crate::search::links::{Link, LinkedFeature, Links};
use crate::search::messages::free_minima;
use crate::search::model::Model;
use crate::search::pieces::SplitGains;

use super::basis::Basis;

/// What goes left, in the variable's order of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cut {
    /// One segment alone.
    Single(Rank),
    /// The segments before.
    Prefix(Rank),
}

impl Cut {
    /// True when the segment of the rank goes left.
    pub(crate) fn on_left(self, rank: Rank) -> bool {
        match self {
            Self::Single(single) => rank == single,
            Self::Prefix(end) => rank < end,
        }
    }
}

/// A candidate split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) linked: LinkedId,
    pub(crate) cut: Cut,
    /// First-order gain of each side.
    pub(crate) gains: [f64; 2],
    pub(crate) score: f64,
}

/// A restricted item with weight, and its class of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Support {
    pub(crate) class: ClassId,
    pub(crate) position: Position,
    pub(crate) weight: f64,
}

/// The candidates of a node, and what their gains are computed from.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    pub(crate) list: Vec<Candidate>,
    /// Rank of each segment in the order of its variable.
    pub(crate) rank: IdVec<SegmentId, Rank>,
    /// The ranks that a class spans.
    class_span: IdVec<ClassId, Span<Rank>>,
    class_cost: IdVec<ClassId, f64>,
    class_mass: IdVec<ClassId, f64>,
    /// The restricted items with weight, by link.
    pub(crate) support: IdVec<SupportId, Support>,
    pub(crate) support_of: Partition<LinkId, SupportId>,
    // Of the variable at hand.
    order: Vec<LocalSegment>,
    /// Dropped since the links were built.
    dead: IdVec<Rank, bool>,
    any_dead: bool,
    /// Cheapest item of a link at each rank.
    table: IdVec<Rank, f64>,
    /// Suffix minima; masses by end and by start.
    suffix: IdVec<Rank, f64>,
    ends: IdVec<Rank, f64>,
    begins: IdVec<Rank, f64>,
    gains: [IdVec<Rank, f64>; 2],
    mass: IdVec<Rank, f64>,
    split_gains: SplitGains,
}

impl Candidates {
    /// Lists every split of every variable that tells items apart.
    #[inline(always)]
    pub(crate) fn collect(&mut self, model: &Model<'_>, links: &Links, basis: Basis<'_>) {
        self.list.clear();
        self.rank.refill(links.n_segments(), Rank::default());
        self.class_cost.refill(links.classes.len(), f64::INFINITY);
        self.class_mass.refill(links.classes.len(), 0.0);
        self.support.clear();
        for (&position, &class) in links.members.iter().zip(&links.member_class) {
            let (g, weight) = (basis.g[position], basis.z[position]);
            let cost = &mut self.class_cost[class];
            *cost = if g < *cost { g } else { *cost };
            if weight > 0.0 {
                self.class_mass[class] += weight;
                self.support.push(Support { class, position, weight });
            }
        }
        self.support_of.clear();
        let mut end = SupportId::default();
        for link in &links.links {
            let classes_end = link.all_classes().end;
            while end < self.support.next_id() && self.support[end].class < classes_end {
                end = end.next();
            }
            self.support_of.push_end(end);
        }
        self.class_span.refill(links.classes.len(), Span::default());
        for (number, linked) in links.features.ids().into_iter().zip(&links.features) {
            let categorical = matches!(model.cells.feature(linked.feature), FeatureCells::Levels(_));
            self.order_segments(links, linked, categorical, basis.segment_bound);
            if linked.by_piece() {
                free_minima(links, linked, basis.g, &mut self.class_cost);
                self.score_by_piece(links, number, linked, basis.need);
            } else {
                self.score_prefixes(links, number, linked, basis.need);
            }
            if categorical && linked.n_segments() > 2 {
                self.score_singles(links, number, linked, basis.need);
            }
        }
    }

    /// Keeps the `n` candidates with the highest scores, in a fixed order.
    pub(crate) fn keep_best(&mut self, n: usize) {
        if self.list.len() <= n {
            return;
        }
        let key = |c: &Candidate| (c.linked, c.cut);
        let better =
            |a: &Candidate, b: &Candidate| b.score.total_cmp(&a.score).then_with(|| key(a).cmp(&key(b)));
        self.list.select_nth_unstable_by(n, better);
        self.list.truncate(n);
        self.list.sort_unstable_by_key(key);
    }

    /// True when the class lies wholly on the side that is cut off from the other. The free class of a link is on both sides of every split.
    #[inline(always)]
    pub(crate) fn is_gone(
        &self,
        links: &Links,
        candidate: &Candidate,
        side: usize,
        link: &Link,
        class: ClassId,
    ) -> bool {
        if class >= link.classes.end {
            return false;
        }
        let span = self.class_span[class];
        match (candidate.cut, side) {
            (Cut::Prefix(end), 0) => span.first >= end,
            (Cut::Prefix(end), _) => span.end <= end,
            (Cut::Single(single), 0) => !self.covers(links, class, &links.features[candidate.linked], single),
            (Cut::Single(single), _) => span.len() == 1 && span.first == single,
        }
    }

    /// True when one of the class's segments has the rank.
    fn covers(&self, links: &Links, class: ClassId, linked: &LinkedFeature, rank: Rank) -> bool {
        let ranks = &self.rank[linked.segments];
        links.runs_of(class).iter().any(|run| ranks[run.range()].contains(&rank))
    }

    /// Numbers keep their order; levels are ordered by their bounds.
    #[inline(always)]
    fn order_segments(
        &mut self,
        links: &Links,
        linked: &LinkedFeature,
        categorical: bool,
        bounds: &IdVec<SegmentId, f64>,
    ) {
        let bounds = &bounds[linked.segments];
        self.order.clear();
        self.order.extend(Span::<LocalSegment>::up_to(linked.n_segments()));
        if categorical {
            self.order.sort_by(|&a, &b| bounds[a.index()].total_cmp(&bounds[b.index()]));
        }
        self.dead.clear();
        let ranks = &mut self.rank[linked.segments];
        for &segment in &self.order {
            ranks[segment.index()] = self.dead.push(bounds[segment.index()] == f64::INFINITY);
        }
        self.any_dead = self.dead.as_slice().contains(&true);
        if linked.by_piece() {
            // No displacement is asked of them.
            return;
        }
        let (ranks, dead) = (&*ranks, &self.dead);
        for link in &links.links[linked.links] {
            for k in link.classes {
                let runs = links.runs_of(k);
                self.class_span[k] = if categorical {
                    let all = runs.iter().flat_map(|run| &ranks[run.range()]).copied();
                    let alive = all.filter(|&rank| !dead[rank]);
                    let widen = |span: Option<Span<Rank>>, rank: Rank| {
                        let Span { first, end } = span.unwrap_or(Span::new(rank, rank));
                        Some(Span::new(first.min(rank), end.max(rank.next())))
                    };
                    alive.fold(None, widen).unwrap_or(Span::up_to(1))
                } else {
                    // The ranks of a number's segments are their own numbers, and a class has one run.
                    let run = runs[0];
                    let (mut low, mut high) =
                        (Rank::from_raw(run.first.raw()), Rank::from_raw(run.last().raw()));
                    while self.any_dead && low < high && dead[low] {
                        low = low.next();
                    }
                    while self.any_dead && low < high && dead[high] {
                        high = high.previous();
                    }
                    Span::new(low, high.next())
                };
            }
        }
    }

    /// Cheapest item of a link at each rank.
    #[inline(always)]
    fn fill_table(&mut self, links: &Links, linked: &LinkedFeature, link: &Link) {
        let Self { table, rank, class_cost, dead, any_dead, .. } = self;
        table.refill(linked.n_segments(), link.free().map_or(f64::INFINITY, |k| class_cost[k]));
        let ranks = &rank[linked.segments];
        for k in link.classes {
            for run in links.runs_of(k) {
                for &rank in &ranks[run.range()] {
                    let entry = &mut table[rank];
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

    #[inline(always)]
    fn score_prefixes(&mut self, links: &Links, number: LinkedId, linked: &LinkedFeature, need: f64) {
        let n = linked.n_segments();
        let ranks: Span<Rank> = Span::up_to(n);
        let inner = Span::new(ranks.first.next(), ranks.end);
        for gains in &mut self.gains {
            gains.refill(n, 0.0);
        }
        self.mass.refill(n, 0.0);
        for link in &links.links[linked.links] {
            self.fill_table(links, linked, link);
            let Self { table, suffix, ends, begins, gains, mass, class_mass, class_span, .. } = &mut *self;
            suffix.refill(n + 1, f64::INFINITY);
            ends.refill(n + 1, 0.0);
            begins.refill(n + 1, 0.0);
            for k in link.classes {
                ends[class_span[k].end] += class_mass[k];
                begins[class_span[k].first] += class_mass[k];
            }
            for p in ranks.into_iter().rev() {
                suffix[p] = suffix[p.next()].min(table[p]);
                begins[p] += begins[p.next()];
            }
            let min = suffix[ranks.first];
            let (mut prefix, mut left) = (f64::INFINITY, 0.0);
            for p in inner {
                prefix = prefix.min(table[p.previous()]);
                left += ends[p];
                gains[0][p] += prefix - min;
                gains[1][p] += suffix[p] - min;
                mass[p] += left.min(begins[p]);
            }
        }
        self.list_prefixes(number, need);
    }

    /// As [`Candidates::score_prefixes`], from rows by piece; without curvature no weight is split, so the masses do not matter.
    #[inline(always)]
    fn score_by_piece(&mut self, links: &Links, number: LinkedId, linked: &LinkedFeature, need: f64) {
        let n = linked.n_segments();
        for gains in &mut self.gains {
            gains.refill(n, 0.0);
        }
        self.mass.refill(n, 0.0);
        let gains = self.gains.each_mut().map(IdVec::as_mut_slice);
        self.split_gains.fill(links, linked, &self.class_cost, self.dead.as_slice(), gains);
        self.list_prefixes(number, need);
    }

    /// Lists the splits of a variable between two of its segments that are left.
    #[inline(always)]
    fn list_prefixes(&mut self, number: LinkedId, need: f64) {
        let mut alive_before = false;
        for p in self.dead.ids().into_iter().skip(1) {
            alive_before |= !self.dead[p.previous()];
            if !alive_before || self.dead[p] {
                continue;
            }
            let gains = [self.gains[0][p], self.gains[1][p]];
            let score = first_score(gains, self.mass[p], need);
            self.list.push(Candidate { linked: number, cut: Cut::Prefix(p), gains, score });
        }
    }

    /// One level (segment) of a category against the rest.
    fn score_singles(&mut self, links: &Links, number: LinkedId, linked: &LinkedFeature, need: f64) {
        if self.dead.iter().filter(|dead| !**dead).count() < 3 {
            return;
        }
        // The first alone is a prefix already.
        for rank in self.dead.ids().into_iter().skip(1) {
            if self.dead[rank] {
                continue;
            }
            let (mut gains, mut mass) = ([0.0; 2], 0.0);
            for link in &links.links[linked.links] {
                let free = link.free().map_or(f64::INFINITY, |k| self.class_cost[k]);
                let (mut inside, mut outside) = (free, free);
                let (mut only_inside, mut only_outside) = (0.0, 0.0);
                for k in link.classes {
                    let cost = self.class_cost[k];
                    let covers = self.covers(links, k, linked, rank);
                    if covers {
                        inside = inside.min(cost);
                    } else {
                        only_outside += self.class_mass[k];
                    }
                    if covers && self.class_span[k].len() == 1 {
                        only_inside += self.class_mass[k];
                    } else {
                        outside = outside.min(cost);
                    }
                }
                let min = inside.min(outside);
                gains[0] += inside - min;
                gains[1] += outside - min;
                mass += f64::min(only_inside, only_outside);
            }
            let score = first_score(gains, mass, need);
            self.list.push(Candidate { linked: number, cut: Cut::Single(rank), gains, score });
        }
    }
}

fn first_score(gains: [f64; 2], mass: f64, need: f64) -> f64 {
    mass + 0.5 * (gains[0] / need).min(1.0) + 0.5 * (gains[1] / need).min(1.0)
}
