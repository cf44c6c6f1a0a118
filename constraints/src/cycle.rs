//! Hierarchies must not run in circles.

use std::collections::BTreeSet;

use crate::constraints::Hierarchy;
use crate::expr::{Condition, ConditionId, Number, NumberId, Program};

/// The chain of variables from `variable` back to itself that a new condition of it would close, if any: each is read by the condition of
/// the one before.
pub(crate) fn closed_by(
    program: &Program,
    hierarchy: &[Hierarchy],
    variable: usize,
    condition: ConditionId,
) -> Option<Vec<usize>> {
    let mut visited = BTreeSet::new();
    let mut chain = vec![variable];
    reaches(program, hierarchy, variable, condition, &mut visited, &mut chain).then_some(chain)
}

fn reaches(
    program: &Program,
    hierarchy: &[Hierarchy],
    target: usize,
    condition: ConditionId,
    visited: &mut BTreeSet<usize>,
    chain: &mut Vec<usize>,
) -> bool {
    for read in variables(program, condition) {
        chain.push(read);
        if read == target {
            return true;
        }
        if visited.insert(read) {
            for parent in hierarchy.iter().filter(|h| h.variable == read) {
                if reaches(program, hierarchy, target, parent.condition, visited, chain) {
                    return true;
                }
            }
        }
        chain.pop();
    }
    false
}

/// The variables that a condition reads.
fn variables(program: &Program, condition: ConditionId) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let (mut conditions, mut numbers) = (vec![condition], Vec::new());
    let (mut seen_conditions, mut seen_numbers) = (BTreeSet::new(), BTreeSet::new());
    loop {
        if let Some(id) = conditions.pop() {
            if !seen_conditions.insert(id.0) {
                continue;
            }
            match program.get_condition(id) {
                Condition::Constant(_) => {}
                Condition::Compare(_, a, b) => numbers.extend([*a, *b]),
                Condition::Level(variable, _) => {
                    found.insert(*variable);
                }
                Condition::IsWhole(a) => numbers.push(*a),
                Condition::And(parts) | Condition::Or(parts) => conditions.extend(parts),
                Condition::Not(a) | Condition::Exact(a) => conditions.push(*a),
            }
        } else if let Some(id) = numbers.pop() {
            if seen_numbers.insert(id.0) {
                operands(program, id, &mut found, &mut conditions, &mut numbers);
            }
        } else {
            return found;
        }
    }
}

fn operands(
    program: &Program,
    id: NumberId,
    found: &mut BTreeSet<usize>,
    conditions: &mut Vec<ConditionId>,
    numbers: &mut Vec<NumberId>,
) {
    let number = program.get(id);
    match number {
        Number::Variable(variable) => {
            found.insert(*variable);
        }
        Number::If(condition, a, b) => {
            conditions.push(*condition);
            numbers.extend([*a, *b]);
        }
        _ => number.operands(|operand| numbers.push(operand)),
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::Domain;
    use crate::{ConstraintsBuilder, Variable};

    fn builder() -> ConstraintsBuilder {
        let variable = |name: &str| Variable {
            name: name.into(),
            domain: Domain::Integer { lower: 0.0, upper: 9.0 },
            level_names: Vec::new(),
        };
        ConstraintsBuilder::new(["a", "b", "c"].map(variable).to_vec()).unwrap()
    }

    #[test]
    fn a_circle_is_refused_and_named() {
        let mut circle = builder();
        circle.define("twice", "2 * a", false).unwrap();
        circle.active_if(0, "b >= 1", 0.0).unwrap();
        circle.active_if(1, "max(c, 3) >= 1", 0.0).unwrap();
        let error = circle.active_if(2, "if(twice > 4, 1, 0) == 1", 0.0).unwrap_err();
        assert!(error.message.contains("`c` -> `a` -> `b` -> `c`"), "{error}");
        assert!(builder().active_if(0, "a >= 1", 0.0).unwrap_err().message.contains("`a` -> `a`"));
    }

    #[test]
    fn a_given_value_survives_the_stale_value_of_its_parent() {
        let mut chain = builder();
        chain.active_if(0, "b <= 1", 0.0).unwrap();
        chain.active_if(1, "c >= 1", 1.0).unwrap();
        let constraints = chain.build();
        let mut x = [7.0, 5.0, 0.0];
        constraints.deactivate(&mut x);
        assert_eq!(x, [7.0, 1.0, 0.0], "b rests at 1, so a is active and keeps its 7");
        let mut x = [7.0, 5.0, 2.0];
        constraints.deactivate(&mut x);
        assert_eq!(x, [0.0, 5.0, 2.0]);
    }
}
