//! Budgets of size, depth and work, and the one option that raises all of them.
//!
//! They are of the process, as its stack is: every thread that walks input has a stack that fits the limits of depth. Inputs cannot raise
//! them, since `setpoint.toml` may be a stranger's; the caller can, on the command line.

use std::cmp::Ordering;
use std::fmt;
use std::sync::atomic::{self, AtomicU32};

/// How often the usual limits are taken.
static TIMES: AtomicU32 = AtomicU32::new(1);

/// Limits cannot be raised further: the stacks of threads grow with them.
pub const MAX_TIMES: u32 = 16;

/// What to do where a limit ends the work; it is a part of a sentence.
pub const RAISE_LIMITS: &str = "`--raise-limits 4` allows four times as much, and 16 is the most";

/// Multiplies every limit. Call it before a thread walks input; more than [`MAX_TIMES`] is as much as that.
pub fn raise_limits(times: u32) {
    TIMES.store(times.clamp(1, MAX_TIMES), atomic::Ordering::Relaxed);
}

/// The most that Setpoint accepts of something, unless [`raise_limits`] allows more.
#[derive(Clone, Copy, Debug)]
pub struct Limit(usize);

impl Limit {
    pub const fn new(usual: usize) -> Self {
        Self(usual)
    }

    pub fn get(self) -> usize {
        self.0.saturating_mul(TIMES.load(atomic::Ordering::Relaxed) as usize)
    }
}

/// Counts of any width compare with a limit as they would with a number.
macro_rules! compare {
    ($($count:ty),*) => {$(
        impl PartialEq<Limit> for $count {
            fn eq(&self, limit: &Limit) -> bool {
                usize::try_from(*self).is_ok_and(|count| count == limit.get())
            }
        }

        impl PartialOrd<Limit> for $count {
            fn partial_cmp(&self, limit: &Limit) -> Option<Ordering> {
                Some(usize::try_from(*self).unwrap_or(usize::MAX).cmp(&limit.get()))
            }
        }
    )*};
}

compare!(u32, u64, usize);

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
