//! The header of a table: which column is which.

use crate::problem::reading::hint;
use crate::problem::{FAILURE_COLUMN, Kind, Problem, STATUS_COLUMN, composed};

use super::HistoryError;
use super::document::{Record, unquoted};

/// The columns that a problem needs, by their places.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) record: Record,
    /// Column of each variable; `None` where every row has the variable's default.
    pub(super) variables: Vec<Option<usize>>,
    pub(super) objective: usize,
    pub(super) status: Option<usize>,
    pub(super) failure: Option<usize>,
    /// What should be known of the names, one sentence each.
    pub(super) notes: Vec<String>,
}

/// A column that is looked for.
struct Wanted<'a> {
    name: &'a str,
    old_names: &'a [String],
    unit: Option<&'a str>,
    may_be_missing: bool,
    role: &'static str,
}

impl Header {
    /// Finds the columns.
    ///
    /// # Errors
    /// Columns that are missing, named twice or ambiguous: all of them.
    pub(super) fn find(text: &str, record: Record, problem: &Problem) -> Result<Self, HistoryError> {
        let line = record.line;
        let names: Vec<String> =
            record.cells.iter().map(|cell| unquoted(&text[cell.clone()]).trim().to_owned()).collect();
        let mut errors = Vec::new();
        for (i, name) in names.iter().enumerate() {
            let is_same = |other: &String| composed(other) == composed(name);
            if let Some(first) = names[..i].iter().position(is_same).filter(|_| !name.is_empty()) {
                let message =
                    format!("the header names this column twice (columns {} and {})", first + 1, i + 1);
                errors.push(HistoryError::new(message, "distinct names").at_column(name));
            }
        }
        let wanted = wanted(problem);
        // A column that is somebody's by its full name is nobody's by the part before its unit.
        let is_somebodys = |name: &String| wanted.iter().any(|w| w.is_named(name) || w.was_named(name));
        let free: Vec<bool> = names.iter().map(|name| !is_somebodys(name)).collect();
        let all: Vec<&str> = wanted.iter().map(|column| column.name).collect();
        let mut notes = Vec::new();
        let mut places = Vec::new();
        for column in &wanted {
            match column.find(&names, &free, &all) {
                Ok(place) => {
                    notes.extend(place.and_then(|i| column.other_unit(&names[i])));
                    places.push(place);
                }
                Err(error) => {
                    errors.push(error.at_column(column.name));
                    places.push(None);
                }
            }
        }
        let objective = places.pop().flatten().unwrap_or(0);
        let taken = |i: usize| i == objective || places.contains(&Some(i));
        let mut statuses =
            (0..names.len()).filter(|&i| !taken(i) && names[i].eq_ignore_ascii_case(STATUS_COLUMN));
        let status = statuses.next();
        if let Some(second) = statuses.next()
            && !errors.iter().any(|error| error.column.as_ref() == Some(&names[second]))
        {
            let message = "the header names the status column twice";
            errors.push(HistoryError::new(message, "one of them").at_column(&names[second]));
        }
        let failure = (0..names.len()).find(|&i| !taken(i) && names[i].eq_ignore_ascii_case(FAILURE_COLUMN));
        match HistoryError::all(errors.into_iter().map(|error| error.at_line(line))) {
            Some(error) => Err(error),
            None => Ok(Self { record, variables: places, objective, status, failure, notes }),
        }
    }

    /// The columns that hold numbers.
    pub(super) fn numeric(&self, problem: &Problem) -> Vec<usize> {
        let variables = problem.variables().iter().zip(&self.variables);
        let numbers = variables
            .filter(|(v, _)| !matches!(v.kind, Kind::Categorical(_)))
            .filter_map(|(_, &column)| column);
        numbers.chain([self.objective]).collect()
    }
}

impl Wanted<'_> {
    fn is_named(&self, name: &str) -> bool {
        composed(self.name) == composed(name)
    }

    fn was_named(&self, name: &str) -> bool {
        self.old_names.iter().any(|old| composed(old) == composed(name))
    }

    /// The place of the column: by its name, else by an earlier one, else by either before a unit; `None` where it may be missing.
    fn find(&self, names: &[String], free: &[bool], all: &[&str]) -> Result<Option<usize>, HistoryError> {
        let places = |is: &dyn Fn(usize) -> bool| (0..names.len()).filter(|&i| is(i)).collect::<Vec<_>>();
        let named = places(&|i| self.is_named(&names[i]) || self.was_named(&names[i]));
        let found = if named.is_empty() {
            let base = |i: usize| split_unit(&names[i]).map(|(base, _)| base);
            let based =
                places(&|i| free[i] && base(i).is_some_and(|b| self.is_named(b) || self.was_named(b)));
            let with_unit = |&i: &usize| split_unit(&names[i]).map(|(_, unit)| unit) == self.unit;
            match based.iter().copied().filter(with_unit).collect::<Vec<_>>() {
                one if one.len() == 1 => one,
                _ => based,
            }
        } else {
            named
        };
        match found[..] {
            [place] => Ok(Some(place)),
            // Named twice: that is said already.
            [first, second, ..] if composed(&names[first]) == composed(&names[second]) => Ok(Some(first)),
            [first, second, ..] => {
                let message = format!("it can be column {:?} or column {:?}", names[first], names[second]);
                Err(HistoryError::new(message, "one of them"))
            }
            [] if self.may_be_missing => Ok(None),
            [] => Err(self.missing(names, all)),
        }
    }

    fn missing(&self, names: &[String], all: &[&str]) -> HistoryError {
        let message = format!(
            "the column of this {} is missing{}",
            self.role,
            hint(self.name, names.iter().map(String::as_str))
        );
        let advice = match self.role {
            "variable" => {
                "in the problem file `renamed_from` says an earlier name, and `default` the value of experiments from before there was the variable"
            }
            _ => "in the problem file `renamed_from` says an earlier name",
        };
        let expected = format!("a header with {}; {advice}", all.join(", "));
        HistoryError::new(message, expected)
    }

    /// What to say when the column's unit is not the variable's.
    fn other_unit(&self, name: &str) -> Option<String> {
        if self.is_named(name) || self.was_named(name) {
            return None;
        }
        let ((_, unit), own) = (split_unit(name)?, self.unit?);
        (composed(unit) != composed(own))
            .then(|| format!("column {name:?}: the problem file has {} in {own}", self.name))
    }
}

/// The variables' columns in order, then the objective's.
fn wanted(problem: &Problem) -> Vec<Wanted<'_>> {
    let variables = problem.variables().iter().map(|v| Wanted {
        name: &v.name,
        old_names: &v.renamed_from,
        unit: v.unit.as_deref(),
        may_be_missing: v.default.is_some(),
        role: "variable",
    });
    let objective = problem.objective();
    let objective = Wanted {
        name: &objective.name,
        old_names: &objective.renamed_from,
        unit: None,
        may_be_missing: false,
        role: "objective",
    };
    variables.chain([objective]).collect()
}

/// Every name that a column of the problem may have.
pub(super) fn known_names(problem: &Problem) -> Vec<&str> {
    wanted(problem)
        .into_iter()
        .flat_map(|w| std::iter::once(w.name).chain(w.old_names.iter().map(String::as_str)))
        .collect()
}

/// True when a header's cell can name a column: by the name, or by the name and a unit.
pub(super) fn can_name(cell: &str, name: &str) -> bool {
    let is = |text: &str| composed(text) == composed(name);
    let cell = cell.trim();
    is(cell) || split_unit(cell).is_some_and(|(base, _)| is(base))
}

/// Name and unit of `temp (°C)`, `Härte [HV]`, `T / K`, `flow in l/h`.
fn split_unit(header: &str) -> Option<(&str, &str)> {
    let bracketed =
        |open: char, close: char| header.strip_suffix(close).and_then(|inner| inner.rsplit_once(open));
    let (base, unit) = bracketed('[', ']')
        .or_else(|| bracketed('(', ')'))
        .or_else(|| header.rsplit_once(" / "))
        .or_else(|| header.rsplit_once(" in "))?;
    let (base, unit) = (base.trim(), unit.trim());
    (!base.is_empty()).then_some((base, unit))
}

#[cfg(test)]
mod tests {
    use super::{can_name, split_unit};
    use crate::history::{History, Outcome};
    use crate::problem::{Goal, Problem, Variable};

    #[test]
    fn units_by_hand() {
        for (header, expected) in [
            ("Härte [HV]", Some(("Härte", "HV"))),
            ("temp (°C)", Some(("temp", "°C"))),
            ("temp(°C)", Some(("temp", "°C"))),
            ("T / K", Some(("T", "K"))),
            ("flow in l/h", Some(("flow", "l/h"))),
            ("l/h", None),
            ("[HV]", None),
            ("temp", None),
        ] {
            assert_eq!(split_unit(header), expected, "{header}");
        }
        assert!(can_name(" Ha\u{308}rte [HV] ", "Härte") && !can_name("Härte2", "Härte"));
    }

    fn read(problem: &Problem, text: &str) -> Result<History, String> {
        History::from_bytes(text.as_bytes(), problem).map_err(|e| e.to_string())
    }

    fn temperature() -> Problem {
        let temperature = Variable::continuous("temp", 0.0, 500.0).unit("°C").renamed_from("T");
        Problem::builder("p")
            .objective("Härte", Goal::Maximize)
            .objective_renamed_from("hardness")
            .variable(temperature)
            .variable(Variable::continuous("time", 0.0, 9.0).default_value(3.0))
            .build()
            .unwrap()
    }

    #[test]
    fn columns_are_found_by_name_earlier_name_and_name_with_unit() {
        let problem = temperature();
        for header in [
            "temp,time,Härte",
            "Ha\u{308}rte,time,temp",
            "time,temp (°C),Härte [HV]",
            "time,T,Härte",
            "time,T [K],hardness [HV]",
            "time,temp (K),temp (°C),Härte",
            "time,temp,temp (K),Härte",
        ] {
            let row: Vec<&str> = header
                .split(',')
                .map(|name| match name {
                    "time" => "1",
                    "temp (K)" => "7",
                    name if can_name(name, "temp") || can_name(name, "T") => "20",
                    _ => "55",
                })
                .collect();
            let history = read(&problem, &format!("{header}\n{}\n", row.join(","))).unwrap();
            assert_eq!(history.rows[0].point, [20.0, 1.0], "{header}");
            assert_eq!(history.rows[0].outcome, Outcome::Done(55.0), "{header}");
            let expected = usize::from(header.contains("T [K]"));
            assert_eq!(history.warnings.len(), expected, "{header}: {:?}", history.warnings);
        }
    }

    #[test]
    fn a_column_that_is_missing_has_the_default_and_ambiguity_is_refused() {
        let problem = temperature();
        assert_eq!(read(&problem, "temp,Härte\n20,55\n").unwrap().rows[0].point, [20.0, 3.0]);
        for (header, parts) in [
            ("temp,T,time,Härte", vec!["column \"temp\"", "\"temp\" or column \"T\""]),
            ("temp (K),temp (F),time,Härte", vec!["\"temp (K)\" or column \"temp (F)\""]),
            // Both at once.
            (
                "tmp,time,Haerte",
                vec!["column \"temp\"", "did you mean `tmp`", "renamed_from", "\nline 1: column \"Härte\""],
            ),
        ] {
            let error = read(&problem, &format!("{header}\n1,1,1,1\n")).unwrap_err();
            for part in parts {
                assert!(error.contains(part), "{header}: {part}: {error}");
            }
        }
    }
}
