//! Limits of projections: an early end is prompt, and whatever was found by then is right.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use leafgp_constraints::{
    Constraints, ConstraintsBuilder, Decision, Limits, Projection, Tolerance, Variable,
};
use leafgp_constraints::{Domain, Region};
use support::sets;

/// Dense indefinite quadratic rows over `n` variables: the gap of a projection stays open for a very long time.
fn endless(n: usize) -> Constraints {
    let variable = |i: usize| Variable {
        name: format!("x{i}"),
        domain: Domain::Continuous { lower: -1.0, upper: 1.0 },
        level_names: Vec::new(),
    };
    let mut builder = ConstraintsBuilder::new((0..n).map(variable).collect()).unwrap();
    for k in 0..4 {
        let mut form = String::from("0");
        for i in 0..n {
            for j in i + 1..n {
                let sign = if ((i + 2 + k) * (j + 1 + 3 * k) + i) % 3 == 0 { "-" } else { "+" };
                form += &format!(" {sign} x{i}*x{j}");
            }
        }
        let text = format!("{form} >= {}", k + 2);
        builder.constrain(&text, &text).unwrap();
    }
    builder.build()
}

/// What must hold of any answer, early or not. The distance is summed anew.
fn assert_sound(set: &Constraints, centre: &[f64], answer: &Projection) {
    if let Some((x, distance)) = &answer.nearest {
        assert!(set.is_feasible(x, Tolerance::Produce), "{x:?}");
        let term = |((d, a), c): ((&Domain, &f64), &f64)| {
            let (l, u) = d.bounds();
            ((a - c) / (u - l)).powi(2)
        };
        let own: f64 = set.domains().iter().zip(x).zip(centre).map(term).sum();
        assert!((own - distance).abs() <= 1e-12 * own.max(1.0), "{own} {distance}");
        assert!(answer.bound <= distance * (1.0 + 1e-9), "{} {distance}", answer.bound);
    }
}

#[test]
fn a_raised_flag_or_a_past_deadline_leaves_a_projection_open() {
    let set = endless(12);
    let full = Region::full(set.domains());
    let flag = Some(Arc::new(AtomicBool::new(true)));
    for limits in [
        Limits { interrupt: flag, ..Limits::default() },
        Limits { deadline: Some(Instant::now()), ..Limits::default() },
        Limits { nodes: 0, ..Limits::default() },
    ] {
        // Not infinite: that would say that there is no feasible point.
        let answer = set.project(&full, &[0.0; 12], 1e-4, limits);
        assert_eq!(answer, Projection { nearest: None, bound: 0.0, nodes: 0 });
    }
}

/// The flag rises while the search is in the midst of its nodes; that the test ends shows that it is seen. When it rises is up to the
/// machine, what the answer must satisfy is not.
#[test]
fn a_flag_that_rises_within_a_projection_ends_it() {
    let set = endless(16);
    let full = Region::full(set.domains());
    let flag = Arc::new(AtomicBool::new(false));
    let limits = Limits { nodes: usize::MAX, deadline: None, interrupt: Some(Arc::clone(&flag)) };
    let answer = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            flag.store(true, Ordering::Relaxed);
        });
        set.project(&full, &[0.0; 16], 1e-6, limits)
    });
    assert_sound(&set, &[0.0; 16], &answer);
    let Some((_, distance)) = answer.nearest else { return };
    assert!(answer.bound < distance, "closed: no test of the interrupt");
}

/// The same point of return on every machine: a limit of nodes, raised one by one. Bounds only rise, points only come nearer, and none
/// contradicts the full answer.
#[test]
fn every_node_limit_gives_a_sound_answer() {
    for set in [sets::g6(), sets::g10(), sets::pressure_vessel()] {
        let full = Region::full(set.domains());
        let centre: Vec<f64> =
            set.domains().iter().map(Domain::bounds).map(|(l, u)| (0.7 * l + 0.3 * u).round()).collect();
        let closed = set.project(&full, &centre, 1e-4, Limits::default());
        let (_, nearest) = closed.nearest.clone().unwrap();
        assert_sound(&set, &centre, &closed);
        assert!(closed.bound >= nearest * (1.0 - 1e-4) - 1e-12);
        let mut before = Projection { nearest: None, bound: 0.0, nodes: 0 };
        for nodes in 0..=closed.nodes {
            let answer = set.project(&full, &centre, 1e-4, Limits { nodes, ..Limits::default() });
            assert!(answer.nodes <= nodes);
            assert_sound(&set, &centre, &answer);
            assert!(answer.bound >= before.bound, "{} {}", answer.bound, before.bound);
            let distance = |p: &Projection| p.nearest.as_ref().map_or(f64::INFINITY, |(_, d)| *d);
            assert!(distance(&answer) <= distance(&before));
            assert!(distance(&answer) >= closed.bound && answer.bound <= nearest * (1.0 + 1e-9));
            before = answer;
        }
        assert_eq!(before, closed);
        let decision = set.decide(&full, Limits { nodes: 0, ..Limits::default() });
        assert_eq!(decision, Decision::Undecided("the node limit was reached after 0 nodes".into()));
    }
}
