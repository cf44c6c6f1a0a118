//! The problem file: TOML in, checked [`Problem`] out.

use std::ops::Range;

use toml::de::DeTable;

use super::builder::{check_name, check_values};
use super::error::Mistakes;
use super::range::{needed, read_numbers, read_range};
use super::source::Source;
use super::table::{Located, Reader, described, join, one_of};
use super::{
    Goal, Kind, ModelEntry, Modelled, Problem, ProblemBuilder, ProblemError, Scale, Variable, settings_table,
};

/// The keys of the file itself.
const SECTIONS: [&str; 7] = ["name", "objective", "variables", "models", "define", "constraints", "settings"];

/// Every key a variable can have, by type below.
const VARIABLE_KEYS: [&str; 14] = [
    "type",
    "bounds",
    "levels",
    "values",
    "step",
    "decimals",
    "or_zero",
    "removed",
    "scale",
    "unit",
    "active_if",
    "inactive_value",
    "default",
    "renamed_from",
];

/// The type of a variable as the file names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Continuous,
    Integer,
    Binary,
    Discrete,
    Categorical,
}

const TYPES: [(&str, Type); 5] = [
    ("continuous", Type::Continuous),
    ("integer", Type::Integer),
    ("binary", Type::Binary),
    ("discrete", Type::Discrete),
    ("categorical", Type::Categorical),
];

impl Type {
    /// The keys that belong to this type, beside `type` the necessary one first.
    fn keys(self) -> Vec<&'static str> {
        let own: &[&str] = match self {
            Self::Continuous => &["type", "bounds", "step", "decimals", "or_zero", "scale"],
            Self::Integer => &["type", "bounds", "step", "or_zero", "scale"],
            Self::Binary => &["type"],
            Self::Discrete => &["type", "values", "scale"],
            Self::Categorical => &["type", "levels", "removed"],
        };
        [own, &["unit", "active_if", "inactive_value", "default", "renamed_from"]].concat()
    }

    fn name(self) -> &'static str {
        TYPES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// Parses and checks a problem file.
pub(super) fn parse(source: &Source) -> Result<Problem, ProblemError> {
    let draft = read(source)?;
    if let Some(models) = &draft.models {
        let message = "a problem over trained models has no experiments";
        let expected = "`leafgp optimize` for this file";
        return Err(draft.reader.refuse(&models.section, "models", message, expected));
    }
    draft.built(ProblemBuilder::build)
}

/// Parses and checks a problem file with `[models]`; `None` when there are none.
pub(super) fn parse_modelled(source: Source) -> Result<Option<Modelled>, ProblemError> {
    let mut draft = read(&source)?;
    let Some(ModelsTable { section, entries, spans, objective }) = draft.models.take() else {
        // The models may be among the mistakes.
        draft.mistakes.append(draft.needed);
        return if draft.mistakes.is_empty() { Ok(None) } else { draft.mistakes.none_in(None) };
    };
    let refusal = match (&objective, draft.builder.objective.goal) {
        (None, _) => {
            let message = "`expression` is missing: what is optimised is computed from the models";
            let expected = "such as expression = \"strength - 0.3 * shrinkage\" below [objective]";
            Err(draft.reader.refuse(&section, "objective.expression", message, expected))
        }
        (Some(objective), Goal::Target(target)) => {
            let message = "a problem over trained models has no target";
            let expected = format!("goal = \"minimize\" and expression = \"abs({objective} - {target})\"");
            Err(draft.reader.refuse(&section, "objective.goal", message, expected))
        }
        _ => Ok(()),
    };
    draft.needed.note(refusal);
    draft.builder.models = entries.iter().map(|entry| entry.name.clone()).collect();
    let objective = objective.unwrap_or_default();
    let (problem, objective) = draft.built(|builder| builder.build_with(&objective))?;
    Ok(Some(Modelled { problem, objective, models: entries, source: Some(source), spans }))
}

/// A file that was read: what it says, and what is wrong with it.
struct Draft<'a> {
    builder: ProblemBuilder,
    models: Option<ModelsTable>,
    reader: Reader<'a>,
    mistakes: Mistakes,
    /// Mistakes without whose correction rules cannot be judged.
    needed: Mistakes,
}

impl Draft<'_> {
    /// What is built of a file without mistakes; else all mistakes.
    fn built<T>(
        mut self,
        build: impl FnOnce(ProblemBuilder) -> Result<T, ProblemError>,
    ) -> Result<T, ProblemError> {
        let mut problem = None;
        if self.needed.is_empty() {
            problem = self.mistakes.note(build(self.builder).map_err(|e| self.reader.locate(e)));
        }
        self.mistakes.append(self.needed);
        self.mistakes.none_in(problem)
    }
}

/// The models of a problem file, and the objective's expression.
struct ModelsTable {
    section: Range<usize>,
    entries: Vec<ModelEntry>,
    spans: Vec<Range<usize>>,
    objective: Option<String>,
}

/// Reads a file; only a text that is no TOML is an error yet.
fn read(source: &Source) -> Result<Draft<'_>, ProblemError> {
    let document = DeTable::parse(source.text()).map_err(|e| {
        let end = source.text().len();
        let span = e.span().unwrap_or(end..end);
        if let Some((key, message)) = bare_key(source.text(), span.start) {
            let expected = format!("quotes around it: \"{}\"", &source.text()[key.clone()]);
            return source.locate(ProblemError::new("", message, expected), &key);
        }
        let message = format!("not valid TOML: {}", e.message().replace('\n', ", "));
        source.locate(ProblemError::new("", message, ""), &span)
    })?;
    let mut reader = Reader::new(source, "the problem file");
    let root = document.get_ref();
    let mut mistakes = Mistakes::default();
    mistakes.note(check_sections(&reader, root));
    let settings = root.get("settings").map(|value| settings_table::read(&mut reader, value));
    let settings = settings.and_then(|settings| mistakes.note(settings)).unwrap_or_default();
    let name = root.get("name").map(|value| reader.text("name", value, "name = \"pressure vessel\""));
    let name = name.map_or_else(
        || Some(source.file().file_stem()?.to_string_lossy().into_owned()),
        |name| mistakes.note(name),
    );
    let mut builder = ProblemBuilder::new(name.unwrap_or_default()).settings(settings);
    // What rules are about must be known before anything can be said of them.
    let mut needed = Mistakes::default();
    let mut expression = None;
    if let Some(read) = needed.note(read_objective(&mut reader, root, builder.clone())) {
        (builder, expression) = read;
    }
    builder = read_variables(&mut reader, root, builder, &mut needed);
    builder = read_defines(&mut reader, root, builder, &mut needed);
    builder = read_constraints(&mut reader, root, builder, &mut mistakes);
    let models = needed.note(read_models(&mut reader, root, expression)).flatten();
    Ok(Draft { builder, models, reader, mistakes, needed })
}

fn read_models(
    reader: &mut Reader<'_>,
    root: &DeTable<'_>,
    objective: Option<String>,
) -> Result<Option<ModelsTable>, ProblemError> {
    const EXAMPLE: &str = "strength = { file = \"strength.txt\" }";
    let Some(section) = root.get("models") else { return Ok(None) };
    let table = reader.table("models", section, &format!("[models] {EXAMPLE}"))?;
    let folder = reader.folder();
    let (mut entries, mut spans) = (Vec::new(), Vec::new());
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        let field = join("models", name);
        reader.check_misplaced_list(name, value, "models")?;
        let entry = reader.table(&field, value, EXAMPLE)?;
        reader.remember(&field, key.span());
        reader.check_keys(entry, &field, &["file", "class", "by_position"])?;
        check_name(name).map_err(|e| reader.locate(e.within(&field)))?;
        let file = needed(reader, &field, entry, "file", "\"strength.txt\"")?;
        let file = reader.text(&format!("{field}.file"), file, "\"strength.txt\"")?;
        let class = match entry.get("class") {
            Some(value) => {
                let at = format!("{field}.class");
                let class = reader.number(&at, value)?;
                if class < 0.0 || class.fract() != 0.0 || class > 1e6 {
                    let expected = "the number of a class, from 0";
                    return Err(reader.refuse(&value.span(), &at, format!("{class} is no class"), expected));
                }
                Some(class as usize)
            }
            None => None,
        };
        let by_position = match entry.get("by_position") {
            Some(value) => reader.boolean(&format!("{field}.by_position"), value)?,
            None => false,
        };
        entries.push(ModelEntry { name: name.to_owned(), file: folder.join(file), class, by_position });
        spans.push(key.span());
    }
    if entries.is_empty() {
        let message = "there are no models";
        return Err(reader.refuse(&section.span(), "models", message, format!("such as {EXAMPLE}")));
    }
    Ok(Some(ModelsTable { section: section.span(), entries, spans, objective }))
}

/// The key without quotes on the line of a mistake that needs them, and what is to be said of it.
fn bare_key(text: &str, mistake: usize) -> Option<(std::ops::Range<usize>, String)> {
    let start = text.get(..mistake)?.rfind('\n').map_or(0, |i| i + 1);
    let line = text[start..].lines().next()?;
    let key = line.split_once('=')?.0.trim();
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if key.is_empty() || key.chars().all(is_bare) || key.contains(['"', '\'', '#', '[', ']', '{', '}', ',']) {
        return None;
    }
    let place = start + line.find(key)?;
    let message = format!("the name {key} holds more than letters A to Z, digits, `_` and `-`");
    Some((place..place + key.len(), message))
}

fn check_sections(reader: &Reader<'_>, root: &DeTable<'_>) -> Result<(), ProblemError> {
    for (key, _) in root {
        let name = key.get_ref().as_ref();
        if !SECTIONS.contains(&name) && settings_table::is_setting(name) {
            let message = format!("unknown key `{name}` in the problem file: it is a setting");
            return Err(reader.refuse(&key.span(), name, message, format!("`{name}` below [settings]")));
        }
    }
    reader.check_keys(root, "", &SECTIONS)
}

/// A section that must be there.
fn required<'t>(
    reader: &Reader<'_>,
    root: &'t DeTable<'_>,
    name: &str,
    example: &str,
) -> Result<&'t Located<'t>, ProblemError> {
    root.get(name).ok_or_else(|| {
        let error =
            ProblemError::new(name, format!("the problem has no [{name}]"), format!("such as {example}"));
        reader.locate(error)
    })
}

/// The objective; with it its expression, which only problems over models have.
fn read_objective(
    reader: &mut Reader<'_>,
    root: &DeTable<'_>,
    builder: ProblemBuilder,
) -> Result<(ProblemBuilder, Option<String>), ProblemError> {
    const EXAMPLE: &str = "[objective] name = \"cost\", goal = \"minimize\"";
    const GOALS: &str = "goal = \"minimize\", goal = \"maximize\" or goal = { target = 50 }";
    let section = required(reader, root, "objective", EXAMPLE)?;
    let table = reader.table("objective", section, EXAMPLE)?;
    let known: &[&str] = match root.contains_key("models") {
        true => &["name", "goal", "renamed_from", "expression"],
        false => &["name", "goal", "renamed_from"],
    };
    reader.check_keys(table, "objective", known)?;
    let missing = |reader: &Reader<'_>, key: &str, expected: &str| {
        reader.refuse(&section.span(), &format!("objective.{key}"), format!("`{key}` is missing"), expected)
    };
    let Some(name) = table.get("name") else {
        return Err(missing(reader, "name", "the name of the history's column, such as name = \"cost\""));
    };
    let Some(goal) = table.get("goal") else {
        return Err(missing(reader, "goal", GOALS));
    };
    let name = reader.text("objective.name", name, "\"cost\"")?;
    let goal = read_goal(reader, goal, GOALS)?;
    let mut builder = builder.objective(name, goal);
    for old in read_old_names(reader, "objective", table)? {
        builder = builder.objective_renamed_from(old);
    }
    let expression = match table.get("expression") {
        Some(value) => Some(reader.text("objective.expression", value, "\"strength - 0.3 * shrinkage\"")?),
        None => None,
    };
    Ok((builder, expression))
}

fn read_goal(reader: &mut Reader<'_>, value: &Located<'_>, expected: &str) -> Result<Goal, ProblemError> {
    const FIELD: &str = "objective.goal";
    if value.get_ref().is_table() {
        let table = reader.table(FIELD, value, "{ target = 50 }")?;
        reader.check_keys(table, FIELD, &["target"])?;
        let Some(target) = table.get("target") else {
            return Err(reader.refuse(&value.span(), FIELD, "`target` is missing", expected));
        };
        return Ok(Goal::Target(reader.number(&format!("{FIELD}.target"), target)?));
    }
    let goals = [("minimize", Goal::Minimize), ("maximize", Goal::Maximize)];
    reader.word(FIELD, value, &goals)
}

/// `renamed_from`: one earlier name, or a list of them.
fn read_old_names(
    reader: &mut Reader<'_>,
    field: &str,
    table: &DeTable<'_>,
) -> Result<Vec<String>, ProblemError> {
    const EXAMPLE: &str = "[\"old name\"]";
    let Some(value) = table.get("renamed_from") else { return Ok(Vec::new()) };
    let field = format!("{field}.renamed_from");
    if value.get_ref().is_str() {
        return Ok(vec![reader.text(&field, value, EXAMPLE)?]);
    }
    let items = reader.array(&field, value, EXAMPLE)?;
    items.iter().enumerate().map(|(i, item)| reader.text(&format!("{field}[{i}]"), item, EXAMPLE)).collect()
}

fn read_variables(
    reader: &mut Reader<'_>,
    root: &DeTable<'_>,
    mut builder: ProblemBuilder,
    mistakes: &mut Mistakes,
) -> ProblemBuilder {
    const EXAMPLE: &str = "x = { type = \"continuous\", bounds = [0.0, 1.0] }";
    let section = required(reader, root, "variables", &format!("[variables] {EXAMPLE}"));
    let table =
        section.and_then(|section| reader.table("variables", section, &format!("[variables] {EXAMPLE}")));
    let Some(table) = mistakes.note(table) else { return builder };
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        let mut read = || {
            reader.check_misplaced_list(name, value, "variables")?;
            let field = join("variables", name);
            let entries = reader.table(&field, value, EXAMPLE)?;
            // Errors about the variable as a whole point at its name.
            reader.remember(&field, key.span());
            read_variable(reader, &field, name, entries, &mut builder.warnings)
        };
        if let Some(variable) = mistakes.note(read()) {
            builder = builder.variable(variable);
        }
    }
    builder
}

fn read_variable(
    reader: &mut Reader<'_>,
    field: &str,
    name: &str,
    table: &DeTable<'_>,
    warnings: &mut Vec<String>,
) -> Result<Variable, ProblemError> {
    let names: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
    let Some(kind) = table.get("type") else {
        reader.check_keys(table, field, &VARIABLE_KEYS)?;
        let expected = format!("type = one of {}", one_of(&names));
        return Err(reader.locate(ProblemError::new(format!("{field}.type"), "`type` is missing", expected)));
    };
    let kind = reader.word(&format!("{field}.type"), kind, &TYPES)?;
    check_variable_keys(reader, field, table, kind)?;

    let mut variable = match kind {
        Type::Continuous | Type::Integer => {
            read_range(reader, field, name, table, kind == Type::Integer, warnings)?
        }
        Type::Binary => Variable::binary(name),
        Type::Discrete => {
            let values = needed(reader, field, table, "values", "[0, 12, 24, 48]")?;
            let values = read_numbers(reader, &format!("{field}.values"), values, "[0, 12, 24, 48]")?;
            // Before they are sorted, so that an error points at the right one.
            check_values(&values).map_err(|e| reader.locate(e.within(field)))?;
            Variable::discrete(name, values)
        }
        Type::Categorical => {
            let levels = needed(reader, field, table, "levels", "[\"A\", \"B\"]")?;
            let levels = read_levels(reader, &format!("{field}.levels"), levels)?;
            let removed = match table.get("removed") {
                Some(removed) => read_levels(reader, &format!("{field}.removed"), removed)?,
                None => Vec::new(),
            };
            Variable::categorical(name, levels).removed(removed)
        }
    };
    if let Some(value) = table.get("scale") {
        let scales = [("linear", Scale::Linear), ("log", Scale::Log)];
        variable.scale = reader.word(&format!("{field}.scale"), value, &scales)?;
    }
    if let Some(value) = table.get("unit") {
        variable.unit = Some(reader.text(&format!("{field}.unit"), value, "\"inch\"")?);
    }
    if let Some(value) = table.get("active_if") {
        variable.active_if = Some(reader.text(&format!("{field}.active_if"), value, "\"layers >= 2\"")?);
    }
    if let Some(value) = table.get("inactive_value") {
        let field = format!("{field}.inactive_value");
        if variable.active_if.is_none() {
            let message = "`inactive_value` without `active_if`: the variable is always active";
            return Err(reader.refuse(&value.span(), &field, message, "both or neither"));
        }
        variable.inactive_value = read_value(reader, &field, value, &variable)?;
    }
    if let Some(value) = table.get("default") {
        variable.default = Some(read_value(reader, &format!("{field}.default"), value, &variable)?);
    }
    variable.renamed_from = read_old_names(reader, field, table)?;
    Ok(variable)
}

fn read_levels(
    reader: &mut Reader<'_>,
    field: &str,
    value: &Located<'_>,
) -> Result<Vec<String>, ProblemError> {
    let items = reader.array(field, value, "[\"A\", \"B\"]")?;
    items.iter().enumerate().map(|(i, item)| reader.level(&format!("{field}[{i}]"), item)).collect()
}

fn check_variable_keys(
    reader: &Reader<'_>,
    field: &str,
    table: &DeTable<'_>,
    kind: Type,
) -> Result<(), ProblemError> {
    for (key, _) in table {
        let name = key.get_ref().as_ref();
        if VARIABLE_KEYS.contains(&name) && !kind.keys().contains(&name) {
            let message = format!("`{name}` does not belong to type \"{}\"", kind.name());
            return Err(reader.refuse(&key.span(), &join(field, name), message, one_of(&kind.keys())));
        }
    }
    reader.check_keys(table, field, &kind.keys())
}

/// A value of the variable: text for a level, else a number.
fn read_value(
    reader: &mut Reader<'_>,
    field: &str,
    value: &Located<'_>,
    variable: &Variable,
) -> Result<f64, ProblemError> {
    match &variable.kind {
        Kind::Categorical(_) => {
            let text = reader.level(field, value)?;
            variable
                .parse_value(&text)
                .map_err(|e| reader.refuse(&value.span(), field, e.message, e.expected))
        }
        Kind::Binary if value.get_ref().is_bool() => Ok(f64::from(u8::from(reader.boolean(field, value)?))),
        _ => reader.number(field, value),
    }
}

fn read_defines(
    reader: &mut Reader<'_>,
    root: &DeTable<'_>,
    mut builder: ProblemBuilder,
    mistakes: &mut Mistakes,
) -> ProblemBuilder {
    let Some(section) = root.get("define") else { return builder };
    let table = reader.table("define", section, &format!("[define] {DEFINE}"));
    for (key, value) in mistakes.note(table).into_iter().flatten() {
        let name = key.get_ref().as_ref();
        if let Some((expression, integer)) = mistakes.note(read_define(reader, name, key.span(), value)) {
            builder = builder.define(name, expression, integer);
        }
    }
    builder
}

/// The example of a definition.
const DEFINE: &str = "area = \"width * height\"";

/// A definition's expression, and whether it is whole.
fn read_define(
    reader: &mut Reader<'_>,
    name: &str,
    place: std::ops::Range<usize>,
    value: &Located<'_>,
) -> Result<(String, bool), ProblemError> {
    reader.check_misplaced_list(name, value, "define")?;
    let field = join("define", name);
    let Some(table) = value.get_ref().as_table() else {
        if !value.get_ref().is_str() {
            let message = format!("found {}", described(value.get_ref()));
            let expected =
                format!("an expression in quotes such as {DEFINE}, or {{ expr = \"...\", integer = true }}");
            return Err(reader.refuse(&value.span(), &field, message, expected));
        }
        return Ok((reader.text(&field, value, DEFINE)?, false));
    };
    reader.remember(&field, place);
    reader.check_keys(table, &field, &["expr", "integer"])?;
    let expression = needed(reader, &field, table, "expr", "\"width * height\"")?;
    // The builder's errors about an expression name the define itself.
    let expression = reader.text(&field, expression, DEFINE)?;
    let integer = match table.get("integer") {
        Some(value) => reader.boolean(&format!("{field}.integer"), value)?,
        None => false,
    };
    Ok((expression, integer))
}

fn read_constraints(
    reader: &mut Reader<'_>,
    root: &DeTable<'_>,
    mut builder: ProblemBuilder,
    mistakes: &mut Mistakes,
) -> ProblemBuilder {
    const EXAMPLE: &str = "\"x + y <= 1\"";
    let Some(section) = root.get("constraints") else { return builder };
    if section.get_ref().is_array() {
        let items = reader.array("constraints", section, EXAMPLE);
        for (i, value) in mistakes.note(items).into_iter().flatten().enumerate() {
            let field = format!("constraints[{i}]");
            if let Some(expression) = mistakes.note(reader.text(&field, value, EXAMPLE)) {
                builder = builder.constraint_at(field, expression.trim().to_owned(), expression);
            }
        }
        return builder;
    }
    let table = reader.table("constraints", section, &format!("[constraints] name = {EXAMPLE}"));
    for (key, value) in mistakes.note(table).into_iter().flatten() {
        let name = key.get_ref().as_ref();
        let field = join("constraints", name);
        let misplaced = reader.check_misplaced_list(name, value, "constraints");
        let expression = misplaced.and_then(|()| reader.text(&field, value, EXAMPLE));
        if let Some(expression) = mistakes.note(expression) {
            builder = builder.constraint_at(field, name.to_owned(), expression);
        }
    }
    builder
}
