//! One variable: its kind, its scale, its values as numbers, text and JSON.

use leafgp_solver::{Domain, Grid, constraints};
use serde_json::Value;

use super::decimals::Decimals;
use super::grid::decimal_grid;
use super::number::{format_number, parse_number};
use super::text::composed;
use super::{ProblemError, spelling};

/// What values a variable takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Every real number in `[lower, upper]`.
    Continuous {
        /// Smallest value.
        lower: f64,
        /// Largest value.
        upper: f64,
    },
    /// Every whole number in `[lower, upper]`.
    Integer {
        /// Smallest value.
        lower: f64,
        /// Largest value.
        upper: f64,
    },
    /// 0 or 1.
    Binary,
    /// The listed numbers, strictly ascending.
    Discrete(Vec<f64>),
    /// Unordered levels, by name.
    Categorical(Vec<String>),
    /// `lower + k * step` as exact decimals.
    Grid(Grid),
}

/// The scale on which centres and samples are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Scale {
    /// As it is.
    #[default]
    Linear,
    /// Logarithmic; every value is positive.
    Log,
}

/// One variable of a problem.
///
/// ```
/// use leafgp::problem::Variable;
///
/// let bake = Variable::continuous("bake", 60.0, 180.0).unit("degree Celsius");
/// assert_eq!(bake.parse_value("95.5"), Ok(95.5));
/// let solvent = Variable::categorical("solvent", ["xylene", "butanol", "water"]);
/// // In a point a category is its level index.
/// assert_eq!((solvent.parse_value("water"), solvent.format_value(2.0)), (Ok(2.0), "water".to_string()));
/// assert!(solvent.parse_value("ether").is_err());
/// let filler = Variable::grid("filler", 0.0, 0.6, 0.05)?;
/// assert_eq!(filler.format_value(filler.domain().floor(0.32).unwrap()), "0.3");
/// # Ok::<(), leafgp::problem::ProblemError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Variable {
    /// Its name: the history's column, and the name in expressions (in backquotes when it is no bare identifier).
    pub name: String,
    /// What values it takes.
    pub kind: Kind,
    /// The scale of centres and samples.
    pub scale: Scale,
    /// Free text for tables and plots.
    pub unit: Option<String>,
    /// The condition under which the variable exists; elsewhere it takes `inactive_value`.
    pub active_if: Option<String>,
    /// The value where `active_if` is false: by default the lower bound, first value or first level.
    pub inactive_value: f64,
    /// The interval outside of which only 0 is allowed (semi-continuous); `kind` then spans both.
    pub or_zero: Option<[f64; 2]>,
    /// How many decimals a person sets; `kind` is then the grid of such numbers, and measured rows may lie anywhere within the bounds.
    pub decimals: Option<Decimals>,
    /// How many of the levels, the last ones, are no longer suggested: rows that have them are kept for training.
    pub n_removed: usize,
    /// The value of experiments from before there was this variable: of tables without its column, and of empty cells in it.
    pub default: Option<f64>,
    /// Earlier names of its column.
    pub renamed_from: Vec<String>,
}

/// A text or JSON value that is none of a variable's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}; expected {expected}")]
pub struct ValueError {
    /// What is wrong.
    pub message: String,
    /// What was expected.
    pub expected: String,
}

impl Variable {
    fn new(name: impl Into<String>, kind: Kind) -> Self {
        let name = name.into();
        let inactive_value = match &kind {
            Kind::Continuous { lower, .. } | Kind::Integer { lower, .. } => *lower,
            Kind::Binary | Kind::Categorical(_) => 0.0,
            Kind::Discrete(values) => values.first().copied().unwrap_or(f64::NAN),
            Kind::Grid(grid) => grid.value(0),
        };
        Self {
            name,
            kind,
            scale: Scale::Linear,
            unit: None,
            active_if: None,
            inactive_value,
            or_zero: None,
            decimals: None,
            n_removed: 0,
            default: None,
            renamed_from: Vec::new(),
        }
    }

    /// A real number in `[lower, upper]`.
    pub fn continuous(name: impl Into<String>, lower: f64, upper: f64) -> Self {
        Self::new(name, Kind::Continuous { lower, upper })
    }

    /// A whole number in `[lower, upper]`.
    pub fn integer(name: impl Into<String>, lower: i64, upper: i64) -> Self {
        Self::new(name, Kind::Integer { lower: lower as f64, upper: upper as f64 })
    }

    /// 0 or 1.
    pub fn binary(name: impl Into<String>) -> Self {
        Self::new(name, Kind::Binary)
    }

    /// One of the listed numbers; they are sorted, and the first one listed is the inactive value.
    pub fn discrete(name: impl Into<String>, values: impl Into<Vec<f64>>) -> Self {
        let mut values = values.into();
        let first = values.first().copied();
        values.sort_by(f64::total_cmp);
        let mut variable = Self::new(name, Kind::Discrete(values));
        variable.inactive_value = first.unwrap_or(f64::NAN);
        variable
    }

    /// One of the named levels.
    pub fn categorical<S: Into<String>>(
        name: impl Into<String>,
        levels: impl IntoIterator<Item = S>,
    ) -> Self {
        Self::new(name, Kind::Categorical(levels.into_iter().map(Into::into).collect()))
    }

    /// `lower + k * step` up to `upper`, as exact decimals.
    ///
    /// # Errors
    /// A step that is not positive, decimals beyond the 15th place, bounds that are not in order.
    pub fn grid(name: impl Into<String>, lower: f64, upper: f64, step: f64) -> Result<Self, ProblemError> {
        Ok(Self::new(name, Kind::Grid(decimal_grid(lower, upper, step)?)))
    }

    /// A real number in `[lower, upper]` that a person sets with so many decimals: suggestions have no more, and are feasible as they are printed.
    ///
    /// ```
    /// use leafgp::problem::Variable;
    ///
    /// let flow = Variable::decimal("flow", 0.25, 8.0, 1)?;
    /// assert_eq!(flow.domain().bounds(), (0.3, 8.0));
    /// assert_eq!([3.0, 1.83].map(|x| flow.format_value(x)), ["3.0", "1.83"]);
    /// # Ok::<(), leafgp::problem::ProblemError>(())
    /// ```
    ///
    /// # Errors
    /// More than 15 decimals; no such number within the bounds, or too many digits for f64.
    pub fn decimal(
        name: impl Into<String>,
        lower: f64,
        upper: f64,
        places: u32,
    ) -> Result<Self, ProblemError> {
        let decimals = Decimals { places, lower, upper };
        let mut variable = Self::new(name, Kind::Grid(decimals.grid()?));
        variable.decimals = Some(decimals);
        Ok(variable)
    }

    /// 0, or a real number in `[lower, upper]`: semi-continuous.
    ///
    /// ```
    /// use leafgp::problem::Variable;
    ///
    /// let dose = Variable::semi_continuous("dose", 0.5, 8.0);
    /// assert_eq!((dose.domain().bounds(), dose.expected()), ((0.0, 8.0), "0 or a number in [0.5, 8]".to_owned()));
    /// ```
    pub fn semi_continuous(name: impl Into<String>, lower: f64, upper: f64) -> Self {
        let mut variable = Self::continuous(name, lower.min(0.0), upper.max(0.0));
        variable.or_zero = Some([lower, upper]);
        variable.inactive_value = 0.0;
        variable
    }

    /// Adds levels that are no longer suggested; experiments that have them are kept for training. The order of levels is: those suggested, then these.
    #[must_use]
    pub fn removed<S: Into<String>>(mut self, removed: impl IntoIterator<Item = S>) -> Self {
        if let Kind::Categorical(levels) = &mut self.kind {
            let before = levels.len();
            levels.extend(removed.into_iter().map(Into::into));
            self.n_removed += levels.len() - before;
        }
        self
    }

    /// The value of experiments from before there was this variable: of tables without its column, and of empty cells in it. A category's is its level index.
    #[must_use]
    pub fn default_value(mut self, value: f64) -> Self {
        self.default = Some(value);
        self
    }

    /// An earlier name of its column, under which older tables have it.
    #[must_use]
    pub fn renamed_from(mut self, name: impl Into<String>) -> Self {
        self.renamed_from.push(name.into());
        self
    }

    /// Takes centres and samples on the logarithmic scale.
    #[must_use]
    pub fn log(mut self) -> Self {
        self.scale = Scale::Log;
        self
    }

    /// Sets the unit, free text.
    #[must_use]
    pub fn unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = Some(unit.into());
        self
    }

    /// Makes the variable hierarchical: it exists where `condition` holds and takes `inactive_value` elsewhere.
    #[must_use]
    pub fn active_if(mut self, condition: impl Into<String>, inactive_value: f64) -> Self {
        self.active_if = Some(condition.into());
        self.inactive_value = inactive_value;
        self
    }

    /// The variable as expressions see it.
    pub fn in_expressions(&self) -> constraints::Variable {
        constraints::Variable {
            name: self.name.clone(),
            domain: self.domain(),
            level_names: self.levels().to_vec(),
        }
    }

    /// The allowed values.
    pub fn domain(&self) -> Domain {
        match &self.kind {
            Kind::Continuous { lower, upper } => Domain::Continuous { lower: *lower, upper: *upper },
            Kind::Integer { lower, upper } => Domain::Integer { lower: *lower, upper: *upper },
            Kind::Binary => Domain::Integer { lower: 0.0, upper: 1.0 },
            Kind::Discrete(values) => Domain::Discrete(values.clone()),
            Kind::Categorical(levels) => Domain::Categorical { levels: levels.len() },
            Kind::Grid(grid) => Domain::Grid(*grid),
        }
    }

    /// The names of the levels; empty for numbers.
    pub fn levels(&self) -> &[String] {
        match &self.kind {
            Kind::Categorical(levels) => levels,
            _ => &[],
        }
    }

    /// The levels that may be suggested.
    pub fn offered_levels(&self) -> &[String] {
        let levels = self.levels();
        &levels[..levels.len() - self.n_removed.min(levels.len())]
    }

    /// Checks that the variable could be suggested with a value.
    ///
    /// # Errors
    /// A value outside its bounds, list, grid or levels, a level that was removed.
    pub fn check_offered(&self, value: f64) -> Result<(), ValueError> {
        let in_interval = |[lower, upper]: [f64; 2]| value == 0.0 || (lower <= value && value <= upper);
        let is_removed = !self.levels().is_empty() && value >= self.offered_levels().len() as f64;
        if self.domain().contains(value) && self.or_zero.is_none_or(in_interval) && !is_removed {
            return Ok(());
        }
        Err(ValueError {
            message: format!("{} is none of its values", self.format_value(value)),
            expected: self.expected(),
        })
    }

    /// Reads a value as people and spreadsheets write it: a level by its text, else by an equal number (`0` for the level `0.0`); a number
    /// for the rest, `true` and `false` for a binary variable. A number need not lie in the domain.
    ///
    /// # Errors
    /// An unknown level, or no finite number.
    pub fn parse_value(&self, text: &str) -> Result<f64, ValueError> {
        self.parse_with(text, parse_number)
    }

    /// [`Variable::parse_value`] with the reader of numbers that the file's decimal mark asks for.
    pub(crate) fn parse_with(
        &self,
        text: &str,
        number: impl Fn(&str) -> Option<f64>,
    ) -> Result<f64, ValueError> {
        let trimmed = text.trim();
        if let Kind::Categorical(levels) = &self.kind {
            return self.parse_level(levels, text, number);
        }
        if let (Kind::Binary, Some(x)) = (&self.kind, truth(trimmed)) {
            return Ok(x);
        }
        number(trimmed).ok_or_else(|| ValueError {
            message: format!("{text:?} is no number"),
            expected: self.expected(),
        })
    }

    fn parse_level(
        &self,
        levels: &[String],
        text: &str,
        number: impl Fn(&str) -> Option<f64>,
    ) -> Result<f64, ValueError> {
        let trimmed = text.trim();
        let exact = |text: &str| levels.iter().position(|level| level == text);
        // Some systems write letters with their accents apart.
        let same = |text: &str| levels.iter().position(|level| composed(level) == composed(text));
        if let Some(level) = exact(text).or_else(|| exact(trimmed)).or_else(|| same(trimmed)) {
            return Ok(level as f64);
        }
        if let Some(value) = number(trimmed) {
            let mut equal = (0..levels.len()).filter(|&i| parse_number(&levels[i]) == Some(value));
            if let Some(level) = equal.next() {
                return match equal.next() {
                    None => Ok(level as f64),
                    Some(other) => Err(ValueError {
                        message: format!(
                            "{text:?} can mean level {:?} or {:?}",
                            levels[level], levels[other]
                        ),
                        expected: "the level's exact text".to_owned(),
                    }),
                };
            }
        }
        let hint = spelling::hint(trimmed, levels.iter().map(String::as_str));
        Err(ValueError { message: format!("unknown level {text:?}{hint}"), expected: self.expected() })
    }

    /// The value as text: a level's name, else the shortest text that reads back to the same number.
    pub fn format_value(&self, value: f64) -> String {
        match &self.kind {
            Kind::Categorical(levels) => level_name(levels, value).to_owned(),
            _ => self.decimals.map_or_else(|| format_number(value), |decimals| decimals.format(value)),
        }
    }

    /// The value as JSON: a level as a string, a whole-number variable as an integer, other numbers as such.
    pub fn to_json(&self, value: f64) -> Value {
        match &self.kind {
            Kind::Categorical(levels) => Value::from(level_name(levels, value)),
            Kind::Integer { .. } | Kind::Binary if value.fract() == 0.0 && value.abs() <= 2f64.powi(53) => {
                Value::from(value as i64)
            }
            // A zero has no sign here.
            _ => Value::from(value + 0.0),
        }
    }

    /// Reads a JSON value: a number, a string as in [`Variable::parse_value`], `true` or `false`.
    ///
    /// # Errors
    /// As [`Variable::parse_value`]; null, arrays and objects.
    pub fn from_json(&self, value: &Value) -> Result<f64, ValueError> {
        match value {
            Value::String(text) => self.parse_value(text),
            Value::Bool(_) | Value::Number(_) => self.parse_value(&value.to_string()),
            _ => Err(ValueError { message: format!("{value} is no value"), expected: self.expected() }),
        }
    }

    /// What a value looks like, for messages.
    pub fn expected(&self) -> String {
        if let (Some([lower, upper]), Kind::Continuous { .. }) = (self.or_zero, &self.kind) {
            return format!("0 or a number in [{}, {}]", format_number(lower), format_number(upper));
        }
        if let Some(decimals) = self.decimals {
            return decimals.expected(self.or_zero);
        }
        match &self.kind {
            Kind::Continuous { lower, upper } => {
                format!("a number in [{}, {}]", format_number(*lower), format_number(*upper))
            }
            Kind::Integer { lower, upper } => {
                format!("a whole number in [{}, {}]", format_number(*lower), format_number(*upper))
            }
            Kind::Binary => "0 or 1".to_owned(),
            Kind::Discrete(values) => format!("one of {}", listed(values.iter().map(|&v| format_number(v)))),
            Kind::Categorical(_) => {
                let offered = self.offered_levels().iter();
                format!("one of {}", listed(offered.map(|level| format!("{level:?}"))))
            }
            Kind::Grid(grid) => {
                let last = grid.value(grid.count() - 1);
                let (_, step, digits) = grid.numerators();
                let step = step as f64 / 10f64.powi(digits as i32);
                format!(
                    "{} to {} in steps of {}",
                    format_number(grid.value(0)),
                    format_number(last),
                    format_number(step)
                )
            }
        }
    }
}

/// At most a dozen items, then how many more.
fn listed(items: impl ExactSizeIterator<Item = String>) -> String {
    const SHOWN: usize = 12;
    let more = items.len().saturating_sub(SHOWN);
    let mut text = items.take(SHOWN).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

fn level_name(levels: &[String], value: f64) -> &str {
    levels.get(value as usize).map_or("?", String::as_str)
}

fn truth(text: &str) -> Option<f64> {
    if text.eq_ignore_ascii_case("true") {
        Some(1.0)
    } else if text.eq_ignore_ascii_case("false") {
        Some(0.0)
    } else {
        None
    }
}
