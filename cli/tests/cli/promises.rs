//! The stop sign, the verdicts of `fit --cv`, and whether results came out as predicted.

use crate::mixed::{MIXED, folder_with, mixed_history};
use crate::support::{Folder, PROBLEM};

/// `hardness` is to be large in MIXED; the sign stands in the objective's units.
#[test]
fn the_stop_sign_is_the_same_in_suggest_status_and_run_and_in_the_objectives_direction() {
    let folder = folder_with(MIXED, &mixed_history(30));
    let status = folder.run(&["status", "p.toml", "--format", "json"]).json();
    let (bound, best) =
        (status["promise"]["bound"].as_f64().unwrap(), status["promise"]["best"].as_f64().unwrap());
    assert_eq!(status["best"]["value"], best);
    let gain = status["promise"]["gain"].as_f64().unwrap();
    assert!((gain - (bound - best).max(0.0)).abs() < 1e-12, "{status}");
    let sentence = |arguments: &[&str]| {
        let run = folder.run(arguments);
        assert_eq!(run.code, 0, "{run:?}");
        let found = run
            .stdout
            .lines()
            .find(|line| line.starts_with("no feasible setting promises"))
            .map(str::to_owned);
        found.unwrap_or_else(|| panic!("{}", run.stdout))
    };
    let shown = sentence(&["status", "p.toml"]);
    assert!(
        shown.contains("promises more than")
            && shown.contains("(mean + 1.96 deviations, proved); best so far"),
        "{shown}"
    );
    let number: f64 = shown.split(' ').nth(6).unwrap().parse().unwrap();
    assert!(number >= bound && number < bound + 1e-4, "rounded outward: {shown} {bound}");
    assert_eq!(sentence(&["suggest", "p.toml"]), shown);
    // The mirrored problem: the same numbers, negated.
    let mirrored: String = mixed_history(30)
        .lines()
        .map(|line| match line.rsplit_once(',') {
            Some((rest, value)) if value != "hardness" => {
                format!("{rest},{}\n", -value.parse::<f64>().unwrap())
            }
            _ => format!("{line}\n"),
        })
        .collect();
    let mirror = folder_with(&MIXED.replace("maximize", "minimize"), &mirrored);
    let status = mirror.run(&["status", "p.toml", "--format", "json"]).json();
    assert!((status["promise"]["bound"].as_f64().unwrap() + bound).abs() < 1e-9, "{status}");
    let text = mirror.run(&["status", "p.toml"]).stdout;
    assert!(
        text.contains("promises less than -") && text.contains("(mean - 1.96 deviations, proved)"),
        "{text}"
    );
}

#[test]
fn a_run_stops_once_nothing_is_left_to_gain_and_not_before() {
    let folder = Folder::new();
    let arguments = ["run", "--function", "branin", "--iterations", "30", "--format", "json"];
    let ended = folder.run(&[&arguments[..], &["--until-gain", "1e6"]].concat());
    let answer = ended.json();
    // The first design of five has no bound; the first one stops it.
    assert_eq!(answer["steps"].as_array().unwrap().len(), 5, "{}", ended.stderr);
    assert!(ended.stderr.contains("stopped: at most"), "{}", ended.stderr);
    assert!(answer["promise"]["gain"].as_f64().unwrap() <= 1e6);
    let whole = Folder::new();
    let answer = whole.run(&[&arguments[..6], &["json", "--until-gain", "0"]].concat()).json();
    let steps = answer["steps"].as_array().unwrap().len();
    assert!(steps > 5, "{steps}");
    for wrong in ["-1", "nan", "much"] {
        let run = folder.run(&[&arguments[..], &[&format!("--until-gain={wrong}")]].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    }
}

#[test]
fn predictions_stay_with_their_rows_in_a_table_beside_and_status_judges_them() {
    let folder = folder_with(MIXED, &mixed_history(30));
    assert_eq!(folder.run(&["suggest", "p.toml", "-n", "2", "--append"]).code, 0);
    let table = folder.read("p.csv");
    assert!(
        table.starts_with("resin,filler,solvent,passes,bake temperature,hardness\n"),
        "no column is added: {table}"
    );
    let kept = folder.read("p.predictions.csv");
    assert_eq!(
        kept.lines().next().unwrap(),
        "resin,filler,solvent,passes,bake temperature,predicted,deviation,noise,bound,method,seed,version"
    );
    assert_eq!(kept.lines().count(), 3);
    for (row, line) in table.lines().skip(31).zip(kept.lines().skip(1)) {
        assert!(line.starts_with(row), "{line} {row}");
        assert!(line.ends_with(&format!(",3,{}", env!("CARGO_PKG_VERSION"))), "{line}");
    }
    let cells: Vec<&str> = kept.lines().nth(1).unwrap().split(',').collect();
    let (mean, deviation): (f64, f64) = (cells[5].parse().unwrap(), cells[6].parse().unwrap());
    // One comes out as predicted, the other far below.
    assert_eq!(folder.run(&["tell", "p.toml", "31", &mean.to_string()]).code, 0);
    assert_eq!(folder.run(&["tell", "p.toml", "32", "-50"]).code, 0);
    let status = folder.run(&["status", "p.toml", "--format", "json"]).json();
    let predictions = status["predictions"].as_array().unwrap();
    assert_eq!(predictions.len(), 2);
    assert_eq!((&predictions[0]["row"], &predictions[0]["as_predicted"]), (&31.into(), &true.into()));
    assert_eq!((&predictions[1]["row"], &predictions[1]["as_predicted"]), (&32.into(), &false.into()));
    assert!(predictions[0]["deviation"].as_f64().unwrap() >= deviation && predictions[0]["seed"] == 3);
    let text = folder.run(&["status", "p.toml"]).stdout;
    assert!(text.contains("as predicted: 1 of 2 results"), "{text}");
    assert!(text.contains("worse than predicted: row 32: -50"), "{text}");
    // Sorting the table in a spreadsheet changes nothing.
    let mut lines: Vec<String> = folder.read("p.csv").lines().map(str::to_owned).collect();
    lines[1..].reverse();
    folder.write("p.csv", lines.join("\n") + "\n");
    let status = folder.run(&["status", "p.toml", "--format", "json"]).json();
    let rows: Vec<_> = status["predictions"].as_array().unwrap().iter().map(|p| p["row"].clone()).collect();
    assert_eq!(rows, [1, 2]);
}

#[test]
fn fit_says_in_words_what_the_model_is_worth() {
    let folder = folder_with(MIXED, &mixed_history(30));
    let answer = folder.run(&["fit", "p.toml", "--cv", "5", "--format", "json"]).json();
    let held_out = answer["held_out"].as_array().unwrap();
    assert_eq!(held_out.len(), 2);
    assert_eq!(
        (&held_out[0]["model"], &held_out[0]["chooses_the_points"]),
        (&"smooth process".into(), &true.into())
    );
    for model in held_out {
        let predictions = model["predictions"].as_array().unwrap();
        let number = |p: &serde_json::Value, key: &str| p[key].as_f64().unwrap();
        let rows: Vec<i64> = predictions.iter().map(|p| p["row"].as_i64().unwrap()).collect();
        assert_eq!(rows, (1..=30).collect::<Vec<i64>>());
        // The summary is that of the rows, computed again.
        let error: f64 = predictions.iter().map(|p| (number(p, "value") - number(p, "mean")).powi(2)).sum();
        let average = predictions.iter().map(|p| number(p, "value")).sum::<f64>() / 30.0;
        let spread: f64 = predictions.iter().map(|p| (number(p, "value") - average).powi(2)).sum();
        let inside = predictions
            .iter()
            .filter(|p| (number(p, "value") - number(p, "mean")).abs() <= 1.96 * number(p, "std"))
            .count();
        assert!((number(model, "rmse") - (error / 30.0).sqrt()).abs() < 1e-12);
        assert!((number(model, "r_squared") - (1.0 - error / spread)).abs() < 1e-9);
        assert_eq!(number(model, "coverage"), inside as f64 / 30.0);
    }
    assert_eq!(answer["gp_cv_rmse"], held_out[1]["rmse"]);
    let text = folder.run(&["fit", "p.toml", "--cv", "5"]).stdout;
    let verdict = held_out[0]["verdict"].as_str().unwrap();
    assert!(text.contains(&format!("the smooth process (chooses the points) is {verdict}: ")), "{text}");
    let paper = folder_with(&MIXED.replace("seed = 3", "seed = 3\npreset = \"paper\""), &mixed_history(30));
    let answer = paper.run(&["fit", "p.toml", "--cv", "5", "--format", "json"]).json();
    assert_eq!(answer["held_out"].as_array().unwrap().len(), 1, "the trees choose");
    assert!(folder.run(&["fit", "p.toml", "--format", "json"]).json()["held_out"].is_null());
}

#[test]
fn a_model_of_noise_is_called_worthless_and_one_of_a_line_good() {
    let table = |value: &dyn Fn(usize, f64) -> f64| {
        let row = |i: usize| {
            let x = (0.618 * i as f64).fract();
            format!("{x},{},{},{}\n", 1 + i % 9, ["flat", "round"][i % 2], value(i, x))
        };
        format!("x,n,head,cost\n{}", (0..40).map(row).collect::<String>())
    };
    // Digits of a product that x says nothing of.
    let noise = |i: usize, _: f64| ((i * i * 7919 + 104_729 * i) % 1009) as f64 / 1009.0;
    for (history, word) in
        [(table(&noise), "worthless: its error"), (table(&|_, x| 3.0 * x), "good: its error")]
    {
        let folder = Folder::with_problem(PROBLEM);
        folder.write("p.csv", history);
        let text = folder.run(&["fit", "p.toml", "--cv", "5"]).stdout;
        assert!(text.contains(&format!("(chooses the points) is {word}")), "{text}");
        let svg = folder.run(&["plot", "predictions", "p.toml"]);
        assert_eq!(svg.code, 0, "{svg:?}");
        let document = roxmltree::Document::parse(&svg.stdout).unwrap();
        let dots = document.descendants().filter(|n| n.has_tag_name("circle") && n.has_children()).count();
        assert_eq!(dots, 40);
    }
}
