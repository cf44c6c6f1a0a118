//! Branch and bound for feasible and nearest points.
//!
//! Each node is contracted ([`contraction`], with the bounds of [`relaxation`]), split into independent components of constraints, dived from ([`dive`]) and split
//! ([`split`]). The bound of a node is the distance of the box, raised by the multipliers of the linear relaxation.

mod components;
mod contraction;
mod dive;
mod relaxation;
mod shorten;
mod split;
mod task;
mod thin;
mod workspace;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use components::components;
use contraction::Relaxed;
pub(super) use dive::{fixed, size};
use split::Split;
pub(super) use task::Search;
use task::Task;
use thin::Settled;
pub(super) use thin::simplest;
pub(super) use workspace::Workspace;

use crate::answer::{Decision, Projection};
use crate::region::Region;

/// Dives of the root node may try this many fixings, of any other node fewer.
const ROOT_BUDGET: usize = 60;
const NODE_BUDGET: usize = 12;
/// With an incumbent, the first nodes dive each, later ones in turn.
const ALL_DIVE: usize = 8;
const DIVE_EVERY: usize = 4;
/// Roots, those of components included, are looked at in exact fractions up to this node.
const SETTLED_NODES: usize = 64;
/// Components are solved to this share of the gap.
const COMPONENT_GAP: f64 = 0.3;
/// Distances below this are zero: no better point is looked for.
const NEGLIGIBLE: f64 = 1e-14;

/// What a task came to.
#[derive(Clone, Debug)]
struct Outcome {
    /// A point in variable order, right in the task's variables, and its distance over them.
    best: Option<(Vec<f64>, f64)>,
    /// No feasible point is nearer.
    bound: f64,
}

/// An open box.
#[derive(Debug)]
struct Node {
    bound: f64,
    /// Later nodes first among equals: deterministic, and depth first where bounds do not differ.
    number: usize,
    region: Region,
    /// The variable that was split.
    changed: Option<usize>,
    depth: usize,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}
impl Eq for Node {}
impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Node {
    fn cmp(&self, other: &Self) -> Ordering {
        other.bound.total_cmp(&self.bound).then(self.number.cmp(&other.number))
    }
}

/// The open boxes: by bound, or the latest first.
#[derive(Debug, Default)]
struct Open {
    heap: BinaryHeap<Node>,
    stack: Vec<Node>,
}

impl Open {
    fn pop(&mut self, depth_first: bool) -> Option<Node> {
        if depth_first {
            self.stack.pop().or_else(|| self.heap.pop())
        } else {
            self.heap.extend(self.stack.drain(..));
            self.heap.pop()
        }
    }

    fn bound(&self) -> f64 {
        self.heap.iter().chain(&self.stack).map(|n| n.bound).fold(f64::INFINITY, f64::min)
    }
}

impl Search<'_> {
    pub(super) fn decision(&mut self, region: &Region) -> Decision {
        if self.contradicts_strictly(&self.everything(), region) {
            return Decision::Infeasible;
        }
        let outcome = self.solve(&self.everything(), region.clone(), f64::INFINITY, 0.0, 0);
        match outcome.best {
            Some((x, _)) if self.is_feasible(&x) && region.contains(&x) => Decision::Feasible(x),
            _ if outcome.bound == f64::INFINITY => Decision::Infeasible,
            _ => {
                let reason = self.stopped.unwrap_or("no feasible point was found, none was excluded");
                Decision::Undecided(format!("{reason} after {} nodes", self.nodes))
            }
        }
    }

    pub(super) fn projection(&mut self, region: &Region, gap: f64) -> Projection {
        let outcome = self.solve(&self.everything(), region.clone(), f64::INFINITY, gap, 0);
        let nearest = outcome.best.filter(|(x, _)| self.is_feasible(x) && region.contains(x));
        Projection { nearest, bound: outcome.bound, nodes: self.nodes }
    }

    /// Minimises the distance over a task; points that are not nearer than `cutoff` are of no interest.
    fn solve(&mut self, task: &Task, region: Region, cutoff: f64, gap: f64, level: usize) -> Outcome {
        let mut best: Option<(Vec<f64>, f64)> = None;
        let mut upper = cutoff;
        let mut open = Open::default();
        let mut number = 0;
        // Least bound among the nodes that were left because of the gap or the limits.
        let mut left = f64::INFINITY;
        open.stack.push(Node { bound: 0.0, number, region, changed: None, depth: 0 });
        while let Some(mut node) = open.pop(best.is_none()) {
            let goal = upper * (1.0 - gap);
            if node.bound >= goal || (best.is_some() && upper <= NEGLIGIBLE) {
                left = left.min(node.bound);
                // All others are no better when the heap is ordered by bound.
                if open.stack.is_empty() && best.is_some() {
                    break;
                }
                continue;
            }
            if self.out_of_limits() {
                left = left.min(node.bound).min(open.bound());
                break;
            }
            self.nodes += 1;
            let fresh = node.depth == 0;
            let mut bound = node.bound;
            let mut dived = false;
            // Twice when the first look finds a nearer point, whose ball often closes the box.
            loop {
                let goal = upper * (1.0 - gap);
                let changed =
                    if dived { Some(&[][..]) } else { node.changed.as_ref().map(std::slice::from_ref) };
                let Some(relaxed) = self.relax(task, &mut node.region, goal, changed) else {
                    left = left.min(goal);
                    break;
                };
                bound = bound.max(relaxed.bound);
                match self.finish(task, &node.region, &relaxed, upper, gap, level) {
                    Finish::Done(outcome) => {
                        left = left.min(outcome.bound.max(bound));
                        if let Some((x, distance)) = outcome.best
                            && distance < upper
                        {
                            upper = distance;
                            best = Some((x, distance));
                        }
                        break;
                    }
                    Finish::Refuted => break,
                    Finish::Open => {}
                }
                // The first incumbent is nearly always the last: later nodes look for a better one now and then.
                let skip = best.is_some() && self.nodes > ALL_DIVE && !self.nodes.is_multiple_of(DIVE_EVERY);
                let mut split =
                    if dived || skip { self.split(task, &node.region, &relaxed) } else { Split::Stuck };
                if matches!(split, Split::Stuck) && !dived {
                    dived = true;
                    let start = if best.is_some() { 1 } else { NODE_BUDGET };
                    let mut budget = if fresh { ROOT_BUDGET } else { start };
                    let found = self.dive_from(task, &node.region, &relaxed, upper, gap, &mut budget);
                    if let Some((x, distance)) = found
                        && distance < upper
                    {
                        upper = distance;
                        best = Some((x, distance));
                        if !self.decide && bound < upper * (1.0 - gap) && upper > NEGLIGIBLE {
                            continue;
                        }
                    }
                }
                if bound >= upper * (1.0 - gap) || (self.decide && best.is_some()) {
                    left = left.min(bound);
                    break;
                }
                if matches!(split, Split::Stuck) {
                    split = self.split(task, &node.region, &relaxed);
                }
                if fresh
                    && self.nodes <= SETTLED_NODES
                    && self.thorough
                    && best.is_none()
                    && !matches!(split, Split::Refuted)
                {
                    self.work.estimates.follow_switches();
                    match self.settle(task, &node.region, &relaxed) {
                        Some(Settled::Refuted) => break,
                        Some(Settled::Narrower(region)) => {
                            number += 1;
                            open.stack.push(Node { bound, number, region, changed: None, depth: 1 });
                            break;
                        }
                        Some(Settled::Feasible(x)) => {
                            upper = self.metric.distance(self.domains, &task.variables, &x);
                            best = Some((x, upper));
                            if self.decide || bound >= upper * (1.0 - gap) {
                                left = left.min(bound);
                                break;
                            }
                        }
                        None => {}
                    }
                }
                match split {
                    Split::Halves(halves) => {
                        for (region, changed) in halves {
                            number += 1;
                            let (changed, depth) = (Some(changed), node.depth + 1);
                            open.stack.push(Node { bound, number, region, changed, depth });
                        }
                    }
                    Split::Refuted => {}
                    Split::Stuck => {
                        left = left.min(bound);
                        self.stopped.get_or_insert("a box too small to split could not be decided");
                    }
                }
                break;
            }
            if self.decide && best.is_some() {
                break;
            }
        }
        if self.decide && best.is_some() {
            return Outcome { best, bound: 0.0 };
        }
        let bound = left.min(open.bound());
        // Boxes cut off by `upper (1 - gap)` hold nothing nearer than that.
        Outcome { bound: if best.is_some() { bound.min(upper) } else { bound }, best }
    }

    /// Closes a node without splitting when its constraints fall apart or are all satisfied.
    fn finish(
        &mut self,
        task: &Task,
        region: &Region,
        relaxed: &Relaxed,
        upper: f64,
        gap: f64,
        level: usize,
    ) -> Finish {
        if let Some(x) = &relaxed.solution {
            let distance = self.metric.distance(self.domains, &task.variables, x);
            return Finish::Done(Outcome { best: Some((x.clone(), distance)), bound: relaxed.bound });
        }
        let parts = components(self.model, &relaxed.live, region);
        if parts.fixed.is_empty() && parts.groups.len() == 1 {
            return Finish::Open;
        }
        let Some(clamp) = self.clamp(region) else { return Finish::Refuted };
        // Constraints whose variables are all fixed are decided by the point.
        for &root in &parts.fixed {
            if !self.holds(&[root], &clamp) {
                return Finish::Refuted;
            }
        }
        if parts.groups.is_empty() {
            if !self.holds(&task.roots, &clamp) {
                // Entailed up to rounding only.
                return Finish::Open;
            }
            let distance = self.metric.distance(self.domains, &task.variables, &clamp);
            return Finish::Done(Outcome { best: Some((clamp, distance)), bound: distance });
        }
        if parts.groups.len() == 1 || level >= 8 {
            return Finish::Open;
        }
        let base = self.metric.distance(self.domains, &task.variables, &clamp);
        let mut bound = base;
        let mut x = Some(clamp);
        for (roots, variables) in parts.groups {
            let own: Vec<usize> = variables.into_iter().filter(|v| task.variables.contains(v)).collect();
            let x_clamp = self.clamp(region).unwrap_or_default();
            let before = self.metric.distance(self.domains, &own, &x_clamp);
            let part = Task { roots, variables: own };
            let cutoff = if self.decide { f64::INFINITY } else { upper - bound + before };
            let outcome = self.solve(&part, region.clone(), cutoff, COMPONENT_GAP * gap, level + 1);
            bound += (outcome.bound - before).max(0.0);
            match (outcome.best, &mut x) {
                (Some((y, _)), Some(x)) => part.variables.iter().for_each(|&v| x[v] = y[v]),
                (None, _) => x = None,
                _ => {}
            }
            if bound >= upper || x.is_none() {
                // Too far, infeasible, or the limits ran out.
                return Finish::Done(Outcome { best: None, bound });
            }
        }
        let best = x.map(|x| {
            let distance = self.metric.distance(self.domains, &task.variables, &x);
            (x, distance)
        });
        match best {
            Some((x, _)) if !self.holds(&task.roots, &x) => Finish::Open,
            best => Finish::Done(Outcome { best, bound }),
        }
    }
}

/// What became of a node.
enum Finish {
    Done(Outcome),
    Refuted,
    Open,
}
