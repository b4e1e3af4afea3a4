//! The grammar of TOSCA files: the keys of each definition and the shape of what they hold.
//!
//! The tables are the grammar of the Simple Profile 1.0 to 1.3 (one edition: what any of them allows is allowed) and of TOSCA
//! 2.0. Names of types, templates and properties are no matter of grammar; `definitions` and `templates` check them.

use setpoint_data::{Entry, Kind, Node};
use setpoint_source::{FileId, Range};

use crate::omission::{Omission, Omitted};

/// The versions of the grammar that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Edition {
    /// The Simple Profile, 1.0 to 1.3.
    #[default]
    One,
    /// TOSCA 2.0.
    Two,
}

/// What a place of a TOSCA file may hold.
enum Shape {
    Anything,
    /// Anything but nothing.
    Something,
    Text,
    /// Text that names a type, a template or a file.
    Name,
    /// A name, or in the Simple Profile a function that gives one.
    NameOrCall,
    Names,
    Flag,
    Version,
    /// Two bounds, the upper one a number or `UNBOUNDED`.
    Bounds,
    Metadata,
    /// A mapping from names to something.
    Map(&'static Shape),
    List(&'static Shape),
    /// A list of mappings with one name each.
    Entries(&'static Shape),
    /// A mapping from names, or the same as a list of mappings with one name each.
    MapOrEntries(&'static Shape),
    Of(&'static Definition),
    /// Another shape in each edition.
    By(&'static Shape, &'static Shape),
}

use Shape::{
    Anything, Bounds, By, Entries, Flag, List, Map, MapOrEntries, Metadata, Name, NameOrCall, Names, Of,
    Something, Text, Version,
};

/// A construct with keys of its own.
struct Definition {
    /// What people call it: `node type`.
    what: &'static str,
    keys: &'static [Key],
    /// What may stand for the whole of it.
    short: Option<Shape>,
    /// What keys that are not listed may hold, in the Simple Profile: older versions put operations beside other keys.
    rest: Option<Shape>,
    /// Whether it may be left empty.
    may_be_empty: bool,
}

struct Key {
    name: &'static str,
    shape: Shape,
    /// In the Simple Profile, in TOSCA 2.0.
    known: [bool; 2],
    needed: [bool; 2],
}

const fn key(name: &'static str, shape: Shape) -> Key {
    Key { name, shape, known: [true, true], needed: [false, false] }
}

/// A key of the Simple Profile alone.
const fn old(name: &'static str, shape: Shape) -> Key {
    Key { name, shape, known: [true, false], needed: [false, false] }
}

/// A key of TOSCA 2.0 alone.
const fn new(name: &'static str, shape: Shape) -> Key {
    Key { name, shape, known: [false, true], needed: [false, false] }
}

impl Key {
    const fn needed(self) -> Self {
        Self { needed: [true, true], ..self }
    }
}

const fn definition(what: &'static str, keys: &'static [Key]) -> Definition {
    Definition { what, keys, short: None, rest: None, may_be_empty: false }
}

impl Definition {
    const fn short(self, shape: Shape) -> Self {
        Self { short: Some(shape), ..self }
    }

    const fn rest(self, shape: Shape) -> Self {
        Self { rest: Some(shape), ..self }
    }

    const fn may_be_empty(self) -> Self {
        Self { may_be_empty: true, ..self }
    }
}

static FILE: Definition = definition(
    "TOSCA file",
    &[
        key("tosca_definitions_version", Name),
        old("tosca_default_namespace", Text),
        old("namespace", Text),
        old("template_name", Text),
        old("template_author", Text),
        old("template_version", Anything),
        new("profile", Name),
        key("metadata", Metadata),
        key("description", Text),
        key("dsl_definitions", By(&Map(&Anything), &Map(&Something))),
        key("repositories", Map(&Of(&REPOSITORY))),
        key("imports", By(&Anything, &List(&Of(&IMPORT)))),
        key("artifact_types", Map(&Of(&ARTIFACT_TYPE))),
        key("data_types", Map(&Of(&DATA_TYPE))),
        key("capability_types", Map(&Of(&CAPABILITY_TYPE))),
        key("interface_types", Map(&Of(&INTERFACE_TYPE))),
        key("relationship_types", Map(&Of(&RELATIONSHIP_TYPE))),
        key("node_types", Map(&Of(&NODE_TYPE))),
        key("group_types", Map(&Of(&GROUP_TYPE))),
        key("policy_types", Map(&Of(&POLICY_TYPE))),
        new("functions", Map(&Of(&FUNCTION))),
        // Drafts of 2.0 had this name as well, and opera takes it there.
        key("topology_template", Of(&TOPOLOGY)),
        new("service_template", Of(&TOPOLOGY)),
    ],
);

static REPOSITORY: Definition = definition(
    "repository",
    &[
        key("url", Name).needed(),
        key("description", Text),
        key("credential", Anything),
        key("metadata", Metadata),
        new("type", Text),
        new("version", Anything),
    ],
)
.short(Name);

static IMPORT: Definition = definition(
    "import",
    &[
        key("url", Name),
        key("profile", Name),
        key("repository", Name),
        key("namespace", Name),
        key("description", Text),
        key("metadata", Metadata),
    ],
)
.short(Name);

static ARTIFACT_TYPE: Definition = definition(
    "artifact type",
    &[
        key("derived_from", Name),
        key("version", Version),
        key("metadata", Metadata),
        key("description", Text),
        key("mime_type", Text),
        key("file_ext", Names),
        key("properties", Map(&Of(&PROPERTY))),
    ],
)
.may_be_empty();

static DATA_TYPE: Definition = definition(
    "data type",
    &[
        key("derived_from", Name),
        key("version", Version),
        key("metadata", Metadata),
        key("description", Text),
        key("properties", Map(&Of(&PROPERTY))),
        old("constraints", List(&Anything)),
        new("validation", Anything),
        key("key_schema", Of(&SCHEMA)),
        key("entry_schema", Of(&SCHEMA)),
        new("data_type", Name),
        new("units", Map(&Anything)),
        new("canonical_unit", Name),
        new("prefixes", Map(&Anything)),
        new("canonical_prefix", Text),
    ],
)
.may_be_empty();

static CAPABILITY_TYPE: Definition = definition(
    "capability type",
    &[
        key("derived_from", Name),
        key("version", Version),
        key("metadata", Metadata),
        key("description", Text),
        key("properties", Map(&Of(&PROPERTY))),
        key("attributes", Map(&Of(&ATTRIBUTE))),
        old("valid_source_types", Names),
        new("valid_source_node_types", Names),
        new("valid_relationship_types", Names),
    ],
)
.may_be_empty();

static INTERFACE_TYPE: Definition = definition(
    "interface type",
    &[
        key("derived_from", Name),
        key("version", Version),
        key("metadata", Metadata),
        key("description", Text),
        key("inputs", Map(&Of(&PARAMETER))),
        key("operations", Map(&Of(&ABSTRACT_OPERATION))),
        key("notifications", Map(&Of(&NOTIFICATION))),
    ],
)
.rest(Of(&ABSTRACT_OPERATION))
.may_be_empty();

static RELATIONSHIP_TYPE: Definition = definition(
    "relationship type",
    &[
        key("derived_from", Name),
        key("version", Version),
        key("metadata", Metadata),
        key("description", Text),
        key("properties", Map(&Of(&PROPERTY))),
        key("attributes", Map(&Of(&ATTRIBUTE))),
        key("interfaces", Map(&Of(&INTERFACE))),
        old("valid_target_types", Names),
        new("valid_capability_types", Names),
        new("valid_target_node_types", Names),
        new("valid_source_node_types", Names),
    ],
)
.may_be_empty();

static NODE_TYPE: Definition = definition(
    "node type",
    &[
        key("derived_from", Name),
        key("version", Version),
        key("metadata", Metadata),
        key("description", Text),
        key("properties", Map(&Of(&PROPERTY))),
        key("attributes", Map(&Of(&ATTRIBUTE))),
        key("capabilities", By(&MapOrEntries(&Of(&CAPABILITY)), &Map(&Of(&CAPABILITY)))),
        key("requirements", By(&MapOrEntries(&Of(&REQUIREMENT)), &Entries(&Of(&REQUIREMENT)))),
        key("interfaces", Map(&Of(&INTERFACE))),
        key("artifacts", By(&MapOrEntries(&Of(&ARTIFACT)), &Map(&Of(&ARTIFACT)))),
    ],
)
.may_be_empty();

static GROUP_TYPE: Definition = definition(
    "group type",
    &[
        key("derived_from", Name),
        key("version", Version),
        key("metadata", Metadata),
        key("description", Text),
        key("properties", Map(&Of(&PROPERTY))),
        key("attributes", Map(&Of(&ATTRIBUTE))),
        key("members", Names),
        old("targets", Names),
        old("capabilities", Anything),
        old("requirements", Anything),
        old("interfaces", Map(&Of(&INTERFACE))),
    ],
)
.may_be_empty();

static POLICY_TYPE: Definition = definition(
    "policy type",
    &[
        key("derived_from", Name),
        key("version", Version),
        key("metadata", Metadata),
        key("description", Text),
        key("properties", Map(&Of(&PROPERTY))),
        key("targets", Names),
        key("triggers", Map(&Of(&TRIGGER))),
        old("action", Anything),
    ],
)
.may_be_empty();

static FUNCTION: Definition = definition(
    "function",
    &[key("signatures", List(&Anything)).needed(), key("description", Text), key("metadata", Metadata)],
);

static PROPERTY: Definition = definition(
    "property",
    &[
        key("type", Name),
        key("description", Text),
        key("metadata", Metadata),
        key("required", Flag),
        key("default", Anything),
        new("value", Anything),
        key("status", Text),
        old("constraints", List(&Anything)),
        new("validation", Anything),
        key("key_schema", Of(&SCHEMA)),
        key("entry_schema", Of(&SCHEMA)),
        old("external-schema", Anything),
        old("external_schema", Anything),
    ],
)
.short(Anything);

static ATTRIBUTE: Definition = definition(
    "attribute",
    &[
        key("type", Name),
        key("description", Text),
        key("metadata", Metadata),
        key("default", Anything),
        key("status", Text),
        old("constraints", List(&Anything)),
        old("required", Flag),
        new("validation", Anything),
        key("key_schema", Of(&SCHEMA)),
        key("entry_schema", Of(&SCHEMA)),
    ],
)
.short(By(&Anything, &Name));

static PARAMETER: Definition = definition("parameter", PARAMETER_KEYS).short(Anything).rest(Anything);

/// An input or output of a topology: a parameter without short forms.
static TOPOLOGY_PARAMETER: Definition = definition("parameter", PARAMETER_KEYS).short(By(&Anything, &Name));

static PARAMETER_KEYS: &[Key] = &[
    key("type", Name),
    key("description", Text),
    key("metadata", Metadata),
    key("required", Flag),
    key("default", Anything),
    key("value", Anything),
    key("status", Text),
    old("constraints", List(&Anything)),
    new("validation", Anything),
    new("mapping", Anything),
    key("key_schema", Of(&SCHEMA)),
    key("entry_schema", Of(&SCHEMA)),
    old("external-schema", Anything),
];

static SCHEMA: Definition = definition(
    "schema",
    &[
        key("type", Name),
        key("description", Text),
        key("metadata", Metadata),
        old("constraints", List(&Anything)),
        old("required", Flag),
        old("default", Anything),
        new("validation", Anything),
        key("key_schema", Of(&SCHEMA)),
        key("entry_schema", Of(&SCHEMA)),
        old("properties", Anything),
    ],
)
.short(Name);

static CAPABILITY: Definition = definition(
    "capability",
    &[
        key("type", Name),
        key("description", Text),
        key("metadata", Metadata),
        key("properties", Map(&Of(&PROPERTY))),
        key("attributes", Map(&Of(&ATTRIBUTE))),
        old("valid_source_types", Names),
        old("occurrences", Bounds),
        new("valid_source_node_types", Names),
        new("valid_relationship_types", Names),
    ],
)
.short(Name)
.may_be_empty();

static REQUIREMENT: Definition = definition(
    "requirement",
    &[
        key("description", Text),
        key("metadata", Metadata),
        key("capability", Name),
        key("node", Name),
        key("relationship", Of(&REQUIRED_RELATIONSHIP)),
        key("node_filter", By(&Of(&NODE_FILTER), &Anything)),
        old("occurrences", Bounds),
        old("type", Name),
        new("count_range", Bounds),
    ],
)
.short(Name)
.may_be_empty();

static NODE_FILTER: Definition = definition(
    "node filter",
    &[
        old("properties", Entries(&Anything)),
        old("capabilities", Entries(&Anything)),
        old("requirements", Entries(&Anything)),
        old("node_type", Name),
    ],
)
.may_be_empty();

/// A filter, or a filter below `node_filter`, as tools for the Simple Profile write it.
static SUBSTITUTION_FILTER: Definition = definition(
    "node filter",
    &[
        old("node_filter", Of(&NODE_FILTER)),
        old("properties", Entries(&Anything)),
        old("capabilities", Entries(&Anything)),
    ],
)
.may_be_empty();

static REQUIRED_RELATIONSHIP: Definition = definition(
    "relationship of a requirement",
    &[
        key("type", Name),
        key("description", Text),
        key("metadata", Metadata),
        key("properties", Anything),
        key("attributes", Anything),
        key("interfaces", Map(&Of(&INTERFACE))),
    ],
)
.short(Name);

static INTERFACE: Definition = definition(
    "interface",
    &[
        key("type", Name),
        key("description", Text),
        key("metadata", Metadata),
        key("inputs", Map(&Of(&PARAMETER))),
        key("operations", Map(&Of(&OPERATION))),
        key("notifications", Map(&Of(&NOTIFICATION))),
    ],
)
.rest(Of(&OPERATION))
.may_be_empty();

static OPERATION: Definition = definition(
    "operation",
    &[
        key("description", Text),
        key("metadata", Metadata),
        key("implementation", Of(&IMPLEMENTATION)),
        key("inputs", Map(&Of(&PARAMETER))),
        key("outputs", Map(&Anything)),
    ],
)
.short(By(&Anything, &Name))
.may_be_empty();

/// An operation of an interface type, which has no implementation in TOSCA 2.0.
static ABSTRACT_OPERATION: Definition = definition(
    "operation of an interface type",
    &[
        key("description", Text),
        key("metadata", Metadata),
        old("implementation", Of(&IMPLEMENTATION)),
        key("inputs", Map(&Of(&PARAMETER))),
        key("outputs", Map(&Anything)),
    ],
)
.short(By(&Anything, &Name))
.may_be_empty();

static NOTIFICATION: Definition = definition(
    "notification",
    &[
        key("description", Text),
        key("metadata", Metadata),
        key("implementation", Of(&IMPLEMENTATION)),
        key("inputs", Map(&Of(&PARAMETER))),
        key("outputs", Map(&Anything)),
    ],
)
.short(Name)
.may_be_empty();

static IMPLEMENTATION: Definition = definition(
    "implementation",
    &[
        key("primary", Of(&ARTIFACT)),
        key("dependencies", List(&Of(&ARTIFACT))),
        key("timeout", Anything),
        key("operation_host", Name),
        key("file", Name),
        key("type", Name),
        key("repository", Name),
        key("description", Text),
        key("metadata", Metadata),
        key("artifact_version", Anything),
        key("checksum", Text),
        key("checksum_algorithm", Text),
        key("deploy_path", Text),
        key("properties", Map(&Anything)),
    ],
)
.short(By(&Anything, &Name))
.may_be_empty();

static ARTIFACT: Definition = definition(
    "artifact",
    &[
        key("type", Name),
        key("file", NameOrCall),
        key("repository", Name),
        key("description", Text),
        key("metadata", Metadata),
        key("deploy_path", Text),
        key("artifact_version", Anything),
        old("version", Anything),
        key("checksum", Text),
        key("checksum_algorithm", Text),
        key("properties", Map(&Anything)),
        old("implementation", Anything),
    ],
)
.short(Name);

static TOPOLOGY: Definition = definition(
    "topology",
    &[
        key("description", Text),
        key("metadata", Metadata),
        key("inputs", Map(&Of(&TOPOLOGY_PARAMETER))),
        Key {
            name: "node_templates",
            shape: Map(&Of(&NODE_TEMPLATE)),
            known: [true, true],
            needed: [false, true],
        },
        key("relationship_templates", Map(&Of(&RELATIONSHIP_TEMPLATE))),
        key("groups", Map(&Of(&GROUP))),
        key("policies", By(&MapOrEntries(&Of(&POLICY)), &Entries(&Of(&POLICY)))),
        key("outputs", Map(&Of(&TOPOLOGY_PARAMETER))),
        key("substitution_mappings", Of(&SUBSTITUTION)),
        key("workflows", Map(&Of(&WORKFLOW))),
    ],
);

static NODE_TEMPLATE: Definition = definition(
    "node template",
    &[
        key("type", Name),
        key("description", Text),
        key("metadata", Metadata),
        key("directives", List(&Name)),
        key("properties", Map(&Anything)),
        key("attributes", Map(&Anything)),
        key("requirements", By(&MapOrEntries(&Of(&ASSIGNMENT)), &Entries(&Of(&ASSIGNMENT)))),
        key("capabilities", By(&MapOrEntries(&Of(&ASSIGNED_CAPABILITY)), &Map(&Of(&ASSIGNED_CAPABILITY)))),
        key("interfaces", Map(&Of(&ASSIGNED_INTERFACE))),
        key("artifacts", By(&MapOrEntries(&Of(&ARTIFACT)), &Map(&Of(&ARTIFACT)))),
        key("node_filter", By(&Of(&NODE_FILTER), &Anything)),
        key("copy", Name),
        new("count", Anything),
    ],
);

static ASSIGNMENT: Definition = definition(
    "requirement",
    &[
        key("node", By(&Anything, &Anything)),
        key("capability", Anything),
        key("relationship", Of(&ASSIGNED_RELATIONSHIP)),
        key("node_filter", By(&Of(&NODE_FILTER), &Anything)),
        key("description", Text),
        key("metadata", Metadata),
        old("occurrences", Bounds),
        old("type", Name),
        old("interfaces", Anything),
        old("properties", Anything),
        new("count", Anything),
        new("directives", List(&Name)),
        new("optional", Anything),
        new("allocation", Anything),
    ],
)
.short(By(&Name, &Anything))
.may_be_empty();

static ASSIGNED_RELATIONSHIP: Definition = definition(
    "relationship of a requirement",
    &[
        key("type", Name),
        key("description", Text),
        key("metadata", Metadata),
        key("properties", Map(&Anything)),
        key("attributes", Map(&Anything)),
        key("interfaces", Map(&Of(&ASSIGNED_INTERFACE))),
    ],
)
.short(By(&Name, &Anything));

static ASSIGNED_CAPABILITY: Definition = definition(
    "capability",
    &[
        key("properties", Map(&Anything)),
        key("attributes", Map(&Anything)),
        key("directives", List(&Name)),
        key("type", Name),
        key("description", Text),
        key("metadata", Metadata),
        old("occurrences", Bounds),
        old("valid_source_types", Names),
    ],
)
.short(By(&Anything, &Anything))
.may_be_empty();

static ASSIGNED_INTERFACE: Definition = definition(
    "interface",
    &[
        key("type", Name),
        key("description", Text),
        key("metadata", Metadata),
        key("inputs", Map(&Anything)),
        key("operations", Map(&Of(&OPERATION))),
        key("notifications", Map(&Of(&NOTIFICATION))),
    ],
)
.rest(Of(&OPERATION))
.may_be_empty();

static RELATIONSHIP_TEMPLATE: Definition = definition(
    "relationship template",
    &[
        key("type", Name),
        key("description", Text),
        key("metadata", Metadata),
        key("properties", Map(&Anything)),
        key("attributes", Map(&Anything)),
        key("interfaces", Map(&Of(&ASSIGNED_INTERFACE))),
        key("copy", Name),
    ],
);

static GROUP: Definition = definition(
    "group",
    &[
        key("type", Name).needed(),
        key("description", Text),
        key("metadata", Metadata),
        key("properties", Map(&Anything)),
        key("attributes", Map(&Anything)),
        key("members", Names),
        old("targets", Names),
        old("interfaces", Map(&Of(&ASSIGNED_INTERFACE))),
    ],
);

static POLICY: Definition = definition(
    "policy",
    &[
        key("type", Name).needed(),
        key("description", Text),
        key("metadata", Metadata),
        key("properties", Map(&Anything)),
        key("targets", By(&Anything, &Names)),
        key("triggers", Map(&Of(&TRIGGER))),
    ],
);

static TRIGGER: Definition = definition(
    "trigger",
    &[
        key("description", Text),
        key("metadata", By(&Anything, &Metadata)),
        key("event", Anything),
        key("condition", Anything),
        key("action", Anything),
        old("event_type", Anything),
        old("type", Anything),
        old("schedule", Anything),
        old("target_filter", Anything),
        old("constraint", Anything),
        old("period", Anything),
        old("evaluations", Anything),
        old("method", Anything),
        old("meter_name", Anything),
        old("interfaces", Anything),
    ],
)
.rest(Anything);

static SUBSTITUTION: Definition = definition(
    "substitution mapping",
    &[
        key("node_type", Name).needed(),
        key("description", Text),
        key("metadata", Metadata),
        key("substitution_filter", By(&Of(&SUBSTITUTION_FILTER), &Anything)),
        key("properties", Map(&Anything)),
        key("attributes", Map(&Anything)),
        key("capabilities", Map(&Anything)),
        key("requirements", Anything),
        key("interfaces", Map(&Anything)),
    ],
);

static WORKFLOW: Definition = definition(
    "workflow",
    &[
        key("description", Text),
        key("metadata", Metadata),
        key("inputs", Map(&Anything)),
        key("preconditions", Anything),
        key("precondition", Anything),
        key("steps", Map(&Of(&STEP))),
        key("implementation", Of(&IMPLEMENTATION)),
        key("outputs", Map(&Anything)),
    ],
);

static STEP: Definition = definition(
    "step",
    &[
        key("target", Name).needed(),
        key("target_relationship", Name),
        key("operation_host", Name),
        key("filter", Anything),
        key("activities", List(&Anything)).needed(),
        key("on_success", Anything),
        key("on_failure", Anything),
        key("description", Text),
        key("metadata", Metadata),
    ],
);

/// Keys of the Simple Profile that drafts of TOSCA 2.0 kept, and what the standard has instead.
const DRAFT: [(&str, &str); 3] = [
    ("constraints", "`validation` in its place"),
    ("occurrences", "`count_range` of requirements in its place, and none of capabilities"),
    ("schedule", "no schedules of triggers"),
];

/// Returns a noun with `a` or `an`.
fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// Returns what in a file is not as the grammar wants it.
pub(crate) fn check(file: FileId, root: &Node, edition: Edition) -> Vec<Omission> {
    let mut walk = Walk { file, edition, found: Vec::new() };
    walk.definition(&FILE, root, None, root.range);
    walk.found
}

struct Walk {
    file: FileId,
    edition: Edition,
    found: Vec<Omission>,
}

/// The key that something stands under, for messages.
#[derive(Clone, Copy)]
struct Under<'a> {
    key: &'a str,
    /// What the key belongs to: its kind and its name.
    of: Option<(&'static str, &'a str)>,
}

impl std::fmt::Display for Under<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.of {
            Some((what, "")) => write!(f, "`{}` of the {what}", self.key),
            Some((what, name)) => write!(f, "`{}` of the {what} `{name}`", self.key),
            None => write!(f, "`{}`", self.key),
        }
    }
}

impl Walk {
    fn wrong(&mut self, range: Range, message: String, help: Option<String>) {
        self.found.push(Omission::new(Omitted::Malformed(message, help), range.in_file(self.file)));
    }

    fn mismatch(&mut self, node: &Node, under: Under<'_>, wanted: &str, place: Range) {
        let range = if node.is_null() { place } else { node.range };
        self.wrong(range, format!("{under} must be {wanted}, and is {}", describe(node)), None);
    }

    /// `place` is that of the key, for what has none itself.
    fn shape(&mut self, shape: &'static Shape, node: &Node, under: Under<'_>, place: Range) {
        let is_old = self.edition == Edition::One;
        match shape {
            Anything => {}
            Something if !node.is_null() => {}
            Something => self.mismatch(node, under, "something that other places can use", place),
            By(one, two) => self.shape(if is_old { one } else { two }, node, under, place),
            Of(definition) => self.definition(definition, node, Some(under), place),
            // The Simple Profile is read by tools that take an empty key for one that is left out.
            _ if is_old && node.is_null() => {}
            Text if is_text(node) || (is_old && node.text().is_some()) => {}
            Text => self.mismatch(node, under, "text", place),
            Name | NameOrCall if is_name(node, self.edition) => {}
            NameOrCall if is_old && is_call(node) => {}
            Name | NameOrCall => self.mismatch(node, under, "a name", place),
            Flag if is_flag(node) || is_call(node) => {}
            Flag => self.mismatch(node, under, "true or false", place),
            Version if is_version(node) => {}
            Version => self.mismatch(node, under, "a version such as 1.0.2", place),
            Bounds => self.bounds(node, under, place),
            Metadata => self.metadata(node, under, place),
            Names if is_old && node.text().is_some() => {}
            Names => match &node.kind {
                Kind::Sequence(items) => {
                    let edition = self.edition;
                    for item in items.iter().filter(|item| !is_name(item, edition)) {
                        self.mismatch(item, under, "a list of names", place);
                    }
                }
                _ => self.mismatch(node, under, "a list of names", place),
            },
            Map(of) => self.map(of, node, under, place),
            List(of) => match &node.kind {
                Kind::Sequence(items) => {
                    for item in items.iter() {
                        self.shape(of, item, under, place);
                    }
                }
                _ => self.mismatch(node, under, "a list", place),
            },
            Entries(of) => self.entries(of, node, under, place),
            MapOrEntries(of) if node.is_mapping() => self.map(of, node, under, place),
            MapOrEntries(of) => self.entries(of, node, under, place),
        }
    }

    fn map(&mut self, of: &'static Shape, node: &Node, under: Under<'_>, place: Range) {
        if !node.is_mapping() {
            return self.mismatch(node, under, "a mapping from names", place);
        }
        for entry in node.entries() {
            self.named(of, entry, under);
        }
    }

    fn entries(&mut self, of: &'static Shape, node: &Node, under: Under<'_>, place: Range) {
        if !node.is_sequence() {
            return self.mismatch(node, under, "a list of mappings with one name each", place);
        }
        for item in node.items() {
            match item.entries() {
                [entry] => self.named(of, entry, under),
                entries if !entries.is_empty() && self.edition == Edition::One => {
                    for entry in entries {
                        self.named(of, entry, under);
                    }
                }
                _ => self.mismatch(item, under, "a list of mappings with one name each", place),
            }
        }
    }

    /// An entry whose key is a name that its author chose.
    fn named(&mut self, of: &'static Shape, entry: &Entry, under: Under<'_>) {
        let Some(name) = entry.key.text() else {
            return self.wrong(entry.key.range, format!("this key of {under} is not text"), None);
        };
        if !matches!(of, Anything) && !is_name(&entry.key, self.edition) {
            let message = format!("{under} has a key that is no name: it is {}", describe(&entry.key));
            self.wrong(entry.key.range, message, None);
        }
        let under = Under { key: name, of: None };
        self.shape(of, &entry.value, under, entry.key.range);
    }

    fn definition(
        &mut self,
        definition: &'static Definition,
        node: &Node,
        under: Option<Under<'_>>,
        place: Range,
    ) {
        let name = under.map_or("", |under| under.key);
        let edition = self.edition as usize;
        if !node.is_mapping() {
            let shown = under.unwrap_or(Under { key: "file", of: None });
            match &definition.short {
                _ if node.is_null() && definition.may_be_empty => {}
                Some(_) if node.is_null() && self.edition == Edition::One => {}
                Some(short) if !node.is_null() => self.shape(short, node, shown, place),
                _ => {
                    let wanted = format!("{} with keys", with_article(definition.what));
                    self.mismatch(node, shown, &wanted, place);
                }
            }
            return;
        }
        // Only definitions can be calls: `{get_input: a}` in the place of a parameter.
        if definition.short.is_some() && is_call(node) {
            return;
        }
        for entry in node.entries() {
            let Some(text) = entry.key.text() else {
                let message = format!("this key of the {} `{name}` is not text", definition.what);
                self.wrong(entry.key.range, message, None);
                continue;
            };
            let of = Some((definition.what, name));
            match definition.keys.iter().find(|key| key.name == text) {
                Some(key) if key.known[edition] => {
                    let under = Under { key: text, of };
                    self.shape(&key.shape, &entry.value, under, entry.key.range);
                }
                known => self.unlisted(definition, known, entry, name),
            }
        }
        for key in definition.keys.iter().filter(|key| key.needed[edition]) {
            if node.entry(key.name).is_none() {
                let range = if under.is_some() { place } else { first_key(node) };
                let message = match name {
                    "" => format!("this {} has no `{}`", definition.what, key.name),
                    name => format!("the {} `{name}` has no `{}`", definition.what, key.name),
                };
                self.wrong(range, message, None);
            }
        }
    }

    /// A key that the edition does not list.
    fn unlisted(&mut self, definition: &'static Definition, known: Option<&Key>, entry: &Entry, name: &str) {
        let text = entry.key.text().unwrap_or_default();
        let is_old = self.edition == Edition::One;
        if let Some(rest) = &definition.rest
            && (is_old || definition.short.is_some())
        {
            return self.shape(rest, &entry.value, Under { key: text, of: None }, entry.key.range);
        }
        let draft = DRAFT.iter().find(|(key, _)| *key == text && known.is_some() && !is_old);
        if let Some((_, instead)) = draft {
            let message = format!("the {} `{name}` has a key `{text}`", definition.what);
            let help = format!("TOSCA 2.0 has {instead}.");
            let omission = Omission::new(Omitted::Draft(message, help), entry.key.range.in_file(self.file));
            return self.found.push(omission);
        }
        let message = match name {
            "" => format!("{} has no key `{text}`", with_article(definition.what)),
            name => format!("the {} `{name}` has a key `{text}`, which TOSCA does not know", definition.what),
        };
        let help = if known.is_some() {
            format!("`{text}` belongs to {}.", if is_old { "TOSCA 2.0" } else { "the Simple Profile 1.x" })
        } else {
            let edition = self.edition as usize;
            let keys = definition.keys.iter().filter(|key| key.known[edition]);
            let names: Vec<String> = keys.map(|key| format!("`{}`", key.name)).collect();
            format!("The keys of a {} are {}.", definition.what, names.join(", "))
        };
        self.wrong(entry.key.range, message, Some(help));
    }

    fn bounds(&mut self, node: &Node, under: Under<'_>, place: Range) {
        let number = |node: &Node| node.text().and_then(|text| text.parse::<u64>().ok());
        let is_right = match node.items() {
            [low, high] => match (number(low), number(high)) {
                (Some(low), Some(high)) => low <= high,
                (Some(_), None) => {
                    high.text().is_some_and(|text| text.eq_ignore_ascii_case("UNBOUNDED")) || is_call(high)
                }
                (None, _) => is_call(low),
            },
            // Tools for the Simple Profile take one number for both.
            _ => is_call(node) || (self.edition == Edition::One && number(node).is_some()),
        };
        if !is_right {
            self.mismatch(node, under, "two bounds such as [1, 4] or [0, UNBOUNDED]", place);
        }
    }

    fn metadata(&mut self, node: &Node, under: Under<'_>, place: Range) {
        if !node.is_mapping() {
            return self.mismatch(node, under, "a mapping", place);
        }
        for Entry { key, value } in node.entries() {
            if self.edition == Edition::Two && value.is_null() {
                let under = Under { key: key.text().unwrap_or_default(), of: Some(("metadata", "")) };
                self.mismatch(value, under, "text", key.range);
            }
        }
    }
}

fn first_key(node: &Node) -> Range {
    node.entries().first().map_or(node.range, |entry| entry.key.range)
}

/// Returns what a node is, for messages.
pub(crate) fn describe(node: &Node) -> String {
    match &node.kind {
        Kind::Sequence(_) => "a list".to_owned(),
        Kind::Mapping(_) => "a mapping".to_owned(),
        Kind::Scalar { .. } if node.is_null() => "nothing".to_owned(),
        Kind::Scalar { text, .. } if text.is_empty() => "empty".to_owned(),
        Kind::Scalar { text, .. } if is_number(node) => format!("the number {text}"),
        Kind::Scalar { text, .. } if text.len() > 60 => "a text".to_owned(),
        Kind::Scalar { text, .. } => format!("`{text}`"),
    }
}

/// Whether a node is a number in YAML's core schema.
pub(crate) fn is_number(node: &Node) -> bool {
    node.plain().is_some_and(|text| {
        text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first))
            && text.parse::<f64>().is_ok()
    })
}

pub(crate) fn is_flag(node: &Node) -> bool {
    node.plain().is_some_and(|text| {
        ["true", "false", "yes", "no", "on", "off"].iter().any(|word| text.eq_ignore_ascii_case(word))
    })
}

/// Whether a node is text, and not a number, a truth value or nothing.
pub(crate) fn is_text(node: &Node) -> bool {
    node.text().is_some()
        && !node.is_null()
        && !is_number(node)
        && !node
            .plain()
            .is_some_and(|text| ["true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word)))
}

fn is_name(node: &Node, edition: Edition) -> bool {
    let is_named = node.text().is_some_and(|text| !text.is_empty()) && !node.is_null();
    is_named && (edition == Edition::One || is_text(node))
}

/// Whether a value is the call of a function.
pub(crate) fn is_call(node: &Node) -> bool {
    const FUNCTIONS: [&str; 9] = [
        "get_input",
        "get_property",
        "get_attribute",
        "get_operation_output",
        "get_nodes_of_type",
        "get_artifact",
        "concat",
        "join",
        "token",
    ];
    matches!(node.entries(), [Entry { key, .. }] if key.text().is_some_and(|name| {
        FUNCTIONS.contains(&name) || (name.starts_with('$') && !name.starts_with("$$"))
    }))
}

/// Whether a node is `major.minor.fix.qualifier-build`, of which the first is needed.
pub(crate) fn is_version(node: &Node) -> bool {
    let Some(text) = node.text() else { return false };
    let (numbers, build) = text.split_once('-').unwrap_or((text, "0"));
    let is_word = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let mut parts = numbers.split('.').enumerate();
    build.split('.').all(is_word)
        && parts.all(|(index, part)| {
            is_word(part) && (index == 3 || (index < 3 && part.bytes().all(|byte| byte.is_ascii_digit())))
        })
}
