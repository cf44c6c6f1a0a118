//! Charts as SVG: data in, one self-contained `<svg>` element out.
//!
//! No fonts, scripts or style sheets from elsewhere; the same data give the same bytes; several charts can stand in one HTML page.

mod axis;
mod band;
mod cells;
mod contour;
mod convergence;
mod document;
mod frame;
mod hope;
mod importance;
mod palette;
mod parallel;
mod predicted;
mod slice;
mod surface;
mod surface_chart;
#[cfg(test)]
mod testing;

pub use band::{Band, BandChart};
pub use cells::CellAxis;
pub use convergence::{ConvergenceChart, Progress, Trial};
pub use document::Size;
pub use hope::HopeChart;
pub use importance::ImportanceChart;
pub use parallel::ParallelChart;
pub use predicted::{Predicted, PredictedChart};
pub use slice::{SliceAxis, SliceChart};
pub use surface::Surface;
pub use surface_chart::{MarkedPoint, Marker, SurfaceChart, marked_rows};
