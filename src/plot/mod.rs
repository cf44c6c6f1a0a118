//! Charts as SVG: data in, one self-contained `<svg>` element out.
//!
//! No fonts, scripts or style sheets from elsewhere; the same data give the same bytes; several charts can stand in one HTML page.

mod axis;
mod band;
mod document;
mod frame;
mod palette;
#[cfg(test)]
mod testing;

pub use band::{Band, BandChart};
pub use document::Size;
