//! Proofs on file: what a search found, and why nothing better exists, to be re-checked by independent code.
//!
//! A certificate names a bound, an incumbent and a tree of boxes. Each node lists its evidence in order: claims that parts of its box break the constraints, and
//! vectors `u` of tangent bounds with a number of message sweeps. It ends with nothing left, with few leaf combinations to look at, or with a split into two
//! boxes. [`verify`] rebuilds everything else from the problem with outward rounding: two boxes of a split cover their parent by construction, so nothing can
//! be left out. Constraints are evaluated forward over boxes, and nothing else: no propagation, no search, no solver. `docs/certificate-format.md` says
//! all of it in full.

mod arithmetic;
mod cells;
mod checker;
mod claims;
mod digest;
mod file;
mod form;
mod forward;
#[cfg(test)]
mod hostile;
mod known;
mod limits;
mod messages;
mod need;
mod predictions;
mod relaxation;
mod row;
mod rows;
mod secant;
mod size;
mod state;
mod steps;
mod terms;
mod values;
mod verify;
mod wholes;
mod work;

pub(crate) use cells::meet;
pub(crate) use claims::{Claim, halves};
pub(crate) use digest::digest;
pub use digest::statement;
pub(crate) use forward::Forward;
pub(crate) use predictions::predicted;
pub(crate) use relaxation::{LeafFunction, Multiplier, Relaxation, domains_below};
pub(crate) use rows::RowForm;
pub(crate) use steps::Steps;
pub(crate) use verify::complete;
pub use verify::{Verified, verify, verify_within};
pub use work::WorkBudget;

/// A proof that no allowed point lies below a bound, as written to and read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Ties the proof to its problem.
    pub(crate) digest: u64,
    /// Claim: no allowed point has a smaller objective; infinite when there is no allowed point.
    pub(crate) bound: f64,
    /// Objective and point of the incumbent; `None` when the problem is infeasible.
    pub(crate) incumbent: Option<(f64, Vec<f64>)>,
    /// Of a problem over predictions, the multiples of rows in its leaf objective; `None` of others.
    pub(crate) multipliers: Option<Vec<Multiplier>>,
    /// Nodes, depth first, left before right.
    pub(crate) nodes: Vec<ProofNode>,
}

/// A node of the proof.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ProofNode {
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) end: ProofEnd,
}

/// What makes a node's box smaller.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Evidence {
    Round(ProofRound),
    /// Parts of the box hold no feasible point.
    Contraction(Vec<Claim>),
}

/// One round of bounding and fixing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProofRound {
    /// The vector of the tangent: any vector is valid. Empty where the deviation is not maximised.
    pub(crate) u: Steps,
    /// Message sweeps.
    pub(crate) sweeps: u8,
}

/// How a node ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum ProofEnd {
    /// Nothing is left.
    #[default]
    Closed,
    /// Few enough leaf combinations are left to look at each: claims for each that lies below the bound, in the order of the verifier.
    Enumerated(Vec<Vec<Claim>>),
    /// Two children: the cells of `left` (words of a bitset) of a variable, and the others.
    Split { feature: u32, left: Vec<u64> },
}

/// Why a certificate was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Not a certificate, cut short, or altered.
    #[error("the certificate cannot be read: {0}")]
    Format(String),
    /// It belongs to another problem.
    #[error("the certificate belongs to another problem")]
    OtherProblem,
    /// The incumbent does not hold.
    #[error("incumbent: {0}")]
    Incumbent(String),
    /// A node does not prove what it should.
    #[error("node {node}: {problem}")]
    Node {
        /// Number of the node, depth first.
        node: usize,
        /// What is missing.
        problem: String,
    },
    /// The proof takes more work than allowed, see [`WorkBudget`].
    #[error("node {node}: the work budget {} ran out", if *of_node { "of the node" } else { "of the whole proof" })]
    OutOfWork {
        /// Number of the node, depth first.
        node: usize,
        /// True for the budget of one node, false for that of the proof.
        of_node: bool,
    },
    /// The proof takes more time than allowed, see [`WorkBudget`].
    #[error("node {node}: the time limit was reached; nothing is known of the proof")]
    OutOfTime {
        /// Number of the node, depth first.
        node: usize,
    },
}

impl Certificate {
    /// The bound that is claimed.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// Number of nodes of the proof.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::{Certificate, Evidence, ProofEnd, ProofNode, Refusal, WorkBudget, verify, verify_within};
    use crate::problem::Problem;
    use crate::search::{SearchOptions, certify, minimize};
    use crate::testing::{crossing_trees, wave};
    use crate::{LeafObjective, Quadratic};

    /// Twelve small trees on three variables with thresholds apart: a proof of several nodes, for a deviation that is maximised and one that is minimised.
    fn with_proof(test: impl Fn(&Problem<'_>, &Certificate)) {
        let (domains, forest) = crossing_trees(12, 3, 11);
        let n = forest.n_leaves();
        for kappa in [1.5, -1.5] {
            let quadratic = Quadratic {
                kappa,
                prior_variance: 1.0,
                dim: 6,
                factor: (0..n * 6).map(|k| wave(k + 5) / 9.0).collect(),
                remainder: None,
            };
            let linear = (0..n).map(|k| wave(3 * k)).collect();
            let objective = LeafObjective { constant: 0.3, linear, quadratic: Some(quadratic) };
            let problem = Problem::new(&domains, &forest, &objective);
            let options = SearchOptions::default();
            let report = minimize(&problem, &options).unwrap();
            let certificate = certify(&problem, &report, &options).unwrap();
            verify(&problem, &certificate).unwrap();
            assert!(certificate.nodes.len() >= 3, "kappa {kappa}: {} nodes", certificate.nodes.len());
            test(&problem, &certificate);
        }
    }

    #[test]
    fn a_bound_above_the_optimum_is_refused() {
        with_proof(|problem, certificate| {
            let objective = certificate.incumbent.as_ref().unwrap().0;
            for excess in [1e-12, 1e-6, 0.1] {
                let altered = Certificate { bound: objective + excess, ..certificate.clone() };
                assert!(matches!(verify(problem, &altered), Err(Refusal::Incumbent(_))));
                // Without the incumbent that contradicts it, the proof itself must fail.
                let mut lonely = altered.clone();
                lonely.bound = f64::INFINITY;
                lonely.incumbent = None;
                assert!(matches!(verify(problem, &lonely), Err(Refusal::Node { .. })));
            }
        });
    }

    #[test]
    fn an_altered_incumbent_is_refused() {
        with_proof(|problem, certificate| {
            let (objective, x) = certificate.incumbent.clone().unwrap();
            let mut outside = x.clone();
            outside[1] = 2.0;
            let alterations =
                [(objective.next_down(), x.clone()), (objective.next_up(), x), (objective, outside)];
            for incumbent in alterations {
                let altered = Certificate { incumbent: Some(incumbent), ..certificate.clone() };
                assert!(matches!(verify(problem, &altered), Err(Refusal::Incumbent(_))));
            }
        });
    }

    #[test]
    fn an_altered_box_is_refused() {
        with_proof(|problem, certificate| {
            for k in 0..certificate.nodes.len() {
                // A node taken out, or closed without reason.
                let mut altered = certificate.clone();
                altered.nodes.remove(k);
                assert!(verify(problem, &altered).is_err(), "without node {k}");
                if let ProofEnd::Split { left, .. } = &certificate.nodes[k].end {
                    let mut altered = certificate.clone();
                    altered.nodes[k].end = ProofEnd::Closed;
                    assert!(verify(problem, &altered).is_err(), "node {k} closed");
                    // All cells to the left: the left child now has the whole box to prove.
                    let mut altered = certificate.clone();
                    let all = vec![u64::MAX; left.len()];
                    let ProofEnd::Split { left, .. } = &mut altered.nodes[k].end else {
                        unreachable!("a split")
                    };
                    *left = all;
                    assert!(verify(problem, &altered).is_err(), "node {k} widened");
                }
            }
        });
    }

    /// Splits that leave one side empty: many, so that a box kept for each would not fit into memory, and looking at each takes long.
    #[test]
    fn a_million_idle_splits_are_refused_within_the_budget() {
        with_proof(|problem, certificate| {
            let split = |left: u64| ProofNode {
                evidence: Vec::new(),
                end: ProofEnd::Split { feature: 0, left: vec![left] },
            };
            let budget = WorkBudget { total: 100_000_000, ..WorkBudget::default() };
            // The whole box goes left each time.
            let altered = Certificate { nodes: vec![split(u64::MAX); 1_000_000], ..certificate.clone() };
            let refused = verify_within(problem, &altered, budget);
            assert!(matches!(refused, Err(Refusal::OutOfWork { of_node: false, .. })), "{refused:?}");
            // The left side is empty, and so is all that comes of it.
            let altered = Certificate { nodes: vec![split(0); 1_000_000], ..certificate.clone() };
            assert!(matches!(verify_within(problem, &altered, budget), Err(Refusal::Node { .. })));
        });
    }

    #[test]
    fn endless_sweeps_are_refused_within_the_budget_of_a_node() {
        with_proof(|problem, certificate| {
            let honest = verify(problem, certificate).unwrap().work;
            let mut round = certificate.nodes.iter().flat_map(|node| &node.evidence).find_map(|evidence| {
                let Evidence::Round(round) = evidence else { return None };
                Some(round.clone())
            });
            let round = round.as_mut().unwrap();
            round.sweeps = u8::MAX;
            let mut altered = certificate.clone();
            // The bound is out of reach, so that no round ends the node.
            altered.bound = f64::INFINITY;
            altered.incumbent = None;
            altered.nodes[0].evidence = vec![Evidence::Round(round.clone()); 255];
            let budget = WorkBudget { node: 100 * honest, total: u64::MAX, deadline: None };
            let refused = verify_within(problem, &altered, budget);
            assert_eq!(refused, Err(Refusal::OutOfWork { node: 0, of_node: true }));
            assert!(verify_within(problem, certificate, budget).is_ok());
            // Whatever the budget is, a deadline ends the proof at its next step.
            let budget = WorkBudget { node: u64::MAX, total: u64::MAX, deadline: Some(Instant::now()) };
            let refused = verify_within(problem, &altered, budget);
            assert_eq!(refused, Err(Refusal::OutOfTime { node: 0 }));
        });
    }

    #[test]
    fn objectives_that_overflow_are_refused() {
        with_proof(|problem, certificate| {
            let mut objective = problem.objective().clone();
            objective.linear[3] = 1e300;
            let huge = Problem::new(problem.domains(), problem.forest(), &objective);
            assert!(matches!(verify(&huge, certificate), Err(Refusal::Format(_))));
            assert!(minimize(&huge, &SearchOptions::default()).is_err());
        });
    }

    #[test]
    fn a_bound_without_its_evidence_is_refused() {
        with_proof(|problem, certificate| {
            let mut altered = certificate.clone();
            for node in &mut altered.nodes {
                node.evidence.clear();
            }
            assert!(matches!(verify(problem, &altered), Err(Refusal::Node { .. })));
        });
    }
}
