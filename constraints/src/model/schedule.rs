//! Orders of evaluation and properties of nodes.

use super::graph::{Model, NodeId, Operation, Step, Truth, TruthId};
use crate::domain::Domain;
use crate::expr::{Number, NumberId, Program};

/// Marks the nodes of discrete variables only and the affine ones.
pub(super) fn describe(model: &mut Model, domains: &[Domain]) {
    let mut truths_of_discrete = vec![true; model.truths.len()];
    // Nodes and truths refer to each other: alternate until nothing changes (twice in practice).
    loop {
        let before = (model.discrete.clone(), truths_of_discrete.clone());
        model.discrete.clear();
        model.affine.clear();
        for i in 0..model.operations.len() {
            let node = NodeId(i as u32);
            let mut discrete = true;
            let mut linear = true;
            model.children(node, |child| match child {
                Step::Number(n) => {
                    discrete &= model.discrete[n.index()];
                    linear &= model.affine[n.index()];
                }
                Step::Truth(t) => discrete &= truths_of_discrete[t.index()],
            });
            let (discrete, affine) = match &model.operations[i] {
                Operation::Constant(_) => (true, true),
                Operation::Variable(v) => (domains[*v].is_discrete(), true),
                Operation::Linear(_) => (discrete, linear),
                _ => (discrete, false),
            };
            model.discrete.push(discrete);
            model.affine.push(affine);
        }
        for i in 0..model.truths.len() {
            let mut discrete = true;
            model.truth_children(TruthId(i as u32), |child| match child {
                Step::Number(n) => discrete &= model.discrete[n.index()],
                Step::Truth(t) => discrete &= truths_of_discrete[t.index()],
            });
            truths_of_discrete[i] = discrete;
        }
        if before == (model.discrete.clone(), truths_of_discrete.clone()) {
            return;
        }
    }
}

/// Which operations have two users or more: their linear form is kept.
pub(super) fn shared(program: &Program) -> Vec<bool> {
    let mut uses = vec![0_u32; program.numbers.len()];
    let mut count = |id: NumberId| uses[id.0 as usize] += 1;
    for number in &program.numbers {
        match *number {
            Number::Add(a, b) | Number::Subtract(a, b) | Number::Multiply(a, b) | Number::Divide(a, b) => {
                count(a);
                count(b);
            }
            Number::Negate(a) => count(a),
            _ => {}
        }
    }
    uses.into_iter().map(|n| n > 1).collect()
}

/// The nodes below a node, itself included, children first, and the variables they read.
pub(super) fn schedule(model: &Model, top: Step) -> (Vec<Step>, Vec<usize>) {
    let mut steps = Vec::new();
    let mut variables = Vec::new();
    let mut seen_numbers = vec![false; model.operations.len()];
    let mut seen_truths = vec![false; model.truths.len()];
    let mut pending = vec![(top, false)];
    while let Some((step, done)) = pending.pop() {
        if done {
            steps.push(step);
            continue;
        }
        let seen = match step {
            Step::Number(n) => std::mem::replace(&mut seen_numbers[n.index()], true),
            Step::Truth(t) => std::mem::replace(&mut seen_truths[t.index()], true),
        };
        if seen {
            continue;
        }
        match step {
            Step::Number(n) => match model.operation(n) {
                Operation::Constant(_) => continue,
                Operation::Variable(v) => {
                    variables.push(*v);
                    continue;
                }
                _ => {}
            },
            Step::Truth(t) => {
                if let Truth::Level(v, _) = model.truth(t) {
                    variables.push(*v);
                }
            }
        }
        pending.push((step, true));
        let at = pending.len();
        match step {
            Step::Number(n) => model.children(n, |child| pending.push((child, false))),
            Step::Truth(t) => model.truth_children(t, |child| pending.push((child, false))),
        }
        pending[at..].reverse();
    }
    variables.sort_unstable();
    variables.dedup();
    (steps, variables)
}
