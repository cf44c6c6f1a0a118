//! Proofs on file.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use leafgp::acquisition::AcquisitionProblem;
use leafgp::instance::Instance;
use leafgp_solver::certificate::{Certificate, WorkBudget, verify_within};
use leafgp_solver::fnv::fnv;
use leafgp_solver::search::certify;
use leafgp_solver::{SearchOptions, minimize};

/// Small instances with and without constraints; one holds no point.
const INSTANCES: [&str; 3] = [
    include_str!("../instances/plain.json"),
    include_str!("../instances/constrained.json"),
    include_str!("../instances/infeasible.json"),
];

/// Bytes of a file before the bound: its kind and version, and the problem's digest.
const HEADER: usize = 16;
const CHECKSUM: usize = 8;

struct Known {
    problem: AcquisitionProblem,
    header: [u8; HEADER],
    /// The proof behind the header and before the checksum.
    body: Vec<u8>,
    /// The best objective, proved.
    best: f64,
}

fn known() -> &'static [Known] {
    static KNOWN: OnceLock<Vec<Known>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        INSTANCES
            .iter()
            .map(|text| {
                let problem = Instance::parse(text, "instance.json").unwrap().problem().unwrap();
                let mut options = SearchOptions::default();
                options.gap = 0.0;
                let report = minimize(&problem.search(), &options).unwrap();
                let best = report.incumbent.as_ref().map_or(f64::INFINITY, |incumbent| incumbent.objective);
                let bytes = certify(&problem.search(), &report, &options).unwrap().write();
                let body = bytes[HEADER..bytes.len() - CHECKSUM].to_vec();
                Known { header: bytes[..HEADER].try_into().unwrap(), body, problem, best }
            })
            .collect()
    })
}

/// A proof. The first byte says whose: of a small instance, or of none; then come the bytes of the file behind the digest and before the checksum, which are put round
/// them (whole files for none). What is read is written as it was, and no bound above the optimum is accepted.
pub fn certificate(bytes: &[u8]) {
    let Some((kind, body)) = bytes.split_first() else { return };
    let Some(known) = known().get(*kind as usize) else {
        return drop(read(body));
    };
    let mut file = known.header.to_vec();
    file.extend(body);
    file.extend(fnv(&file).to_le_bytes());
    let Some(certificate) = read(&file) else { return };
    let deadline = Instant::now() + Duration::from_secs(1);
    let budget = WorkBudget { node: 10_000_000, total: 100_000_000, deadline: Some(deadline) };
    if let Ok(verified) = verify_within(&known.problem.search(), &certificate, budget) {
        let slack = 1e-9 * known.best.abs().max(1.0);
        assert!(verified.bound <= known.best + slack, "{} was accepted above {}", verified.bound, known.best);
    }
}

fn read(file: &[u8]) -> Option<Certificate> {
    let certificate = Certificate::read(file).ok()?;
    assert_eq!(certificate.write(), file);
    Some(certificate)
}

/// Inputs of [`certificate`]: the true proof of each small instance.
#[must_use]
pub fn true_proofs() -> Vec<Vec<u8>> {
    let input = |(kind, known): (usize, &Known)| [&[kind as u8][..], &known.body].concat();
    known().iter().enumerate().map(input).collect()
}

#[cfg(test)]
mod tests {
    use super::{known, read, true_proofs};
    use leafgp_solver::certificate::{Certificate, verify};
    use leafgp_solver::fnv::fnv;

    /// The target's own reading of its bytes, so that a corpus of proofs is one.
    #[test]
    fn true_proofs_are_read_and_accepted() {
        let infinite = known().iter().filter(|known| known.best.is_infinite()).count();
        assert_eq!(infinite, 1);
        for (input, known) in true_proofs().iter().zip(known()) {
            let mut file = [&known.header[..], &input[1..]].concat();
            file.extend(fnv(&file).to_le_bytes());
            let proof: Certificate = read(&file).unwrap();
            verify(&known.problem.search(), &proof).unwrap();
        }
    }
}
