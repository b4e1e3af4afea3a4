//! Classes, modules and their instances; what is known of Ruby's own classes.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;

use super::ast::{Block, Parameter};
use super::things::Thing;

/// A class or module that the program defines.
pub(crate) struct Class {
    name: RefCell<Arc<str>>,
    pub(crate) is_module: bool,
    /// It belongs to a single object.
    is_singleton: bool,
    pub(crate) parent: Option<Thing>,
    pub(crate) methods: RefCell<IndexMap<Arc<str>, Rc<Method>>>,
    pub(crate) own_methods: RefCell<IndexMap<Arc<str>, Rc<Method>>>,
    pub(crate) constants: RefCell<IndexMap<Arc<str>, Thing>>,
    pub(crate) included: RefCell<Vec<Thing>>,
    pub(crate) extended: RefCell<Vec<Thing>>,
    /// `@name` of the class itself, and `@@name`.
    pub(crate) variables: RefCell<IndexMap<Arc<str>, Thing>>,
    /// `module_function` without arguments is in force.
    pub(crate) module_function: std::cell::Cell<bool>,
}

pub(crate) struct Method {
    pub(crate) name: Arc<str>,
    pub(crate) kind: MethodKind,
    /// The classes around the definition, the innermost first.
    pub(crate) nesting: Vec<Rc<Class>>,
}

pub(crate) enum MethodKind {
    Code(Arc<Block>),
    /// `define_method(:name) { … }`
    Closure(Thing),
    Reader(Arc<str>),
    /// A method of what an instance variable or a method has.
    Delegate(Arc<str>, Arc<str>),
    Writer(Arc<str>),
}

pub(crate) struct Instance {
    /// A class of the program, or the name of one of Ruby's.
    of: RefCell<Thing>,
    /// It was told apart from others by what it is, though its class may say that it equals them.
    pub(crate) told_apart: std::cell::Cell<bool>,
    pub(crate) variables: RefCell<IndexMap<Arc<str>, Thing>>,
}

impl Class {
    pub(crate) fn new(name: &str, is_module: bool, parent: Option<Thing>) -> Rc<Self> {
        Rc::new(Self::made(name, is_module, false, parent))
    }

    fn made(name: &str, is_module: bool, is_singleton: bool, parent: Option<Thing>) -> Self {
        Self {
            name: RefCell::new(name.into()),
            is_module,
            is_singleton,
            parent,
            methods: RefCell::default(),
            own_methods: RefCell::default(),
            constants: RefCell::default(),
            included: RefCell::default(),
            extended: RefCell::default(),
            variables: RefCell::default(),
            module_function: std::cell::Cell::new(false),
        }
    }

    /// Takes all away that it holds.
    pub(crate) fn empty(&self) {
        self.methods.take();
        self.own_methods.take();
        self.constants.take();
        self.included.take();
        self.extended.take();
        self.variables.take();
    }

    /// Empty for a class that no constant names.
    pub(crate) fn name(&self) -> Arc<str> {
        Arc::clone(&self.name.borrow())
    }

    /// The first constant that a class is assigned to gives it its name.
    pub(crate) fn name_once(&self, name: &str) {
        let mut own = self.name.borrow_mut();
        if own.is_empty() {
            *own = name.into();
        }
    }

    /// The class itself, what it includes, and its parents, as far as the program defines them.
    pub(crate) fn lineage(self: &Rc<Self>) -> Vec<Rc<Self>> {
        let mut line = Vec::new();
        let mut at = Some(Rc::clone(self));
        while let Some(class) = at {
            if line.len() > 100 {
                break;
            }
            line.push(Rc::clone(&class));
            for module in class.included.borrow().iter().rev() {
                if let Thing::Class(module) = module {
                    line.push(Rc::clone(module));
                }
            }
            at = match &class.parent {
                Some(Thing::Class(parent)) => Some(Rc::clone(parent)),
                _ => None,
            };
        }
        line
    }

    pub(crate) fn find(self: &Rc<Self>, name: &str) -> Option<(Rc<Self>, Rc<Method>)> {
        self.lineage().into_iter().find_map(|class| {
            let method = class.methods.borrow().get(name).cloned()?;
            Some((class, method))
        })
    }

    /// A method of the class itself: `def self.name`, or of a module that it extends.
    pub(crate) fn find_own(self: &Rc<Self>, name: &str) -> Option<(Rc<Self>, Rc<Method>)> {
        for class in self.lineage() {
            let own = class.own_methods.borrow().get(name).cloned();
            if let Some(method) = own {
                return Some((class, method));
            }
            for module in class.extended.borrow().iter().rev() {
                if let Thing::Class(module) = module
                    && let Some(found) = module.find(name)
                {
                    return Some(found);
                }
            }
        }
        None
    }

    /// The least and the greatest number of arguments of a method, and their names.
    pub(crate) fn signature_of(self: &Rc<Self>, name: &str) -> Option<(usize, Option<usize>, Vec<String>)> {
        let (_, method) = self.find(name)?;
        let MethodKind::Code(block) = &method.kind else { return None };
        let list = &block.parameters.list;
        let (least, most) = super::interpreter::arity(list);
        let names = list.iter().filter_map(|parameter| match parameter {
            Parameter::Name(name) | Parameter::Optional(name, _) | Parameter::Rest(Some(name)) => {
                Some(name.to_string())
            }
            _ => None,
        });
        Some((least, most, names.collect()))
    }

    /// The class of Ruby at the end of the line, if any.
    pub(crate) fn foreign_parent(self: &Rc<Self>) -> Option<Arc<str>> {
        let mut at = Rc::clone(self);
        loop {
            let next = match &at.parent {
                Some(Thing::Class(parent)) => Rc::clone(parent),
                Some(Thing::Constant(name)) => return Some(Arc::clone(name)),
                _ => return None,
            };
            at = next;
        }
    }
}

impl Instance {
    pub(crate) fn new(class: Thing) -> Rc<Self> {
        Rc::new(Self {
            of: RefCell::new(class),
            told_apart: std::cell::Cell::new(false),
            variables: RefCell::default(),
        })
    }

    /// The class whose methods it has: its own, if it has methods that others of its class have not.
    pub(crate) fn class(&self) -> Thing {
        self.of.borrow().clone()
    }

    /// The class that it is an instance of.
    pub(crate) fn plain_class(&self) -> Thing {
        match &*self.of.borrow() {
            Thing::Class(class) if class.is_singleton => class.parent.clone().unwrap_or(Thing::Nil),
            class => class.clone(),
        }
    }

    /// The class that has the methods of this object alone.
    pub(crate) fn singleton(&self) -> Rc<Class> {
        let class = self.class();
        match &class {
            Thing::Class(own) if own.is_singleton => Rc::clone(own),
            _ => {
                let name = class.class_name();
                let own = Rc::new(Class::made(&name, false, true, Some(class)));
                *self.of.borrow_mut() = Thing::Class(Rc::clone(&own));
                own
            }
        }
    }

    pub(crate) fn error(class: &str, message: impl Into<String>) -> Thing {
        let error = Self::new(Thing::Constant(class.into()));
        error.variables.borrow_mut().insert("message".into(), Thing::text(message));
        Thing::Object(error)
    }

    /// Of an error.
    pub(crate) fn message(&self) -> String {
        match self.variables.borrow().get("message") {
            Some(Thing::Nil) | None => self.class().class_name(),
            Some(message) => message.to_s(),
        }
    }

    /// The name of the class of Ruby that it is, or inherits from.
    pub(crate) fn foreign_class(&self) -> Option<Arc<str>> {
        match self.class() {
            Thing::Class(class) => class.foreign_parent(),
            Thing::Constant(name) => Some(name),
            _ => None,
        }
    }

    pub(crate) fn is_error(&self) -> bool {
        self.foreign_class().is_some_and(|name| is_error_class(&name))
    }
}

/// What a class of errors inherits from; nothing for `Exception` and for what is no such class.
fn parent_of_error(name: &str) -> Option<&'static str> {
    Some(match name {
        "StandardError" | "ScriptError" | "NoMemoryError" | "SecurityError" | "SystemExit"
        | "SystemStackError" | "SignalException" => "Exception",
        "NotImplementedError" | "LoadError" | "SyntaxError" => "ScriptError",
        "ArgumentError"
        | "EncodingError"
        | "FiberError"
        | "IOError"
        | "IndexError"
        | "LocalJumpError"
        | "NameError"
        | "RangeError"
        | "RegexpError"
        | "RuntimeError"
        | "ThreadError"
        | "TypeError"
        | "ZeroDivisionError"
        | "SystemCallError"
        | "JSON::JSONError"
        | "URI::Error"
        | "Psych::Exception"
        | "OpenSSL::OpenSSLError"
        | "SocketError" => "StandardError",
        "UncaughtThrowError" | "IPAddr::Error" => "ArgumentError",
        "KeyError" | "StopIteration" => "IndexError",
        "NoMethodError" => "NameError",
        "FloatDomainError" => "RangeError",
        "FrozenError" | "Puppet::Error" => "RuntimeError",
        "EOFError" => "IOError",
        "Errno::ENOENT" | "Errno::EACCES" => "SystemCallError",
        "JSON::ParserError" | "JSON::GeneratorError" => "JSON::JSONError",
        "JSON::NestingError" => "JSON::ParserError",
        "URI::InvalidURIError" | "URI::InvalidComponentError" | "URI::BadURIError" => "URI::Error",
        "Psych::SyntaxError" | "Psych::DisallowedClass" | "Psych::BadAlias" => "Psych::Exception",
        "IPAddr::InvalidAddressError" | "IPAddr::AddressFamilyError" | "IPAddr::InvalidPrefixError" => {
            "IPAddr::Error"
        }
        "Puppet::ParseError"
        | "Puppet::DevError"
        | "Puppet::MissingCommand"
        | "Puppet::ParseErrorWithIssue"
        | "Puppet::ResourceError"
        | "Puppet::DataBinding::LookupError"
        | "Puppet::PreformattedError" => "Puppet::Error",
        _ => return None,
    })
}

/// Other names of classes.
pub(crate) fn canonical(name: &str) -> &str {
    let name = name.trim_start_matches("::");
    match name {
        "IPAddr::InvalidAddressError" => name,
        "YAML::SyntaxError" => "Psych::SyntaxError",
        "YAML" => "Psych",
        "Fixnum" | "Bignum" => "Integer",
        "OpenSSL::Digest::SHA256" => "Digest::SHA256",
        "OpenSSL::Digest::SHA512" => "Digest::SHA512",
        "OpenSSL::Digest::SHA1" => "Digest::SHA1",
        "OpenSSL::Digest::MD5" => "Digest::MD5",
        "Digest::SHA2" => name,
        "Puppet::Util::Json" => "JSON",
        "Puppet::Util::Json::ParseError" => "JSON::ParserError",
        _ => name,
    }
}

pub(crate) fn is_error_class(name: &str) -> bool {
    name == "Exception" || parent_of_error(name).is_some()
}

/// Whether a class of Ruby is another, or inherits from it.
pub(crate) fn inherits(class: &str, wanted: &str) -> bool {
    if class == wanted {
        return true;
    }
    let mut at = class;
    while let Some(parent) = parent_of_error(at) {
        if parent == wanted {
            return true;
        }
        at = parent;
    }
    is_error_class(class) && matches!(wanted, "Object" | "Kernel" | "BasicObject")
}

/// `is_a?`; nothing if it is not known.
pub(crate) fn is_a(thing: &Thing, class: &Thing) -> Option<bool> {
    match class {
        Thing::Class(wanted) => Some(match thing {
            Thing::Object(object) => match object.class() {
                Thing::Class(class) => class.lineage().iter().any(|one| Rc::ptr_eq(one, wanted)),
                _ => false,
            },
            _ => false,
        }),
        Thing::Constant(name) => is_a_named(thing, canonical(name)),
        _ => None,
    }
}

fn is_a_named(thing: &Thing, class: &str) -> Option<bool> {
    if matches!(class, "Object" | "BasicObject" | "Kernel") {
        return Some(true);
    }
    let numeric = matches!(thing, Thing::Integer(_) | Thing::Float(_));
    Some(match class {
        "Numeric" => numeric,
        "Enumerable" if !matches!(thing, Thing::Object(_)) => matches!(
            thing,
            Thing::Array(_) | Thing::Hash(_) | Thing::Range(..) | Thing::Set(_) | Thing::Enumerator(_)
        ),
        "Comparable" if !matches!(thing, Thing::Object(_)) => numeric || matches!(thing, Thing::Text(_)),
        "Module" => matches!(thing, Thing::Class(_) | Thing::Constant(_)),
        "URI" | "URI::Generic" => matches!(thing, Thing::Uri(_)),
        "URI::HTTP" => matches!(thing, Thing::Uri(uri) if matches!(uri.class(), "URI::HTTP" | "URI::HTTPS")),
        _ => match thing {
            // Resources of the compiler are resources, too.
            Thing::Object(object) if object.class().class_name() == "PuppetResource" => {
                if class.starts_with("Puppet") && class != "Puppet::Resource" {
                    return None;
                }
                class == "Puppet::Resource"
            }
            Thing::Object(object) => match object.class() {
                Thing::Class(own) => {
                    let line = own.lineage();
                    let included = line
                        .iter()
                        .any(|one| one.included.borrow().iter().any(|module| module.class_name() == class));
                    included || own.foreign_parent().is_some_and(|parent| inherits(&parent, class))
                }
                Thing::Constant(own) => inherits(canonical(&own), class),
                _ => false,
            },
            Thing::Other(value) => return other_is_a(value, class),
            _ => thing.class() == class,
        },
    })
}

/// Values of Puppet that are no values of Ruby.
fn other_is_a(value: &setpoint_puppet_values::Value, class: &str) -> Option<bool> {
    use setpoint_puppet_values::Data;
    const OF_RUBY: &[&str] = &[
        "String",
        "Array",
        "Hash",
        "Integer",
        "Float",
        "Numeric",
        "Symbol",
        "NilClass",
        "TrueClass",
        "FalseClass",
        "Regexp",
        "Range",
        "Proc",
        "Set",
        "Enumerable",
        "Exception",
        "URI",
        "IPAddr",
    ];
    if OF_RUBY.contains(&class) {
        return Some(false);
    }
    Some(match class {
        "Puppet::Pops::Types::PSensitiveType::Sensitive" => matches!(value.data, Data::Sensitive(_)),
        "Puppet::Pops::Types::PAnyType" => matches!(value.data, Data::Type(_)),
        "Puppet::Pops::Types::PBinaryType::Binary" => matches!(value.data, Data::Binary(_)),
        "Puppet::Pops::Time::Timespan" => matches!(value.data, Data::Timespan(_)),
        "Puppet::Pops::Time::Timestamp" => matches!(value.data, Data::Timestamp(_)),
        "SemanticPuppet::Version" => matches!(value.data, Data::SemVer(_)),
        "SemanticPuppet::VersionRange" => matches!(value.data, Data::SemVerRange(_)),
        _ => return None,
    })
}

/// Whether Ruby with Puppet has a class or module of this name.
pub(crate) fn is_known(name: &str) -> bool {
    let name = canonical(name);
    is_error_class(name)
        || name.starts_with("Puppet::Pops::Types::P")
        || matches!(
            name,
            "Object"
                | "BasicObject"
                | "Kernel"
                | "String"
                | "Array"
                | "Hash"
                | "Integer"
                | "Float"
                | "Numeric"
                | "Symbol"
                | "NilClass"
                | "TrueClass"
                | "FalseClass"
                | "Regexp"
                | "Range"
                | "Proc"
                | "Method"
                | "Set"
                | "Enumerable"
                | "Comparable"
                | "Enumerator"
                | "MatchData"
                | "Module"
                | "Class"
                | "Struct"
                | "Time"
                | "File"
                | "Dir"
                | "IO"
                | "ENV"
                | "Process"
                | "Math"
                | "Random"
                | "Rational"
                | "Complex"
                | "Puppet"
                | "Puppet::Parser"
                | "Puppet::Parser::Functions"
                | "Puppet::Functions"
                | "Puppet::Util"
                | "Puppet::Functions::InternalFunction"
                | "Puppet::Pops"
                | "Puppet::Pops::Types"
                | "JSON"
                | "Psych"
                | "URI"
                | "Gem"
                | "Gem::Version"
                | "Digest"
                | "Facter"
        )
}

/// Names of upper case that are modules and no values.
pub(crate) fn is_module_in_capitals(name: &str) -> bool {
    matches!(
        name,
        "JSON" | "YAML" | "URI" | "CGI" | "ERB" | "ENV" | "IO" | "PSON" | "GC" | "CSV" | "SHA256" | "MD5"
    )
}

/// Modules of Ruby and Puppet whose body a program may open, since it calls their methods or defines others below them.
pub(crate) fn is_open_module(name: &str) -> bool {
    matches!(
        name,
        "Puppet"
            | "Puppet::Parser"
            | "Puppet::Parser::Functions"
            | "Puppet::Functions"
            | "Puppet::Util"
            | "Puppet::Provider"
            | "Puppet::Pops"
    )
}
