//! How far a split moves the relaxation's point.

use crate::search::index::{BlockId, ClassId, Id, IdVec, ItemId, Position};
use crate::search::links::Links;

use super::basis::Basis;
use super::candidates::{Candidate, Candidates};

/// `sum z v` of each block, in the coordinates of one matrix; computed when first needed.
#[derive(Debug, Default)]
pub(crate) struct BlockSums {
    sums: Vec<f64>,
    known: IdVec<BlockId, bool>,
    displacement: Vec<f64>,
}

impl BlockSums {
    /// Forgets the sums of another node.
    pub(crate) fn reset(&mut self, basis: Basis<'_>) {
        self.known.refill(basis.blocks.len(), false);
    }

    /// `sum z v` of a block.
    #[inline(always)]
    fn sum<'m>(
        &mut self,
        basis: Basis<'_>,
        (row, stride): (impl Fn(ItemId) -> &'m [f64], usize),
        block: BlockId,
    ) -> &[f64] {
        if self.sums.len() < basis.blocks.len() * stride {
            self.sums.resize(basis.blocks.len() * stride, 0.0);
        }
        let sum = &mut self.sums[block.index() * stride..][..stride];
        if !self.known[block] {
            self.known[block] = true;
            sum.fill(0.0);
            let block = basis.blocks.block(block);
            for (&item, &z) in basis.blocks.items[block].iter().zip(&basis.z[block]) {
                if z > 0.0 {
                    add_scaled(sum, z, row(item));
                }
            }
        }
        sum
    }

    /// `|D|^2`, where `D` moves `u` when the node is restricted to one side: the weight of items that only touch the other side goes to the
    /// remaining items of their block in proportion, or to the cheapest remaining one when no weight is left.
    #[inline(always)]
    pub(crate) fn displacement_sq<'m>(
        &mut self,
        (row, stride): (impl Fn(ItemId) -> &'m [f64] + Copy, usize),
        links: &Links,
        candidates: &Candidates,
        candidate: &Candidate,
        side: usize,
        basis: Basis<'_>,
    ) -> f64 {
        let row_at = |position: Position| row(basis.blocks.items[position]);
        let mut displacement = std::mem::take(&mut self.displacement);
        displacement.clear();
        displacement.resize(stride, 0.0);
        let mut any = false;
        for number in links.features[candidate.linked].links {
            let link = &links.links[number];
            let gone = |class| candidates.is_gone(links, candidate, side, link, class);
            let support = &candidates.support[candidates.support_of.part(number)];
            let mut lost = 0.0;
            for s in support.iter().filter(|s| gone(s.class)) {
                lost += s.weight;
            }
            if lost < 1e-9 {
                continue;
            }
            any = true;
            let left = 1.0 - lost;
            // With mass left: D = (lost / left) (sum z v - gone) - gone.
            let share = if left > 1e-6 { 1.0 / left } else { 1.0 };
            for s in support.iter().filter(|s| gone(s.class)) {
                add_scaled(&mut displacement, -share * s.weight, row_at(s.position));
            }
            if left > 1e-6 {
                let sum = self.sum(basis, (row, stride), link.block);
                add_scaled(&mut displacement, lost / left, sum);
                continue;
            }
            let holds =
                |class: ClassId, position| links.members[links.classes[class].members].contains(&position);
            let is_gone = |position| link.classes.into_iter().any(|k| gone(k) && holds(k, position));
            let remaining = basis.blocks.block(link.block).into_iter().filter(|&position| !is_gone(position));
            if let Some(heir) = remaining.min_by(|&a, &b| basis.g[a].total_cmp(&basis.g[b])) {
                add_scaled(&mut displacement, lost, row_at(heir));
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
        self.displacement = displacement;
        (length[0] + length[1]) + (length[2] + length[3])
    }
}

#[inline(always)]
fn add_scaled(target: &mut [f64], factor: f64, row: &[f64]) {
    for (t, r) in target.iter_mut().zip(row) {
        *t += factor * r;
    }
}
