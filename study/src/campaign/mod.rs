//! The report on one problem's experiments: where they stand, what is next and why, what is left to gain. One self-contained HTML page.

mod facts;
mod leaves;
mod limits;
mod next;
mod page;
mod sections;
mod slices;
#[cfg(test)]
mod tests;
mod words;

pub use facts::Campaign;
pub use page::page;
