//! The syntax tree: what was written, and where.

use std::ops::Range;

/// A piece of syntax with its byte range.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ast {
    pub(super) kind: Kind,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Number(f64),
    Bool(bool),
    Text(String),
    Name(String),
    /// `first..last`: names with a running number. Stands only inside arguments, which it multiplies.
    Names(Vec<String>),
    Negate(Box<Ast>),
    Not(Box<Ast>),
    /// `a + b - c`: the first operand, then operators with their right operands, from left to right. A list, since a chain may be long.
    Operators(Box<Ast>, Vec<(Binary, Ast)>),
    /// `a < b <= c`: n operands, n - 1 operators.
    Chain(Vec<Ast>, Vec<Relation>),
    /// `needle in [...]` or `needle in {...}`, negated when `true`.
    In(Box<Ast>, Vec<Member>, bool),
    Tuple(Vec<Ast>),
    Call(String, Vec<Ast>),
    If(Box<[Ast; 3]>),
}

/// An element of a list or set.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Member {
    Value(Ast),
    /// A closed interval `lower..upper`.
    Interval(Ast, Ast),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    And,
    Or,
    Implies,
    Iff,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    LessEqual,
    Less,
    Equal,
    NotEqual,
    GreaterEqual,
    Greater,
}

impl Ast {
    /// The number of names of the ranges inside, and whether two ranges disagree about it.
    pub(super) fn range_length(&self) -> Result<Option<usize>, Range<usize>> {
        let mut length = None;
        self.visit(&mut |ast| {
            if let Kind::Names(names) = &ast.kind {
                match length {
                    None => length = Some(names.len()),
                    Some(n) if n != names.len() => return Err(ast.span.clone()),
                    Some(_) => {}
                }
            }
            Ok(())
        })?;
        Ok(length)
    }

    fn visit<E>(&self, f: &mut impl FnMut(&Self) -> Result<(), E>) -> Result<(), E> {
        f(self)?;
        match &self.kind {
            Kind::Number(_) | Kind::Bool(_) | Kind::Text(_) | Kind::Name(_) | Kind::Names(_) => {}
            Kind::Negate(a) | Kind::Not(a) => a.visit(f)?,
            Kind::Operators(a, rest) => {
                a.visit(f)?;
                rest.iter().try_for_each(|(_, b)| b.visit(f))?;
            }
            Kind::In(a, members, _) => {
                a.visit(f)?;
                for member in members {
                    match member {
                        Member::Value(v) => v.visit(f)?,
                        Member::Interval(l, u) => {
                            l.visit(f)?;
                            u.visit(f)?;
                        }
                    }
                }
            }
            Kind::Chain(parts, _) | Kind::Tuple(parts) => parts.iter().try_for_each(|p| p.visit(f))?,
            // A call inside has its own arguments: its ranges are its own.
            Kind::Call(_, _) => {}
            Kind::If(parts) => parts.iter().try_for_each(|p| p.visit(f))?,
        }
        Ok(())
    }

    /// The instance number `k`: each range replaced by its name number `k`.
    pub(super) fn instance(&self, k: usize) -> Self {
        let many = |parts: &[Self]| parts.iter().map(|p| p.instance(k)).collect::<Vec<_>>();
        let one = |part: &Self| Box::new(part.instance(k));
        let kind = match &self.kind {
            Kind::Names(names) => Kind::Name(names[k].clone()),
            Kind::Negate(a) => Kind::Negate(one(a)),
            Kind::Not(a) => Kind::Not(one(a)),
            Kind::Operators(a, rest) => {
                Kind::Operators(one(a), rest.iter().map(|(op, b)| (*op, b.instance(k))).collect())
            }
            Kind::In(a, members, negated) => {
                let members = members.iter().map(|m| match m {
                    Member::Value(v) => Member::Value(v.instance(k)),
                    Member::Interval(l, u) => Member::Interval(l.instance(k), u.instance(k)),
                });
                Kind::In(one(a), members.collect(), *negated)
            }
            Kind::Chain(parts, ops) => Kind::Chain(many(parts), ops.clone()),
            Kind::Tuple(parts) => Kind::Tuple(many(parts)),
            Kind::If(parts) => {
                Kind::If(Box::new([parts[0].instance(k), parts[1].instance(k), parts[2].instance(k)]))
            }
            other => other.clone(),
        };
        Self { kind, span: self.span.clone() }
    }
}
