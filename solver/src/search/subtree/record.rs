//! The search on record: the whole tree once more, depth first, by nothing but what a certificate can say.

use crate::certificate::{Claim, Evidence, Forward, ProofEnd, ProofNode, meet, predicted};
use leafgp_constraints::{Range, Region};

use super::super::filter::Changed;
use super::super::index::Id;
use super::super::learned::sum_ends;
use super::super::model::Model;
use super::super::node::{Node, OpenNode};
use super::super::pool::{Pool, Undecided};
use super::{Context, FIRST_SEARCHES, Outcome, Verdict, Worker};

/// A node on record.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) proof: ProofNode,
    /// Where claims leave feasible points of the node, which its children inherit.
    pub(super) region: Region,
}

impl Worker {
    /// Searches the whole tree below the pool's cutoff depth first and writes down why each node holds nothing better. `None` when the limits end it,
    /// or a constrained cell stays undecided.
    /// Constraints make boxes smaller only by claims that go on record; `forward` evaluates them.
    pub(crate) fn certify(
        &mut self,
        ctx: &Context<'_>,
        root: OpenNode,
        pool: Pool,
        forward: Option<&Forward<'_>>,
    ) -> Option<Vec<ProofNode>> {
        /// Not among the nodes that start a local search.
        const SERIAL: u64 = FIRST_SEARCHES + 1;
        let mut outcome = Outcome { open: Vec::new(), pool, undecided: Undecided::default(), nodes: 0 };
        self.open(ctx.model, root);
        let mut proof = Vec::new();
        let domains = forward.map_or(ctx.model.problem.domains, Forward::domains);
        let mut regions = vec![Region::full(domains)];
        while let (Some((mut node, split)), Some(region)) = (self.stack.pop(), regions.pop()) {
            if ctx.must_stop() {
                self.stack.clear();
                return None;
            }
            let changed = match split {
                None => Changed::Everything,
                Some(feature) => {
                    self.filter.mark(ctx.model, feature);
                    Changed::Marked
                }
            };
            // Every node stands on its own evidence.
            node.bound = f64::NEG_INFINITY;
            self.record = Some(Record { proof: ProofNode::default(), region });
            let verdict = self.process(ctx, &mut node, changed, forward, SERIAL, &mut outcome);
            let Record { proof: mut record, region } = self.record.take().expect("set above");
            match verdict {
                Verdict::Closed => self.free.push(node),
                Verdict::Branch => {
                    regions.extend([region.clone(), region]);
                    let split = &mut self.branching.split;
                    record.end = ProofEnd::Split { feature: split.feature.raw(), left: split.left.clone() };
                    // The left child comes first in the proof.
                    split.estimates = [0.0, 1.0];
                    self.push_children(ctx.model, node);
                }
            }
            proof.push(record);
        }
        (outcome.undecided.count == 0).then_some(proof)
    }

    /// As [`Worker::narrow`], by claims that the verifier can check.
    pub(super) fn narrow_on_record(
        &mut self,
        ctx: &Context<'_>,
        forward: &Forward<'_>,
        node: &mut Node,
        changed: Changed,
    ) -> bool {
        let model = ctx.model;
        if !self.filter.run(model, node, changed) {
            return false;
        }
        for _ in 0..3 {
            let Some(record) = &mut self.record else { return true };
            // The verifier drops a box of no points by itself, but only when it has to look.
            let cells = in_cells(model, node, &record.region);
            let Some(mut region) = meet(cells, &record.region, forward.domains()) else {
                record.proof.evidence.push(Evidence::Contraction(Vec::new()));
                return false;
            };
            let (claims, open) = self.refuter.contract(forward, &mut region);
            if claims != [Claim::Open] {
                record.proof.evidence.push(Evidence::Contraction(claims));
            }
            record.region = region;
            if !open {
                return false;
            }
            let mut any = false;
            for (f, range) in model.cells.features().into_iter().zip(&record.region.0) {
                if model.cells.intersect(f, range, &mut node.cells) {
                    self.filter.mark(model, f);
                    any = true;
                }
            }
            if !any {
                return true;
            }
            if !self.filter.run(model, node, Changed::Marked) {
                return false;
            }
        }
        true
    }
}

/// The smallest box around a node's cells; where there are predictions, with what they can be in the node and the value of `region`.
fn in_cells(model: &Model<'_>, node: &Node, region: &Region) -> Region {
    let mut cells = model.cells.hull(&node.cells);
    if let Some(learned) = &model.problem.learned {
        for (k, sum) in learned.sums.iter().enumerate() {
            let (lower, upper) = predicted(sum, sum_ends(model, learned, node, k));
            cells.0.push(Range::Interval { lower, upper });
        }
        cells.0.extend(region.0.last().cloned());
    }
    cells
}
