//! What was predicted of experiments when they were suggested: a table of its own beside the history, `NAME.predictions.csv`.
//!
//! The history is the user's, and gets no columns that nobody asked for. A row is found by its point, so that both tables may be sorted, and rows taken out.

use std::path::{Path, PathBuf};

use leafgp_solver::Domain;

use super::document::quoted;
use super::lock::Lock;
use super::settle::{settled, step};
use super::{Columns, Dialect, History, HistoryError, HistoryFile, Outcome};
use crate::file::write_whole;
use crate::problem::reading::parse_number;
use crate::problem::{Kind, Problem, Scale, Variable, format_number};

/// The columns besides the variables'.
const COLUMNS: [&str; 7] = ["predicted", "deviation", "noise", "bound", "method", "seed", "version"];
/// A weighed value belongs to the planned one when it is off by at most this share of the variable's range (or half a step).
const REACH: f64 = 0.01;
/// Half width of an interval that holds 95 % of a normal distribution, in deviations.
const INTERVAL: f64 = 1.96;

/// What was predicted of an experiment when it was suggested.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// The point, in variable order.
    pub point: Vec<f64>,
    /// The mean predicted by the model that chose it, in the objective's units.
    pub mean: f64,
    /// The standard deviation of that prediction, without the noise of a measurement.
    pub std: f64,
    /// The standard deviation of a measurement's noise by that model.
    pub noise: f64,
    /// What no feasible setting promised more of at that time (proved, by the trees' model), where it was asked for.
    pub bound: Option<f64>,
    /// How the point was found.
    pub method: String,
    /// Seed of the random choices.
    pub seed: u64,
    /// Version of leafgp.
    pub version: String,
}

impl Forecast {
    /// Standard deviation of what will be measured.
    pub fn deviation(&self) -> f64 {
        self.std.hypot(self.noise)
    }

    /// True when a measured value lies within 1.96 deviations of the mean, where 95 % should.
    pub fn is_kept_by(&self, value: f64) -> bool {
        (value - self.mean).abs() <= INTERVAL * self.deviation()
    }
}

/// The forecast of each row, where there is one: first by equal points (the last row of a point has its last forecast), then, where a person weighed instead of setting, the nearest one within half
/// a step or a hundredth of each variable's range.
pub fn forecast_of_rows<'a>(
    problem: &Problem,
    history: &History,
    forecasts: &'a [Forecast],
) -> Vec<Option<&'a Forecast>> {
    let mut found: Vec<Option<&Forecast>> = vec![None; history.rows.len()];
    let mut free: Vec<bool> = vec![true; forecasts.len()];
    for (row, slot) in history.rows.iter().zip(&mut found).rev() {
        let equal = (0..forecasts.len()).rev().find(|&i| free[i] && forecasts[i].point == row.point);
        if let Some(i) = equal {
            free[i] = false;
            *slot = Some(&forecasts[i]);
        }
    }
    for (row, slot) in history.rows.iter().zip(&mut found).rev() {
        if slot.is_some() || row.outcome == Outcome::Pending {
            continue;
        }
        let near = (0..forecasts.len())
            .rev()
            .filter(|&i| free[i])
            .filter_map(|i| Some((i, distance(problem, &forecasts[i].point, &row.point)?)));
        if let Some((i, _)) = near.min_by(|a, b| a.1.total_cmp(&b.1)) {
            free[i] = false;
            *slot = Some(&forecasts[i]);
        }
    }
    found
}

/// The largest distance of a coordinate in shares of its reach; `None` beyond it.
fn distance(problem: &Problem, planned: &[f64], measured: &[f64]) -> Option<f64> {
    let mut largest: f64 = 0.0;
    for (variable, (&a, &b)) in problem.variables().iter().zip(planned.iter().zip(measured)) {
        let domain = variable.domain();
        let share = match (&variable.kind, variable.scale) {
            (Kind::Categorical(_) | Kind::Binary, _) if a != b => return None,
            (Kind::Categorical(_) | Kind::Binary, _) => 0.0,
            (_, Scale::Log) if a > 0.0 && b > 0.0 => {
                let (lower, upper) = domain.bounds();
                (a / b).ln().abs() / (REACH * (upper / lower).ln())
            }
            _ => (a - b).abs() / reach(&domain),
        };
        if share > 1.0 || share.is_nan() && a != b {
            return None;
        }
        largest = largest.max(share);
    }
    Some(largest)
}

fn reach(domain: &Domain) -> f64 {
    let (lower, upper) = domain.bounds();
    (REACH * (upper - lower)).max(step(domain).map_or(0.0, |step| 0.5 * step))
}

impl HistoryFile {
    /// Where the forecasts are.
    pub fn forecasts_path(&self) -> PathBuf {
        self.path().with_extension("predictions.csv")
    }

    /// Where evaluations that a loop started have their folders: `NAME.jobs`.
    pub fn jobs_path(&self) -> PathBuf {
        self.path().with_extension("jobs")
    }

    /// The forecasts that were kept, oldest first; none when there is no such file. Those of points that are none of the problem's (any more) are left out.
    ///
    /// # Errors
    /// The file cannot be read, or is no table of forecasts.
    pub fn forecasts(&self, problem: &Problem) -> Result<Vec<Forecast>, HistoryError> {
        let path = self.forecasts_path();
        let table = read_table(&path, problem)?;
        Ok(table.map_or_else(Vec::new, |table| forecasts_of(problem, &table)))
    }

    /// Adds forecasts, in the dialect of the history.
    ///
    /// # Errors
    /// The file cannot be read or written, or is no table of forecasts: it is left alone then.
    pub fn keep_forecasts(&self, problem: &Problem, forecasts: &[Forecast]) -> Result<(), HistoryError> {
        let target = self.target().map_err(|e| e.in_file(self.path()))?;
        let _lock = Lock::acquire(&target).map_err(|e| e.in_file(self.path()))?;
        self.keep_forecasts_locked(problem, forecasts)
    }

    /// [`HistoryFile::keep_forecasts`] for who holds the table's lock.
    pub(super) fn keep_forecasts_locked(
        &self,
        problem: &Problem,
        forecasts: &[Forecast],
    ) -> Result<(), HistoryError> {
        if forecasts.is_empty() {
            return Ok(());
        }
        let path = self.forecasts_path();
        let dialect = self.read(problem)?.dialect;
        let known = read_table(&path, problem)?;
        let text = text_of(problem, dialect, known.as_ref(), forecasts);
        write_whole(&path, text.as_bytes())
            .map_err(|e| HistoryError::io("it cannot be written", e).in_file(&path))
    }
}

/// The file, if there is one.
fn read_table(path: &Path, problem: &Problem) -> Result<Option<Columns>, HistoryError> {
    if !path.exists() {
        return Ok(None);
    }
    let wanted = names(problem);
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    let table = Columns::read(path, &wanted)?;
    let needed = &wanted[problem.variables().len()..];
    if let Some(missing) = needed.iter().find(|name| table.column(name).is_none()) {
        let message = format!("the column {missing} is missing: this is no table of predictions");
        let expected = "one that leafgp wrote, or no file of that name";
        return Err(HistoryError::new(message, expected).in_file(path));
    }
    Ok(Some(table))
}

/// The header: the variables', then [`COLUMNS`], which step back where a variable has their name.
fn names(problem: &Problem) -> Vec<String> {
    let variables = problem.variables().iter().map(|variable| variable.name.clone());
    let own = COLUMNS.iter().map(|&name| {
        let is_taken = problem.index_of(name).is_some();
        if is_taken { format!("leafgp {name}") } else { name.to_owned() }
    });
    variables.chain(own).collect()
}

fn forecasts_of(problem: &Problem, table: &Columns) -> Vec<Forecast> {
    let names = names(problem);
    let columns: Option<Vec<Vec<&str>>> = names.iter().map(|name| table.column(name)).collect();
    // A variable that came later: no forecast has a point of this problem.
    let Some(columns) = columns else { return Vec::new() };
    let (points, own) = columns.split_at(problem.variables().len());
    let value = |variable: &Variable, cell: &str| -> Option<f64> {
        // The reader of tables makes `1.5` of a level `1,5`, too.
        let parsed = variable.parse_value(cell).or_else(|_| variable.parse_value(&cell.replace('.', ",")));
        Some(settled(&variable.domain(), parsed.ok()?))
    };
    let forecast = |row: usize| {
        let point: Option<Vec<f64>> =
            problem.variables().iter().zip(points).map(|(v, cells)| value(v, cells[row])).collect();
        Some(Forecast {
            point: point?,
            mean: parse_number(own[0][row])?,
            std: parse_number(own[1][row])?,
            noise: parse_number(own[2][row])?,
            bound: parse_number(own[3][row]),
            method: own[4][row].to_owned(),
            seed: own[5][row].parse().ok()?,
            version: own[6][row].to_owned(),
        })
    };
    (0..table.n_rows()).filter_map(forecast).collect()
}

/// The table with the known rows first. Columns that nobody knows any more (variables of old, what a person added) stay, behind the others.
fn text_of(problem: &Problem, dialect: Dialect, known: Option<&Columns>, added: &[Forecast]) -> String {
    let own = names(problem);
    let others = known.map_or(&[][..], Columns::names).iter().filter(|name| !own.contains(name));
    let header: Vec<String> = own.iter().chain(others).cloned().collect();
    let mut rows: Vec<Vec<String>> = vec![header.clone()];
    if let Some(known) = known {
        let columns: Vec<Option<Vec<&str>>> = header.iter().map(|name| known.column(name)).collect();
        let cell = |column: &Option<Vec<&str>>, row: usize| {
            column.as_ref().map_or_else(String::new, |cells| in_dialect(cells[row], dialect))
        };
        rows.extend((0..known.n_rows()).map(|row| columns.iter().map(|column| cell(column, row)).collect()));
    }
    for forecast in added {
        let values = problem.variables().iter().zip(&forecast.point);
        let mut cells: Vec<String> = values.map(|(v, &x)| v.format_value(x)).collect();
        cells.extend([forecast.mean, forecast.std, forecast.noise].map(format_number));
        cells.push(forecast.bound.map_or_else(String::new, format_number));
        cells.extend([forecast.method.clone(), forecast.seed.to_string(), forecast.version.clone()]);
        cells.resize(header.len(), String::new());
        rows.push(cells.iter().map(|cell| in_dialect(cell, dialect)).collect());
    }
    let mark = if dialect.byte_order_mark { "\u{feff}" } else { "" };
    let separator = dialect.delimiter.to_string();
    let line = |cells: &Vec<String>| {
        let cells: Vec<_> = cells.iter().map(|cell| quoted(cell, dialect.delimiter)).collect();
        cells.join(&separator) + dialect.newline
    };
    format!("{mark}{}", rows.iter().map(line).collect::<String>())
}

/// A cell with the decimal mark of the dialect.
fn in_dialect(cell: &str, dialect: Dialect) -> String {
    if dialect.decimal == ',' && parse_number(cell).is_some() {
        cell.replace('.', ",")
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{Forecast, forecast_of_rows};
    use crate::history::{History, HistoryFile, Outcome};
    use crate::problem::{Problem, Variable};

    fn problem() -> Problem {
        Problem::builder("p")
            .variable(Variable::grid("dose", 0.0, 10.0, 0.5).unwrap())
            .variable(Variable::continuous("seed", 1.0, 100.0).log())
            .variable(Variable::categorical("solvent; kind", ["water", "1,5"]))
            .build()
            .unwrap()
    }

    fn forecast(point: [f64; 3], mean: f64) -> Forecast {
        Forecast {
            point: point.to_vec(),
            mean,
            std: 0.25,
            noise: 0.1,
            bound: (mean > 0.0).then_some(mean + 1.0),
            method: "smooth search".into(),
            seed: 101,
            version: "0.1.0".into(),
        }
    }

    #[test]
    fn forecasts_survive_the_file_in_every_dialect_and_a_variables_name_steps_before_ours() {
        let folder = tempfile::tempdir().unwrap();
        for (name, table) in [
            ("a.csv", ""),
            ("b.csv", "dose;seed;\"solvent; kind\";objective\r\n0,5;1,5;water;2\r\n"),
            ("c.csv", "\u{feff}dose\tseed\tsolvent; kind\tobjective\n"),
        ] {
            let file = HistoryFile::new(folder.path().join(name));
            std::fs::write(file.path(), table).unwrap();
            assert_eq!(file.forecasts(&problem()).unwrap(), []);
            let all = [forecast([0.5, 1.25, 0.0], 3.5), forecast([1.5, 7.0, 1.0], -2.0)];
            file.keep_forecasts(&problem(), &all[..1]).unwrap();
            file.keep_forecasts(&problem(), &all[1..]).unwrap();
            assert_eq!(file.forecasts(&problem()).unwrap(), all, "{name}");
            assert_eq!(std::fs::read_to_string(file.path()).unwrap(), table, "the table is the user's");
        }
        let text = std::fs::read_to_string(folder.path().join("b.predictions.csv")).unwrap();
        assert_eq!(
            text,
            "dose;seed;\"solvent; kind\";predicted;deviation;noise;bound;method;leafgp seed;version\r\n\
             0,5;1,25;water;3,5;0,25;0,1;4,5;smooth search;101;0.1.0\r\n\
             1,5;7;1,5;-2;0,25;0,1;;smooth search;101;0.1.0\r\n"
        );
    }

    #[test]
    fn a_file_of_that_name_that_is_none_of_ours_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = HistoryFile::new(folder.path().join("a.csv"));
        let theirs = folder.path().join("a.predictions.csv");
        std::fs::write(&theirs, "dose,weather\n1,fine\n").unwrap();
        assert!(file.forecasts(&problem()).is_err());
        assert!(file.keep_forecasts(&problem(), &[forecast([0.5, 1.0, 0.0], 1.0)]).is_err());
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "dose,weather\n1,fine\n");
    }

    #[test]
    fn rows_find_their_forecasts_wherever_they_stand() {
        let problem = problem();
        let mut history = History::new();
        // Another order than that of the forecasts; weighed 0.62 instead of 0.5; of an equal point the last one counts.
        for (point, outcome) in [
            ([5.0, 10.0, 0.0], Outcome::Done(1.0)),
            ([0.62, 2.02, 0.0], Outcome::Done(2.0)),
            ([5.0, 10.0, 1.0], Outcome::Pending),
            ([9.0, 10.0, 0.0], Outcome::Failed),
            ([0.62, 2.02, 1.0], Outcome::Done(2.0)),
            ([0.62, 2.2, 0.0], Outcome::Done(2.0)),
        ] {
            history.push(&problem, &point, outcome).unwrap();
        }
        let forecasts = [
            forecast([0.5, 2.0, 0.0], 10.0),
            forecast([5.0, 10.0, 1.0], 11.0),
            forecast([5.0, 10.0, 0.0], 12.0),
            forecast([5.0, 10.0, 0.0], 13.0),
        ];
        let found: Vec<Option<f64>> =
            forecast_of_rows(&problem, &history, &forecasts).iter().map(|f| f.map(|f| f.mean)).collect();
        assert_eq!(found, [Some(13.0), Some(10.0), Some(11.0), None, None, None]);
    }

    #[test]
    fn a_promise_is_kept_within_1_96_deviations_noise_included() {
        let forecast = forecast([0.5, 2.0, 0.0], 10.0);
        let half_width = 1.96 * (0.25f64.powi(2) + 0.01).sqrt();
        assert!(
            forecast.is_kept_by(10.0 + 0.999 * half_width) && !forecast.is_kept_by(10.0 - 1.001 * half_width)
        );
    }
}
