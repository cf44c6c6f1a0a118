//! Long and repetitive inputs: an answer or an error that says why, on a small stack, in little memory and without exponential time.

use std::fmt::Write as _;

use leafgp_constraints::{
    Constraints, ConstraintsBuilder, Decision, Domain, Limits, Region, Tolerance, Variable,
};

fn builder(n: usize) -> ConstraintsBuilder {
    let variable = |i: usize| Variable {
        name: format!("x{i}"),
        domain: Domain::Continuous { lower: 0.0, upper: 1.0 },
        level_names: Vec::new(),
    };
    ConstraintsBuilder::new((0..n).map(variable).collect()).unwrap()
}

/// Runs on 1 MiB of stack: threads of a pool have 2.
fn on_a_small_stack(f: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1 << 20).spawn(f).unwrap().join().unwrap();
}

fn few_nodes() -> Limits {
    Limits { nodes: 3, ..Limits::default() }
}

/// Everything that walks through a set.
fn ask(set: &Constraints) -> Decision {
    let full = Region::full(set.domains());
    let n = set.domains().len();
    set.violations(&vec![0.5; n], Tolerance::Judge);
    let mut region = full.clone();
    let _ = set.contract(&mut region);
    let _ = set.check_denominators();
    let _ = set.always_true();
    set.decide(&full, few_nodes())
}

fn joined(n: usize, separator: &str, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect::<Vec<_>>().join(separator)
}

#[test]
fn long_chains_are_read_compiled_evaluated_and_dropped_in_loops() {
    on_a_small_stack(|| {
        let x = |i: usize| format!("x{}", i % 3);
        let point = |v: f64| [v, 0.25, 0.75];
        for (text, holds, fails) in [
            (format!("min({}) >= 0.2", joined(12_000, ", ", |i| format!("{} + {i}", x(i)))), 0.3, 0.1),
            (format!("max({}) <= 12000.5", joined(12_000, ", ", |i| format!("x0 + {i}"))), 0.5, 2.5),
            (joined(20_000, " or ", |i| format!("x0 > {}", 0.5 + i as f64)), 0.6, 0.4),
            (joined(20_000, " and ", |i| format!("x0 < {}", 0.5 + i as f64)), 0.4, 0.6),
            (format!("{} <= 69754", joined(139_508, " + ", |_| "x0".into())), 0.4999, 0.5001),
            (format!("sum({}, x1) <= 10000.25", joined(20_000, " + ", |_| "x0".into())), 0.4999, 0.5001),
            (format!("x0 - {} <= 0", joined(20_000, " - ", |_| "x0 / 20000".into())), 0.0, -1.0),
        ] {
            let mut builder = builder(3);
            builder.constrain("chain", &text).unwrap();
            let set = builder.build();
            assert!(set.violations(&point(holds), Tolerance::Judge).is_empty(), "{}", &text[..40]);
            if fails >= 0.0 {
                assert_eq!(set.violations(&point(fails), Tolerance::Judge).len(), 1, "{}", &text[..40]);
            }
            assert_ne!(ask(&set), Decision::Infeasible, "{}", &text[..40]);
        }
    });
}

#[test]
fn what_nests_too_deeply_is_refused_with_the_limit() {
    on_a_small_stack(|| {
        for text in [
            format!("{} <= 1", joined(16_000, " * ", |_| "x0".into())),
            joined(20_000, " iff ", |i| format!("x0 > {}", i as f64 / 20_000.0)),
            format!("x0{} <= 1", " / x1 * x0".repeat(8_000)),
            format!("x0 <= 1{}", " in [1]".repeat(50_000)),
            format!("{}x0 <= 1", "not ".repeat(50_000)),
            format!("{}x0{} <= 1", "max(".repeat(50_000), ", 1)".repeat(50_000)),
        ] {
            let error = builder(2).constrain("chain", &text).unwrap_err();
            assert!(error.message.contains("deep"), "{error}");
            assert!(error.message.contains("500") || error.message.contains("200"), "{error}");
        }
        let mut deep = builder(2);
        deep.define("d0", "x0", false).unwrap();
        let refused = (1..10_000).find(|i| {
            let text = format!("if(d{} > 0.5, x1, 2 * d{})", i - 1, i - 1);
            deep.define(&format!("d{i}"), &text, false).is_err()
        });
        assert!(refused.is_some_and(|i| i > 100), "{refused:?}");
    });
}

/// As deep as is allowed, on a small stack.
#[test]
fn what_is_not_refused_can_be_asked() {
    on_a_small_stack(|| {
        let mut deep = builder(2);
        deep.define("d0", "x0", false).unwrap();
        let mut last = 0;
        while deep
            .define(
                &format!("d{}", last + 1),
                &format!("if(d{last} > 0.5, x1 * d{last}, 2 * d{last})"),
                false,
            )
            .is_ok()
        {
            last += 1;
        }
        deep.constrain("deep", &format!("x0 + d{} <= 1.5", last - 5)).unwrap();
        let _ = ask(&deep.build());
        let mut factors = builder(2);
        factors
            .constrain("product", &format!("{} <= 0.5", joined(490, " * ", |i| format!("x{}", i % 2))))
            .unwrap();
        assert!(matches!(ask(&factors.build()), Decision::Feasible(_)));
        let mut named = builder(2);
        named.define("d0", "x0", false).unwrap();
        for i in 1..240 {
            named.define(&format!("d{i}"), &format!("d{} + x1 - 0.25 * d{}", i - 1, i - 1), false).unwrap();
        }
        named.constrain("sum", "d239 <= 1").unwrap();
        let _ = ask(&named.build());
    });
}

#[test]
fn definitions_that_double_each_other_merge() {
    let mut doubled = builder(1);
    doubled.define("d0", "x0", false).unwrap();
    doubled.define("c0", "x0 <= 0.5", false).unwrap();
    for i in 1..60 {
        let before = i - 1;
        doubled.define(&format!("d{i}"), &format!("d{before} + d{before}"), false).unwrap();
        doubled.define(&format!("c{i}"), &format!("c{before} and (c{before} or x0 > {i})"), false).unwrap();
    }
    doubled.constrain("sum", "d59 <= 2^58").unwrap();
    doubled.constrain("all", "c59").unwrap();
    let set = doubled.build();
    assert!(set.is_feasible(&[0.5], Tolerance::Produce));
    assert_eq!(set.violations(&[0.75], Tolerance::Produce).len(), 2);
    assert!(matches!(ask(&set), Decision::Feasible(_)));
}

/// The parity of 40 comparisons: 2^40 paths lead through its conditions, each of which is judged once.
#[test]
fn conditions_that_share_conditions_are_judged_once() {
    let threshold = |i: usize| (i as f64 + 0.5) / 40.0;
    let mut parity = builder(1);
    let mut text = String::new();
    for i in 0..40 {
        let _ = write!(text, "{}x0 > {}", if i == 0 { "" } else { " iff " }, threshold(i));
    }
    parity.constrain("parity", &text).unwrap();
    let set = parity.build();
    for k in 0..=40 {
        // k of the 40 hold, 40 - k do not: the chain holds when that number is even.
        let x = [k as f64 / 40.0];
        assert_eq!(set.is_feasible(&x, Tolerance::Produce), (40 - k) % 2 == 0, "{k}");
    }
    assert!(matches!(ask(&set), Decision::Feasible(x) if set.is_feasible(&x, Tolerance::Produce)));
    // The same over many variables, none of which decides alone.
    let mut wide = builder(40);
    wide.constrain("parity", &joined(40, " iff ", |i| format!("x{i} * x{} > 0.3", (i + 1) % 40))).unwrap();
    wide.constrain("other", &joined(40, " iff ", |i| format!("x{i} + x{} > 0.7", (i + 7) % 40))).unwrap();
    let _ = ask(&wide.build());
}

#[test]
fn many_levels_and_many_constraints_are_looked_up() {
    let names: Vec<String> = (0..65_536).map(|i| format!("level {i}")).collect();
    let level = Variable {
        name: "c".into(),
        domain: Domain::Categorical { levels: names.len() },
        level_names: names,
    };
    let number = Variable {
        name: "x".into(),
        domain: Domain::Continuous { lower: 0.0, upper: 1.0 },
        level_names: Vec::new(),
    };
    let mut builder = ConstraintsBuilder::new(vec![level, number]).unwrap();
    builder.constrain("not the last", "c != 'level 65535'").unwrap();
    for i in 0..5_000 {
        builder.constrain(&format!("cap {i}"), &format!("x <= {}", 1.0 - i as f64 / 10_000.0)).unwrap();
    }
    let set = builder.build();
    assert_eq!(set.violations(&[65_535.0, 0.75], Tolerance::Produce).len(), 1 + 2_499);
    assert!(matches!(set.decide(&Region::full(set.domains()), few_nodes()), Decision::Feasible(_)));
}
