//! The report on one problem's experiments: where they stand, what is next and why, what is left to gain. One self-contained HTML page.

mod facts;
mod leaves;
mod limits;
mod page;
mod sections;
mod slices;
#[cfg(test)]
mod tests;

pub use facts::Campaign;
pub use page::page;
