//! Optima of random small models, of every library, equal those over all cells: a twin that knows nothing of forests, only how to predict.

mod support;

use leafgp_constraints::{Domain, Variable};
use leafgp_models::{Binding, Ensemble, FeatureKind, Goal, ReadOptions, Space};
use leafgp_solver::{SearchOptions, Status};

/// A small generator, so that the models stay the same.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn pick(&mut self, values: &[f64]) -> f64 {
        values[self.next(values.len())]
    }
}

const FEATURES: [&str; 4] = ["a", "b", "c", "metal"];
const LEVELS: usize = 5;
/// Thresholds at, and beside, the places where rounding and zeros matter.
const THRESHOLDS: [f64; 12] =
    [0.0, -0.0, 1e-36, -1e-36, 1.0000000180025095e-35, 1e-30, -1e-30, 0.1, 0.5, -0.3, 1.0, 2.5];

/// A tree of a LightGBM file with random splits, missing types and default directions.
fn random_lightgbm(numbers: &mut Numbers) -> String {
    let n_trees = 1 + numbers.next(4);
    let sizes = vec!["100"; n_trees].join(" ");
    let mut text = format!(
        "tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx=3\nobjective=regression\nfeature_names={}\n\
         feature_infos=[0:1] [0:1] [0:1] 0:1:2:3:4\ntree_sizes={sizes}\n",
        FEATURES.join(" ")
    );
    for t in 0..n_trees {
        let n_leaves = 2 + numbers.next(5);
        let join = |list: &[String]| list.join(" ");
        let (mut features, mut thresholds, mut decisions) = (Vec::new(), Vec::new(), Vec::new());
        // Grown leaf by leaf: the leaf that is split stays left, the new one goes right.
        let (mut left, mut right) = (Vec::<i64>::new(), Vec::<i64>::new());
        let (mut words, mut boundaries) = (Vec::new(), vec!["0".to_string()]);
        for split in 0..n_leaves - 1 {
            let leaf = numbers.next(split + 1) as i64;
            for child in left.iter_mut().chain(right.iter_mut()) {
                if *child == !leaf {
                    *child = split as i64;
                }
            }
            left.push(!leaf);
            right.push(!(split as i64 + 1));
            let feature = numbers.next(4);
            features.push(feature.to_string());
            if feature == 3 {
                thresholds.push(words.len().to_string());
                decisions.push("1".to_string());
                words.push((1 + numbers.next(30)).to_string());
                boundaries.push(words.len().to_string());
            } else {
                thresholds.push(format!("{:e}", numbers.pick(&THRESHOLDS)));
                decisions.push((4 * numbers.next(3) + 2 * numbers.next(2)).to_string());
            }
        }
        let values: Vec<String> =
            (0..n_leaves).map(|_| format!("{}", numbers.next(2001) as f64 / 100.0 - 10.0)).collect();
        let child = |list: &[i64]| list.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
        text += &format!(
            "\nTree={t}\nnum_leaves={n_leaves}\nnum_cat={}\nsplit_feature={}\nthreshold={}\ndecision_type={}\n\
             left_child={}\nright_child={}\nleaf_value={}\n",
            words.len(),
            join(&features),
            join(&thresholds),
            join(&decisions),
            child(&left),
            child(&right),
            join(&values)
        );
        if !words.is_empty() {
            text += &format!("cat_boundaries={}\ncat_threshold={}\n", join(&boundaries), join(&words));
        }
    }
    text + "\nend of trees\n"
}

/// A node of an XGBoost tree; a leaf has the children -1 and its value as condition.
struct XgNode {
    left: i64,
    right: i64,
    feature: usize,
    condition: f32,
    codes: Vec<usize>,
}

impl XgNode {
    fn leaf() -> Self {
        Self { left: -1, right: -1, feature: 0, condition: 0.0, codes: Vec::new() }
    }
}

/// The same kind of model as XGBoost writes it.
fn random_xgboost(numbers: &mut Numbers) -> String {
    let n_trees = 1 + numbers.next(4);
    let mut trees = Vec::new();
    for t in 0..n_trees {
        let n_splits = 1 + numbers.next(5);
        // Nodes in the order of growth; a leaf becomes a split with two new leaves.
        let mut nodes = vec![XgNode::leaf()];
        for _ in 0..n_splits {
            let leaves: Vec<usize> = (0..nodes.len()).filter(|&i| nodes[i].left < 0).collect();
            let at = leaves[numbers.next(leaves.len())];
            let feature = numbers.next(4);
            let mut codes: Vec<usize> = Vec::new();
            if feature == 3 {
                codes = (0..LEVELS).filter(|_| numbers.next(2) == 0).collect();
            }
            let first = nodes.len() as i64;
            let condition = numbers.pick(&THRESHOLDS) as f32;
            nodes[at] = XgNode { left: first, right: first + 1, feature, condition, codes };
            nodes.extend([XgNode::leaf(), XgNode::leaf()]);
        }
        for node in nodes.iter_mut().filter(|node| node.left < 0) {
            node.condition = numbers.next(2001) as f32 / 100.0 - 10.0;
        }
        let list = |text: &dyn Fn(&XgNode) -> String| nodes.iter().map(text).collect::<Vec<_>>().join(",");
        let is_categorical = |node: &XgNode| node.left >= 0 && node.feature == 3;
        let with_codes: Vec<usize> = (0..nodes.len()).filter(|&i| is_categorical(&nodes[i])).collect();
        let mut segments = Vec::new();
        let mut codes: Vec<String> = Vec::new();
        for &i in &with_codes {
            segments.push(codes.len().to_string());
            codes.extend(nodes[i].codes.iter().map(usize::to_string));
        }
        let of = |f: &dyn Fn(usize) -> String| with_codes.iter().map(|&i| f(i)).collect::<Vec<_>>().join(",");
        trees.push(format!(
            "{{\"id\":{t},\"left_children\":[{}],\"right_children\":[{}],\"split_indices\":[{}],\"split_conditions\":[{}],\
             \"default_left\":[{}],\"split_type\":[{}],\"categories\":[{}],\"categories_nodes\":[{}],\
             \"categories_segments\":[{}],\"categories_sizes\":[{}]}}",
            list(&|n| n.left.to_string()),
            list(&|n| n.right.to_string()),
            list(&|n| n.feature.to_string()),
            list(&|n| format!("{:e}", n.condition)),
            list(&|_| "0".into()),
            list(&|n| u8::from(is_categorical(n)).to_string()),
            codes.join(","),
            of(&|i| i.to_string()),
            segments.join(","),
            of(&|i| nodes[i].codes.len().to_string()),
        ));
    }
    format!(
        "{{\"learner\":{{\"feature_names\":[\"a\",\"b\",\"c\",\"metal\"],\"feature_types\":[\"q\",\"q\",\"q\",\"c\"],\
         \"gradient_booster\":{{\"name\":\"gbtree\",\"model\":{{\"trees\":[{}],\"tree_info\":[{}]}}}},\
         \"learner_model_param\":{{\"base_score\":\"5E-1\",\"num_class\":\"0\",\"num_feature\":\"4\"}},\
         \"objective\":{{\"name\":\"reg:squarederror\"}}}},\"version\":[2,1,0]}}",
        trees.join(","),
        vec!["0"; n_trees].join(",")
    )
}

/// Every value of a variable at which some model could change its answer, and one between each two.
fn candidates(domain: &Domain) -> Vec<f64> {
    if let Domain::Categorical { levels } = domain {
        return (0..*levels).map(|level| level as f64).collect();
    }
    let (lower, upper) = domain.bounds();
    let mut values = vec![lower, upper];
    let zero = f64::from(1e-35_f32);
    for t in THRESHOLDS.into_iter().chain([zero, -zero]) {
        let single = t as f32;
        let middle = |other: f32| 0.5 * (f64::from(single) + f64::from(other));
        for at in [t, f64::from(single), middle(single.next_down()), middle(single.next_up())] {
            values.extend([at, at.next_up(), at.next_down()]);
        }
    }
    values.retain(|v| domain.contains(*v));
    if let Domain::Integer { .. } = domain {
        values.extend((lower as i64..=upper as i64).map(|v| v as f64));
    }
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

fn random_domain(numbers: &mut Numbers) -> Domain {
    match numbers.next(5) {
        0 => Domain::Integer { lower: -2.0, upper: 3.0 },
        1 => Domain::Continuous { lower: 0.0, upper: 1.5 },
        2 => Domain::Discrete(vec![-1e-36, 0.0, 0.1f32.into(), 0.5]),
        3 => Domain::Continuous { lower: 0.0, upper: 0.0 },
        _ => Domain::Continuous { lower: -1.0, upper: 3.0 },
    }
}

/// The best prediction over all combinations of candidates.
fn enumerate(ensemble: &Ensemble, binding: &Binding, domains: &[Domain], goal: Goal) -> f64 {
    let lists: Vec<Vec<f64>> = domains.iter().map(candidates).collect();
    let mut best = f64::NAN;
    let mut at = vec![0; lists.len()];
    loop {
        let x: Vec<f64> = at.iter().zip(&lists).map(|(&i, list)| list[i]).collect();
        let value = ensemble.predict(&binding.features_of(&x));
        let is_better = if goal == Goal::Maximize { value > best } else { value < best };
        if best.is_nan() || is_better {
            best = value;
        }
        let Some(next) = (0..at.len()).find(|&i| at[i] + 1 < lists[i].len()) else { return best };
        at[next] += 1;
        at[..next].fill(0);
    }
}

/// The forest says what the model says, at random combinations of candidates.
fn check_forest(ensemble: &Ensemble, binding: &Binding, domains: &[Domain], numbers: &mut Numbers) {
    let bound = ensemble.to_forest(domains, binding, Goal::Maximize).unwrap();
    let lists: Vec<Vec<f64>> = domains.iter().map(candidates).collect();
    for _ in 0..300 {
        let x: Vec<f64> = lists.iter().map(|list| numbers.pick(list)).collect();
        let expected = ensemble.raw(&binding.features_of(&x));
        let found = -bound.objective.value(&bound.forest.active_leaves(&x)) / bound.scale;
        assert!(
            (found - expected).abs() <= 1e-12 + ensemble.rounding(),
            "{x:?}: {found} instead of {expected}"
        );
    }
}

fn check(n_models: usize, seed: u64) {
    let mut numbers = Numbers(seed);
    for i in 0..n_models {
        let text = if i % 2 == 0 { random_lightgbm(&mut numbers) } else { random_xgboost(&mut numbers) };
        let ensemble = Ensemble::read(text.as_bytes(), &ReadOptions::default()).unwrap();
        assert!(matches!(ensemble.features()[3].kind, FeatureKind::Categorical { .. }));
        // The variables in another order than the features.
        let metal = Variable {
            name: "metal".into(),
            domain: Domain::Categorical { levels: 4 },
            level_names: ["4", "0", "2", "1"].map(String::from).to_vec(),
        };
        let mut variables = vec![metal];
        for name in ["c", "a", "b"] {
            let domain = random_domain(&mut numbers);
            variables.push(Variable { name: name.into(), domain, level_names: Vec::new() });
        }
        let binding = Binding::by_name(&ensemble, &variables).unwrap();
        let domains: Vec<Domain> = variables.into_iter().map(|variable| variable.domain).collect();
        check_forest(&ensemble, &binding, &domains, &mut numbers);
        let goal = if numbers.next(2) == 0 { Goal::Maximize } else { Goal::Minimize };
        let expected = enumerate(&ensemble, &binding, &domains, goal);
        let mut options = SearchOptions::default();
        options.gap = 0.0;
        let optimum = ensemble.optimize(&Space::new(&domains, &binding), goal, &options).unwrap();
        let best = optimum.best.unwrap();
        assert_eq!(optimum.status, Status::Optimal, "model {i}");
        let slack = 1e-6 + ensemble.rounding();
        assert!(
            (best.value - expected).abs() <= slack,
            "model {i}: {} instead of {expected}\n{text}",
            best.value
        );
        let beyond = if goal == Goal::Maximize { expected - optimum.bound } else { optimum.bound - expected };
        assert!(beyond <= slack, "model {i}: bound {} of {expected}\n{text}", optimum.bound);
        let is_inside = best.point.iter().zip(&domains).all(|(&v, domain)| domain.contains(v));
        assert!(is_inside && best.cell.contains(&best.point), "model {i}: {:?}", best.point);
    }
}

#[test]
fn optima_of_random_models_are_those_over_all_cells() {
    check(60, 7);
}

/// `cargo test --release -p leafgp-models --test enumeration -- --ignored`
#[test]
#[ignore = "a minute"]
fn optima_of_many_random_models_are_those_over_all_cells() {
    check(600, 8);
}
