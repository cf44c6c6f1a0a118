//! Small random models as their libraries write them.
#![allow(dead_code, missing_docs, unreachable_pub, reason = "each test crate uses a part")]

/// A small generator, so that the models stay the same.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    pub fn pick(&mut self, values: &[f64]) -> f64 {
        values[self.next(values.len())]
    }
}

pub const FEATURES: [&str; 4] = ["a", "b", "c", "metal"];
const LEVELS: usize = 5;
/// Thresholds at, and beside, the places where rounding and zeros matter.
pub const THRESHOLDS: [f64; 12] =
    [0.0, -0.0, 1e-36, -1e-36, 1.0000000180025095e-35, 1e-30, -1e-30, 0.1, 0.5, -0.3, 1.0, 2.5];

/// A tree of a LightGBM file with random splits, missing types and default directions.
pub fn random_lightgbm(numbers: &mut Numbers) -> String {
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
pub fn random_xgboost(numbers: &mut Numbers) -> String {
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
