//! Work without the interpreter's lock, stopped by Ctrl-C.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use leafgp::engine::Context;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::failure::Failure;

/// How often Python is asked for signals.
const PATIENCE: Duration = Duration::from_millis(50);
/// Stack of the thread that works, as large as that of a main thread.
const STACK: usize = 8 << 20;

/// What came of work that was watched.
pub(crate) struct Watched<T> {
    pub(crate) result: T,
    /// Ctrl-C came: the result is the best found until then.
    pub(crate) is_interrupted: bool,
}

/// Does the work on a thread of its own while other threads of Python run; Ctrl-C raises the flag that the work looks at. A panic of the work is an error like others.
///
/// # Errors
/// What the work says; what a signal's handler raised, if it is no `KeyboardInterrupt`; after Ctrl-C without a result, the `KeyboardInterrupt`.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Context, &Arc<AtomicBool>) -> Result<T, Failure> + Send,
) -> PyResult<Watched<T>> {
    let flag = Arc::new(AtomicBool::new(false));
    let context = Context { interrupt: Some(Arc::clone(&flag)), ..Context::default() };
    let (result, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (done, finished) = channel();
            let (context, flag) = (&context, &flag);
            let worker = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
                let result = work(context, flag);
                // The receiver lives until this thread is joined.
                let _ = done.send(());
                result
            });
            let worker = match worker {
                Ok(worker) => worker,
                Err(error) => {
                    return (
                        Err(Failure::new("LeafgpError", format!("no thread can be started: {error}"))),
                        None,
                    );
                }
            };
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = finished.recv_timeout(PATIENCE) {
                if let Err(error) = Python::attach(signals) {
                    flag.store(true, Ordering::Relaxed);
                    raised = Some(error);
                }
            }
            let result = worker.join().unwrap_or_else(|payload| Err(panicked(payload.as_ref())));
            (result, raised)
        })
    });
    match (result, raised) {
        (result, None) => Ok(Watched { result: result?, is_interrupted: false }),
        (Ok(result), Some(error)) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            Ok(Watched { result, is_interrupted: true })
        }
        (_, Some(error)) => Err(error),
    }
}

/// Panics with the message, in the work of a thread or in the call itself: for the tests of what becomes of a mistake of leafgp.
#[pyfunction]
pub(crate) fn _panic(py: Python<'_>, message: String, in_work: bool) -> PyResult<()> {
    if !in_work {
        panic!("{message}");
    }
    watched(py, |_, _| -> Result<(), Failure> { panic!("{message}") }).map(|_| ())
}

/// What signals have raised.
fn signals(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

fn panicked(payload: &(dyn Any + Send)) -> Failure {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
    Failure::internal(format!("a mistake of leafgp, please report it: {text}"))
}
