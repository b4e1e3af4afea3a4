//! The rules, one place for each. A congruence rule (`…STEP`, `…LEFT`) is recorded around the steps of its part.

use std::sync::Arc;

use indexmap::IndexMap;
use setpoint_puppet_syntax::ast::{
    AssignOp, AttributeKind, BinaryOp, Block, ClassDef, DefineDef, Expr, ExprKind, HostMatch, NodeDef,
    Parameter, ResourceBody, ResourceForm,
};
use setpoint_source::{FileId, Range, Span};
use setpoint_trace::{Change, Recorder};

use crate::Evaluated;
use crate::value::{Resource, Value};

/// Classes that inherit from each other, and defines that declare each other, never end.
const MAX_DEPTH: usize = 200;

/// Why no rule applies.
pub(crate) struct Stuck {
    at: Range,
    why: String,
}

type Step<T> = Result<T, Stuck>;

fn stuck<T>(at: Range, why: impl Into<String>) -> Step<T> {
    Err(Stuck { at, why: why.into() })
}

/// κ(a), as the paper has it.
#[derive(Clone)]
enum Definition {
    Class(Arc<ClassDef>),
    Declared(String),
    Resource(Arc<DefineDef>),
}

/// σ, κ and v_C.
pub(crate) struct Machine {
    file: FileId,
    node: String,
    variables: IndexMap<(String, String), Value>,
    definitions: IndexMap<String, Definition>,
    catalog: Vec<Resource>,
    trace: Recorder,
    depth: usize,
    /// Some node definition names the node.
    names_a_node: bool,
}

impl Machine {
    pub(crate) fn new(file: FileId, node: &str, facts: &[(String, Value)]) -> Self {
        let top = |(name, value): &(String, Value)| (("::".to_owned(), name.clone()), value.clone());
        Self {
            file,
            node: node.to_owned(),
            variables: facts.iter().map(top).collect(),
            definitions: IndexMap::new(),
            catalog: Vec::new(),
            trace: Recorder::default(),
            depth: 0,
            names_a_node: false,
        }
    }

    pub(crate) fn run(mut self, body: &Block) -> Evaluated {
        if let Err(Stuck { at, why }) = self.manifest(body) {
            self.step("no rule", why.clone(), at);
            self.trace.end(why);
        }
        Evaluated { trace: self.trace.finish(), catalog: self.catalog }
    }

    fn span(&self, range: Range) -> Span {
        range.in_file(self.file)
    }

    fn step(&mut self, rule: &str, what: impl Into<String>, at: Range) {
        let span = self.span(at);
        self.trace.step(rule, what, Some(span), Vec::new());
    }

    fn change(&mut self, rule: &str, what: impl Into<String>, at: Range, change: Change) {
        let span = self.span(at);
        self.trace.step(rule, what, Some(span), vec![change]);
    }

    /// Records a rule around what belongs to it.
    fn within<T>(
        &mut self,
        rule: &str,
        what: impl Into<String>,
        at: Range,
        part: impl FnOnce(&mut Self) -> Step<T>,
    ) -> Step<T> {
        if self.depth >= MAX_DEPTH {
            return stuck(
                at,
                format!("rules are nested more than {MAX_DEPTH} deep: the evaluation may never end"),
            );
        }
        let span = self.span(at);
        self.trace.enter(rule, what, Some(span));
        self.depth += 1;
        let done = part(self);
        self.depth -= 1;
        self.trace.leave();
        done
    }

    /// §3.2.4: definitions, the node, and statements in the top scope.
    fn manifest(&mut self, body: &Block) -> Step<()> {
        if !self.variables.is_empty() {
            let given = self.variables.iter().map(|((scope, name), value)| Change {
                store: "σ",
                at: format!("{scope}, {name}"),
                before: None,
                after: Some(value.to_string()),
            });
            let given = given.collect();
            self.trace.step("initial σ", "the data that the client provides", None, given);
        }
        self.names_a_node = body.iter().any(|item| match &item.kind {
            ExprKind::Node(node) => node.matches.iter().any(|host| self.is_named_by(host)),
            _ => false,
        });
        self.sequence(["MSEQSTEP", "MSEQSKIP"], body, |this, item| match &item.kind {
            ExprKind::Class(class) => this.define_class(class),
            ExprKind::Define(define) => this.define_resource(define),
            ExprKind::Node(node) => this.node(node),
            _ => this.within("TOPSCOPE", "s →s in ::", item.range, |this| this.statement(item, "::")),
        })
    }

    /// `s1 s2`: the first is evaluated to `skip`, which is then left out.
    fn sequence(
        &mut self,
        [step, skip]: [&str; 2],
        body: &Block,
        evaluate: impl Fn(&mut Self, &Expr) -> Step<()>,
    ) -> Step<()> {
        let (one, two) = if step == "MSEQSTEP" { ("m1 m2", "skip m2") } else { ("s1 s2", "skip s2") };
        let Some((last, before)) = body.split_last() else { return Ok(()) };
        for item in before {
            self.within(step, one, item.range, |this| evaluate(this, item))?;
            self.step(skip, two, item.range);
        }
        evaluate(self, last)
    }

    fn is_named_by(&self, host: &HostMatch) -> bool {
        matches!(host, HostMatch::Name(name) if **name == *self.node)
    }

    fn define_class(&mut self, class: &Arc<ClassDef>) -> Step<()> {
        let name = class.name.to_string();
        if self.definitions.contains_key(&name) {
            return stuck(class.range, format!("class {name} is in dom(κ) already"));
        }
        let rule = match (class.parameters.is_empty(), class.parent.is_some()) {
            (true, false) => "CDEF",
            (true, true) => "CDEFI",
            (false, false) => "CDEFP",
            (false, true) => "CDEFPI",
        };
        let after = class_text(class);
        self.definitions.insert(name.clone(), Definition::Class(Arc::clone(class)));
        let change = Change { store: "κ", at: name.clone(), before: None, after: Some(after) };
        self.change(rule, format!("class {name}"), class.name_range, change);
        Ok(())
    }

    fn define_resource(&mut self, define: &Arc<DefineDef>) -> Step<()> {
        let name = define.name.to_string();
        if self.definitions.contains_key(&name) {
            return stuck(define.range, format!("{name} is in dom(κ) already"));
        }
        self.definitions.insert(name.clone(), Definition::Resource(Arc::clone(define)));
        let after = format!("ResourceDef({}, s)", parameters_text(&define.parameters));
        let change = Change { store: "κ", at: name.clone(), before: None, after: Some(after) };
        self.change("RDEF", format!("define {name}"), define.name_range, change);
        Ok(())
    }

    fn node(&mut self, node: &Arc<NodeDef>) -> Step<()> {
        if node.parent.is_some() {
            return stuck(node.range, "nodes do not inherit in µPuppet");
        }
        if node.matches.iter().any(|host| matches!(host, HostMatch::Regex(_))) {
            return stuck(node.range, "µPuppet does not model how a regular expression matches a node");
        }
        // The texts leave nodeMatch open. In Puppet `default` matches what no other definition names.
        let matches = node
            .matches
            .iter()
            .any(|host| self.is_named_by(host) || matches!(host, HostMatch::Default) && !self.names_a_node);
        let name = self.node.clone();
        if !matches {
            self.step("NODENOMATCH", format!("¬nodeMatch({name}, Q)"), node.range);
            return Ok(());
        }
        self.step("NODEMATCH", format!("nodeMatch({name}, Q): scope (::nd) s"), node.range);
        self.within("TOPSCOPE", "s →s in ::", node.range, |this| this.scope("::nd", &node.body, node.range))
    }

    /// `scope α s`
    fn scope(&mut self, scope: &str, body: &Block, at: Range) -> Step<()> {
        let is_define = scope.ends_with(" def");
        let rule = if is_define { "DEFSCOPESTEP" } else { "SCOPESTEP" };
        if !body.is_empty() {
            self.within(rule, format!("scope ({scope})"), at, |this| this.block(body, scope))?;
        }
        if !is_define {
            self.step("SCOPEDONE", format!("scope ({scope}) skip"), at);
            return Ok(());
        }
        let cleared: Vec<(String, Value)> = self
            .variables
            .iter()
            .filter(|((of, _), _)| of == scope)
            .map(|((_, name), value)| (name.clone(), value.clone()))
            .collect();
        self.variables.retain(|(of, _), _| of != scope);
        let changes = cleared.into_iter().map(|(name, value)| Change {
            store: "σ",
            at: format!("{scope}, {name}"),
            before: Some(value.to_string()),
            after: None,
        });
        let (changes, span) = (changes.collect(), Some(self.span(at)));
        self.trace.step("DEFSCOPEDONE", format!("clear(σ, {scope})"), span, changes);
        Ok(())
    }

    fn block(&mut self, body: &Block, scope: &str) -> Step<()> {
        self.sequence(["SEQSTEP", "SEQSKIP"], body, |this, statement| this.statement(statement, scope))
    }

    fn statement(&mut self, statement: &Expr, scope: &str) -> Step<()> {
        let at = statement.range;
        match &statement.kind {
            ExprKind::Assign { op: AssignOp::Set, target, value } => {
                let ExprKind::Variable(name) = &target.kind else {
                    return stuck(at, "only a variable is assigned to in µPuppet");
                };
                let value = self.evaluate_in("ASSIGNSTEP", &format!("${name} = e"), value, scope)?;
                self.assign(name.as_str(), value, scope, at)
            }
            ExprKind::If { test, then, otherwise } => {
                let (rule, branch) = match self.evaluate_in("IFSTEP", "if e {s1} else {s2}", test, scope)? {
                    Value::Boolean(true) => ("IFT", then),
                    Value::Boolean(false) => ("IFF", otherwise),
                    other => {
                        return stuck(test.range, format!("a condition is a boolean, and this is {other}"));
                    }
                };
                self.within(rule, "the branch that is chosen", at, |this| this.block(branch, scope))
            }
            ExprKind::Unless { otherwise, .. } if !otherwise.is_empty() => {
                stuck(at, "`unless` has no `else` in µPuppet")
            }
            ExprKind::Unless { test, then, .. } => {
                match self.evaluate_in("UNLESSSTEP", "unless e {s}", test, scope)? {
                    Value::Boolean(true) => {
                        self.step("UNLESST", "unless true {s} → skip", at);
                        Ok(())
                    }
                    Value::Boolean(false) => {
                        self.within("UNLESSF", "unless false {s} → s", at, |this| this.block(then, scope))
                    }
                    other => stuck(test.range, format!("a condition is a boolean, and this is {other}")),
                }
            }
            ExprKind::Case { subject, options } => {
                let value = self.evaluate_in("CASESTEP1", "case e {C}", subject, scope)?;
                for option in options {
                    for control in &option.values {
                        if matches!(control.kind, ExprKind::Default) {
                            let what = format!("case {value} {{default : {{s}} C}}");
                            return self.within("CASEDEFAULT", what, control.range, |this| {
                                this.block(&option.body, scope)
                            });
                        }
                        let against = self.evaluate_in(
                            "CASESTEP2",
                            &format!("case {value} {{e : {{s}} C}}"),
                            control,
                            scope,
                        )?;
                        if case_match(&value, &against) {
                            let what = format!("caseMatch({value}, {against})");
                            return self.within("CASEMATCH", what, control.range, |this| {
                                this.block(&option.body, scope)
                            });
                        }
                        self.step("CASENOMATCH", format!("¬caseMatch({value}, {against})"), control.range);
                    }
                }
                self.step("CASEDONE", format!("case {value} {{ε}}"), at);
                Ok(())
            }
            ExprKind::Resource { form: ResourceForm::Regular, type_name, bodies } => {
                let ExprKind::Name(kind) = &type_name.kind else {
                    return stuck(type_name.range, "the type of a resource is written out in µPuppet");
                };
                bodies.iter().try_for_each(|body| self.declaration(kind.as_str(), body, scope))
            }
            ExprKind::Call(call) => match (&call.function.kind, call.arguments.as_slice(), &call.lambda) {
                (ExprKind::Name(name), arguments, None) if name.as_str() == "include" => {
                    arguments.iter().try_for_each(|argument| {
                        let class = class_name(argument)?;
                        self.include(&class, scope, argument.range)
                    })
                }
                _ => stuck(at, "functions are outside of µPuppet"),
            },
            ExprKind::Class(_) | ExprKind::Define(_) | ExprKind::Node(_) => {
                stuck(at, "definitions stand at the top level in µPuppet")
            }
            _ => {
                let value = self.evaluate_in("EXPRSTEP", "an expression as a statement", statement, scope)?;
                self.step("EXPR", format!("{value} is ignored: skip"), at);
                Ok(())
            }
        }
    }

    fn assign(&mut self, name: &str, value: Value, scope: &str, at: Range) -> Step<()> {
        let key = (scope.to_owned(), name.to_owned());
        if self.variables.contains_key(&key) {
            return stuck(at, format!("${name} is in dom(σ) of {scope} already: ASSIGN does not apply"));
        }
        let place = format!("{scope}, {name}");
        let change = Change { store: "σ", at: place.clone(), before: None, after: Some(value.to_string()) };
        self.change("ASSIGN", format!("σ[({place}) : {value}]"), at, change);
        self.variables.insert(key, value);
        Ok(())
    }

    /// `t {e : H}`, `u {e : H}` and `class {a : H}`
    fn declaration(&mut self, kind: &str, body: &ResourceBody, scope: &str) -> Step<()> {
        if kind == "class" {
            let class = class_name(&body.title)?;
            let attributes = self.attributes("CDECSTEP", body, scope)?;
            return self.declare_class(&class, &attributes, scope, body.range);
        }
        let definition = self.definitions.get(kind).cloned();
        let rule = if definition.is_some() { "DEFSTEP" } else { "RESSTEP" };
        let title = match self.evaluate_in(rule, &format!("{kind} {{e : H}}"), &body.title, scope)? {
            Value::String(title) => title,
            other => return stuck(body.title.range, format!("a title is a string, and this is {other}")),
        };
        let attributes = self.attributes(rule, body, scope)?;
        let Some(definition) = definition else {
            return self.declare_resource(kind, title, attributes, body.range);
        };
        let Definition::Resource(define) = definition else {
            return stuck(body.range, format!("{kind} is a class"));
        };
        let inner = format!("{scope} def");
        self.within("DEF", format!("κ({kind}) = ResourceDef(ρ, s): scope ({inner})"), body.range, |this| {
            let what = format!("scope ({inner}) $title = w merge(ρ, v_H)");
            this.within("DEFSCOPESTEP", what, body.range, |this| {
                this.assign("title", Value::String(title), &inner, body.range)?;
                this.merge(&define.parameters, &attributes, &inner, body.range)
            })?;
            this.scope(&inner, &define.body, body.range)
        })
    }

    fn declare_resource(
        &mut self,
        kind: &str,
        title: String,
        attributes: Vec<(String, Value)>,
        at: Range,
    ) -> Step<()> {
        if self.catalog.iter().any(|one| one.kind == kind && one.title == title) {
            return stuck(
                at,
                format!("{kind}[{title:?}] is in v_C already: the catalog would not be well-formed"),
            );
        }
        let resource = Resource { kind: kind.to_owned(), title, attributes };
        let change = Change {
            store: "v_C",
            at: format!("{kind}[{:?}]", resource.title),
            before: None,
            after: Some(resource.to_string()),
        };
        self.change("RESDECL", format!("v_C ⊔ {resource}"), at, change);
        self.catalog.push(resource);
        Ok(())
    }

    fn attributes(&mut self, rule: &str, body: &ResourceBody, scope: &str) -> Step<Vec<(String, Value)>> {
        let mut attributes = Vec::new();
        for attribute in &body.attributes {
            let AttributeKind::Set { name, value, .. } = &attribute.kind else {
                return stuck(attribute.range, "attributes are `name => value` in µPuppet");
            };
            let value = self.evaluate_in(rule, &format!("{name} => e"), value, scope)?;
            attributes.push((name.to_string(), value));
        }
        Ok(attributes)
    }

    /// merge(ρ, v_H): parameters get what is given, or their defaults. It looks at the parameters alone: what is given besides
    /// has no effect, where Puppet refuses it.
    fn merge(
        &mut self,
        parameters: &[Parameter],
        given: &[(String, Value)],
        scope: &str,
        at: Range,
    ) -> Step<()> {
        for parameter in parameters {
            let name = parameter.name.as_str();
            if let Some(of_type) = &parameter.type_expr {
                return stuck(
                    of_type.range,
                    format!("the parameter {name} has a type, and µPuppet has none to check"),
                );
            }
            let value = match (given.iter().find(|(given, _)| given == name), &parameter.default) {
                (Some((_, value)), _) => value.clone(),
                (None, Some(default)) => {
                    self.evaluate_in("ASSIGNSTEP", &format!("${name} = e"), default, scope)?
                }
                (None, None) => return stuck(at, format!("the parameter {name} has no value")),
            };
            self.assign(name, value, scope, parameter.range)?;
        }
        Ok(())
    }

    fn include(&mut self, name: &str, scope: &str, at: Range) -> Step<()> {
        match self.definitions.get(name).cloned() {
            Some(Definition::Declared(parent)) => {
                self.step("INCD", format!("κ({name}) = DeclaredClass({parent}): skip"), at);
                Ok(())
            }
            Some(Definition::Class(class)) => {
                self.enter_class(&class, &[], ["INCU", "INCPU", "INCPD"], scope, at)
            }
            _ => {
                stuck(at, format!("class {name} is not in dom(κ): it must be defined before it is declared"))
            }
        }
    }

    fn declare_class(&mut self, name: &str, given: &[(String, Value)], scope: &str, at: Range) -> Step<()> {
        match self.definitions.get(name).cloned() {
            Some(Definition::Class(class)) => {
                self.enter_class(&class, given, ["CDECU", "CDECPU", "CDECPD"], scope, at)
            }
            Some(Definition::Declared(_)) => {
                stuck(at, format!("class {name} is declared already, and no rule lets it be again"))
            }
            _ => {
                stuck(at, format!("class {name} is not in dom(κ): it must be defined before it is declared"))
            }
        }
    }

    /// The three rules for a class that is not declared yet: without a parent, with one that is not declared, and with one that
    /// is.
    fn enter_class(
        &mut self,
        class: &Arc<ClassDef>,
        given: &[(String, Value)],
        [without, undeclared, declared]: [&str; 3],
        scope: &str,
        at: Range,
    ) -> Step<()> {
        let name = class.name.to_string();
        let (rule, parent, why) = match &class.parent {
            None => {
                let (base, rules) = self.base_of(scope);
                let why = format!("; {base} baseof {scope} by {rules}");
                (without, base, why)
            }
            Some((parent, _)) => {
                if let Some(Definition::Class(_)) = self.definitions.get(parent.as_str()) {
                    let what = format!("κ({parent}) = ClassDef: include {parent} first");
                    self.within(undeclared, what, at, |this| this.include(parent.as_str(), scope, at))?;
                }
                // INCPD takes the scope of the parent; CDECPD as printed takes the parent's own, which PCLASS contradicts.
                (declared, format!("::{parent}"), String::new())
            }
        };
        if let Some((parent, _)) = &class.parent
            && !matches!(self.definitions.get(parent.as_str()), Some(Definition::Declared(_)))
        {
            return stuck(
                at,
                format!("class {parent} is not in dom(κ): it must be defined before it is declared"),
            );
        }
        let before = Some(class_text(class));
        let after = format!("DeclaredClass({parent})");
        self.definitions.insert(name.clone(), Definition::Declared(parent));
        let change = Change { store: "κ", at: name.clone(), before, after: Some(after) };
        self.change(rule, format!("scope (::{name}) {{merge(ρ, v_H) ⊔ s}}{why}"), at, change);
        let inner = format!("::{name}");
        if !class.parameters.is_empty() || !given.is_empty() {
            self.within("SCOPESTEP", format!("scope ({inner}) merge(ρ, v_H)"), at, |this| {
                this.merge(&class.parameters, given, &inner, at)
            })?;
        }
        self.scope(&inner, &class.body, at)
    }

    /// α baseof β, with the rules that lead there: BTOP, BNODE, BDEFRES and BCLASS.
    fn base_of(&self, scope: &str) -> (String, String) {
        let mut scope = scope.to_owned();
        let mut rules = Vec::new();
        // A scope is nested in scopes that were there before it.
        for _ in 0..=MAX_DEPTH {
            match scope.strip_suffix(" def") {
                Some(outer) => {
                    rules.push("BDEFRES");
                    scope.truncate(outer.len());
                }
                None => match self.definitions.get(scope.trim_start_matches("::")) {
                    Some(Definition::Declared(parent)) => {
                        rules.push("BCLASS");
                        scope.clone_from(parent);
                    }
                    _ => break,
                },
            }
        }
        rules.push(if scope == "::nd" { "BNODE" } else { "BTOP" });
        (scope, rules.join(" "))
    }

    /// β parentof α, with the rules that lead there: PNODE, PDEFRES and PCLASS.
    fn parent_of(&self, scope: &str) -> Option<(String, String)> {
        match scope {
            "::" => None,
            "::nd" => Some(("::".to_owned(), "PNODE".to_owned())),
            _ if scope.ends_with(" def") => {
                let (base, rules) = self.base_of(scope);
                Some((base, format!("PDEFRES {rules}")))
            }
            _ => match self.definitions.get(scope.trim_start_matches("::")) {
                Some(Definition::Declared(parent)) => Some((parent.clone(), "PCLASS".to_owned())),
                _ => None,
            },
        }
    }

    /// Evaluates a part of a statement or expression. A value needs no step, and so no congruence rule.
    fn evaluate_in(&mut self, rule: &str, what: &str, expr: &Expr, scope: &str) -> Step<Value> {
        match constant(expr) {
            Some(value) => Ok(value),
            None => self.within(rule, what, expr.range, |this| this.expression(expr, scope)),
        }
    }

    /// An element of an array or hash: `rest` is the rule that goes past the values before it, `own` the one for itself.
    fn element(
        &mut self,
        [rest, own]: [&str; 2],
        [past, here]: [&str; 2],
        expr: &Expr,
        index: usize,
        scope: &str,
    ) -> Step<Value> {
        if index == 0 || constant(expr).is_some() {
            return self.evaluate_in(own, here, expr, scope);
        }
        self.within(rest, past, expr.range, |this| this.evaluate_in(own, here, expr, scope))
    }

    fn expression(&mut self, expr: &Expr, scope: &str) -> Step<Value> {
        if let Some(value) = constant(expr) {
            return Ok(value);
        }
        let at = expr.range;
        match &expr.kind {
            ExprKind::Paren(inner) => self.expression(inner, scope),
            ExprKind::Variable(name) => self.variable(name.as_str(), scope, at),
            ExprKind::Array(elements) => self.within("ARREXP", "[A]", at, |this| {
                let mut values = Vec::new();
                for element in elements {
                    values.push(this.element(
                        ["ARRELE", "ARRELEI"],
                        ["v, A", "e, A"],
                        element,
                        values.len(),
                        scope,
                    )?);
                }
                Ok(Value::Array(values))
            }),
            ExprKind::Hash(entries) => self.within("HEXP", "{H}", at, |this| {
                let mut values = Vec::new();
                for (key, value) in entries {
                    let Some(key) = constant_key(key) else {
                        return stuck(key.range, "a key is a constant in µPuppet");
                    };
                    let texts = ["k => v, H", "k => e, H"];
                    values.push((key, this.element(["HELE", "HELEI"], texts, value, values.len(), scope)?));
                }
                Ok(Value::Hash(values))
            }),
            ExprKind::Not(inner) => match self.evaluate_in("NOTSTEP", "!e", inner, scope)? {
                Value::Boolean(value) => {
                    self.step(
                        if value { "NOTVALUEI" } else { "NOTVALUEII" },
                        format!("!{value} → {}", !value),
                        at,
                    );
                    Ok(Value::Boolean(!value))
                }
                other => stuck(at, format!("! takes a boolean, and this is {other}")),
            },
            ExprKind::Binary { op, left, right, .. } => self.binary(*op, left, right, scope, at),
            ExprKind::Selector { subject, cases } => {
                let value = self.evaluate_in("SCON", "e ? {M}", subject, scope)?;
                for case in cases {
                    if matches!(case.matches.kind, ExprKind::Default) {
                        self.step(
                            "SDEFAULT",
                            format!("{value} ? {{default => e, M}} → e"),
                            case.matches.range,
                        );
                        return self.expression(&case.value, scope);
                    }
                    let against =
                        self.evaluate_in("SELE", &format!("{value} ? {{e1 => e, M}}"), &case.matches, scope)?;
                    if case_match(&value, &against) {
                        self.step("SCHOOSE", format!("caseMatch({value}, {against})"), case.matches.range);
                        return self.expression(&case.value, scope);
                    }
                    self.step("SCHOOSEI", format!("¬caseMatch({value}, {against})"), case.matches.range);
                }
                stuck(at, format!("no branch of the selector matches {value}"))
            }
            ExprKind::Access { target, keys } => match keys.as_slice() {
                [key] => self.access(target, key, scope, at),
                _ => stuck(at, "one index stands in brackets in µPuppet"),
            },
            _ => stuck(at, "this expression is outside of µPuppet"),
        }
    }

    fn variable(&mut self, name: &str, scope: &str, at: Range) -> Step<Value> {
        let found = |this: &Self, scope: &str, name: &str| {
            this.variables.get(&(scope.to_owned(), name.to_owned())).cloned()
        };
        if let Some(top) = name.strip_prefix("::").filter(|rest| !rest.contains("::")) {
            return match found(self, "::", top) {
                Some(value) => {
                    self.step("TVAR", format!("${name} → σ(::, {top}) = {value}"), at);
                    Ok(value)
                }
                None => stuck(at, format!("{top} ∉ dom(σ) of ::")),
            };
        }
        if let Some((class, last)) = name.trim_start_matches("::").rsplit_once("::") {
            let of = format!("::{class}");
            return match found(self, &of, last) {
                Some(value) => {
                    self.step("QVAR", format!("${name} → σ({of}, {last}) = {value}"), at);
                    Ok(value)
                }
                None => stuck(at, format!("{last} ∉ dom(σ) of {of}")),
            };
        }
        if let Some(value) = found(self, scope, name) {
            self.step("LVAR", format!("${name} → σ({scope}, {name}) = {value}"), at);
            return Ok(value);
        }
        match self.parent_of(scope) {
            Some((parent, rule)) => {
                let what = format!("{name} ∉ dom(σ) of {scope}; {parent} parentof {scope} by {rule}");
                self.within("PVAR", what, at, |this| this.variable(name, &parent, at))
            }
            None => stuck(at, format!("${name} has no value: {name} ∉ dom(σ) of {scope}")),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, scope: &str, at: Range) -> Step<Value> {
        let (sign, rules) = match op {
            BinaryOp::Add => ("+", "ARITH"),
            BinaryOp::Subtract => ("-", "ARITH"),
            BinaryOp::Multiply => ("*", "ARITH"),
            BinaryOp::Divide => ("/", "ARITH"),
            BinaryOp::Greater => (">", "COMP"),
            BinaryOp::Less => ("<", "COMP"),
            BinaryOp::GreaterEqual => (">=", "COMP"),
            BinaryOp::LessEqual => ("<=", "COMP"),
            BinaryOp::Equal => ("==", "COMP"),
            BinaryOp::NotEqual => ("!=", "COMP"),
            BinaryOp::And => ("and", "AND"),
            BinaryOp::Or => ("or", "OR"),
            _ => return stuck(at, "this operator is outside of µPuppet"),
        };
        let first = self.evaluate_in(&format!("{rules}LEFT"), &format!("e1 {sign} e2"), left, scope)?;
        // A conjunction that is decided does not look at its other side.
        match (op, &first) {
            (BinaryOp::And, Value::Boolean(false)) | (BinaryOp::Or, Value::Boolean(true)) => {
                self.step(&format!("{rules}RIGHTI"), format!("{first} {sign} e → {first}"), at);
                return Ok(first);
            }
            _ => {}
        }
        let right_rule =
            if matches!(rules, "AND" | "OR") { format!("{rules}RIGHTII") } else { format!("{rules}RIGHT") };
        let second = self.evaluate_in(&right_rule, &format!("{first} {sign} e"), right, scope)?;
        let value = match (op, &first, &second) {
            (BinaryOp::Equal, a, b) => Value::Boolean(case_match(a, b)),
            (BinaryOp::NotEqual, a, b) => Value::Boolean(!case_match(a, b)),
            (BinaryOp::And | BinaryOp::Or, Value::Boolean(_), Value::Boolean(second)) => {
                Value::Boolean(*second)
            }
            (_, Value::Integer(a), Value::Integer(b)) => match arithmetic(op, *a, *b) {
                Some(value) => value,
                None => return stuck(at, format!("{first} {sign} {second} has no value")),
            },
            _ => return stuck(at, format!("{first} {sign} {second} has no value")),
        };
        let rule = match (rules, &value) {
            ("COMP", Value::Boolean(true)) => format!("{rules}VALUEI"),
            ("COMP", _) => format!("{rules}VALUEII"),
            _ => format!("{rules}VALUE"),
        };
        self.step(&rule, format!("{first} {sign} {second} → {value}"), at);
        Ok(value)
    }

    fn access(&mut self, target: &Expr, key: &Expr, scope: &str, at: Range) -> Step<Value> {
        if let ExprKind::TypeName(kind) = &target.kind {
            let kind = kind.as_str().to_lowercase();
            return match self.evaluate_in("REFRES", &format!("{kind}[e]"), key, scope)? {
                Value::String(title) => Ok(Value::Reference(kind, title)),
                other => stuck(key.range, format!("a title is a string, and this is {other}")),
            };
        }
        let value = self.evaluate_in("DEREFEXP", "d[e]", target, scope)?;
        let key = self.evaluate_in("DEREFINDEX", "v[e]", key, scope)?;
        let (rule, found) = match (&value, &key) {
            (Value::Array(values), Value::Integer(index)) => {
                ("DEREFARRAY", usize::try_from(*index).ok().and_then(|index| values.get(index)).cloned())
            }
            (Value::Hash(entries), key) => {
                let key = plain(key);
                ("DEREFHASH", entries.iter().find(|(one, _)| *one == key).map(|(_, value)| value.clone()))
            }
            (Value::Reference(kind, title), Value::String(attribute)) => {
                let resource = self.catalog.iter().find(|one| one.kind == *kind && one.title == *title);
                let found =
                    resource.and_then(|one| one.attributes.iter().find(|(name, _)| name == attribute));
                ("DEREFRES", found.map(|(_, value)| value.clone()))
            }
            _ => return stuck(at, format!("{value}[{key}] has no value")),
        };
        match found {
            Some(found) => {
                self.step(rule, format!("{value}[{key}] → {found}"), at);
                Ok(found)
            }
            None => stuck(at, format!("{value}[{key}] has no value")),
        }
    }
}

fn class_text(class: &ClassDef) -> String {
    let parent = class.parent.as_ref().map_or("⊥".to_owned(), |(name, _)| name.to_string());
    format!("ClassDef({parent}, {}, s)", parameters_text(&class.parameters))
}

fn parameters_text(parameters: &[Parameter]) -> String {
    if parameters.is_empty() {
        return "ε".to_owned();
    }
    let names = parameters.iter().map(|parameter| match parameter.default {
        Some(_) => format!("${} = e", parameter.name),
        None => format!("${}", parameter.name),
    });
    format!("({})", names.collect::<Vec<_>>().join(", "))
}

fn class_name(expr: &Expr) -> Step<String> {
    match &expr.kind {
        ExprKind::Name(name) => Ok(name.as_str().trim_start_matches("::").to_owned()),
        ExprKind::String(name) => Ok(name.trim_start_matches("::").to_owned()),
        _ => stuck(expr.range, "a class is named by a word in µPuppet"),
    }
}

/// An expression that is a value already.
fn constant(expr: &Expr) -> Option<Value> {
    Some(match &expr.kind {
        ExprKind::Integer { value, .. } => Value::Integer(*value),
        ExprKind::String(text) => Value::String(text.to_string()),
        ExprKind::Name(name) => Value::String(name.to_string()),
        ExprKind::Bool(value) => Value::Boolean(*value),
        ExprKind::Paren(inner) => constant(inner)?,
        ExprKind::Array(elements) => Value::Array(elements.iter().map(constant).collect::<Option<Vec<_>>>()?),
        ExprKind::Hash(entries) => {
            let entry = |(key, value): &(Expr, Expr)| Some((constant_key(key)?, constant(value)?));
            Value::Hash(entries.iter().map(entry).collect::<Option<Vec<_>>>()?)
        }
        ExprKind::Negate(inner) => match constant(inner)? {
            Value::Integer(value) => Value::Integer(value.checked_neg()?),
            _ => return None,
        },
        _ => return None,
    })
}

/// A key of a hash, which is a constant number or string.
fn constant_key(expr: &Expr) -> Option<String> {
    match constant(expr)? {
        Value::String(key) => Some(key),
        Value::Integer(key) => Some(key.to_string()),
        _ => None,
    }
}

/// Strings are compared without regard to case, as Puppet does.
fn case_match(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::String(left), Value::String(right)) => left.to_lowercase() == right.to_lowercase(),
        _ => left == right,
    }
}

fn arithmetic(op: BinaryOp, a: i64, b: i64) -> Option<Value> {
    Some(match op {
        BinaryOp::Add => Value::Integer(a.checked_add(b)?),
        BinaryOp::Subtract => Value::Integer(a.checked_sub(b)?),
        BinaryOp::Multiply => Value::Integer(a.checked_mul(b)?),
        // Puppet divides towards negative infinity.
        BinaryOp::Divide if b != 0 => {
            let quotient = a.checked_div(b)?;
            let is_rounded_up = a % b != 0 && (a < 0) != (b < 0);
            Value::Integer(if is_rounded_up { quotient - 1 } else { quotient })
        }
        BinaryOp::Greater => Value::Boolean(a > b),
        BinaryOp::Less => Value::Boolean(a < b),
        BinaryOp::GreaterEqual => Value::Boolean(a >= b),
        BinaryOp::LessEqual => Value::Boolean(a <= b),
        _ => return None,
    })
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
