//! Semantic versions, and ranges of them.

mod range;

use std::cmp::Ordering;
use std::fmt;

pub use range::SemVerRange;

use crate::error::ValueError;

/// A semantic version. `major` may be endless, for the upper end of a range.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SemVer {
    pub major: Major,
    pub minor: u64,
    pub patch: u64,
    /// Without it the version is stable. An empty list sorts below all others: the lowest version.
    pub prerelease: Option<Vec<Identifier>>,
    pub build: Option<Vec<String>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Major {
    Number(u64),
    Infinite,
}

/// A part of a pre-release; numbers sort below names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Identifier {
    Number(u64),
    Name(String),
}

impl SemVer {
    pub fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self { major: Major::Number(major), minor, patch, prerelease: None, build: None }
    }

    /// The lowest version of all.
    pub fn lowest() -> Self {
        Self { prerelease: Some(Vec::new()), ..Self::new(0, 0, 0) }
    }

    /// The upper end of a range without one.
    pub fn endless() -> Self {
        Self { major: Major::Infinite, ..Self::new(0, 0, 0) }
    }

    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let invalid =
            || ValueError::new(format!("Unable to parse '{text}' as a semantic version identifier"));
        let body = text.strip_suffix('\n').unwrap_or(text);
        let (body, build) = match body.split_once('+') {
            Some((body, build)) => (body, Some(build)),
            None => (body, None),
        };
        let (numbers, prerelease) = match body.split_once('-') {
            Some((numbers, prerelease)) => (numbers, Some(prerelease)),
            None => (body, None),
        };
        let mut parts = numbers.split('.');
        let mut number = || parts.next().and_then(parse_number).ok_or_else(invalid);
        let (major, minor, patch) = (number()?, number()?, number()?);
        if parts.next().is_some() || [prerelease, build].into_iter().flatten().any(|text| !is_qualifier(text))
        {
            return Err(invalid());
        }
        Ok(Self {
            prerelease: prerelease.map(parse_prerelease).transpose()?,
            build: build.map(parse_build),
            ..Self::new(major, minor, patch)
        })
    }

    pub fn is_stable(&self) -> bool {
        self.prerelease.as_ref().is_none_or(Vec::is_empty)
    }

    fn next_patch(&self) -> Self {
        Self { patch: self.patch.saturating_add(1), prerelease: None, build: None, ..self.clone() }
    }
}

/// A number without needless zeros before it.
fn parse_number(text: &str) -> Option<u64> {
    if text.is_empty()
        || !text.bytes().all(|byte| byte.is_ascii_digit())
        || (text.len() > 1 && text.starts_with('0'))
    {
        return None;
    }
    text.parse().ok()
}

pub(crate) fn is_qualifier(text: &str) -> bool {
    text.split('.')
        .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
}

pub(crate) fn parse_prerelease(text: &str) -> Result<Vec<Identifier>, ValueError> {
    text.split('.')
        .map(|part| {
            if !part.bytes().all(|byte| byte.is_ascii_digit()) {
                return Ok(Identifier::Name(part.to_owned()));
            }
            if part.len() > 1 && part.starts_with('0') {
                return Err(ValueError::new(
                    "Numeric pre-release identifiers MUST NOT contain leading zeroes",
                ));
            }
            Ok(part.parse().map_or_else(|_| Identifier::Name(part.to_owned()), Identifier::Number))
        })
        .collect()
}

fn parse_build(text: &str) -> Vec<String> {
    text.split('.').map(str::to_owned).collect()
}

impl PartialOrd for SemVer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.precedence(other))
    }
}

impl SemVer {
    /// The order of versions: the build says nothing about it.
    pub fn precedence(&self, other: &Self) -> Ordering {
        (self.major, self.minor, self.patch).cmp(&(other.major, other.minor, other.patch)).then_with(
            || match (&self.prerelease, &other.prerelease) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(mine), Some(yours)) => mine.cmp(yours),
            },
        )
    }
}

impl fmt::Display for SemVer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.major {
            Major::Number(major) => write!(f, "{major}")?,
            Major::Infinite => f.write_str("Infinity")?,
        }
        write!(f, ".{}.{}", self.minor, self.patch)?;
        if let Some(prerelease) = &self.prerelease {
            let parts: Vec<String> = prerelease.iter().map(ToString::to_string).collect();
            write!(f, "-{}", parts.join("."))?;
        }
        if let Some(build) = &self.build {
            write!(f, "+{}", build.join("."))?;
        }
        Ok(())
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}
