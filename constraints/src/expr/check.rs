//! Names and types: a syntax tree becomes operations, or an error at the offending character.

mod levels;

use std::collections::BTreeMap;
use std::ops::Range;

use super::ast::{Ast, Binary, Kind, Relation};
use super::lexer::error;
use super::names::{functions, instead_of};
use super::near::nearest;
use super::parser::parse;
use super::program::{Comparison, Condition, ConditionId, Number, NumberId, Program};
use crate::domain::Domain;
use crate::function::{Extreme, Function};
use crate::{ExprError, Variable};

/// A checked expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Typed {
    Number(NumberId),
    Condition(ConditionId),
    /// A categorical variable.
    Category(usize),
    /// A quoted level.
    Text(String),
}

impl Typed {
    fn describe(&self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::Condition(_) => "a condition",
            Self::Category(_) => "a category",
            Self::Text(_) => "a quoted level",
        }
    }
}

/// How deep operations may lie within each other, through definitions too: conditions and compilation are recursive. Sums, lists of arguments and chains of
/// `and` or `or` do not nest.
const MAX_NESTING: u32 = 500;

/// What names mean, and the operations collected so far.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) program: Program,
    pub(crate) variables: Vec<Variable>,
    domains: Vec<Domain>,
    names: BTreeMap<String, Typed>,
    /// The text being checked.
    source: String,
}

/// `min` and `max` of more arguments become trees.
const MANY_ARGUMENTS: usize = 64;

impl Scope {
    /// A scope of variables.
    pub(crate) fn new(variables: Vec<Variable>) -> Result<Self, ExprError> {
        let domains: Vec<Domain> = variables.iter().map(|v| v.domain.clone()).collect();
        let mut scope = Self {
            program: Program::about(&domains),
            variables,
            domains,
            names: BTreeMap::new(),
            source: String::new(),
        };
        for i in 0..scope.variables.len() {
            let name = scope.variables[i].name.clone();
            let meaning = if scope.domains[i].is_categorical() {
                Typed::Category(i)
            } else {
                Typed::Number(scope.program.number(Number::Variable(i)))
            };
            scope.name(&name, meaning)?;
        }
        Ok(scope)
    }

    /// Gives a name to a checked expression.
    pub(crate) fn name(&mut self, name: &str, meaning: Typed) -> Result<(), ExprError> {
        if name.is_empty() {
            return Err(error("a name is empty", 0..0));
        }
        if self.names.contains_key(name) {
            return Err(error(format!("`{name}` is defined twice"), 0..0));
        }
        if let Typed::Number(id) = meaning {
            self.program.mark_named(id);
        }
        self.names.insert(name.to_owned(), meaning);
        Ok(())
    }

    pub(crate) fn domains(&self) -> &[Domain] {
        &self.domains
    }

    /// Checks an expression of any type.
    pub(crate) fn expression(&mut self, text: &str) -> Result<Typed, ExprError> {
        let ast = parse(text)?;
        text.clone_into(&mut self.source);
        let meaning = self.typed(&ast)?;
        let depth = match meaning {
            Typed::Number(id) => self.program.depth(id),
            Typed::Condition(id) => self.program.depth_of_condition(id),
            Typed::Category(_) | Typed::Text(_) => 0,
        };
        if depth > MAX_NESTING {
            let message = format!(
                "the operations lie too deep within each other, definitions included: {depth} levels, the limit is {MAX_NESTING}"
            );
            return Err(error(message, ast.span));
        }
        Ok(meaning)
    }

    /// Checks an expression that must be a condition.
    pub(crate) fn condition(&mut self, text: &str) -> Result<ConditionId, ExprError> {
        match self.expression(text)? {
            Typed::Condition(id) => Ok(id),
            other => Err(not_a_condition(&other, parse(text)?.span)),
        }
    }

    fn typed(&mut self, ast: &Ast) -> Result<Typed, ExprError> {
        match &ast.kind {
            Kind::Number(v) => Ok(Typed::Number(self.program.number(Number::Constant(*v)))),
            Kind::Bool(v) => Ok(Typed::Condition(self.program.condition(Condition::Constant(*v)))),
            Kind::Text(text) => Ok(Typed::Text(text.clone())),
            Kind::Name(name) => self.lookup(name, &ast.span),
            Kind::Names(_) => Err(error(
                "a range of names stands only inside the arguments of sum, count, min, max, all or any",
                ast.span.clone(),
            )),
            Kind::Tuple(_) => Err(error("a tuple stands only before `in` and in its list", ast.span.clone())),
            Kind::Negate(a) => {
                let a = self.value(a)?;
                Ok(Typed::Number(self.program.number(Number::Negate(a))))
            }
            Kind::Not(a) => {
                let a = self.truth(a)?;
                Ok(Typed::Condition(self.program.condition(Condition::Not(a))))
            }
            Kind::Operators(first, rest) => self.operators(first, rest),
            Kind::Chain(parts, relations) => self.chain(parts, relations),
            Kind::In(needle, members, negated) => {
                let found = self.membership(needle, members)?;
                let id = if *negated { self.program.condition(Condition::Not(found)) } else { found };
                Ok(Typed::Condition(id))
            }
            Kind::Call(name, arguments) => self.call(name, arguments, &ast.span),
            Kind::If(parts) => {
                let condition = self.truth(&parts[0])?;
                let (a, b) = (self.value(&parts[1])?, self.value(&parts[2])?);
                Ok(Typed::Number(self.program.number(Number::If(condition, a, b))))
            }
        }
    }

    fn lookup(&self, name: &str, span: &Range<usize>) -> Result<Typed, ExprError> {
        if let Some(found) = self.names.get(name) {
            return Ok(found.clone());
        }
        let near: Vec<String> = nearest(name, self.names.keys().map(String::as_str));
        let hint =
            if near.is_empty() { String::new() } else { format!(": did you mean {}?", near.join(" or ")) };
        let what = if functions().any(|function| function == name) {
            "function without arguments"
        } else {
            "unknown name"
        };
        Err(error(format!("{what} `{name}`{hint}"), span.clone()))
    }

    fn value(&mut self, ast: &Ast) -> Result<NumberId, ExprError> {
        match self.typed(ast)? {
            Typed::Number(id) => Ok(id),
            other => {
                let hint = match other {
                    Typed::Category(_) => " (a category can only be compared with == and in)",
                    Typed::Condition(_) => " (if(condition, 1, 0) or count(condition) turns it into one)",
                    _ => "",
                };
                Err(error(
                    format!("expected a number, but this is {}{hint}", other.describe()),
                    ast.span.clone(),
                ))
            }
        }
    }

    fn truth(&mut self, ast: &Ast) -> Result<ConditionId, ExprError> {
        match self.typed(ast)? {
            Typed::Condition(id) => Ok(id),
            other => Err(not_a_condition(&other, ast.span.clone())),
        }
    }

    /// A chain of operators, from left to right. Neighbours of one `and` or `or` become one list.
    fn operators(&mut self, first: &Ast, rest: &[(Binary, Ast)]) -> Result<Typed, ExprError> {
        let mut left_span = first.span.clone();
        let mut result = self.typed(first)?;
        let mut at = 0;
        while let Some((op, right)) = rest.get(at) {
            let span = first.span.start..right.span.end;
            at += 1;
            result = match op {
                Binary::And | Binary::Or | Binary::Implies | Binary::Iff => {
                    let Typed::Condition(a) = result else { return Err(not_a_condition(&result, left_span)) };
                    let mut parts = vec![a, self.truth(right)?];
                    if matches!(op, Binary::And | Binary::Or) {
                        while let Some((_, next)) = rest.get(at).filter(|(next, _)| next == op) {
                            parts.push(self.truth(next)?);
                            at += 1;
                        }
                    }
                    Typed::Condition(self.connective(*op, parts))
                }
                _ => {
                    let Typed::Number(a) = result else {
                        let message = format!("expected a number, but this is {}", result.describe());
                        return Err(error(message, left_span));
                    };
                    let b = self.value(right)?;
                    Typed::Number(self.arithmetic(*op, a, b, right, &span)?)
                }
            };
            left_span = span;
        }
        Ok(result)
    }

    /// `and` and `or` of some conditions, or `implies` and `iff` of two.
    fn connective(&mut self, op: Binary, parts: Vec<ConditionId>) -> ConditionId {
        let (a, b) = (parts[0], parts[1]);
        let program = &mut self.program;
        match op {
            Binary::And => program.condition(Condition::And(parts)),
            Binary::Or => program.condition(Condition::Or(parts)),
            Binary::Implies => {
                let not_a = program.condition(Condition::Not(a));
                program.condition(Condition::Or(vec![not_a, b]))
            }
            _ => {
                let (not_a, not_b) =
                    (program.condition(Condition::Not(a)), program.condition(Condition::Not(b)));
                let forward = program.condition(Condition::Or(vec![not_a, b]));
                let backward = program.condition(Condition::Or(vec![a, not_b]));
                program.condition(Condition::And(vec![forward, backward]))
            }
        }
    }

    fn arithmetic(
        &mut self,
        op: Binary,
        a: NumberId,
        b: NumberId,
        right: &Ast,
        span: &Range<usize>,
    ) -> Result<NumberId, ExprError> {
        let number = match op {
            Binary::Add => Number::Add(a, b),
            Binary::Subtract => Number::Subtract(a, b),
            Binary::Multiply => Number::Multiply(a, b),
            Binary::Divide => {
                if self.program.constant(b) == Some(0.0) {
                    return Err(error("division by zero", right.span.clone()));
                }
                let text = self.source[right.span.clone()].to_owned();
                self.program.divisors.entry(b).or_insert(text);
                Number::Divide(a, b)
            }
            _ => match (self.program.constant(a), self.program.constant(b)) {
                (_, Some(exponent)) => Number::Apply(Function::power(exponent), a),
                (Some(base), None) if base > 0.0 => Number::Apply(Function::exponential(base), b),
                (Some(_), None) => {
                    return Err(error("the base of a variable exponent must be positive", span.clone()));
                }
                (None, None) => {
                    return Err(error("the exponent or the base must be a constant", right.span.clone()));
                }
            },
        };
        self.defined(number, span)
    }

    /// Adds an operation; a constant result must be a number.
    fn defined(&mut self, number: Number, span: &Range<usize>) -> Result<NumberId, ExprError> {
        let id = self.program.number(number);
        match self.program.constant(id) {
            Some(v) if !v.is_finite() => {
                Err(error("the value is undefined or beyond the range of numbers", span.clone()))
            }
            _ => Ok(id),
        }
    }

    fn chain(&mut self, parts: &[Ast], relations: &[Relation]) -> Result<Typed, ExprError> {
        let operands = parts.iter().map(|p| self.typed(p)).collect::<Result<Vec<_>, _>>()?;
        let mut conditions = Vec::with_capacity(relations.len());
        for (i, &relation) in relations.iter().enumerate() {
            let (left, right) = ((&operands[i], &parts[i].span), (&operands[i + 1], &parts[i + 1].span));
            conditions.push(self.related(relation, left, right)?);
        }
        let id = match conditions.len() {
            1 => conditions[0],
            _ => self.program.condition(Condition::And(conditions)),
        };
        Ok(Typed::Condition(id))
    }

    fn related(
        &mut self,
        relation: Relation,
        (a, a_span): (&Typed, &Range<usize>),
        (b, b_span): (&Typed, &Range<usize>),
    ) -> Result<ConditionId, ExprError> {
        if let (Typed::Number(a), Typed::Number(b)) = (a, b) {
            let (op, a, b) = match relation {
                Relation::LessEqual => (Comparison::LessEqual, *a, *b),
                Relation::Less => (Comparison::Less, *a, *b),
                Relation::Equal => (Comparison::Equal, *a, *b),
                Relation::NotEqual => (Comparison::NotEqual, *a, *b),
                Relation::GreaterEqual => (Comparison::LessEqual, *b, *a),
                Relation::Greater => (Comparison::Less, *b, *a),
            };
            return Ok(self.program.compare(op, a, b, &self.domains));
        }
        if matches!(a, Typed::Condition(_)) || matches!(b, Typed::Condition(_)) {
            let span = if matches!(a, Typed::Condition(_)) { a_span } else { b_span };
            return Err(error("conditions are not compared: use iff, implies, and, or, not", span.clone()));
        }
        if !matches!(relation, Relation::Equal | Relation::NotEqual) {
            let (side, span) = if matches!(a, Typed::Number(_)) { (b, b_span) } else { (a, a_span) };
            return Err(error(
                format!("{} has no order: only == and != compare it", side.describe()),
                span.clone(),
            ));
        }
        let equal = self.same_level((a, a_span), (b, b_span))?;
        Ok(if relation == Relation::Equal { equal } else { self.program.condition(Condition::Not(equal)) })
    }

    fn call(&mut self, name: &str, arguments: &[Ast], span: &Range<usize>) -> Result<Typed, ExprError> {
        let arguments = expanded(arguments)?;
        if arguments.is_empty() {
            return Err(error(format!("`{name}` needs an argument"), span.clone()));
        }
        if matches!(name, "all" | "any" | "count") {
            let parts = arguments.iter().map(|a| self.truth(a)).collect::<Result<Vec<_>, _>>()?;
            return Ok(match name {
                "all" => Typed::Condition(self.program.condition(Condition::And(parts))),
                "any" => Typed::Condition(self.program.condition(Condition::Or(parts))),
                _ => Typed::Number(self.count(&parts)),
            });
        }
        if let Some(function) = Function::named(name) {
            if arguments.len() != 1 {
                let hint = match name {
                    "log" => ": to base 10 it is log10(x), to another base b log(x) / log(b)",
                    "log10" => ": to another base b it is log(x) / log(b)",
                    _ => "",
                };
                return Err(error(
                    format!("`{name}` takes one argument, not {}{hint}", arguments.len()),
                    span.clone(),
                ));
            }
            let argument = self.value(&arguments[0])?;
            return Ok(Typed::Number(self.defined(Number::Apply(function, argument), span)?));
        }
        match Extreme::named(name) {
            Some(extreme) => self.extreme(extreme, &arguments, span),
            None if name == "sum" => {
                let mut result = self.value(&arguments[0])?;
                for argument in &arguments[1..] {
                    let next = self.value(argument)?;
                    result = self.defined(Number::Add(result, next), span)?;
                }
                Ok(Typed::Number(result))
            }
            None => Err(self.unknown_function(name, span)),
        }
    }

    /// The least or largest of some arguments: a few from left to right, many as a tree of pairs, which is the same number.
    fn extreme(
        &mut self,
        extreme: Extreme,
        arguments: &[Ast],
        span: &Range<usize>,
    ) -> Result<Typed, ExprError> {
        let mut values = arguments.iter().map(|a| self.value(a)).collect::<Result<Vec<_>, _>>()?;
        while values.len() > MANY_ARGUMENTS {
            let pairs = values.chunks(2).map(|pair| match *pair {
                [a, b] => self.defined(Number::Extreme(extreme, a, b), span),
                _ => Ok(pair[0]),
            });
            values = pairs.collect::<Result<_, _>>()?;
        }
        let mut result = values[0];
        for &next in &values[1..] {
            result = self.defined(Number::Extreme(extreme, result, next), span)?;
        }
        Ok(Typed::Number(result))
    }

    fn unknown_function(&self, name: &str, span: &Range<usize>) -> ExprError {
        let near = nearest(name, functions());
        if let Some(advice) = instead_of(name) {
            let message = format!("unknown function `{name}`: {advice}");
            return error(message, span.start..span.start + name.len());
        }
        let hint = match near.is_empty() {
            true if self.names.contains_key(name) => ": it is no function (`*` makes a product)".to_owned(),
            true => format!(": the functions are {}", functions().collect::<Vec<_>>().join(", ")),
            false => format!(": did you mean {}?", near.join(" or ")),
        };
        error(format!("unknown function `{name}`{hint}"), span.start..span.start + name.len())
    }

    /// Sum of `if(condition, 1, 0)`.
    fn count(&mut self, parts: &[ConditionId]) -> NumberId {
        let (one, zero) =
            (self.program.number(Number::Constant(1.0)), self.program.number(Number::Constant(0.0)));
        let mut sum = None;
        for &part in parts {
            let indicator = self.program.number(Number::If(part, one, zero));
            sum = Some(sum.map_or(indicator, |s| self.program.number(Number::Add(s, indicator))));
        }
        sum.unwrap_or(zero)
    }
}

fn not_a_condition(found: &Typed, span: Range<usize>) -> ExprError {
    let hint = if matches!(found, Typed::Number(_)) { ": compare it, as in `... == 1`" } else { "" };
    error(format!("expected a condition, but this is {}{hint}", found.describe()), span)
}

/// Arguments with ranges of names replaced by their instances.
fn expanded(arguments: &[Ast]) -> Result<Vec<Ast>, ExprError> {
    let mut out = Vec::with_capacity(arguments.len());
    for argument in arguments {
        match argument.range_length() {
            Ok(None) => out.push(argument.clone()),
            Ok(Some(n)) => out.extend((0..n).map(|k| argument.instance(k))),
            Err(span) => return Err(error("two ranges of names in one argument differ in length", span)),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
