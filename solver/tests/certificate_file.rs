//! Certificates as files: a stored one still verifies, older ones are refused by name, and the verifier stands apart from the search and the engine.

use std::path::{Path, PathBuf};

use leafgp_solver::certificate::{Certificate, Refusal, WorkBudget, verify, verify_within};
use leafgp_solver::constraints::{Constraints, ConstraintsBuilder, Variable};
use leafgp_solver::search::certify;
use leafgp_solver::{
    Domain, Forest, Grid, LeafObjective, LevelSet, Node, Problem, Quadratic, Rule, SearchOptions, Tree,
    minimize,
};

/// A stored proof.
struct Stored {
    file: &'static str,
    /// Joins the constraints.
    extra: Option<&'static str>,
    /// Digest of the problem. It stands for the bytes that `docs/certificate-format.md` lays down: when it changes, every proof in the world is orphaned.
    digest: u64,
    bound: f64,
}

const STORED: [Stored; 2] = [
    Stored {
        file: "small.certificate",
        extra: None,
        digest: 0x1302_29ff_9240_fbf8,
        bound: -2.8594269510972907,
    },
    // No point: only a sum of constraints shows it.
    Stored {
        file: "infeasible.certificate",
        extra: Some("x3 <= 0.3"),
        digest: 0xc450_74b9_b5bf_b673,
        bound: f64::INFINITY,
    },
];

impl Stored {
    fn path(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(self.file)
    }

    fn with_problem(&self, test: impl FnOnce(&Problem<'_>)) {
        let domains = domains();
        let (forest, set) = (forest(&domains), constraints(&domains, self.extra));
        let objective = objective(&forest);
        test(&Problem::new(&domains, &forest, &objective).with_constraints(&set));
    }

    /// Today's proof of the problem.
    fn certify(problem: &Problem<'_>) -> Certificate {
        let options = SearchOptions::default();
        let report = minimize(problem, &options).unwrap();
        certify(problem, &report, &options).unwrap()
    }
}

fn domains() -> Vec<Domain> {
    vec![
        Domain::Continuous { lower: 0.0, upper: 1.0 },
        Domain::Continuous { lower: 0.0, upper: 1.0 },
        Domain::Integer { lower: 0.0, upper: 4.0 },
        Domain::Grid(Grid::new(0, 5, 2, 21).unwrap()),
        Domain::Categorical { levels: 3 },
    ]
}

fn constraints(domains: &[Domain], extra: Option<&str>) -> Constraints {
    let variable = |(i, domain): (usize, &Domain)| Variable {
        name: format!("x{i}"),
        domain: domain.clone(),
        level_names: (0..domain.levels().unwrap_or(0)).map(|l| format!("level {l}")).collect(),
    };
    let mut builder = ConstraintsBuilder::new(domains.iter().enumerate().map(variable).collect()).unwrap();
    let texts = [
        "x0 + x1 <= 0.9",
        "x0 + x1 + x3 == 1.25",
        "x0^2 + x1*x3 >= 0.1 * x2",
        "x4 == 'level 1' implies x2 >= 2",
        "log(1 + x2) <= 2 * x0 + 1",
    ];
    for text in texts.into_iter().chain(extra) {
        builder.constrain(text, text).unwrap();
    }
    builder.build()
}

/// Numbers that look random, without a generator that might change.
fn wave(k: usize) -> f64 {
    ((k * k * 31 + 7 * k + 3) % 101) as f64 / 50.0 - 1.0
}

/// Trees of depth 2 on pairs of the variables.
fn forest(domains: &[Domain]) -> Forest {
    let rule = |feature: usize, k: usize| match domains[feature].levels() {
        Some(n) => Rule::Levels(LevelSet::from_indices(n, [k % n])),
        None => {
            let (lower, upper) = domains[feature].bounds();
            Rule::Threshold(lower + (upper - lower) * ((17 * k) % 29 + 1) as f64 / 31.0)
        }
    };
    let tree = |t: usize| {
        let split =
            |feature: usize, k, left, right| Node::Split { feature, rule: rule(feature, k), left, right };
        let leaf = |leaf: usize| Node::Leaf { leaf, value: wave(4 * t + leaf) };
        let n = domains.len();
        let nodes = vec![
            split(t % n, 3 * t + 1, 1, 2),
            split((t + 1 + t / n) % n, 5 * t + 2, 3, 4),
            split((t + 2) % n, 7 * t + 3, 5, 6),
            leaf(0),
            leaf(1),
            leaf(2),
            leaf(3),
        ];
        Tree { nodes }
    };
    Forest::new((0..40).map(tree).collect(), domains).unwrap()
}

fn objective(forest: &Forest) -> LeafObjective {
    let n = forest.n_leaves();
    let factor = (0..3 * n).map(|k| wave(k + 11) / 30.0).collect();
    let quadratic = Quadratic { kappa: 1.25, prior_variance: 1.0, dim: 3, factor, remainder: None };
    LeafObjective {
        constant: 0.5,
        linear: (0..n).map(|k| wave(3 * k) / 4.0).collect(),
        quadratic: Some(quadratic),
    }
}

/// The digest within a file.
fn digest(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[8..16].try_into().unwrap())
}

#[test]
fn the_stored_proofs_still_verify() {
    for stored in STORED {
        stored.with_problem(|problem| {
            let bytes = std::fs::read(stored.path()).unwrap();
            assert_eq!(&bytes[..8], b"LEAFGPC4");
            assert_eq!(digest(&bytes), stored.digest);
            let certificate = Certificate::read(&bytes).unwrap();
            assert_eq!(certificate.write(), bytes);
            let verified = verify(problem, &certificate).unwrap();
            assert_eq!(verified.bound, stored.bound);
            // Work is counted, and the count is what a budget is held against.
            let exact = WorkBudget { total: verified.work, ..WorkBudget::default() };
            assert!(verify_within(problem, &certificate, exact).is_ok());
            let less = WorkBudget { total: verified.work - 1, ..exact };
            assert!(matches!(verify_within(problem, &certificate, less), Err(Refusal::OutOfWork { .. })));
        });
    }
}

/// Today's writer and the stored files agree about the digest and what is proved.
#[test]
fn new_proofs_have_the_stored_digests() {
    for stored in STORED {
        stored.with_problem(|problem| {
            let certificate = Stored::certify(problem);
            assert_eq!(digest(&certificate.write()), stored.digest);
            let verified = verify(problem, &certificate).unwrap();
            assert!(verified.bound == stored.bound || (verified.bound - stored.bound).abs() < 1e-3);
        });
    }
}

/// `cargo test -p leafgp-solver --test certificate_file -- --ignored --nocapture write`
#[test]
#[ignore = "writes the golden files; only for a new version of the format"]
fn write_the_golden_files() {
    for stored in STORED {
        stored.with_problem(|problem| {
            let certificate = Stored::certify(problem);
            let bytes = certificate.write();
            println!("{}: digest {:#x}, bound {:?}", stored.file, digest(&bytes), certificate.bound());
            std::fs::write(stored.path(), bytes).unwrap();
        });
    }
}

#[test]
fn files_of_an_older_version_are_refused_by_name() {
    for name in ["LEAFGPC2", "LEAFGPC3"] {
        let mut bytes = format!("{name} whatever an older version wrote").into_bytes();
        let checksum = bytes
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        bytes.extend(checksum.to_le_bytes());
        let refusal = Certificate::read(&bytes).unwrap_err().to_string();
        assert!(
            refusal.contains("older version") && refusal.contains("leafgp solve --certificate"),
            "{refusal}"
        );
    }
}

/// The sources of the certificate, tests aside, name nothing of the search, the engine's propagation, its decisions, its quadratic programs or its intervals.
#[test]
fn the_verifier_shares_nothing_with_search_or_engine() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/certificate");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Tests are in `hostile.rs` and in folders.
        if path.is_dir() || path.file_stem().is_some_and(|stem| stem == "hostile") {
            continue;
        }
        files += 1;
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for word in [
            "search::",
            "qp::",
            "interval::",
            "Propagator",
            "Decision",
            "Limits",
            "Evaluation",
            "Attained",
            ".decide(",
            ".project(",
            "constraints.contract(",
        ] {
            let line = code.lines().find(|line| line.contains(word) && !line.trim_start().starts_with("//"));
            assert!(line.is_none(), "{}: {line:?} names `{word}`", path.display());
        }
    }
    assert!(files > 10, "{files} files");
}
