//! One resource of a catalog.

use std::fmt;
use std::sync::Arc;

use setpoint_provenance::Prov;
use setpoint_puppet_values::{Data, Value};
use setpoint_source::{Span, Symbol};

/// A resource of one [`crate::Catalog`]: its place in the order in which resources entered it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ResourceId(pub u32);

impl ResourceId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What declared a resource, in the words of Puppet's JSON.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A native type, in Ruby or shipped with Puppet.
    CompilableType,
    /// An instance of a `define`.
    DefinedType,
    /// A class that was declared like a resource.
    Class,
    /// A class that was included.
    Unknown,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CompilableType => "compilable_type",
            Self::DefinedType => "defined_type",
            Self::Class => "class",
            Self::Unknown => "unknown",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::CompilableType, Self::DefinedType, Self::Class, Self::Unknown]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

/// A resource as it stands in the catalog.
#[derive(Clone, Debug)]
pub struct Resource {
    /// As displayed: `File`, `Foo::Bar`, `Class`.
    pub type_name: Symbol,
    /// As displayed; the title of a class is capitalised: `Apache::Params`.
    pub title: Arc<str>,
    pub tags: Tags,
    /// The path of the manifest, as Puppet prints it.
    pub file: Option<Arc<str>>,
    pub line: Option<u32>,
    pub span: Option<Span>,
    pub exported: bool,
    /// Declared, but not realised. Virtual resources are no part of what is printed or applied.
    pub virtual_: bool,
    /// Absent in catalogs of old servers.
    pub kind: Option<Kind>,
    pub parameters: Parameters,
    /// The parameters whose values are secret.
    pub sensitive: Vec<Symbol>,
    /// The parameter that the title stands for. It is printed only if it differs from the title.
    pub namevar: Symbol,
    /// The title was not given as a string but, say, as an integer. Puppet then prints the namevar even though it reads
    /// as the title does.
    pub title_is_no_string: bool,
    /// What the title says about other parameters than `namevar`, or about `namevar` in another spelling: the title
    /// `/trail/` of a file gives `path => "/trail"`. The printer puts these before the parameters; a parameter of the
    /// same name wins.
    pub from_title: Vec<(Symbol, Arc<str>)>,
    /// Why the resource exists.
    pub prov: Prov,
}

impl Resource {
    pub fn new(type_name: Symbol, title: impl Into<Arc<str>>) -> Self {
        Self {
            type_name,
            title: title.into(),
            tags: Tags::default(),
            file: None,
            line: None,
            span: None,
            exported: false,
            virtual_: false,
            kind: Some(Kind::CompilableType),
            parameters: Parameters::default(),
            sensitive: Vec::new(),
            namevar: Symbol::new("name"),
            title_is_no_string: false,
            from_title: Vec::new(),
            prov: Prov::NONE,
        }
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.parameters.get_str(name)
    }

    /// `File[/etc/motd]`.
    pub fn reference(&self) -> String {
        self.to_string()
    }

    pub fn is_class(&self) -> bool {
        self.type_name.as_str() == "Class"
    }

    /// The parameters as a catalog shows them: what the title says comes first, then those that were given; the namevar
    /// only if it is not the title.
    pub fn printed(&self) -> impl Iterator<Item = (Symbol, Shown<'_>)> {
        let named = self.title_is_no_string || self.is_main();
        let is_title = move |parameter: &Parameter| {
            parameter.name == self.namevar
                && !named
                && matches!(&parameter.value.data, Data::String(text) if *text == self.title)
        };
        let from_title = self.from_title.iter().map(|(name, text)| (*name, text));
        from_title
            .chain(named.then_some((self.namevar, &self.title)))
            .filter(|(name, _)| !self.parameters.contains(*name))
            .map(|(name, text)| (name, Shown::Title(text)))
            .chain(
                self.parameters
                    .iter()
                    .filter(move |parameter| !is_title(parameter))
                    .map(|parameter| (parameter.name, Shown::Given(parameter))),
            )
    }

    /// Whether a parameter's value must never be shown.
    pub fn is_secret(&self, name: Symbol) -> bool {
        self.sensitive.contains(&name)
            || matches!(self.parameters.get(name).map(|value| &value.data), Some(Data::Sensitive(_)))
    }

    /// Puppet makes the main stage and the main class itself, under titles that are no strings.
    fn is_main(&self) -> bool {
        &*self.title == "main" && matches!(self.type_name.as_str(), "Stage" | "Class")
    }
}

/// A parameter in a printed catalog.
#[derive(Clone, Copy, Debug)]
pub enum Shown<'a> {
    /// The title stands for it.
    Title(&'a Arc<str>),
    Given(&'a Parameter),
}

impl Shown<'_> {
    pub fn value(self) -> Value {
        match self {
            Self::Title(text) => Value::new(Data::String(Arc::clone(text))),
            Self::Given(parameter) => parameter.value.clone(),
        }
    }
}

/// Writes the reference: `File[/etc/motd]`.
impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.type_name, self.title)
    }
}

/// A parameter and where it was given.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: Symbol,
    pub value: Value,
    pub span: Option<Span>,
}

/// Parameters in the order in which they were given. A resource has few, so they are searched from the start.
#[derive(Clone, Debug, Default)]
pub struct Parameters(Vec<Parameter>);

impl Parameters {
    pub fn get(&self, name: Symbol) -> Option<&Value> {
        self.entry(name).map(|parameter| &parameter.value)
    }

    pub fn get_str(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|parameter| parameter.name.as_str() == name).map(|parameter| &parameter.value)
    }

    pub fn entry(&self, name: Symbol) -> Option<&Parameter> {
        self.0.iter().find(|parameter| parameter.name == name)
    }

    pub fn contains(&self, name: Symbol) -> bool {
        self.entry(name).is_some()
    }

    /// Sets a parameter and gives back what it was. A new one comes last, a known one keeps its place.
    pub fn set(&mut self, name: Symbol, value: Value, span: Option<Span>) -> Option<Parameter> {
        let new = Parameter { name, value, span };
        if let Some(known) = self.0.iter_mut().find(|parameter| parameter.name == name) {
            return Some(std::mem::replace(known, new));
        }
        self.0.push(new);
        None
    }

    pub(crate) fn forget_places(&mut self) {
        for parameter in &mut self.0 {
            parameter.span = None;
        }
    }

    pub fn get_mut(&mut self, name: Symbol) -> Option<&mut Parameter> {
        self.0.iter_mut().find(|parameter| parameter.name == name)
    }

    pub fn remove(&mut self, name: Symbol) -> Option<Parameter> {
        let at = self.0.iter().position(|parameter| parameter.name == name)?;
        Some(self.0.remove(at))
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Parameter> {
        self.0.iter()
    }

    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Parameter> {
        self.0.iter_mut()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn retain(&mut self, keep: impl FnMut(&Parameter) -> bool) {
        self.0.retain(keep);
    }
}

impl<'a> IntoIterator for &'a Parameters {
    type Item = &'a Parameter;
    type IntoIter = std::slice::Iter<'a, Parameter>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a mut Parameters {
    type Item = &'a mut Parameter;
    type IntoIter = std::slice::IterMut<'a, Parameter>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

/// A set of tags in the order in which they were added, as Puppet prints them. Copies share their storage, for the
/// resources of a class mostly have the same tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags(Arc<Vec<Symbol>>);

impl Tags {
    pub fn contains(&self, tag: Symbol) -> bool {
        self.0.contains(&tag)
    }

    /// Adds a tag; `false` if it was there.
    pub fn insert(&mut self, tag: Symbol) -> bool {
        let new = !self.contains(tag);
        if new {
            Arc::make_mut(&mut self.0).push(tag);
        }
        new
    }

    /// Adds the tags of another set, in its order.
    pub fn merge(&mut self, other: &Self) {
        if self.0.is_empty() {
            self.0 = Arc::clone(&other.0);
        } else if !Arc::ptr_eq(&self.0, &other.0) {
            other.iter().for_each(|tag| {
                self.insert(tag);
            });
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.0.iter().copied()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Symbol> for Tags {
    fn from_iter<I: IntoIterator<Item = Symbol>>(tags: I) -> Self {
        let mut set = Self::default();
        for tag in tags {
            set.insert(tag);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_keep_their_place() {
        let mut parameters = Parameters::default();
        let (mode, owner) = (Symbol::new("mode"), Symbol::new("owner"));
        assert!(parameters.set(mode, "0644".into(), None).is_none());
        parameters.set(owner, "root".into(), None);
        assert_eq!(parameters.set(mode, "0600".into(), None).map(|old| old.value), Some("0644".into()));
        let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        assert_eq!(names, ["mode", "owner"]);
        assert_eq!(parameters.get_str("mode"), Some(&"0600".into()));
    }

    #[test]
    fn tags_are_a_set_in_order() {
        let mut tags: Tags = ["b", "a", "b"].into_iter().map(Symbol::new).collect();
        let copy = tags.clone();
        assert!(tags.insert(Symbol::new("c")));
        assert!(!tags.insert(Symbol::new("a")));
        assert_eq!(tags.iter().map(Symbol::as_str).collect::<Vec<_>>(), ["b", "a", "c"]);
        assert_eq!(copy.len(), 2);
    }
}
