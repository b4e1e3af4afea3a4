//! Numbers of variable length, and lists of paths in which each names only what differs from the one before.

/// Why bytes could not be read; where they came from is added by the caller.
pub(crate) type Broken = &'static str;

pub(crate) const ENDS_EARLY: Broken = "it ends in the middle of an entry";

pub(crate) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Text without zero bytes, ended by one.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend(text.bytes().filter(|byte| *byte != 0));
    out.push(0);
}

/// The length of what is shared with the text before, then the rest.
pub(crate) fn put_after(out: &mut Vec<u8>, before: &str, text: &str) {
    let shared = before.bytes().zip(text.bytes()).take(255).take_while(|(a, b)| a == b).count();
    out.push(shared as u8);
    out.extend(text.as_bytes()[shared..].iter().filter(|byte| **byte != 0));
    out.push(0);
}

/// Reads what the functions above wrote. Never reads past the end.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    /// The last text of a list of paths, as bytes: it may be cut within a character.
    last: Vec<u8>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, last: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Broken> {
        let (first, rest) = self.bytes.split_first().ok_or(ENDS_EARLY)?;
        self.bytes = rest;
        Ok(*first)
    }

    pub(crate) fn number(&mut self) -> Result<u64, Broken> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("a number is too long")
    }

    /// A number of things that follow: each takes at least one byte, so no more than there are bytes.
    pub(crate) fn count(&mut self) -> Result<usize, Broken> {
        let count = self.number()?;
        if count > self.bytes.len() as u64 {
            return Err("it says to have more entries than it has bytes");
        }
        Ok(count as usize)
    }

    pub(crate) fn small(&mut self) -> Result<u32, Broken> {
        u32::try_from(self.number()?).map_err(|_| "a number is too large")
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], Broken> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or(ENDS_EARLY)?;
        self.bytes = rest;
        Ok(taken)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Broken> {
        let end = memchr::memchr(0, self.bytes).ok_or(ENDS_EARLY)?;
        let text = std::str::from_utf8(&self.bytes[..end]).map_err(|_| "a name is not UTF-8")?;
        self.bytes = &self.bytes[end + 1..];
        Ok(text)
    }

    /// Starts a list in which each text names only what differs from the one before.
    pub(crate) fn start_list(&mut self) {
        self.last.clear();
    }

    pub(crate) fn next_in_list(&mut self) -> Result<&str, Broken> {
        let shared = usize::from(self.byte()?);
        if shared > self.last.len() {
            return Err("an entry shares more than the entry before it has");
        }
        let end = memchr::memchr(0, self.bytes).ok_or(ENDS_EARLY)?;
        self.last.truncate(shared);
        self.last.extend_from_slice(&self.bytes[..end]);
        self.bytes = &self.bytes[end + 1..];
        std::str::from_utf8(&self.last).map_err(|_| "a path is not UTF-8")
    }
}

/// Paths as they come in, kept small. Sources are sorted, so that most share their start with the one before.
#[derive(Debug, Clone, Default)]
pub(crate) struct Paths {
    bytes: Vec<u8>,
    last: String,
    count: usize,
}

impl Paths {
    pub(crate) fn push(&mut self, path: &str) {
        put_after(&mut self.bytes, &self.last, path);
        self.last.clear();
        self.last.extend(path.chars().filter(|c| *c != '\0'));
        self.count += 1;
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// All paths, sorted, each once.
    pub(crate) fn sorted(&self) -> Vec<Box<str>> {
        let mut reader = Reader::new(&self.bytes);
        let mut paths: Vec<Box<str>> = Vec::with_capacity(self.count);
        for _ in 0..self.count {
            // What `push` wrote is readable.
            let Ok(path) = reader.next_in_list() else { break };
            paths.push(path.into());
        }
        paths.sort_unstable();
        paths.dedup();
        paths
    }
}

/// A sorted list, with its length.
pub(crate) fn put_list<T: AsRef<str>>(out: &mut Vec<u8>, list: &[T]) {
    put_number(out, list.len() as u64);
    let mut before = "";
    for text in list {
        put_after(out, before, text.as_ref());
        before = text.as_ref();
    }
}

pub(crate) fn list(reader: &mut Reader<'_>) -> Result<Vec<Box<str>>, Broken> {
    let count = reader.count()?;
    reader.start_list();
    let mut found = Vec::with_capacity(count);
    for _ in 0..count {
        found.push(reader.next_in_list()?.into());
    }
    Ok(found)
}
