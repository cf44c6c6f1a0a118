//! Constraints as text.

use leafgp_solver::constraints::{
    Constraints, ConstraintsBuilder, Decision, Domain, Grid, Region, Tolerance, Variable,
};

use crate::grammar::Choices;
use crate::problem::limits;

/// Constraints over variables of every kind. Bytes that begin with an even one are choices of the grammar, else the rest is text, a constraint a line. No feasible
/// point is lost by contraction or contradicts a decision.
pub fn expression(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let texts: Vec<String> = if kind % 2 == 0 {
        let mut choices = Choices(rest);
        let mut texts = vec![choices.condition(0)];
        while !choices.is_empty() && texts.len() < 6 {
            texts.push(choices.condition(0));
        }
        texts
    } else {
        let Ok(text) = std::str::from_utf8(rest) else { return };
        text.lines().map(str::to_owned).collect()
    };
    let mut builder = ConstraintsBuilder::new(variables()).unwrap();
    for (i, text) in texts.iter().enumerate() {
        // A definition is a line `name = expression`.
        let added = match text.split_once(" = ") {
            Some((name, expression)) => builder.define(name.trim(), expression, i % 2 == 1),
            None => builder.constrain(text, text),
        };
        if let Err(error) = added {
            assert!(!error.message.is_empty());
            let expression = text.split_once(" = ").map_or(text.as_str(), |(_, expression)| expression);
            assert!(expression.get(error.span.clone()).is_some(), "{text}: {error:?}");
        }
    }
    used(&builder.build(), &texts);
}

fn variables() -> Vec<Variable> {
    let variable = |name: &str, domain| Variable { name: name.into(), domain, level_names: Vec::new() };
    let category = |name: &str, levels: [&str; 3]| Variable {
        name: name.into(),
        domain: Domain::Categorical { levels: 3 },
        level_names: levels.map(str::to_owned).to_vec(),
    };
    vec![
        variable("x", Domain::Continuous { lower: 0.0, upper: 10.0 }),
        variable("y", Domain::Continuous { lower: -1.0, upper: 1.0 }),
        variable("n", Domain::Integer { lower: -3.0, upper: 7.0 }),
        variable("g", Domain::Grid(Grid::new(1, 1, 1, 10).unwrap())),
        variable("s", Domain::Discrete(vec![0.0, 0.1, 0.30000000000000004, 7.5])),
        category("c", ["a", "b", "6"]),
        category("d", ["b", "a", "q"]),
    ]
}

fn used(constraints: &Constraints, texts: &[String]) {
    let full = Region::full(constraints.domains());
    let mut contracted = full.clone();
    let is_possible = constraints.contract(&mut contracted);
    let decision = constraints.decide(&full, limits());
    if let Decision::Feasible(x) = &decision {
        assert!(constraints.is_feasible(x, Tolerance::Produce), "{texts:?}: {x:?}");
        assert!(is_possible && contracted.contains(x), "{texts:?}: {x:?} is lost in {contracted:?}");
    }
    for step in 0..60_usize {
        let pick = |i: usize, n: usize| (step * (2 * i + 5) + i) % n;
        let point = [
            pick(0, 21) as f64 * 0.5,
            pick(1, 9) as f64 * 0.25 - 1.0,
            pick(2, 11) as f64 - 3.0,
            (pick(3, 10) + 1) as f64 / 10.0,
            [0.0, 0.1, 0.30000000000000004, 7.5][pick(4, 4)],
            pick(5, 3) as f64,
            pick(6, 3) as f64,
        ];
        if constraints.is_feasible(&point, Tolerance::Produce) {
            assert!(decision != Decision::Infeasible, "{texts:?}: {point:?} is feasible");
            assert!(
                is_possible && contracted.contains(&point),
                "{texts:?}: {point:?} is lost in {contracted:?}"
            );
        }
    }
}
