//! Functions, assertions and schemas: what they are applied to, and what they give.

use setpoint_provenance::Prov;
use setpoint_source::{Limit, Span, Symbol};

use super::Production;
use super::resolve::{Found, Missing, Reason};
use super::tree::{Attribute, FUNCTION_CLASS, FUNCTIONS, Key, NodeId, Value};
use crate::MAX_ATTRIBUTES;
use crate::compare::same_value;
use crate::core::described;
use crate::output;
use crate::reference::shown;
use crate::store::Value as Basic;
use crate::syntax::{Number, Part};

const MAX_EXTENT: Limit = Limit::new(100_000);
const LEFT_TO_RUNTIME: &str = "it depends on what the runtime is to find";

/// The arguments of a function, in order, without its class.
type Arguments = Vec<(Symbol, Value)>;

impl Production<'_> {
    /// Applies a function that stands in a component.
    pub(super) fn apply(&mut self, function: NodeId, container: NodeId) -> Result<Found, Missing> {
        let span = self.tree.node(function).span;
        let class = self.class(function, span)?;
        match class.as_str() {
            "Constraint" => {
                // There is no solver: its sentences and variables are data.
                self.tree.node_mut(function).data = true;
                let provenance = self.arena.literal(span);
                return Ok(Found { value: Value::Component(function), provenance });
            }
            "Array" => return self.expand_array(function, container, span),
            _ => {}
        }
        let (arguments, provenances) = self.arguments(function, container)?;
        let value = if class == "CheckSchemaElement" {
            self.check_element(&arguments, container, span)?
        } else {
            self.spend(&arguments, span)?;
            function_value(&class, &arguments).map_err(|message| failed(span, message))?
        };
        let provenance = self.arena.operation(Symbol::new(&class), Some(span), &provenances);
        Ok(Found { value, provenance })
    }

    /// Strings and vectors that are joined to themselves again and again would grow without bound.
    fn spend(&mut self, arguments: &Arguments, span: Span) -> Result<(), Missing> {
        let size: usize = arguments
            .iter()
            .map(|(_, value)| match value {
                Value::Basic(Basic::String(text)) => text.len() / 16 + 1,
                Value::Basic(Basic::Vector(elements)) => elements.len() + 1,
                _ => 1,
            })
            .sum();
        self.tree.copied += size;
        if self.tree.copied > 2 * MAX_ATTRIBUTES.get() {
            return Err(Missing::Hard(crate::error::limit(
                Some(span),
                "functions make more data than is reasonable",
            )));
        }
        Ok(())
    }

    /// Checks assertions. If they hold, they are left to the runtime as they were, to be checked again.
    pub(super) fn check(
        &mut self,
        assertion: NodeId,
        container: NodeId,
        name: Symbol,
    ) -> Result<Found, Missing> {
        let span = self.tree.node(assertion).span;
        let phase = self.tree.string(assertion, "sfAssertionPhase").unwrap_or("dynamic").to_owned();
        self.tree.node_mut(assertion).attributes.shift_remove(&Key::Name(Symbol::new("sfAssertionPhase")));
        let trial = self.copied_node(assertion, container).map_err(Missing::Hard)?;
        let lazy = match self.arguments(trial, container) {
            Ok((arguments, _)) => {
                let broken: Vec<String> = arguments
                    .iter()
                    .filter(|(name, _)| !name.starts_with("sf"))
                    .filter_map(|(name, value)| match value {
                        Value::Basic(Basic::Boolean(true)) => None,
                        Value::Basic(Basic::Boolean(false)) => Some(format!("`{name}` is false")),
                        _ => Some(format!("`{name}` is not a boolean")),
                    })
                    .collect();
                if !broken.is_empty() {
                    let message = format!("the assertions `{name}` do not hold: {}", broken.join(", "));
                    return Err(failed(span, message));
                }
                false
            }
            Err(Missing::Lazy) if phase == "static" => {
                return Err(failed(span, "a static assertion cannot depend on what is lazy".to_owned()));
            }
            Err(Missing::Lazy) => true,
            Err(missing) => return Err(missing),
        };
        if lazy {
            self.leave_unchecked(span, format!("`{name}` was not checked: {LEFT_TO_RUNTIME}"));
        }
        if phase == "dynamic" {
            return Err(Missing::Lazy);
        }
        Ok(Found { value: Value::Nothing, provenance: Prov::NONE })
    }

    fn leave_unchecked(&mut self, span: Span, message: String) {
        self.unchecked.entry(span).or_insert(message);
    }

    /// The class of a function that can be computed here. Any other is Java code, which only the runtime has.
    fn class(&mut self, function: NodeId, span: Span) -> Result<String, Missing> {
        let class = self.tree.string(function, FUNCTION_CLASS);
        let class = class.ok_or_else(|| failed(span, format!("this function has no `{FUNCTION_CLASS}`")))?;
        match class.strip_prefix(FUNCTIONS) {
            Some(name) if is_known(name) => Ok(name.to_owned()),
            _ => {
                self.opaque.entry(class.to_owned()).or_insert(span);
                Err(Missing::Lazy)
            }
        }
    }

    pub(super) fn is_known_function(&self, function: NodeId) -> bool {
        let class = self.tree.string(function, FUNCTION_CLASS);
        class.and_then(|class| class.strip_prefix(FUNCTIONS)).is_some_and(is_known)
    }

    /// `Array`: as many copies of its generator as its extent says, each with its number, here or where the path in its prefix
    /// leads. No phase comes to the copies.
    fn expand_array(&mut self, function: NodeId, container: NodeId, span: Span) -> Result<Found, Missing> {
        self.tree.node_mut(function).parent = Some(container);
        let extent = match self.value_of(function, Symbol::new("extent"))?.value {
            Value::Basic(Basic::Number(Number::Integer(extent))) => extent,
            other => {
                return Err(failed(
                    span,
                    format!("the extent of an array is a number, not {}", kind(&other)),
                ));
            }
        };
        if usize::try_from(extent).map_or(extent > 0, |extent| extent > MAX_EXTENT) {
            let message = format!("an array may have {MAX_EXTENT} elements, and this one has {extent}");
            return Err(Missing::Hard(crate::error::limit(Some(span), message)));
        }
        let Value::Basic(Basic::String(prefix)) = self.value_of(function, Symbol::new("prefix"))?.value
        else {
            return Err(failed(span, "the prefix of an array is a string".to_owned()));
        };
        let generator = Key::Name(Symbol::new("generator"));
        let Some(Value::Component(element)) =
            self.tree.node(function).attributes.get(&generator).map(|attribute| attribute.value.clone())
        else {
            return Err(failed(span, "the generator of an array is a component".to_owned()));
        };
        let (path, name) = prefix.rsplit_once(':').unwrap_or(("", &prefix));
        let destination = match self.resolve(function, &parts_of(path), span)?.value {
            Value::Component(destination) => destination,
            other => return Err(failed(span, format!("`{path}` is no component, but {}", kind(&other)))),
        };
        let is_here = destination == function;
        for key in ["sfFunctionClassEvalEarly", "sfFunctionClassReturnEarly", "generator"] {
            self.tree.node_mut(function).attributes.shift_remove(&Key::Name(Symbol::new(key)));
        }
        if !is_here {
            self.tree.node_mut(function).attributes.shift_remove(&Key::Name(Symbol::new(FUNCTION_CLASS)));
        }
        for index in 0..extent {
            let copy = self.copied_node(element, destination).map_err(Missing::Hard)?;
            let tag = format!("{name}{index}");
            self.tree.node_mut(copy).key = Some(Key::Name(Symbol::new(&tag)));
            self.set_basic(copy, "sfIndex", Basic::Number(Number::Integer(index)), span);
            self.set_basic(copy, "sfTag", Basic::String(tag.as_str().into()), span);
            self.linked.insert(copy);
            let provenance = self.arena.literal(span);
            let attribute = Attribute { value: Value::Component(copy), tags: None, span, provenance };
            self.tree.node_mut(destination).attributes.insert(Key::Name(Symbol::new(&tag)), attribute);
        }
        if is_here {
            self.set_basic(function, "sfFunctionClassStatus", Basic::String("done".into()), span);
        }
        self.tree.node_mut(function).data = true;
        Ok(Found { value: Value::Component(function), provenance: self.arena.literal(span) })
    }

    fn set_basic(&mut self, node: NodeId, name: &str, value: Basic, span: Span) {
        let attribute =
            Attribute { value: Value::Basic(value), tags: None, span, provenance: self.arena.literal(span) };
        self.tree.node_mut(node).attributes.insert(Key::Name(Symbol::new(name)), attribute);
    }

    /// The values of the arguments, found from inside of the function.
    fn arguments(&mut self, function: NodeId, container: NodeId) -> Result<(Arguments, Vec<Prov>), Missing> {
        self.tree.node_mut(function).parent = Some(container);
        let mut arguments = Vec::new();
        let mut provenances = Vec::new();
        let mut lazy = false;
        for at in 0..self.tree.node(function).attributes.len() {
            let Some((Key::Name(name), _)) = self.tree.node(function).attributes.get_index(at) else {
                continue;
            };
            let name = *name;
            if matches!(name.as_str(), FUNCTION_CLASS | "sfAssertionPhase" | "sfFunctionLazy") {
                continue;
            }
            match self.value_of(function, name) {
                Ok(found) => {
                    provenances.push(found.provenance);
                    arguments.push((name, found.value));
                }
                Err(Missing::Lazy) => {
                    lazy = true;
                    self.make_lazy(function, name);
                }
                Err(missing) => return Err(missing),
            }
        }
        if lazy { Err(Missing::Lazy) } else { Ok((arguments, provenances)) }
    }

    /// One element of a schema: the attribute of that name, in the component that the schema stands in.
    fn check_element(&mut self, arguments: &Arguments, schema: NodeId, span: Span) -> Result<Value, Missing> {
        let text = |wanted: &str| {
            arguments.iter().find(|(name, _)| name.as_str() == wanted).and_then(|(_, value)| match value {
                Value::Basic(Basic::String(text)) => Some(text.clone()),
                _ => None,
            })
        };
        let name =
            text("name").ok_or_else(|| failed(span, "an element of a schema has no name".to_owned()))?;
        let optional = arguments.iter().any(|(name, value)| {
            name.as_str() == "optional" && matches!(value, Value::Basic(Basic::Boolean(true)))
        });
        let binding = text("binding").unwrap_or_else(|| "anyBinding".into());
        let classes: Vec<std::sync::Arc<str>> =
            match arguments.iter().find(|(name, _)| name.as_str() == "class") {
                Some((_, Value::Basic(Basic::String(class)))) => vec![class.clone()],
                Some((_, Value::Basic(Basic::Vector(classes)))) => classes
                    .iter()
                    .filter_map(|class| match class {
                        Basic::String(class) => Some(class.clone()),
                        _ => None,
                    })
                    .collect(),
                _ => vec!["anyClass".into()],
            };
        let parts = [Part::Parent, Part::Here(Symbol::new(&name))];
        let found = match self.resolve(schema, &parts, span) {
            Ok(found) => Some(Some(found.value)),
            Err(Missing::Lazy) => Some(None),
            Err(Missing::Soft(Reason::ToBeDefined(_))) => {
                return Err(failed(
                    span,
                    format!("`{name}`, which the schema demands, is still to be defined (`TBD`)"),
                ));
            }
            Err(Missing::Soft(_)) => None,
            Err(hard) => return Err(hard),
        };
        let problem = match found {
            None if optional => None,
            None => {
                let component = self.tree.node(schema).parent.map(|parent| self.tree.path(parent));
                let component = component.filter(|path| !path.is_empty());
                let place = component.map_or("at the top level, where it stands".to_owned(), |path| {
                    format!("of `{}`", shown(&path))
                });
                Some(format!("the schema demands an attribute `{name}` {place}, and there is none"))
            }
            Some(None) if binding.as_ref() == "eager" => {
                Some(format!("`{name}` is lazy, and the schema forbids it"))
            }
            Some(None) => {
                self.leave_unchecked(span, format!("`{name}` was not checked: {LEFT_TO_RUNTIME}"));
                None
            }
            Some(Some(_)) if binding.as_ref() == "lazy" => {
                Some(format!("`{name}` is not lazy, and the schema demands it"))
            }
            Some(Some(value)) => {
                let answers: Vec<Option<bool>> =
                    classes.iter().map(|class| is_of_class(&value, class)).collect();
                if answers.contains(&Some(true)) {
                    None
                } else if answers.contains(&None) {
                    let wanted: Vec<&str> = classes.iter().map(AsRef::as_ref).collect();
                    let message = format!(
                        "`{name}` was not checked: whether {} is of class {} is not known here",
                        kind(&value),
                        wanted.join(" or ")
                    );
                    self.leave_unchecked(span, message);
                    None
                } else {
                    let wanted: Vec<&str> = classes.iter().map(AsRef::as_ref).collect();
                    let own = class_of(&value)
                        .map_or(kind(&value).to_owned(), |class| format!("{} ({class})", kind(&value)));
                    Some(format!(
                        "the schema demands that `{name}` is of class {}, and it is {own}",
                        wanted.join(" or "),
                    ))
                }
            }
        };
        match problem {
            None => Ok(Value::Basic(Basic::Boolean(true))),
            Some(message) => {
                let checked = self.tree.node(schema).parent.map(|parent| self.tree.node(parent));
                let blamed =
                    checked.and_then(|checked| checked.attributes.get(&Key::Name(Symbol::new(&name))));
                let blamed = blamed.map(|attribute| self.tree.place(attribute));
                Err(Missing::Soft(Reason::Failed(span, message, blamed)))
            }
        }
    }
}

/// The classes of the functions that are computed here.
fn is_known(class: &str) -> bool {
    matches!(
        class,
        "Vector"
            | "Append"
            | "Concatenate"
            | "Format"
            | "Sum"
            | "Product"
            | "Minus"
            | "Divide"
            | "Mod"
            | "And"
            | "Or"
            | "Xor"
            | "Implies"
            | "Not"
            | "EQ"
            | "NE"
            | "LT"
            | "LE"
            | "GT"
            | "GE"
            | "IfThenElse"
            | "Switch"
            | "Constraint"
            | "Array"
            | "CheckSchemaElement"
            | "CheckAssertions"
    )
}

/// The reference in a string, such as `PARENT:servers`.
fn parts_of(path: &str) -> Vec<Part> {
    let parts = path.split(':').filter(|part| !part.is_empty());
    parts
        .map(|part| match part {
            "PARENT" => Part::Parent,
            "ROOT" => Part::Root,
            "THIS" => Part::This,
            name => Part::Name(Symbol::new(name)),
        })
        .collect()
}

fn failed(span: Span, message: String) -> Missing {
    Missing::Soft(Reason::Failed(span, message, None))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Basic(value) => described(value),
        Value::Component(_) => "a component",
        _ => "something else",
    }
}

/// The Java class of a value, as far as there is only one.
fn class_of(value: &Value) -> Option<&'static str> {
    Some(match value {
        Value::Component(_) => COMPONENT,
        Value::Basic(value) => match value {
            Basic::Number(Number::Integer(_) | Number::Big(_)) => "java.lang.Integer",
            Basic::Number(Number::Long(_)) => "java.lang.Long",
            Basic::Number(Number::Float(_)) => "java.lang.Float",
            Basic::Number(Number::Double(_)) => "java.lang.Double",
            Basic::String(_) => "java.lang.String",
            Basic::Boolean(_) => "java.lang.Boolean",
            Basic::Vector(_) => "java.util.Vector",
            Basic::Data(_) => "org.smartfrog.sfcore.reference.Reference",
            Basic::Bytes(_) => "org.smartfrog.sfcore.common.SFByteArray",
            Basic::Null => "org.smartfrog.sfcore.common.SFNull",
            _ => return None,
        },
        _ => return None,
    })
}

const COMPONENT: &str = "org.smartfrog.sfcore.componentdescription.ComponentDescription";

/// The classes that [`class_of`] gives; no value is of two of them.
const CLASSES: [&str; 11] = [
    "java.lang.Integer",
    "java.lang.Long",
    "java.lang.Float",
    "java.lang.Double",
    "java.lang.String",
    "java.lang.Boolean",
    "java.util.Vector",
    "org.smartfrog.sfcore.reference.Reference",
    "org.smartfrog.sfcore.common.SFByteArray",
    "org.smartfrog.sfcore.common.SFNull",
    COMPONENT,
];

/// Whether Java would find a value to be of a class; nothing for a class that is not known here.
fn is_of_class(value: &Value, class: &str) -> Option<bool> {
    match class {
        "anyClass" | "java.lang.Object" => Some(true),
        "java.lang.Number" => Some(matches!(value, Value::Basic(Basic::Number(_)))),
        _ if CLASSES.contains(&class) => class_of(value).map(|own| own == class),
        _ => None,
    }
}

/// The value of a function of the production compiler.
fn function_value(class: &str, arguments: &Arguments) -> Result<Value, String> {
    let named = |wanted: &str| {
        let found = arguments.iter().find(|(name, _)| name.as_str() == wanted);
        found.map(|(_, value)| value).ok_or_else(|| format!("the function has no argument `{wanted}`"))
    };
    let basic = |value: &Value| match value {
        Value::Basic(value) => Ok(value.clone()),
        _ => Err("a component cannot be computed with".to_owned()),
    };
    let all = || arguments.iter().map(|(_, value)| basic(value)).collect::<Result<Vec<Basic>, String>>();
    let pair = || Ok::<_, String>((basic(named("left")?)?, basic(named("right")?)?));
    Ok(Value::Basic(match class {
        "Vector" => Basic::Vector(all()?.into()),
        "Append" => {
            let vectors = all()?;
            let elements = vectors.iter().filter_map(|value| match value {
                Basic::Vector(elements) => Some(elements.iter().cloned()),
                _ => None,
            });
            Basic::Vector(elements.flatten().collect::<Vec<_>>().into())
        }
        "Concatenate" => Basic::String(all()?.iter().map(plain_text).collect::<String>().into()),
        "Format" => {
            let mut text = plain_text(&basic(named("format")?)?);
            for at in 0..10 {
                if let Ok(value) = named(&format!("s{at}")) {
                    text = text.replace(&format!("${at}"), &plain_text(&basic(value)?));
                }
            }
            Basic::String(text.into())
        }
        "Sum" => fold(&all()?, |a, b| arithmetic(a, b, "+"))?,
        "Product" => fold(&all()?, |a, b| arithmetic(a, b, "*"))?,
        "Minus" => pair().and_then(|(a, b)| arithmetic(&a, &b, "-"))?,
        "Divide" => pair().and_then(|(a, b)| arithmetic(&a, &b, "/"))?,
        "Mod" => pair().and_then(|(a, b)| arithmetic(&a, &b, "%"))?,
        "And" => fold(&all()?, |a, b| logic(a, b, |a, b| a && b))?,
        "Or" => fold(&all()?, |a, b| logic(a, b, |a, b| a || b))?,
        "Xor" => fold(&all()?, |a, b| logic(a, b, |a, b| a != b))?,
        "Implies" => fold(&all()?, |a, b| logic(a, b, |a, b| !a || b))?,
        "Not" => match basic(named("data")?)? {
            Basic::Boolean(value) => Basic::Boolean(!value),
            other => return Err(format!("`!` wants a boolean, and not {}", described(&other))),
        },
        "EQ" => pair().map(|(a, b)| Basic::Boolean(equal(&a, &b)))?,
        "NE" => pair().map(|(a, b)| Basic::Boolean(!equal(&a, &b)))?,
        "LT" => comparison(&pair()?, std::cmp::Ordering::is_lt)?,
        "LE" => comparison(&pair()?, std::cmp::Ordering::is_le)?,
        "GT" => comparison(&pair()?, std::cmp::Ordering::is_gt)?,
        "GE" => comparison(&pair()?, std::cmp::Ordering::is_ge)?,
        "IfThenElse" => {
            let chosen = match basic(named("if")?)? {
                Basic::Boolean(true) => named("then")?,
                Basic::Boolean(false) => named("else")?,
                other => return Err(format!("`IF` wants a boolean, and not {}", described(&other))),
            };
            return Ok(chosen.clone());
        }
        "Switch" => {
            for case in arguments.chunks(2) {
                let [(_, condition), (_, value)] = case else { continue };
                match basic(condition)? {
                    Basic::Boolean(true) => return Ok(value.clone()),
                    Basic::Boolean(false) => {}
                    other => return Err(format!("`IF` wants a boolean, and not {}", described(&other))),
                }
            }
            return Err("no case of this `SWITCH` applies".to_owned());
        }
        other => {
            return Err(format!("`{FUNCTIONS}{other}` has no value of its own"));
        }
    }))
}

/// From the left, as the production compiler does.
fn fold(
    values: &[Basic],
    operator: impl Fn(&Basic, &Basic) -> Result<Basic, String>,
) -> Result<Basic, String> {
    let Some((first, rest)) = values.split_first() else {
        return Err("the function has no arguments".to_owned());
    };
    rest.iter().try_fold(first.clone(), |result, value| operator(&result, value))
}

fn logic(left: &Basic, right: &Basic, operator: fn(bool, bool) -> bool) -> Result<Basic, String> {
    match (left, right) {
        (Basic::Boolean(left), Basic::Boolean(right)) => Ok(Basic::Boolean(operator(*left, *right))),
        (Basic::Boolean(_), other) | (other, _) => {
            Err(format!("booleans are wanted, and this is {}", described(other)))
        }
    }
}

/// The wider of the two types is the type of the result: integer, long, float, double.
fn arithmetic(left: &Basic, right: &Basic, operator: &str) -> Result<Basic, String> {
    let (Basic::Number(left), Basic::Number(right)) = (left, right) else {
        let other = if matches!(left, Basic::Number(_)) { right } else { left };
        return Err(format!("`{operator}` wants numbers, and this is {}", described(other)));
    };
    let whole = |number: &Number| match number {
        Number::Integer(value) | Number::Long(value) => Some(*value),
        _ => None,
    };
    if let (Some(a), Some(b)) = (whole(left), whole(right)) {
        if b == 0 && matches!(operator, "/" | "%") {
            return Err("division by zero".to_owned());
        }
        let result = match operator {
            "+" => a.checked_add(b),
            "-" => a.checked_sub(b),
            "*" => a.checked_mul(b),
            "/" => a.checked_div(b),
            _ => a.checked_rem(b),
        };
        let result = result.ok_or("the result is beyond 128 bits")?;
        let long = matches!(left, Number::Long(_)) || matches!(right, Number::Long(_));
        return Ok(Basic::Number(if long { Number::Long(result) } else { Number::Integer(result) }));
    }
    let double = matches!(left, Number::Double(_)) || matches!(right, Number::Double(_));
    let operand =
        |number: &Number| real(number).map(|value| if double { value } else { f64::from(value as f32) });
    let (a, b) = (operand(left)?, operand(right)?);
    let result = match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        _ => a % b,
    };
    if !result.is_finite() {
        return Err("the result is not a finite number".to_owned());
    }
    Ok(Basic::Number(if double { Number::Double(result) } else { Number::Float(single(result)) }))
}

/// A float of Java, which has 32 bits, by its decimal digits. An operation on two of them in 64 bits, rounded, is the one in 32.
fn single(value: f64) -> f64 {
    (value as f32).to_string().parse().unwrap_or(value)
}

fn real(number: &Number) -> Result<f64, String> {
    match number {
        Number::Integer(value) | Number::Long(value) => Ok(*value as f64),
        Number::Float(value) | Number::Double(value) => Ok(*value),
        Number::Big(_) => Err("numbers beyond 128 bits cannot be computed with".to_owned()),
    }
}

fn equal(left: &Basic, right: &Basic) -> bool {
    match (left, right) {
        (Basic::Number(a), Basic::Number(b)) => match (real(a), real(b)) {
            (Ok(x), Ok(y)) => same_value(left, right) || x == y,
            _ => same_value(left, right),
        },
        _ => same_value(left, right),
    }
}

fn comparison(pair: &(Basic, Basic), holds: fn(std::cmp::Ordering) -> bool) -> Result<Basic, String> {
    let (Basic::Number(left), Basic::Number(right)) = pair else {
        let other = if matches!(pair.0, Basic::Number(_)) { &pair.1 } else { &pair.0 };
        return Err(format!("numbers are compared, and this is {}", described(other)));
    };
    let ordering = match (left, right) {
        (Number::Integer(a) | Number::Long(a), Number::Integer(b) | Number::Long(b)) => Some(a.cmp(b)),
        _ => real(left)?.partial_cmp(&real(right)?),
    };
    Ok(Basic::Boolean(ordering.is_some_and(holds)))
}

/// A value as part of a longer string.
fn plain_text(value: &Basic) -> String {
    match value {
        Basic::String(text) => text.to_string(),
        Basic::Vector(elements) => {
            let texts: Vec<String> = elements.iter().map(plain_text).collect();
            format!("[{}]", texts.join(", "))
        }
        Basic::Number(number) => match number {
            Number::Long(value) | Number::Integer(value) => value.to_string(),
            Number::Double(value) => output::sf_value(&Basic::Number(Number::Float(*value))),
            _ => output::sf_value(value),
        },
        other => output::sf_value(other),
    }
}
