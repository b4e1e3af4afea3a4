//! The time that the models of a catalog may take.

use std::time::Instant;

/// The time was over before every resource had its model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfTime {
    /// How many resources have one.
    pub modelled: usize,
    pub of: usize,
}

/// The time is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Late;

/// Looks at the time now and then.
pub(crate) struct Clock {
    deadline: Option<Instant>,
    pieces: u32,
}

/// So many pieces of work, a resource or a package each, are done before the time is looked at: it takes a moment itself.
const BETWEEN: u32 = 128;

impl Clock {
    pub(crate) fn new(deadline: Option<Instant>) -> Self {
        Self { deadline, pieces: 0 }
    }

    /// One more piece of work.
    pub(crate) fn tick(&mut self) -> Result<(), Late> {
        self.pieces = self.pieces.wrapping_add(1);
        let looks = self.pieces.is_multiple_of(BETWEEN);
        let is_late = looks && self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_late { Err(Late) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_looked_at_now_and_then() {
        let mut over = Clock::new(Some(Instant::now()));
        let done = (0..1_000).take_while(|_| over.tick().is_ok()).count();
        assert_eq!(done, BETWEEN as usize - 1);
        let mut endless = Clock::new(None);
        assert!((0..1_000).all(|_| endless.tick().is_ok()));
    }
}
