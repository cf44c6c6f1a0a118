//! Optimisers of other processes, played by the shell.

use std::fs;

use crate::support::{Study, runs};

/// Answers every ask with the next point of a line in the box.
const SOUND: &str = r#"i=0
while read -r line; do
  printf '%s\n' "$line" >> "$LOG"
  case "$line" in
    *'"type":"start"'*) echo '{"type":"ready","extra":1}';;
    *'"type":"ask"'*) i=$((i+1)); echo "{\"type\":\"point\",\"point\":{\"x0\":$i,\"x1\":0.5}}";;
    *'"type":"stop"'*) exit 0;;
  esac
done
"#;

fn spec(command: &str, further: &str) -> String {
    format!(
        "name = \"e\"\niterations = 4\ninitial = 2\nseeds = [5]\n[[problem]]\nfunction = \"branin\"\n[[method]]\nname = \"peer\"\nkind = \"external\"\n\
         command = '''{command}'''\n{further}\n"
    )
}

/// The study with the script as method, and what the process was told.
fn script(study: &Study, text: &str, further: &str) -> String {
    study.write("peer.sh", text);
    let log = study.path("log");
    spec(&format!("LOG='{}' sh '{}'", log.display(), study.path("peer.sh").display()), further)
}

#[test]
fn a_process_is_asked_and_told() {
    let study = Study::new();
    let text = script(&study, SOUND, "");
    assert_eq!(study.run(&text, "out", 1, None).failed, []);
    let steps = study.steps("out", "branin", "peer", 5);
    let x0: Vec<f64> = steps[2..].iter().map(|step| step.point["x0"].as_f64().unwrap()).collect();
    assert_eq!(x0, [1.0, 2.0, 3.0, 4.0]);

    let log = fs::read_to_string(study.path("log")).unwrap();
    let messages: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = messages.iter().map(|m| m["type"].as_str().unwrap()).collect();
    let rounds = ["ask", "tell"].repeat(4);
    assert_eq!(kinds, [&["start"][..], &rounds, &["stop"]].concat());
    let start = &messages[0];
    assert_eq!(
        (start["protocol"].as_u64(), start["seed"].as_u64(), start["iterations"].as_u64()),
        (Some(1), Some(5), Some(4))
    );
    assert_eq!(start["run"], "branin/peer/5");
    assert_eq!(start["problem"]["variables"][0]["bounds"], serde_json::json!([-5.0, 10.0]));
    let initial = start["initial"].as_array().unwrap();
    assert_eq!(initial.len(), 2);
    for (given, step) in initial.iter().zip(&steps) {
        assert_eq!(given["value"].as_f64(), step.value);
        assert_eq!(given["point"].as_object(), Some(&step.point));
    }
    assert_eq!(messages[2]["value"].as_f64(), steps[2].value);
    assert_eq!(messages[2]["feasible"], true);
}

#[test]
fn a_run_with_a_process_resumes_to_the_same_bytes() {
    let study = Study::new();
    let text = script(&study, SOUND, "");
    study.run(&text, "out", 1, None);
    let file = study.out("out").run_file("branin", "peer", 5);
    let whole = fs::read(&file).unwrap();
    for (i, _) in whole.iter().enumerate().filter(|(_, b)| **b == b'\n') {
        fs::write(&file, &whole[..i + 1 - 20 * (i % 2)]).unwrap();
        study.run(&text, "out", 1, None);
        assert_eq!(fs::read(&file).unwrap(), whole, "cut at {i}");
    }
}

#[test]
fn a_penalty_hides_the_constraints_and_exact_shows_them() {
    for (further, constraints, violations) in [("", 2, 2), ("constraints = \"penalty\"\nlambda = 100", 0, 0)]
    {
        let study = Study::new();
        // Inside the box of g6, outside its sliver.
        let sound = SOUND.replace("\\\"x0\\\":$i", "\\\"x0\\\":$((i+20))");
        let text = script(&study, &sound, further).replace("branin", "g6");
        assert_eq!(study.run(&text, "out", 1, None).failed, []);
        let log = fs::read_to_string(study.path("log")).unwrap();
        let messages: Vec<serde_json::Value> =
            log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(messages[0]["problem"]["constraints"].as_array().unwrap().len(), constraints);
        assert_eq!(messages[2]["violations"].as_array().unwrap().len(), violations);
        assert_eq!(messages[2]["feasible"], false);
        let step = &study.steps("out", "g6", "peer", 5)[2];
        assert!(step.violation > 1.0);
        let told = if constraints == 0 { step.told } else { step.value };
        assert_eq!(messages[2]["value"].as_f64(), told);
    }
}

#[test]
fn every_way_to_break_the_conversation_is_told_with_the_runs_name_and_ends_the_process() {
    let ready = "read line; echo '{\"type\":\"ready\"}'; read line; ";
    let cases: Vec<(String, &[&str])> = vec![
        ("exit 3".into(), &["ended", "ready"]),
        ("echo broken >&2; exit 3".into(), &["ended", "it wrote:", "broken"]),
        ("sleep 60".into(), &["no answer within 0.5 s", "ready"]),
        ("echo hello; sleep 60".into(), &["no JSON object", "hello"]),
        ("echo '{\"type\":\"point\"}'; sleep 60".into(), &["expected type \"ready\""]),
        ("echo '{\"type\":\"error\",\"message\":\"no licence\"}'; sleep 60".into(), &["no licence"]),
        ("yes".into(), &["no JSON object"]),
        ("yes | tr -d '\\n'".into(), &["longer than"]),
        (format!("{ready} exit 0"), &["ended", "point"]),
        (format!("{ready} sleep 60"), &["no answer within 0.5 s", "point"]),
        (format!("{ready} echo '{{\"type\":\"point\",\"point\":[1,2]}}'; sleep 60"), &["no \"point\""]),
        (format!("{ready} echo '{{\"type\":\"point\",\"point\":{{\"x0\":1}}}}'; sleep 60"), &["no \"x1\""]),
        (
            format!(
                "{ready} echo '{{\"type\":\"point\",\"point\":{{\"x0\":1,\"x1\":2,\"z\":3}}}}'; sleep 60"
            ),
            &["\"z\"", "no variable"],
        ),
        (
            format!("{ready} echo '{{\"type\":\"point\",\"point\":{{\"x0\":11,\"x1\":2}}}}'; sleep 60"),
            &["\"x0\" is 11", "a number in [-5, 10]"],
        ),
        (
            format!("{ready} echo '{{\"type\":\"point\",\"point\":{{\"x0\":null,\"x1\":2}}}}'; sleep 60"),
            &["\"x0\""],
        ),
    ];
    for (command, parts) in cases {
        let study = Study::new();
        let text = spec(&command, "timeout = 0.5");
        let summary = study.run(&text, "out", 1, None);
        assert_eq!(summary.failed.len(), 1, "{command}");
        let (name, message) = &summary.failed[0];
        assert_eq!(name, "branin/peer/5");
        assert!(message.starts_with("run branin/peer/5: "), "{command}: {message}");
        for part in parts {
            assert!(message.contains(part), "{command}: {message}");
        }
        // What was recorded before stays, and a sound process goes on from there.
        assert_eq!(study.steps("out", "branin", "peer", 5).len(), 2);
    }
}

#[test]
fn two_answers_to_one_ask_are_noticed_and_the_run_is_never_complete() {
    let answer = |between: &str| {
        let again =
            format!("0.5}}}}\";{between} echo '{{\"type\":\"point\",\"point\":{{\"x0\":9,\"x1\":9}}}}';;");
        let text = SOUND.replace("0.5}}\";;", &again);
        assert_ne!(text, SOUND);
        text
    };
    // At every ask; at the last one alone, where no further ask can find it; and late, when the next ask is under way.
    let (each, last, late) = (answer(""), answer(" [ $i -lt 4 ] ||"), answer(" sleep 0.2;"));
    for (name, text) in [("each", each), ("last", last), ("late", late)] {
        let study = Study::new();
        let text = script(&study, &text, "timeout = 20");
        let summary = study.run(&text, "out", 1, None);
        let [(run, message)] = summary.failed.as_slice() else { panic!("{name}: {summary:?}") };
        assert!(run == "branin/peer/5" && message.contains("before it was asked"), "{name}: {message}");
        assert!(message.contains("one answer to each"), "{name}: {message}");
        assert!(study.steps("out", "branin", "peer", 5).len() < 6, "{name}");
    }
}

#[test]
fn points_on_the_edge_of_rounding_are_moved_and_tables_take_the_nearest_row() {
    let study = Study::new();
    study.write("t.csv", "x,n,y\n0,1,5\n1,2,3\n2,3,1\n5,9,4\n");
    study.write(
        "t.toml",
        "[objective]\nname = \"y\"\ngoal = \"maximize\"\n[variables]\nx = { type = \"continuous\", bounds = [0, 5] }\nn = { type = \"integer\", bounds = [1, 9] }\n",
    );
    let answer = "{\\\"type\\\":\\\"point\\\",\\\"point\\\":{\\\"x\\\":5.0000000001,\\\"n\\\":7.4}}";
    let sound =
        SOUND.replace("{\\\"type\\\":\\\"point\\\",\\\"point\\\":{\\\"x0\\\":$i,\\\"x1\\\":0.5}}", answer);
    assert!(sound.contains("7.4"));
    let text =
        script(&study, &sound, "").replace("function = \"branin\"", "file = \"t.toml\"\ntable = \"t.csv\"");
    assert_eq!(study.run(&text, "out", 1, None).failed, []);
    let steps = study.steps("out", "t", "peer", 5);
    assert_eq!(steps.len(), 4);
    for step in &steps[2..] {
        assert_eq!(
            (step.point["x"].as_f64(), step.point["n"].as_i64(), step.value),
            (Some(5.0), Some(9), Some(4.0))
        );
    }
    assert_eq!(runs(&study.path("out")).len(), 1);
}
