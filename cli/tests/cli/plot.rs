//! `leafgp plot`: pictures that are well-formed, the same every time, and clear refusals.

use crate::mixed::{MIXED, folder_with, mixed_history};
use crate::support::{Folder, PROBLEM};

fn parsed(svg: &str) -> roxmltree::Document<'_> {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|e| panic!("{e}\n{svg}"));
    assert_eq!(document.root_element().tag_name().name(), "svg");
    document
}

fn texts(document: &roxmltree::Document<'_>) -> Vec<String> {
    document
        .descendants()
        .filter(|n| n.has_tag_name("text"))
        .filter_map(|n| n.text())
        .map(str::to_owned)
        .collect()
}

#[test]
fn figure_1_comes_from_one_command() {
    let folder = Folder::new();
    let arguments = ["plot", "surface", "--function", "branin", "--sample", "40", "--output", "figure-1.svg"];
    let run = folder.run(&arguments);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    let svg = folder.read("figure-1.svg");
    let document = parsed(&svg);
    let contours = document.descendants().filter(|n| n.attribute("stroke-opacity") == Some("0.85")).count();
    assert_eq!(contours, 3 * 9, "nine levels on three maps");
    let texts = texts(&document);
    for part in ["mean of objective", "standard deviation of objective", "next experiment", "x0", "x1"] {
        assert!(texts.iter().any(|t| t == part), "{part}: {texts:?}");
    }
    folder.run(&[
        "plot",
        "surface",
        "--function",
        "branin",
        "--sample",
        "40",
        "-o",
        "again.svg",
        "--threads",
        "2",
    ]);
    assert_eq!(svg, folder.read("again.svg"));
    // Two variables only: everything is drawn, nothing is projected.
    assert!(!svg.contains("projected"));
}

#[test]
fn every_plot_of_a_mixed_constrained_problem_is_well_formed() {
    let mut history = mixed_history(24);
    history.push_str("0.5,0.1,xylene,2,100,\n");
    let folder = folder_with(MIXED, &history);
    folder.write("other.csv", mixed_history(10));
    let plots: [&[&str]; 9] = [
        &["plot", "surface", "p.toml"],
        &["plot", "surface", "p.toml", "--x", "resin", "--y", "filler", "--at", "solvent=water"],
        &["plot", "surface", "p.toml", "--x", "solvent", "--y", "bake temperature", "--no-suggestion"],
        &["plot", "surface", "p.toml", "-x", "passes", "--width", "900", "--height", "300", "--title", ""],
        &["plot", "convergence", "p.toml"],
        &["plot", "convergence", "p.toml", "--history", "p.csv", "--history", "other.csv", "--log"],
        &["plot", "parallel", "p.toml", "--best", "3"],
        &["plot", "importance", "p.toml"],
        &["plot", "importance", "p.toml", "--title", "a < b & \"c\""],
    ];
    for arguments in plots {
        let run = folder.run(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
        let document = parsed(&run.stdout);
        assert!(!run.stdout.contains("NaN"), "{arguments:?}");
        let size = |name| document.root_element().attribute(name).unwrap().to_owned();
        if arguments.contains(&"--width") {
            assert_eq!((size("width"), size("height")), ("900".to_owned(), "300".to_owned()));
        }
        assert_eq!(folder.run(arguments).stdout, run.stdout, "{arguments:?}");
    }
    let run = folder.run(plots[1]);
    assert!(run.stdout.contains("infeasible") && run.stdout.contains("solvent = water"), "{}", run.stdout);
}

#[test]
fn mistakes_are_named_and_nothing_is_written() {
    let history = "x,n,head,cost\n0.1,1,flat,3\n0.9,5,round,1\n0.4,2,flat,2\n";
    let folder = Folder::with_problem(PROBLEM);
    folder.write("p.csv", history);
    folder.write(
        "one.toml",
        "name = 'one'\n[objective]\nname = 'y'\ngoal = 'minimize'\n[variables]\nx = { type = 'binary' }\n",
    );
    folder.write("one.csv", "x,y\n0,1\n1,2\n");
    let cases: [(&[&str], &[&str]); 14] = [
        (&["plot", "surface", "missing.toml"], &["missing.toml"]),
        (&["plot", "surface", "p.toml", "--x", "hed"], &["--x", "hed", "head"]),
        (&["plot", "surface", "p.toml", "--x", "n", "--y", "n"], &["both", "\"n\""]),
        (&["plot", "surface", "p.toml", "--x", "n", "--y", "x", "--at", "n=3"], &["--at n", "axis"]),
        (&["plot", "surface", "p.toml", "--at", "n"], &["NAME=VALUE"]),
        (&["plot", "surface", "p.toml", "--at", "n=77"], &["n=77", "[1, 9]"]),
        (&["plot", "surface", "p.toml", "--at", "head=square"], &["square", "flat"]),
        (&["plot", "surface", "p.toml", "--at", "n=1", "--at", "n=2"], &["twice"]),
        (&["plot", "surface", "p.toml", "--function", "branin"], &["branin", "2"]),
        (&["plot", "surface", "--function", "branin"], &["--history", "--sample"]),
        (&["plot", "surface", "one.toml"], &["two variables"]),
        (&["plot", "convergence", "p.toml", "--history", "nowhere.csv"], &["nowhere.csv"]),
        (&["plot", "parallel", "p.toml", "-o", "no/folder/a.svg"], &["no/folder/a.svg"]),
        (&["plot", "importance", "p.toml", "--history", "p.toml"], &["p.toml"]),
    ];
    for (arguments, parts) in cases {
        folder.refused(arguments, parts);
    }
    for size in ["0", "-5", "1e9", "wide"] {
        let run = folder.run(&["plot", "parallel", "p.toml", "--width", size]);
        assert_eq!(run.code, 2, "--width {size}");
    }
    folder.write("p.csv", "x,n,head,cost\n0.1,1,flat,\n");
    folder.refused(&["plot", "surface", "p.toml", "--no-suggestion"], &["measured"]);
    folder.refused(&["plot", "importance", "p.toml"], &["measured"]);
}

#[test]
fn the_uncertainty_study_runs_resumes_and_draws() {
    let folder = Folder::new();
    let spec = "kind = \"agreement\"\nfunctions = [\"branin\"]\npoints = [12]\nseeds = [1, 2]\nratios = [0.5, 1.0]\n\
                [settings]\ntrees = { n_trees = 8 }\n";
    folder.write("s.toml", spec);
    let run = folder.run(&["study", "run", "s.toml", "--out", "out", "--shard", "1/2"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let run = folder.run(&["study", "run", "s.toml", "--out", "out"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("2 of 2 runs complete"), "{}", run.stdout);
    let csv = folder.read("out/agreement.csv");
    assert_eq!(csv.lines().count(), 3, "{csv}");
    parsed(&folder.read("out/agreement-branin-error.svg"));
    parsed(&folder.read("out/agreement-branin-mean.svg"));
    let run = folder.run(&["study", "report", "out"]);
    assert_eq!((run.code, run.stdout.trim()), (0, "out/report/report.html"), "{}", run.stderr);
    assert_eq!(folder.read("out/report/agreement.csv"), csv);
    assert_eq!(folder.read("out/report/report.html").matches("<svg").count(), 2);
    folder.refused(&["study", "report", "out", "--baseline", "paper"], &["out", "--baseline"]);
    for shard in ["1/2", "2/2"] {
        let part = format!("part{}", &shard[..1]);
        let run = folder.run(&["study", "run", "s.toml", "--out", &part, "--shard", shard]);
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    let run = folder.run(&["study", "merge", "part1", "part2", "--out", "merged"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(folder.run(&["study", "report", "merged"]).code, 0);
    assert_eq!(folder.read("merged/report/report.html"), folder.read("out/report/report.html"));
    let ordinary =
        "iterations = 1\nseeds = [1]\n[[method]]\nname = \"random\"\n[[problem]]\nfunction = \"branin\"\n";
    folder.write("ordinary.toml", ordinary);
    folder.refused(&["study", "run", "ordinary.toml", "--out", "out"], &["out", "agreement.json"]);
    assert_eq!(folder.run(&["study", "run", "ordinary.toml", "--out", "plain"]).code, 0);
    folder.refused(&["study", "run", "s.toml", "--out", "plain"], &["plain", "study.json"]);
    folder.refused(&["study", "merge", "part1", "--out", "plain"], &["plain", "study.json"]);
    folder.refused(&["study", "merge", "plain", "--out", "out"], &["plain", "uncertainty study"]);
    folder.write("other.toml", spec.replace("n_trees = 8", "n_trees = 9"));
    let run = folder.run(&["study", "run", "other.toml", "--out", "out"]);
    assert_eq!(run.code, 2, "results of other settings are not mixed: {}", run.stdout);
    folder.write("bad.toml", spec.replace("branin", "brainin"));
    folder.refused(&["study", "run", "bad.toml", "--out", "out2"], &["bad.toml", "brainin"]);
}
