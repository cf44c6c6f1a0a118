//! Which sums over discrete values an equation or a demand to be whole is about.

use super::graph::{Linear, Model, Operation, Truth};
use super::lattice::{Lattice, Progression};
use crate::domain::Domain;
use crate::expr::Comparison;

/// Writes down what such sums can come to.
pub(super) fn find_lattices(model: &mut Model, domains: &[Domain]) {
    let mut found = Vec::new();
    for truth in &model.truths {
        let node = match *truth {
            Truth::Compare { op: Comparison::Equal, difference, .. } => difference,
            Truth::Integral(node) => match *model.operation(node) {
                Operation::Whole(inner) => inner,
                _ => node,
            },
            _ => continue,
        };
        if let Operation::Linear(linear) = model.operation(node)
            && let Some(lattice) = lattice(model, domains, linear)
        {
            found.push((node, lattice));
        }
    }
    model.lattices.extend(found);
}

/// The lattice of a linear node; `None` when a term takes values in between or a number is no simple fraction.
fn lattice(model: &Model, domains: &[Domain], linear: &Linear) -> Option<Lattice> {
    let progression = |node| match *model.operation(node) {
        _ if model.integer[node.index()] => Some(Progression::WHOLE),
        Operation::Variable(v) => Progression::of(&domains[v]),
        _ => None,
    };
    let terms = model.terms(linear).iter().map(|term| Some((progression(term.node)?, term.coefficient)));
    Lattice::new(linear.constant, &terms.collect::<Option<Vec<_>>>()?)
}
