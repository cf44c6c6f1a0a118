//! Levels that no mask tells apart: a partition refined by one mask after the other, at the cost of the levels that each mask holds.

use super::index::{CellRank, Id, IdVec, LocalSegment, Span};

/// The partition of the levels of a box, and work space.
#[derive(Debug, Default)]
pub(crate) struct Refinement {
    /// Levels of each segment; 0 for numbers that wait in `free`.
    sizes: IdVec<LocalSegment, u32>,
    free: Vec<LocalSegment>,
    /// By segment, while a mask is looked at: where its levels in the mask go, and how many went.
    goes_to: IdVec<LocalSegment, Option<LocalSegment>>,
    moved: IdVec<LocalSegment, u32>,
    touched: Vec<LocalSegment>,
    /// By segment: its number in the order of first levels.
    numbers: IdVec<LocalSegment, Option<LocalSegment>>,
    /// Levels of masks that were looked at.
    #[cfg(test)]
    pub(crate) steps: usize,
}

impl Refinement {
    /// Puts all `n` levels into one segment.
    pub(crate) fn start(&mut self, segment_of: &mut IdVec<CellRank, LocalSegment>, n: usize) {
        segment_of.refill(n, LocalSegment::default());
        self.sizes.refill(1, n as u32);
        self.goes_to.refill(1, None);
        self.moved.refill(1, 0);
        self.free.clear();
        #[cfg(test)]
        (self.steps = 0);
    }

    /// True when every segment is one level.
    pub(crate) fn is_finest(&self, segment_of: &IdVec<CellRank, LocalSegment>) -> bool {
        self.sizes.len() - self.free.len() == segment_of.len()
    }

    /// Tells the levels in the mask from the others.
    pub(crate) fn refine(
        &mut self,
        segment_of: &mut IdVec<CellRank, LocalSegment>,
        mask: impl Iterator<Item = CellRank>,
    ) {
        for rank in mask {
            let old = segment_of[rank];
            let new = match self.goes_to[old] {
                Some(new) => new,
                None => {
                    let new = self.free.pop().unwrap_or_else(|| {
                        self.goes_to.push(None);
                        self.moved.push(0);
                        self.sizes.push(0)
                    });
                    self.touched.push(old);
                    self.goes_to[old] = Some(new);
                    new
                }
            };
            segment_of[rank] = new;
            self.moved[old] += 1;
            #[cfg(test)]
            (self.steps += 1);
        }
        for old in self.touched.drain(..) {
            let moved = std::mem::take(&mut self.moved[old]);
            if let Some(new) = self.goes_to[old].take() {
                self.sizes[new] = moved;
            }
            self.sizes[old] -= moved;
            if self.sizes[old] == 0 {
                self.free.push(old);
            }
        }
    }

    /// Numbers the segments by their first levels, and returns them.
    pub(crate) fn number(&mut self, segment_of: &mut IdVec<CellRank, LocalSegment>) -> Span<LocalSegment> {
        self.numbers.refill(self.sizes.len(), None);
        let mut next = LocalSegment::default();
        for segment in segment_of.iter_mut() {
            *segment = *self.numbers[*segment].get_or_insert_with(|| {
                let number = next;
                next = next.next();
                number
            });
        }
        Span::new(LocalSegment::default(), next)
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::Refinement;
    use crate::search::index::{CellRank, Id, IdVec, LocalSegment};

    /// Two levels are in one segment exactly when every mask holds both or neither; segments are numbered by first level.
    #[test]
    fn segments_are_the_levels_that_no_mask_tells_apart() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut refinement = Refinement::default();
        let mut segment_of = IdVec::<CellRank, LocalSegment>::default();
        for _ in 0..300 {
            let n = rng.random_range(1..20);
            let share = rng.random_range(0.05..0.95);
            let masks: Vec<Vec<bool>> = (0..rng.random_range(0..7))
                .map(|_| (0..n).map(|_| rng.random_bool(share)).collect())
                .collect();
            refinement.start(&mut segment_of, n);
            for mask in &masks {
                let ranks = (0..n).filter(|&level| mask[level]).map(CellRank::new);
                refinement.refine(&mut segment_of, ranks);
            }
            let is_finest = refinement.is_finest(&segment_of);
            let segments = refinement.number(&mut segment_of);
            let signature = |level: usize| masks.iter().map(|mask| mask[level]).collect::<Vec<_>>();
            let mut seen: Vec<Vec<bool>> = Vec::new();
            for level in 0..n {
                let signature = signature(level);
                let number = seen.iter().position(|s| *s == signature).unwrap_or_else(|| {
                    seen.push(signature);
                    seen.len() - 1
                });
                assert_eq!(segment_of[CellRank::new(level)].index(), number);
            }
            assert_eq!((segments.len(), is_finest), (seen.len(), seen.len() == n));
        }
    }
}
