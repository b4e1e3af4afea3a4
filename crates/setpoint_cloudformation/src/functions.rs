//! Intrinsic functions: which there are, and what arguments they take.

use setpoint_data::{Entry, Kind, Node};
use setpoint_source::{Range, Symbol};

use crate::foreach::LOOP;
use crate::omission::{NULL, Omission, Omitted};
use crate::template::Dialect;

/// What a function takes.
enum Arguments {
    Name,
    /// A list of so many, at least and at most.
    List(usize, usize),
    /// A delimiter, which AWS evaluates no function in, and a list or a function that gives one.
    Joined,
    /// A delimiter, and a text or a function that gives one.
    Split,
    /// Anything but a list or nothing.
    Single,
    /// Anything but nothing.
    Any,
    /// `Resource.Attribute`, or a list of the two.
    Attribute,
    /// A text, or a list of a text and a mapping.
    Substitution,
    /// A condition and two values.
    Choice,
}

/// Returns what a function takes; nothing if there is no such function.
fn arguments(function: &str) -> Option<Arguments> {
    use Arguments as A;
    Some(match function {
        "Ref" | "Condition" | "Fn::RefAll" => A::Name,
        "Fn::GetAtt" => A::Attribute,
        "Fn::Sub" => A::Substitution,
        "Fn::If" => A::Choice,
        "Fn::Base64" | "Fn::ImportValue" => A::Single,
        "Fn::GetAZs" | "Fn::Length" | "Fn::ToJsonString" => A::Any,
        "Fn::Not" => A::List(1, 1),
        "Fn::And" | "Fn::Or" => A::List(2, 10),
        "Fn::Equals"
        | "Fn::Select"
        | "Fn::Contains"
        | "Fn::EachMemberEquals"
        | "Fn::EachMemberIn"
        | "Fn::ValueOf"
        | "Fn::ValueOfAll" => A::List(2, 2),
        "Fn::Join" => A::Joined,
        "Fn::Split" => A::Split,
        "Fn::Cidr" => A::List(2, 3),
        "Fn::FindInMap" => A::List(3, 4),
        _ => return None,
    })
}

/// Returns what a function takes, in words that complete "`Fn::X` takes".
fn describe(arguments: &Arguments) -> &'static str {
    match arguments {
        Arguments::Name => "one name",
        Arguments::List(1, 1) => "a list of one value",
        Arguments::List(2, 2) => "a list of two values",
        Arguments::List(2, 3) => "a list of two or three values",
        Arguments::List(3, _) => "a list of three values",
        Arguments::List(..) => "a list of two to ten conditions",
        Arguments::Joined => "a list of a delimiter, written out, and a list of values",
        Arguments::Split => "a list of a delimiter, written out, and a text",
        Arguments::Single => "one value",
        Arguments::Any => "a value",
        Arguments::Attribute => "`Resource.Attribute`, or a list of both names",
        Arguments::Substitution => {
            "a text whose `${…}` hold names of letters, digits, `_`, `.` and `:`, or a list of such a text and a mapping"
        }
        Arguments::Choice => "a list of the name of a condition and two values",
    }
}

fn fits(arguments: &Arguments, node: &Node) -> bool {
    let is_name = |node: &Node| node.text().is_some_and(|text| !text.is_empty() && text.trim() == text);
    let is_plain = |node: &Node| node.text().is_some() && !is_function(node);
    let count = node.items().len();
    match arguments {
        Arguments::Name => is_name(node),
        Arguments::List(least, most) => node.is_sequence() && (*least..=*most).contains(&count),
        Arguments::Joined => match node.items() {
            [delimiter, values] => {
                is_plain(delimiter) && (values.is_sequence() || values.is_mapping() || is_function(values))
            }
            _ => false,
        },
        Arguments::Split => matches!(node.items(), [delimiter, _] if is_plain(delimiter)),
        Arguments::Single => !node.is_null() && (!node.is_sequence() || is_function(node)),
        Arguments::Any => true,
        Arguments::Attribute => match node.items() {
            [] => node.text().is_some_and(|text| {
                text.split_once('.')
                    .is_some_and(|(name, attribute)| !name.is_empty() && !attribute.is_empty())
            }),
            // The attribute of a serverless application may come in several parts.
            [resource, attribute, more @ ..] => {
                is_name(resource) && !attribute.is_null() && more.iter().all(is_name)
            }
            [_] => false,
        },
        Arguments::Substitution => match node.items() {
            [] => node.text().is_some_and(has_sound_variables),
            [text, variables] => text.text().is_some_and(has_sound_variables) && variables.is_mapping(),
            _ => false,
        },
        Arguments::Choice => match node.items() {
            [condition, _, _] => match condition.tag.as_deref() {
                Some("Condition") | None => {
                    is_name(condition) || condition.get("Condition").is_some_and(is_name)
                }
                Some(_) => false,
            },
            _ => false,
        },
    }
}

/// Whether every `${` has its `}`, and between them a name or, after `!`, any text.
fn has_sound_variables(text: &str) -> bool {
    text.split("${").skip(1).all(|rest| {
        let is_name_part = |letter: char| letter.is_ascii_alphanumeric() || "_.:".contains(letter);
        rest.split_once('}').is_some_and(|(name, _)| {
            name.starts_with('!') || (!name.is_empty() && name.chars().all(is_name_part))
        })
    })
}

fn is_function(node: &Node) -> bool {
    node.tag.as_ref().is_some_and(|tag| !tag.starts_with('!'))
}

/// Functions that are true or false: conditions are made of them, and nothing else is.
const LOGICAL: [&str; 4] = ["Fn::And", "Fn::Or", "Fn::Not", "Fn::Equals"];

/// Functions of the section `Rules`.
const OF_RULES: [&str; 6] = [
    "Fn::Contains",
    "Fn::EachMemberEquals",
    "Fn::EachMemberIn",
    "Fn::RefAll",
    "Fn::ValueOf",
    "Fn::ValueOfAll",
];

/// The tags of YAML that CloudFormation documents as not read.
const UNREAD_TAGS: [&str; 5] = ["binary", "omap", "pairs", "set", "timestamp"];

/// Functions that are evaluated when resources are made, and not before.
const OF_RESOURCES: [&str; 2] = ["Fn::ImportValue", "Fn::GetAtt"];

/// Records the loops of a template without the language extensions.
pub(crate) fn refuse_loops(node: &Node, out: &mut Vec<Omission>) {
    for item in node.items() {
        refuse_loops(item, out);
    }
    for Entry { key, value } in node.entries() {
        if key.text().is_some_and(|name| name.starts_with(LOOP)) {
            out.push(Omission::new(Omitted::Extension(Symbol::new(LOOP)), key.range));
        }
        refuse_loops(value, out);
    }
}

/// Records the nulls among the values of the attributes of resources. Others are told where the section is read.
pub(crate) fn refuse_nulls(resources: &Node, is_transformed: bool, out: &mut Vec<Omission>) {
    let attributes = resources.entries().iter().flat_map(|resource| resource.value.entries());
    for attribute in attributes {
        nulls_below(&attribute.value, &mut |place| {
            let what = if is_transformed {
                // A transform may put a value in its place.
                Omitted::Unmodelled(NULL.to_owned())
            } else {
                Omitted::Null
            };
            out.push(Omission::new(what, place));
        });
    }
}

fn nulls_below(node: &Node, found: &mut dyn FnMut(Range)) {
    // Tools that write templates anew give this to the zones of the stack's own region.
    let is_own_region = |entry: &&Entry| entry.key.text() == Some("Fn::GetAZs");
    let values = node.entries().iter().filter(|entry| !is_own_region(entry));
    let values = values.map(|entry| (entry.key.range, &entry.value));
    for (place, value) in values.chain(node.items().iter().map(|item| (item.range, item))) {
        if value.is_null() {
            found(place);
        } else {
            nulls_below(value, found);
        }
    }
}

/// Records what of a section is no function that there is, is not one for this section, has other arguments than it needs, or
/// stands under a key that is not text.
pub(crate) fn check(node: &Node, section: &'static str, dialect: Dialect, out: &mut Vec<Omission>) {
    Checker { section, dialect, conditions: Vec::new(), out }.node(node);
}

struct Checker<'a> {
    section: &'static str,
    dialect: Dialect,
    /// Conditions that are written out where `Fn::If` wants a name.
    conditions: Vec<Range>,
    out: &'a mut Vec<Omission>,
}

impl Checker<'_> {
    fn node(&mut self, node: &Node) {
        if let Some(tag) = node.tag.as_deref().filter(|tag| !tag.starts_with('!')) {
            let name = match tag {
                "Ref" | "Condition" => tag.to_owned(),
                _ => format!("Fn::{tag}"),
            };
            let plain = Node { tag: None, ..node.clone() };
            self.call(&name, &plain, node);
        }
        if let Some(tag) = node.tag.as_deref().and_then(|tag| tag.strip_prefix('!'))
            && UNREAD_TAGS.contains(&tag)
        {
            self.out.push(Omission::new(Omitted::Tag(tag.to_owned()), node.range));
        }
        match &node.kind {
            Kind::Scalar { .. } => {}
            Kind::Sequence(items) => items.iter().for_each(|item| self.node(item)),
            Kind::Mapping(entries) => {
                for Entry { key, value } in entries.iter() {
                    match key.text() {
                        None => self.out.push(Omission::new(Omitted::Key, key.range)),
                        Some(name) if name.starts_with(LOOP) => {}
                        // Beside other keys a function has no meaning; only an inclusion adds to them.
                        Some(name)
                            if entries.len() > 1 && name.starts_with("Fn::") && name != "Fn::Transform" =>
                        {
                            let what = Omitted::Function(Symbol::new(name), "a mapping of its own");
                            self.out.push(Omission::new(what, key.range));
                        }
                        Some(name)
                            if ["Fn::", "Rain::"].iter().any(|prefix| name.starts_with(prefix))
                                || (name == "Ref" && entries.len() == 1) =>
                        {
                            self.call(name, value, key);
                        }
                        Some(_) => {}
                    }
                    self.node(value);
                }
            }
        }
    }

    fn call(&mut self, name: &str, argument: &Node, place: &Node) {
        let symbol = Symbol::new(name);
        let is_elsewhere = match self.section {
            "Conditions" => OF_RESOURCES.contains(&name) || OF_RULES.contains(&name),
            "Rules" => OF_RESOURCES.contains(&name),
            _ if self.is_inside_condition(place.range) => false,
            "Resources" | "Outputs" if name == "Condition" => true,
            _ => LOGICAL.contains(&name) || OF_RULES.contains(&name),
        };
        if let ("Fn::If", [condition, ..]) = (name, argument.items()) {
            self.conditions.push(condition.range);
        }
        let omitted = match arguments(name) {
            None if name == "Fn::Transform" => Omitted::Include,
            None => Omitted::UnknownFunction(symbol),
            // What a preprocessor puts in is told where it stands.
            Some(_) if matches!(argument.entries(), [only] if only.key.text().is_some_and(|key| key.starts_with("Rain::"))) =>
            {
                return;
            }
            // What a transform puts in may be any argument; that it does is told where it stands.
            Some(_) if is_transform(argument) => return,
            Some(Arguments::Choice)
                if let [condition, _, _] = argument.items()
                    && is_logical(condition) =>
            {
                Omitted::Unmodelled("AWS documents that `Fn::If` takes the name of a condition".to_owned())
            }
            Some(wanted) if !fits(&wanted, argument) => Omitted::Function(symbol, describe(&wanted)),
            Some(_) if is_elsewhere => Omitted::Misplaced(symbol, self.section),
            Some(_) if self.dialect == Dialect::Plain && is_extension(name, argument) => {
                Omitted::Extension(symbol)
            }
            Some(_)
                if self.dialect == Dialect::Plain && name == "Fn::FindInMap" && !has_plain_keys(argument) =>
            {
                Omitted::Undocumented(symbol)
            }
            Some(_) => return,
        };
        self.out.push(Omission::new(omitted, place.range));
    }

    fn is_inside_condition(&self, place: Range) -> bool {
        self.conditions.iter().any(|outer| outer.start <= place.start && place.end <= outer.end)
    }
}

/// Whether a value is put in by `Fn::Transform`, whole or as the text of a substitution.
fn is_transform(node: &Node) -> bool {
    let is_called = |node: &Node| {
        node.tag.as_deref() == Some("Transform")
            || matches!(node.entries(), [only] if only.key.text() == Some("Fn::Transform"))
    };
    is_called(node) || (!is_function(node) && node.items().iter().any(is_called))
}

/// Whether a value is one of the functions that are true or false.
fn is_logical(node: &Node) -> bool {
    match node.tag.as_deref() {
        Some(tag) => LOGICAL.contains(&format!("Fn::{tag}").as_str()),
        None => {
            matches!(node.entries(), [only] if only.key.text().is_some_and(|key| LOGICAL.contains(&key)))
        }
    }
}

/// Whether only the language extensions know a function, or this form of it.
fn is_extension(name: &str, argument: &Node) -> bool {
    match name {
        "Fn::Length" | "Fn::ToJsonString" => true,
        "Fn::FindInMap" => argument.items().len() > 3,
        _ => false,
    }
}

/// Whether the keys of a mapping are what AWS documents without the language extensions. It evaluates others, too.
fn has_plain_keys(argument: &Node) -> bool {
    argument.items().iter().all(|node| match node.tag.as_deref() {
        Some(tag) => matches!(tag, "Ref" | "FindInMap"),
        None => node.text().is_some() || ["Ref", "Fn::FindInMap"].iter().any(|name| node.get(name).is_some()),
    })
}
