//! Makes the seeds that are not written by hand, proofs and models of our own trainer, and writes them into the folder that is given: `fuzz/corpus`.

use std::path::{Path, PathBuf};

use leafgp::Table;
use leafgp::gbdt::{GbdtSettings, train_ensemble};
use leafgp::solver::Domain;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seeds = seeds()?;
    assert_eq!(seeds.len(), 7);
    match std::env::args().nth(1) {
        None => println!("{} seeds; give a folder to write them", seeds.len()),
        Some(folder) => {
            for (name, bytes) in seeds {
                std::fs::write(Path::new(&folder).join(name), bytes)?;
            }
        }
    }
    Ok(())
}

/// Path within the corpus, and content.
type Seed = (PathBuf, Vec<u8>);

fn seeds() -> Result<Vec<Seed>, Box<dyn std::error::Error>> {
    let proofs = leafgp_hostile::true_proofs().into_iter().enumerate();
    let mut seeds: Vec<Seed> =
        proofs.map(|(i, proof)| (format!("certificate/proof{i}").into(), proof)).collect();
    for file in ["small.certificate", "infeasible.certificate"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../solver/tests/golden").join(file);
        seeds.push((Path::new("certificate").join(file), [&[255][..], &std::fs::read(path)?].concat()));
    }
    let domains = [Domain::Continuous { lower: 0.0, upper: 1.0 }, Domain::Categorical { levels: 3 }];
    let rows: Vec<Vec<f64>> = (0..30).map(|i| vec![f64::from(i) / 30.0, f64::from(i % 3)]).collect();
    let targets: Vec<f64> = rows.iter().map(|row| row[0] * row[0] - 0.3 * row[1]).collect();
    for (name, n_trees) in [("one.json", 1), ("three.json", 3)] {
        let mut settings = GbdtSettings::default();
        (settings.n_trees, settings.min_data_in_leaf, settings.min_data_in_bin) = (n_trees, 2, 1);
        let model = train_ensemble(&Table::from_rows(2, &rows), &domains, &targets, None, &settings, 1)?;
        seeds.push((Path::new("own_model").join(name), model.to_json().into_bytes()));
    }
    Ok(seeds)
}
