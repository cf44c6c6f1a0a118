//! Studies as a library: the same bytes whatever happens on the way, methods, black boxes, reports.

#[cfg(unix)]
mod external;
mod methods;
mod report;
mod reproducible;
mod support;
