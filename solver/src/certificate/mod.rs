//! Proofs on file: what a search found, and why nothing better exists, to be re-checked by independent code.
//!
//! A certificate names a bound, an incumbent and a tree of boxes. Each node lists the vectors `u` of its tangent bounds, the number of message
//! sweeps, and its end: nothing is left, few leaf combinations are left, or a split into two boxes. [`verify`] rebuilds everything else from the problem with
//! outward rounding: two boxes of a split cover their parent by construction, so nothing can be left out.

mod arithmetic;
mod cells;
mod limits;
mod secant;
mod steps;
mod verify;

pub(crate) use steps::Steps;
pub use verify::{Verified, verify};

use crate::problem::Problem;

/// A proof that no allowed point lies below a bound, as written to and read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Ties the proof to its problem.
    pub(crate) digest: u64,
    /// Claim: no allowed point has a smaller objective; infinite when there is no allowed point.
    pub(crate) bound: f64,
    /// Objective and point of the incumbent; `None` when the problem is infeasible.
    pub(crate) incumbent: Option<(f64, Vec<f64>)>,
    /// Nodes, depth first, left before right.
    pub(crate) nodes: Vec<ProofNode>,
}

/// A node of the proof.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ProofNode {
    pub(crate) rounds: Vec<ProofRound>,
    pub(crate) end: ProofEnd,
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
    /// Few enough leaf combinations are left to look at each.
    Enumerated,
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
}

const MAGIC: &[u8; 8] = b"LEAFGPC2";

impl Certificate {
    /// The bound that is claimed.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// Number of nodes of the proof.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The file's bytes: little-endian, with a checksum at the end.
    pub fn write(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(self.digest.to_le_bytes());
        out.extend(self.bound.to_le_bytes());
        match &self.incumbent {
            None => out.extend(u32::MAX.to_le_bytes()),
            Some((objective, x)) => {
                out.extend((x.len() as u32).to_le_bytes());
                out.extend(objective.to_le_bytes());
                x.iter().for_each(|v| out.extend(v.to_le_bytes()));
            }
        }
        out.extend((self.nodes.len() as u64).to_le_bytes());
        for node in &self.nodes {
            out.push(node.rounds.len() as u8);
            for round in &node.rounds {
                out.push(round.sweeps);
                out.extend((round.u.counts.len() as u32).to_le_bytes());
                out.extend(round.u.size.to_le_bytes());
                round.u.counts.iter().for_each(|count| out.extend(count.to_le_bytes()));
            }
            match &node.end {
                ProofEnd::Closed => out.push(0),
                ProofEnd::Enumerated => out.push(1),
                ProofEnd::Split { feature, left } => {
                    out.push(2);
                    out.extend(feature.to_le_bytes());
                    out.extend((left.len() as u32).to_le_bytes());
                    left.iter().for_each(|w| out.extend(w.to_le_bytes()));
                }
            }
        }
        let checksum = fnv(&out);
        out.extend(checksum.to_le_bytes());
        out
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    /// Bytes that are no certificate, are cut short or were altered.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let refuse = |what: &str| Refusal::Format(what.into());
        let (body, checksum) = bytes.split_last_chunk::<8>().ok_or_else(|| refuse("too short"))?;
        if fnv(body) != u64::from_le_bytes(*checksum) {
            return Err(refuse("the checksum does not fit"));
        }
        let mut input = Input { rest: body };
        if input.take::<8>()? != *MAGIC {
            return Err(refuse("not a certificate of this version"));
        }
        let digest = input.u64()?;
        let bound = input.f64()?;
        let n = input.u32()?;
        let incumbent = if n == u32::MAX {
            None
        } else {
            let objective = input.f64()?;
            let x = (0..n).map(|_| input.f64()).collect::<Result<_, _>>()?;
            Some((objective, x))
        };
        let n_nodes = input.u64()?;
        let mut nodes = Vec::new();
        for _ in 0..n_nodes {
            let mut rounds = Vec::new();
            for _ in 0..input.take::<1>()?[0] {
                let sweeps = input.take::<1>()?[0];
                let n = input.u32()?;
                let size = f32::from_le_bytes(input.take()?);
                let counts =
                    (0..n).map(|_| Ok(i16::from_le_bytes(input.take()?))).collect::<Result<_, Refusal>>()?;
                rounds.push(ProofRound { u: Steps { size, counts }, sweeps });
            }
            let end = match input.take::<1>()?[0] {
                0 => ProofEnd::Closed,
                1 => ProofEnd::Enumerated,
                2 => {
                    let feature = input.u32()?;
                    let n = input.u32()?;
                    ProofEnd::Split { feature, left: (0..n).map(|_| input.u64()).collect::<Result<_, _>>()? }
                }
                _ => return Err(refuse("an unknown end of a node")),
            };
            nodes.push(ProofNode { rounds, end });
        }
        if input.rest.is_empty() {
            Ok(Self { digest, bound, incumbent, nodes })
        } else {
            Err(refuse("bytes after the last node"))
        }
    }
}

/// Reads little-endian numbers.
struct Input<'a> {
    rest: &'a [u8],
}

impl Input<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        let (first, rest) =
            self.rest.split_first_chunk::<N>().ok_or_else(|| Refusal::Format("cut short".into()))?;
        self.rest = rest;
        Ok(*first)
    }

    fn u32(&mut self) -> Result<u32, Refusal> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn u64(&mut self) -> Result<u64, Refusal> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    fn f64(&mut self) -> Result<f64, Refusal> {
        Ok(f64::from_le_bytes(self.take()?))
    }
}

/// FNV-1a, 64 bits.
fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// A number that stands for the problem's data.
pub(crate) fn digest(problem: &Problem<'_>) -> u64 {
    let mut text = format!("{:?}{:?}", problem.domains(), problem.forest());
    if let Some(constraints) = problem.constraints {
        text.push_str(&constraints.statement());
    }
    if !problem.excluded.is_empty() || !problem.limits.is_empty() {
        // The shortest text of a number that reads back the same: nothing is lost.
        text.push_str(&format!("{:?}{:?}", problem.excluded, problem.limits));
    }
    let mut bytes = text.into_bytes();
    let objective = problem.objective();
    let mut push = |v: f64| bytes.extend(v.to_le_bytes());
    push(objective.constant);
    objective.linear.iter().for_each(|&c| push(c));
    if let Some(q) = &objective.quadratic {
        push(q.kappa);
        push(q.prior_variance);
        q.factor.iter().for_each(|&v| push(v));
    }
    fnv(&bytes)
}

#[cfg(test)]
mod tests {
    use super::{Certificate, ProofEnd, ProofNode, Refusal, verify};
    use crate::search::{Problem, SearchOptions, certify, minimize};
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

    /// Splits that leave one side empty: many, so that a box kept for each would not fit into memory.
    #[test]
    fn endless_splits_are_refused() {
        with_proof(|problem, certificate| {
            let split =
                ProofNode { rounds: Vec::new(), end: ProofEnd::Split { feature: 0, left: vec![u64::MAX] } };
            let altered = Certificate { nodes: vec![split; 50_000], ..certificate.clone() };
            assert!(matches!(verify(problem, &altered), Err(Refusal::Node { .. })));
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
                node.rounds.clear();
            }
            assert!(matches!(verify(problem, &altered), Err(Refusal::Node { .. })));
        });
    }
}
