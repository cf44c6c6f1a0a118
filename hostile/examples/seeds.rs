//! Writes the seeds that are made, and not written by hand, into `fuzz/corpus`: proofs and models of our own trainer.

use std::path::Path;

use leafgp::Table;
use leafgp::gbdt::{GbdtSettings, train_ensemble};
use leafgp::solver::Domain;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    for (i, proof) in leafgp_hostile::true_proofs().iter().enumerate() {
        std::fs::write(corpus.join(format!("certificate/proof{i}")), proof)?;
    }
    for file in ["small.certificate", "infeasible.certificate"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../solver/tests/golden").join(file);
        std::fs::write(corpus.join("certificate").join(file), [&[255][..], &std::fs::read(path)?].concat())?;
    }
    let domains = [Domain::Continuous { lower: 0.0, upper: 1.0 }, Domain::Categorical { levels: 3 }];
    let rows: Vec<Vec<f64>> = (0..30).map(|i| vec![f64::from(i) / 30.0, f64::from(i % 3)]).collect();
    let targets: Vec<f64> = rows.iter().map(|row| row[0] * row[0] - 0.3 * row[1]).collect();
    for (name, n_trees) in [("one.json", 1), ("three.json", 3)] {
        let mut settings = GbdtSettings::default();
        (settings.n_trees, settings.min_data_in_leaf, settings.min_data_in_bin) = (n_trees, 2, 1);
        let model = train_ensemble(&Table::from_rows(2, &rows), &domains, &targets, None, &settings, 1)?;
        std::fs::write(corpus.join("own_model").join(name), model.to_json())?;
    }
    Ok(())
}
