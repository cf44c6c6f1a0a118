//! A number that an expression stands for: its value at a point, its range over a box, and the terms of its sum.

use std::collections::BTreeSet;

use crate::builder::ConstraintsBuilder;
use crate::constraints::Constraints;
use crate::domain::Domain;
use crate::expr::{
    Comparison, Condition, ConditionId, Evaluation, ExprError, Number, NumberId, Program, Settings, Typed,
};
use crate::region::{Range, Region};

/// An expression's number as a function of the variables, made by [`ConstraintsBuilder::quantity`].
///
/// ```
/// # use leafgp_constraints::{ConstraintsBuilder, Domain, Region, Variable};
/// # let number = |name: &str| Variable {
/// #     name: name.into(),
/// #     domain: Domain::Continuous { lower: 0.0, upper: 10.0 },
/// #     level_names: Vec::new(),
/// # };
/// let builder = ConstraintsBuilder::new(vec![number("width"), number("height")])?;
/// let cost = builder.quantity("2 * (width + 3 * height) - width * height")?;
/// assert_eq!(cost.value(&[1.0, 2.0]), 12.0);
/// let coefficients: Vec<f64> = cost.terms().iter().map(|(coefficient, _)| *coefficient).collect();
/// assert_eq!(coefficients, [2.0, 6.0, -1.0]);
/// # Ok::<(), leafgp_constraints::ExprError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Quantity {
    domains: Vec<Domain>,
    program: Program,
    id: NumberId,
}

/// Where a quantity is looked for at first; beyond it nothing is known.
const LARGEST: f64 = 1e120;

impl ConstraintsBuilder {
    /// What an expression of the variables and defines stands for.
    ///
    /// # Errors
    /// Syntax, unknown names, an expression that is no number.
    pub fn quantity(&self, expression: &str) -> Result<Quantity, ExprError> {
        let mut scope = self.scope().clone();
        match scope.expression(expression)? {
            Typed::Number(id) => {
                Ok(Quantity { domains: scope.domains().to_vec(), program: scope.program, id })
            }
            Typed::Condition(_) | Typed::Category(_) | Typed::Text(_) => {
                let message = "expected a number, such as `2 * a + b`".to_owned();
                Err(ExprError { message, span: 0..expression.len() })
            }
        }
    }

    /// Quantities that are at most 0 wherever the condition holds: `a - b` for each `a <= b` (or `a < b`) that it demands. Equalities and what stands below
    /// an `or` or a `not` are left out.
    ///
    /// # Errors
    /// Syntax, unknown names, an expression that is no condition.
    pub fn differences(&self, condition: &str) -> Result<Vec<Quantity>, ExprError> {
        let mut scope = self.scope().clone();
        let root = scope.condition(condition)?;
        let domains = scope.domains().to_vec();
        let mut program = scope.program;
        let (mut pairs, mut stack) = (Vec::new(), vec![root]);
        while let Some(id) = stack.pop() {
            match program.get_condition(id) {
                Condition::And(parts) => stack.extend(parts.iter().rev()),
                Condition::Exact(part) => stack.push(*part),
                Condition::Compare(Comparison::LessEqual | Comparison::Less, a, b) => pairs.push((*a, *b)),
                _ => {}
            }
        }
        let ids: Vec<NumberId> =
            pairs.into_iter().map(|(a, b)| program.number(Number::Subtract(a, b))).collect();
        let quantity = |id| Quantity { domains: domains.clone(), program: program.clone(), id };
        Ok(ids.into_iter().map(quantity).collect())
    }
}

impl Quantity {
    /// The value at a point in variable order, in plain f64; NaN where it is undefined.
    ///
    /// # Panics
    /// When `x` is shorter than the list of variables.
    pub fn value(&self, x: &[f64]) -> f64 {
        let mut evaluation = Evaluation::default();
        evaluation.run(&self.program, x, Settings::PRODUCE);
        evaluation.number(self.id)
    }

    /// The number, when it is the same everywhere.
    pub fn constant(&self) -> Option<f64> {
        self.program.constant(self.id)
    }

    /// The variable, when it is nothing else.
    pub fn variable(&self) -> Option<usize> {
        match self.program.get(self.id) {
            Number::Variable(variable) => Some(*variable),
            _ => None,
        }
    }

    /// The variables it reads, ascending.
    pub fn variables(&self) -> Vec<usize> {
        let mut found = BTreeSet::new();
        let (mut numbers, mut conditions) = (vec![self.id], Vec::new());
        let (mut seen, mut seen_conditions) = (BTreeSet::new(), BTreeSet::new());
        loop {
            if let Some(id) = numbers.pop() {
                if !seen.insert(id) {
                    continue;
                }
                match *self.program.get(id) {
                    Number::Variable(variable) => {
                        found.insert(variable);
                    }
                    Number::If(condition, a, b) => {
                        conditions.push(condition);
                        numbers.extend([a, b]);
                    }
                    _ => self.program.operands(id, |operand| numbers.push(operand)),
                }
            } else if let Some(id) = conditions.pop() {
                if seen_conditions.insert(id) {
                    self.open_condition(id, &mut numbers, &mut conditions, &mut found);
                }
            } else {
                return found.into_iter().collect();
            }
        }
    }

    fn open_condition(
        &self,
        id: ConditionId,
        numbers: &mut Vec<NumberId>,
        conditions: &mut Vec<ConditionId>,
        found: &mut BTreeSet<usize>,
    ) {
        match self.program.get_condition(id) {
            Condition::Constant(_) => {}
            Condition::Compare(_, a, b) => numbers.extend([*a, *b]),
            Condition::Level(variable, _) => {
                found.insert(*variable);
            }
            Condition::IsWhole(a) => numbers.push(*a),
            Condition::And(parts) | Condition::Or(parts) => conditions.extend(parts),
            Condition::Not(part) | Condition::Exact(part) => conditions.push(*part),
        }
    }

    /// The quantity as a sum of terms with coefficients: `2 * (a + 3 * b)` has the terms `a` with 2 and `b` with 6. Coefficients are rounded, each product
    /// once.
    pub fn terms(&self) -> Vec<(f64, Self)> {
        let mut terms = Vec::new();
        let mut stack = vec![(1.0, self.id)];
        while let Some((coefficient, id)) = stack.pop() {
            let constant = |id| self.program.constant(id);
            match *self.program.get(id) {
                Number::Add(a, b) => stack.extend([(coefficient, b), (coefficient, a)]),
                Number::Subtract(a, b) => stack.extend([(-coefficient, b), (coefficient, a)]),
                Number::Negate(a) => stack.push((-coefficient, a)),
                Number::Multiply(a, b) => match (constant(a), constant(b)) {
                    (Some(c), _) => stack.push((coefficient * c, b)),
                    (None, Some(c)) => stack.push((coefficient * c, a)),
                    (None, None) => terms.push((coefficient, id)),
                },
                Number::Divide(a, b) => match constant(b).filter(|&c| c != 0.0) {
                    Some(c) => stack.push((coefficient / c, a)),
                    None => terms.push((coefficient, id)),
                },
                _ => terms.push((coefficient, id)),
            }
        }
        let quantity = |id| Self { domains: self.domains.clone(), program: self.program.clone(), id };
        terms.into_iter().map(|(coefficient, id)| (coefficient, quantity(id))).collect()
    }

    /// Made ready for questions about boxes.
    pub fn over_boxes(&self) -> Ranged {
        let n = self.domains.len();
        let mut scope = self.clone();
        scope.domains.push(Domain::Continuous { lower: -LARGEST, upper: LARGEST });
        let value = scope.program.number(Number::Variable(n));
        let program = &mut scope.program;
        let above = program.condition(Condition::Compare(Comparison::LessEqual, self.id, value));
        let below = program.condition(Condition::Compare(Comparison::LessEqual, value, self.id));
        Ranged(Constraints::of_program(scope.domains, scope.program, &[above, below]))
    }
}

/// The range of a [`Quantity`] over boxes, see [`Quantity::over_boxes`].
#[derive(Clone, Debug)]
pub struct Ranged(Constraints);

impl Ranged {
    /// A proved enclosure of the quantity's values at the points of the box where it is defined; infinite ends beyond 1e120. `None` when it is defined nowhere
    /// in the box.
    pub fn range(&self, region: &Region) -> Option<(f64, f64)> {
        let mut extended = region.clone();
        extended.0.push(Range::Interval { lower: -LARGEST, upper: LARGEST });
        if !self.0.contract(&mut extended) {
            return None;
        }
        let Some(Range::Interval { lower, upper }) = extended.0.pop() else { return None };
        let open = |x: f64, end: f64| if x.abs() >= LARGEST { end } else { x };
        Some((open(lower, f64::NEG_INFINITY), open(upper, f64::INFINITY)))
    }
}

#[cfg(test)]
mod tests {
    use crate::{ConstraintsBuilder, Domain, Range, Region, Variable};

    fn builder() -> ConstraintsBuilder {
        let number = |name: &str| Variable {
            name: name.into(),
            domain: Domain::Continuous { lower: -2.0, upper: 3.0 },
            level_names: Vec::new(),
        };
        let metal = Variable {
            name: "metal".into(),
            domain: Domain::Categorical { levels: 2 },
            level_names: vec!["iron".into(), "tin".into()],
        };
        ConstraintsBuilder::new(vec![number("a"), number("b"), metal]).unwrap()
    }

    #[test]
    fn values_terms_and_variables_by_hand() {
        let cost = builder().quantity("3 - 2 * (a / 4 - b) + if(metal == 'tin', 5, a ^ 2)").unwrap();
        assert_eq!(cost.value(&[2.0, 1.0, 1.0]), 9.0);
        assert_eq!(cost.value(&[2.0, 1.0, 0.0]), 8.0);
        assert_eq!(cost.variables(), [0, 1, 2]);
        let terms = cost.terms();
        let shape: Vec<_> = terms.iter().map(|(c, q)| (*c, q.constant(), q.variable())).collect();
        assert_eq!(
            shape,
            [(1.0, Some(3.0), None), (-0.5, None, Some(0)), (2.0, None, Some(1)), (1.0, None, None)]
        );
        assert_eq!(terms[3].1.variables(), [0, 2]);
        assert!(builder().quantity("a <= b").is_err() && builder().quantity("c + 1").is_err());
        assert!(builder().quantity("log(a)").unwrap().value(&[-1.0, 0.0, 0.0]).is_nan());
    }

    #[test]
    fn ranges_enclose_every_value_of_a_box() {
        let builder = builder();
        for text in ["a * b - a", "abs(a - 1) / 5", "exp(a) + min(a, b)", "if(metal == 'tin', a, -b)"] {
            let quantity = builder.quantity(text).unwrap();
            let ranged = quantity.over_boxes();
            let mut region = Region::full(&[
                Domain::Integer { lower: 0.0, upper: 1.0 },
                Domain::Integer { lower: -2.0, upper: 3.0 },
                Domain::Categorical { levels: 2 },
            ]);
            region.0[0] = Range::Interval { lower: -1.0, upper: 1.0 };
            let (lower, upper) = ranged.range(&region).unwrap();
            for i in 0..=20 {
                for k in 0..=20 {
                    for level in 0..2 {
                        let x = [-1.0 + 0.1 * f64::from(i), -2.0 + 0.25 * f64::from(k), f64::from(level)];
                        let value = quantity.value(&x);
                        assert!(
                            lower <= value && value <= upper,
                            "{text} at {x:?}: {value} in [{lower}, {upper}]"
                        );
                    }
                }
            }
            assert!(upper - lower < 20.0, "{text}: [{lower}, {upper}]");
        }
        let reciprocal = builder.quantity("1 / a").unwrap().over_boxes();
        let mut region = Region::full(&builder.quantity("a").unwrap().domains);
        assert_eq!(reciprocal.range(&region), Some((f64::NEG_INFINITY, f64::INFINITY)));
        region.0[0] = Range::Interval { lower: -2.0, upper: -1.0 };
        assert!(builder.quantity("sqrt(a)").unwrap().over_boxes().range(&region).is_none());
    }

    #[test]
    fn differences_are_not_above_zero_where_the_condition_holds() {
        let builder = builder();
        let found =
            builder.differences("0 <= a <= b and (a <= 1 or b <= 1) and not (a > 2) and b == 1").unwrap();
        let values: Vec<f64> = found.iter().map(|q| q.value(&[0.5, 1.0, 0.0])).collect();
        assert_eq!(values[..2], [-0.5, -0.5]);
        assert!(values.iter().all(|&v| v <= 0.0));
        assert!(builder.differences("a").is_err());
    }
}
