//! Progress on stderr, when it is a terminal.

use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use leafgp_solver::search::{Progress, ProgressCallback};

use super::output::Output;

/// A bar over evaluations, or a spinner for one proof.
#[derive(Debug)]
pub(super) struct Meter {
    bar: ProgressBar,
}

impl Meter {
    /// A bar over a known number of evaluations.
    pub(super) fn bar(length: usize, output: &Output) -> Self {
        Self::new(Some(length), "{bar:30} {pos}/{len} [{elapsed} < {eta}] {msg}", output)
    }

    /// A spinner with the elapsed time.
    pub(super) fn spinner(output: &Output) -> Self {
        Self::new(None, "{spinner} [{elapsed}] {msg}", output)
    }

    fn new(length: Option<usize>, template: &str, output: &Output) -> Self {
        let target = if output.is_quiet() || !stderr().is_terminal() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(length.map(|n| n as u64), target);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar }
    }

    /// Sets the number of steps once it is known.
    pub(super) fn set_length(&self, length: usize) {
        self.bar.set_length(length as u64);
        self.bar.reset_eta();
    }

    /// Takes the bar away while something else is written to the terminal.
    pub(super) fn suspend<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }

    /// True when nobody sees the meter.
    pub(super) fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }

    /// One evaluation is done.
    pub(super) fn step(&self, message: String) {
        self.bar.set_message(message);
        self.bar.inc(1);
    }

    /// Shows incumbent, bound and gap of a running proof, in the units of its values.
    pub(super) fn callback(&self) -> ProgressCallback {
        self.callback_in(|x| x)
    }

    /// [`Meter::callback`] in the objective's units.
    pub(super) fn callback_in(&self, units: impl Fn(f64) -> f64 + Send + Sync + 'static) -> ProgressCallback {
        let bar = self.bar.clone();
        ProgressCallback(Arc::new(move |progress: &Progress| {
            let incumbent =
                progress.objective.map_or("none".to_owned(), |value| format!("{:.5}", units(value)));
            bar.set_message(format!(
                "incumbent {incumbent}, bound {:.5}, gap {:.1e}, {} nodes",
                units(progress.best_bound),
                progress.gap,
                progress.nodes
            ));
        }))
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
