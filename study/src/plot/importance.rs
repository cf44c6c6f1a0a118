//! Bars of the variables' importances.

use super::axis::{Axis, Scale, short};
use super::document::{Anchor, Document, GRID, INK, Size, Style, TICK_SIZE, fitted, text_width};
use super::frame::{heading, whole};
use super::palette::line_colour;

/// How much each variable matters, in several measures side by side.
///
/// ```
/// use leafgp_study::plot::ImportanceChart;
///
/// let chart = ImportanceChart {
///     title: "reactor".into(),
///     names: vec!["temperature".into(), "solvent".into()],
///     measures: vec![("gain".into(), vec![0.3, 0.7])],
/// };
/// assert!(chart.svg().contains("solvent"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportanceChart {
    /// Above the chart; may be empty.
    pub title: String,
    /// The variables' names.
    pub names: Vec<String>,
    /// The measures: name, and one number `>= 0` for each variable.
    pub measures: Vec<(String, Vec<f64>)>,
}

impl ImportanceChart {
    /// The chart as one self-contained `<svg>` element, high enough for its variables, which are ordered by the first measure.
    pub fn svg(&self) -> String {
        self.svg_sized(Size::new(840.0, 90.0 + 24.0 * self.names.len() as f64))
    }

    /// [`ImportanceChart::svg`] in another size.
    pub fn svg_sized(&self, size: Size) -> String {
        let mut document = Document::new(size, &self.title);
        let area = heading(&mut document, whole(size), &self.title, &[]);
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        if let Some((_, first)) = self.measures.first() {
            order.sort_by(|&a, &b| first[b].total_cmp(&first[a]).then(a.cmp(&b)));
        }
        let longest = self.names.iter().map(|n| text_width(n, TICK_SIZE)).fold(0.0, f64::max);
        let names = longest.min(0.3 * area.width());
        let left = area.left + names + 8.0;
        let (top, bottom) = (area.top + TICK_SIZE + 10.0, area.bottom - TICK_SIZE - 8.0);
        let pitch = (bottom - top).max(1.0) / order.len().max(1) as f64;
        let middle = |k: usize| top + (k as f64 + 0.5) * pitch;
        for (k, &variable) in order.iter().enumerate() {
            let label = fitted(&self.names[variable], TICK_SIZE, names);
            let style = Style::new(TICK_SIZE, Anchor::End);
            document.text(left - 6.0, middle(k) + 0.36 * TICK_SIZE, &label, style);
        }
        let width = (area.right - left) / self.measures.len().max(1) as f64;
        for (m, (title, values)) in self.measures.iter().enumerate() {
            let from = left + m as f64 * width;
            let largest = values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
            let upper = if largest > 0.0 { largest } else { 1.0 };
            // Room for the numbers beside the bars.
            let axis = Axis { scale: Scale::Linear { lower: 0.0, upper }, from, to: from + width - 62.0 };
            // Bold letters are wider.
            let text = fitted(title, 1.15 * TICK_SIZE, width - 8.0);
            document.text(from, area.top + TICK_SIZE, &text, Style::new(TICK_SIZE, Anchor::Start).bold());
            for tick in axis.ticks(45.0) {
                document.line((tick.at, top), (tick.at, bottom), GRID);
                let style = Style::new(TICK_SIZE, Anchor::Middle);
                document.text(tick.at, bottom + TICK_SIZE + 3.0, &tick.label, style);
            }
            for (k, &variable) in order.iter().enumerate() {
                let value = values[variable];
                let end = axis.position(if value.is_finite() { value.max(0.0) } else { 0.0 });
                let height = (0.7 * pitch).min(18.0);
                let bar = document.element("rect").num("x", from).num("y", middle(k) - 0.5 * height);
                let bar = bar.num("width", end - from).num("height", height).str("fill", line_colour(m));
                bar.titled(&format!("{}: {}", self.names[variable], short(value)));
                let style = Style::new(TICK_SIZE, Anchor::Start);
                document.text(end + 4.0, middle(k) + 0.36 * TICK_SIZE, &three_digits(value), style);
            }
            document.line((from, top), (from, bottom), INK);
        }
        document.finish()
    }
}

/// A number beside a bar; the hover text has more digits.
fn three_digits(x: f64) -> String {
    short(format!("{x:.2e}").parse().unwrap_or(x))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{attribute, parse};
    use super::ImportanceChart;

    #[test]
    fn bars_are_ordered_by_the_first_measure_and_as_long_as_their_numbers() {
        let chart = ImportanceChart {
            title: "t".into(),
            names: vec!["a <1>".into(), "b".into(), "c".into()],
            measures: vec![("gain %".into(), vec![10.0, 60.0, 30.0]), ("splits".into(), vec![4.0, 2.0, 0.0])],
        };
        let svg = chart.svg();
        let document = parse(&svg);
        let bars: Vec<(String, f64)> = document
            .descendants()
            .filter(|n| n.has_tag_name("rect") && n.has_children())
            .map(|n| {
                let title = n.descendants().find_map(|c| c.text()).unwrap().to_owned();
                (title, attribute(&n, "width").parse().unwrap())
            })
            .collect();
        let titles: Vec<&str> = bars.iter().map(|(title, _)| title.as_str()).collect();
        assert_eq!(titles, ["b: 60", "c: 30", "a <1>: 10", "b: 2", "c: 0", "a <1>: 4"]);
        assert!(
            (bars[1].1 / bars[0].1 - 0.5).abs() < 1e-3 && (bars[2].1 / bars[0].1 - 1.0 / 6.0).abs() < 1e-3
        );
        assert_eq!(bars[4].1, 0.0);
    }

    #[test]
    fn no_measures_or_zeros_are_well_formed() {
        parse(&ImportanceChart::default().svg());
        let zeros = ImportanceChart {
            title: "t".into(),
            names: vec!["a".into()],
            measures: vec![("m".into(), vec![0.0])],
        };
        parse(&zeros.svg());
    }
}
