//! Native resource types: which attributes they have, what their titles mean, which values they take.
//!
//! The types that Puppet's agent ships are in a generated table; those of modules are read by [`crate::ruby_types`] into
//! the same shape.

mod table;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use setpoint_puppet_values::Value;
use setpoint_source::Symbol;

use crate::Resource;

/// What is known about a resource type that is not written in the Puppet language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeType {
    /// In lower case: `ssh_authorized_key`.
    pub name: &'static str,
    /// The module that holds the type, if it is not part of Puppet itself.
    pub module: Option<&'static str>,
    /// Sorted by name; metaparameters are not among them.
    pub attributes: Cow<'static, [Attribute]>,
    /// The attributes that together name a resource, in the order in which the type declares them.
    pub namevars: Cow<'static, [&'static str]>,
    /// Tried in turn: a regular expression, and the attributes that its groups give.
    pub title_patterns: Cow<'static, [TitlePattern]>,
    /// Two resources of the same name are the same thing. Not so for `exec`.
    pub isomorphic: bool,
    /// It does something when it is notified.
    pub refreshes: bool,
    pub providers: Cow<'static, [&'static str]>,
    /// Automatic relationships that a module's type declares. Those of Puppet's own types are code: see the graph.
    pub auto: Cow<'static, [AutoRelation]>,
    /// Not all parameters are known, so that any is accepted.
    pub open: bool,
}

pub type TitlePattern = (&'static str, &'static [&'static str]);

/// One parameter or property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    pub name: &'static str,
    pub role: Role,
    pub namevar: bool,
    /// How Puppet validates values when it turns the catalog into native resources.
    pub check: Check,
    /// Allowed spellings, each with the value that it means.
    pub values: Cow<'static, [(&'static str, &'static str)]>,
    /// Regular expressions for further values.
    pub patterns: Cow<'static, [&'static str]>,
    /// What Puppet says to values of each kind of [`ValueKind`], a letter for each: `a` if it accepts those that it was
    /// asked about, `r` if it refuses them, `m` if it depends. Empty if it was not asked.
    pub kinds: &'static str,
    /// The providers that manage the attribute, if not all do. The others take any value and leave it alone.
    pub managed_by: Option<&'static [&'static str]>,
}

/// What a value is, as far as the types of Puppet tell values apart. The order is that of the letters in
/// [`Attribute::kinds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    Integer,
    Negative,
    Float,
    True,
    False,
    NoItems,
    Strings,
    Integers,
    OtherItems,
    NoPairs,
    Pairs,
    Default,
    Reference,
    String,
}

/// What Puppet says to the values of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindAnswer {
    Accepted,
    Refused,
    /// Some are accepted.
    Depends,
}

impl Attribute {
    /// What Puppet says to values of a kind; `None` if it was not asked.
    pub fn answer(&self, kind: ValueKind) -> Option<KindAnswer> {
        match self.kinds.as_bytes().get(kind as usize)? {
            b'a' => Some(KindAnswer::Accepted),
            b'r' => Some(KindAnswer::Refused),
            _ => Some(KindAnswer::Depends),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It tells how to manage the resource.
    Parameter,
    /// It is a part of the state of the machine.
    Property,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The value must be one of `values` or match one of `patterns`, if there are any.
    Values,
    /// An absolute path.
    Path,
    /// A string, and nothing else.
    Text,
    /// The type has code of its own.
    Own,
    /// A data type that is not read here.
    DataType,
}

/// An automatic relationship: to each resource of `target` that `names` yields, if it is in the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutoRelation {
    pub relation: Relation,
    /// The type of the other resource, in lower case.
    pub target: &'static str,
    pub names: Vec<NameSource>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    Require,
    Subscribe,
    Before,
    Notify,
}

/// Where an automatic relationship finds the names of the other resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameSource {
    Literal(&'static str),
    /// The value of an attribute; each element of an array.
    Attribute(&'static str),
    /// Text with values of attributes in it.
    Text(Vec<TextPart>),
    /// Only if an attribute is set, or only if it is not.
    If {
        attribute: &'static str,
        set: bool,
        names: Vec<NameSource>,
    },
    /// By the value of an attribute.
    Case {
        attribute: &'static str,
        arms: Vec<(Vec<&'static str>, Vec<NameSource>)>,
        otherwise: Vec<NameSource>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPart {
    Literal(&'static str),
    Attribute(&'static str),
    /// One piece of an attribute's value; the last for an index beyond all.
    Piece {
        attribute: &'static str,
        separator: &'static str,
        index: usize,
    },
}

/// A type that Puppet's agent ships, by its name in any case.
pub fn native_type(name: &str) -> Option<&'static NativeType> {
    let at = table::TYPES.binary_search_by(|known| compare_ignoring_case(known.name, name)).ok()?;
    table::TYPES.get(at)
}

/// All types that Puppet's agent ships, by name.
pub fn native_types() -> &'static [NativeType] {
    &table::TYPES
}

/// A parameter that every resource takes: `require`, `tag`, `noop`, ….
pub fn is_metaparameter(name: &str) -> bool {
    table::METAPARAMETERS.binary_search(&name).is_ok()
}

pub fn metaparameters() -> &'static [&'static str] {
    &table::METAPARAMETERS
}

/// `lower` is in lower case.
fn compare_ignoring_case(lower: &str, other: &str) -> Ordering {
    lower.bytes().cmp(other.bytes().map(|byte| byte.to_ascii_lowercase()))
}

/// The name of a type as Puppet displays it: `ssh_authorized_key` is `Ssh_authorized_key`, `a::b` is `A::B`.
pub fn display_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut start = true;
    for letter in name.chars() {
        if start {
            out.extend(letter.to_uppercase());
        } else {
            out.extend(letter.to_lowercase());
        }
        start = letter == ':';
    }
    out
}

impl NativeType {
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        let at = self.attributes.binary_search_by(|attribute| attribute.name.cmp(name)).ok()?;
        self.attributes.get(at)
    }

    /// Whether a resource of this type may be given this parameter: the check that Puppet makes when it compiles.
    pub fn accepts(&self, name: &str) -> bool {
        self.open || name == "name" || self.attribute(name).is_some() || is_metaparameter(name)
    }

    /// The parameter that the title stands for. With several namevars it is `name`, as in Puppet.
    pub fn namevar(&self) -> &'static str {
        match self.namevars.as_ref() {
            [only] => only,
            _ => "name",
        }
    }

    /// What the title says about attributes; `None` if no pattern fits, which is an error in Puppet.
    pub fn parse_title(&self, title: &str) -> Option<Vec<(&'static str, String)>> {
        if self.name == "file" {
            return Some(vec![("path", file_path(title).to_owned())]);
        }
        if self.title_is_namevar() {
            return Some(vec![(self.namevar(), title.to_owned())]);
        }
        self.title_patterns.iter().find_map(|(pattern, names)| {
            let captures = crate::patterns::compiled(pattern)?.captures(title).ok()??;
            let values = names.iter().enumerate();
            Some(
                values
                    .filter_map(|(at, name)| Some((*name, captures.get(at + 1)?.as_str().to_owned())))
                    .collect(),
            )
        })
    }

    fn title_is_namevar(&self) -> bool {
        matches!(self.title_patterns.as_ref(), [("(?m)(?s)(.*)", [only])] if *only == self.namevar())
            || self.title_patterns.is_empty()
    }

    /// Gives a resource its namevar and what its title says. `Err` if the title fits no pattern.
    pub fn apply_title(&self, resource: &mut Resource) -> Result<(), NoPattern> {
        resource.namevar = Symbol::new(self.namevar());
        if self.title_is_namevar() {
            return Ok(());
        }
        let parts = self.parse_title(&resource.title).ok_or(NoPattern)?;
        let namevar = self.namevar();
        resource.from_title = parts
            .into_iter()
            .filter(|(name, value)| *name != namevar || **value != *resource.title)
            .map(|(name, value)| (Symbol::new(name), Arc::from(value)))
            .collect();
        Ok(())
    }

    /// The name under which the catalog may hold only one resource of this type, if it is not the title: the values of
    /// the namevars.
    pub fn unique_name(&self, resource: &Resource) -> Option<Arc<str>> {
        if !self.isomorphic {
            return None;
        }
        let name = match self.namevars.as_ref() {
            [] => return None,
            [only] => self.key_value(resource, only)?,
            several => {
                let mut names = several.to_vec();
                names.sort_unstable();
                // No title has this form, so that such names never meet titles.
                let values = names.iter().map(|name| self.key_value(resource, name).unwrap_or_default());
                Arc::from(values.fold(String::new(), |text, value| text + "\0" + &value))
            }
        };
        (name != resource.title).then_some(name)
    }

    /// The value of a namevar: as given, or as the title says.
    pub(crate) fn key_value(&self, resource: &Resource, name: &str) -> Option<Arc<str>> {
        if let Some(value) = resource.get(name).or_else(|| self.also_called_name(resource, name)) {
            return Some(value.as_str().map_or_else(|| Arc::from(format!("{:?}", value.data)), Arc::from));
        }
        if self.title_is_namevar() {
            return (name == self.namevar()).then(|| Arc::clone(&resource.title));
        }
        let parts = self.parse_title(&resource.title)?;
        parts.into_iter().find(|(part, _)| *part == name).map(|(_, value)| Arc::from(value))
    }

    /// `name => …` sets the namevar, whatever it is called.
    fn also_called_name<'a>(&self, resource: &'a Resource, name: &str) -> Option<&'a Value> {
        (name == self.namevar()).then(|| resource.get("name")).flatten()
    }
}

/// The title of a resource fits none of the patterns of its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoPattern;

/// The path of a file without slashes at its end; the root keeps its own.
pub fn file_path(title: &str) -> &str {
    let trimmed = title.trim_end_matches('/');
    let root = trimmed.is_empty() || trimmed.ends_with(':');
    if root { title.get(..=trimmed.len()).unwrap_or(title) } else { trimmed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_in_any_case() {
        assert_eq!(native_type("File").map(|found| found.name), Some("file"));
        assert_eq!(native_type("Ssh_authorized_key").map(|found| found.name), Some("ssh_authorized_key"));
        assert_eq!(native_type("nope"), None);
        for known in native_types() {
            assert_eq!(native_type(&display_name(known.name)), Some(known));
            assert!(known.attributes.is_sorted_by_key(|attribute| attribute.name), "{}", known.name);
        }
    }

    #[test]
    fn parameters_are_those_of_the_type_and_metaparameters() {
        let file = native_type("file").unwrap();
        assert!(file.accepts("mode") && file.accepts("require") && file.accepts("name"));
        assert!(!file.accepts("colour"));
        assert_eq!(file.namevar(), "path");
        assert_eq!(native_type("package").unwrap().namevar(), "name");
    }

    #[test]
    fn titles_name_files_without_their_last_slash() {
        for (title, path) in
            [("/trail/", "/trail"), ("/", "/"), ("//", "/"), ("C:/", "C:/"), ("/a/b", "/a/b")]
        {
            assert_eq!(file_path(title), path);
        }
        let mut resource = Resource::new(Symbol::new("File"), "/trail/");
        let file = native_type("file").unwrap();
        file.apply_title(&mut resource).unwrap();
        assert_eq!(resource.from_title, [(Symbol::new("path"), Arc::from("/trail"))]);
        assert_eq!(file.unique_name(&resource).as_deref(), Some("/trail"));
    }

    #[test]
    fn a_title_may_give_several_attributes() {
        let sshkey = native_type("sshkey").unwrap();
        let parts = sshkey.parse_title("host1@ssh-rsa").unwrap();
        assert_eq!(parts, [("name", "host1".to_owned()), ("type", "ssh-rsa".to_owned())]);
        assert_eq!(sshkey.parse_title("host1").unwrap(), [("name", "host1".to_owned())]);
    }
}
