use super::super::{Evaluation, Typed};
use super::Scope;
use crate::Variable;
use crate::domain::{Domain, Grid};
use crate::expr::Settings;

fn scope() -> Scope {
    let number = |name: &str, domain| Variable { name: name.into(), domain, level_names: Vec::new() };
    let unit = || Domain::Continuous { lower: 0.0, upper: 1.0 };
    let levels = |name: &str, names: &[&str]| Variable {
        name: name.into(),
        domain: Domain::Categorical { levels: names.len() },
        level_names: names.iter().map(ToString::to_string).collect(),
    };
    let mut variables: Vec<_> = (1..=4).map(|i| number(&format!("w{i}"), unit())).collect();
    variables.push(number("flow rate", unit()));
    variables.push(number("n", Domain::Integer { lower: 0.0, upper: 9.0 }));
    variables.push(levels("salt", &["NaCl", "KCl", "2"]));
    variables.push(levels("acid", &["HCl", "KCl"]));
    variables.push(number("g", Domain::Grid(Grid::new(0, 1, 1, 50).unwrap())));
    variables.push(number("h", Domain::Grid(Grid::new(0, 1, 1, 50).unwrap())));
    Scope::new(variables).unwrap()
}

// w1 w2 w3 w4 flow n salt acid g h
const POINT: [f64; 10] = [0.1, 0.0, 0.3, 0.6, 0.5, 3.0, 1.0, 1.0, 1.1, 2.2];

fn number(text: &str) -> f64 {
    let mut scope = scope();
    let Typed::Number(id) = scope.expression(text).unwrap() else { panic!("{text} is no number") };
    let mut evaluation = Evaluation::default();
    evaluation.run(&scope.program, &POINT, Settings::PRODUCE);
    evaluation.number(id)
}

fn truth(text: &str) -> bool {
    let mut scope = scope();
    let id = scope.condition(text).unwrap();
    let mut evaluation = Evaluation::default();
    evaluation.run(&scope.program, &POINT, Settings::PRODUCE);
    evaluation.verdict(&scope.program, id, false, Settings::PRODUCE).holds()
}

#[test]
fn numbers_have_the_written_value() {
    for (text, expected) in [
        ("sum(w1..w4)", 0.1 + 0.0 + 0.3 + 0.6),
        ("sum(2*w1..w3, n)", 0.2 + 0.0 + 0.6 + 3.0),
        ("count(w1..w4 > 0)", 3.0),
        ("count(w1 > 0.2, n == 3, salt == 'KCl')", 2.0),
        ("min(w1..w4, 0.05)", 0.0),
        ("max(n, 2, w1)", 3.0),
        ("-n^2", -9.0),
        ("2^n", 8.0),
        ("n^-1", 1.0 / 3.0),
        ("`flow rate` * 2", 1.0),
        ("if(n >= 4, 1/w2, 7)", 7.0),
        ("floor(n/2) + ceil(n/2)", 3.0),
        ("sqrt(n + 1) + exp(0) + log(1) + abs(-n)", 6.0),
        ("log10(1000) + log10(10^n) + ln(exp(2))", 8.0),
        ("7 - 2 - 1", 4.0),
    ] {
        assert_eq!(number(text), expected, "{text}");
    }
    assert!(number("1 / w2").is_nan());
    assert!(number("log(w2)").is_nan() && number("log10(w2)").is_nan());
}

#[test]
fn conditions_have_the_written_truth() {
    for (text, expected) in [
        ("0 <= w1 < 0.2 <= w3", true),
        ("w1 in {0, 0.1..0.7} and w2 in {0, 0.1..0.7}", true),
        ("w1 in {0, 0.2..0.7}", false),
        ("n in [1, 3]", true),
        ("n not in [1, 3]", false),
        ("salt == 'KCl'", true),
        ("salt != 'KCl'", false),
        ("salt in ['NaCl', 2]", false),
        ("salt == acid", true),
        ("(salt, acid) in [('NaCl', 'HCl'), ('KCl', 'KCl')]", true),
        ("(salt, n) in [('NaCl', 3), ('KCl', 2)]", false),
        ("salt == 'KCl' implies n == 3", true),
        ("salt == 'NaCl' implies n == 4", true),
        ("w1 > 0 iff w2 > 0", false),
        ("not (w1 > 0 and w2 > 0)", true),
        ("all(w1..w4 <= 0.6)", true),
        ("any(w1..w4 > 0.6)", false),
        ("1 / w2 <= 5 or true", true),
        ("not (1 / w2 <= 5)", false),
        ("true and not false", true),
        // Plain f64 says 3.3000000000000003; on the grid it is 33 tenths.
        ("g + h <= 3.3", true),
        ("g + h == 3.3", true),
        ("g + h < 3.3", false),
        // With a real among them, decimals decide where f64 is off by a rounding.
        ("w1 + g + h <= 3.4", true),
        ("w1 + g + h < 3.4", false),
        ("w1 + g + h <= 3.3999999999999995", false),
    ] {
        assert_eq!(truth(text), expected, "{text}");
    }
}

#[test]
fn type_errors_point_at_the_offender() {
    for (text, span, fragment) in [
        ("w1 + salt <= 1", 5..9, "category"),
        ("w1", 0..2, "expected a condition"),
        ("w1 and n == 1", 0..2, "expected a condition"),
        ("n == 1 and w1", 11..13, "expected a condition"),
        ("salt <= 'KCl'", 0..4, "no order"),
        ("salt == 'KCI'", 8..13, "KCl"),
        ("flow_rate <= 1", 0..9, "flow rate"),
        ("w9 <= 1", 0..2, "did you mean"),
        ("n == 'KCl'", 0..1, "category"),
        ("(n == 1) == (w1 == 1)", 0..8, "iff"),
        ("w1 / (2 - 2) <= 1", 5..12, "zero"),
        ("w1 ^ n <= 1", 5..6, "constant"),
        ("sqrt(-1) <= n", 0..8, "undefined"),
        ("sqrt(n, 2) <= n", 0..10, "one argument"),
        ("mn(n, 2) <= n", 0..2, "min"),
        ("lg10(n) <= 2", 0..4, "`log10`"),
        ("log2(n) <= 2", 0..4, "`log`"),
        ("tangent(n) <= 2", 0..7, "log, ln, log10"),
        ("w1..w2 <= 1", 0..6, "range"),
        ("(salt, n) in [('KCl', 1, 2)]", 14..27, "3 values"),
        ("w1 in {0.7..0.1}", 7..15, "empty"),
        ("min <= 1", 0..3, "function"),
        ("sum(w1..w3 * w1..w2) <= 1", 13..19, "length"),
        ("n + (w1 > 0) <= 1", 4..12, "count"),
    ] {
        let error = scope().condition(text).unwrap_err();
        assert_eq!(error.span, span, "{text}: {error}");
        assert!(error.message.contains(fragment), "{text}: {error}");
    }
}

#[test]
fn a_long_sum_does_not_exhaust_the_stack() {
    let text = vec!["w1"; 5_000].join(" + ") + " <= 501";
    assert!(truth(&text));
}

#[test]
fn names_may_not_repeat() {
    let mut scope = scope();
    let id = scope.expression("n + 1").unwrap();
    assert!(scope.name("n", id.clone()).is_err());
    assert!(scope.name("m", id).is_ok());
    assert!(scope.expression("m == 4").is_ok());
}
