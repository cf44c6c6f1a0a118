//! From JSON text to a checked [`Instance`].

use leafgp_solver::constraints::Variable;
use leafgp_solver::{Domain, Forest, Grid, LevelSet, Node, Rule, Tree};
use serde_json::{Map, Value};
use smallvec::SmallVec;

use super::{ActiveIf, Definition, Instance, InstanceError, NamedExpression};
use crate::Table;
use crate::gp::{GpError, Hyperparameters, VarianceKind};

/// Largest number of levels of a category: a set of levels takes a bit for each.
const MAX_LEVELS: usize = 1 << 16;

const KEYS: [&str; 16] = [
    "name",
    "kappa",
    "signal_variance",
    "noise_variance",
    "mean",
    "variance",
    "variables",
    "trees",
    "X",
    "y",
    "define",
    "constraints",
    "pending",
    "failed",
    "max_agreement",
    "sampled",
];

/// A value and where it stands, so that every complaint can say so. The place is spelled out only when there is one.
#[derive(Clone)]
struct At<'a> {
    file: &'a str,
    path: SmallVec<[Step<'a>; 5]>,
    value: &'a Value,
}

/// The way from a value to one inside it.
#[derive(Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Item(usize),
}

type Result<T> = std::result::Result<T, InstanceError>;

impl<'a> At<'a> {
    fn fail<T>(&self, problem: impl Into<String>) -> Result<T> {
        let mut at = String::new();
        for step in &self.path {
            match step {
                Step::Key(key) if at.is_empty() => at.push_str(key),
                Step::Key(key) => at.push_str(&format!(".{key}")),
                Step::Item(i) => at.push_str(&format!("[{i}]")),
            }
        }
        if at.is_empty() {
            at.push_str("the whole");
        }
        Err(InstanceError::Value { file: self.file.to_string(), at, problem: problem.into() })
    }

    fn expected<T>(&self, what: &str) -> Result<T> {
        let found = match self.value {
            Value::Null => "null".to_string(),
            Value::Array(items) => format!("a list of {}", items.len()),
            Value::Object(_) => "an object".to_string(),
            scalar => scalar.to_string(),
        };
        self.fail(format!("expected {what}, found {found}"))
    }

    fn object(&self, known: &[&str]) -> Result<&'a Map<String, Value>> {
        let Value::Object(map) = self.value else { return self.expected("an object") };
        match map.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => self.fail(format!("unknown key `{key}`; expected {}", known.join(", "))),
            None => Ok(map),
        }
    }

    fn inside(&self, step: Step<'a>, value: &'a Value) -> At<'a> {
        let mut path = self.path.clone();
        path.push(step);
        At { file: self.file, path, value }
    }

    fn optional(&self, key: &'a str) -> Option<At<'a>> {
        let value = self.value.as_object()?.get(key)?;
        Some(self.inside(Step::Key(key), value))
    }

    fn get(&self, key: &'a str) -> Result<At<'a>> {
        self.optional(key).map_or_else(|| self.fail(format!("the key `{key}` is missing")), Ok)
    }

    fn items(&self) -> Result<impl ExactSizeIterator<Item = At<'a>> + use<'a>> {
        let Value::Array(items) = self.value else { return self.expected("a list") };
        let list = self.clone();
        Ok(items.iter().enumerate().map(move |(i, value)| list.inside(Step::Item(i), value)))
    }

    fn text(&self) -> Result<String> {
        self.value.as_str().map_or_else(|| self.expected("text"), |text| Ok(text.to_string()))
    }

    fn number(&self) -> Result<f64> {
        match self.value.as_f64() {
            Some(number) if number.is_finite() => Ok(number),
            _ => self.expected("a finite number"),
        }
    }

    /// A whole number from 0; `2.0` is one too.
    fn index(&self) -> Result<usize> {
        let number = self.number()?;
        if number < 0.0 || number.fract() != 0.0 || number > 9e15 {
            return self.expected("a whole number from 0");
        }
        Ok(number as usize)
    }

    fn flag(&self) -> Result<bool> {
        self.value.as_bool().map_or_else(|| self.expected("true or false"), Ok)
    }
}

/// See [`Instance::parse`].
pub(super) fn parse(text: &str, file: &str) -> Result<Instance> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| InstanceError::Json { file: file.to_string(), message: explain(text, &error) })?;
    let root = At { file, path: SmallVec::new(), value: &value };
    root.object(&KEYS)?;
    let (variables, active_if): (Vec<_>, Vec<_>) = root
        .get("variables")?
        .items()?
        .enumerate()
        .map(|(i, at)| variable(i, &at))
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .unzip();
    for (i, v) in variables.iter().enumerate() {
        if let Some(j) = variables[..i].iter().position(|w| w.name == v.name) {
            return root.fail(format!("variables {j} and {i} are both named `{}`", v.name));
        }
    }
    let domains: Vec<Domain> = variables.iter().map(|v| v.domain.clone()).collect();
    let kappa = root.get("kappa")?;
    let trees = root
        .get("trees")?
        .items()?
        .enumerate()
        .map(|(t, at)| tree(t, &at, &domains))
        .collect::<Result<Vec<_>>>()?;
    let forest = Forest::new(trees, &domains)
        .map_err(|source| InstanceError::Forest { file: file.to_string(), source })?;
    let x = points(&root.get("X")?, &domains)?;
    let listed = |key| root.optional(key).map_or(Ok(Table::new(domains.len())), |at| points(&at, &domains));
    let (pending, failed) = (listed("pending")?, listed("failed")?);
    let targets = root.get("y")?;
    let y = targets.items()?.map(|at| at.number()).collect::<Result<Vec<f64>>>()?;
    if y.len() != x.n_rows() {
        return targets.fail(format!("{} targets for the {} rows of X", y.len(), x.n_rows()));
    }
    Ok(Instance {
        name: root.get("name")?.text()?,
        kappa: match kappa.number()? {
            number if number >= 0.0 => number,
            _ => return kappa.expected("a number from 0"),
        },
        hyperparameters: hyperparameters(&root)?,
        variance: match root.optional("variance") {
            None => VarianceKind::Latent,
            Some(at) => match at.text()?.as_str() {
                "latent" => VarianceKind::Latent,
                "observed" => VarianceKind::Observed,
                _ => return at.expected("\"latent\" or \"observed\""),
            },
        },
        pending,
        failed,
        max_agreement: root.optional("max_agreement").map(|at| share(&at)).transpose()?,
        variables,
        active_if,
        forest,
        x,
        y,
        define: list(&root, "define", definition)?,
        constraints: list(&root, "constraints", constraint)?,
        sampled: root.optional("sampled").map(|at| at.value.clone()),
    })
}

/// The parser's message, with a hint where Python's `json` wrote what JSON does not have.
fn explain(text: &str, error: &serde_json::Error) -> String {
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or("").as_bytes();
    let start = error.column().saturating_sub(3).min(line.len());
    let near = String::from_utf8_lossy(&line[start..line.len().min(start + 12)]);
    match ["NaN", "Infinity"].into_iter().find(|word| near.contains(word)) {
        Some(word) => format!("{word} is no number in JSON; expected a finite number ({error})"),
        None => error.to_string(),
    }
}

fn list<'a, T>(root: &At<'a>, key: &'a str, read: impl Fn(&At<'a>) -> Result<T>) -> Result<Vec<T>> {
    root.optional(key).map_or(Ok(Vec::new()), |at| at.items()?.map(|item| read(&item)).collect())
}

fn hyperparameters<'a>(root: &At<'a>) -> Result<Hyperparameters> {
    let (signal, noise) = (root.get("signal_variance")?, root.get("noise_variance")?);
    let hyperparameters = Hyperparameters {
        signal_variance: positive(&signal)?,
        noise_variance: positive(&noise)?,
        mean: root.optional("mean").map_or(Ok(0.0), |at| at.number())?,
    };
    match hyperparameters.validate() {
        Ok(()) => Ok(hyperparameters),
        Err(error @ GpError::Setting { name: "signal_variance", .. }) => signal.fail(error.to_string()),
        Err(error) => noise.fail(error.to_string()),
    }
}

fn positive(at: &At<'_>) -> Result<f64> {
    match at.number()? {
        number if number > 0.0 => Ok(number),
        _ => at.expected("a number above 0"),
    }
}

fn share(at: &At<'_>) -> Result<f64> {
    match at.number()? {
        number if (0.0..=1.0).contains(&number) => Ok(number),
        _ => at.expected("a number from 0 to 1"),
    }
}

fn variable(index: usize, at: &At<'_>) -> Result<(Variable, Option<ActiveIf>)> {
    const COMMON: [&str; 4] = ["type", "name", "active_if", "inactive_value"];
    let with = |own: &[&str]| at.object(&[&COMMON, own].concat());
    if !at.value.is_object() {
        return at.expected("an object");
    }
    let kind = at.get("type")?;
    let mut level_names = Vec::new();
    let domain = match kind.text()?.as_str() {
        "continuous" => {
            with(&["lower", "upper", "step"])?;
            let (lower, upper) = bounds(at)?;
            match at.optional("step") {
                None => Domain::Continuous { lower, upper },
                Some(step) => grid(lower, upper, &step)?,
            }
        }
        "integer" => {
            with(&["lower", "upper"])?;
            let (lower, upper) = bounds(at)?;
            for (key, bound) in [("lower", lower), ("upper", upper)] {
                if bound.fract() != 0.0 || bound.abs() > 9_007_199_254_740_992.0 {
                    return at.get(key)?.expected("a whole number of at most 2^53");
                }
            }
            Domain::Integer { lower, upper }
        }
        "binary" => {
            with(&[])?;
            Domain::Integer { lower: 0.0, upper: 1.0 }
        }
        "discrete" => {
            with(&["values"])?;
            let list = at.get("values")?;
            let values = list.items()?.map(|v| v.number()).collect::<Result<Vec<f64>>>()?;
            if values.is_empty() || values.windows(2).any(|pair| pair[0] >= pair[1]) {
                return list.expected("a list of ascending numbers");
            }
            Domain::Discrete(values)
        }
        "categorical" => {
            with(&["categories", "levels"])?;
            let count = at.get("categories")?;
            let levels = count.index()?;
            if levels == 0 || levels > MAX_LEVELS {
                return count.expected(&format!("a whole number from 1 to {MAX_LEVELS}"));
            }
            level_names = match at.optional("levels") {
                None => (0..levels).map(|l| l.to_string()).collect(),
                Some(names) => {
                    let list = names.items()?.map(|name| name.text()).collect::<Result<Vec<_>>>()?;
                    if list.len() != levels {
                        return names.expected(&format!("{levels} names"));
                    }
                    list
                }
            };
            Domain::Categorical { levels }
        }
        _ => return kind.expected("continuous, integer, binary, discrete or categorical"),
    };
    let name = at.optional("name").map_or(Ok(format!("x{index}")), |name| name.text())?;
    let active_if = match (at.optional("active_if"), at.optional("inactive_value")) {
        (None, None) => None,
        (Some(condition), Some(value)) => {
            let inactive_value = value.number()?;
            if !domain.contains(inactive_value) {
                return value.expected("an allowed value of the variable");
            }
            Some(ActiveIf { condition: condition.text()?, inactive_value })
        }
        _ => return at.fail("`active_if` and `inactive_value` belong together"),
    };
    Ok((Variable { name, domain, level_names }, active_if))
}

fn bounds(at: &At<'_>) -> Result<(f64, f64)> {
    let (lower, upper) = (at.get("lower")?.number()?, at.get("upper")?.number()?);
    if lower > upper {
        return at.fail(format!("lower = {lower} is above upper = {upper}"));
    }
    Ok((lower, upper))
}

/// The grid `lower + k * step` up to `upper`, in decimals.
fn grid(lower: f64, upper: f64, step: &At<'_>) -> Result<Domain> {
    let width = positive(step)?;
    let found = decimal(lower).zip(decimal(width)).and_then(|((first, d1), (by, d2))| {
        let digits = d1.max(d2);
        let scaled = |n: i64, d: u32| n.checked_mul(10i64.checked_pow(digits - d)?);
        let (first, by) = (scaled(first, d1)?, scaled(by, d2)?);
        // How many steps fit is decided on the grid's own values, which are exact decimals.
        let guess = ((upper - lower) / width).round();
        let count = if guess < 9e15 { guess as u64 + 2 } else { return None };
        (1..=count).rev().take(4).find_map(|count| {
            let grid = Grid::new(first, by, digits, count)?;
            (grid.value(count - 1) <= upper).then_some(grid)
        })
    });
    found.map_or_else(
        || step.expected("a decimal step that gives fewer than 2^53 values of at most 15 decimals"),
        |grid| Ok(Domain::Grid(grid)),
    )
}

/// A number as `n / 10^digits`, from its shortest decimal text; `None` beyond 15 decimals or 18 digits.
fn decimal(x: f64) -> Option<(i64, u32)> {
    let text = x.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits = u32::try_from(fraction.len()).ok().filter(|&d| d <= Grid::MAX_DIGITS)?;
    Some((format!("{whole}{fraction}").parse().ok()?, digits))
}

fn tree(index: usize, at: &At<'_>, domains: &[Domain]) -> Result<Tree> {
    let nodes = at.items()?.map(|node| self::node(index, &node, domains)).collect::<Result<Vec<_>>>()?;
    Ok(Tree { nodes })
}

fn node(tree: usize, at: &At<'_>, domains: &[Domain]) -> Result<Node> {
    let map = at.object(&["feature", "threshold", "categories", "left", "right", "leaf", "value"])?;
    if map.contains_key("leaf") {
        at.object(&["leaf", "value"])?;
        return Ok(Node::Leaf { leaf: at.get("leaf")?.index()?, value: at.get("value")?.number()? });
    }
    at.object(&["feature", "threshold", "categories", "left", "right"])?;
    let asked = at.get("feature")?;
    let feature = asked.index()?;
    let Some(domain) = domains.get(feature) else {
        return asked
            .fail(format!("tree {tree} asks feature {feature}; there are {} variables", domains.len()));
    };
    let rule = match (at.optional("threshold"), at.optional("categories")) {
        (Some(threshold), None) => Rule::Threshold(threshold.number()?),
        (None, Some(list)) => {
            let Some(levels) = domain.levels() else {
                return list.fail(format!("feature {feature} is a number; expected a threshold"));
            };
            let mut set = LevelSet::empty(levels);
            for item in list.items()? {
                match item.index()? {
                    level if level < levels => set.insert(level),
                    _ => return item.expected(&format!("a level from 0 to {}", levels - 1)),
                }
            }
            Rule::Levels(set)
        }
        _ => return at.fail("expected `leaf`, or a split with either `threshold` or `categories`"),
    };
    Ok(Node::Split { feature, rule, left: at.get("left")?.index()?, right: at.get("right")?.index()? })
}

fn points(at: &At<'_>, domains: &[Domain]) -> Result<Table> {
    let mut table = Table::new(domains.len());
    for row in at.items()? {
        let values = row.items()?.map(|v| v.number()).collect::<Result<Vec<f64>>>()?;
        if values.len() != domains.len() {
            return row.fail(format!("{} values; there are {} variables", values.len(), domains.len()));
        }
        for (j, (&value, domain)) in values.iter().zip(domains).enumerate() {
            // Numbers may lie outside their box or off their grid (kept for training), but a level that does not exist says nothing.
            if domain.is_categorical() && !domain.contains(value) {
                let levels = domain.levels().unwrap_or(0);
                return row.fail(format!(
                    "value {value} of variable {j}; expected a level from 0 to {}",
                    levels - 1
                ));
            }
        }
        table.push(&values);
    }
    Ok(table)
}

fn definition(at: &At<'_>) -> Result<Definition> {
    at.object(&["name", "expr", "integer"])?;
    Ok(Definition {
        name: at.get("name")?.text()?,
        expr: at.get("expr")?.text()?,
        integer: at.optional("integer").map_or(Ok(false), |flag| flag.flag())?,
    })
}

fn constraint(at: &At<'_>) -> Result<NamedExpression> {
    if let Some(text) = at.value.as_str() {
        return Ok(NamedExpression { name: text.to_string(), expr: text.to_string() });
    }
    if !at.value.is_object() {
        return at.expected("an expression, or {name, expr}");
    }
    at.object(&["name", "expr"])?;
    Ok(NamedExpression { name: at.get("name")?.text()?, expr: at.get("expr")?.text()? })
}
