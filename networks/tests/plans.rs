//! Architectures and the rules of their problem files say the same: a feasible point always builds, an infeasible one is refused by a rule that it breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use leafgp::problem::Problem;
use leafgp::solver::Domain;
use leafgp::solver::constraints::{ConstraintsBuilder, Limits, Quantity, Tolerance, Variable};
use leafgp_networks::{CnnPlan, Error, Point, VaePlan};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

fn problem(name: &str) -> Problem {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
    Problem::from_file(&file).unwrap()
}

/// Uniform in the box; what is inactive has its default.
fn uniform(problem: &Problem, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let draw = |domain: &Domain, rng: &mut ChaCha8Rng| {
        let (low, high) = domain.bounds();
        if domain.is_discrete() {
            let values: Vec<f64> =
                (low as i64..=high as i64).map(|x| x as f64).filter(|&x| domain.contains(x)).collect();
            values[rng.random_range(0..values.len())]
        } else {
            rng.random_range(low..=high)
        }
    };
    let mut point: Vec<f64> = problem.domains().iter().map(|domain| draw(domain, rng)).collect();
    problem.constraints().deactivate(&mut point);
    point
}

/// Feasible points: the first half fill the space, the others are uniform points moved onto the constraints.
fn feasible(problem: &Problem, n: usize) -> Vec<Vec<f64>> {
    let (set, mut rng) = (problem.constraints(), ChaCha8Rng::seed_from_u64(1));
    let mut points = set.design(n / 10, &[], &problem.log_scale(), &mut rng, Limits::default());
    while points.len() < n {
        let centre = uniform(problem, &mut rng);
        points.extend(
            set.project(&set.room(), &centre, 1e-3, Limits::default()).nearest.map(|(point, _)| point),
        );
    }
    points
}

fn json(problem: &Problem, point: &[f64]) -> Point {
    Point::new(problem.point_to_json(point))
}

/// The sides of the layers' images, as the builder has them.
type Sides = Vec<(&'static str, usize)>;

fn cnn(point: &Point) -> Result<Sides, Error> {
    let plan = CnnPlan::new(point)?;
    Ok(["size1", "size2", "size3"]
        .into_iter()
        .zip(plan.convolutions.iter().map(|layer| layer.side))
        .collect())
}

fn vae(point: &Point) -> Result<Sides, Error> {
    let plan = VaePlan::new(point)?;
    let encoder = plan.convolutions.iter().map(|layer| layer.side);
    let decoder = plan.deconvolutions.iter().map(|layer| layer.side);
    let encoder = ["enc_size1", "enc_size2"].into_iter().zip(encoder);
    Ok(encoder.chain(["dec_size1", "dec_size2"].into_iter().zip(decoder)).collect())
}

/// The problem file's own expressions of sizes.
fn quantities(problem: &Problem, names: &[&'static str]) -> BTreeMap<&'static str, Quantity> {
    let variables = problem.variables().iter().map(|v| Variable {
        name: v.name.clone(),
        domain: v.domain(),
        level_names: v.levels().to_vec(),
    });
    let mut builder = ConstraintsBuilder::new(variables.collect()).unwrap();
    for definition in problem.definitions() {
        builder.define(&definition.name, &definition.expr, definition.integer).unwrap();
    }
    names.iter().map(|&name| (name, builder.quantity(name).unwrap())).collect()
}

fn check_feasible(name: &str, names: &[&'static str], build: fn(&Point) -> Result<Sides, Error>) {
    let problem = problem(name);
    let in_file = quantities(&problem, names);
    let mut sizes = BTreeSet::new();
    for point in feasible(&problem, 500) {
        assert!(problem.constraints().is_feasible(&point, Tolerance::Judge));
        let sides = build(&json(&problem, &point)).unwrap_or_else(|e| panic!("{e}: {point:?}"));
        for (quantity, side) in sides {
            assert_eq!(side as f64, in_file[quantity].value(&point), "{quantity} of {point:?}");
            sizes.insert(side);
        }
    }
    assert!(sizes.len() >= 10, "only the sizes {sizes:?} were seen");
}

fn check_infeasible(
    name: &str,
    build: fn(&Point) -> Result<Sides, Error>,
    n: usize,
) -> BTreeMap<String, usize> {
    let problem = problem(name);
    let set = problem.constraints();
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut rules = BTreeMap::new();
    for _ in 0..n {
        let point = uniform(&problem, &mut rng);
        let broken: Vec<&str> =
            set.violations(&point, Tolerance::Judge).iter().map(|v| set.name(v.constraint)).collect();
        match build(&json(&problem, &point)) {
            Ok(_) => assert!(broken.is_empty(), "it was built against {broken:?}: {point:?}"),
            Err(Error::Rule { rule, why }) => {
                assert!(
                    broken.iter().any(|name| **name == *rule),
                    "refused by {rule} ({why}), but broken are {broken:?}"
                );
                *rules.entry(rule).or_insert(0) += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    rules
}

#[test]
fn each_of_500_feasible_points_builds_with_the_sizes_of_the_file() {
    check_feasible("cifar-nas.toml", &["size1", "size2", "size3"], cnn);
    check_feasible("vae-nas.toml", &["enc_size1", "enc_size2", "dec_size1", "dec_size2"], vae);
}

#[test]
fn what_does_not_build_breaks_the_rule_that_is_named_and_what_builds_breaks_none() {
    // All rules that can be broken: the encoder of VAE-NAS always leaves something.
    let rules = check_infeasible("cifar-nas.toml", cnn, 20_000);
    assert_eq!(rules.len(), 8, "{rules:?}");
    let rules = check_infeasible("vae-nas.toml", vae, 20_000);
    assert_eq!(rules.len(), 6, "{rules:?}");
}
