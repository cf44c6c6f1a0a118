//! Every kind of mistake in a problem file: exit 2, the place, the field, what was expected, nothing written.

use crate::support::{Folder, PROBLEM};

/// `p.toml` with `old` exchanged for `new` is refused with all `parts` in the message.
#[track_caller]
fn refused(old: &str, new: &str, parts: &[&str]) {
    assert!(PROBLEM.contains(old), "{old:?} is part of the problem");
    let folder = Folder::with_problem(&PROBLEM.replacen(old, new, 1));
    folder.refused(&["check", "p.toml"], parts);
}

/// `p.toml` with `more` at its end.
#[track_caller]
fn refused_with(more: &str, parts: &[&str]) {
    Folder::with_problem(&format!("{PROBLEM}{more}")).refused(&["check", "p.toml"], parts);
}

const X: &str = r#"{ type = "continuous", bounds = [0.0, 1.0] }"#;
const N: &str = r#"{ type = "integer", bounds = [1, 9] }"#;
const HEAD: &str = r#"{ type = "categorical", levels = ["flat", "round"] }"#;

#[test]
fn unknown_keys_everywhere_with_the_nearest_known_one() {
    refused(
        "name = \"p\"",
        "nmae = \"p\"",
        &["p.toml:1:1:", "unknown key `nmae`", "did you mean `name`?", "`variables`"],
    );
    refused("name = \"p\"", "kappa = 2", &["p.toml:1:1:", "`kappa`", "below [settings]"]);
    refused("goal =", "gaol = 1\ngoal =", &["p.toml:5:1:", "[objective]", "did you mean `goal`?"]);
    refused(
        "bounds = [0.0",
        "bound = [0.0",
        &["p.toml:8:28:", "variables.x.bound", "did you mean `bounds`?"],
    );
    refused(
        "levels",
        "bounds",
        &["p.toml:10:32:", "`bounds` does not belong to type \"categorical\"", "`levels`"],
    );
    refused_with("[settings]\nsede = 1\n", &["p.toml:12:1:", "settings.sede", "did you mean `seed`?"]);
    refused_with(
        "[settings.trees]\nn_tree = 1\n",
        &["p.toml:12:1:", "settings.trees.n_tree", "did you mean `n_trees`?"],
    );
    refused_with(
        "[settings.gp]\nepoch = 1\n",
        &["p.toml:12:1:", "settings.gp.epoch", "did you mean `epochs`?"],
    );
    refused_with(
        "[settings.solver]\ngpa = 1\n",
        &["p.toml:12:1:", "settings.solver.gpa", "did you mean `gap`?"],
    );
    refused_with("[settings.design]\ninit = 1\n", &["p.toml:12:1:", "settings.design.init", "`initial`"]);
    refused_with(
        "[define]\na = { exp = \"x\" }\n",
        &["p.toml:12:7:", "define.a.exp", "did you mean `expr`?"],
    );
    refused_with("[setings]\n", &["p.toml:11:2:", "unknown key `setings`", "did you mean `settings`?"]);
}

#[test]
fn what_must_be_there_and_is_not() {
    let folder = Folder::with_problem("name = 'p'\n");
    folder.refused(&["check", "p.toml"], &["p.toml:", "[objective]", "expected"]);
    refused(
        "name = \"cost\"",
        "",
        &["p.toml:3:1:", "objective.name", "expected the name of the history's column"],
    );
    refused("goal = \"minimize\"", "", &["p.toml:3:1:", "objective.goal", "maximize"]);
    refused(X, "{ bounds = [0, 1] }", &["p.toml:8:1:", "variables.x.type", "`categorical`"]);
    refused(
        X,
        "{ type = 'continuous' }",
        &["p.toml:8:1:", "variables.x.bounds", "expected bounds = [0.0, 1.0]"],
    );
    refused(HEAD, "{ type = 'categorical' }", &["variables.head.levels", "expected levels = "]);
    refused(X, "{ type = 'discrete' }", &["variables.x.values", "expected values = "]);
    let empty = PROBLEM.split("x = ").next().unwrap();
    Folder::with_problem(empty).refused(&["check", "p.toml"], &["p.toml:", "variables", "no variables"]);
}

#[test]
fn duplicate_and_unusable_names() {
    refused("n = ", "x = ", &["p.toml:9:1:", "duplicate key"]);
    refused("name = \"cost\"", "name = \"n\"", &["p.toml:4:8:", "objective.name", "variable too"]);
    refused(
        "name = \"cost\"",
        "name = \"status\"",
        &["p.toml:4:8:", "objective.name", "the history's own column"],
    );
    refused("x = ", "status = ", &["p.toml:8:1:", "variables.status", "another name"]);
    refused("x = ", "\"\" = ", &["p.toml:8:1:", "the name is empty"]);
    refused("x = ", "\"a`b\" = ", &["p.toml:8:1:", "backquotes"]);
    refused("x = ", "\" a\" = ", &["p.toml:8:1:", "starts or ends with a space"]);
    refused_with("[define]\nx = \"2 * n\"\n", &["p.toml:12:", "define.x", "x"]);
    refused_with("[constraints]\na = \"x <= 1\"\na = \"x >= 0\"\n", &["p.toml:13:1:", "duplicate key"]);
}

#[test]
fn bounds_that_are_none() {
    refused(
        "[0.0, 1.0]",
        "[1.0, 0.0]",
        &["p.toml:8:37:", "variables.x.bounds", "lower bound 1 is above the upper bound 0"],
    );
    refused(
        "[0.0, 1.0]",
        "[0.0, 1e-110]",
        &["p.toml:8:37:", "variables.x.bounds", "too near", "lower < upper"],
    );
    refused("[0.0, 1.0]", "[nan, 1.0]", &["p.toml:8:38:", "variables.x.bounds[0]", "nan", "a finite number"]);
    refused("[0.0, 1.0]", "[0.0, inf]", &["p.toml:8:43:", "variables.x.bounds[1]", "inf", "a finite number"]);
    refused("[0.0, 1.0]", "[0.0, 1e999]", &["p.toml:8:43:", "variables.x.bounds[1]", "a finite number"]);
    refused(
        "[0.0, 1.0]",
        "[0.0, 1e200]",
        &["p.toml:8:43:", "variables.x.bounds[1]", "too large", "at most 1e100"],
    );
    refused("[0.0, 1.0]", "[0.0]", &["p.toml:8:37:", "variables.x.bounds", "1 numbers", "two"]);
    refused("[0.0, 1.0]", "[0.0, 1.0, 2.0]", &["variables.x.bounds", "3 numbers", "two"]);
    refused("[0.0, 1.0]", "0.0", &["p.toml:8:37:", "variables.x.bounds", "a list such as"]);
    refused("[0.0, 1.0]", "[\"0\", 1.0]", &["p.toml:8:38:", "the text \"0\"", "a number, without quotes"]);
    refused("[1, 9]", "[1.5, 9]", &["p.toml:9:35:", "variables.n.bounds[0]", "1.5 is not whole"]);
    refused("[1, 9]", "[9, 1]", &["p.toml:9:34:", "variables.n.bounds", "above"]);
    refused("[1, 9]", "[0, 9007199254740993]", &["p.toml:9:38:", "variables.n.bounds[1]", "2^53"]);
    refused("[1, 9]", "[0, 90071992547409920]", &["p.toml:9:38:", "variables.n.bounds[1]", "2^53"]);
    refused(
        "[1, 9]",
        "[0, 99999999999999999999999999999999999999999999]",
        &["p.toml:9:38:", "variables.n.bounds[1]"],
    );
}

#[test]
fn levels_and_values_that_are_none() {
    refused(r#"["flat", "round"]"#, "[]", &["p.toml:10:41:", "variables.head.levels", "at least one"]);
    refused(
        "\"round\"",
        "\"flat\"",
        &["p.toml:10:50:", "variables.head.levels[1]", "\"flat\" is listed twice"],
    );
    refused("\"round\"", "\"\"", &["p.toml:10:50:", "variables.head.levels[1]", "empty"]);
    refused("\"round\"", "\" round\"", &["p.toml:10:50:", "variables.head.levels[1]", "space"]);
    refused("\"round\"", "[1]", &["p.toml:10:50:", "variables.head.levels[1]", "a list", "text in quotes"]);
    refused(X, "{ type = 'discrete', values = [] }", &["p.toml:8:35:", "variables.x.values", "at least one"]);
    refused(
        X,
        "{ type = 'discrete', values = [2, 2, 1] }",
        &["p.toml:8:39:", "variables.x.values[1]", "2 is listed twice"],
    );
    refused(
        X,
        "{ type = 'discrete', values = [1, 'b'] }",
        &["p.toml:8:39:", "variables.x.values[1]", "a number"],
    );
    refused(
        X,
        "{ type = 'discrete', values = [1, nan] }",
        &["p.toml:8:39:", "variables.x.values[1]", "a finite number"],
    );
}

#[test]
fn steps_scales_and_types_that_are_none() {
    let step = |step: &str| format!("{{ type = 'continuous', bounds = [0.1, 0.6], step = {step} }}");
    refused(X, &step("0"), &["p.toml:8:56:", "variables.x.step", "0 is not positive", "a step above 0"]);
    refused(X, &step("-0.1"), &["variables.x.step", "not positive"]);
    refused(X, &step("nan"), &["variables.x.step", "a finite number"]);
    refused(X, &step("2.0"), &["variables.x.step", "a single value", "fits between the bounds"]);
    refused(X, &step("0.3333333333333333"), &["variables.x.step", "no decimal", "at most 15 decimals"]);
    refused(X, &step("\"0.1\""), &["p.toml:8:56:", "variables.x.step", "a number, without quotes"]);
    refused(
        N,
        "{ type = 'integer', bounds = [1, 9], step = 0.5 }",
        &["variables.n.step", "0.5 is not whole"],
    );
    refused(
        X,
        "{ type = 'continuous', bounds = [0, 1], scale = 'log' }",
        &["p.toml:8:53:", "variables.x.scale", "above 0"],
    );
    refused(
        X,
        "{ type = 'continuous', bounds = [1, 2], scale = 'lgo' }",
        &["variables.x.scale", "did you mean `log`?"],
    );
    refused(HEAD, "{ type = 'categorical', levels = ['a'], scale = 'log' }", &["`scale` does not belong"]);
    refused(
        "\"integer\"",
        "\"int\"",
        &["p.toml:9:14:", "variables.n.type", "unknown word \"int\"", "`integer`"],
    );
    refused("\"integer\"", "\"Continuous\"", &["variables.n.type", "did you mean `continuous`?"]);
    refused("\"integer\"", "1", &["p.toml:9:14:", "variables.n.type", "the number 1", "text in quotes"]);
    refused("\"minimize\"", "\"minimise\"", &["p.toml:5:8:", "objective.goal", "did you mean `minimize`?"]);
    refused(N, "3", &["p.toml:9:5:", "variables.n", "the number 3", "a table such as"]);
}

#[test]
fn hierarchies_that_are_none() {
    let n = |more: &str| format!("{{ type = 'integer', bounds = [1, 9], {more} }}");
    refused(N, &n("inactive_value = 1"), &["variables.n.inactive_value", "without `active_if`"]);
    refused(
        N,
        &n("active_if = 'x <= 1', inactive_value = 0"),
        &["variables.n.inactive_value", "0 is not a value", "[1, 9]"],
    );
    refused(N, &n("active_if = 'x <= 1', inactive_value = 1.5"), &["variables.n.inactive_value", "[1, 9]"]);
    refused(N, &n("active_if = 'x <= 1', inactive_value = 'a'"), &["variables.n.inactive_value", "a number"]);
    refused(N, &n("active_if = 'n >= 2'"), &["p.toml:9:", "variables.n.active_if", "depend on itself"]);
    refused(
        N,
        &n("active_if = 'y >= 2'"),
        &["p.toml:9:55:", "variables.n.active_if", "unknown name `y`", "x, n, head"],
    );
    refused(N, &n("active_if = 'x + 1'"), &["variables.n.active_if", "condition"]);
    refused(N, &n("active_if = 3"), &["variables.n.active_if", "text in quotes"]);
    let circle = PROBLEM
        .replace(X, "{ type = 'continuous', bounds = [0, 1], active_if = 'n >= 2' }")
        .replace(N, &n("active_if = 'x >= 0.5'"));
    Folder::with_problem(&circle)
        .refused(&["check", "p.toml"], &["variables.n.active_if", "`n` -> `x` -> `n`"]);
    let level = "{ type = 'categorical', levels = ['a'], active_if = 'n > 1', inactive_value = 'b' }";
    refused(HEAD, level, &["variables.head.inactive_value", "unknown level \"b\"", "one of \"a\""]);
}

#[test]
fn expressions_point_at_the_character() {
    refused_with(
        "[constraints]\nc = \"x + zz <= 1\"\n",
        &["p.toml:12:10:", "constraints.c", "unknown name `zz`", "one of x, n, head"],
    );
    refused_with(
        "[constraints]\n\"a b\" = \"x <= \"\n",
        &["p.toml:12:", "constraints.\"a b\"", "value was expected", "^"],
    );
    refused_with("[constraints]\nc = \"head == 'falt'\"\n", &["p.toml:12:14:", "no level 'falt'", "flat"]);
    refused_with("[constraints]\nc = \"x = 1\"\n", &["p.toml:12:8:", "write `==`"]);
    refused_with("[constraints]\nc = \"x + n\"\n", &["p.toml:12:", "constraints.c", "expected a condition"]);
    refused_with(
        "[constraints]\nc = 3\n",
        &["p.toml:12:5:", "constraints.c", "the number 3", "text in quotes"],
    );
    refused_with("[define]\na = \"x + \"\n", &["p.toml:12:", "define.a", "value was expected"]);
    refused_with("[define]\na = { expr = \"x +* 2\", integer = true }\n", &["p.toml:12:18:", "define.a"]);
    refused_with("[define]\na = { expr = \"x\", integer = 1 }\n", &["define.a.integer", "true or false"]);
    refused_with("[define]\na = 3\n", &["p.toml:12:5:", "define.a", "an expression in quotes"]);
    refused_with("[define]\na = \"b\"\nb = \"x\"\n", &["p.toml:12:6:", "define.a", "`b` is defined later"]);
    // Carets under the offending part, on the line below it.
    let folder = Folder::with_problem(&format!("{PROBLEM}[constraints]\nc = \"x + zz <= 1\"\n"));
    let run = folder.run(&["check", "p.toml"]);
    assert!(run.stderr.contains("   12 | c = \"x + zz <= 1\"\n      |          ^^\n"), "{}", run.stderr);
    // With escapes the place in the file is unknown: the decoded expression is shown.
    let folder = Folder::with_problem(&format!("{PROBLEM}[constraints]\nc = \"x +\\u0020zz <= 1\"\n"));
    let run = folder.run(&["check", "p.toml"]);
    assert!(
        run.stderr.contains("p.toml:12:5:") && run.stderr.contains("| x + zz <= 1\n      |     ^^"),
        "{}",
        run.stderr
    );
}

#[test]
fn definitions_use_what_stands_above_them() {
    refused_with(
        "[define]\np = \"q + 1\"\nq = \"x\"\n",
        &["p.toml:12:6:", "define.p", "`q` is defined later"],
    );
    refused_with("[define]\np = \"2 * p\"\n", &["p.toml:12:10:", "define.p", "`p` is defined by itself"]);
}

#[test]
fn divisors_that_may_be_zero_are_refused_with_their_range() {
    refused_with(
        "[constraints]\nc = \"n / (x - 0.5) <= 4\"\n",
        &["p.toml:12:5:", "constraints.c", "may be 0", "[-0.5, 0.5]"],
    );
    refused_with(
        "[define]\nr = { expr = \"n / (x - 0.25)\", integer = true }\n",
        &["p.toml:12:14:", "define.r", "[-0.25, 0.75]"],
    );
    // What the other constraints exclude is no danger.
    let safe = format!("{PROBLEM}[constraints]\nc = \"n / x <= 40\"\nd = \"x >= 0.25\"\n");
    let folder = Folder::with_problem(&safe);
    let run = folder.run(&["check", "p.toml"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn a_list_of_constraints_after_a_table() {
    refused_with(
        "constraints = ['x <= 1']\n",
        &["p.toml:11:15:", "after [variables]", "above the first [table]"],
    );
    refused_with(
        "[settings]\nconstraints = ['x <= 1']\n",
        &["p.toml:12:15:", "after [settings]", "above the first [table]"],
    );
    refused_with("[settings.trees]\nconstraints = ['x <= 1']\n", &["after [settings.trees]"]);
    refused_with("[define]\nconstraints = ['x <= 1']\n", &["after [define]"]);
    refused("goal =", "constraints = ['x <= 1']\ngoal =", &["after [objective]"]);
    let folder = Folder::with_problem(&format!("constraints = ['x <= 1', 'n + zz >= 2']\n{PROBLEM}"));
    folder.refused(&["check", "p.toml"], &["p.toml:1:31:", "constraints[1]", "unknown name `zz`"]);
    let folder = Folder::with_problem(&format!("constraints = ['x <= 1', 3]\n{PROBLEM}"));
    folder.refused(&["check", "p.toml"], &["p.toml:1:26:", "constraints[1]", "text in quotes"]);
}

#[test]
fn settings_out_of_range_or_of_another_kind() {
    refused_with(
        "[settings]\nkappa = -1\n",
        &["p.toml:12:9:", "settings.kappa", "expected a number in [0, 1e6]"],
    );
    refused_with("[settings]\nkappa = \"big\"\n", &["p.toml:12:9:", "settings.kappa", "default, 1.96"]);
    refused_with("[settings]\nkappa = nan\n", &["p.toml:12:9:", "settings.kappa", "a finite number"]);
    refused_with("[settings]\nseed = -1\n", &["p.toml:12:8:", "settings.seed", "default, 101"]);
    refused_with("[settings]\nseed = 1.5\n", &["p.toml:12:8:", "settings.seed"]);
    refused_with(
        "[settings]\npreset = \"papr\"\n",
        &["p.toml:12:10:", "settings.preset", "did you mean `paper`?"],
    );
    refused_with("[settings]\ntrees = 3\n", &["p.toml:12:9:", "settings.trees", "a table [settings.trees]"]);
    refused_with(
        "[settings.trees]\nn_trees = 0\n",
        &["p.toml:12:11:", "settings.trees.n_trees", "1..=100000"],
    );
    refused_with("[settings.trees]\nobjective = \"l3\"\n", &["p.toml:12:13:", "settings.trees.objective"]);
    refused_with(
        "[settings.gp]\nnoise_interval = [1.0, 0.5]\n",
        &["p.toml:12:18:", "settings.gp.noise_interval", "lower < upper"],
    );
    refused_with(
        "[settings.solver]\ntime_limit = 0\n",
        &["p.toml:12:14:", "settings.solver.time_limit", "above 0"],
    );
    refused_with("[settings.solver]\ngap = 2\n", &["settings.solver.gap", "[0, 1]"]);
    refused_with("[settings.solver]\nnode_limit = 0\n", &["settings.solver.node_limit"]);
    refused_with("[settings.solver]\nnode_limit = \"none\"\n", &["settings.solver.node_limit"]);
    refused_with(
        "[settings.design]\ninitial = 0\n",
        &["p.toml:12:11:", "settings.design.initial", "1..=100000"],
    );
}

#[test]
fn files_that_are_no_text() {
    let folder = Folder::new();
    folder.refused(&["check", "nowhere.toml"], &["nowhere.toml", "cannot be read"]);
    folder.refused(&["check", "."], &["cannot be read"]);
    folder.write("p.toml", b"name = \"a\"\n# \xff\xfe\n");
    folder.refused(&["check", "p.toml"], &["p.toml", "line 2 is not UTF-8", "saved as UTF-8"]);
    folder.write("p.toml", b"\xff\xfen\0a\0");
    folder.refused(&["check", "p.toml"], &["p.toml", "UTF-16", "saved as UTF-8"]);
    folder.write("p.toml", "name = \"p\n");
    folder.refused(&["check", "p.toml"], &["p.toml:1:", "not valid TOML"]);
    folder.write("p.toml", PROBLEM);
    folder.refused(&["check", "p.toml", "--history", "p.toml"], &["p.toml", "cannot be the problem file"]);
}

#[test]
fn a_half_written_problem_is_refused_wherever_it_ends() {
    // Every cut either is refused with the file's name, or leaves a sound problem with fewer variables; never a crash.
    let folder = Folder::new();
    for end in (0..PROBLEM.len()).step_by(7) {
        folder.write("p.toml", &PROBLEM[..end]);
        let run = folder.run(&["check", "p.toml"]);
        assert!(run.code == 2 || (run.code == 0 && PROBLEM[..end].contains("x = ")), "{end}: {}", run.stderr);
        assert!(run.code == 0 || run.stderr.starts_with("error: p.toml"), "{end}: {}", run.stderr);
    }
}
