//! Points in time and spans of time, exact to the nanosecond.

mod span;
mod stamp;
mod strftime;
mod strptime;

use std::fmt;

pub(crate) use span::DEFAULT_FORMATS as DEFAULT_SPAN_FORMATS;

/// Why the present time is not known: it is another one whenever a catalog is compiled.
pub const PRESENT_TIME: &str = "the time at which the catalog is compiled is another one in every run";

pub(crate) const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// A point in time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Timestamp(Nanos);

/// A length of time, possibly negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Timespan(Nanos);

/// Nanoseconds as two words: a value has room for no more. Ordered as the number is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Nanos {
    seconds: i64,
    /// Below 10⁹, counted upwards also for negative numbers.
    nanos: u32,
}

impl Nanos {
    fn new(total: i128) -> Option<Self> {
        let seconds = i64::try_from(total.div_euclid(NANOS_PER_SECOND)).ok()?;
        Some(Self { seconds, nanos: total.rem_euclid(NANOS_PER_SECOND) as u32 })
    }

    fn total(self) -> i128 {
        i128::from(self.seconds) * NANOS_PER_SECOND + i128::from(self.nanos)
    }
}

macro_rules! nanoseconds {
    ($name:ident) => {
        impl $name {
            /// Nothing if it lies further away than 64 bits of seconds reach.
            pub fn from_nanos(total: i128) -> Option<Self> {
                Nanos::new(total).map(Self)
            }

            pub fn nanos(self) -> i128 {
                self.0.total()
            }

            /// Whole seconds, rounded down.
            pub fn seconds(self) -> i64 {
                self.0.seconds
            }

            pub fn as_seconds(self) -> f64 {
                divide(self.nanos(), NANOS_PER_SECOND)
            }
        }
    };
}

nanoseconds!(Timestamp);
nanoseconds!(Timespan);

/// The quotient as the nearest float.
pub(crate) fn divide(dividend: i128, divisor: i128) -> f64 {
    const EXACT: i128 = 1 << 53;
    if dividend.abs() <= EXACT && divisor.abs() <= EXACT {
        return dividend as f64 / divisor as f64;
    }
    // The whole part is exact in 128 bits; the rest is smaller than the divisor.
    let whole = dividend / divisor;
    let rest = dividend % divisor;
    whole as f64 + rest as f64 / divisor as f64
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format("%FT%T.%N %Z", None).unwrap_or_default())
    }
}

impl fmt::Display for Timespan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format("%D-%H:%M:%S.%-N").unwrap_or_default())
    }
}
