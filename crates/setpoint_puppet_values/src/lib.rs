//! Puppet's values and data types, and the operations over them.
//!
//! The evaluator and the functions stand on this crate: what a value is, when two are equal, what type it has,
//! how it is written as text, how one is converted into another, and what Puppet says when it does not fit. It
//! knows no scope, no file and no catalog.

pub mod access;
mod error;
pub mod iterator;
pub mod label;
pub mod new;
pub mod number;
pub mod ops;
mod padding;
mod regex;
pub mod rich;
pub mod ruby;
mod semver;
pub mod sprintf;
pub mod text;
mod time;
pub mod types;
mod uri;
mod value;
mod whole;

pub use error::{Blame, Checks, Strictness, ValueError};
pub use iterator::{Iter, iterate};
pub use new::new_instance;
pub use regex::{Match, Regex};
pub use semver::{Identifier, Major, SemVer, SemVerRange};
pub use text::{string_format, to_text};
pub use time::{PRESENT_TIME, Timespan, Timestamp};
pub use types::{Type, common_type, infer, infer_generic, infer_set, parameterise};
pub use uri::Uri;
pub use value::{Data, Deferred, Hash, Key, Object, Opaque, Value};
pub use whole::Maker;
