//! Feasible points near a start: Gauss-Newton on the violated constraints, steps to vertices where it gets stuck, and sequential quadratic
//! programming towards the centre.

mod ascent;
mod gauss_newton;
mod memory;
mod point;
mod sqp;

pub(super) use ascent::ascend;
pub(super) use gauss_newton::gauss_newton;
pub(super) use memory::{Local, Setting};
pub(super) use sqp::sqp;
