//! Studies as a library: the same bytes whatever happens on the way, methods, black boxes, reports.

#[cfg(unix)]
mod external;
mod format_1;
mod methods;
mod report;
mod reproducible;
mod support;
