//! A mixed problem with a categorical implication, a grid and a sum, and rows for it.

use crate::support::Folder;

/// The problem; `p.toml` of a folder.
pub(crate) const MIXED: &str = r#"
name = "mixed"

[objective]
name = "hardness"
goal = "maximize"

[variables]
resin = { type = "continuous", bounds = [0.2, 0.8] }
filler = { type = "continuous", bounds = [0.0, 0.6], step = 0.05 }
solvent = { type = "categorical", levels = ["xylene", "butanol", "water"] }
passes = { type = "integer", bounds = [1, 5] }
"bake temperature" = { type = "continuous", bounds = [60.0, 180.0] }

[constraints]
"room for solvent" = "resin + filler <= 0.9"
"water boils" = "solvent == 'water' implies `bake temperature` <= 95"

[settings]
seed = 3
"#;

/// A folder with the problem and, unless it is empty, its history `p.csv`.
pub(crate) fn folder_with(problem: &str, history: &str) -> Folder {
    let folder = Folder::with_problem(problem);
    if !history.is_empty() {
        folder.write("p.csv", history);
    }
    folder
}

/// Measured rows of [`MIXED`], from a made-up formula.
pub(crate) fn mixed_history(n_rows: usize) -> String {
    let mut text = "resin,filler,solvent,passes,bake temperature,hardness\n".to_owned();
    for i in 0..n_rows {
        let resin = 0.2 + 0.6 * (0.37 * i as f64).fract();
        let filler = (20 * i % 65) as f64 / 100.0 / 2.0;
        let filler = (filler / 0.05).floor() * 5.0 / 100.0;
        let (solvent, offset) = [("xylene", 1.0), ("butanol", 0.4), ("water", 1.6)][i % 3];
        let bake = if solvent == "water" { 60.0 + (7 * i % 35) as f64 } else { 60.0 + (17 * i % 120) as f64 };
        let passes = 1 + i % 5;
        let value = offset - (resin - 0.5).powi(2) - filler + 0.1 * passes as f64 + 0.002 * bake;
        let resin = resin.min(0.9 - filler);
        text += &format!("{resin},{filler},{solvent},{passes},{bake},{value}\n");
    }
    text
}
