//! What a search found and proved.

use leafgp_constraints::Region;

/// What is known at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The incumbent is proved optimal within the requested gap; with several cells asked for, the whole list.
    Optimal,
    /// There is an incumbent, the proof is not complete.
    Feasible,
    /// Proved: no allowed point exists.
    Infeasible,
    /// No incumbent and no proof that there is none.
    Unknown,
}

/// Why the search stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The gap was reached.
    Gap,
    /// The wall-clock limit.
    TimeLimit,
    /// The node limit.
    NodeLimit,
    /// Nothing is left: infeasible, every cell excluded, or only cells that the constraint engine could not decide.
    Exhausted,
    /// The interrupt flag was set.
    Interrupted,
}

/// A point found, evaluated at its active leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Incumbent {
    /// The point, in variable order; a category as its level index. Allowed values only, feasible at the produce tolerance.
    pub x: Vec<f64>,
    /// The value of the objective at `x`.
    pub objective: f64,
    /// The mean part.
    pub mean: f64,
    /// The deviation; 0 when the objective has none.
    pub deviation: f64,
    /// All points of the domains with the same active leaves (constraints and exclusions not considered).
    pub region: Region,
}

/// State of a running search.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Best objective so far.
    pub objective: Option<f64>,
    /// Proved lower bound.
    pub best_bound: f64,
    /// `(objective - bound) / max(|objective|, 1e-9)`; infinite without an incumbent.
    pub gap: f64,
    /// Nodes so far.
    pub nodes: u64,
    /// Nodes waiting.
    pub open: usize,
    /// Wall-clock seconds so far.
    pub seconds: f64,
}

/// Result of [`minimize`](super::minimize).
#[derive(Clone, Debug)]
pub struct Report {
    /// What is known.
    pub status: Status,
    /// Why the search stopped.
    pub stop_reason: StopReason,
    /// The best point found.
    pub incumbent: Option<Incumbent>,
    /// With [`k_best`](super::SearchOptions::k_best) above 1: the next best cells, ascending by objective, distinct leaf combinations.
    pub others: Vec<Incumbent>,
    /// Proved: no allowed point has a smaller objective. Infinite when infeasible.
    pub best_bound: f64,
    /// Proved: no allowed point outside the listed cells (`incumbent` and `others`) has a smaller objective.
    pub remaining_bound: f64,
    /// `(objective - best_bound) / max(|objective|, 1e-9)`; infinite without an incumbent. With `k_best` above 1: of the last listed cell
    /// against `remaining_bound`.
    pub gap: f64,
    /// Number of nodes.
    pub nodes: u64,
    /// Cells that the constraint engine could not decide within its limits; their bounds are part of `best_bound`.
    pub undecided_cells: u64,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Threads used.
    pub threads: usize,
}

impl Status {
    /// The word of reports and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::Feasible => "feasible",
            Self::Infeasible => "infeasible",
            Self::Unknown => "unknown",
        }
    }
}

impl StopReason {
    /// The word of reports and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::TimeLimit => "time_limit",
            Self::NodeLimit => "node_limit",
            Self::Exhausted => "exhausted",
            Self::Interrupted => "interrupted",
        }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
