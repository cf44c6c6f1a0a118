//! Pieces of reports: the frame of a page, tables, numbers.

use std::fmt::Write;

use crate::escape::escape;
use leafgp::problem::{format_number, format_significant};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}\
h1,h2,h3{line-height:1.2}table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}\
th,td{padding:.2rem .7rem;border-bottom:1px solid #ddd;text-align:right}th:first-child,td:first-child,.text{text-align:left}\
svg{max-width:100%;height:auto}.first{font-weight:bold}.note{color:#555}";

/// The beginning of a page, its title as a headline.
pub(crate) fn begin(title: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    )
}

/// The end of a page.
pub(crate) const END: &str = "</body>\n</html>\n";

/// A table whose cells are text; `first` is the row to stress.
pub(crate) fn table(text: &mut String, header: &[&str], rows: &[Vec<String>], first: Option<usize>) {
    text.push_str("<table>\n<tr>");
    for name in header {
        let _ = write!(text, "<th>{name}</th>");
    }
    text.push_str("</tr>\n");
    for (i, row) in rows.iter().enumerate() {
        text.push_str(if first == Some(i) { "<tr class=\"first\">" } else { "<tr>" });
        for cell in row {
            let _ = write!(text, "<td>{}</td>", escape(cell));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table>\n");
}

/// Six significant digits; a dash for what is missing.
pub(crate) fn digits(x: f64) -> String {
    match x.abs() {
        _ if !x.is_finite() => "-".to_owned(),
        size if size == 0.0 || (1e-3..1e7).contains(&size) => format_significant(x, 6),
        _ => format!("{x:.3e}"),
    }
}

/// A cell of a CSV file: every digit; empty for what is infinite or missing.
pub(crate) fn cell(x: f64) -> String {
    if x.is_finite() { format_number(x) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 6059.714335, -1e-7, 12.5, f64::INFINITY].map(digits);
        assert_eq!(shown, ["0", "6059.71", "-1.000e-7", "12.5", "-"]);
    }
}
