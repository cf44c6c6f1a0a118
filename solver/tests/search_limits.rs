//! Limits, interrupts, lists of cells, exclusions and agreement limits on the reference instances; refusals of malformed problems.

mod support;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leafgp_solver::search::ProgressCallback;
use leafgp_solver::{
    Domain, Forest, LeafObjective, Node, Problem, Quadratic, SearchOptions, Status, StopReason, Tree,
    minimize,
};
use support::{Instance, golden_instance, shared_instance};

/// An instance of the tree, then a larger one of the shared folder, where that is there.
fn plain(golden: &str, shared: &str) -> Vec<Instance> {
    let mut instances = vec![golden_instance("plain", golden)];
    instances.extend(shared_instance("plain", shared));
    instances
}

fn options(instance: &Instance) -> SearchOptions {
    let mut options = SearchOptions::default();
    options.start_points.clone_from(&instance.x);
    options
}

#[test]
fn a_limit_leaves_an_incumbent_and_a_valid_bound() {
    // Time enough to begin: none for the small instance, which ends within any other limit.
    let mut cases = vec![(golden_instance("plain", "ripples5-m50-t20d5"), -3.190_982_44, Duration::ZERO, 2)];
    let hard = shared_instance("hard", "rastrigin20-m250-t100d5-s7");
    cases.extend(hard.map(|instance| (instance, -2.238_323_59, Duration::from_millis(50), 30)));
    for (instance, optimum, time_limit, node_limit) in cases {
        let problem = Problem::new(&instance.domains, &instance.forest, &instance.objective);
        let mut limited = options(&instance);
        limited.time_limit = Some(time_limit);
        let report = minimize(&problem, &limited).unwrap();
        assert_eq!((report.status, report.stop_reason), (Status::Feasible, StopReason::TimeLimit));
        let best = report.incumbent.unwrap();
        assert!(
            problem.allows(&best.x)
                && best.objective >= optimum - 1e-6
                && report.best_bound <= optimum + 1e-6
        );

        let mut limited = options(&instance);
        limited.node_limit = Some(node_limit);
        let report = minimize(&problem, &limited).unwrap();
        assert_eq!((report.status, report.stop_reason), (Status::Feasible, StopReason::NodeLimit));
        assert!(report.best_bound <= optimum + 1e-6 && report.best_bound > -10.0);

        let mut stopped = options(&instance);
        stopped.interrupt = Some(Arc::new(AtomicBool::new(true)));
        let report = minimize(&problem, &stopped).unwrap();
        assert_eq!(report.stop_reason, StopReason::Interrupted);
        assert!(report.incumbent.is_some() && report.best_bound <= optimum);
    }
}

#[test]
fn progress_closes_in_on_the_optimum() {
    for instance in plain("ripples5-m50-t20d5", "rastrigin10-m100-t50d3-s101") {
        let problem = Problem::new(&instance.domains, &instance.forest, &instance.objective);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let calls = Arc::new(AtomicU64::new(0));
        let mut options = options(&instance);
        let (sink, count) = (Arc::clone(&seen), Arc::clone(&calls));
        options.progress = Some(ProgressCallback(Arc::new(move |progress| {
            count.fetch_add(1, Ordering::Relaxed);
            sink.lock().unwrap().push((progress.objective.unwrap(), progress.best_bound, progress.nodes));
        })));
        let report = minimize(&problem, &options).unwrap();
        let seen = seen.lock().unwrap();
        assert!(calls.load(Ordering::Relaxed) >= 2);
        for pair in seen.windows(2) {
            assert!(pair[1].0 <= pair[0].0 && pair[1].1 >= pair[0].1 && pair[1].2 >= pair[0].2, "{pair:?}");
        }
        assert_eq!(seen.last().unwrap().2, report.nodes);
    }
}

#[test]
fn excluding_the_best_cell_one_by_one_gives_the_list_of_best_cells() {
    for instance in plain("recipe5-m25-t50d3", "mixed7-m25-t50d3-s101") {
        let mut problem = Problem::new(&instance.domains, &instance.forest, &instance.objective);
        let mut settings = options(&instance);
        settings.gap = 0.0;
        settings.k_best = 6;
        let list = minimize(&problem, &settings).unwrap();
        let listed: Vec<f64> = list.incumbent.iter().chain(&list.others).map(|i| i.objective).collect();
        assert_eq!((listed.len(), list.status), (6, Status::Optimal));
        assert!(list.remaining_bound >= listed[5] - 2e-9);
        settings.k_best = 1;
        for objective in listed {
            let report = minimize(&problem, &settings).unwrap();
            let best = report.incumbent.unwrap();
            assert_eq!(report.status, Status::Optimal);
            assert!((best.objective - objective).abs() <= 1e-9, "{} instead of {objective}", best.objective);
            problem = problem.excluding(best.region);
        }
    }
}

#[test]
fn the_agreement_limit_holds_and_costs_more_the_tighter_it_is() {
    for instance in plain("recipe5-m10-t50d3", "rastrigin10-m10-t50d3-s101") {
        let objective = LeafObjective { quadratic: None, ..instance.objective.clone() };
        let leaves: Vec<Vec<usize>> = instance.x.iter().map(|x| instance.forest.active_leaves(x)).collect();
        let mut last = f64::NEG_INFINITY;
        for most in [50, 40, 30, 20] {
            let problem = Problem::new(&instance.domains, &instance.forest, &objective)
                .with_agreement_at_most(&leaves, most);
            let report = minimize(&problem, &options(&instance)).unwrap();
            let best = report.incumbent.unwrap();
            let active = instance.forest.active_leaves(&best.x);
            let agreement = |point: &Vec<usize>| point.iter().zip(&active).filter(|(a, b)| a == b).count();
            assert!(leaves.iter().all(|point| agreement(point) <= most));
            assert_eq!(report.status, Status::Optimal);
            assert!(
                best.objective >= last - 1e-4 * best.objective.abs(),
                "{most}: {} after {last}",
                best.objective
            );
            last = best.objective;
        }
    }
}

#[test]
fn threads_change_nothing() {
    for instance in plain("ripples5-m50-t20d5", "styblinski10-m100-t50d3-s101") {
        let problem = Problem::new(&instance.domains, &instance.forest, &instance.objective);
        let one = minimize(&problem, &options(&instance)).unwrap();
        let mut settings = options(&instance);
        settings.threads = 2;
        let two = minimize(&problem, &settings).unwrap();
        assert_eq!(one.incumbent, two.incumbent);
        assert_eq!((one.best_bound.to_bits(), one.nodes), (two.best_bound.to_bits(), two.nodes));
    }
}

#[test]
fn empty_domains_and_excluded_space_are_infeasible() {
    let forest = Forest::new(vec![], &[]).unwrap();
    let objective = LeafObjective { constant: 2.5, linear: vec![], quadratic: None };
    for domain in [
        Domain::Integer { lower: 3.0, upper: 2.0 },
        Domain::Continuous { lower: 1.0, upper: 0.0 },
        Domain::Discrete(vec![]),
        Domain::Categorical { levels: 0 },
    ] {
        let domains = [domain];
        let report =
            minimize(&Problem::new(&domains, &forest, &objective), &SearchOptions::default()).unwrap();
        assert_eq!(
            (report.status, report.stop_reason),
            (Status::Infeasible, StopReason::Exhausted),
            "{domains:?}"
        );
        assert_eq!(report.best_bound, f64::INFINITY);
    }
    // No trees: the whole box is one cell with the constant; without it nothing is left.
    let domains = [Domain::Integer { lower: 0.0, upper: 9.0 }];
    let problem = Problem::new(&domains, &forest, &objective);
    let report = minimize(&problem, &SearchOptions::default()).unwrap();
    let best = report.incumbent.unwrap();
    assert_eq!((report.status, best.objective), (Status::Optimal, 2.5));
    let report = minimize(&problem.excluding(best.region), &SearchOptions::default()).unwrap();
    assert_eq!((report.status, report.stop_reason), (Status::Infeasible, StopReason::Exhausted));
}

#[test]
fn malformed_problems_are_refused_with_their_reason() {
    let domains = [Domain::Continuous { lower: 0.0, upper: 1.0 }];
    let forest =
        Forest::new(vec![Tree { nodes: vec![Node::Leaf { leaf: 0, value: 0.0 }] }], &domains).unwrap();
    let good = LeafObjective { constant: 0.0, linear: vec![1.0], quadratic: None };
    let quadratic =
        |kappa, factor| Some(Quadratic { kappa, prior_variance: 1.0, dim: 2, factor, remainder: None });
    let cases = [
        (LeafObjective { linear: vec![], ..good.clone() }, "0 linear terms"),
        (LeafObjective { linear: vec![f64::NAN], ..good.clone() }, "not finite"),
        (LeafObjective { quadratic: quadratic(1.0, vec![0.0]), ..good.clone() }, "1 entries"),
        (LeafObjective { quadratic: quadratic(f64::INFINITY, vec![0.0; 2]), ..good.clone() }, "kappa inf"),
        (LeafObjective { quadratic: quadratic(1.0, vec![0.0, f64::NAN]), ..good.clone() }, "factor holds"),
    ];
    for (objective, expected) in cases {
        let error =
            minimize(&Problem::new(&domains, &forest, &objective), &SearchOptions::default()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error} should mention {expected}");
    }
    let problem = Problem::new(&domains, &forest, &good);
    let wrong = |change: fn(&mut SearchOptions)| {
        let mut options = SearchOptions::default();
        change(&mut options);
        minimize(&problem, &options).unwrap_err().to_string()
    };
    assert!(wrong(|o| o.gap = f64::NAN).contains("gap NaN"));
    assert!(wrong(|o| o.gap = 1.5).contains("gap 1.5"));
    assert!(wrong(|o| o.threads = 0).contains("threads"));
    assert!(wrong(|o| o.k_best = 0).contains("k_best"));
}
