//! Aligned columns for people.

use leafgp::problem::format_significant;

/// Lines of a table with a header: columns as wide as their widest cell, two blanks between them, numbers (every cell of a column reads as one, or is blank or `-`) to
/// the right.
pub(super) fn text_table(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([header[column].chars().count()]).max().unwrap_or(0)
    };
    let is_number = |column: usize| {
        rows.iter().all(|row| {
            let cell = row[column].trim();
            cell.is_empty() || cell == "-" || cell.parse::<f64>().is_ok()
        })
    };
    let columns: Vec<(usize, bool)> =
        (0..header.len()).map(|column| (width(column), is_number(column))).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (cell, &(width, right)) in cells.zip(&columns) {
            let blanks = " ".repeat(width - cell.chars().count());
            text += &if right { format!("{blanks}{cell}  ") } else { format!("{cell}{blanks}  ") };
        }
        text.trim_end().to_owned() + "\n"
    };
    let mut text = line(&mut header.iter().copied());
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}

/// A number in few digits for tables: six significant ones.
pub(super) fn short(x: f64) -> String {
    if x == 0.0 || (1e-4..1e7).contains(&x.abs()) { format_significant(x, 6) } else { format!("{x:.5e}") }
}

#[cfg(test)]
mod tests {
    use super::{short, text_table};

    #[test]
    fn numbers_stand_to_the_right_and_text_to_the_left() {
        let rows = [vec!["a".into(), "1.5".into()], vec!["long".into(), "-".into()]];
        assert_eq!(text_table(&["name", "value"], &rows), "name  value\na       1.5\nlong      -\n");
    }

    #[test]
    fn six_digits_are_enough_for_a_table() {
        for (x, expected) in [
            (0.0, "0"),
            (6059.714335, "6059.71"),
            (-0.397887, "-0.397887"),
            (1e-7, "1.00000e-7"),
            (12.5, "12.5"),
            (1234567.0, "1234567"),
        ] {
            assert_eq!(short(x), expected);
        }
    }
}
