//! Random problems of one and two models with constraints over variables of all kinds, and their optima by a twin that only predicts, and solves what is left
//! in the one continuous variable by hand.
#![allow(dead_code, missing_docs, unreachable_pub, reason = "each test crate uses a part")]

use leafgp_constraints::{Domain, Grid, Variable};
use leafgp_models::{Binding, Ensemble, NamedModel, ReadOptions};
use leafgp_solver::SearchOptions;

use super::random::{Numbers, THRESHOLDS, random_lightgbm, random_xgboost};

/// `a` whole, `b` on a grid or a list, `c` continuous, `metal` of three levels.
pub const METALS: [&str; 3] = ["2", "0", "3"];

/// A point and what the models predict there.
pub struct At<'a> {
    pub x: &'a [f64],
    pub y: &'a [f64],
}

pub type Function = Box<dyn Fn(&At<'_>) -> f64>;

/// `slope * c + rest <= 0`; the rest does not depend on `c`.
pub struct Rule {
    pub text: String,
    pub slope: f64,
    pub rest: Function,
}

/// An objective that is linear in `c` between its kinks.
pub struct Objective {
    pub text: String,
    pub value: Function,
    pub kinks: Vec<f64>,
}

pub fn variables(numbers: &mut Numbers) -> Vec<Variable> {
    let plain = |name: &str, domain| Variable { name: name.into(), domain, level_names: Vec::new() };
    let b = match numbers.next(2) {
        0 => Domain::Grid(Grid::new(-3, 4, 1, 8).unwrap()),
        _ => Domain::Discrete(vec![-1e-36, 0.0, 0.1, 0.5, 2.0]),
    };
    vec![
        plain("a", Domain::Integer { lower: -2.0, upper: 3.0 }),
        plain("b", b),
        plain("c", Domain::Continuous { lower: -0.5, upper: 1.7 }),
        Variable {
            name: "metal".into(),
            domain: Domain::Categorical { levels: METALS.len() },
            level_names: METALS.map(String::from).to_vec(),
        },
    ]
}

pub fn models(numbers: &mut Numbers, n: usize, variables: &[Variable]) -> Vec<NamedModel> {
    models_with_links(numbers, n, variables, |_, text| text)
}

/// The same, the text of each model changed.
pub fn models_with_links(
    numbers: &mut Numbers,
    n: usize,
    variables: &[Variable],
    mut link: impl FnMut(&mut Numbers, String) -> String,
) -> Vec<NamedModel> {
    let model = |name: &str| {
        let text = if numbers.next(2) == 0 { random_lightgbm(numbers) } else { random_xgboost(numbers) };
        let text = link(numbers, text);
        let ensemble = Ensemble::read(text.as_bytes(), &ReadOptions::default()).unwrap();
        let binding = Binding::by_name(&ensemble, variables).unwrap();
        NamedModel { name: name.into(), ensemble, binding }
    };
    ["first", "second"][..n].iter().copied().map(model).collect()
}

/// A number between the two that no sum of the models' decimals meets.
pub fn odd(numbers: &mut Numbers, lower: f64, upper: f64) -> f64 {
    let share = numbers.next(1000) as f64 / 1000.0;
    ((lower + share * (upper - lower)) * 100.0).round() / 100.0 + 0.003_7
}

/// Another link in place of the sum itself, now and then: bent ones of both libraries, in f64 and f32.
pub fn bent(numbers: &mut Numbers, text: String) -> String {
    let lightgbm = ["binary sigmoid:0.05", "cross_entropy_lambda", "regression sqrt"];
    let objective = lightgbm[numbers.next(3)];
    match numbers.next(5) {
        0..=1 if text.starts_with("tree") => {
            text.replace("objective=regression", &format!("objective={objective}"))
        }
        0 => text.replace("reg:squarederror", "binary:logistic"),
        1 => text.replace("reg:squarederror", "binary:hinge"),
        _ => text,
    }
}

/// What is demanded besides rules: text by text, and the same as rules of the twin.
pub struct Demand {
    /// A constraint, or the condition under which `c` exists.
    pub constraint: Option<String>,
    pub active_if: Option<(String, f64)>,
    pub halves: Vec<Rule>,
}

/// An equality that fixes `c`, one of whole numbers, one of a category, a chance, or the condition under which `c` exists.
pub fn demand(numbers: &mut Numbers, n: usize) -> Demand {
    let s = odd(numbers, -0.2, 1.2);
    let k = numbers.next(n);
    let name = ["first", "second"][k];
    let chance = odd(numbers, 0.0, 0.9);
    let half = |slope: f64, rest: Function| Rule { text: String::new(), slope, rest };
    let whether =
        |holds: fn(&At<'_>) -> bool| half(0.0, Box::new(move |p: &At<'_>| if holds(p) { -1.0 } else { 1.0 }));
    let of = |constraint: String, halves| Demand { constraint: Some(constraint), active_if: None, halves };
    match numbers.next(5) {
        0 => of(
            format!("c == {s} + 0.25 * a"),
            vec![
                half(1.0, Box::new(move |p| -(s + 0.25 * p.x[0]))),
                half(-1.0, Box::new(move |p| s + 0.25 * p.x[0])),
            ],
        ),
        1 => of("abs(a) == 1 or a * a == 4".into(), vec![whether(|p| matches!(p.x[0].abs(), 1.0 | 2.0))]),
        2 => of(
            "metal == '0' or a + b <= 1".into(),
            vec![half(0.0, Box::new(move |p| if p.x[3] == 1.0 { -1.0 } else { p.x[0] + p.x[1] - 1.0 }))],
        ),
        3 => of(format!("{name} >= {chance}"), vec![half(0.0, Box::new(move |p| chance - p.y[k]))]),
        _ => {
            let rest =
                |sign: f64| -> Function { Box::new(move |p| if p.x[0] >= 1.0 { -1e9 } else { -sign * 0.5 }) };
            Demand {
                constraint: None,
                active_if: Some(("a >= 1".into(), 0.5)),
                halves: vec![half(1.0, rest(1.0)), half(-1.0, rest(-1.0))],
            }
        }
    }
}

pub fn rule(numbers: &mut Numbers, n: usize) -> Rule {
    let k = numbers.next(n);
    let name = ["first", "second"][k];
    let t = odd(numbers, -12.0, 12.0);
    let s = odd(numbers, -2.0, 4.0);
    let w = odd(numbers, -1.0, 1.0);
    let new = |text: String, slope: f64, rest: Function| Rule { text, slope, rest };
    match numbers.next(8) {
        0 => new(format!("{name} >= {t}"), 0.0, Box::new(move |p| t - p.y[k])),
        1 => new(format!("{name} + {w} * c - a <= {t}"), w, Box::new(move |p| p.y[k] - p.x[0] - t)),
        2 => new(format!("a + b + c <= {s}"), 1.0, Box::new(move |p| p.x[0] + p.x[1] - s)),
        3 => new(format!("a - b + 2 * c >= {s}"), -2.0, Box::new(move |p| s - p.x[0] + p.x[1])),
        4 => new(
            format!("metal == '0' implies {name} <= {t}"),
            0.0,
            Box::new(move |p| if p.x[3] == 1.0 { p.y[k] - t } else { -1.0 }),
        ),
        5 => new(format!("{name} * b >= {t} - c"), -1.0, Box::new(move |p| t - p.y[k] * p.x[1])),
        6 => new(
            format!("first + {w} * `second or first` <= {t}"),
            0.0,
            Box::new(move |p| p.y[0] + w * p.y[n - 1] - t),
        ),
        _ => new(
            format!("max({name}, a) <= {t} + abs(b)"),
            0.0,
            Box::new(move |p| p.y[k].max(p.x[0]) - t - p.x[1].abs()),
        ),
    }
}

pub fn objective(numbers: &mut Numbers, n: usize) -> Objective {
    let [u, v, w, z] = std::array::from_fn(|_| odd(numbers, -2.0, 2.0));
    let k = n - 1;
    let last = ["first", "second"][k];
    match numbers.next(3) {
        0 => Objective {
            text: format!("{u} * first + {v} * {last} - ({w} * c + {z} * a) / 2"),
            value: Box::new(move |p| u * p.y[0] + v * p.y[k] - (w * p.x[2] + z * p.x[0]) / 2.0),
            kinks: Vec::new(),
        },
        1 => Objective {
            text: format!("first + {w} * a * b + {v} * c * a + if(metal == '3', {z}, 0)"),
            value: Box::new(move |p| {
                p.y[0] + w * p.x[0] * p.x[1] + v * p.x[2] * p.x[0] + if p.x[3] == 2.0 { z } else { 0.0 }
            }),
            kinks: Vec::new(),
        },
        _ => Objective {
            text: format!("abs(c - 0.25) * {u} + max(first, {last}) + b ^ 2"),
            value: Box::new(move |p| (p.x[2] - 0.25).abs() * u + p.y[0].max(p.y[k]) + p.x[1] * p.x[1]),
            kinks: vec![0.25],
        },
    }
}

pub fn values(domain: &Domain) -> Vec<f64> {
    let (lower, upper) = domain.bounds();
    let mut values = vec![lower];
    while let Some(next) = domain.ceil(values[values.len() - 1].next_up()).filter(|&v| v <= upper) {
        values.push(next);
    }
    values
}

/// The smallest value over all feasible points.
pub fn enumerate<'r, R: Iterator<Item = &'r Rule>>(
    models: &[NamedModel],
    variables: &[Variable],
    rules: impl Fn() -> R,
    objective: &Objective,
) -> Option<f64> {
    let mut best = None;
    each_piece(models, variables, rules, objective, |_, value| {
        best = best.into_iter().chain(value).reduce(f64::min);
    });
    best
}

/// Visits every combination of the discrete variables with every piece of `c` within which no model changes: its first point, and its smallest value
/// where anything in it is feasible.
pub fn each_piece<'r, R: Iterator<Item = &'r Rule>>(
    models: &[NamedModel],
    variables: &[Variable],
    rules: impl Fn() -> R,
    objective: &Objective,
    mut visit: impl FnMut(&[f64], Option<f64>),
) {
    let (lower, upper) = variables[2].domain.bounds();
    let zero = f64::from(1e-35_f32);
    let mut cuts = vec![upper];
    for t in THRESHOLDS.into_iter().chain([zero, -zero]) {
        let single = t as f32;
        let middle = |other: f32| 0.5 * (f64::from(single) + f64::from(other));
        for at in [t, f64::from(single), middle(single.next_down()), middle(single.next_up())] {
            cuts.extend([at, at.next_up(), at.next_down()].into_iter().filter(|&v| lower <= v && v < upper));
        }
    }
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    for &a in &values(&variables[0].domain) {
        for &b in &values(&variables[1].domain) {
            for metal in 0..METALS.len() {
                let mut from = lower;
                for &cut in &cuts {
                    let (mut low, mut high) = (from, cut);
                    from = cut.next_up();
                    let x = [a, b, low, metal as f64];
                    let y: Vec<f64> =
                        models.iter().map(|m| m.ensemble.predict(&m.binding.features_of(&x))).collect();
                    for rule in rules() {
                        let rest = (rule.rest)(&At { x: &x, y: &y });
                        if rule.slope > 0.0 {
                            high = high.min(-rest / rule.slope);
                        } else if rule.slope < 0.0 {
                            low = low.max(-rest / rule.slope);
                        } else if rest > 0.0 {
                            high = f64::NEG_INFINITY;
                        }
                    }
                    let inside = objective.kinks.iter().copied().filter(|&k| low < k && k < high);
                    let ends = [low, high].into_iter().chain(inside).filter(|_| low <= high);
                    let value = |c| (objective.value)(&At { x: &[a, b, c, metal as f64], y: &y });
                    visit(&x, ends.map(value).reduce(f64::min));
                }
            }
        }
    }
}

pub fn options() -> SearchOptions {
    let mut options = SearchOptions::default();
    options.gap = 1e-7;
    options
}

/// A model of stumps: feature, threshold, value below and above.
pub fn stumps(features: &[&str], stumps: &[(usize, f64, f64, f64)]) -> String {
    let mut text = format!(
        "tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx={}\nobjective=regression\nfeature_names={}\ntree_sizes={}\n",
        features.len() - 1,
        features.join(" "),
        vec!["100"; stumps.len()].join(" ")
    );
    for (i, (feature, threshold, low, high)) in stumps.iter().enumerate() {
        text += &format!(
            "\nTree={i}\nnum_leaves=2\nsplit_feature={feature}\nthreshold={threshold}\ndecision_type=2\nleft_child=-1\nright_child=-2\nleaf_value={low} {high}\n"
        );
    }
    text + "\nend of trees\n"
}
