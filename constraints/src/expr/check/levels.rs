//! Levels of categories: equality with a level, membership in a list, allowed tuples.

use std::ops::Range;

use super::{Scope, Typed};
use crate::ExprError;
use crate::expr::ast::{Ast, Kind, Member, Relation};
use crate::expr::lexer::error;
use crate::expr::near::nearest;
use crate::expr::program::{Comparison, Condition, ConditionId};
use crate::level_set::LevelSet;

impl Scope {
    /// Equality where at least one side is a category or a text.
    pub(super) fn same_level(
        &mut self,
        (a, a_span): (&Typed, &Range<usize>),
        (b, b_span): (&Typed, &Range<usize>),
    ) -> Result<ConditionId, ExprError> {
        match (a, b) {
            (Typed::Category(v), Typed::Category(w)) => {
                let (v, w) = (*v, *w);
                let level_text =
                    |scope: &Self, variable: usize, level: usize| scope.level_text(variable, level);
                let count = |scope: &Self, variable: usize| scope.domains[variable].levels().unwrap_or(0);
                let mut options = Vec::new();
                for i in 0..count(self, v) {
                    for j in 0..count(self, w) {
                        if level_text(self, v, i) == level_text(self, w, j) {
                            let first = self.level(v, i);
                            let second = self.level(w, j);
                            options.push(self.program.condition(Condition::And(vec![first, second])));
                        }
                    }
                }
                if options.is_empty() {
                    return Err(error(
                        "these two categories have no level in common",
                        a_span.start..b_span.end,
                    ));
                }
                Ok(self.program.condition(Condition::Or(options)))
            }
            (Typed::Category(v), other) => {
                let level = self.find_level(*v, other, b_span)?;
                Ok(self.level(*v, level))
            }
            (other, Typed::Category(v)) => {
                let level = self.find_level(*v, other, a_span)?;
                Ok(self.level(*v, level))
            }
            (Typed::Text(_), _) => Err(error("a quoted level is compared with a category", b_span.clone())),
            _ => Err(error("a quoted level is compared with a category", a_span.clone())),
        }
    }

    fn level(&mut self, variable: usize, level: usize) -> ConditionId {
        let capacity = self.domains[variable].levels().unwrap_or(0);
        self.program.condition(Condition::Level(variable, LevelSet::from_indices(capacity, [level])))
    }

    fn level_text(&self, variable: usize, level: usize) -> String {
        self.variables[variable].level_names.get(level).cloned().unwrap_or_else(|| level.to_string())
    }

    /// Text matches exactly, else by equal number.
    fn find_level(&self, variable: usize, sought: &Typed, span: &Range<usize>) -> Result<usize, ExprError> {
        let count = self.domains[variable].levels().unwrap_or(0);
        let texts: Vec<String> = (0..count).map(|l| self.level_text(variable, l)).collect();
        let (shown, number) = match sought {
            Typed::Text(text) => {
                if let Some(found) = texts.iter().position(|t| t == text) {
                    return Ok(found);
                }
                (format!("'{text}'"), text.trim().parse::<f64>().ok())
            }
            Typed::Number(id) => match self.program.constant(*id) {
                Some(value) => (value.to_string(), Some(value)),
                None => {
                    return Err(error(
                        "a category is compared with a level, not with a quantity",
                        span.clone(),
                    ));
                }
            },
            other => {
                return Err(error(
                    format!("expected a level, but this is {}", other.describe()),
                    span.clone(),
                ));
            }
        };
        if let Some(number) = number
            && let Some(found) = texts.iter().position(|t| t.trim().parse::<f64>().ok() == Some(number))
        {
            return Ok(found);
        }
        let near = nearest(shown.trim_matches('\''), texts.iter().map(String::as_str));
        let hint =
            if near.is_empty() { texts.join(", ") } else { format!("did you mean {}?", near.join(" or ")) };
        Err(error(format!("`{}` has no level {shown}: {hint}", self.variables[variable].name), span.clone()))
    }

    pub(super) fn membership(&mut self, needle: &Ast, members: &[Member]) -> Result<ConditionId, ExprError> {
        if let Kind::Tuple(parts) = &needle.kind {
            return self.allowed_tuples(parts, members);
        }
        let sought = self.typed(needle)?;
        let mut options = Vec::with_capacity(members.len());
        let mut levels: Option<LevelSet> = None;
        for member in members {
            match member {
                Member::Value(value) => {
                    let found = self.typed(value)?;
                    if let Typed::Category(v) = sought {
                        let level = self.find_level(v, &found, &value.span)?;
                        let capacity = self.domains[v].levels().unwrap_or(0);
                        levels.get_or_insert_with(|| LevelSet::empty(capacity)).insert(level);
                    } else {
                        let pair = ((&sought, &needle.span), (&found, &value.span));
                        options.push(self.related(Relation::Equal, pair.0, pair.1)?);
                    }
                }
                Member::Interval(lower, upper) => {
                    let (Typed::Number(x), l, u) = (&sought, self.value(lower)?, self.value(upper)?) else {
                        return Err(error(
                            "an interval holds numbers only",
                            lower.span.start..upper.span.end,
                        ));
                    };
                    if let (Some(l), Some(u)) = (self.program.constant(l), self.program.constant(u))
                        && l > u
                    {
                        return Err(error("the interval is empty", lower.span.start..upper.span.end));
                    }
                    let above = self.program.compare(Comparison::LessEqual, l, *x, &self.domains);
                    let below = self.program.compare(Comparison::LessEqual, *x, u, &self.domains);
                    options.push(self.program.condition(Condition::And(vec![above, below])));
                }
            }
        }
        if let (Typed::Category(v), Some(levels)) = (sought, levels) {
            return Ok(self.program.condition(Condition::Level(v, levels)));
        }
        Ok(if options.len() == 1 { options[0] } else { self.program.condition(Condition::Or(options)) })
    }

    fn allowed_tuples(&mut self, parts: &[Ast], members: &[Member]) -> Result<ConditionId, ExprError> {
        let sought = parts.iter().map(|p| self.typed(p)).collect::<Result<Vec<_>, _>>()?;
        let mut options = Vec::with_capacity(members.len());
        for member in members {
            let Member::Value(row) = member else {
                return Err(error("a list of combinations holds tuples only", parts[0].span.clone()));
            };
            let Kind::Tuple(values) = &row.kind else {
                return Err(error(format!("expected a tuple of {} values", parts.len()), row.span.clone()));
            };
            if values.len() != parts.len() {
                let message = format!("this tuple has {} values, not {}", values.len(), parts.len());
                return Err(error(message, row.span.clone()));
            }
            let mut equal = Vec::with_capacity(parts.len());
            for ((part, meaning), value) in parts.iter().zip(&sought).zip(values) {
                let found = self.typed(value)?;
                equal.push(self.related(Relation::Equal, (meaning, &part.span), (&found, &value.span))?);
            }
            options.push(self.program.condition(Condition::And(equal)));
        }
        Ok(self.program.condition(Condition::Or(options)))
    }
}
