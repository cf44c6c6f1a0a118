//! The points a search starts from.

use rand::Rng;

use super::space::Space;

/// Uniform points, and perturbed copies of each best row: over a plain box, and under constraints.
const UNIFORM: (usize, usize) = (200, 80);
const COPIES: (usize, usize) = (20, 15);
/// Further uniform points in a cell, where the rest is halved.
const UNIFORM_IN_CELL: usize = 20;
/// Best rows that get copies.
const ROWS: usize = 5;
/// Standard deviations of the copies, in turns.
const SPREADS: [f64; 3] = [0.2, 0.05, 0.01];

/// A point to be repaired.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) x: Vec<f64>,
    /// Whether it is worth a projection by the engine.
    pub(super) may_project: bool,
}

/// How many candidates of each kind.
#[derive(Debug)]
pub(super) struct Plan<'s, 'a> {
    space: &'s Space<'a>,
    uniform: usize,
    copies: usize,
}

impl<'s, 'a> Plan<'s, 'a> {
    pub(super) fn new(space: &'s Space<'a>, in_cell: bool) -> Self {
        let constrained = !space.constraints.is_empty();
        let pick = |(plain, under): (usize, usize)| if constrained { under } else { plain };
        let (uniform, copies) = (pick(UNIFORM), pick(COPIES));
        if in_cell {
            Self { space, uniform: uniform / 2 + UNIFORM_IN_CELL, copies: copies / 2 }
        } else {
            Self { space, uniform, copies }
        }
    }

    /// The candidates, in a fixed order for the same random numbers.
    pub(super) fn candidates(
        &self,
        best_rows: &[Vec<f64>],
        starts: &[Vec<f64>],
        rng: &mut impl Rng,
    ) -> Vec<Candidate> {
        let space = self.space;
        let mut candidates = Vec::new();
        let mut push = |x, may_project| candidates.push(Candidate { x, may_project });
        for x in starts {
            push(space.clamp(x), true);
        }
        for (rank, row) in best_rows.iter().take(ROWS).enumerate() {
            let row = space.clamp(row);
            push(row.clone(), true);
            // The best row gets twice as many.
            for k in 0..self.copies * if rank == 0 { 2 } else { 1 } {
                push(space.perturb(&row, SPREADS[k % SPREADS.len()], rng), false);
            }
        }
        for _ in 0..self.uniform {
            push(space.uniform(rng), true);
        }
        candidates
    }
}
