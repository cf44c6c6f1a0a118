//! Parallel coordinates: every experiment a line across one axis for each variable and one for the objective.

use super::axis::{Axis, Scale, short};
use super::document::{Anchor, Document, INK, LABEL_SIZE, Path, Size, Style, TICK_SIZE, fitted, text_width};
use super::frame::{Area, Mark, heading, whole};
use super::palette::sequential;
use leafgp::history::{History, Row};
use leafgp::problem::{Kind, Problem, Scale as VariableScale, Variable, format_number};

/// Up to this many allowed numbers an axis shows each of them.
const MOST_LISTED: usize = 12;
const BEST: &str = "#d55e00";

/// Parallel coordinates of a history.
///
/// ```
/// use leafgp::history::History;
/// use leafgp_study::functions;
/// use leafgp_study::plot::ParallelChart;
///
/// let place = tempfile::tempdir()?;
/// let table = place.path().join("runs.csv");
/// std::fs::write(&table, "x0,x1,objective\n1,2,3.5\n4,5,1.5\n")?;
/// let problem = functions::find("branin")?.problem()?;
/// let history = History::read(&table, &problem)?;
/// let chart = ParallelChart { title: "branin".into(), problem: &problem, history: &history, best: 1 };
/// assert!(chart.svg().starts_with("<svg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ParallelChart<'a> {
    /// Above the chart; may be empty.
    pub title: String,
    /// The problem.
    pub problem: &'a Problem,
    /// Its experiments; pending and failed ones are left out.
    pub history: &'a History,
    /// How many of the best experiments stand out.
    pub best: usize,
}

impl ParallelChart<'_> {
    /// Height of [`ParallelChart::svg`], and the width of its narrowest version, in pixels.
    pub const SIZE: Size = Size { width: 720.0, height: 420.0 };

    /// The chart as one self-contained `<svg>` element, wide enough for its axes.
    pub fn svg(&self) -> String {
        let axes = self.problem.variables().len() + 1;
        self.svg_sized(Size::new(Self::SIZE.width.max(95.0 * axes as f64), Self::SIZE.height))
    }

    /// [`ParallelChart::svg`] in another size.
    pub fn svg_sized(&self, size: Size) -> String {
        let mut document = Document::new(size, &self.title);
        let rows = self.ordered();
        let n_best = rows.iter().rev().take(self.best).filter(|(row, _)| row.is_eligible()).count();
        let mut legend = Vec::new();
        if n_best > 0 {
            let text = if n_best == 1 { "best".to_owned() } else { format!("best {n_best}") };
            legend.push((text, Mark::Line { colour: BEST, dash: "" }));
        }
        legend.push(("others, brighter is better".to_owned(), Mark::Line { colour: "#21918c", dash: "" }));
        if rows.iter().any(|(row, _)| !row.is_eligible()) {
            legend.push(("infeasible".to_owned(), Mark::Line { colour: "#999999", dash: "3 3" }));
        }
        let area = heading(&mut document, whole(size), &self.title, &legend);
        let area = Area {
            left: area.left + 40.0,
            right: area.right - 46.0,
            top: area.top + 2.0 * TICK_SIZE + 12.0,
            bottom: area.bottom - 8.0,
        };
        let axes = self.axes(area, &rows);
        let n = axes.len();
        let at = |k: usize| area.left + k as f64 / (n - 1).max(1) as f64 * area.width();
        for (i, (row, value)) in rows.iter().enumerate() {
            let line = |k: usize| {
                let position = match self.problem.variables().get(k) {
                    Some(variable) => coordinate(variable, row.point[k]),
                    None => *value,
                };
                (at(k), axes[k].position(position).clamp(area.top - 6.0, area.bottom + 6.0))
            };
            let path = Path::through((0..n).map(line));
            let element = document.element("path").str("d", path.as_str()).str("fill", "none");
            let element = if !row.is_eligible() {
                element.str("stroke", "#999999").str("stroke-dasharray", "3 3").str("stroke-opacity", "0.6")
            } else if i + n_best >= rows.len() {
                element.str("stroke", BEST).str("stroke-width", "2.2")
            } else {
                // The rows stand from worst to best.
                let share = i as f64 / rows.len().max(2) as f64;
                element.str("stroke", &sequential(share)).str("stroke-opacity", "0.55")
            };
            let objective = &self.problem.objective().name;
            element.titled(&format!("{objective} {}{}", short(*value), place(row)));
        }
        for (k, axis) in axes.iter().enumerate() {
            self.draw_axis(&mut document, axis, k, at(k), area.width() / (n - 1).max(1) as f64);
        }
        if rows.is_empty() {
            let style = Style::new(LABEL_SIZE, Anchor::Middle);
            let middle = (0.5 * (area.left + area.right), 0.5 * (area.top + area.bottom));
            document.text(middle.0, middle.1, "no experiment was measured yet", style);
        }
        document.finish()
    }

    /// The measured rows: infeasible ones, then from worst to best.
    fn ordered(&self) -> Vec<(&Row, f64)> {
        let goal = self.problem.objective().goal;
        let cost = |y: f64| goal.sign() * goal.modelled(y);
        let mut rows: Vec<(&Row, f64)> =
            self.history.rows.iter().filter_map(|row| Some((row, row.value()?))).collect();
        rows.sort_by(|a, b| a.0.is_eligible().cmp(&b.0.is_eligible()).then(cost(b.1).total_cmp(&cost(a.1))));
        rows
    }

    /// One axis a variable, then the objective's.
    fn axes(&self, area: Area, rows: &[(&Row, f64)]) -> Vec<Axis> {
        let axis = |scale: Scale| Axis { scale, from: area.bottom, to: area.top };
        let mut axes: Vec<Axis> = self.problem.variables().iter().map(|v| axis(scale_of(v))).collect();
        let (low, high) = rows
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (_, v)| (low.min(*v), high.max(*v)));
        axes.push(axis(Scale::linear_around(low, high, 0.0)));
        axes
    }

    fn draw_axis(&self, document: &mut Document, axis: &Axis, k: usize, x: f64, spacing: f64) {
        document.line((x, axis.to), (x, axis.from), INK);
        let (name, unit) = match self.problem.variables().get(k) {
            Some(variable) => (variable.name.as_str(), variable.unit.clone()),
            None => (
                self.problem.objective().name.as_str(),
                Some(self.problem.objective().goal.as_str().to_owned()),
            ),
        };
        let room = spacing.min(160.0) - 6.0;
        let style = Style::new(TICK_SIZE, Anchor::Middle);
        document.text(x, axis.to - TICK_SIZE - 8.0, &fitted(name, TICK_SIZE * 1.1, room), style.bold());
        if let Some(unit) = unit {
            document.text(x, axis.to - 7.0, &fitted(&format!("[{unit}]"), TICK_SIZE, room), style);
        }
        for tick in axis.ticks(3.0 * TICK_SIZE) {
            document.line((x - 3.0, tick.at), (x + 3.0, tick.at), INK);
            let label = fitted(&tick.label, TICK_SIZE, 0.55 * spacing);
            // A pale ground keeps the label readable over the lines.
            let ground = document.element("rect").num("x", x + 4.0).num("y", tick.at - 0.55 * TICK_SIZE);
            let ground =
                ground.num("width", text_width(&label, TICK_SIZE) + 3.0).num("height", 1.1 * TICK_SIZE);
            ground.str("fill", "#ffffff").str("fill-opacity", "0.75").close();
            let style = Style::new(TICK_SIZE, Anchor::Start);
            document.text(x + 5.0, tick.at + 0.36 * TICK_SIZE, &label, style);
        }
    }
}

fn place(row: &Row) -> String {
    if row.line > 0 { format!(" (line {})", row.line) } else { String::new() }
}

/// Categories and short lists as bands, numbers on their own scale.
fn scale_of(variable: &Variable) -> Scale {
    let domain = variable.domain();
    let (lower, upper) = match &variable.kind {
        Kind::Categorical(levels) => return Scale::Bands(levels.clone()),
        Kind::Binary => return Scale::Bands(vec!["0".into(), "1".into()]),
        Kind::Discrete(values) if values.len() <= MOST_LISTED => {
            return Scale::Bands(values.iter().map(|&v| format_number(v)).collect());
        }
        Kind::Integer { lower, upper } if upper - lower < MOST_LISTED as f64 => {
            let (first, last) = (lower.ceil() as i64, upper.floor() as i64);
            return Scale::Bands((first..=last).map(|v| v.to_string()).collect());
        }
        _ => domain.bounds(),
    };
    match variable.scale {
        VariableScale::Log if lower > 0.0 => Scale::log_around(lower, upper, 0.0),
        _ => Scale::linear_around(lower, upper, 0.0),
    }
}

/// The coordinate of a value on the axis of [`scale_of`].
fn coordinate(variable: &Variable, value: f64) -> f64 {
    match &variable.kind {
        Kind::Discrete(values) if values.len() <= MOST_LISTED => {
            let distance = |i: &usize| (values[*i] - value).abs();
            (0..values.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0) as f64
        }
        Kind::Integer { lower, upper } if upper - lower < MOST_LISTED as f64 => value - lower.ceil(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{attribute, parse};
    use super::{BEST, ParallelChart};
    use leafgp::history::{History, Outcome};
    use leafgp::problem::{Goal, Problem, Variable};

    #[test]
    fn every_measured_row_is_a_line_and_the_best_stand_out() {
        let problem = Problem::builder("p")
            .variable(Variable::continuous("x <1>", 0.0, 10.0).unit("m & s"))
            .variable(Variable::categorical("c", ["u", "v"]))
            .variable(Variable::discrete("dose", [0.0, 12.0, 48.0]))
            .constraint("limit", "`x <1>` <= 8")
            .build()
            .unwrap()
            .with_goal(Goal::Maximize);
        let mut history = History::new();
        for (x, c, dose, value) in [(0.0, 0.0, 0.0, 1.0), (5.0, 1.0, 12.0, 7.0), (8.0, 0.0, 48.0, 3.0)] {
            history.push(&problem, &[x, c, dose], Outcome::Done(value)).unwrap();
        }
        history.push(&problem, &[9.0, 0.0, 0.0], Outcome::Done(99.0)).unwrap();
        history.push(&problem, &[1.0, 0.0, 0.0], Outcome::Failed).unwrap();
        let chart = ParallelChart { title: "t".into(), problem: &problem, history: &history, best: 1 };
        let svg = chart.svg();
        assert_eq!(svg, chart.svg());
        let document = parse(&svg);
        let lines: Vec<_> = document
            .descendants()
            .filter(|n| n.has_tag_name("path"))
            .map(|n| (attribute(&n, "stroke").to_owned(), attribute(&n, "d").to_owned()))
            .collect();
        assert_eq!(lines.len(), 4);
        // The infeasible row first, the best last, although it is not the largest of all.
        assert_eq!(lines[0].0, "#999999");
        assert_eq!(lines[3].0, BEST);
        let heights: Vec<f64> =
            lines[3].1[1..].split('L').map(|p| p.split_once(' ').unwrap().1.parse().unwrap()).collect();
        let axis = document
            .descendants()
            .find(|n| n.has_tag_name("line") && n.attribute("x1") == n.attribute("x2"))
            .unwrap();
        let (top, bottom): (f64, f64) =
            (attribute(&axis, "y1").parse().unwrap(), attribute(&axis, "y2").parse().unwrap());
        // x = 5 of [0, 10]; level 1 of 2; 12 is the middle of three.
        let height = |share: f64| bottom + share * (top - bottom);
        for (found, share) in heights.iter().zip([0.5, 0.75, 0.5]) {
            assert!((found - height(share)).abs() < 0.02, "{heights:?} between {bottom} and {top}");
        }
        assert!(svg.contains("[m &amp; s]") && svg.contains("x &lt;1&gt;") && svg.contains("[maximize]"));
    }

    #[test]
    fn an_empty_history_says_so() {
        let problem = Problem::builder("p").variable(Variable::continuous("x", 0.0, 1.0)).build().unwrap();
        let history = History::new();
        let chart = ParallelChart { title: "t".into(), problem: &problem, history: &history, best: 3 };
        parse(&chart.svg());
        assert!(chart.svg().contains("no experiment was measured yet"));
    }
}
