//! Broken invariants: tests fail at them, users are spared.

use std::fmt;
use std::panic::Location;

/// Returns whether a condition that no input can cause holds; without a condition, `true`.
///
/// In builds with debug assertions it panics, so that tests fail. In others it goes on, and says so on the standard
/// error stream if `SETPOINT_INVARIANTS` is set. Whoever calls it returns what does the least harm:
///
/// ```
/// # fn last(items: &[u32]) -> u32 {
/// if setpoint_source::never!(items.is_empty(), "a list without items") {
///     return 0;
/// }
/// # items[items.len() - 1] }
/// # assert_eq!(last(&[1, 2]), 2);
/// ```
#[macro_export]
macro_rules! never {
    ($message:literal $(, $argument:expr)* $(,)?) => {{
        $crate::report_broken_invariant(::std::format_args!($message $(, $argument)*));
        true
    }};
    ($condition:expr, $($message:tt)+) => {{
        let is_broken: bool = $condition;
        if is_broken {
            $crate::report_broken_invariant(::std::format_args!($($message)+));
        }
        is_broken
    }};
}

/// What [`never!`](crate::never) does once a condition holds.
#[doc(hidden)]
#[cold]
#[track_caller]
#[allow(
    clippy::panic,
    clippy::manual_assert,
    clippy::print_stderr,
    reason = "a bug is heard in tests, and by those who ask for it"
)]
pub fn report_broken_invariant(what: fmt::Arguments<'_>) {
    let place = Location::caller();
    if cfg!(debug_assertions) {
        panic!("broken invariant at {place}: {what}");
    }
    if std::env::var_os("SETPOINT_INVARIANTS").is_some() {
        eprintln!("setpoint: broken invariant at {place}: {what}");
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_condition_that_does_not_hold_is_silent() {
        assert!(!crate::never!(1 > 2, "one is more than {}", 2));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "one is 1")]
    fn tests_hear_a_broken_invariant() {
        crate::never!("one is {}", 1);
    }
}
