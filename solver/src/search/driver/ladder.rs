//! The ladder: bounds short of the optimum, proved rung by rung, for searches that their time limit will end.
//!
//! A search for the optimum raises its lowest bound late: a node that it cannot close gets little effort, and nothing is fixed but what the best value excludes.
//! Proving that nothing lies below some value in between is a far smaller search, for its cutoff fixes far more. So once a share of the time has gone, such
//! values are proved, each from the root again (what a cutoff fixes holds for that cutoff and lower ones only), and their times tell whether the whole proof
//! still fits into what is left. If so, the search itself goes on; it never depends on the rungs, so that its answer stays the same whether it was paused or
//! not. If not, one rung takes most of what is left; where its value was too high for that, the value falls, and what was done for the higher one counts.

use std::time::{Duration, Instant};

use rayon::ThreadPool;

use super::Search;
use crate::search::options::SearchOptions;
use crate::search::pool::{Found, Undecided};
use crate::search::subtree::Context;

/// Share of the time limit before the first rung.
const START: f64 = 0.0625;
/// The same where a deviation counts: there the search itself proves more within half of its limit than rungs do, and what it proves must not depend on the clock.
const START_OF_DEVIATION: f64 = 0.7;
/// What each rung leaves of the gap; the later ones are tried where the first would take too long.
const STEPS: [f64; 3] = [0.7, 0.8, 0.9];
/// Share of the time left that a rung may be expected to take: times grow faster than estimated, so that it takes most of it.
const SHARE: f64 = 0.5;
/// Share of the time left after which a rung's value falls.
const PATIENCE: f64 = 0.7;
/// Steps in which the value falls to what was proved before.
const FALLS: u32 = 10;

/// Rungs from which on the times are believed.
const TRUSTED: usize = 3;
/// How many times the last rung's time the whole proof may be estimated to take for that to be believed; a rung is cheap otherwise.
const NEAR: f64 = 8.0;

/// A value that was proved, and the time it took.
#[derive(Clone, Copy, Debug)]
struct Rung {
    bound: f64,
    seconds: f64,
}

/// How a rung ended.
enum RungEnd {
    /// Nothing lies below the value.
    Proved(f64),
    /// A limit came first.
    Open,
    /// Nothing lies below a point that was found; `settled` when no undecided cell does.
    Found { settled: bool },
}

/// The rungs so far.
#[derive(Debug)]
pub(super) struct Ladder {
    /// Proved: no allowed point outside the cells that the search lists has a smaller objective.
    pub(super) bound: f64,
    /// Nodes of all rungs.
    pub(super) nodes: u64,
    /// What the rungs found; the search learns of it at its end only.
    pub(super) found: Vec<Found>,
    rungs: Vec<Rung>,
    /// The lowest value whose proof was given up.
    given_up: f64,
    spent: Duration,
    /// By how much estimates of the whole proof are taken to be too low: the times grow faster than exponentially towards the optimum.
    correction: f64,
}

impl Default for Ladder {
    fn default() -> Self {
        Self {
            bound: f64::NEG_INFINITY,
            nodes: 0,
            found: Vec::new(),
            rungs: Vec::new(),
            given_up: f64::INFINITY,
            spent: Duration::ZERO,
            correction: 2.0,
        }
    }
}

impl Ladder {
    /// Seconds that a proof of the value may take: that of the last rung, continued exponentially at the fastest rate that two neighbouring rungs had.
    /// Times grow faster and faster towards the optimum, but those of single rungs are uneven.
    fn estimate(&self, bound: f64, gap: f64) -> f64 {
        let [.., last] = &self.rungs[..] else { return 0.0 };
        last.seconds * (self.rate(gap) * (bound - last.bound)).exp()
    }

    /// How fast the logarithm of the time grows with the value.
    fn rate(&self, gap: f64) -> f64 {
        let rate_of = |pair: &[Rung]| {
            let [before, after] = pair else { return 0.0 };
            // One that undecided cells ended proved less than it was meant to.
            if after.bound <= before.bound {
                return 0.0;
            }
            (after.seconds / before.seconds.max(1e-3)).max(1.2).ln() / (after.bound - before.bound)
        };
        match self.rungs.windows(2).map(rate_of).reduce(f64::max) {
            Some(rate) if rate > 0.0 => rate,
            // Nothing is known yet: twice the time for each rung.
            _ => std::f64::consts::LN_2 / ((1.0 - STEPS[0]) * gap),
        }
    }

    /// The value that a proof of so many seconds may reach, by the same estimate.
    fn reach(&self, seconds: f64, gap: f64) -> f64 {
        let [.., last] = &self.rungs[..] else { return f64::INFINITY };
        last.bound + (seconds / last.seconds.max(1e-3)).ln() / self.rate(gap)
    }

    /// The value to prove next, below the goal of the whole search, instead of going on with that; `proved` is the bound so far. `spent` and `left` are
    /// the seconds that the search itself has taken and that are left for all; `may_jump` when a value that is too high may fall.
    fn next(&mut self, proved: f64, goal: f64, spent: f64, left: f64, may_jump: bool) -> Option<f64> {
        let gap = goal - proved;
        let is_open = |rung: f64| rung > proved && rung < self.given_up;
        if self.rungs.len() >= TRUSTED {
            let whole = self.estimate(goal, gap);
            while self.correction * whole < spent {
                self.correction *= 2.0;
            }
            let is_near = self.rungs.last().is_some_and(|last| whole <= NEAR * last.seconds);
            if is_near && self.correction * whole - spent <= left {
                return None;
            }
            if may_jump && whole > left {
                let rung = self.reach(SHARE * left, gap);
                return (is_open(rung) && rung >= goal - STEPS[STEPS.len() - 1] * gap).then_some(rung);
            }
        }
        let rungs = STEPS.map(|step| goal - step * gap);
        rungs.into_iter().find(|&rung| is_open(rung) && self.estimate(rung, gap) <= SHARE * left)
    }
}

impl Search<'_> {
    /// Proves values short of the optimum for as long as that promises more than the search itself. Returns true when that settled everything.
    pub(super) fn climb(&mut self, context: &Context<'_>, threads: Option<&ThreadPool>) -> bool {
        // Who limits the nodes asks for the same answer on every machine; a sum of trees had its ladder before and keeps it.
        let is_wanted = self.has_ladder && (context.model.by_piece || self.options.node_limit.is_none());
        let Some(limit) = self.options.time_limit.filter(|_| is_wanted) else { return false };
        let start = limit.mul_f64(if context.model.by_piece { START } else { START_OF_DEVIATION });
        loop {
            let elapsed = self.started.elapsed();
            let left = limit.saturating_sub(elapsed).as_secs_f64();
            let goal = self.cutoff();
            let proved = self.remaining_bound();
            if context.must_stop() || elapsed < start || !goal.is_finite() || proved >= goal {
                return false;
            }
            let spent = elapsed.saturating_sub(self.ladder.spent).as_secs_f64();
            let may_jump = context.model.by_piece;
            let Some(cutoff) = self.ladder.next(proved, goal, spent, left, may_jump) else { return false };
            let begun = Instant::now();
            let end = self.rung(context, threads, cutoff, limit);
            self.ladder.spent += begun.elapsed();
            self.announce();
            match end {
                RungEnd::Proved(bound) => {
                    self.ladder.rungs.push(Rung { bound, seconds: begun.elapsed().as_secs_f64() });
                }
                RungEnd::Open => self.ladder.given_up = cutoff.min(self.ladder.given_up),
                // A better point was found, and nothing is below that, unless cells are undecided.
                RungEnd::Found { settled } => return settled,
            }
        }
    }

    /// Proves a value from the root. Where that takes too long, the value falls towards the bound that is known, step by step: what was found to hold nothing below
    /// the higher value holds nothing below the lower one.
    fn rung(
        &mut self,
        context: &Context<'_>,
        threads: Option<&ThreadPool>,
        value: f64,
        limit: Duration,
    ) -> RungEnd {
        let mut pool = self.pool.clone();
        self.ladder.found.iter().for_each(|found| _ = pool.insert(found));
        let mut undecided = Undecided::default();
        let mut open = vec![self.root(context.model)];
        let mut proved = self.remaining_bound();
        let begun = Instant::now();
        let left = limit.saturating_sub(self.started.elapsed());
        // A deviation is bounded by a tangent that moves; there values neither fall nor need another order.
        let falls = context.model.by_piece;
        for step in 0..if falls { FALLS } else { 1 } {
            let fallen = f64::from(step) / f64::from(FALLS);
            let cutoff = value - fallen * (value - proved);
            let node_limit = self.options.node_limit;
            let options = SearchOptions {
                objective_cutoff: cutoff,
                local_search: false,
                progress: None,
                node_limit: node_limit.map(|limit| limit.saturating_sub(self.nodes + self.ladder.nodes)),
                ..self.options.clone()
            };
            // The cutoff stands, so that the order costs nothing, and what is closed stays closed when it falls.
            let mut rung = Search::new(self.problem, &options, self.queue.another(falls));
            rung.has_ladder = false;
            rung.pool = pool;
            rung.undecided = undecided;
            open.into_iter().for_each(|node| rung.queue.push(node));
            let share = if falls { PATIENCE + (1.0 - PATIENCE) * fallen } else { SHARE };
            let patience = begun.checked_add(left.mul_f64(share));
            let deadline = [context.deadline, patience].into_iter().flatten().min();
            rung.rounds(&Context { options: &options, deadline, ..*context }, threads);
            let bound = rung.remaining_bound();
            self.ladder.nodes += rung.nodes;
            proved = proved.max(bound);
            self.ladder.bound = self.ladder.bound.max(bound);
            self.ladder.found.clone_from(&rung.pool.found);
            if bound >= cutoff {
                return RungEnd::Proved(bound);
            }
            if rung.queue.is_empty() {
                // An undecided cell, as by a deadline within it, may hold something below what was found.
                return RungEnd::Found { settled: rung.undecided.bound >= rung.cutoff() };
            }
            let is_late = patience.is_some_and(|end| Instant::now() >= end);
            if context.must_stop() || !is_late {
                break;
            }
            Search { pool, undecided, .. } = rung;
            open = rung.queue.into_nodes();
        }
        RungEnd::Open
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::time::{Duration, Instant};

    use super::{Ladder, Rung, RungEnd};
    use crate::search::Problem;
    use crate::search::driver::Search;
    use crate::search::driver::queue::Queue;
    use crate::search::local::Neighbours;
    use crate::search::model::Model;
    use crate::search::options::SearchOptions;
    use crate::search::report::StopReason;
    use crate::search::small::{Point, Small, allowed_points, best_in};
    use crate::search::subtree::Context;

    #[test]
    fn rungs_are_left_for_the_search_when_that_is_expected_to_end_in_time() {
        let mut ladder = Ladder::default();
        // Nothing is known: the first rung takes three tenths of the gap.
        assert_eq!(ladder.next(-10.0, 0.0, 1.0, 50.0, true), Some(-7.0));
        ladder.rungs.push(Rung { bound: -9.0, seconds: 0.5 });
        ladder.rungs.push(Rung { bound: -7.0, seconds: 1.0 });
        ladder.rungs.push(Rung { bound: -5.0, seconds: 2.0 });
        // Twice the time for each 2: 2 * 2^2.5 = 11.3 seconds for the whole, taken twice, of which 4 are spent.
        assert_eq!(ladder.next(-5.0, 0.0, 4.0, 18.7, true), None);
        assert_eq!(ladder.next(-5.0, 0.0, 4.0, 18.5, true), Some(-3.5));
        // Too little for the whole, whatever estimates are worth: half of 8 seconds are twice the last rung's time.
        let rung = ladder.next(-5.0, 0.0, 4.0, 8.0, true).unwrap();
        assert!((rung + 3.0).abs() < 1e-12, "{rung}");
        // Less than a tenth of the gap is not worth a rung.
        assert_eq!(ladder.next(-5.0, 0.0, 4.0, 4.5, true), None);
        assert_eq!(ladder.next(-5.0, 0.0, 4.0, 2.0, true), None);
        // The search has taken longer than estimated: the estimate doubles.
        assert_eq!(ladder.next(-5.0, 0.0, 23.0, 22.0, true), Some(-3.5));
        assert_eq!(ladder.next(-5.0, 0.0, 23.0, 23.0, true), None);
        // Half a second at -8 is twice the rate: 2 * 2^5 = 64 seconds, which is too far from what was measured to be believed, however much is left.
        ladder.rungs[0].bound = -8.0;
        ladder.correction = 1.0;
        assert_eq!(ladder.next(-5.0, 0.0, 4.0, 1_000.0, true), Some(-3.5));
        ladder.rungs.push(Rung { bound: -2.0, seconds: 16.0 });
        assert_eq!(ladder.next(-2.0, 0.0, 4.0, 1_000.0, true), None);
    }

    #[test]
    fn after_a_rung_that_was_given_up_only_lower_ones_are_tried() {
        let mut ladder = Ladder { given_up: -7.0, ..Ladder::default() };
        assert_eq!(ladder.next(-10.0, 0.0, 1.0, 50.0, true), Some(-8.0));
        ladder.given_up = -8.5;
        assert_eq!(ladder.next(-10.0, 0.0, 1.0, 50.0, true), Some(-9.0));
        ladder.given_up = -9.0;
        assert_eq!(ladder.next(-10.0, 0.0, 1.0, 50.0, true), None);
    }

    /// Undecided cells may end a rung below the one before.
    #[test]
    fn a_rung_that_proved_nothing_new_has_no_rate() {
        let mut ladder = Ladder::default();
        ladder.rungs.push(Rung { bound: -5.0, seconds: 1.0 });
        ladder.rungs.push(Rung { bound: -5.0, seconds: 3.0 });
        assert_eq!(ladder.next(-5.0, 0.0, 1.0, 50.0, true), Some(-3.5));
    }

    /// A search at its root with a ladder, three quarters of a limit of 4,000 seconds after its start.
    fn late<'a>(problem: &'a Problem<'a>, context: &Context<'a>) -> Search<'a> {
        let mut search = Search::new(problem, context.options, Queue::best_first(usize::MAX));
        search.started = Instant::now().checked_sub(Duration::from_secs(3_000)).unwrap();
        search.queue.push(search.root(context.model));
        search.start(context, None);
        search
    }

    /// Calls `check` with small random problems that have points, these points and their optimum.
    fn for_each_small(
        seeds: Range<u64>,
        mut check: impl for<'a> FnMut(u64, &'a Problem<'a>, &'a Model<'a>, &[Point], f64),
    ) {
        for seed in seeds {
            let small = Small::random(seed);
            let problem = small.problem();
            let Some(model) = Model::new(&problem) else { continue };
            let points = allowed_points(&model);
            if !points.is_empty() {
                let optimum = best_in(&model, &points, &model.cells.full());
                check(seed, &problem, &model, &points, optimum);
            }
        }
    }

    /// With a limit of nodes the same nodes are searched on every machine, however fast.
    #[test]
    fn a_limit_of_nodes_leaves_no_ladder_to_a_deviation() {
        let mut climbed = [0, 0];
        for seed in 0..100 {
            let small = Small::random(seed);
            let problem = small.problem();
            let Some(model) = Model::new(&problem).filter(|model| !model.by_piece) else { continue };
            for (climbed, node_limit) in climbed.iter_mut().zip([None, Some(1_000)]) {
                let time_limit = Some(Duration::from_secs(4_000));
                let options = SearchOptions { gap: 0.0, time_limit, node_limit, ..SearchOptions::default() };
                let neighbours = Neighbours::new(&model);
                let context =
                    Context { model: &model, neighbours: &neighbours, options: &options, deadline: None };
                let mut search = late(&problem, &context);
                search.climb(&context, None);
                *climbed += search.ladder.rungs.len();
            }
        }
        assert!(climbed[0] > 20 && climbed[1] == 0, "{climbed:?} rungs");
    }

    /// A rung without time for its value falls to lower ones, none of which is proved above a point.
    #[test]
    fn a_rung_that_falls_proves_no_more_than_is_true() {
        let (mut fell, mut proved) = (0, 0);
        for_each_small(0..100, |seed, problem, model, _, optimum| {
            let options =
                SearchOptions { gap: 0.0, local_search: false, threads: 1, ..SearchOptions::default() };
            let neighbours = Neighbours::new(model);
            let context = Context { model, neighbours: &neighbours, options: &options, deadline: None };
            for microseconds in [0, 50, 100, 200, 1_000_000_000] {
                let mut search = late(problem, &context);
                search.started = Instant::now();
                let limit = Duration::from_micros(microseconds);
                let end = search.rung(&context, None, optimum - 1e-6, limit);
                let bound = search.ladder.bound;
                assert!(bound <= optimum + 1e-12, "seed {seed}: {bound} above {optimum}");
                match end {
                    RungEnd::Proved(value) => {
                        assert_eq!(value, bound);
                        proved += 1;
                        fell += usize::from(bound < optimum - 2e-6);
                    }
                    RungEnd::Open => fell += 1,
                    RungEnd::Found { .. } => {}
                }
            }
        });
        assert!(fell > 50 && proved > 0, "{fell} fell, {proved} proved");
    }

    #[test]
    fn rungs_prove_bounds_of_every_point_and_leave_the_search_its_answer() {
        let (mut climbed, mut between, mut curved) = (0, 0, 0);
        for_each_small(0..400, |seed, problem, model, points, optimum| {
            // A point to start from that is rarely the best, as after an eighth of a long time limit.
            let start = points.iter().max_by(|a, b| a.value.total_cmp(&b.value)).unwrap();
            let options = SearchOptions {
                gap: 0.0,
                local_search: false,
                start_points: vec![start.x.clone()],
                time_limit: Some(Duration::from_secs(4_000)),
                ..SearchOptions::default()
            };
            let neighbours = Neighbours::new(model);
            let context = Context { model, neighbours: &neighbours, options: &options, deadline: None };
            let mut search = late(problem, &context);
            let settled = search.climb(&context, None);
            let proved = search.ladder.bound;
            assert!(proved <= optimum + 1e-12, "seed {seed}: {proved} above {optimum}");
            assert!(!settled || proved >= optimum - 1e-9, "seed {seed}: {proved} below {optimum}");
            climbed += search.ladder.rungs.len();
            curved += if model.by_piece { 0 } else { search.ladder.rungs.len() };
            between += usize::from(proved > f64::NEG_INFINITY && proved < optimum - 1e-6);
            if settled {
                search.queue.clear();
            }
            search.rounds(&context, None);
            let report = search.report(StopReason::Gap);
            let found = report.incumbent.unwrap().objective;
            assert!((found - optimum).abs() <= 2e-9, "seed {seed}: {found} instead of {optimum}");
            assert!(report.best_bound <= optimum + 1e-12);
        });
        assert!(climbed > 100 && between > 20, "{climbed} rungs, {between} bounds short of the optimum");
        assert!(curved > 50, "{curved} rungs with a deviation that is maximised");
    }

    /// A rung whose values all lie below what it proves has said nothing of the cells between that and the last of the list.
    #[test]
    fn rungs_leave_a_search_for_several_cells_its_list() {
        let mut climbed = 0;
        for seed in 0..400 {
            let small = Small::random(seed);
            let problem = small.problem();
            let Some(model) = Model::new(&problem) else { continue };
            let mut cells: Vec<(f64, Vec<usize>, Vec<f64>)> = allowed_points(&model)
                .into_iter()
                .map(|point| (point.value, problem.forest.active_leaves(&point.x), point.x))
                .collect();
            cells.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            cells.dedup_by(|a, b| a.1 == b.1);
            if cells.len() < 4 {
                continue;
            }
            let options = SearchOptions {
                gap: 0.0,
                k_best: 3,
                local_search: false,
                start_points: [0, cells.len() - 2, cells.len() - 1].map(|k| cells[k].2.clone()).into(),
                time_limit: Some(Duration::from_secs(4_000)),
                ..SearchOptions::default()
            };
            let neighbours = Neighbours::new(&model);
            let context =
                Context { model: &model, neighbours: &neighbours, options: &options, deadline: None };
            let mut search = late(&problem, &context);
            if search.climb(&context, None) {
                search.queue.clear();
            }
            climbed += search.ladder.rungs.len();
            search.rounds(&context, None);
            let report = search.report(StopReason::Gap);
            let listed = report.incumbent.iter().chain(&report.others);
            for (found, expected) in listed.zip(&cells[..3]) {
                let found = found.objective;
                assert!((found - expected.0).abs() <= 2e-9, "seed {seed}: {found} instead of {}", expected.0);
            }
            assert_eq!(report.others.len(), 2);
            assert!(report.remaining_bound <= cells[3].0 + 1e-9, "seed {seed}");
        }
        assert!(climbed > 100, "{climbed} rungs");
    }
}
