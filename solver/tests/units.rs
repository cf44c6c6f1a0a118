//! The same problem in other units: the same answer, proved and checked.

mod support;

use leafgp_solver::certificate::verify;
use leafgp_solver::constraints::{ConstraintsBuilder, Tolerance, Variable};
use leafgp_solver::search::certify;
use leafgp_solver::{Domain, Forest, Node, Problem, Rule, SearchOptions, Status, Tree, minimize};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use support::random::{random_forest, random_point};

/// Sets of rules in a unit.
fn rules(unit: f64) -> Vec<Vec<String>> {
    let u = |c: f64, power: i32| c * unit.powi(power);
    vec![
        vec![format!("x + y == {}", u(0.7, 1))],
        vec![format!("x * y == {}", u(0.01, 2)), format!("z >= {}", u(0.25, 1))],
        vec![format!("x + y + z <= {}", u(0.3, 1)), format!("x - y == {}", u(0.2, 1))],
        vec![format!("x^2 + y^2 == {}", u(0.5, 2)), format!("z == x or z <= {}", u(-0.5, 1))],
        vec![format!("x / (z + {}) == 0.125", u(2.0, 1)), "abs(y) <= z".into()],
        // No point: by rows added up, by one rule.
        vec![
            format!("x + y == {}", u(0.5, 1)),
            format!("x + y + z >= {}", u(1.0, 1)),
            format!("z <= {}", u(0.499, 1)),
        ],
        vec![format!("x * y >= {}", u(1.001, 2))],
    ]
}

fn scaled(forest: &Forest, domains: &[Domain], unit: f64) -> Forest {
    let node = |node: &Node| match node.clone() {
        Node::Split { feature, rule: Rule::Threshold(t), left, right } => {
            Node::Split { feature, rule: Rule::Threshold(t * unit), left, right }
        }
        other => other,
    };
    let trees = forest.trees().iter().map(|tree| Tree { nodes: tree.nodes.iter().map(node).collect() });
    Forest::new(trees.collect(), domains).unwrap()
}

#[test]
fn problems_in_any_unit_have_the_same_proved_answer() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let of = |unit: f64| vec![Domain::Continuous { lower: -unit, upper: unit }; 3];
    let (mut optimal, mut infeasible) = (0, 0);
    for which in 0..rules(1.0).len() {
        let one = of(1.0);
        let forest = random_forest(&mut rng, &one, 6);
        let data: Vec<Vec<f64>> = (0..6).map(|_| random_point(&mut rng, &one)).collect();
        let y: Vec<f64> = data.iter().map(|_| rng.random_range(-2.0..2.0)).collect();
        let mut answers = Vec::new();
        for exponent in [0, -40, -10, 40] {
            let unit = 2f64.powi(exponent);
            let domains = of(unit);
            let forest = scaled(&forest, &domains, unit);
            let data: Vec<Vec<f64>> = data.iter().map(|x| x.iter().map(|v| v * unit).collect()).collect();
            let objective = support::posterior(&forest, &data, &y, 1.96, 1.0, 1e-3);
            let named = |(name, domain): (&str, &Domain)| Variable {
                name: name.into(),
                domain: domain.clone(),
                level_names: Vec::new(),
            };
            let variables = ["x", "y", "z"].into_iter().zip(&domains).map(named).collect();
            let mut builder = ConstraintsBuilder::new(variables).unwrap();
            rules(unit)[which].iter().for_each(|rule| builder.constrain(rule, rule).unwrap());
            let set = builder.build();
            let problem = Problem::new(&domains, &forest, &objective).with_constraints(&set);
            let mut options = SearchOptions::default();
            options.threads = 1;
            let report = minimize(&problem, &options).unwrap();
            let certificate = certify(&problem, &report, &options).unwrap();
            let verified = verify(&problem, &certificate).unwrap();
            if let Some(best) = &report.incumbent {
                assert!(set.is_feasible(&best.x, Tolerance::Produce));
            }
            let objective = report.incumbent.as_ref().map(|best| best.objective);
            answers.push((report.status, objective, verified.bound, report.nodes));
        }
        for (status, objective, bound, _) in &answers {
            assert_eq!(*status, answers[0].0, "{:?}: {answers:?}", rules(1.0)[which]);
            for (_, other, _, _) in &answers {
                assert!(other.is_none_or(|other| *bound <= other), "{:?}: {answers:?}", rules(1.0)[which]);
                assert_eq!(objective.is_some(), other.is_some());
            }
            optimal += usize::from(*status == Status::Optimal);
            infeasible += usize::from(*status == Status::Infeasible);
        }
    }
    assert_eq!((optimal, infeasible), (20, 8));
}
