//! Tables that outlive their problem file.

use std::path::Path;

use leafgp::history::{History, HistoryFile, Outcome};
use leafgp::problem::{Goal, Problem, Variable};

fn problem(variables: &str) -> Problem {
    let text = format!("[objective]\nname = \"Härte\"\ngoal = \"maximize\"\n[variables]\n{variables}");
    Problem::from_text(Path::new("p.toml"), &text).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn everything_new_in_a_problem_file_arrives() {
    let text = r#"
[objective]
name = "pH"
goal = { target = 7.5 }
renamed_from = "acidity"
[variables]
dose = { type = "continuous", bounds = [0.5, 8], or_zero = true, default = 2.5 }
pieces = { type = "integer", bounds = [3, 8], or_zero = true }
steps = { type = "continuous", bounds = [0.5, 2], step = 0.25, or_zero = true }
flow = { type = "continuous", bounds = [0.25, 8], decimals = 1, renamed_from = ["rate", "speed"] }
off = { type = "continuous", bounds = [0.5, 8], decimals = 1, or_zero = true }
k = { type = "continuous", bounds = [2, 2] }
solvent = { type = "categorical", levels = ["water", "xylene"], removed = ["ether"], default = "ether" }
"#;
    let problem = Problem::from_text(Path::new("p.toml"), text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(problem.objective().goal, Goal::Target(7.5));
    assert_eq!(problem.objective().renamed_from, ["acidity"]);
    let variables = problem.variables();
    let shown: Vec<String> = variables.iter().map(Variable::expected).collect();
    assert_eq!(
        shown,
        [
            "0 or a number in [0.5, 8]",
            "a whole number in [0, 8]",
            "0 to 2 in steps of 0.25",
            "a number in [0.25, 8] with one decimal",
            "0 or a number in [0.5, 8] with one decimal",
            "a number in [2, 2]",
            "one of \"water\", \"xylene\"",
        ]
    );
    assert_eq!((variables[0].default, variables[6].default), (Some(2.5), Some(2.0)));
    assert_eq!(variables[3].renamed_from, ["rate", "speed"]);
    let feasible =
        |x: [f64; 7]| problem.constraints().is_feasible(&x, leafgp::solver::constraints::Tolerance::Produce);
    assert!(feasible([0.0, 0.0, 0.0, 0.3, 0.0, 2.0, 0.0]));
    assert!(feasible([0.5, 3.0, 0.5, 8.0, 0.5, 2.0, 1.0]));
    for (i, bad) in [(0, 0.4), (1, 2.0), (2, 0.25), (3, 0.25), (4, 0.4), (5, 2.1), (6, 2.0)] {
        let mut x = [0.5, 3.0, 0.5, 8.0, 0.5, 2.0, 1.0];
        x[i] = bad;
        assert!(!feasible(x), "{i} {bad}");
    }
}

#[test]
fn a_variable_added_later_has_its_default_in_old_rows_and_its_column_when_a_row_is_added() {
    let problem = problem(
        "x = { type = \"continuous\", bounds = [0, 1] }\nspeed = { type = \"continuous\", bounds = [100, 500], default = 300 }\n",
    );
    let folder = tempfile::tempdir().unwrap();
    let file = HistoryFile::new(folder.path().join("p.csv"));
    std::fs::write(file.path(), "x;note;Härte [HV]\r\n0,5;\"a;b\";7\r\n\r\n0,25;;\r\n").unwrap();
    let history = file.read(&problem).unwrap();
    assert!(history.warnings.is_empty(), "{:?}", history.warnings);
    assert_eq!(history.rows[0].point, [0.5, 300.0]);
    // A value told changes one cell; a new row brings the column.
    file.set_outcome(&problem, 2, Outcome::Done(8.5), None, false).unwrap();
    assert_eq!(
        std::fs::read_to_string(file.path()).unwrap(),
        "x;note;Härte [HV]\r\n0,5;\"a;b\";7\r\n\r\n0,25;;8,5\r\n"
    );
    let history = file.append(&problem, &[(vec![0.75, 120.0], Outcome::Pending)]).unwrap();
    assert_eq!(
        std::fs::read_to_string(file.path()).unwrap(),
        "x;note;Härte [HV];speed\r\n0,5;\"a;b\";7;\r\n\r\n0,25;;8,5;\r\n0,75;;;120\r\n"
    );
    let points: Vec<_> = history.rows.iter().map(|row| row.point[1]).collect();
    assert_eq!(points, [300.0, 300.0, 120.0]);
    assert!(history.warnings.is_empty(), "{:?}", history.warnings);
    // An empty cell below a filled one may be forgotten.
    std::fs::write(file.path(), "x,speed,Härte\n0.5,,1\n0.5,200,1\n0.75,,2\n").unwrap();
    let history = file.read(&problem).unwrap();
    assert_eq!(history.warnings.len(), 1);
    assert!(history.warnings[0].contains("row 3 (line 4): speed is empty"), "{:?}", history.warnings);
}

#[test]
fn decimals_are_written_as_they_are_set() {
    let problem = problem(
        "flow = { type = \"continuous\", bounds = [0, 8], decimals = 2 }\nx = { type = \"continuous\", bounds = [0, 1] }\n",
    );
    let folder = tempfile::tempdir().unwrap();
    let file = HistoryFile::new(folder.path().join("p.csv"));
    std::fs::write(file.path(), "flow;x;Härte\n1,5;0,5;7\n").unwrap();
    file.append(&problem, &[(vec![3.0, 0.25], Outcome::Pending), (vec![1.234, 0.25], Outcome::Done(1.0))])
        .unwrap();
    let text = std::fs::read_to_string(file.path()).unwrap();
    assert_eq!(text, "flow;x;Härte\n1,5;0,5;7\n3,00;0,25;\n1,234;0,25;1\n");
}

#[test]
fn a_renamed_column_keeps_its_name_in_the_file() {
    let problem = problem("temp = { type = \"continuous\", bounds = [0, 500], renamed_from = \"T\" }\n");
    let folder = tempfile::tempdir().unwrap();
    let file = HistoryFile::new(folder.path().join("p.csv"));
    std::fs::write(file.path(), "T,Härte\n20,7\n").unwrap();
    let history = file.append(&problem, &[(vec![30.0], Outcome::Pending)]).unwrap();
    assert_eq!(history.rows.len(), 2);
    assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "T,Härte\n20,7\n30,\n");
}

#[test]
fn names_and_levels_are_the_same_whether_their_accents_stand_apart() {
    // The problem file with composed letters, the table with separate marks, and the other way round.
    let (composed, apart) = ("Lösemittel", "Lo\u{308}semittel");
    for (own, other) in [(composed, apart), (apart, composed)] {
        let (ether, other_ether) =
            if own == composed { ("Äther", "A\u{308}ther") } else { ("A\u{308}ther", "Äther") };
        let problem = problem(&format!(
            "\"{own}\" = {{ type = \"categorical\", levels = [\"{ether}\", \"Wasser\"] }}\n\n[constraints]\nk = \"`{other}` == '{other_ether}'\"\n"
        ));
        for (name, level) in [(own, ether), (other, other_ether), (own, other_ether)] {
            let text = format!("{name},Ha\u{308}rte\n{level},1\nWasser,2\n");
            let history = History::from_bytes(text.as_bytes(), &problem).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(history.rows[0].point, [0.0]);
            assert_eq!(history.best(&problem).unwrap().row, 0);
        }
    }
}

#[test]
fn a_table_in_an_older_character_set_is_met_with_how_to_save_it() {
    let problem = problem("x = { type = \"continuous\", bounds = [0, 1] }\n");
    let error = History::from_bytes(b"x;H\xe4rte\n0,5;1\n", &problem).unwrap_err().to_string();
    for part in ["line 1", "'ä'", "Windows-1252", "CSV UTF-8", "LibreOffice"] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn all_mistakes_of_a_table_are_told_at_once() {
    let problem = problem(
        "x = { type = \"continuous\", bounds = [0, 1] }\nc = { type = \"categorical\", levels = [\"water\", \"xylene\"] }\n",
    );
    let error = History::from_bytes(b"x,c,H\xc3\xa4rte,status\n0.5,water,1,done\nabc,watr,2,done\n0.5,ether,,\n1,water\n0.25,water,x,\n,water,1,dnoe\n", &problem);
    let error = error.unwrap_err().in_file("p.csv").to_string();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 7, "{error}");
    for (line, parts) in [
        (0, ["p.csv:3: row 2, column \"x\"", "no number"]),
        (1, ["p.csv:3: row 2, column \"c\"", "did you mean `water`"]),
        (2, ["p.csv:4: row 3, column \"c\"", "`removed` of the problem file"]),
        (3, ["p.csv:5: row 4", "2 cells"]),
        (4, ["p.csv:6: row 5, column \"Härte\"", "no number"]),
        (5, ["p.csv:7: row 6, column \"x\"", "is empty"]),
        (6, ["p.csv:7: row 6, column \"status\"", "dnoe"]),
    ] {
        for part in parts {
            assert!(lines[line].contains(part), "{part}: {}", lines[line]);
        }
    }
    let many = format!("x,c,Härte\n{}", "y,water,1\n".repeat(25));
    let error = History::from_bytes(many.as_bytes(), &problem).unwrap_err().to_string();
    assert_eq!(error.lines().count(), 11, "{error}");
    assert!(error.ends_with("and 15 more mistakes"), "{error}");
}

#[test]
fn mistakes_of_a_problem_file_have_a_way_out() {
    let refused = |variables: &str, rest: &str| {
        let text =
            format!("[objective]\nname = \"y\"\ngoal = \"minimize\"\n[variables]\n{variables}\n{rest}");
        Problem::from_text(Path::new("p.toml"), &text).unwrap_err().to_string()
    };
    let x = "x = { type = \"continuous\", bounds = [0, 1] }";
    for (variables, rest, parts) in [
        (
            "Lösemittel = { type = \"binary\" }",
            "",
            vec!["p.toml:5:1", "the name Lösemittel", "around it: \"Lösemittel\"", "^^^^^^^^^^"],
        ),
        ("flow rate = { type = \"binary\" }", "", vec!["the name flow rate", "around it: \"flow rate\""]),
        ("x = { type = \"continuous\", bounds = [0,5, 8] }", "", vec!["found 3 numbers", "with a point"]),
        (
            "x = { type = \"continuous\", bounds = [-1, 1], or_zero = true }",
            "",
            vec!["or_zero", "0 is within the bounds"],
        ),
        (
            "x = { type = \"continuous\", bounds = [0.3, 1], step = 0.2, or_zero = true }",
            "",
            vec!["no multiple of the step"],
        ),
        (
            "x = { type = \"continuous\", bounds = [0, 1], step = 0.1, decimals = 1 }",
            "",
            vec!["`decimals` beside `step`"],
        ),
        (
            "x = { type = \"continuous\", bounds = [0.21, 0.24], decimals = 1 }",
            "",
            vec!["x.decimals", "no number of 1 decimals"],
        ),
        (
            "x = { type = \"continuous\", bounds = [0, 1], decimals = 1.5 }",
            "",
            vec!["a whole number from 0 to 15"],
        ),
        (
            "x = { type = \"categorical\", levels = [\"a\"], removed = [\"a\"] }",
            "",
            vec!["removed[0]", "twice"],
        ),
        (
            "x = { type = \"categorical\", levels = [], removed = [\"a\"] }",
            "",
            vec!["x.levels", "at least one"],
        ),
        (
            "x = { type = \"categorical\", levels = [\"a\"], default = \"b\" }",
            "",
            vec!["x.default", "unknown level"],
        ),
        ("x = { type = \"binary\", renamed_from = \"y\" }", "", vec!["x.renamed_from", "column of today"]),
        (x, "[constraints]\nk = \"größe <= 3\"", vec!["p.toml:7:6", "in backquotes: `größe`"]),
        (x, "[constraints]\nk = \"flow rate <= 2\"", vec!["in backquotes, `flow rate`"]),
        (x, "[constraints]\nk = \"3 x <= 2\"", vec!["`3 * x`"]),
        (x, "[constraints]\nk = \"x ≤ 1\"", vec!["write `<=`"]),
        (x, "[constraints]\nk = \"x <= 1,5\"", vec!["with a point, 1.5"]),
        (x, "[constraints]\nk = \"lg(x + 1) <= 1\"", vec!["log10(x)"]),
        (x, "[constraints]\nk = \"log(x + 1, 10) <= 1\"", vec!["to base 10 it is log10(x)"]),
        (x, "[constraints]\nk = \"log10 x <= 1\"", vec!["`log10(x)`"]),
    ] {
        let error = refused(variables, rest);
        for part in parts {
            assert!(error.contains(part), "{variables} {rest}: {part}:\n{error}");
        }
    }
    let text = "[objective]\nname = \"y\"\ngoal = { traget = 3 }\n[variables]\nx = { type = \"binary\" }\n";
    let error = Problem::from_text(Path::new("p.toml"), text).unwrap_err().to_string();
    assert!(error.contains("did you mean `target`"), "{error}");
}
