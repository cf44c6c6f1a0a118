//! Instances and posteriors for tests and benches: plain, slow code from the definitions.
#![allow(dead_code, missing_docs, unreachable_pub, reason = "each test crate uses a part")]

pub mod ensembles;
pub mod random;

use std::path::{Path, PathBuf};

use leafgp_solver::constraints::{Constraints, ConstraintsBuilder, Variable};
use leafgp_solver::{Domain, Forest, LeafObjective, LevelSet, Node, Problem, Quadratic, Rule, Tree};
use leafgp_testdata::{json_files, shared};
use serde_json::Value;

/// An acquisition instance with its forest and posterior.
#[derive(Debug)]
pub struct Instance {
    pub name: String,
    pub domains: Vec<Domain>,
    pub forest: Forest,
    pub objective: LeafObjective,
    pub x: Vec<Vec<f64>>,
    pub constraints: Vec<String>,
}

pub fn read_json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The small instances of the tree, `plain` or `constrained`, with optima from plain enumeration (golden/instances/README.md).
pub fn golden(set: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/instances").join(set)
}

/// An instance of the tree.
pub fn golden_instance(set: &str, name: &str) -> Instance {
    read_instance(&golden(set).join(format!("{name}.json")))
}

/// An instance of the shared folder, where that is there.
pub fn shared_instance(set: &str, name: &str) -> Option<Instance> {
    Some(read_instance(&shared("instances")?.join(set).join(format!("{name}.json"))))
}

/// The instances of a folder whose names are kept, sorted by name; the name is the file's, without `.json`.
pub fn instances(folder: &Path, keep: impl Fn(&str) -> bool) -> impl Iterator<Item = (String, Instance)> {
    json_files(folder, 1).into_iter().filter_map(move |file| {
        let name = file.file_stem().unwrap().to_str().unwrap().to_string();
        keep(&name).then(|| (name, read_instance(&file)))
    })
}

/// All instances of a set in the tree, then those kept of the shared set, where that is there; each with what its `expected.json` says.
pub fn reference_instances(set: &str, keep: impl Fn(&str) -> bool) -> Vec<(String, Instance, Value)> {
    let mut out = vec![];
    let mut add = |folder: &Path, keep: &dyn Fn(&str) -> bool| {
        let expected = read_json(&folder.join("expected.json"));
        for (name, instance) in instances(folder, keep) {
            let known = expected[&name].clone();
            assert!(known.is_object(), "{}: nothing is expected of {name}", folder.display());
            out.push((name, instance, known));
        }
        for name in expected.as_object().unwrap().keys() {
            let file = folder.join(format!("{name}.json"));
            assert!(file.is_file(), "{} is missing", file.display());
        }
    };
    // The tree holds no hard ones: they take minutes, and so would their enumeration.
    if set != "hard" {
        add(&golden(set), &|_| true);
    }
    if let Some(folder) = shared("instances") {
        add(&folder.join(set), &keep);
    }
    out
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn index(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

pub fn read_instance(path: &Path) -> Instance {
    let json = read_json(path);
    let domains: Vec<Domain> = json["variables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| match v["type"].as_str().unwrap() {
            "categorical" => Domain::Categorical { levels: index(&v["categories"]) },
            "integer" => Domain::Integer { lower: number(&v["lower"]), upper: number(&v["upper"]) },
            _ => Domain::Continuous { lower: number(&v["lower"]), upper: number(&v["upper"]) },
        })
        .collect();
    let node = |n: &Value| {
        if let Some(leaf) = n.get("leaf") {
            return Node::Leaf { leaf: index(leaf), value: number(&n["value"]) };
        }
        let feature = index(&n["feature"]);
        let rule = match n.get("categories") {
            Some(levels) => {
                let n_levels = domains[feature].levels().unwrap();
                Rule::Levels(LevelSet::from_indices(n_levels, levels.as_array().unwrap().iter().map(index)))
            }
            None => Rule::Threshold(number(&n["threshold"])),
        };
        Node::Split { feature, rule, left: index(&n["left"]), right: index(&n["right"]) }
    };
    let trees: Vec<Tree> = json["trees"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| Tree { nodes: t.as_array().unwrap().iter().map(node).collect() })
        .filter(|t: &Tree| t.n_leaves() > 1)
        .collect();
    let forest = Forest::new(trees, &domains).unwrap();
    let x: Vec<Vec<f64>> = json["X"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r.as_array().unwrap().iter().map(number).collect())
        .collect();
    let y: Vec<f64> = json["y"].as_array().unwrap().iter().map(number).collect();
    let objective = posterior(
        &forest,
        &x,
        &y,
        number(&json["kappa"]),
        number(&json["signal_variance"]),
        number(&json["noise_variance"]),
    );
    let constraints = json
        .get("constraints")
        .and_then(Value::as_array)
        .map_or_else(Vec::new, |list| list.iter().map(|c| c.as_str().unwrap().to_string()).collect());
    Instance { name: json["name"].as_str().unwrap().to_string(), domains, forest, objective, x, constraints }
}

impl Instance {
    /// The compiled constraints; `None` when the instance has none.
    pub fn compile_constraints(&self) -> Option<Constraints> {
        if self.constraints.is_empty() {
            return None;
        }
        let variable = |(i, domain): (usize, &Domain)| Variable {
            name: format!("x{i}"),
            domain: domain.clone(),
            level_names: (0..domain.levels().unwrap_or(0)).map(|l| l.to_string()).collect(),
        };
        let mut builder =
            ConstraintsBuilder::new(self.domains.iter().enumerate().map(variable).collect()).unwrap();
        for text in &self.constraints {
            builder.constrain(text, text).unwrap();
        }
        Some(builder.build())
    }

    /// The instance as a problem of the search, under its compiled constraints.
    pub fn problem<'a>(&'a self, constraints: Option<&'a Constraints>) -> Problem<'a> {
        let problem = Problem::new(&self.domains, &self.forest, &self.objective);
        match constraints {
            Some(constraints) => problem.with_constraints(constraints),
            None => problem,
        }
    }
}

/// `v_l = (s2/T) L^-1 A[:, l]`, `c_l = (s2/T) sum_{i in l} alpha_i` with `K = (s2/T) Z Z' + noise I = L L'`.
pub fn posterior(
    forest: &Forest,
    x: &[Vec<f64>],
    y: &[f64],
    kappa: f64,
    s2: f64,
    noise: f64,
) -> LeafObjective {
    let m = x.len();
    let scale = s2 / forest.n_trees().max(1) as f64;
    let leaves: Vec<Vec<usize>> = x.iter().map(|x| forest.active_leaves(x)).collect();
    let mut l = vec![vec![0.0; m]; m];
    for i in 0..m {
        for j in 0..=i {
            let shared = leaves[i].iter().zip(&leaves[j]).filter(|(a, b)| a == b).count();
            let mut k = scale * shared as f64 + if i == j { noise } else { 0.0 };
            for q in 0..j {
                k -= l[i][q] * l[j][q];
            }
            l[i][j] = if i == j { k.max(1e-14).sqrt() } else { k / l[j][j] };
        }
    }
    let forward = |b: &mut [f64]| {
        for i in 0..m {
            for q in 0..i {
                b[i] -= l[i][q] * b[q];
            }
            b[i] /= l[i][i];
        }
    };
    let mut alpha = y.to_vec();
    forward(&mut alpha);
    for i in (0..m).rev() {
        for q in i + 1..m {
            alpha[i] -= l[q][i] * alpha[q];
        }
        alpha[i] /= l[i][i];
    }
    let n_leaves = forest.n_leaves();
    let mut linear = vec![0.0; n_leaves];
    let mut factor = vec![0.0; n_leaves * m];
    for (i, point) in leaves.iter().enumerate() {
        for &leaf in point {
            linear[leaf] += scale * alpha[i];
            factor[leaf * m + i] = scale;
        }
    }
    for row in factor.chunks_exact_mut(m.max(1)) {
        forward(row);
    }
    LeafObjective {
        constant: 0.0,
        linear,
        quadratic: Some(Quadratic { kappa, prior_variance: s2, dim: m, factor, remainder: None }),
    }
}
