//! The best value so far over the experiments.

use super::axis::{Scale, short};
use super::document::{Document, INK, Path, Size};
use super::frame::{AxisText, Frame, Mark, cross, dot, heading, whole};
use super::palette::{line_colour, line_dash};
use leafgp::history::{History, Outcome};
use leafgp::problem::{Goal, Problem};

/// One history of a convergence chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// The legend's text.
    pub label: String,
    /// Its experiments that were run, in order.
    pub trials: Vec<Trial>,
}

/// One experiment that was run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// The value; `None` for a failed experiment.
    pub value: Option<f64>,
    /// Whether it may be the best: measured, in the domains, feasible.
    pub eligible: bool,
}

impl Progress {
    /// The experiments of a history; pending ones are left out.
    pub fn of(label: impl Into<String>, history: &History) -> Self {
        let trials = history
            .rows
            .iter()
            .filter(|row| row.outcome != Outcome::Pending)
            .map(|row| Trial { value: row.value(), eligible: row.is_eligible() })
            .collect();
        Self { label: label.into(), trials }
    }

    /// The best eligible value after each experiment; `None` before the first.
    pub fn best_so_far(&self, goal: Goal) -> Vec<Option<f64>> {
        let mut best = None;
        let step = |trial: &Trial| {
            best = goal.better(best, trial.value.filter(|_| trial.eligible));
            best
        };
        self.trials.iter().map(step).collect()
    }
}

/// Best value so far over the number of experiments, for one or more histories of one problem.
///
/// ```
/// use leafgp::problem::Goal;
/// use leafgp_study::plot::{ConvergenceChart, Progress, Trial};
///
/// let trial = |value| Trial { value, eligible: true };
/// let progress = Progress {
///     label: "leaf-gp".into(),
///     trials: vec![trial(Some(3.0)), trial(None), trial(Some(5.0)), trial(Some(4.0))],
/// };
/// assert_eq!(progress.best_so_far(Goal::Maximize), [Some(3.0), Some(3.0), Some(5.0), Some(5.0)]);
/// let chart = ConvergenceChart {
///     title: "reactor".into(),
///     objective: "yield".into(),
///     goal: Goal::Maximize,
///     histories: vec![progress],
///     log_y: false,
/// };
/// assert!(chart.svg().starts_with("<svg"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ConvergenceChart {
    /// Above the chart; may be empty.
    pub title: String,
    /// The objective's name.
    pub objective: String,
    /// Which direction is better.
    pub goal: Goal,
    /// The histories.
    pub histories: Vec<Progress>,
    /// Logarithmic vertical axis; values that are not positive are left out.
    pub log_y: bool,
}

impl ConvergenceChart {
    /// Width and height of [`ConvergenceChart::svg`] in pixels.
    pub const SIZE: Size = Size { width: 640.0, height: 420.0 };

    /// A chart of histories of a problem.
    pub fn new(problem: &Problem, histories: Vec<Progress>) -> Self {
        Self {
            title: problem.name().to_owned(),
            objective: problem.objective().name.clone(),
            goal: problem.objective().goal,
            histories,
            log_y: false,
        }
    }

    /// The chart as one self-contained `<svg>` element.
    pub fn svg(&self) -> String {
        self.svg_sized(Self::SIZE)
    }

    /// [`ConvergenceChart::svg`] in another size.
    pub fn svg_sized(&self, size: Size) -> String {
        let shows = |v: f64| v.is_finite() && (!self.log_y || v > 0.0);
        let trials = || self.histories.iter().flat_map(|h| &h.trials);
        let (low, high) = trials()
            .filter_map(|t| t.value)
            .filter(|&v| shows(v))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let longest = self.histories.iter().map(|h| h.trials.len()).max().unwrap_or(0);
        let mut document = Document::new(size, &self.title);
        let area = heading(&mut document, whole(size), &self.title, &self.legend());
        let y_label = format!("{} (to {})", self.objective, self.goal.as_str());
        let scale = if self.log_y { Scale::log_around } else { Scale::linear_around };
        let x = AxisText {
            scale: Scale::linear_around(0.5, longest.max(1) as f64 + 0.5, 0.0),
            label: "experiment",
        };
        let y = AxisText { scale: scale(low, high, 0.05), label: &y_label };
        let frame = Frame::new(area, &x, &y);
        frame.draw_grid(&mut document);
        for (k, history) in self.histories.iter().enumerate() {
            let colour = line_colour(k);
            for (i, trial) in history.trials.iter().enumerate() {
                let x = frame.x.position((i + 1) as f64);
                match trial.value {
                    Some(value) if shows(value) => {
                        let fill = if trial.eligible { colour } else { "none" };
                        let circle = dot(&mut document, (x, frame.y.position(value)), 2.5, fill, colour);
                        let what = if trial.eligible { "" } else { ", infeasible" };
                        let label = format!("{} {}: {}{what}", history.label, i + 1, short(value));
                        circle.str("fill-opacity", "0.45").titled(&label);
                    }
                    Some(_) => {}
                    // No value: at the edge of the worse side.
                    None => {
                        let edge = match self.goal {
                            Goal::Minimize | Goal::Target(_) => frame.area.top + 6.0,
                            Goal::Maximize => frame.area.bottom - 6.0,
                        };
                        cross(&mut document, (x, edge), 3.5, colour);
                    }
                }
            }
            let best = history.best_so_far(self.goal);
            for run in runs(&best, &shows) {
                let mut path = Path::default();
                for (k, &(i, value)) in run.iter().enumerate() {
                    let point = (frame.x.position((i + 1) as f64), frame.y.position(value));
                    if k == 0 {
                        path.move_to(point);
                    } else {
                        // A value counts from its experiment on.
                        path.line_to((point.0, frame.y.position(run[k - 1].1))).line_to(point);
                    }
                }
                let element = document.element("path").str("d", path.as_str()).str("fill", "none");
                let element = element.str("stroke", colour).str("stroke-width", "2");
                let dash = line_dash(k);
                let element = if dash.is_empty() { element } else { element.str("stroke-dasharray", dash) };
                element.titled(&format!("{}: best so far", history.label));
            }
        }
        if longest == 0 {
            frame.draw_note(&mut document, "no experiment was run yet");
        }
        frame.draw_axes(&mut document, "experiment", &y_label);
        document.finish()
    }

    fn legend(&self) -> Vec<(String, Mark)> {
        let mut legend: Vec<(String, Mark)> = self
            .histories
            .iter()
            .enumerate()
            .map(|(k, h)| {
                (
                    format!("{}: best so far", h.label),
                    Mark::Line { colour: line_colour(k), dash: line_dash(k) },
                )
            })
            .collect();
        let any = |test: fn(&Trial) -> bool| self.histories.iter().flat_map(|h| &h.trials).any(test);
        if any(|t| t.value.is_some() && !t.eligible) {
            legend.push(("infeasible".into(), Mark::Dot { fill: "none", stroke: INK }));
        }
        if any(|t| t.value.is_none()) {
            legend.push(("failed".into(), Mark::Cross { colour: INK }));
        }
        legend
    }
}

/// Runs of values that can be drawn, with their indices.
fn runs(best: &[Option<f64>], shows: &dyn Fn(f64) -> bool) -> Vec<Vec<(usize, f64)>> {
    let mut runs: Vec<Vec<(usize, f64)>> = vec![Vec::new()];
    for (i, value) in best.iter().enumerate() {
        match value.filter(|&v| shows(v)) {
            Some(value) => runs.last_mut().expect("there is a run").push((i, value)),
            None => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

#[cfg(test)]
mod tests {
    use super::super::testing::{attribute, parse};
    use super::{ConvergenceChart, Progress, Trial};
    use leafgp::problem::Goal;

    fn trial(value: f64) -> Trial {
        Trial { value: Some(value), eligible: true }
    }

    fn progress() -> Progress {
        let failed = Trial { value: None, eligible: false };
        let infeasible = Trial { value: Some(-9.0), eligible: false };
        Progress {
            label: "a".into(),
            trials: vec![failed, trial(3.0), trial(5.0), infeasible, trial(1.0), trial(2.0)],
        }
    }

    #[test]
    fn the_best_is_in_the_objectives_direction_and_feasible() {
        let best = progress().best_so_far(Goal::Minimize);
        assert_eq!(best, [None, Some(3.0), Some(3.0), Some(3.0), Some(1.0), Some(1.0)]);
        let best = progress().best_so_far(Goal::Maximize);
        assert_eq!(best, [None, Some(3.0), Some(5.0), Some(5.0), Some(5.0), Some(5.0)]);
    }

    #[test]
    fn the_line_is_a_staircase_from_the_first_value() {
        let chart = ConvergenceChart {
            title: "t".into(),
            objective: "cost & <x>".into(),
            goal: Goal::Minimize,
            histories: vec![progress()],
            log_y: false,
        };
        let svg = chart.svg();
        let document = parse(&svg);
        let line = document
            .descendants()
            .find(|n| n.has_tag_name("path") && n.attribute("stroke-width") == Some("2"))
            .unwrap();
        // Five values: a start and two corners for each further one.
        let d = attribute(&line, "d");
        assert_eq!(d.matches('L').count(), 8, "{d}");
        let points: Vec<(f64, f64)> = d[1..]
            .split('L')
            .map(|p| p.split_once(' ').unwrap())
            .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
            .collect();
        // Lower is better: the end is lower on the page, and the drop stands at one experiment.
        assert!(points[8].1 > points[0].1);
        assert_eq!(points[5].0, points[6].0);
        // Four measured, one infeasible; failed once in the legend and once in the chart.
        assert_eq!(document.descendants().filter(|n| n.has_tag_name("circle")).count(), 5 + 1);
        assert!(svg.contains("cost &amp; &lt;x&gt;"));
    }

    #[test]
    fn nothing_to_show_is_a_chart_that_says_so() {
        let chart = ConvergenceChart {
            title: String::new(),
            objective: "y".into(),
            goal: Goal::Maximize,
            histories: vec![Progress::default()],
            log_y: true,
        };
        assert!(chart.svg().contains("no experiment was run yet"));
        parse(&chart.svg());
    }
}
