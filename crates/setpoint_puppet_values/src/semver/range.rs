//! Ranges of versions: `>=1.2.3 <2.0.0`, `1.x`, `~1.2`, `^1.2.3`, `1.0.0 - 2.0.0`, joined by `||`.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::{Identifier, Major, SemVer, is_qualifier, parse_build, parse_number, parse_prerelease};
use crate::error::ValueError;

/// A set of versions, with the text that made it.
#[derive(Clone, Debug)]
pub struct SemVerRange {
    text: String,
    spans: Vec<Span>,
}

/// One piece of a range. `ends` are the versions that were written, against which pre-releases are held.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Span {
    low: End,
    high: End,
    all: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct End {
    version: SemVer,
    excluded: bool,
    /// False for an end that no text gave.
    given: bool,
}

impl PartialEq for SemVerRange {
    fn eq(&self, other: &Self) -> bool {
        self.spans == other.spans
    }
}

impl Eq for SemVerRange {}

impl Hash for SemVerRange {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.spans.hash(state);
    }
}

impl fmt::Display for SemVerRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl End {
    fn given(version: SemVer, excluded: bool) -> Self {
        Self { version, excluded, given: true }
    }

    fn lowest() -> Self {
        Self { version: SemVer::lowest(), excluded: false, given: false }
    }

    fn endless() -> Self {
        Self { version: SemVer::endless(), excluded: false, given: false }
    }

    fn tests(&self, version: &SemVer) -> bool {
        self.given
            && !self.version.is_stable()
            && (self.version.major, self.version.minor, self.version.patch)
                == (version.major, version.minor, version.patch)
    }
}

impl Span {
    fn all() -> Self {
        Self { low: End::lowest(), high: End::endless(), all: true }
    }

    fn nothing() -> Self {
        Self::below(SemVer::lowest())
    }

    fn from(version: SemVer) -> Self {
        Self { low: End::given(version, false), high: End::endless(), all: false }
    }

    fn above(version: SemVer) -> Self {
        Self { low: End::given(version, true), high: End::endless(), all: false }
    }

    fn up_to(version: SemVer) -> Self {
        Self { low: End::lowest(), high: End::given(version, false), all: false }
    }

    fn below(version: SemVer) -> Self {
        Self { low: End::lowest(), high: End::given(version, true), all: false }
    }

    fn exactly(version: SemVer) -> Self {
        Self { low: End::given(version.clone(), false), high: End::given(version, false), all: false }
    }

    fn between(low: SemVer, below: SemVer) -> Self {
        Self { low: End::given(low, false), high: End::given(below, true), all: false }
    }

    fn includes(&self, version: &SemVer) -> bool {
        let low = match version.precedence(&self.low.version) {
            Ordering::Less => false,
            Ordering::Equal => !self.low.excluded,
            Ordering::Greater => true,
        };
        let high = match version.precedence(&self.high.version) {
            Ordering::Less => true,
            Ordering::Equal => !self.high.excluded,
            Ordering::Greater => false,
        };
        low && high
    }

    fn contains(&self, version: &SemVer) -> bool {
        self.includes(version)
            && (version.is_stable() || self.all || self.low.tests(version) || self.high.tests(version))
    }

    fn intersection(&self, other: &Self) -> Option<Self> {
        if self.all {
            return Some(other.clone());
        }
        if other.all {
            return Some(self.clone());
        }
        match self.low.version.precedence(&other.high.version) {
            Ordering::Greater => return None,
            Ordering::Equal if self.low.excluded || other.high.excluded => return None,
            Ordering::Equal => return Some(Self::exactly(self.low.version.clone())),
            Ordering::Less => {}
        }
        match other.low.version.precedence(&self.high.version) {
            Ordering::Greater => return None,
            Ordering::Equal if other.low.excluded || self.high.excluded => return None,
            Ordering::Equal => return Some(Self::exactly(other.low.version.clone())),
            Ordering::Less => {}
        }
        let low = match self.low.version.precedence(&other.low.version) {
            Ordering::Less => &other.low,
            Ordering::Greater => &self.low,
            Ordering::Equal if self.low.excluded => &self.low,
            Ordering::Equal => &other.low,
        };
        let high = match self.high.version.precedence(&other.high.version) {
            Ordering::Greater => &other.high,
            Ordering::Less => &self.high,
            Ordering::Equal if self.high.excluded => &self.high,
            Ordering::Equal => &other.high,
        };
        Some(Self { low: low.clone(), high: high.clone(), all: false })
    }

    fn merge(&self, other: &Self) -> Option<Self> {
        if self.all {
            return Some(self.clone());
        }
        if self.includes(&other.low.version) || other.includes(&self.low.version) {
            let low = match self.low.version.precedence(&other.low.version) {
                Ordering::Less => self.low.clone(),
                Ordering::Greater => other.low.clone(),
                Ordering::Equal => {
                    End { excluded: self.low.excluded && other.low.excluded, ..self.low.clone() }
                }
            };
            let high = match self.high.version.precedence(&other.high.version) {
                Ordering::Greater => self.high.clone(),
                Ordering::Less => other.high.clone(),
                Ordering::Equal => {
                    End { excluded: self.high.excluded && other.high.excluded, ..self.high.clone() }
                }
            };
            return Some(Self { low, high, all: false });
        }
        let joins = |a: &Self, b: &Self| {
            let next = if a.high.excluded { a.high.version.clone() } else { a.high.version.next_patch() };
            !b.low.excluded && next == b.low.version
        };
        if joins(self, other) {
            Some(Self { low: self.low.clone(), high: other.high.clone(), all: false })
        } else if joins(other, self) {
            Some(Self { low: other.low.clone(), high: self.high.clone(), all: false })
        } else {
            None
        }
    }
}

impl SemVerRange {
    /// The versions from one to another.
    pub fn between(low: &SemVer, high: &SemVer, exclude_high: bool) -> Self {
        let top = if exclude_high { Span::below(high.clone()) } else { Span::up_to(high.clone()) };
        // The text is as Puppet has it, with the ends in this order.
        let text = if exclude_high { format!(">={high} <{low}") } else { format!("{high} - {low}") };
        let spans = Span::from(low.clone()).intersection(&top).into_iter().collect();
        Self::of(spans, text)
    }

    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let tight = tighten(text);
        let ranges: Vec<&str> = split_alternatives(&tight);
        if ranges.is_empty() {
            return Ok(Self { text: "*".to_owned(), spans: vec![Span::all()] });
        }
        let mut spans: Vec<Span> = Vec::new();
        for range in ranges {
            if let Some(span) = parse_range(range, text)?
                && !spans.contains(&span)
            {
                spans.push(span);
            }
        }
        Ok(Self::of(spans, text.to_owned()))
    }

    fn of(mut spans: Vec<Span>, text: String) -> Self {
        let mut merged_one = true;
        while spans.len() > 1 && merged_one {
            merged_one = false;
            let mut result = Vec::new();
            while let Some(first) = spans.pop() {
                let mut unmerged = Vec::new();
                let mut merged = first;
                for span in spans {
                    if let Some(both) = merged.merge(&span) {
                        merged = both;
                        merged_one = true;
                    } else {
                        unmerged.push(span);
                    }
                }
                result.push(merged);
                spans = unmerged;
            }
            result.reverse();
            spans = result;
        }
        if spans.is_empty() {
            spans.push(Span::nothing());
        }
        Self { text, spans }
    }

    pub fn contains(&self, version: &SemVer) -> bool {
        self.spans.iter().any(|span| span.contains(version))
    }

    /// The only piece of the range, if it has just one.
    fn single(&self) -> Option<&Span> {
        if let [span] = self.spans.as_slice() { Some(span) } else { None }
    }

    /// Whether `other` has all versions of this one.
    pub fn is_covered_by(&self, other: &Self) -> bool {
        let (Some(mine), Some(theirs)) = (self.single(), other.single()) else {
            return self == other;
        };
        theirs.low.version.precedence(&mine.low.version) != Ordering::Greater
            && match theirs.high.version.precedence(&mine.high.version) {
                Ordering::Greater => true,
                Ordering::Equal => !theirs.high.excluded || mine.high.excluded,
                Ordering::Less => false,
            }
    }

    /// Both ranges as one, if they touch.
    pub fn merge(&self, other: &Self) -> Option<Self> {
        let (mine, theirs) = (self.single()?, other.single()?);
        let between = |low: &SemVer, high: &SemVer, exclude| Some(Self::between(low, high, exclude));
        if self.contains(&theirs.low.version) || other.contains(&mine.low.version) {
            let order = mine.high.version.precedence(&theirs.high.version);
            let high = if order == Ordering::Less { &theirs.high } else { &mine.high };
            let exclude = match order {
                Ordering::Equal => mine.high.excluded && theirs.high.excluded,
                _ => high.excluded,
            };
            let low = if mine.low.version.precedence(&theirs.low.version) == Ordering::Greater {
                &theirs.low
            } else {
                &mine.low
            };
            return between(&low.version, &high.version, exclude);
        }
        if mine.high.excluded && mine.high.version == theirs.low.version {
            return between(&mine.low.version, &theirs.high.version, theirs.high.excluded);
        }
        if theirs.high.excluded && theirs.high.version == mine.low.version {
            return between(&theirs.low.version, &mine.high.version, mine.high.excluded);
        }
        None
    }
}

/// Removes blanks, and a `v`, after an operator.
fn tighten(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        result.push(first);
        rest = &rest[first.len_utf8()..];
        if matches!(first, '>' | '<' | '=' | '~' | '^') {
            let trimmed = rest.trim_start();
            if trimmed.len() < rest.len() {
                rest = trimmed;
            } else if let Some(after) = trimmed.strip_prefix('v') {
                rest = after;
            }
        }
    }
    result
}

/// The alternatives between `||`; empty ones at the end do not count.
fn split_alternatives(text: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = text.split("||").collect();
    let last = parts.len().saturating_sub(1);
    for (index, part) in parts.iter_mut().enumerate() {
        if index > 0 {
            *part = part.trim_start();
        }
        if index < last {
            *part = part.trim_end();
        }
    }
    while parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    parts
}

fn unparsable(text: &str) -> ValueError {
    ValueError::new(format!("Unparsable version range: \"{text}\""))
}

fn parse_range(range: &str, whole: &str) -> Result<Option<Span>, ValueError> {
    let words: Vec<&str> = range.split_whitespace().collect();
    if let [low, "-", high] = words.as_slice()
        && let (Some(low), Some(high)) = (Partial::parse(low)?, Partial::parse(high)?)
    {
        return Ok(Span::from(low.version()).intersection(&Span::up_to(high.version())));
    }
    let mut result: Option<Span> = None;
    let mut empty = false;
    // A blank at the front makes an empty word, which no simple range is.
    if range.starts_with(char::is_whitespace) || words.is_empty() {
        return Err(unparsable(whole));
    }
    for word in words {
        let span = parse_simple(word)?.ok_or_else(|| unparsable(whole))?;
        result = match result {
            None => Some(span),
            Some(before) => {
                let both = before.intersection(&span);
                empty |= both.is_none();
                both
            }
        };
        if empty {
            return Ok(None);
        }
    }
    Ok(result)
}

fn parse_simple(word: &str) -> Result<Option<Span>, ValueError> {
    let operator = ["<=", ">=", "~>", "~=", "<", ">", "=", "~", "^"]
        .into_iter()
        .find(|operator| word.starts_with(operator))
        .unwrap_or("");
    let Some(partial) = Partial::parse(&word[operator.len()..])? else {
        return Ok(None);
    };
    Ok(Some(match operator {
        "~" | "~>" | "~=" => partial.patch_updates(true),
        "^" => match partial.major {
            Some(0) | None => partial.patch_updates(true),
            Some(_) => partial.minor_updates(),
        },
        ">" => partial.greater(),
        ">=" => Span::from(partial.version()),
        "<" => Span::below(partial.version()),
        "<=" => partial.at_most(),
        _ => partial.patch_updates(false),
    }))
}

/// A version with parts left open: `1`, `1.x`, `1.2.3-rc1`.
struct Partial {
    major: Option<u64>,
    minor: Option<u64>,
    patch: Option<u64>,
    prerelease: Option<Vec<Identifier>>,
    build: Option<Vec<String>>,
}

impl Partial {
    fn parse(text: &str) -> Result<Option<Self>, ValueError> {
        let (body, build) = match text.split_once('+') {
            Some((body, build)) => (body, Some(build)),
            None => (text, None),
        };
        let (numbers, prerelease) = match body.split_once('-') {
            Some((numbers, prerelease)) => (numbers, Some(prerelease)),
            None => (body, None),
        };
        let parts: Vec<&str> = numbers.split('.').collect();
        if parts.len() > 3 || (parts.len() < 3 && (build.is_some() || prerelease.is_some())) {
            return Ok(None);
        }
        if [prerelease, build].into_iter().flatten().any(|text| !is_qualifier(text)) {
            return Ok(None);
        }
        let mut numbers = [None; 3];
        for (number, part) in numbers.iter_mut().zip(&parts) {
            if !matches!(*part, "x" | "X" | "*") {
                let Some(digits) = parse_number(part) else { return Ok(None) };
                *number = Some(digits);
            }
        }
        let [major, minor, patch] = numbers;
        let prerelease = prerelease.map(parse_prerelease).transpose()?;
        Ok(Some(Self { major, minor, patch, prerelease, build: build.map(parse_build) }))
    }

    fn version(&self) -> SemVer {
        SemVer {
            major: Major::Number(self.major.unwrap_or(0)),
            minor: self.minor.unwrap_or(0),
            patch: self.patch.unwrap_or(0),
            prerelease: self.prerelease.clone(),
            build: self.build.clone(),
        }
    }

    fn patch_updates(&self, updates: bool) -> Span {
        let Some(major) = self.major else { return Span::all() };
        let Some(minor) = self.minor else {
            return Span::between(SemVer::new(major, 0, 0), SemVer::new(major.saturating_add(1), 0, 0));
        };
        let next = SemVer::new(major, minor.saturating_add(1), 0);
        if self.patch.is_none() {
            return Span::between(SemVer::new(major, minor, 0), next);
        }
        if updates { Span::between(self.version(), next) } else { Span::exactly(self.version()) }
    }

    fn minor_updates(&self) -> Span {
        let Some(major) = self.major else { return Span::all() };
        let low = match (self.minor, self.patch) {
            (None, _) => SemVer::new(major, 0, 0),
            (Some(minor), None) => SemVer::new(major, minor, 0),
            (Some(minor), Some(patch)) if self.prerelease.is_none() => SemVer::new(major, minor, patch),
            (Some(_), Some(_)) => self.version(),
        };
        Span::between(low, SemVer::new(major.saturating_add(1), 0, 0))
    }

    fn greater(&self) -> Span {
        match (self.major, self.minor, self.patch) {
            (None, _, _) => Span::nothing(),
            (Some(major), None, _) => Span::from(SemVer::new(major.saturating_add(1), 0, 0)),
            (Some(major), Some(minor), None) => Span::from(SemVer::new(major, minor.saturating_add(1), 0)),
            _ => Span::above(self.version()),
        }
    }

    fn at_most(&self) -> Span {
        match (self.major, self.minor, self.patch) {
            (None, _, _) => Span::all(),
            (Some(major), None, _) => Span::below(SemVer::new(major.saturating_add(1), 0, 0)),
            (Some(major), Some(minor), None) => Span::below(SemVer::new(major, minor.saturating_add(1), 0)),
            _ => Span::up_to(self.version()),
        }
    }
}
