//! How much work the models of a catalog may take.

use std::time::Instant;

/// No more may be done before every resource has its model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfTime {
    /// How many resources have one.
    pub modelled: usize,
    pub of: usize,
}

/// When models are no longer made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// After so much work, in units that are the same on every machine.
    pub work: Option<u64>,
    /// After this moment, to end a program that takes too long.
    pub deadline: Option<Instant>,
}

/// No more may be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Late;

/// Counts pieces of work, a resource or a package each.
pub(crate) struct Clock {
    limits: Limits,
    pieces: u32,
}

/// The work that a model takes, about.
const WORK_A_PIECE: u64 = 1_000;

/// So many pieces are done before the limits are looked at: reading a clock takes a moment itself.
const BETWEEN: u32 = 128;

impl Clock {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, pieces: 0 }
    }

    /// One more piece of work.
    pub(crate) fn tick(&mut self) -> Result<(), Late> {
        self.pieces = self.pieces.wrapping_add(1);
        let looks = self.pieces.is_multiple_of(BETWEEN);
        if looks && self.is_over() { Err(Late) } else { Ok(()) }
    }

    fn is_over(&self) -> bool {
        let Limits { work, deadline } = self.limits;
        work.is_some_and(|work| u64::from(self.pieces) * WORK_A_PIECE >= work)
            || deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_looked_at_now_and_then() {
        let late = Limits { deadline: Some(Instant::now()), ..Limits::default() };
        let idle = Limits { work: Some(0), ..Limits::default() };
        for limits in [late, idle] {
            let mut over = Clock::new(limits);
            let done = (0..1_000).take_while(|_| over.tick().is_ok()).count();
            assert_eq!(done, BETWEEN as usize - 1);
        }
        let mut endless = Clock::new(Limits::default());
        assert!((0..1_000).all(|_| endless.tick().is_ok()));
    }
}
