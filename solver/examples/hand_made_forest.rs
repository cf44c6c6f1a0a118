//! A forest written by hand, minimised with a proof, and the proof checked: `cargo run -p leafgp-solver --example hand_made_forest`.
#![allow(clippy::print_stdout, reason = "an example prints its result")]

use leafgp_solver::certificate::{Certificate, verify};
use leafgp_solver::search::certify;
use leafgp_solver::{
    Domain, Forest, LeafObjective, LevelSet, Node, Problem, Quadratic, Rule, SearchOptions, Status, Tree,
    minimize,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A temperature, a number of passes and a solvent.
    let domains = [
        Domain::Continuous { lower: 20.0, upper: 90.0 },
        Domain::Integer { lower: 1.0, upper: 6.0 },
        Domain::Categorical { levels: 3 },
    ];
    let leaf = |leaf, value| Node::Leaf { leaf, value };
    let split = |feature, rule, left, right| Node::Split { feature, rule, left, right };
    let first = Tree {
        nodes: vec![
            split(0, Rule::Threshold(55.0), 1, 2),
            leaf(0, 0.4),
            split(1, Rule::Threshold(3.5), 3, 4),
            leaf(1, -0.6),
            leaf(2, -0.1),
        ],
    };
    let second = Tree {
        nodes: vec![
            split(2, Rule::Levels(LevelSet::from_indices(3, [0, 2])), 1, 2),
            split(0, Rule::Threshold(70.0), 3, 4),
            leaf(0, 0.3),
            leaf(1, -0.2),
            leaf(2, 0.5),
        ],
    };
    let forest = Forest::new(vec![first, second], &domains)?;

    // Minimise the sum of the trees minus 0.5 deviations; the deviation shrinks where the vectors of the active leaves add up.
    let linear = vec![0.4, -0.6, -0.1, 0.3, -0.2, 0.5];
    let factor = vec![0.1, 0.0, 0.6, 0.1, 0.0, 0.2, 0.1, 0.1, 0.5, 0.0, 0.0, 0.0];
    let quadratic = Quadratic { kappa: 0.5, prior_variance: 1.5, dim: 2, factor, remainder: None };
    let objective = LeafObjective { constant: 0.0, linear, quadratic: Some(quadratic) };

    let problem = Problem::new(&domains, &forest, &objective);
    let mut options = SearchOptions::default();
    options.k_best = 2;
    let report = minimize(&problem, &options)?;
    let best = report.incumbent.as_ref().ok_or("the box is not empty")?;
    println!("best  {:?}  objective {:.6}  region {:?}", best.x, best.objective, best.region);
    let next = report.others.first().ok_or("there are nine cells")?;
    println!("next  {:?}  objective {:.6}", next.x, next.objective);

    // Every cell by hand: the proof is right.
    let mut smallest = f64::INFINITY;
    for temperature in [30.0, 60.0, 80.0] {
        for passes in [2.0, 5.0] {
            for solvent in [0.0, 1.0, 2.0] {
                smallest =
                    smallest.min(objective.value(&forest.active_leaves(&[temperature, passes, solvent])));
            }
        }
    }
    assert_eq!((report.status, best.objective), (Status::Optimal, smallest));

    options.k_best = 1;
    let proof = certify(&problem, &minimize(&problem, &options)?, &options)?.write();
    let verified = verify(&problem, &Certificate::read(&proof)?)?;
    println!("proof of {} bytes: nothing below {:.6}, gap {:.1e}", proof.len(), verified.bound, verified.gap);
    Ok(())
}
