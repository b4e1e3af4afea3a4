//! What goes wrong with values, without a place: the evaluator knows where.

use std::fmt;

/// Why an operation on values has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    /// The sentence that Puppet prints.
    pub message: String,
    /// The operand that Puppet blames.
    pub blame: Blame,
    /// Whether a bound of Setpoint ended the operation, which Puppet may not have.
    pub is_limit: bool,
}

/// The part of an expression at which Puppet points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blame {
    /// The whole expression.
    #[default]
    Whole,
    Left,
    Right,
    /// A key of an access expression or an argument of a call, counted from zero.
    Key(usize),
}

impl ValueError {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), blame: Blame::Whole, is_limit: false }
    }

    /// A bound of Setpoint that ended an operation.
    pub fn limit(message: impl Into<String>) -> Self {
        Self { is_limit: true, ..Self::new(message) }
    }

    pub fn blaming(mut self, blame: Blame) -> Self {
        self.blame = blame;
        self
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ValueError {}

/// `strict`: what happens to questionable constructs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    Off,
    Warning,
    Error,
}

/// How strict an operation is, and what it had to say about questionable operands.
#[derive(Clone, Debug)]
pub struct Checks {
    pub strict: Strictness,
    /// What to warn about, in order.
    pub warnings: Vec<ValueError>,
}

impl Checks {
    pub fn new(strict: Strictness) -> Self {
        Self { strict, warnings: Vec::new() }
    }

    /// A questionable construct: nothing, a warning or an error, as `strict` has it.
    pub fn question(&mut self, error: ValueError) -> Result<(), ValueError> {
        match self.strict {
            Strictness::Off => Ok(()),
            Strictness::Warning => {
                self.warnings.push(error);
                Ok(())
            }
            Strictness::Error => Err(error),
        }
    }
}
