//! What methods do: common first points, penalties, tables, settings.

use std::collections::VecDeque;
use std::fs;

use leafgp::engine::Optimizer;
use leafgp::history::Outcome;
use leafgp::problem::PointChoice;
use leafgp_study::{ConstraintHandling, MethodKind, ReportOptions, Source, Spec, Status, report};

use crate::support::{SMALL, Study};

#[test]
fn all_methods_share_the_first_points_of_a_seed() {
    let study = Study::new();
    study.run(SMALL, "out", 2, None);
    for problem in ["branin", "g6"] {
        let first = |method: &str, seed| {
            let steps = study.steps("out", problem, method, seed);
            steps[..3].iter().map(|step| step.point.clone()).collect::<Vec<_>>()
        };
        for method in ["rnd", "feas-random"] {
            assert_eq!(first("leaf-gp", 7), first(method, 7));
        }
        assert_ne!(first("leaf-gp", 7), first("leaf-gp", 8));
    }
}

#[test]
fn records_say_what_was_measured_told_and_proved() {
    let study = Study::new();
    study.run(SMALL, "out", 2, None);
    let function = leafgp_study::functions::find("g6").unwrap();
    for method in ["leaf-gp", "rnd", "feas-random"] {
        let steps = study.steps("out", "g6", method, 7);
        assert_eq!(steps.len(), 7);
        let mut best: Option<f64> = None;
        for (k, step) in steps.iter().enumerate() {
            assert_eq!((step.evaluation, step.iteration), (k + 1, (k + 1).saturating_sub(3)));
            let x = [&step.point["x0"], &step.point["x1"]].map(|v| v.as_f64().unwrap());
            let value = step.value.unwrap();
            assert_eq!(value, function.evaluate(&x));
            // g6 by hand: outside the circle of radius 10 around (5, 5), inside that of radius sqrt(82.81) around (6, 5).
            let outside = (100.0 - (x[0] - 5.0).powi(2) - (x[1] - 5.0).powi(2)).max(0.0);
            let inside = ((x[0] - 6.0).powi(2) + (x[1] - 5.0).powi(2) - 82.81).max(0.0);
            let violation = outside * outside + inside * inside;
            assert!((step.violation - violation).abs() <= 1e-9 * (1.0 + violation), "{step:?}");
            if method == "rnd" {
                let told = value + 10.0 * step.violation;
                assert!((step.told.unwrap() - told).abs() <= 1e-9 * told.abs(), "{step:?}");
            } else {
                assert!(step.feasible && step.told.is_none(), "{step:?}");
            }
            if step.feasible && best.is_none_or(|best| value < best) {
                best = Some(value);
            }
            assert_eq!(step.best, best);
            let proof = step.proof.as_ref();
            match (method, proof) {
                (_, Some(_)) if step.iteration == 0 => panic!("first points have no model"),
                ("feas-random", proof) => assert_eq!(proof, None),
                ("leaf-gp", Some(proof)) => {
                    assert_eq!(proof.status, Status::Optimal);
                    assert!(proof.gap.unwrap() <= 1e-4 && proof.bound.unwrap() <= proof.acquisition);
                }
                (_, Some(proof)) => {
                    assert_eq!((proof.status, proof.nodes, proof.bound), (Status::Sampled, 50, None));
                }
                // Three rows are too few for a split between bins of three.
                (_, None) => assert!(step.evaluation <= 6, "{method}: {step:?}"),
            }
        }
    }
    // The box alone is nearly all infeasible: the penalty's method must have met that.
    assert!(study.steps("out", "g6", "rnd", 7).iter().any(|step| !step.feasible));
}

#[test]
fn sampled_acquisition_with_known_constraints_proposes_feasible_points_only() {
    let study = Study::new();
    let text = "name = \"s\"\niterations = 4\ninitial = 3\nseeds = [1]\n[[problem]]\nfunction = \"g6\"\n[[problem]]\nfunction = \"g3\"\n\
                [[method]]\nname = \"leaf-gp-rnd\"\nsamples = 200\n";
    let summary = study.run(text, "out", 2, None);
    assert_eq!(summary.failed, []);
    for problem in ["g6", "g3"] {
        assert!(study.steps("out", problem, "leaf-gp-rnd", 1).iter().all(|step| step.feasible), "{problem}");
    }
}

const TABLE: &str = "x,c,y\n0,a,5\n1,a,3\n2,a,\n2,b,4\n3,b,1\n4,b,2\n4,b,4\n9,a,-7\n0.5,a,4\n1.5,a,2.5\n";
const TABLE_PROBLEM: &str = "[objective]\nname = \"y\"\ngoal = \"minimize\"\n[variables]\nx = { type = \"continuous\", bounds = [0, 5] }\n\
                             c = { type = \"categorical\", levels = [\"a\", \"b\"] }\n";

#[test]
fn a_table_is_a_black_box_of_its_distinct_eligible_rows() {
    let study = Study::new();
    study.write("t.csv", TABLE);
    study.write("t.toml", TABLE_PROBLEM);
    let text = "name = \"t\"\niterations = 100\ninitial = 3\nseeds = [1, 2, 3]\n[[problem]]\nfile = \"t.toml\"\ntable = \"t.csv\"\n\
                [[method]]\nname = \"leaf-gp\"\n[[method]]\nname = \"leaf-gp-rnd\"\nsamples = 5\n[[method]]\nname = \"random\"\n";
    let spec = study.spec(text);
    let Source::Table(table) = &spec.problems[0].source else { panic!("{:?}", spec.problems[0].source) };
    // No value, and outside the box: not there. Twice measured: the mean.
    let rows = [
        (0.0, 0.0, 5.0),
        (1.0, 0.0, 3.0),
        (2.0, 1.0, 4.0),
        (3.0, 1.0, 1.0),
        (4.0, 1.0, 3.0),
        (0.5, 0.0, 4.0),
        (1.5, 0.0, 2.5),
    ];
    assert_eq!(table.points, rows.map(|(x, c, _)| vec![x, c]));
    assert_eq!(table.values, rows.map(|(_, _, y)| y));
    let summary = study.run(text, "out", 2, None);
    assert_eq!((summary.complete, summary.failed), (9, vec![]));
    for method in ["leaf-gp", "leaf-gp-rnd", "random"] {
        for seed in 1..=3 {
            let steps = study.steps("out", "t", method, seed);
            assert_eq!(steps.len(), 7, "every row once, then the run is over");
            let mut points: Vec<String> =
                steps.iter().map(|s| serde_json::to_string(&s.point).unwrap()).collect();
            points.sort();
            points.dedup();
            assert_eq!(points.len(), 7);
            assert_eq!(steps[6].best, Some(1.0));
            if method == "leaf-gp" {
                for step in &steps[3..] {
                    let proof = step.proof.as_ref().unwrap();
                    assert_eq!((proof.status, proof.gap), (Status::Optimal, Some(0.0)));
                    assert_eq!(proof.nodes as usize, 8 - step.evaluation, "all rows left were compared");
                }
            }
        }
    }
}

#[test]
fn commands_are_black_boxes_and_their_failures_are_kept() {
    if !cfg!(unix) {
        return;
    }
    let study = Study::new();
    study.write("t.toml", TABLE_PROBLEM);
    let text = "name = \"t\"\niterations = 6\ninitial = 4\nseeds = [1]\n[[problem]]\nfile = \"t.toml\"\n\
                evaluate = \"read p; case $p in *b*) exit 1;; esac; echo 2.5\"\n[[method]]\nname = \"random\"\n[[method]]\nname = \"leaf-gp\"\n";
    assert_eq!(study.run(text, "out", 1, None).failed, []);
    for method in ["random", "leaf-gp"] {
        for step in study.steps("out", "t", method, 1) {
            let expected = if step.point["c"] == "b" { None } else { Some(2.5) };
            assert_eq!(step.value, expected);
        }
    }
    let failed = study.steps("out", "t", "random", 1).iter().filter(|s| s.value.is_none()).count();
    assert!((1..10).contains(&failed), "{failed}");
}

#[test]
fn infeasible_points_are_not_measured_where_the_spec_says_so() {
    if !cfg!(unix) {
        return;
    }
    let study = Study::new();
    study.write("t.toml", format!("{TABLE_PROBLEM}[constraints]\nlimit = \"x <= 2\"\n"));
    let measured = study.path("measured");
    let problem = format!(
        "[[problem]]\nfile = \"t.toml\"\nevaluate = \"tee -a '{}' | tr -dc 0-9.\"\ninfeasible = \"skip\"\n",
        measured.display()
    );
    // Values are the digits of x: distinct, so that the worst of those before a point is one of them.
    let text = format!(
        "name = \"t\"\niterations = 12\ninitial = 3\nseeds = [1]\n{problem}[[method]]\nname = \"penalty\"\nkind = \"leaf-gp-rnd\"\nsamples = 3\n\
         constraints = \"penalty\"\nlambda = 10\n[[method]]\nname = \"random\"\n"
    );
    assert_eq!(study.run(&text, "out", 1, None).failed, []);
    let mut feasible = 0;
    for method in ["penalty", "random"] {
        let steps = study.steps("out", "t", method, 1);
        for (k, step) in steps.iter().enumerate() {
            let x = step.point["x"].as_f64().unwrap();
            assert_eq!(step.feasible, x <= 2.0);
            assert_eq!(step.value.is_some(), step.feasible, "{method}: {step:?}");
            feasible += usize::from(step.feasible);
            let worst = steps[..k].iter().filter_map(|s| s.value).fold(f64::NEG_INFINITY, f64::max);
            let told = if step.feasible { x } else { worst + 10.0 * (x - 2.0) * (x - 2.0) };
            match step.told {
                Some(it) if method == "penalty" => assert!((it - told).abs() < 1e-9, "{step:?}, {told}"),
                it => assert_eq!((it, method), (None, "random")),
            }
        }
        assert!(steps[3..].iter().any(|step| !step.feasible), "{method} met no infeasible point");
    }
    assert_eq!(fs::read_to_string(&measured).unwrap().lines().count(), feasible);

    // Stopped anywhere, a run goes on to the same bytes: what stood in for a value is found again.
    let file = study.out("out").run_file("t", "penalty", 1);
    let whole = fs::read(&file).unwrap();
    for (i, _) in whole.iter().enumerate().filter(|(_, b)| **b == b'\n').step_by(4) {
        fs::write(&file, &whole[..=i]).unwrap();
        study.run(&text, "out", 1, None);
        assert_eq!(fs::read(&file).unwrap(), whole, "cut at {i}");
    }

    report(&study.out("out"), &study.path("report"), &ReportOptions::default()).unwrap();
    let outcomes = fs::read_to_string(study.path("report/outcomes.csv")).unwrap();
    for (line, method) in outcomes.lines().skip(1).zip(["penalty", "random"]) {
        let steps = study.steps("out", "t", method, 1);
        let infeasible = steps.iter().filter(|step| !step.feasible).count();
        assert_eq!(line, format!("t,{method},12,{infeasible},0,{}", infeasible as f64 / 12.0));
    }
}

#[test]
fn settings_go_from_the_study_over_the_problem_to_the_method() {
    let study = Study::new();
    let text = "name = \"s\"\nseeds = \"101..103\"\n[settings]\nkappa = 3\ntrees = { n_trees = 77 }\n[[problem]]\nfunction = \"branin\"\n\
                [problem.settings]\ntrees = { max_depth = 5 }\n[[problem]]\nfunction = \"mixed\"\niterations = 9\n\
                [[method]]\nname = \"a\"\nkind = \"leaf-gp\"\n[method.settings]\npoint = \"away\"\ntrees = { max_depth = 2 }\ngp = { mean = \"constant\" }\n\
                solver = { node_limit = 50 }\n[[method]]\nname = \"b\"\nkind = \"leaf-gp\"\nproblems = [\"mixed\"]\nsettings = { preset = \"paper\" }\n";
    let spec = study.spec(text);
    assert_eq!(spec.seeds, [101, 102, 103]);
    assert_eq!(spec.cases.len(), 3);
    assert_eq!(spec.runs().len(), 9);
    let settings = |k: usize| &spec.cases[k].settings;
    assert_eq!((settings(0).kappa, settings(0).trees.n_trees, settings(0).trees.max_depth), (3.0, 77, 2));
    assert_eq!((settings(0).point, settings(0).solver.node_limit), (PointChoice::Away, Some(50)));
    assert_eq!(settings(1).trees.max_depth, 2);
    // The paper's set-up as a whole, and the nodes of a study without a limit of its own.
    assert_eq!((settings(2).kappa, settings(2).trees.n_trees, settings(2).trees.max_depth), (1.96, 50, 3));
    assert_eq!(settings(2).solver.node_limit, Some(20_000));
    assert_eq!(spec.problems[1].iterations, 9);
    assert_eq!(spec.methods[0].kind, MethodKind::LeafGp);
    assert_eq!(spec.methods[0].constraints, ConstraintHandling::Exact);
}

#[test]
fn a_run_of_leaf_gp_is_the_librarys_loop_of_ask_and_tell() {
    let study = Study::new();
    let text = "name = \"l\"\niterations = 5\ninitial = 6\nseeds = [3]\n[[problem]]\nfunction = \"pressure-vessel\"\n[[method]]\nname = \"leaf-gp\"\n\
                [[method]]\nname = \"away\"\nkind = \"leaf-gp\"\nsettings = { point = \"away\", kappa = 0.5, trees = { min_data_in_bin = 1 } }\n";
    study.run(text, "out", 2, None);
    let function = leafgp_study::functions::find("pressure-vessel").unwrap();
    for method in ["leaf-gp", "away"] {
        let problem = function.problem().unwrap().adjusted(|settings| {
            settings.seed = 3;
            settings.design.initial = 1;
            if method == "away" {
                settings.point = PointChoice::Away;
                settings.kappa = 0.5;
                settings.trees.min_data_in_bin = 1;
            }
        });
        let problem = problem.unwrap();
        let variables = problem.variables().to_vec();
        let mut optimizer = leafgp::engine::Optimizer::new(problem);
        for step in study.steps("out", "pressure-vessel", method, 3) {
            let recorded: Vec<f64> =
                variables.iter().map(|v| v.from_json(&step.point[&v.name]).unwrap()).collect();
            if step.iteration > 0 {
                let asked = optimizer.ask().unwrap();
                assert_eq!(asked.point, recorded, "{method} evaluation {}", step.evaluation);
                let gap = asked.proof.as_ref().map(|proof| proof.gap);
                assert_eq!(gap, step.proof.as_ref().and_then(|proof| proof.gap));
            }
            optimizer.tell(&recorded, function.evaluate(&recorded)).unwrap();
        }
    }
}

/// Methods that run two and four evaluations at a time, one of them with each rule for the running ones.
fn several_at_a_time() -> String {
    let mut text = "name = \"parallel\"\niterations = 9\ninitial = 3\nseeds = [7]\n[[problem]]\nfunction = \"g6\"\n\
                    [[method]]\nname = \"trees\"\nkind = \"leaf-gp\"\nparallel = 2\nsettings = { preset = \"paper\" }\n\
                    [[method]]\nname = \"chance\"\nkind = \"random\"\nparallel = 3\n"
        .to_owned();
    for rule in ["believer", "liar_best", "liar_mean", "liar_worst", "draw", "penalised"] {
        text += &format!(
            "[[method]]\nname = \"{rule}\"\nkind = \"leaf-gp\"\nparallel = 4\nsettings = {{ preset = \"smooth\", smooth = {{ pending = \"{rule}\" }} }}\n"
        );
    }
    text
}

#[test]
fn points_of_several_at_a_time_are_those_of_a_caller_who_waits_for_the_oldest() {
    let study = Study::new();
    let text = several_at_a_time();
    assert_eq!(study.run(&text, "out", 2, None).failed, []);
    let spec = study.spec(&text);
    let mut runs = Vec::new();
    for case in &spec.cases {
        let method = &spec.methods[case.method];
        let steps = study.steps("out", "g6", &method.name, 7);
        assert_eq!(steps.len(), 12);
        if method.name == "chance" {
            continue;
        }
        let mut settings = case.settings.clone();
        settings.seed = 7;
        let problem = spec.problems[0].problem.clone().with_settings(settings).unwrap();
        let mut optimizer = Optimizer::new(problem.clone());
        let mut running: VecDeque<(Vec<f64>, f64)> = VecDeque::new();
        for step in &steps {
            let recorded = problem.point_from_json(&step.point).unwrap();
            if step.iteration == 0 {
                optimizer.tell(&recorded, step.value.unwrap()).unwrap();
                continue;
            }
            if running.len() == method.parallel {
                let (point, value) = running.pop_front().unwrap();
                optimizer.tell(&point, value).unwrap();
            }
            assert_eq!(optimizer.ask().unwrap().point, recorded, "{} {}", method.name, step.evaluation);
            optimizer.tell_outcome(&recorded, Outcome::Pending).unwrap();
            running.push_back((recorded, step.value.unwrap()));
        }
        runs.push((method.name.clone(), steps.into_iter().map(|step| step.point).collect::<Vec<_>>()));
    }
    for (i, (name, points)) in runs.iter().enumerate() {
        for (other, others) in &runs[..i] {
            assert_ne!(points, others, "{name} and {other} are not the same method");
        }
    }
}

#[test]
fn a_run_of_several_at_a_time_resumes_to_the_same_bytes() {
    let study = Study::new();
    let text = several_at_a_time();
    study.run(&text, "out", 2, None);
    for method in ["trees", "chance", "draw", "penalised"] {
        let file = study.out("out").run_file("g6", method, 7);
        let whole = fs::read(&file).unwrap();
        let lines: Vec<usize> =
            whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1).collect();
        for cut in [lines[2], lines[5], lines[9] + 20] {
            fs::write(&file, &whole[..cut]).unwrap();
            study.run(&text, "out", 1, None);
            assert_eq!(fs::read(&file).unwrap(), whole, "{method} cut at byte {cut}");
        }
    }
}

#[test]
fn an_external_process_is_not_asked_for_several_at_a_time() {
    let text = "seeds = [1]\n[[problem]]\nfunction = \"g6\"\n[[method]]\nname = \"peer\"\nkind = \"external\"\ncommand = \"peer\"\nparallel = 2\n";
    let error = Spec::from_text("s.toml".as_ref(), text).unwrap_err().to_string();
    assert!(error.contains("parallel") && error.contains("one point at a time"), "{error}");
}
