//! What AWS evaluates before or while it creates a stack: attributes, positions in lists, keys of mappings, dynamic references,
//! properties that `AWS::NoValue` takes away.
//!
//! What fails for some choice of the parameters is a finding. What depends on a value that is not in the template, such as
//! the number of availability zones of a region, is an assumption of the answer.

use std::sync::Arc;

use setpoint_source::{Diagnostic, Range, Rule, Severity, Symbol};

use crate::addresses::Block;
use crate::conditions::Formula;
use crate::graph::Stack;
use crate::omission::{Omission, Omitted};
use crate::shapes::{self, Misfit};
use crate::template::{Parameter, Resource, Table, Template};
use crate::text::{Part, Text};
use crate::types::{Property, TypeFacts};
use crate::value::{Guard, Piece, Value, ValueKind};

/// A product of keys that is larger is assumed to be in its mapping.
const MAX_KEYS: usize = 10_000;

/// Every region has so many availability zones.
const LEAST_ZONES: usize = 2;

pub(crate) fn check(stack: &Stack<'_>, out: &mut Vec<Diagnostic>, open: &mut Vec<Omission>) {
    let mut checker =
        Checker { stack, out, open, user: String::new(), place: Place::Properties, is_piece: false };
    let template = stack.template;
    for resource in template.resources.values() {
        checker.user = format!("`{}`", resource.name);
        let mut guard = stack.exists(resource.name);
        checker.place = Place::Properties;
        checker.walk(&resource.properties, &mut guard);
        checker.required(resource, &guard);
        if &*resource.kind == "AWS::CloudFormation::Stack" {
            for field in resource.property(&["Parameters"]).map(Value::fields).unwrap_or_default() {
                checker.want_text(&field.value, &guard);
            }
        }
        checker.place = Place::Elsewhere;
        for value in resource.creation_policy.iter().chain(&resource.others) {
            checker.walk(value, &mut guard);
        }
    }
    for output in template.outputs.fields() {
        checker.user = format!("the output `{}`", output.name);
        let named = output.value.get("Condition").and_then(Value::text);
        let mut guard: Guard = named.map(|name| (Symbol::new(name), true)).into_iter().collect();
        checker.walk(&output.value, &mut guard);
        let parts = [output.value.get("Value"), output.value.at(&["Export", "Name"])];
        // A list that is written out is told with the shape of the output.
        for part in parts.into_iter().flatten().filter(|part| !matches!(part.kind, ValueKind::List(_))) {
            checker.want_text(part, &guard);
        }
    }
    for (name, (_, value)) in &template.conditions {
        checker.user = format!("the condition `{name}`");
        checker.walk(value, &mut Guard::new());
    }
}

/// Where in a template a value stands: some dynamic references are read in properties only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Properties,
    Elsewhere,
}

struct Checker<'a, 's> {
    stack: &'a Stack<'s>,
    out: &'a mut Vec<Diagnostic>,
    open: &'a mut Vec<Omission>,
    /// Whose value it is, in words.
    user: String,
    place: Place,
    /// Whether the value is joined to others.
    is_piece: bool,
}

/// How many elements a list has.
enum Length {
    Exactly(usize),
    /// At least so many; the words say whose they are.
    AtLeast(usize, String),
}

/// The values that a key can have, each with the choice of parameters that gives it; or words for one that is not known.
enum Keys {
    Listed(Vec<(Arc<str>, Option<Formula>)>),
    Open(String),
}

impl Checker<'_, '_> {
    fn walk(&mut self, value: &Value, guard: &mut Guard) {
        let mut parts: Vec<(&Value, Guard)> = Vec::new();
        value.walk(guard, &mut |value, guard| {
            if matches!(value.kind, ValueKind::Call { .. } | ValueKind::GetAtt { .. } | ValueKind::Sub { .. })
                || matches!(&value.kind, ValueKind::Text(text) if text.contains(RESOLVE))
            {
                parts.push((value, guard.clone()));
            }
        });
        // A text that is joined to others may have only the beginning of a dynamic reference.
        let mut joined: Vec<Range> = Vec::new();
        for (value, guard) in parts {
            let holds = |outer: &Range| outer.start <= value.range.start && value.range.end <= outer.end;
            self.is_piece = joined.iter().any(holds);
            if matches!(&value.kind, ValueKind::Call { name, .. } if &**name == "Fn::Join") {
                joined.push(value.range);
            }
            self.visit(value, &guard);
        }
        self.is_piece = false;
    }

    fn visit(&mut self, value: &Value, guard: &Guard) {
        for Misfit { part, words } in shapes::misfits(value, self.stack.template) {
            let message = format!("{} gives {words}", self.user);
            self.refuse(message, part.range, guard, None);
        }
        match &value.kind {
            ValueKind::Text(_) => self.dynamic(value),
            ValueKind::Sub { pieces, .. } => {
                for piece in pieces {
                    if let Piece::GetAtt { resource, attribute } = piece {
                        self.attribute(*resource, attribute, value.range);
                    }
                }
                self.dynamic(value);
            }
            ValueKind::GetAtt { resource, attribute: Some(attribute), argument } => {
                // A serverless application's attribute may come in several parts.
                let rest = argument.iter().skip(1).filter_map(Value::text).map(|part| format!(".{part}"));
                let whole: String = std::iter::once(attribute.to_string()).chain(rest).collect();
                self.attribute(*resource, &whole, value.range);
            }
            ValueKind::GetAtt { resource, attribute: None, .. } => {
                self.assume(format!("`{resource}` has the attribute that is chosen here"), value.range);
            }
            ValueKind::Call { name, argument } => match (name.as_str(), argument.items()) {
                ("Fn::Select", [index, list]) => self.select(value, index, list, &mut guard.clone()),
                ("Fn::FindInMap", [map, first, second]) => self.find_in_map([map, first, second], guard),
                ("Fn::Cidr", [block, count, bits @ ..]) => {
                    self.cidr(count, guard);
                    self.block(block, count, bits.first(), guard);
                }
                ("Fn::GetAZs", _) => self.region(argument, guard),
                ("Fn::Join", _) => self.dynamic(value),
                _ => {}
            },
            _ => {}
        }
    }

    /// Refuses a list in the place of a text.
    fn want_text(&mut self, value: &Value, guard: &Guard) {
        let mut found = Vec::new();
        shapes::lists_in(value, self.stack.template, &mut found);
        for part in found {
            let message = format!("{} gives a list, where a text is wanted", self.user);
            self.refuse(message, part.range, guard, None);
        }
    }

    fn assume(&mut self, words: String, range: Range) {
        self.open.push(Omission::new(Omitted::Assumption(words), range));
    }

    /// Tells of what fails under a guard and a further choice, if the parameters can be chosen so.
    fn refuse(&mut self, message: String, range: Range, guard: &Guard, choice: Option<Formula>) {
        let wanted: Vec<Formula> = std::iter::once(self.stack.logic.guard(guard)).chain(choice).collect();
        let Some(valuation) = self.stack.logic.satisfiable(&wanted) else { return };
        let mut finding = Diagnostic::new(Rule::InvalidValue, message)
            .severity(Severity::Error)
            .at(self.stack.template.span(range));
        if let Some(name) = self.user.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
            finding = finding.with_resources([name.to_owned()]);
        }
        let conditions: Vec<Symbol> = guard.iter().map(|(name, _)| *name).collect();
        if !conditions.is_empty() {
            let choice = self.stack.logic.describe(&valuation, &conditions);
            finding = finding.with_note(format!("This happens when {choice}."));
        }
        // A text may have the same mistake twice.
        let is_told = |last: &Diagnostic| last.message == finding.message && last.span == finding.span;
        if !self.out.last().is_some_and(is_told) {
            self.out.push(finding);
        }
    }

    /// Looks an attribute up in the table of types.
    fn attribute(&mut self, name: Symbol, attribute: &str, range: Range) {
        let Some(resource) = self.stack.resource(name) else { return };
        let is_known = match resource.kind.as_str() {
            "AWS::CloudFormation::Stack" => attribute.starts_with("Outputs."),
            "AWS::CloudFormation::CustomResource" => true,
            "AWS::ServiceCatalog::CloudFormationProvisionedProduct" if attribute.starts_with("Outputs.") => {
                true
            }
            kind if !kind.starts_with("AWS::") || kind.ends_with("::MODULE") => true,
            // What the transform makes of it is not known.
            kind if kind.starts_with("AWS::Serverless::") => true,
            kind => TypeFacts::of(kind).is_none_or(|facts| facts.has_attribute(attribute)),
        };
        // A function without its attribute is told as that.
        if !is_known && !attribute.is_empty() {
            let what = Omitted::UnknownResourceAttribute(name, attribute.to_owned());
            self.open.push(Omission::new(what, range));
        }
    }

    /// `Fn::Select`: a position that the list does not have.
    fn select(&mut self, whole: &Value, index: &Value, list: &Value, guard: &mut Guard) {
        for (value, branch) in [(index, 0), (list, 1)] {
            if let ValueKind::If { condition, then, otherwise } = &value.kind {
                for (chosen, taken) in [(then, true), (otherwise, false)] {
                    guard.push((*condition, taken));
                    let (index, list) = if branch == 0 { (&**chosen, list) } else { (index, &**chosen) };
                    self.select(whole, index, list, guard);
                    guard.pop();
                }
                return;
            }
        }
        let (positions, choices) = match self.keys(index) {
            Keys::Listed(listed) => listed.into_iter().unzip::<_, _, Vec<_>, Vec<_>>(),
            Keys::Open(words) => {
                return self.assume(format!("{words} is a position that the list has"), whole.range);
            }
        };
        let length = self.length(list);
        for (position, choice) in positions.iter().zip(choices) {
            let user = &self.user;
            let Ok(at) = position.trim().parse::<usize>() else {
                let message = format!("{user} selects `{position}`, which is no position in a list");
                self.refuse(message, index.range, guard, choice);
                continue;
            };
            match &length {
                Length::Exactly(count) if at >= *count => {
                    let message = format!(
                        "{user} selects position {at} of a list that has {count}; the first is position 0"
                    );
                    self.refuse(message, whole.range, guard, choice);
                }
                Length::AtLeast(count, words) if at >= *count => {
                    self.assume(format!("{words} has at least {} elements", at + 1), whole.range);
                }
                _ => {}
            }
        }
    }

    fn length(&self, list: &Value) -> Length {
        let template = self.stack.template;
        match &list.kind {
            ValueKind::List(items) => {
                let is_certain = items.iter().all(|item| {
                    !matches!(&item.kind, ValueKind::If { .. })
                        && !matches!(&item.kind, ValueKind::Ref(name) if &**name == "AWS::NoValue")
                });
                if is_certain {
                    Length::Exactly(items.len())
                } else {
                    Length::AtLeast(0, "this list".to_owned())
                }
            }
            ValueKind::Ref(name) => match template.parameters.get(name) {
                Some(parameter) => match parameter.only_value() {
                    Some(text) => Length::Exactly(parameter.split(&text).len()),
                    None => Length::AtLeast(1, format!("the parameter `{name}`")),
                },
                None => Length::AtLeast(0, format!("`{name}`")),
            },
            ValueKind::GetAtt { resource, attribute, .. } => {
                let attribute = attribute.as_deref().unwrap_or_default();
                Length::AtLeast(0, format!("`{resource}.{attribute}`"))
            }
            ValueKind::Call { name, argument } => match (name.as_str(), argument.items()) {
                ("Fn::GetAZs", _) => {
                    Length::AtLeast(LEAST_ZONES, "the list of availability zones of the region".to_owned())
                }
                ("Fn::Cidr", [_, count, ..]) => match Text::of(count, template).plain().map(str::parse) {
                    Some(Ok(count)) => Length::Exactly(count),
                    _ => Length::AtLeast(1, "the list of address ranges".to_owned()),
                },
                ("Fn::Split", [delimiter, text]) => self.split(delimiter, text),
                ("Fn::FindInMap", [map, first, second, ..]) => self.mapped_length(map, first, second),
                _ => Length::AtLeast(0, "what this function gives".to_owned()),
            },
            // One text is no list: CloudFormation refuses it.
            ValueKind::Text(_) => Length::Exactly(0),
            _ => Length::AtLeast(0, "this list".to_owned()),
        }
    }

    fn split(&self, delimiter: &Value, text: &Value) -> Length {
        let whole = Text::of(text, self.stack.template);
        let Some(delimiter) = delimiter.text().filter(|text| !text.is_empty()) else {
            return Length::AtLeast(1, "the split text".to_owned());
        };
        if let Some(text) = whole.plain() {
            return Length::Exactly(text.split(delimiter).count());
        }
        // What is known of names that AWS gives: `arn:aws:service:region:account:resource`.
        let pieces = whole.0.iter().map(|part| match part {
            Part::Text(text) => text.matches(delimiter).count(),
            Part::Ref(name) if &**name == "AWS::StackId" && delimiter == "/" => 2,
            Part::Ref(name) if &**name == "AWS::StackId" && delimiter == ":" => 5,
            Part::Other(text) if delimiter == ":" && text.ends_with("Arn)") => 5,
            _ => 0,
        });
        let least = pieces.sum::<usize>() + 1;
        Length::AtLeast(least, format!("the text that is split at `{delimiter}`"))
    }

    /// The length of the shortest list that a mapping may give.
    fn mapped_length(&self, map: &Value, first: &Value, second: &Value) -> Length {
        let open = || Length::AtLeast(0, "what the mapping gives".to_owned());
        let Some(table) = map.text().and_then(|map| self.stack.template.mappings.get(&Symbol::new(map)))
        else {
            return open();
        };
        let fits = |wanted: &Value, key: Symbol| wanted.text().is_none_or(|text| text == key.as_str());
        let lists = table
            .iter()
            .filter(|(key, _)| fits(first, **key))
            .flat_map(|(_, row)| row.iter().filter(|(key, _)| fits(second, **key)).map(|(_, value)| value));
        let lengths: Option<Vec<usize>> = lists
            .map(|value| if let ValueKind::List(items) = &value.kind { Some(items.len()) } else { None })
            .collect();
        match lengths.as_deref() {
            Some([first, rest @ ..]) if rest.iter().all(|one| one == first) => Length::Exactly(*first),
            Some([first, rest @ ..]) => {
                let least = rest.iter().fold(*first, |least, one| least.min(*one));
                Length::AtLeast(least, "the list that the mapping gives".to_owned())
            }
            _ => open(),
        }
    }

    fn cidr(&mut self, count: &Value, guard: &Guard) {
        let text = Text::of(count, self.stack.template);
        let Some(count_text) = text.plain() else { return };
        if !count_text.trim().parse::<usize>().is_ok_and(|count| (1..=256).contains(&count)) {
            let message =
                format!("{} asks for `{count_text}` address ranges, and 1 to 256 are possible", self.user);
            self.refuse(message, count.range, guard, None);
        }
    }

    /// `Fn::Cidr`: a block that is none, or has no room for what is asked for.
    fn block(&mut self, block: &Value, count: &Value, bits: Option<&Value>, guard: &Guard) {
        let template = self.stack.template;
        let plain = |value: &Value| Text::of(value, template).plain().map(str::to_owned);
        let (whole, count, bits) = (plain(block), plain(count), bits.and_then(plain));
        let Some(whole) = whole else { return };
        // Addresses of the sixth version are not looked at.
        if whole.contains(':') {
            return self.assume(format!("`{whole}` has room for these address ranges"), block.range);
        }
        let Some(known) = Block::parse(&whole) else {
            let message =
                format!("{} takes ranges from `{whole}`, which is no range of addresses", self.user);
            return self.refuse(message, block.range, guard, None);
        };
        let number = |text: Option<String>| text.and_then(|text| text.trim().parse::<u32>().ok());
        let (Some(count), Some(bits)) = (number(count), number(bits)) else { return };
        if !known.has_room(count, bits) {
            let user = &self.user;
            let message =
                format!("{user} asks for {count} ranges of {bits} bits, and `{whole}` has no room for them");
            self.refuse(message, block.range, guard, None);
        }
    }

    /// `Fn::GetAZs`: what is no region.
    fn region(&mut self, region: &Value, guard: &Guard) {
        if let ValueKind::Ref(name) = &region.kind
            && let Some(resource) = self.stack.resource(*name)
        {
            let message = format!(
                "{} asks for the zones of the resource `{}`, which is no region",
                self.user, resource.name
            );
            return self.refuse(message, region.range, guard, None);
        }
        if let Some(text) = region.text().filter(|text| !text.is_empty() && !is_region(text)) {
            let message = format!("{} asks for the zones of `{text}`, which is no region", self.user);
            self.refuse(message, region.range, guard, None);
        }
    }

    /// The values that an expression can have, if they are known.
    fn keys(&self, value: &Value) -> Keys {
        let text = Text::of(value, self.stack.template);
        if let Some(plain) = text.plain() {
            return Keys::Listed(vec![(plain.into(), None)]);
        }
        match text.0.as_slice() {
            [Part::Ref(name)] => {
                let values = self.stack.template.parameters.get(name).and_then(Parameter::values);
                match values {
                    Some(values) => {
                        let choose = |value: Arc<str>| {
                            let choice = self.stack.logic.parameter_is(*name, &value);
                            (value, Some(choice))
                        };
                        Keys::Listed(values.into_iter().map(choose).collect())
                    }
                    None if self.stack.template.parameters.contains_key(name) => {
                        Keys::Open(format!("the parameter `{name}`"))
                    }
                    None => Keys::Open(format!("`{name}`")),
                }
            }
            _ => Keys::Open("the value that is put together here".to_owned()),
        }
    }

    /// `Fn::FindInMap`: keys that the mapping lacks, for values that its parameters can have.
    fn find_in_map(&mut self, [map, first, second]: [&Value; 3], guard: &Guard) {
        let Keys::Listed(maps) = self.keys(map) else {
            return self.assume("the mapping that is chosen here has the keys".to_owned(), map.range);
        };
        for (map_name, map_choice) in &maps {
            let Some(table) = self.stack.template.mappings.get(&Symbol::new(map_name)) else {
                // A literal name is told elsewhere.
                if map.text().is_none() {
                    let message =
                        format!("{} looks into the mapping `{map_name}`, which there is not", self.user);
                    self.refuse(message, map.range, guard, map_choice.clone());
                }
                continue;
            };
            self.keys_in(map_name, table, first, second, guard);
        }
    }

    fn keys_in(
        &mut self,
        map: &str,
        table: &Table<Table<Value>>,
        first: &Value,
        second: &Value,
        guard: &Guard,
    ) {
        let rows = match self.keys(first) {
            Keys::Listed(rows) => rows,
            Keys::Open(words) => {
                self.default_key(map, table, first, guard);
                self.assume(format!("{words} is a key of the mapping `{map}`"), first.range);
                table.keys().map(|key| (Arc::from(key.as_str()), None)).collect()
            }
        };
        let columns = match self.keys(second) {
            Keys::Listed(columns) if rows.len().saturating_mul(columns.len()) <= MAX_KEYS => columns,
            Keys::Listed(_) => return self.assume(format!("the mapping `{map}` has all keys"), second.range),
            Keys::Open(words) => {
                return self.assume(format!("{words} is a second key of the mapping `{map}`"), second.range);
            }
        };
        // Two literal keys are looked up with the names of the template.
        if first.text().is_some() && second.text().is_some() {
            return;
        }
        for (row, row_choice) in rows.iter().filter(|(row, _)| !table.contains_key(&Symbol::new(row))) {
            if first.text().is_none() {
                let message =
                    format!("the mapping `{map}` has no key `{row}`, which {} can have", shown(first));
                self.refuse(message, first.range, guard, row_choice.clone());
            }
        }
        for (column, column_choice) in &columns {
            let lacks = |row: &str| {
                table.get(&Symbol::new(row)).is_some_and(|cells| !cells.contains_key(&Symbol::new(column)))
            };
            let lacking: Vec<_> = rows.iter().filter(|(row, _)| lacks(row)).collect();
            let Some((_, row_choice)) = lacking.first() else { continue };
            let choice: Vec<Formula> = row_choice.iter().chain(column_choice).cloned().collect();
            let below: Vec<String> = lacking.iter().map(|(row, _)| format!("`{row}`")).collect();
            let below: Vec<&str> = below.iter().map(String::as_str).collect();
            let below = setpoint_source::few(&below, 5);
            let message = format!("the mapping `{map}` has no key `{column}` below {below}");
            self.refuse(message, second.range, guard, Some(Formula::And(choice)));
        }
    }

    /// A parameter may have any value; its own default must be there, unless a condition excludes it.
    fn default_key(&mut self, map: &str, table: &Table<Table<Value>>, key: &Value, guard: &Guard) {
        let ValueKind::Ref(name) = &key.kind else { return };
        let Some(parameter) = self.stack.template.parameters.get(name) else { return };
        if let Some(default) = parameter.default.as_deref()
            && guard.is_empty()
            && !parameter.is_stored()
            && !table.contains_key(&Symbol::new(default))
        {
            let message =
                format!("the mapping `{map}` has no key `{default}`, which is the default of `{name}`");
            self.refuse(message, key.range, guard, None);
        }
    }

    /// Properties that a resource must have, and that `AWS::NoValue` takes away.
    fn required(&mut self, resource: &Resource, guard: &Guard) {
        if resource.is_serverless || resource.made_from.is_some() {
            return;
        }
        let Some(facts) = TypeFacts::of(&resource.kind) else { return };
        for property in facts.properties().filter(Property::is_required) {
            let Some(value) = resource.properties.get(property.name) else { continue };
            self.removed(property.name, value, &mut guard.clone());
        }
    }

    fn removed(&mut self, property: &str, value: &Value, guard: &mut Guard) {
        match &value.kind {
            ValueKind::Ref(name) if &**name == "AWS::NoValue" => {
                let message = format!("{} lacks the property `{property}`, which it must have", self.user);
                self.refuse(message, value.range, guard, None);
            }
            ValueKind::If { condition, then, otherwise } => {
                for (branch, taken) in [(then, true), (otherwise, false)] {
                    guard.push((*condition, taken));
                    self.removed(property, branch, guard);
                    guard.pop();
                }
            }
            _ => {}
        }
    }

    /// `{{resolve:service:name}}`: the entry must be there when the stack is made.
    fn dynamic(&mut self, value: &Value) {
        let text = Text::of(value, self.stack.template);
        let whole = text.with_gaps();
        let mut rest = whole.as_str();
        while let Some(start) = rest.find(RESOLVE) {
            let after = &rest[start + RESOLVE.len()..];
            let Some(end) = after.find("}}") else {
                if self.is_piece {
                    return;
                }
                // What is not known may have the end.
                if after.contains('\0') {
                    return self.assume(
                        "this dynamic reference is there when the stack is made".to_owned(),
                        value.range,
                    );
                }
                let message = format!("{} has a dynamic reference without an end", self.user);
                return self.refuse(message, value.range, &Guard::new(), None);
            };
            self.dynamic_reference(&after[..end], value, &text);
            rest = &after[end + 2..];
        }
    }

    fn dynamic_reference(&mut self, inner: &str, value: &Value, text: &Text) {
        let mut parts = inner.split(':');
        let (service, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let is_known = ["ssm", "ssm-secure", "secretsmanager"].contains(&service);
        if !is_known || name.is_empty() {
            let message =
                format!("{} has a dynamic reference to nothing that CloudFormation knows", self.user);
            return self.refuse(message, value.range, &Guard::new(), None);
        }
        if service != "ssm" && self.place == Place::Elsewhere {
            let message =
                format!("{} has a dynamic reference to a secret, which only properties may have", self.user);
            return self.refuse(message, value.range, &Guard::new(), None);
        }
        let own = text.names().find(|name| self.stack.template.resources.contains_key(name));
        let has_one_gap = text.with_gaps().matches('\0').count() == 1;
        if let Some(name) = own.filter(|_| has_one_gap)
            && self.stack.resource(name).is_some_and(|secret| has_key(secret, inner, self.stack.template))
        {
            return;
        }
        let place = match own {
            Some(name) if inner.contains('\0') => format!("`{name}` has what the dynamic reference names"),
            _ => {
                let shown = inner.replace('\0', "…");
                format!("`{shown}` is there when the stack is made")
            }
        };
        self.assume(place, value.range);
    }
}

/// Whether a secret that the template makes has what a dynamic reference to it names: all of its text, or a key that the
/// template gives it. Keys that something else adds later are not known.
fn has_key(secret: &Resource, inner: &str, template: &Template) -> bool {
    let generated = secret.property(&["GenerateSecretString"]);
    let Some(rest) = inner.strip_prefix("secretsmanager:\0").filter(|_| {
        &*secret.kind == "AWS::SecretsManager::Secret"
            && (generated.is_some() || secret.property(&["SecretString"]).is_some())
    }) else {
        return false;
    };
    let mut parts = rest.split(':').skip(1);
    let (form, key) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if !["", "SecretString"].contains(&form) || parts.any(|version| !version.is_empty()) {
        return false;
    }
    let generated_key = generated.and_then(|one| one.get("GenerateStringKey")).and_then(Value::text);
    if key.is_empty() || generated_key == Some(key) {
        return true;
    }
    let written = secret
        .property(&["SecretString"])
        .or_else(|| generated.and_then(|generated| generated.get("SecretStringTemplate")))
        .map(|value| Text::of(value, template).with_gaps())
        .unwrap_or_default();
    let name = format!("\"{key}\"");
    written.match_indices(&name).any(|(at, _)| written[at + name.len()..].trim_start().starts_with(':'))
}

/// How a dynamic reference begins.
const RESOLVE: &str = "{{resolve:";

/// Whether a text is made as the names of regions are: `us-gov-east-1`.
fn is_region(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [area, middle @ .., number] = parts.as_slice() else { return false };
    let is_word = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase());
    area.len() == 2
        && is_word(area)
        && !middle.is_empty()
        && middle.iter().all(is_word)
        && number.parse::<u8>().is_ok()
}

/// A key in words.
fn shown(value: &Value) -> String {
    value.reference().map_or_else(|| "it".to_owned(), |name| format!("`{name}`"))
}
