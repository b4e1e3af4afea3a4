//! The values of properties beside what AWS's schemas allow: kinds of values, required properties, names.

use setpoint_source::{Range, Symbol};

use crate::artifacts;
use crate::omission::{Omission, Omitted, describe_kinds};
use crate::shapes::{self, Shape};
use crate::template::{Resource, Template};
use crate::types::{Inner, Property, TypeFacts};
use crate::value::{Field, Value, ValueKind};

/// Records what a template gives to properties that no resource of the type takes.
pub(crate) fn check(template: &mut Template) {
    // A macro may take properties of its own and put others in their place.
    if template.has_macro() {
        return;
    }
    let mut found = Vec::new();
    for resource in template.resources.values().filter(|one| is_custom(&one.kind)) {
        let fields = resource.properties.fields();
        if !fields.iter().any(|field| &*field.name == "ServiceToken" || field.name.starts_with("Fn::")) {
            let what = Omitted::MissingProperty(resource.name, Symbol::new("ServiceToken"));
            found.push(Omission::new(what, resource.name_range));
        }
    }
    for resource in template.resources.values().filter(|one| is_documented(one)) {
        match TypeFacts::of(&resource.kind) {
            Some(facts) => check_resource(template, resource, facts, &mut found),
            None => found.push(Omission::new(Omitted::UnknownType(resource.kind), resource.type_ranges.1)),
        }
    }
    template.omissions.append(&mut found);
}

/// Whether resources of a type are made by code that `ServiceToken` names.
pub(crate) fn is_custom(kind: &str) -> bool {
    kind == "AWS::CloudFormation::CustomResource" || kind.starts_with("Custom::")
}

/// Whether AWS publishes the schema of a type: not those of custom resources, modules and the serverless transform.
pub(crate) fn is_documented(resource: &Resource) -> bool {
    resource.kind.starts_with("AWS::")
        && !resource.kind.starts_with("AWS::Serverless::")
        && !resource.kind.ends_with("::MODULE")
        && !["AWS::CloudFormation::CustomResource", "AWS::CloudFormation::Stack"]
            .contains(&resource.kind.as_str())
}

fn check_resource(template: &Template, resource: &Resource, facts: TypeFacts, out: &mut Vec<Omission>) {
    let fields = match &resource.properties.kind {
        ValueKind::Map(fields) => fields.as_slice(),
        ValueKind::Null => &[],
        // The reader of attributes tells of it.
        _ => return,
    };
    Checker { template, resource, out }.fields(facts, "", fields, resource.name_range);
}

struct Checker<'a> {
    template: &'a Template,
    resource: &'a Resource,
    out: &'a mut Vec<Omission>,
}

impl Checker<'_> {
    fn omit(&mut self, what: fn(Symbol, Symbol) -> Omitted, path: &str, place: Range) {
        self.out.push(Omission::new(what(self.resource.name, Symbol::new(path)), place));
    }

    fn refuse(&mut self, path: &str, kinds: &str, place: Range) {
        let what = Omitted::PropertyValue(self.resource.name, Symbol::new(path), describe_kinds(kinds));
        self.out.push(Omission::new(what, place));
    }

    /// Looks at a mapping, at the path of names at which it stands.
    fn fields(&mut self, facts: TypeFacts, path: &str, fields: &[Field], place: Range) {
        // What a transform puts in may be any property.
        if fields.iter().any(|field| field.name.starts_with("Fn::")) {
            return;
        }
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let mut is_known = true;
        for field in fields {
            match facts.property(&field.name) {
                // What AWS gives, a template cannot set.
                Some(property) if !property.is_given() => {
                    self.value(facts, &property, &below(property.name), &field.value);
                }
                _ => {
                    is_known = false;
                    self.omit(Omitted::UnknownProperty, &below(&field.name), field.range);
                }
            }
        }
        // Some types take the keys of their mappings in another spelling.
        if !path.is_empty() && !is_known {
            return;
        }
        for property in facts.properties().filter(Property::is_required) {
            if !fields.iter().any(|field| *field.name == *property.name) {
                self.omit(Omitted::MissingProperty, &below(property.name), place);
            }
        }
    }

    fn value(&mut self, facts: TypeFacts, property: &Property, path: &str, value: &Value) {
        if let ValueKind::If { then, otherwise, .. } = &value.kind {
            self.value(facts, property, path, then);
            return self.value(facts, property, path, otherwise);
        }
        match fit(property.kinds, value, self.template) {
            Fit::Yes => {}
            // `aws cloudformation package` uploads the file that the text names.
            Fit::No if value.text().is_some() && artifacts::may_be_file(&self.resource.kind, path) => {}
            Fit::No => return self.refuse(path, property.kinds, value.range),
            Fit::Single => {
                let words =
                    format!("AWS takes the one value of `{path}` of `{}` for a list", self.resource.name);
                self.out.push(Omission::new(Omitted::Unmodelled(words), value.range));
            }
        }
        match (facts.inner(property), &value.kind) {
            (Some(Inner::Keys(facts)), ValueKind::Map(fields)) => {
                self.fields(facts, path, fields, value.range);
            }
            (Some(inner), ValueKind::List(items)) => {
                for item in items {
                    self.item(inner, path, item);
                }
            }
            _ => {}
        }
    }

    fn item(&mut self, inner: Inner, path: &str, item: &Value) {
        if let ValueKind::If { then, otherwise, .. } = &item.kind {
            self.item(inner, path, then);
            return self.item(inner, path, otherwise);
        }
        let kinds = if let Inner::Items(kinds) = inner { kinds } else { "m" };
        match (fit(kinds, item, self.template), inner, &item.kind) {
            (Fit::No | Fit::Single, ..) => {
                self.refuse(&format!("{path}[]"), kinds, item.range);
            }
            (Fit::Yes, Inner::Keys(facts), ValueKind::Map(fields)) => {
                self.fields(facts, path, fields, item.range);
            }
            _ => {}
        }
    }
}

/// Whether a property takes a value.
enum Fit {
    Yes,
    No,
    /// A mapping for a list of mappings: some types take it for a list of one, and AWS does not say which.
    Single,
}

/// Whether a value may be of one of the kinds. What the template does not decide, may be.
fn fit(kinds: &str, value: &Value, template: &Template) -> Fit {
    let takes = |kind: char| kinds.contains(kind);
    if takes('?') {
        return Fit::Yes;
    }
    let is_simple = takes('s') || takes('n') || takes('b');
    let fits = match (&value.kind, shapes::of(value, template)) {
        (ValueKind::Text(text), _) => {
            takes('s')
                || (takes('n') && text.trim().parse::<f64>().is_ok())
                || (takes('b') && is_boolean(text))
                // JSON in a text is read where a mapping or a list is wanted.
                || (takes('m') && text.trim_start().starts_with('{'))
                || (takes('l') && text.trim_start().starts_with('['))
        }
        (_, Shape::Text) => is_simple || takes('m'),
        (_, Shape::List) => takes('l'),
        (_, Shape::Map) if !takes('m') && takes('l') => return Fit::Single,
        (_, Shape::Map) => takes('m'),
        (_, Shape::Open) => true,
    };
    if fits { Fit::Yes } else { Fit::No }
}

/// YAML 1.1's words, as CloudFormation reads them.
fn is_boolean(text: &str) -> bool {
    ["true", "false", "yes", "no", "on", "off"].iter().any(|word| text.eq_ignore_ascii_case(word))
}
