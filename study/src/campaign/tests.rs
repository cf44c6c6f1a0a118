//! The page of small campaigns, parsed strictly.

use super::limits::{Limit, limits};
use super::{Campaign, leaves, page};
use leafgp::engine::{Context, Optimizer};
use leafgp::history::{Forecast, History, Outcome};
use leafgp::problem::{Goal, Problem, Variable};

/// A problem whose every name tries to leave its place.
fn hostile() -> Problem {
    Problem::builder("</title><script>alert(1)</script>")
        .objective("y\"><img src=x onerror=alert(2)>", Goal::Maximize)
        .variable(Variable::continuous("a<b>&", 0.0, 1.0).unit("<i>kg</i>"))
        .variable(Variable::categorical("'kind'", ["<u>", "&amp;", "]]>"]))
        .variable(Variable::integer("n", 1, 30))
        .constraint("<script>rule</script>", "n <= 25")
        .build()
        .unwrap()
}

fn campaign(problem: Problem, n: usize) -> Campaign {
    let mut history = History::new();
    for k in 0..n {
        let x = [(0.37 * k as f64).fract(), (k % 3) as f64, (1 + 7 * k % 25) as f64];
        let value = 3.0 * x[0] + x[1] + 0.1 * x[2];
        history.push(&problem, &x, Outcome::Done(value)).unwrap();
    }
    if n > 10 {
        history.push(&problem, &[0.5, 0.0, 3.0], Outcome::Failed).unwrap();
        history.push(&problem, &[0.6, 1.0, 4.0], Outcome::Pending).unwrap();
        history.rows[n].failure = Some("<b>stirrer</b>".into());
    }
    let forecasts: Vec<Forecast> = history.rows[..n.min(3)]
        .iter()
        .map(|row| Forecast {
            point: row.point.clone(),
            mean: row.value().unwrap() + 1.0,
            std: 0.1,
            noise: 0.0,
            bound: None,
            method: "cell".into(),
            seed: 1,
            version: "0".into(),
        })
        .collect();
    Campaign::new(Optimizer::with_history(problem, &history).unwrap(), &forecasts, &Context::default())
        .unwrap()
}

/// The page is XML, too, but for the doctype and empty elements of the head.
fn parsed(html: &str) -> String {
    let body = html.split_once("<body>").unwrap().1.split_once("</body>").unwrap().0;
    let body = format!("<body>{body}</body>");
    roxmltree::Document::parse(&body).unwrap_or_else(|error| panic!("{error}\n{body}"));
    body
}

#[test]
fn nothing_from_the_files_becomes_markup_and_nothing_is_loaded() {
    let html = page(&campaign(hostile(), 30));
    let body = parsed(&html);
    for forbidden in ["<script", "<img", "<b>stirrer", "<i>kg", "<u>", "url(http", "@import"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    let document = roxmltree::Document::parse(&body).unwrap();
    for attribute in document.descendants().flat_map(|node| node.attributes()) {
        let name = attribute.name();
        assert!(!["src", "href", "style"].contains(&name) && !name.starts_with("on"), "{name}");
    }
    let text: String = document.descendants().filter_map(|n| n.text()).collect();
    for shown in ["<script>alert(1)</script>", "<b>stirrer</b>", "]]>", "'kind'", "<script>rule</script>"] {
        assert!(text.contains(shown), "{shown}");
    }
}

#[test]
fn every_figure_is_there_and_the_same_campaign_gives_the_same_bytes() {
    let html = page(&campaign(hostile(), 30));
    for id in [
        "standing",
        "stop-sign",
        "next",
        "figure-progress",
        "figure-held-out",
        "figure-promises",
        "figure-importance",
        "figure-slice-1",
        "figure-slice-2",
        "figure-slice-3",
        "limits",
        "data",
    ] {
        assert_eq!(html.matches(&format!(" id=\"{id}\"")).count(), 1, "{id}");
    }
    assert_eq!(html.matches("<svg").count(), 7);
    assert!(html.contains("0 of 3 results lie in their 95 % intervals"));
    assert!(html.contains("No feasible setting promises more than"));
    assert_eq!(html, page(&campaign(hostile(), 30)));
}

#[test]
fn empty_and_small_histories_have_a_page() {
    for n in [0, 1, 2, 4] {
        let html = page(&campaign(hostile(), n));
        parsed(&html);
        assert!(html.contains("space-filling point"), "{n}");
        assert!(!html.contains("id=\"stop-sign\""), "{n}");
    }
}

#[test]
fn a_finite_space_that_is_exhausted_says_so() {
    let problem = Problem::builder("p").variable(Variable::binary("b")).build().unwrap();
    let mut history = History::new();
    for (x, y) in [(0.0, 1.0), (1.0, 2.0)] {
        history.push(&problem, &[x], Outcome::Done(y)).unwrap();
    }
    let optimizer = Optimizer::with_history(problem, &history).unwrap();
    let html = page(&Campaign::new(optimizer, &[], &Context::default()).unwrap());
    parsed(&html);
    assert!(html.contains("There is none:"), "{html}");
}

#[test]
fn limits_are_bounds_and_the_rules_that_a_step_breaks() {
    let problem = Problem::builder("p")
        .variable(Variable::continuous("x", 0.0, 10.0))
        .variable(Variable::continuous("y", 0.0, 10.0))
        .variable(Variable::categorical("s", ["dry", "wet"]))
        .variable(Variable::integer("n", 1, 9))
        .constraint("sum", "x + y <= 10")
        .constraint("wet is low", "s == 'wet' implies x <= 2")
        .build()
        .unwrap();
    let rule = |rule: &str, forbids: &str| Limit { rule: Some(rule.into()), forbids: forbids.into() };
    let bound = |forbids: &str| Limit { rule: None, forbids: forbids.into() };
    assert_eq!(
        limits(&problem, &[10.0, 0.0, 0.0, 9.0]),
        [
            bound("more x"),
            bound("less y"),
            rule("sum", "more y"),
            rule("wet is low", "s wet"),
            bound("more n")
        ]
    );
    assert_eq!(limits(&problem, &[2.0, 5.0, 1.0, 5.0]), [rule("wet is low", "more x")]);
    assert_eq!(limits(&problem, &[5.0, 4.0, 0.0, 5.0]), [rule("wet is low", "s wet")]);
}

#[test]
fn a_rows_agreement_with_itself_is_complete_and_effects_add_up_to_the_prediction() {
    let campaign = campaign(hostile(), 30);
    let surrogate = campaign.surrogate.as_ref().unwrap();
    let training = surrogate.training();
    let x = training.x.row(7).to_vec();
    let (leaves, agreements) = leaves::reasons(surrogate, &x);
    assert!(agreements.iter().any(|a| a.row == 7 && a.share == 1.0));
    assert!(agreements.windows(2).all(|pair| pair[0].share >= pair[1].share));
    assert!(leaves.iter().all(|leaf| leaf.n_rows >= 1));
    // The trees' prediction less its mean over the rows, in the objective's units.
    let forest = &surrogate.trees().forest;
    let in_units = |value: f64| surrogate.scale().mean(value);
    let mean =
        training.x.rows().map(|row| in_units(forest.predict(row))).sum::<f64>() / training.x.n_rows() as f64;
    let total: f64 = leaves.iter().map(|leaf| leaf.effect).sum();
    assert!((total - (in_units(forest.predict(&x)) - mean)).abs() < 1e-9, "{total}");
}
