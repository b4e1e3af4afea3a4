//! `x[key]`: elements of collections, parameters of types, and parameters of declared resources.

use std::sync::Arc;

use setpoint_provenance::Control;
use setpoint_puppet_functions::{DanglingReference, FailureKind, Stop};
use setpoint_puppet_syntax::ast::{Expr, ExprKind};
use setpoint_puppet_values::{Blame, Data, Type, Value, access};
use setpoint_source::Symbol;

use crate::compiler::Compiler;
use crate::resources::{ResourceId, ResourceType};
use crate::trace::MISSING_PARAMETER;

impl Compiler<'_> {
    pub(super) fn evaluate_access(
        &mut self,
        target: &Expr,
        keys: &[Expr],
        expression: &Expr,
    ) -> Result<Value, Stop> {
        let left = self.evaluate(target)?;
        if matches!(left.data, Data::Opaque(_)) {
            return Ok(left);
        }
        let values = if matches!(left.data, Data::Type(Type::Class(_))) {
            keys.iter().map(|key| self.evaluate_class_key(key)).collect::<Result<_, _>>()?
        } else {
            self.evaluate_keys(keys)?
        };
        if let Some(unknown) = values.iter().find_map(Value::unknown_part) {
            return Ok(Value::unknown(Arc::clone(&unknown.reason), Type::Any));
        }
        for key in values.iter().filter_map(Value::as_str) {
            self.note_key_read(&left, key, Some(self.span(expression.range)));
        }
        if let Some(result) = self.access_parameters(&left, &values)? {
            return Ok(self.read_parameter(result, &left, &values, expression));
        }
        // `Resource[File]` is `File`.
        if let (Data::Type(Type::Resource(None)), [Value { data: Data::Type(Type::Resource(_)), .. }]) =
            (&left.data, values.as_slice())
        {
            return Ok(values.into_iter().next().unwrap_or(Value::UNDEF));
        }
        let blamed = |compiler: &Self, blame: Blame| match blame {
            Blame::Whole => compiler.place(expression),
            Blame::Left => compiler.place(target),
            Blame::Right => {
                keys.first().map_or_else(|| compiler.place(expression), |key| compiler.place(key))
            }
            Blame::Key(at) => {
                keys.get(at).map_or_else(|| compiler.place(expression), |key| compiler.place(key))
            }
        };
        let mut checks = self.checks();
        let result = access::access(&left, &values, &mut checks);
        self.settle(checks, blamed);
        let result = result.map_err(|error| self.value_error(error, blamed))?;
        if !self.arena.enabled() {
            return Ok(result);
        }
        let is_element = !result.prov.is_none() && matches!(left.data, Data::Array(_) | Data::Hash(_));
        let whole = if is_element { self.arena.shape(left.prov) } else { left.prov };
        let provs = [whole].into_iter().chain(values.iter().map(|value| value.prov));
        let selection = self.combine(self.words.access, expression.range, provs);
        if !is_element {
            return Ok(result.with(selection));
        }
        // The element was copied, and chosen by the keys.
        let prov = self.arena.under(result.prov, Control::Selection, selection, None);
        Ok(result.with(prov))
    }

    fn evaluate_keys(&mut self, keys: &[Expr]) -> Result<Vec<Value>, Stop> {
        keys.iter().map(|key| self.evaluate(key)).collect()
    }

    /// A key of `Class[…]`: a capitalised name need not be known.
    fn evaluate_class_key(&mut self, key: &Expr) -> Result<Value, Stop> {
        if let ExprKind::TypeName(name) = &key.kind
            && self.find_type(name)?.is_none()
        {
            return Ok(self.literal(Data::Type(Type::reference(name.as_str())), key.range));
        }
        self.evaluate(key)
    }

    /// `File['/a']['mode']`: the parameters of a declared resource, if the left side is a reference to one.
    fn access_parameters(&mut self, left: &Value, keys: &[Value]) -> Result<Option<Value>, Stop> {
        let (type_name, title) = match &left.data {
            Data::Type(Type::Resource(Some(reference))) => match &reference.title {
                Some(title) => (reference.name.to_string(), title.to_string()),
                None => return Ok(None),
            },
            Data::Type(Type::Class(Some(name))) => ("Class".to_owned(), name.to_string()),
            _ => return Ok(None),
        };
        let is_list = keys.len() > 1 || matches!(keys, [Value { data: Data::Array(_), .. }]);
        let mut names = Vec::new();
        flatten(keys, &mut names);
        let Some(id) = self.find_resource(&type_name, &title)? else {
            let missing = DanglingReference::Read { reference: format!("{type_name}['{title}']") };
            return Err(FailureKind::DanglingReference(missing).unplaced());
        };
        let mut values = Vec::with_capacity(names.len());
        for name in names {
            let text = setpoint_puppet_values::to_text(&name);
            if !self.has_parameter(id, &text) {
                let resource = format!("{type_name}['{title}']");
                return Err(FailureKind::NoSuchParameter { resource, parameter: text.to_string() }.unplaced());
            }
            values.push(self.parameter_value(id, Symbol::new(&text)));
        }
        Ok(Some(if is_list { Value::array(values) } else { values.pop().unwrap_or(Value::UNDEF) }))
    }

    /// What a parameter was at this time depends on the resource, and on what could have set it by now.
    fn read_parameter(&mut self, value: Value, left: &Value, keys: &[Value], expression: &Expr) -> Value {
        if !self.arena.enabled() {
            return value;
        }
        let mut provs = vec![left.prov, self.scopes[self.frame.scope].order];
        if let Data::Type(of) = &left.data
            && let Some(text) = self.reference_text(of)
        {
            if let Ok(Some(id)) = self.find_reference(&text) {
                provs.push(self.resources[id].prov);
            }
            for key in keys {
                let name = setpoint_puppet_values::to_text(key);
                provs.push(self.absence(MISSING_PARAMETER, &format!("{text}.{name}")));
            }
        }
        provs.extend(keys.iter().map(|value| value.prov));
        // Several parameters are an array.
        if let (true, Data::Array(items)) = (value.prov.is_none(), &value.data) {
            provs.extend(items.iter().map(|item| item.prov));
        }
        let selection = self.combine(self.words.access, expression.range, provs.into_iter());
        let prov = if value.prov.is_none() {
            selection
        } else {
            self.arena.under(value.prov, Control::Selection, selection, None)
        };
        value.with(prov)
    }

    fn has_parameter(&self, id: ResourceId, name: &str) -> bool {
        match &self.resources[id].instance_of {
            ResourceType::Native(native) => native.accepts(name),
            ResourceType::Definition(definition) => {
                self.definitions[*definition].signature.iter().any(|known| &*known.name == name)
            }
        }
    }

    /// The value of a parameter, or what a default would give now.
    fn parameter_value(&self, id: ResourceId, name: Symbol) -> Value {
        let resource = &self.resources[id];
        if name.as_str() == "title" {
            return Value::string(resource.title.clone()).with(resource.prov);
        }
        if let Some(value) = resource.get(name).filter(|value| !value.is_undef()) {
            return value.clone();
        }
        let defaults = self.lookup_defaults(resource.scope, resource.type_name);
        defaults.get(name).map_or(Value::UNDEF, |parameter| parameter.value.clone())
    }
}

fn flatten(values: &[Value], into: &mut Vec<Value>) {
    for value in values {
        match &value.data {
            Data::Array(items) => flatten(items, into),
            Data::Undef => {}
            _ => into.push(value.clone()),
        }
    }
}
