//! Object types: `type Car = Object[{ attributes => { wheels => Integer } }]`.

use std::sync::{Arc, LazyLock};

use super::{Type, assert_instance, infer};
use crate::error::ValueError;
use crate::ops;
use crate::value::{Data, Hash, Key, Value};

/// A type with attributes of its own and those of its parents.
#[derive(Clone, Debug, Default)]
pub struct ObjectType {
    /// `None` while the type has not been given a name by an alias.
    pub name: Option<Arc<str>>,
    /// The definition as Puppet prints it.
    pub definition: Hash,
    /// The type that it extends: an object type, or an alias of one.
    pub parent: Option<Type>,
    /// Those of the parents first, in the order of their declaration.
    pub attributes: Vec<Attribute>,
    /// Names and types of functions, those of the parents first.
    pub functions: Vec<Attribute>,
    pub parameters: Vec<Attribute>,
    /// The attributes in which equal instances agree.
    pub equality: Vec<Arc<str>>,
    /// Instances of other types are not equal to those of this one, unless it says so.
    pub ignores_type: bool,
    /// The values of type parameters: `MyType['x']`. Empty for the type itself.
    pub arguments: Hash,
}

/// An attribute, a function or a type parameter.
#[derive(Clone, Debug, Default)]
pub struct Attribute {
    pub name: Arc<str>,
    pub of: Type,
    /// The value of an attribute that is not given.
    pub default: Option<Value>,
    pub kind: AttributeKind,
    pub is_final: bool,
    pub overrides: bool,
    /// The name of the type that declares it.
    pub container: Arc<str>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AttributeKind {
    #[default]
    Plain,
    Constant,
    Derived,
    GivenOrDerived,
    Reference,
}

impl AttributeKind {
    fn named(name: &str) -> Self {
        match name {
            "constant" => Self::Constant,
            "derived" => Self::Derived,
            "given_or_derived" => Self::GivenOrDerived,
            "reference" => Self::Reference,
            _ => Self::Plain,
        }
    }
}

impl Attribute {
    /// Whether `new` takes a value for it.
    pub fn is_given(&self) -> bool {
        !matches!(self.kind, AttributeKind::Constant | AttributeKind::Derived)
    }
}

/// What definitions and their parts must look like.
struct Shapes {
    object: Type,
    attribute: Type,
    function: Type,
    callable: Type,
}

static SHAPES: LazyLock<Shapes> = LazyLock::new(|| {
    let annotations =
        r"Optional[annotations] => Optional[Hash[Type[Annotation], Hash[Pattern[/\A[a-z_]\w*\z/], Any]]]";
    let member = r"Pattern[/\A[a-z_]\w*\z/]";
    let read = |text: &str| Type::parse(text, &|_| None).unwrap_or(Type::Any);
    Shapes {
        object: read(&format!(
            r"Struct[{{
                Optional[name] => Pattern[/\A[A-Z]\w*(?:::[A-Z]\w*)*\z/],
                Optional[parent] => Type,
                Optional[type_parameters] => Hash[{member}, NotUndef],
                Optional[attributes] => Hash[{member}, NotUndef],
                Optional[constants] => Hash[{member}, Any],
                Optional[functions] => Hash[Variant[{member}, Enum['[]']], NotUndef],
                Optional[equality] => Variant[{member}, Array[{member}]],
                Optional[equality_include_type] => Boolean,
                Optional[checks] => Any,
                {annotations}
            }}]"
        )),
        attribute: read(&format!(
            r"Struct[{{
                type => Type,
                Optional[final] => Boolean,
                Optional[override] => Boolean,
                Optional[kind] => Enum[constant, derived, given_or_derived, reference],
                value => Any,
                {annotations}
            }}]"
        )),
        function: read(&format!(
            r"Struct[{{
                type => Type[Callable],
                Optional[final] => Boolean,
                Optional[override] => Boolean,
                {annotations}
            }}]"
        )),
        callable: Type::type_of(Type::Callable(None)),
    }
});

/// What a type declares, as it is printed.
type Members = Vec<(Attribute, Value)>;

fn error(message: String) -> ValueError {
    ValueError::new(message)
}

fn key(name: &str) -> Key {
    Key::from(name)
}

impl ObjectType {
    /// The object type of a definition, under the name that an alias gives it.
    pub fn from_definition(name: Option<&str>, definition: &Value) -> Result<Self, ValueError> {
        assert_instance("object initializer", &SHAPES.object, definition)?;
        let none = Hash::default();
        let entries = definition.as_hash().unwrap_or(&none);
        let entry = |name: &str| entries.get(&key(name)).filter(|value| !value.is_undef());
        let members = |name: &str| entry(name).and_then(Value::as_hash).into_iter().flatten();
        let own_name = entry("name").and_then(Value::as_str);
        let mut object = Self {
            name: name.or(own_name).map(Into::into),
            parent: entry("parent").and_then(Value::as_type).cloned(),
            ..Self::default()
        };
        if let Some(parent) = object.parent_object()? {
            object.attributes.clone_from(&parent.attributes);
            object.functions.clone_from(&parent.functions);
            object.parameters.clone_from(&parent.parameters);
            object.equality.clone_from(&parent.equality);
        }

        let mut parameters = Members::new();
        for (name, spec) in members("type_parameters") {
            parameters.push(object.type_parameter(&text(name), spec)?);
        }
        let mut attributes = Members::new();
        for (name, spec) in members("attributes") {
            attributes.push(object.attribute(&text(name), spec)?);
        }
        for (name, value) in members("constants") {
            let name = text(name);
            if attributes.iter().any(|(known, _)| known.name == name) {
                let label = object.label();
                return Err(error(format!(
                    "attribute {label}[{name}] is defined as both a constant and an attribute"
                )));
            }
            attributes.push(object.constant(&name, value)?);
        }
        let mut functions = Members::new();
        for (name, spec) in members("functions") {
            let name = text(name);
            let function = object.function(&name, spec)?;
            if attributes.iter().any(|(known, _)| known.name == name) {
                let label = object.label();
                return Err(error(format!(
                    "function {label}[{name}] conflicts with attribute with the same name"
                )));
            }
            functions.push(function);
        }
        let equality = match entry("equality").map(|value| &value.data) {
            Some(Data::String(name)) => Some(vec![Arc::clone(name)]),
            Some(Data::Array(names)) => {
                Some(names.iter().filter_map(|name| name.as_str().map(Into::into)).collect())
            }
            _ => None,
        };
        object.ignores_type =
            matches!(entry("equality_include_type").map(|value| &value.data), Some(Data::Bool(false)));
        object.check_equality(equality.as_deref(), &attributes, &functions)?;
        object.definition =
            object.printed(entries, &parameters, &attributes, &functions, equality.as_deref());
        match equality {
            Some(names) => object.equality.extend(names),
            None => object.equality.extend(
                attributes
                    .iter()
                    .filter(|(attribute, _)| attribute.kind != AttributeKind::Constant)
                    .map(|(attribute, _)| Arc::clone(&attribute.name)),
            ),
        }
        add_members(&mut object.parameters, parameters);
        add_members(&mut object.attributes, attributes);
        add_members(&mut object.functions, functions);
        Ok(object)
    }

    pub fn label(&self) -> Arc<str> {
        self.name.clone().unwrap_or_else(|| "Object".into())
    }

    /// The object type that this one extends. One that is not known yet is being defined: it leads back here.
    fn parent_object(&self) -> Result<Option<Arc<Self>>, ValueError> {
        let label = self.label();
        match self.parent.as_ref().map(Type::resolved) {
            None => Ok(None),
            Some(Type::Alias(_)) => Err(error(format!("The Object type '{label}' inherits from itself"))),
            Some(Type::Reference(name)) => Err(error(format!("reference to unresolved type '{name}'"))),
            Some(Type::Object(of)) => Ok(of.clone()),
            Some(_) => Ok(None),
        }
    }

    fn type_parameter(&self, name: &Arc<str>, spec: &Value) -> Result<(Attribute, Value), ValueError> {
        let label = self.label();
        let (of, default) = if let Data::Hash(entries) = &spec.data {
            let of = entries.get(&key("type")).and_then(Value::as_type).cloned().unwrap_or(Type::Any);
            (of, entries.get(&key("value")).cloned())
        } else {
            assert_instance(&format!("type_parameter {label}[{name}]"), &Type::Type(None), spec)?;
            (spec.as_type().cloned().unwrap_or(Type::Any), None)
        };
        let printed = match &of {
            Type::Optional(Some(inner)) => Value::from(inner.as_ref().clone()),
            of => Value::from(of.clone()),
        };
        let of = if matches!(of, Type::Optional(_)) { of } else { Type::optional(of) };
        let parameter =
            Attribute { name: Arc::clone(name), of, default, container: label, ..Attribute::default() };
        check_override("type_parameter", &parameter, &self.parameters)?;
        Ok((parameter, printed))
    }

    /// An attribute is given by its type alone, or by a hash with its type and value.
    fn attribute(&self, name: &Arc<str>, spec: &Value) -> Result<(Attribute, Value), ValueError> {
        let label = self.label();
        let subject = format!("attribute {label}[{name}]");
        if matches!(&**name, "__ptype" | "__pvalue") {
            return Err(error(format!("The attribute '{name}' is reserved and cannot be used")));
        }
        let mut attribute =
            Attribute { name: Arc::clone(name), container: Arc::clone(&label), ..Attribute::default() };
        if let Data::Hash(entries) = &spec.data {
            assert_instance(&format!("initializer for {subject}"), &SHAPES.attribute, spec)?;
            let flag = |name: &str| match entries.get(&key(name)).map(|value| &value.data) {
                Some(Data::Bool(flag)) => Some(*flag),
                _ => None,
            };
            let kind = entries.get(&key("kind")).and_then(Value::as_str);
            attribute.of = entries.get(&key("type")).and_then(Value::as_type).cloned().unwrap_or(Type::Any);
            attribute.default = entries.get(&key("value")).cloned();
            attribute.kind = AttributeKind::named(kind.unwrap_or_default());
            attribute.is_final = flag("final").unwrap_or(false);
            attribute.overrides = flag("override").unwrap_or(false);
            check_kind(&mut attribute, flag("final"), kind, &subject)?;
        } else {
            assert_instance(&subject, &Type::Type(None), spec)?;
            attribute.of = spec.as_type().cloned().unwrap_or(Type::Any);
            attribute.default = matches!(attribute.of, Type::Optional(_)).then_some(Value::UNDEF);
        }
        self.check_member("attribute", &attribute)?;
        let printed = printed_member(&attribute, spec);
        Ok((attribute, printed))
    }

    fn constant(&self, name: &Arc<str>, value: &Value) -> Result<(Attribute, Value), ValueError> {
        let attribute = Attribute {
            name: Arc::clone(name),
            of: infer(value).generalize(),
            default: Some(value.clone()),
            kind: AttributeKind::Constant,
            is_final: true,
            overrides: self.attributes.iter().chain(&self.functions).any(|known| known.name == *name),
            container: self.label(),
        };
        self.check_member("attribute", &attribute)?;
        Ok((attribute, value.clone()))
    }

    fn function(&self, name: &Arc<str>, spec: &Value) -> Result<(Attribute, Value), ValueError> {
        let label = self.label();
        let mut function =
            Attribute { name: Arc::clone(name), container: Arc::clone(&label), ..Attribute::default() };
        if let Data::Hash(entries) = &spec.data {
            assert_instance(&format!("initializer for function '{name}'"), &SHAPES.function, spec)?;
            let flag = |name: &str| {
                matches!(entries.get(&key(name)).map(|value| &value.data), Some(Data::Bool(true)))
            };
            function.of = entries.get(&key("type")).and_then(Value::as_type).cloned().unwrap_or(Type::Any);
            function.is_final = flag("final");
            function.overrides = flag("override");
        } else {
            assert_instance(&format!("function {label}[{name}]"), &SHAPES.callable, spec)?;
            function.of = spec.as_type().cloned().unwrap_or(Type::Any);
        }
        self.check_member("function", &function)?;
        let printed = printed_member(&function, spec);
        Ok((function, printed))
    }

    /// Refuses an attribute or function that must not replace what a parent has under its name.
    fn check_member(&self, feature: &str, member: &Attribute) -> Result<(), ValueError> {
        let (alike, others, other) = if feature == "attribute" {
            (&self.attributes, &self.functions, "function")
        } else {
            (&self.functions, &self.attributes, "attribute")
        };
        if let Some(known) = others.iter().find(|known| known.name == member.name) {
            let (label, known) = (member_label(feature, member), member_label(other, known));
            return Err(error(format!("{label} attempts to override {known}")));
        }
        check_override(feature, member, alike)
    }

    fn check_equality(
        &self,
        equality: Option<&[Arc<str>]>,
        attributes: &Members,
        functions: &Members,
    ) -> Result<(), ValueError> {
        let label = self.label();
        let Some(names) = equality.filter(|names| !names.is_empty()) else { return Ok(()) };
        if self.ignores_type {
            return Err(error(
                "equality_include_type = false cannot be combined with non empty equality specification"
                    .to_owned(),
            ));
        }
        for name in names {
            let inherited = self.attributes.iter().find(|attribute| attribute.name == *name);
            if let Some(attribute) = inherited
                && self.equality.contains(name)
            {
                let definer = self.definer_of_equality(name);
                let attribute = member_label("attribute", attribute);
                return Err(error(format!(
                    "{label} equality is referencing {attribute} which is included in equality of {definer}"
                )));
            }
            let own = attributes.iter().map(|(attribute, _)| attribute).find(|own| own.name == *name);
            let Some(attribute) = inherited.or(own) else {
                let functions = functions.iter().map(|(function, _)| function);
                return Err(error(
                    match self.functions.iter().chain(functions).find(|function| function.name == *name) {
                        None => format!("{label} equality is referencing non existent attribute '{name}'"),
                        Some(function) => format!(
                            "{label} equality is referencing {}. Only attribute references are allowed",
                            member_label("function", function)
                        ),
                    },
                ));
            };
            if attribute.kind == AttributeKind::Constant {
                let attribute = member_label("attribute", attribute);
                return Err(error(format!(
                    "{label} equality is referencing constant {attribute}. \
                     Reference to constant is not allowed in equality"
                )));
            }
        }
        Ok(())
    }

    /// The name of the topmost type in whose equality an attribute is.
    fn definer_of_equality(&self, name: &Arc<str>) -> Arc<str> {
        let mut definer = self.label();
        let mut parent = self.parent_object().ok().flatten();
        while let Some(of) = parent.filter(|of| of.equality.contains(name)) {
            definer = of.label();
            parent = of.parent_object().ok().flatten();
        }
        definer
    }

    /// The definition in the order in which Puppet prints it.
    fn printed(
        &self,
        entries: &Hash,
        parameters: &Members,
        attributes: &Members,
        functions: &Members,
        equality: Option<&[Arc<str>]>,
    ) -> Hash {
        let hash = |members: &mut dyn Iterator<Item = &(Attribute, Value)>| {
            let members: Hash = members
                .map(|(member, shown)| (Key(Value::string(Arc::clone(&member.name))), shown.clone()))
                .collect();
            (!members.is_empty()).then(|| Value::hash(members))
        };
        let as_constant = |attribute: &Attribute| {
            attribute.kind == AttributeKind::Constant
                && attribute.default.as_ref().is_some_and(|value| attribute.of == infer(value).generalize())
        };
        let constants: Hash = attributes
            .iter()
            .filter(|(attribute, _)| as_constant(attribute))
            .filter_map(|(attribute, _)| {
                Some((Key(Value::string(Arc::clone(&attribute.name))), attribute.default.clone()?))
            })
            .collect();
        let given = |name: &str| entries.get(&key(name)).filter(|value| !value.is_undef()).cloned();
        let names = |names: &[Arc<str>]| {
            Value::array(names.iter().map(|name| Value::string(Arc::clone(name))).collect())
        };
        [
            ("annotations", given("annotations")),
            ("name", self.name.as_ref().map(|name| Value::string(Arc::clone(name)))),
            ("parent", self.parent.clone().map(Value::from)),
            ("type_parameters", hash(&mut parameters.iter())),
            ("attributes", hash(&mut attributes.iter().filter(|(attribute, _)| !as_constant(attribute)))),
            ("constants", (!constants.is_empty()).then(|| Value::hash(constants))),
            ("functions", hash(&mut functions.iter())),
            ("equality", equality.map(names)),
            ("checks", given("checks")),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((key(name), value?)))
        .collect()
    }

    /// Whether this is the other type, or one of its parents.
    pub(super) fn is_or_extends(&self, other: &Self) -> bool {
        if self.is_same(other) {
            return true;
        }
        match self.parent.as_ref().map(Type::resolved) {
            Some(Type::Object(None)) => other.name.is_none() && other.definition.is_empty(),
            Some(Type::Object(Some(parent))) => parent.is_or_extends(other),
            _ => false,
        }
    }

    /// Whether this is the other type, whatever the arguments of the two.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (&self.name, &other.name) {
            (Some(a), Some(b)) => a == b,
            (None, None) => self.definition == other.definition,
            _ => false,
        }
    }

    /// Whether the arguments of another type are covered by those of this one.
    pub(super) fn covers_arguments(&self, theirs: &Hash) -> bool {
        self.arguments.iter().all(|(name, expected)| {
            theirs.get(name).is_some_and(|actual| {
                matches(actual, expected)
                    || matches!((&actual.data, &expected.data), (Data::Type(a), Data::Type(b)) if b.is_assignable(a))
            })
        })
    }

    /// Whether an object is an instance.
    pub(super) fn has_instance(&self, value: &Value) -> bool {
        let Data::Object(object) = &value.data else {
            return self.name.as_deref() == value.object_name();
        };
        let is_of = match &object.of {
            Some(of) => of.is_or_extends(self),
            None => self.name.as_deref() == Some(&object.type_name),
        };
        is_of
            && self.arguments.iter().all(|(name, expected)| {
                name.as_str().and_then(|name| object.get(name)).is_some_and(|item| matches(&item, expected))
            })
    }

    /// `MyType['x']`.
    pub(super) fn with_arguments(&self, keys: &[Value]) -> Result<Self, ValueError> {
        let label = self.label();
        let Some(first) = self.parameters.first() else {
            return Err(error(format!("The {label}-Type cannot be parameterized using []")));
        };
        let mut arguments = Hash::default();
        let mut add = |parameter: &Attribute, value: &Value| {
            if matches!(value.data, Data::Default) {
                return Ok(());
            }
            assert_instance(&member_label("type_parameter", parameter), &parameter.of, value)?;
            arguments.insert(Key(Value::string(Arc::clone(&parameter.name))), value.clone());
            Ok(())
        };
        match keys {
            [Value { data: Data::Hash(named), .. }] if !first.of.is_instance(&keys[0]) => {
                for (name, value) in named.iter() {
                    let name = text(name);
                    let Some(parameter) = self.parameters.iter().find(|known| known.name == name) else {
                        return Err(error(format!(
                            "'{name}' is not a known type parameter for {label}-Type"
                        )));
                    };
                    add(parameter, value)?;
                }
            }
            _ => {
                for (parameter, value) in self.parameters.iter().zip(keys) {
                    add(parameter, value)?;
                }
            }
        }
        if arguments.is_empty() {
            return Err(error(format!(
                "The {label}-Type cannot be parameterized using an empty parameter list"
            )));
        }
        Ok(Self { arguments, ..self.clone() })
    }

    /// The type of an object: with the arguments that its attributes are, if it takes any.
    pub(super) fn of_instance(self: &Arc<Self>, get: impl Fn(&str) -> Option<Value>) -> Arc<Self> {
        if self.parameters.is_empty() {
            return Arc::clone(self);
        }
        let arguments = self.parameters.iter().map(|parameter| {
            let value = get(&parameter.name).unwrap_or(Value::UNDEF);
            (Key(Value::string(Arc::clone(&parameter.name))), value)
        });
        Arc::new(Self { arguments: arguments.collect(), ..self.as_ref().clone() })
    }

    /// The arguments as they are written: a hash if the type takes more than two.
    pub(super) fn written_arguments(&self) -> Vec<Value> {
        if self.parameters.len() > 2 {
            return vec![Value::hash(self.arguments.clone())];
        }
        let mut written: Vec<Value> = self
            .parameters
            .iter()
            .map(|parameter| {
                let known = self.arguments.get(&Key(Value::string(Arc::clone(&parameter.name))));
                known.cloned().unwrap_or_else(|| Value::new(Data::Default))
            })
            .collect();
        while written.last().is_some_and(|value| matches!(value.data, Data::Default)) {
            written.pop();
        }
        written
    }
}

/// Refuses a kind that does not go with a value, or the lack of one.
fn check_kind(
    attribute: &mut Attribute,
    is_final: Option<bool>,
    kind: Option<&str>,
    subject: &str,
) -> Result<(), ValueError> {
    let kind = kind.unwrap_or_default();
    if attribute.kind == AttributeKind::Constant {
        if is_final == Some(false) {
            return Err(error(format!(
                "{subject} of kind 'constant' cannot be combined with final => false"
            )));
        }
        attribute.is_final = true;
    }
    match &attribute.default {
        Some(_) if matches!(attribute.kind, AttributeKind::Derived | AttributeKind::GivenOrDerived) => {
            Err(error(format!("{subject} of kind '{kind}' cannot be combined with an attribute value")))
        }
        Some(value) if !matches!(value.data, Data::Default) => {
            assert_instance(&format!("{subject} value"), &attribute.of, value)
        }
        None if attribute.kind == AttributeKind::Constant => {
            Err(error(format!("{subject} of kind 'constant' requires a value")))
        }
        _ => Ok(()),
    }
}

fn text(key: &Key) -> Arc<str> {
    key.as_str().unwrap_or_default().into()
}

fn matches(actual: &Value, expected: &Value) -> bool {
    ops::option_matches(actual, expected).is_ok_and(|answer| answer.matched)
}

fn member_label(feature: &str, member: &Attribute) -> String {
    format!("{feature} {}[{}]", member.container, member.name)
}

fn check_override(feature: &str, member: &Attribute, inherited: &[Attribute]) -> Result<(), ValueError> {
    let label = member_label(feature, member);
    let Some(known) = inherited.iter().find(|known| known.name == member.name) else {
        if member.overrides {
            return Err(error(format!(
                "expected {label} to override an inherited {feature}, but no such {feature} was found"
            )));
        }
        return Ok(());
    };
    let overridden = member_label(feature, known);
    let constants = known.kind == AttributeKind::Constant && member.kind == AttributeKind::Constant;
    if known.is_final && !constants {
        return Err(error(format!("{label} attempts to override final {overridden}")));
    }
    if !member.overrides {
        return Err(error(format!(
            "{label} attempts to override {overridden} without having override => true"
        )));
    }
    if !known.of.is_assignable(&member.of) {
        return Err(error(format!(
            "{label} attempts to override {overridden} with a type that does not match"
        )));
    }
    Ok(())
}

/// An attribute or function as Puppet prints it: its type alone, if there is no more to say.
fn printed_member(member: &Attribute, spec: &Value) -> Value {
    let given = |name: &str| spec.as_hash().and_then(|spec| spec.get(&key(name)));
    let of = Value::from(member.of.clone());
    let mut shown: Hash = [(key("type"), of.clone())].into_iter().collect();
    if member.is_final && member.kind != AttributeKind::Constant {
        shown.insert(key("final"), Value::from(true));
    }
    if member.overrides {
        shown.insert(key("override"), Value::from(true));
    }
    if let Some(annotations) = given("annotations") {
        shown.insert(key("annotations"), annotations.clone());
    }
    if let Some(kind) = given("kind") {
        shown.insert(key("kind"), kind.clone());
    }
    if let Some(default) = &member.default {
        shown.insert(key("value"), default.clone());
    }
    if shown.len() == 1 { of } else { Value::hash(shown) }
}

/// Adds members; one that overrides stands where the overridden stood.
fn add_members(all: &mut Vec<Attribute>, own: Members) {
    for (member, _) in own {
        match all.iter_mut().find(|known| known.name == member.name) {
            Some(known) => *known = member,
            None => all.push(member),
        }
    }
}
