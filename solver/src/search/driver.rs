//! The whole search: start heuristics, rounds of subtrees, report.

mod ladder;
mod queue;
mod restore;
mod start;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::forest::Forest;
use crate::objective::LeafObjective;

use super::error::SearchError;
use super::local::Neighbours;
use super::model::{Model, Stopped};
use super::moves::Moves;
use super::node::{Node, OpenNode};
use super::options::SearchOptions;
use super::pool::{Found, Pool, Undecided};
use super::report::{Incumbent, Progress, Report, Status, StopReason};
use super::subtree::{Context, Worker};
use crate::objective::relative_gap;
use crate::problem::Problem;
use ladder::Ladder;
use queue::Queue;

/// Nodes of a subtree before what is left of it returns to the queue.
const SUBTREE_NODES: u64 = 50;
/// Numbers in the items' vectors up to which a subtree has that many nodes. Larger nodes take longer, and a round must end before a time limit has much to wait for: subtrees have fewer
/// then, by the square.
const SUBTREE_NUMBERS: usize = 1 << 21;
/// The same while there are too few subtrees to keep threads busy: the first nodes, which are the largest, must not all wait for one.
const FIRST_NODES: u64 = 2;
/// Memory of the nodes that wait as they were left; the others in the queue are built again.
const WHOLE_BYTES: usize = 128 << 20;
/// Subtrees of a round: all start from the same incumbent, and their results are merged in order, so that the search does not depend on the number
/// of threads.
const SUBTREES: usize = 16;
/// Chains of moves of two variables for a sum of trees that is open after so many nodes: `(nodes, chains)`. After the last of them, one of moves of three
/// from the best point.
const MOVES: [(u64, usize); 2] = [(16, 2), (400, 8)];
/// Nodes after which the root of a sum of trees that is still open is polished: the smallest problems do not pay for it.
const POLISH_AFTER: u64 = 3;
/// The preparation has this long whatever the time limit, so that small problems are prepared under the shortest one.
const LEAST_PREPARATION: Duration = Duration::from_millis(500);

/// State of the search between rounds.
struct Search<'a> {
    problem: &'a Problem<'a>,
    options: &'a SearchOptions,
    started: Instant,
    pool: Pool,
    undecided: Undecided,
    queue: Queue,
    nodes: u64,
    /// False for the rungs of a ladder themselves.
    has_ladder: bool,
    ladder: Ladder,
    /// The root of a sum of trees with polished messages, where these bound more.
    root: Option<Node>,
}

/// Runs the search on a checked problem.
pub(crate) fn run(problem: &Problem<'_>, options: &SearchOptions) -> Result<Report, SearchError> {
    run_within(problem, options, WHOLE_BYTES)
}

/// The same, with other memory for the nodes that wait as they were left.
fn run_within(
    problem: &Problem<'_>,
    options: &SearchOptions,
    most_whole_bytes: usize,
) -> Result<Report, SearchError> {
    let started = Instant::now();
    let mut search = Search::new(problem, options, Queue::best_first(most_whole_bytes));
    search.started = started;
    let deadline = options.time_limit.and_then(|limit| started.checked_add(limit));
    let must_stop = || {
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        (is_late || options.interrupted()) && started.elapsed() >= LEAST_PREPARATION
    };
    let model = match Model::new_while(problem, &must_stop) {
        Ok(Some(model)) => model,
        Ok(None) => return Ok(search.report(StopReason::Exhausted)),
        Err(Stopped) => return Ok(search.unprepared()),
    };
    let neighbours = Neighbours::new(&model);
    let context = Context { model: &model, neighbours: &neighbours, options, deadline };
    search.queue.push(search.root(&model));
    let threads = match options.threads {
        0 | 1 => None,
        n => {
            let built = rayon::ThreadPoolBuilder::new().num_threads(n).build();
            Some(built.map_err(|error| SearchError::Options(format!("{n} threads: {error}")))?)
        }
    };
    search.start(&context, threads.as_ref());
    let reason = search.rounds(&context, threads.as_ref());
    Ok(search.report(reason))
}

/// Nodes of a subtree of a model with so many numbers in its items' vectors: from its size alone, since the search must not depend on the clock.
fn subtree_nodes(numbers: usize) -> u64 {
    let share = (SUBTREE_NUMBERS as f64 / numbers as f64).min(1.0);
    FIRST_NODES.max((SUBTREE_NODES as f64 * share * share) as u64)
}

/// Each tree at its best leaf, the deviation at its largest: a bound before any search, so that even the shortest limit leaves one.
fn trivial_bound(objective: &LeafObjective, forest: &Forest) -> f64 {
    let (mut sum, mut magnitude) = (objective.constant, objective.constant.abs());
    for tree in 0..forest.n_trees() {
        let leaves = &objective.linear[forest.leaf_offset(tree)..forest.leaf_offset(tree + 1)];
        let best = leaves.iter().copied().fold(f64::INFINITY, f64::min);
        sum += best;
        magnitude += best.abs();
    }
    let deviation =
        objective.quadratic.as_ref().map_or(0.0, |q| q.kappa.max(0.0) * q.bounding_prior().sqrt());
    // Sums of n terms err by at most n rounding errors of their magnitude; the factor covers the square root and the product too.
    let margin = 4.0 * f64::EPSILON * (forest.n_trees() + 4) as f64 * (magnitude + deviation);
    sum - deviation - margin
}

/// Results of numbered jobs, in order. Each job is handed out alone: they differ in length, and a thread must not sit on several.
fn each_of<T: Send, R: Send>(
    threads: Option<&ThreadPool>,
    jobs: Vec<T>,
    run: impl Fn((usize, T)) -> R + Send + Sync,
) -> Vec<R> {
    match threads {
        None => jobs.into_iter().enumerate().map(run).collect(),
        Some(threads) => {
            threads.install(|| jobs.into_par_iter().with_max_len(1).enumerate().map(run).collect())
        }
    }
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem<'a>, options: &'a SearchOptions, queue: Queue) -> Self {
        Self {
            problem,
            options,
            started: Instant::now(),
            pool: Pool::new(options.k_best, problem.cell_trees()),
            undecided: Undecided::default(),
            queue,
            nodes: 0,
            has_ladder: true,
            ladder: Ladder::default(),
            root: None,
        }
    }

    /// The report of a search whose limits ended its preparation: the best start point, and what is known of every point.
    fn unprepared(mut self) -> Report {
        for x in &self.options.start_points {
            if x.len() == self.problem.domains.len() && self.problem.allows(x) {
                let leaves = self.problem.forest.active_leaves(x);
                let objective = self.problem.value(x, &leaves);
                self.pool.insert(&Found { objective, leaves, x: x.clone() });
            }
        }
        self.undecided.bound = self.trivial_bound();
        let interrupted = self.options.interrupted();
        self.report(if interrupted { StopReason::Interrupted } else { StopReason::TimeLimit })
    }

    fn trivial_bound(&self) -> f64 {
        trivial_bound(self.problem.objective, self.problem.forest)
    }

    /// The node to start from.
    fn root(&self, model: &Model<'_>) -> OpenNode {
        match &self.root {
            Some(root) => OpenNode::Whole { node: Box::new(root.clone()), split: None },
            None => OpenNode::root(model, self.trivial_bound()),
        }
    }

    fn cutoff(&self) -> f64 {
        self.options.cutoff(self.pool.worst())
    }

    /// Rounds of subtrees until nothing is left below the cutoff or a limit is reached.
    fn rounds(&mut self, context: &Context<'_>, threads: Option<&ThreadPool>) -> StopReason {
        let workers: Mutex<Vec<Worker>> = Mutex::new(Vec::new());
        let moves_fit = self.options.local_search && Moves::fit(context.model);
        let mut polishes = self.has_ladder && context.model.deviation.is_none();
        let mut stages = (0..MOVES.len()).filter(|_| moves_fit).peekable();
        loop {
            if self.climb(context, threads) {
                self.queue.clear();
            }
            let cutoff = self.cutoff();
            let mut batch = Vec::with_capacity(SUBTREES);
            while batch.len() < SUBTREES {
                let Some(node) = self.queue.pop_below(cutoff) else { break };
                batch.push(node);
            }
            if batch.is_empty() {
                let undecided = self.undecided.bound < cutoff;
                return if undecided || self.pool.found.len() < self.options.k_best {
                    StopReason::Exhausted
                } else {
                    StopReason::Gap
                };
            }
            let limit_reached =
                self.options.node_limit.is_some_and(|limit| self.nodes + self.ladder.nodes >= limit);
            if limit_reached || context.must_stop() {
                batch.into_iter().for_each(|node| self.queue.push(node));
                return if self.options.interrupted() {
                    StopReason::Interrupted
                } else if limit_reached {
                    StopReason::NodeLimit
                } else {
                    StopReason::TimeLimit
                };
            }
            if let Some(stage) = stages.next_if(|&stage| self.nodes >= MOVES[stage].0) {
                self.moves(context, threads, stage);
            }
            if polishes && self.nodes >= POLISH_AFTER {
                polishes = false;
                batch.into_iter().for_each(|node| self.queue.push(node));
                self.polish(context);
                continue;
            }
            let (nodes, pool) = (self.nodes, &self.pool);
            let budget = match batch.len() {
                1 => 1,
                n if n < SUBTREES => FIRST_NODES,
                _ => subtree_nodes(context.model.factor.values.len()),
            };
            let run = |(k, node): (usize, OpenNode)| {
                let mut worker = workers.lock().expect("no worker panics").pop().unwrap_or_default();
                let number = nodes + k as u64 * SUBTREE_NODES;
                let outcome = worker.run(context, node, budget, number, pool.clone());
                workers.lock().expect("no worker panics").push(worker);
                outcome
            };
            let outcomes = each_of(threads, batch, run);
            for outcome in outcomes {
                self.nodes += outcome.nodes;
                self.undecided.merge(outcome.undecided);
                for found in &outcome.pool.found {
                    self.pool.insert(found);
                }
                self.queue.push_open(outcome.open);
            }
            self.announce();
        }
    }

    /// A lower bound over every cell outside the pool.
    fn remaining_bound(&self) -> f64 {
        let proved = self.queue.bound().min(self.cutoff()).min(self.undecided.bound).max(self.ladder.bound);
        // A rung knew the cells that were listed then, within the gap.
        if self.pool.lists_values(self.problem) { proved.min(self.cutoff()) } else { proved }
    }

    fn best_bound(&self) -> f64 {
        let best = self.pool.found.first().map_or(f64::INFINITY, |found| found.objective);
        self.remaining_bound().min(if self.pool.lists_values(self.problem) {
            self.options.cutoff(best)
        } else {
            best
        })
    }

    fn announce(&self) {
        if let Some(callback) = &self.options.progress {
            let objective = self.pool.found.first().map(|found| found.objective);
            let best_bound = self.best_bound();
            callback.0(&Progress {
                objective,
                best_bound,
                gap: objective.map_or(f64::INFINITY, |o| relative_gap(o, best_bound)),
                nodes: self.nodes + self.ladder.nodes,
                open: self.queue.len(),
                seconds: self.started.elapsed().as_secs_f64(),
            });
        }
    }

    fn incumbent(&self, found: &Found) -> Incumbent {
        Incumbent {
            x: found.x.clone(),
            objective: found.objective,
            mean: self.problem.objective.mean(&found.leaves),
            deviation: self.problem.objective.deviation(&found.leaves),
            region: self.problem.level_set(&found.x),
        }
    }

    fn report(mut self, stop_reason: StopReason) -> Report {
        let options = self.options;
        for found in std::mem::take(&mut self.ladder.found) {
            self.pool.insert(&found);
        }
        let remaining_bound = self.remaining_bound();
        let best_bound = self.best_bound();
        let mut listed = self.pool.found.iter().map(|found| self.incumbent(found));
        let incumbent = listed.next();
        let others: Vec<_> = listed.collect();
        let last = others.last().or(incumbent.as_ref()).map(|i| i.objective);
        let proved = if options.k_best > 1 { remaining_bound } else { best_bound };
        let gap = last.map_or(f64::INFINITY, |objective| relative_gap(objective, proved));
        // A list that limits left short is not done, however good what it holds.
        let is_full = self.pool.found.len() >= options.k_best || remaining_bound == f64::INFINITY;
        let status = match last {
            // A complete proof ends at the cutoff, which rounding may put a hair beyond the requested gap.
            Some(objective)
                if is_full
                    && (gap <= options.gap
                        || objective - proved <= options.absolute_gap
                        || remaining_bound >= self.cutoff()) =>
            {
                Status::Optimal
            }
            Some(_) => Status::Feasible,
            None if remaining_bound == f64::INFINITY => Status::Infeasible,
            None => Status::Unknown,
        };
        Report {
            status,
            stop_reason,
            incumbent,
            others,
            best_bound,
            remaining_bound,
            gap,
            nodes: self.nodes + self.ladder.nodes,
            undecided_cells: self.undecided.count,
            seconds: self.started.elapsed().as_secs_f64(),
            threads: options.threads,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::queue::Queue;
    use super::{FIRST_NODES, SUBTREE_NODES, SUBTREE_NUMBERS, Search, run_within, subtree_nodes};
    use crate::search::model::Model;
    use crate::search::{Problem, SearchOptions, Status, StopReason};
    use crate::testing::{crossing_trees, wavy_objective};

    #[test]
    fn large_nodes_wait_for_fewer_others() {
        let limit = SUBTREE_NUMBERS;
        let nodes = [0, 1, limit, 2 * limit, 3 * limit, 1_000 * limit].map(subtree_nodes);
        assert_eq!(nodes, [SUBTREE_NODES, SUBTREE_NODES, SUBTREE_NODES, 12, 5, FIRST_NODES]);
    }

    /// A model for which there is no time leaves the start points and a bound that holds.
    #[test]
    fn a_search_without_time_for_its_model_answers_with_what_it_was_given() {
        let (domains, forest) = crossing_trees(12, 3, 11);
        let objective = wavy_objective(forest.n_leaves());
        let problem = Problem::new(&domains, &forest, &objective);
        assert!(Model::new_while(&problem, &|| true).is_err());
        let optimum = run_within(&problem, &SearchOptions::default(), usize::MAX).unwrap().best_bound;

        let empty = SearchOptions::default();
        let report = Search::new(&problem, &empty, Queue::best_first(usize::MAX)).unprepared();
        assert_eq!((report.status, report.stop_reason), (Status::Unknown, StopReason::TimeLimit));
        assert!(report.incumbent.is_none() && report.best_bound <= optimum && report.best_bound.is_finite());

        let start_points = vec![vec![0.1, 0.2, 0.9], vec![7.0, 0.0, 0.0], vec![0.7, 0.3, 0.4]];
        let given = SearchOptions { start_points, ..SearchOptions::default() };
        let report = Search::new(&problem, &given, Queue::best_first(usize::MAX)).unprepared();
        let values = [0, 2].map(|k| {
            let x: &[f64] = &given.start_points[k];
            problem.value(x, &forest.active_leaves(x))
        });
        assert_eq!(report.status, Status::Feasible);
        assert_eq!(report.incumbent.unwrap().objective, values[0].min(values[1]));
        assert!(report.best_bound <= optimum);
    }

    /// Whether nodes wait whole, built again, or some of each: the same answer, and on any number of threads the same nodes.
    #[test]
    fn the_answer_does_not_depend_on_the_memory_for_waiting_nodes() {
        let (domains, forest) = crossing_trees(40, 4, 23);
        let objective = wavy_objective(forest.n_leaves());
        let problem = Problem::new(&domains, &forest, &objective);
        let mut answers = Vec::new();
        for most_whole_bytes in [0, 20_000, usize::MAX] {
            let reports = [1, 2].map(|threads| {
                let options = SearchOptions { threads, local_search: false, ..SearchOptions::default() };
                run_within(&problem, &options, most_whole_bytes).unwrap()
            });
            let [one, two] = reports.map(|report| {
                assert_eq!(report.status, Status::Optimal);
                let best = report.incumbent.unwrap();
                (best.x, best.objective, report.best_bound, report.nodes)
            });
            assert_eq!(one, two);
            assert!(one.3 > 50, "only {} nodes", one.3);
            answers.push(one);
        }
        let best = answers[0].1;
        assert!(answers.iter().all(|answer| (answer.1 - best).abs() <= 1e-4 * best.abs()), "{answers:?}");
    }
}
