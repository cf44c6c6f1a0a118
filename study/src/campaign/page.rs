//! The page: its frame and pieces of HTML.

use std::fmt::Write;

use super::facts::Campaign;
use super::{next, sections};
use crate::escape::escape;
use leafgp::problem::Variable;

const STYLE: &str = include_str!("style.css");
/// Nothing is loaded and nothing runs, whatever a file's text may hold.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// The page as one self-contained HTML document without scripts: light and dark, from phones to paper. The same campaign gives the same bytes.
pub fn page(campaign: &Campaign) -> String {
    let title = escape(campaign.problem().name());
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
    );
    sections::head(&mut text, campaign);
    sections::stop_sign(&mut text, campaign);
    next::next(&mut text, campaign);
    sections::progress_and_model(&mut text, campaign);
    sections::variables(&mut text, campaign);
    sections::active_limits(&mut text, campaign);
    sections::data(&mut text, campaign);
    let _ = write!(
        text,
        "<footer class=\"note\">leafgp {}, seed {}. All numbers are computed from the table as it was when this page was written.</footer>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
        campaign.problem().settings().seed
    );
    text
}

/// A headline of a section that can be linked to.
pub(super) fn headline(text: &mut String, id: &str, title: &str) {
    let _ = writeln!(text, "<h2 id=\"{id}\">{}</h2>", escape(title));
}

/// A paragraph; `class` may be empty.
pub(super) fn paragraph(text: &mut String, class: &str, content: &str) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let _ = writeln!(text, "<p{class}>{}</p>", escape(content));
}

/// A chart with its caption, which may be empty.
pub(super) fn figure(text: &mut String, id: &str, svg: &str, caption: &str) {
    let caption = match caption {
        "" => String::new(),
        _ => format!("<figcaption>{}</figcaption>\n", escape(caption)),
    };
    let _ = writeln!(text, "<figure id=\"{id}\">\n{svg}{caption}</figure>");
}

/// A column of a table.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// Numbers stand to the right.
    pub(super) is_number: bool,
}

impl Column {
    pub(super) fn text(name: &str) -> Self {
        Self { name: name.to_owned(), is_number: false }
    }

    /// Of a variable's values, with its unit.
    pub(super) fn of(variable: &Variable) -> Self {
        let name = match &variable.unit {
            Some(unit) => format!("{} [{unit}]", variable.name),
            None => variable.name.clone(),
        };
        Self { name, is_number: variable.levels().is_empty() }
    }

    pub(super) fn number(name: &str) -> Self {
        Self { name: name.to_owned(), is_number: true }
    }
}

/// A row of a table; `class` may be empty.
#[derive(Clone, Debug, Default)]
pub(super) struct TableRow {
    pub(super) class: &'static str,
    pub(super) cells: Vec<String>,
}

/// A table that scrolls by itself where it is too wide.
pub(super) fn table(text: &mut String, columns: &[Column], rows: &[TableRow]) {
    let class = |column: &Column| if column.is_number { " class=\"n\"" } else { "" };
    text.push_str("<div class=\"scroll\"><table>\n<thead><tr>");
    for column in columns {
        let _ = write!(text, "<th{}>{}</th>", class(column), escape(&column.name));
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        let of_row = if row.class.is_empty() { String::new() } else { format!(" class=\"{}\"", row.class) };
        let _ = write!(text, "<tr{of_row}>");
        for (column, cell) in columns.iter().zip(&row.cells) {
            let _ = write!(text, "<td{}>{}</td>", class(column), escape(cell));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody></table></div>\n");
}
