//! Benchmark functions as problems.

use super::benchmark::{Benchmark, Kind};
use leafgp::problem::{Problem, ProblemError, Variable};

impl Benchmark {
    /// The function's own problem: its variables and constraints, an objective called `objective`, to be minimised.
    ///
    /// # Errors
    /// None for the functions of this crate; the type is the builder's.
    pub fn problem(&self) -> Result<Problem, ProblemError> {
        let mut builder = Problem::builder(self.name);
        for variable in self.variables {
            let own = match variable.kind {
                Kind::Continuous(lower, upper) => Variable::continuous(variable.name, lower, upper),
                Kind::Log(lower, upper) => Variable::continuous(variable.name, lower, upper).log(),
                Kind::Integer(lower, upper) => Variable::integer(variable.name, lower.into(), upper.into()),
                Kind::Categorical(levels) => Variable::categorical(variable.name, levels.iter().copied()),
            };
            builder = builder.variable(match variable.active_if {
                Some(condition) => own.active_if(condition, variable.kind.domain().bounds().0),
                None => own,
            });
        }
        for constraint in self.constraints {
            builder = builder.constraint(constraint.name, constraint.expr);
        }
        builder.build()
    }

    /// Whether the function can be evaluated at the points of a problem: variables are matched by position, so their number and kind must agree.
    ///
    /// # Errors
    /// What does not fit, and what was expected.
    pub fn check_fits(&self, problem: &Problem) -> Result<(), String> {
        if problem.variables().len() != self.variables.len() {
            return Err(format!(
                "the problem has {} variables; the function {} expects {}: {}",
                problem.variables().len(),
                self.name,
                self.variables.len(),
                self.variables.iter().map(|v| v.name).collect::<Vec<_>>().join(", ")
            ));
        }
        for (given, own) in problem.variables().iter().zip(self.variables) {
            let expected = own.kind.domain().levels();
            if given.domain().levels() != expected {
                let expected =
                    expected.map_or("a number".to_owned(), |n| format!("a category of {n} levels"));
                return Err(format!(
                    "the function {} expects {expected} for {:?} (its {})",
                    self.name, given.name, own.name
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::functions::{self, ALL};
    use leafgp::problem::{Problem, Variable};

    #[test]
    fn every_function_is_a_problem_that_fits_itself() {
        for function in ALL {
            let problem = function.problem().unwrap();
            assert_eq!(problem.domains(), function.domains(), "{}", function.name);
            function.check_fits(&problem).unwrap();
        }
    }

    #[test]
    fn a_problem_of_another_shape_is_refused_with_the_reason() {
        let branin = functions::find("branin").unwrap();
        let one = Problem::builder("p").variable(Variable::continuous("x", 0.0, 1.0)).build().unwrap();
        assert!(branin.check_fits(&one).unwrap_err().contains("has 1 variables"));
        let category = Problem::builder("p")
            .variable(Variable::continuous("x", 0.0, 1.0))
            .variable(Variable::categorical("c", ["a", "b"]))
            .build()
            .unwrap();
        assert!(branin.check_fits(&category).unwrap_err().contains("expects a number for \"c\""));
    }
}
