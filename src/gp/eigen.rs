//! The eigendecomposition of a symmetric matrix: nearly all of the time of a fit.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{
    ComputeEigenvectors, SelfAdjointEvdParams, self_adjoint_evd, self_adjoint_evd_scratch,
};
use faer::{Auto, Mat, Par, Spec};
use leafgp_solver::constraints::Limits;

use super::GpError;

/// Rows from which on a decomposition may take longer than one waits for a limit, so that it is done on a thread of its own.
const WATCHED_ROWS: usize = 1_000;
/// How often a limit is looked at meanwhile.
const PATIENCE: Duration = Duration::from_millis(20);

/// Eigenvalues in descending order, eigenvectors as columns in *ascending* order of eigenvalue, and the number of eigenvalues that are
/// not 0 within rounding.
#[derive(Debug)]
pub(super) struct Eigen {
    pub(super) values: Vec<f64>,
    pub(super) vectors: Mat<f64>,
    pub(super) rank: usize,
}

/// Decomposes a symmetric matrix given by its lower triangle; one thread works, so the result does not depend on how many there are.
///
/// # Errors
/// [`GpError::Stopped`] when the limits end it. The library cannot be stopped: its thread is left to itself then, and ends with the decomposition or the process.
pub(super) fn eigen(matrix: Mat<f64>, limits: &Limits) -> Result<Eigen, GpError> {
    let n = matrix.nrows();
    if n < WATCHED_ROWS || limits.deadline.is_none() && limits.interrupt.is_none() {
        return decompose(&matrix);
    }
    if limits.must_stop() {
        return Err(GpError::Stopped);
    }
    let (done, finished) = channel();
    let work = move || {
        // Nobody may wait any more.
        let _ = done.send(decompose(&matrix));
    };
    if thread::Builder::new().spawn(work).is_err() {
        return Err(GpError::Eigen { size: n });
    }
    loop {
        match finished.recv_timeout(PATIENCE) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) if limits.must_stop() => return Err(GpError::Stopped),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(GpError::Eigen { size: n }),
        }
    }
}

fn decompose(matrix: &Mat<f64>) -> Result<Eigen, GpError> {
    let n = matrix.nrows();
    let mut vectors = Mat::zeros(n, n);
    let mut values = faer::diag::Diag::<f64>::zeros(n);
    // Divide and conquer pays for smaller matrices than the library assumes: about 15 % less time from 100 to 400 rows.
    let mut parameters: SelfAdjointEvdParams = Auto::<f64>::auto();
    parameters.recursion_threshold = 32;
    let parameters = Spec::new(parameters);
    let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, parameters);
    let mut memory = MemBuffer::new(scratch);
    self_adjoint_evd(
        matrix.as_ref(),
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut memory),
        parameters,
    )
    .map_err(|_| GpError::Eigen { size: n })?;
    let values: Vec<f64> = (0..n).rev().map(|k| values.column_vector()[k]).collect();
    let threshold = values.first().map_or(0.0, |largest| largest * n as f64 * f64::EPSILON);
    let rank = values.iter().take_while(|&&value| value > threshold).count();
    Ok(Eigen { values, vectors, rank })
}

/// Rows of the matrices by whose decomposition the speed of this machine is told, one after the other until one promises enough, and how often each is tried. The cube of a row of a large
/// matrix costs less than of a small one (from 256 rows to 512 a quarter, to 2,000 half), so that the estimate is rather too high. Of the short ones the fastest counts, which nothing
/// interrupted; the long ones tell what share of the machine is ours, and count together.
const PROBE_ROWS: [usize; 2] = [256, 512];
const PROBES: usize = 3;
/// Seconds for the cube of a row that no machine exceeds, by far: an estimate that needs no probe.
const MOST_SECONDS: f64 = 1e-8;

/// Estimates how long a decomposition takes.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Seconds for the cube of a row by the short and the long probe, once they were measured.
    seconds: [Option<f64>; PROBE_ROWS.len()],
}

impl Pace {
    /// Whether `n` rows are decomposed by the deadline, in all likelihood. The clock does not decide about what certainly ends by then.
    pub(crate) fn is_done_by(&mut self, n: usize, deadline: Instant) -> bool {
        let cube = (n as f64).powi(3);
        let ends_by = |seconds: f64| {
            let duration = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
            Instant::now().checked_add(duration).is_some_and(|end| end <= deadline)
        };
        let [short, long] = &mut self.seconds;
        let fastest = |times: [f64; PROBES]| times.into_iter().fold(f64::INFINITY, f64::min);
        let mean = |times: [f64; PROBES]| times.into_iter().sum::<f64>() / PROBES as f64;
        ends_by(cube * MOST_SECONDS)
            || ends_by(cube * *short.get_or_insert_with(|| fastest(probed(PROBE_ROWS[0]))))
            || ends_by(cube * *long.get_or_insert_with(|| mean(probed(PROBE_ROWS[1]))))
    }
}

/// Seconds for the cube of a row of `n` by each of a few decompositions.
fn probed(n: usize) -> [f64; PROBES] {
    // Any matrix without structure.
    let matrix = Mat::from_fn(n, n, |i, j| ((i * 31 + j * 17) % 101) as f64 + if i == j { 1e4 } else { 0.0 });
    [(); PROBES].map(|()| {
        let started = Instant::now();
        let _ = decompose(&matrix);
        started.elapsed().as_secs_f64() / (n as f64).powi(3)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::time::{Duration, Instant};

    use faer::Mat;
    use leafgp_solver::constraints::Limits;

    use super::{Pace, WATCHED_ROWS, eigen};
    use crate::gp::GpError;

    fn matrix(n: usize) -> Mat<f64> {
        Mat::from_fn(n, n, |i, j| ((i * j + i + j) % 13) as f64 + if i == j { 50.0 } else { 0.0 })
    }

    #[test]
    fn the_thread_of_its_own_changes_nothing() {
        let n = WATCHED_ROWS;
        let alone = eigen(matrix(n), &Limits::default()).unwrap();
        let interrupt = Some(Arc::new(AtomicBool::new(false)));
        let watched = eigen(matrix(n), &Limits { interrupt, ..Limits::default() }).unwrap();
        assert_eq!((alone.values, alone.rank), (watched.values, watched.rank));
        assert_eq!(alone.vectors, watched.vectors);
    }

    #[test]
    fn limits_end_a_large_decomposition_and_no_small_one() {
        let past = Limits { deadline: Some(Instant::now()), ..Limits::default() };
        let raised = Limits { interrupt: Some(Arc::new(AtomicBool::new(true))), ..Limits::default() };
        for limits in [past, raised] {
            assert_eq!(eigen(matrix(WATCHED_ROWS), &limits).unwrap_err(), GpError::Stopped);
            assert!(eigen(matrix(20), &limits).is_ok());
        }
    }

    #[test]
    fn a_deadline_is_kept_by_few_rows_and_not_by_many() {
        let soon = Instant::now() + Duration::from_secs(1_000);
        let mut pace = Pace::default();
        assert!(pace.is_done_by(1_000, soon));
        assert_eq!(pace.seconds, [None; 2], "what certainly ends needs no probe");
        assert!(!pace.is_done_by(100_000_000, soon));
        assert!(pace.seconds.iter().all(Option::is_some), "no probe is left out before it is given up");
        assert!(!pace.is_done_by(1, Instant::now() - Duration::from_secs(1)));
    }
}
