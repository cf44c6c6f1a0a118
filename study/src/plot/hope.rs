//! The best value so far, and what is proved to be the most that is left.

use super::axis::{Scale, short};
use super::convergence::Progress;
use super::document::{Document, Path, Size};
use super::frame::{AxisText, Frame, Mark, cross, dot, heading, whole};
use super::palette::line_colour;
use leafgp::problem::Goal;

const BEST: usize = 0;
const BOUND: usize = 1;

/// The best value so far over the experiments, with the proved bound on what any feasible setting promises, and the room between them as a band.
///
/// ```
/// use leafgp::problem::Goal;
/// use leafgp_study::plot::{HopeChart, Progress, Trial};
///
/// let trial = |value| Trial { value: Some(value), eligible: true };
/// let chart = HopeChart {
///     title: "reactor".into(),
///     objective: "yield".into(),
///     goal: Goal::Maximize,
///     progress: Progress { label: String::new(), trials: vec![trial(3.0), trial(5.0), trial(4.0)] },
///     bounds: vec![(2, 9.0), (3, 6.0)],
/// };
/// assert!(chart.svg().contains("room left"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HopeChart {
    /// Above the chart; may be empty.
    pub title: String,
    /// The objective's name.
    pub objective: String,
    /// Which direction is better.
    pub goal: Goal,
    /// The experiments.
    pub progress: Progress,
    /// The bound after a number of experiments, ascending in that number, in the objective's units.
    pub bounds: Vec<(usize, f64)>,
}

impl HopeChart {
    /// Width and height of [`HopeChart::svg`] in pixels.
    pub const SIZE: Size = Size { width: 640.0, height: 400.0 };

    /// The chart as one self-contained `<svg>` element.
    pub fn svg(&self) -> String {
        self.svg_sized(Self::SIZE)
    }

    /// [`HopeChart::svg`] in another size.
    pub fn svg_sized(&self, size: Size) -> String {
        let trials = &self.progress.trials;
        let bounds: Vec<(usize, f64)> = self.bounds.iter().copied().filter(|(_, b)| b.is_finite()).collect();
        let values = trials.iter().filter_map(|t| t.value).chain(bounds.iter().map(|&(_, b)| b));
        let (low, high) = values
            .filter(|v| v.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let mut document = Document::new(size, &self.title);
        let area = heading(&mut document, whole(size), &self.title, &self.legend(!bounds.is_empty()));
        let y_label = format!("{} (to {})", self.objective, self.goal.as_str());
        let x = AxisText {
            scale: Scale::linear_around(0.5, trials.len().max(1) as f64 + 0.5, 0.0),
            label: "experiment",
        };
        let y = AxisText { scale: Scale::linear_around(low, high, 0.05), label: &y_label };
        let frame = Frame::new(area, &x, &y);
        frame.draw_grid(&mut document);
        let best = self.progress.best_so_far(self.goal);
        self.draw_room(&mut document, &frame, &best, &bounds);
        self.draw_trials(&mut document, &frame);
        self.draw_best(&mut document, &frame, &best);
        if let [only] = bounds[..] {
            let at = (frame.x.position(only.0 as f64), frame.y.position(only.1));
            dot(&mut document, at, 3.5, line_colour(BOUND), "none").titled(&bound_text(only));
        } else if let Some(&last) = bounds.last() {
            let points = bounds.iter().map(|&(n, b)| (frame.x.position(n as f64), frame.y.position(b)));
            let path = Path::through(points);
            let line = document.element("path").str("d", path.as_str()).str("fill", "none");
            let line = line.str("stroke", line_colour(BOUND)).str("stroke-width", "2");
            line.str("stroke-dasharray", "7 3").str("stroke-linejoin", "round").titled(&bound_text(last));
        }
        if trials.is_empty() {
            frame.draw_note(&mut document, "no experiment was run yet");
        }
        frame.draw_axes(&mut document, "experiment", &y_label);
        document.finish()
    }

    fn legend(&self, has_bounds: bool) -> Vec<(String, Mark)> {
        let mut legend = vec![("best so far".into(), Mark::Line { colour: line_colour(BEST), dash: "" })];
        if has_bounds {
            let more = if self.goal == Goal::Maximize { "more" } else { "less" };
            legend.push((
                format!("room left: no setting promises {more} (proved)"),
                Mark::Band { colour: line_colour(BOUND), dash: "7 3" },
            ));
        }
        if self.progress.trials.iter().any(|t| t.value.is_none()) {
            legend.push(("failed".into(), Mark::Cross { colour: "#777777" }));
        }
        legend
    }

    /// Between the best value and the bound, from the first bound on.
    fn draw_room(
        &self,
        document: &mut Document,
        frame: &Frame,
        best: &[Option<f64>],
        bounds: &[(usize, f64)],
    ) {
        let edges: Vec<(usize, f64, f64)> = bounds
            .iter()
            .filter_map(|&(n, bound)| Some((n, bound, (*best.get(n.checked_sub(1)?)?)?)))
            .collect();
        let (Some(first), Some(last)) = (edges.first(), edges.last()) else { return };
        if edges.len() < 2 {
            return;
        }
        let at = |n: usize, value: f64| (frame.x.position(n as f64), frame.y.position(value));
        // A bound that is worse than the best value leaves no room.
        let outer = |bound: f64, best: f64| if self.goal.is_better(bound, best) { bound } else { best };
        let mut path = Path::default();
        path.move_to(at(first.0, outer(first.1, first.2)));
        for &(n, bound, best) in &edges[1..] {
            path.line_to(at(n, outer(bound, best)));
        }
        for n in (first.0..=last.0).rev() {
            let Some(value) = best[n - 1] else { continue };
            path.line_to(at(n, value));
            if n > first.0
                && let Some(before) = best[n - 2]
            {
                path.line_to(at(n, before));
            }
        }
        path.close();
        let area = document.element("path").str("d", path.as_str()).str("fill", line_colour(BOUND));
        area.str("fill-opacity", "0.15").titled("room left to gain");
    }

    fn draw_trials(&self, document: &mut Document, frame: &Frame) {
        for (i, trial) in self.progress.trials.iter().enumerate() {
            let x = frame.x.position((i + 1) as f64);
            match trial.value.filter(|v| v.is_finite()) {
                Some(value) => {
                    let fill = if trial.eligible { line_colour(BEST) } else { "none" };
                    let circle = dot(document, (x, frame.y.position(value)), 2.6, fill, line_colour(BEST));
                    let what = if trial.eligible { "" } else { ", infeasible" };
                    circle.str("fill-opacity", "0.5").titled(&format!("{}: {}{what}", i + 1, short(value)));
                }
                None => {
                    let edge = match self.goal {
                        Goal::Minimize | Goal::Target(_) => frame.area.top + 6.0,
                        Goal::Maximize => frame.area.bottom - 6.0,
                    };
                    cross(document, (x, edge), 3.5, "#777777");
                }
            }
        }
    }

    fn draw_best(&self, document: &mut Document, frame: &Frame, best: &[Option<f64>]) {
        let mut path = Path::default();
        let mut before: Option<f64> = None;
        for (i, value) in best.iter().enumerate() {
            let Some(value) = *value else { continue };
            let x = frame.x.position((i + 1) as f64);
            match before {
                None => path.move_to((x, frame.y.position(value))),
                Some(last) => path.line_to((x, frame.y.position(last))).line_to((x, frame.y.position(value))),
            };
            before = Some(value);
        }
        if let Some(last) = before {
            let line = document.element("path").str("d", path.as_str()).str("fill", "none");
            let line = line.str("stroke", line_colour(BEST)).str("stroke-width", "2");
            line.titled(&format!("best so far: {}", short(last)));
        }
    }
}

fn bound_text((n, bound): (usize, f64)) -> String {
    format!("after {n} experiments no feasible setting promises better than {}", short(bound))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{attribute, parse};
    use super::super::{Progress, Trial};
    use super::HopeChart;
    use leafgp::problem::Goal;

    fn chart(goal: Goal, values: &[f64], bounds: &[(usize, f64)]) -> HopeChart {
        let trials = values.iter().map(|&v| Trial { value: Some(v), eligible: true }).collect();
        HopeChart {
            title: "t & <u>".into(),
            objective: "y".into(),
            goal,
            progress: Progress { label: String::new(), trials },
            bounds: bounds.to_vec(),
        }
    }

    #[test]
    fn the_bound_lies_on_the_better_side_of_the_best_in_both_directions() {
        for (goal, bounds) in
            [(Goal::Maximize, [(2, 9.0), (4, 6.0)]), (Goal::Minimize, [(2, -4.0), (4, 0.0)])]
        {
            let svg = chart(goal, &[3.0, 2.0, 5.0, 4.0], &bounds).svg();
            let document = parse(&svg);
            let last_y = |stroke_dash: Option<&str>| -> f64 {
                let path = document
                    .descendants()
                    .find(|n| {
                        n.has_tag_name("path")
                            && n.attribute("stroke-width") == Some("2")
                            && n.attribute("stroke-dasharray") == stroke_dash
                    })
                    .unwrap();
                attribute(&path, "d").rsplit(' ').next().unwrap().parse().unwrap()
            };
            let (best, bound) = (last_y(None), last_y(Some("7 3")));
            assert_eq!(bound < best, goal == Goal::Maximize, "{goal:?}: {best} {bound}");
            assert!(svg.contains("room left to gain"));
        }
    }

    #[test]
    fn no_bounds_one_bound_bounds_without_a_best_and_no_experiments_are_well_formed() {
        for (values, bounds) in [
            (&[1.0, 2.0][..], &[][..]),
            (&[1.0, 2.0], &[(2, 3.0)]),
            (&[f64::NAN], &[(1, 3.0)]),
            (&[], &[]),
            (&[5.0, 5.0], &[(1, 4.0), (2, f64::INFINITY)]),
        ] {
            parse(&chart(Goal::Maximize, values, bounds).svg());
        }
        assert!(chart(Goal::Maximize, &[], &[]).svg().contains("no experiment was run yet"));
    }
}
