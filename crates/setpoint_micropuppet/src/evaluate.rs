//! The rules, one place for each. A congruence rule (`…STEP`, `…LEFT`) is recorded around the steps of its part.

use std::sync::Arc;

use indexmap::IndexMap;
use setpoint_puppet_syntax::ast::{
    AssignOp, AttributeKind, Block, ClassDef, DefineDef, Expr, ExprKind, HostMatch, NodeDef, Parameter,
    ResourceBody, ResourceForm,
};
use setpoint_source::{FileId, Limit, Range, Span};
use setpoint_trace::{Change, Recorder};

use crate::expressions::case_match;
use crate::value::{Resource, Value};
use crate::{End, Evaluated};

const NODE_SCOPE: &str = "::nd";

/// Classes that inherit from each other, and defines that declare each other, never end.
const MAX_DEPTH: Limit = Limit::new(200);

/// Why the evaluation goes no further.
pub(crate) struct Stop {
    at: Range,
    why: String,
    is_outside: bool,
}

pub(crate) type Step<T> = Result<T, Stop>;

/// The program is one of the fragment, and no rule applies to it.
pub(crate) fn stuck<T>(at: Range, why: impl Into<String>) -> Step<T> {
    Err(Stop { at, why: why.into(), is_outside: false })
}

/// The fragment does not have this.
pub(crate) fn outside<T>(at: Range, why: impl Into<String>) -> Step<T> {
    Err(Stop { at, why: why.into(), is_outside: true })
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
    pub(crate) variables: IndexMap<(String, String), Value>,
    definitions: IndexMap<String, Definition>,
    pub(crate) catalog: Vec<Resource>,
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
        let stop = self.manifest(body).err();
        let end = stop.map(|Stop { at, why, is_outside }| {
            self.step(if is_outside { "the fragment ends" } else { "stuck" }, why.clone(), at);
            self.trace.end(if is_outside {
                format!("The trace ends here: {why}")
            } else {
                format!("No rule applies, and there is no catalog: {why}")
            });
            End { why, span: self.span(at), is_outside }
        });
        Evaluated { trace: self.trace.finish(), catalog: self.catalog, end }
    }

    fn span(&self, range: Range) -> Span {
        range.in_file(self.file)
    }

    pub(crate) fn step(&mut self, rule: &str, what: impl Into<String>, at: Range) {
        let span = self.span(at);
        self.trace.step(rule, what, Some(span), Vec::new());
    }

    fn change(&mut self, rule: &str, what: impl Into<String>, at: Range, change: Change) {
        let span = self.span(at);
        self.trace.step(rule, what, Some(span), vec![change]);
    }

    /// Records a rule around what belongs to it.
    pub(crate) fn within<T>(
        &mut self,
        rule: &str,
        what: impl Into<String>,
        at: Range,
        part: impl FnOnce(&mut Self) -> Step<T>,
    ) -> Step<T> {
        if self.depth >= MAX_DEPTH {
            return outside(
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
    fn sequence<T: Placed>(
        &mut self,
        [step, skip]: [&str; 2],
        items: &[T],
        evaluate: impl Fn(&mut Self, &T) -> Step<()>,
    ) -> Step<()> {
        let (one, two) = if step == "MSEQSTEP" { ("m1 m2", "skip m2") } else { ("s1 s2", "skip s2") };
        let Some((last, before)) = items.split_last() else { return Ok(()) };
        for item in before {
            self.within(step, one, item.place(), |this| evaluate(this, item))?;
            self.step(skip, two, item.place());
        }
        evaluate(self, last)
    }

    fn is_named_by(&self, host: &HostMatch) -> bool {
        matches!(host, HostMatch::Name(name) if **name == *self.node)
    }

    fn define_class(&mut self, class: &Arc<ClassDef>) -> Step<()> {
        let name = class.name.to_string();
        if format!("::{name}") == NODE_SCOPE {
            let why = format!("in µPuppet {NODE_SCOPE} is the scope of the node, and no class has this name");
            return outside(class.name_range, why);
        }
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
            return outside(node.range, "nodes do not inherit in µPuppet");
        }
        if node.matches.iter().any(|host| matches!(host, HostMatch::Regex(_))) {
            return outside(node.range, "µPuppet does not model how a regular expression matches a node");
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
        self.step("NODEMATCH", format!("nodeMatch({name}, Q): scope ({NODE_SCOPE}) s"), node.range);
        self.within("TOPSCOPE", "s →s in ::", node.range, |this| {
            this.scope(NODE_SCOPE, Vec::new(), &node.body, node.range)
        })
    }

    /// `scope α {s' ⊔ s}`, where s' are the assignments that DEF and merge put before the body.
    fn scope(&mut self, scope: &str, given: Vec<Statement<'_>>, body: &Block, at: Range) -> Step<()> {
        let is_define = scope.ends_with(" def");
        let rule = if is_define { "DEFSCOPESTEP" } else { "SCOPESTEP" };
        let mut statements = given;
        statements.extend(body.iter().map(Statement::Written));
        if !statements.is_empty() {
            self.within(rule, format!("scope ({scope})"), at, |this| {
                this.sequence(["SEQSTEP", "SEQSKIP"], &statements, |this, one| {
                    this.made_statement(one, scope)
                })
            })?;
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

    fn made_statement(&mut self, statement: &Statement<'_>, scope: &str) -> Step<()> {
        match statement {
            Statement::Written(statement) => self.statement(statement, scope),
            Statement::Given { name, value, at } => self.assign(name, value.clone(), scope, *at),
            Statement::Default { name, value, at } => {
                let value = self.evaluate_in("ASSIGNSTEP", &format!("${name} = e"), value, scope)?;
                self.assign(name, value, scope, *at)
            }
        }
    }

    fn statement(&mut self, statement: &Expr, scope: &str) -> Step<()> {
        let at = statement.range;
        match &statement.kind {
            ExprKind::Assign { op: AssignOp::Set, target, value } => {
                let ExprKind::Variable(name) = &target.kind else {
                    return outside(at, "only a variable is assigned to in µPuppet");
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
                outside(at, "`unless` has no `else` in µPuppet")
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
                    return outside(type_name.range, "the type of a resource is written out in µPuppet");
                };
                self.sequence(["SEQSTEP", "SEQSKIP"], bodies, |this, body| {
                    this.declaration(kind.as_str(), body, scope)
                })
            }
            ExprKind::Call(call) => match (&call.function.kind, call.arguments.as_slice(), &call.lambda) {
                (ExprKind::Name(name), arguments, None) if name.as_str() == "include" => {
                    self.sequence(["SEQSTEP", "SEQSKIP"], arguments, |this, argument| {
                        this.include(&class_name(argument)?, scope, argument.range)
                    })
                }
                _ => outside(at, "µPuppet has no functions"),
            },
            ExprKind::Class(_) | ExprKind::Define(_) | ExprKind::Node(_) => {
                outside(at, "definitions stand at the top level in µPuppet")
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
            return self.declare_class(&class_name(&body.title)?, body, scope);
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
        let mut given = vec![Statement::Given { name: "title", value: Value::String(title), at: body.range }];
        given.extend(merge(&define.parameters, &attributes, body.range)?);
        let what =
            format!("κ({kind}) = ResourceDef(ρ, s): scope ({inner}) {{$title = w ⊔ merge(ρ, v_H) ⊔ s}}");
        self.within("DEF", what, body.range, |this| this.scope(&inner, given, &define.body, body.range))
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
                return outside(attribute.range, "attributes are `name => value` in µPuppet");
            };
            let value = self.evaluate_in(rule, &format!("{name} => e"), value, scope)?;
            attributes.push((name.to_string(), value));
        }
        Ok(attributes)
    }

    fn include(&mut self, name: &str, scope: &str, at: Range) -> Step<()> {
        match self.definitions.get(name).cloned() {
            Some(Definition::Declared(parent)) => {
                self.step("INCD", format!("κ({name}) = DeclaredClass({parent}): skip"), at);
                Ok(())
            }
            Some(Definition::Class(class)) => {
                if self.include_parent("INCPU", "include", &class, scope, at)? {
                    return self.include(name, scope, at);
                }
                self.enter_class(&class, &[], ["INCU", "INCPD"], scope, at)
            }
            _ => undefined(name, at),
        }
    }

    fn declare_class(&mut self, name: &str, body: &ResourceBody, scope: &str) -> Step<()> {
        let given = match self.definitions.get(name) {
            Some(Definition::Class(_)) => self.attributes("CDECSTEP", body, scope)?,
            _ => Vec::new(),
        };
        self.declare_class_with(name, &given, scope, body.range)
    }

    /// `class {a : v_H}`
    fn declare_class_with(
        &mut self,
        name: &str,
        given: &[(String, Value)],
        scope: &str,
        at: Range,
    ) -> Step<()> {
        match self.definitions.get(name).cloned() {
            Some(Definition::Class(class)) => {
                if self.include_parent("CDECPU", "class", &class, scope, at)? {
                    return self.declare_class_with(name, given, scope, at);
                }
                self.enter_class(&class, given, ["CDECU", "CDECPD"], scope, at)
            }
            Some(Definition::Declared(_)) => {
                stuck(at, format!("class {name} is declared already, and no rule lets it be again"))
            }
            _ => undefined(name, at),
        }
    }

    /// INCPU and CDECPU: a parent that is not declared comes first, and then the same statement again, since the parent may have
    /// declared the class. Says whether there was one.
    fn include_parent(
        &mut self,
        rule: &str,
        rest: &str,
        class: &ClassDef,
        scope: &str,
        at: Range,
    ) -> Step<bool> {
        let Some((parent, _)) = &class.parent else { return Ok(false) };
        match self.definitions.get(parent.as_str()) {
            Some(Definition::Class(_)) => {
                let what = format!("κ({parent}) = ClassDef: include {parent} {rest} {}", class.name);
                self.step(rule, what, at);
                self.within("SEQSTEP", "s1 s2", at, |this| this.include(parent.as_str(), scope, at))?;
                self.step("SEQSKIP", "skip s2", at);
                Ok(true)
            }
            Some(Definition::Declared(_)) => Ok(false),
            _ => undefined(parent.as_str(), at),
        }
    }

    /// INCU, INCPD, CDECU and CDECPD: a class that is not declared, without a parent or with one that is.
    fn enter_class(
        &mut self,
        class: &Arc<ClassDef>,
        given: &[(String, Value)],
        [without, declared]: [&str; 2],
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
            // INCPD takes the scope of the parent; CDECPD as the paper prints it takes the parent's own, which PCLASS contradicts.
            Some((parent, _)) => (declared, format!("::{parent}"), String::new()),
        };
        let assignments = merge(&class.parameters, given, at)?;
        let before = Some(class_text(class));
        let after = format!("DeclaredClass({parent})");
        self.definitions.insert(name.clone(), Definition::Declared(parent));
        let change = Change { store: "κ", at: name.clone(), before, after: Some(after) };
        let given = if rule.starts_with("INC") { "ε" } else { "v_H" };
        self.change(rule, format!("scope (::{name}) {{merge(ρ, {given}) ⊔ s}}{why}"), at, change);
        self.scope(&format!("::{name}"), assignments, &class.body, at)
    }

    /// α baseof β, with the rules that lead there: BTOP, BNODE, BDEFRES and BCLASS.
    fn base_of(&self, scope: &str) -> (String, String) {
        let mut scope = scope.to_owned();
        let mut rules = Vec::new();
        // A scope is nested in scopes that were there before it.
        for _ in 0..=MAX_DEPTH.get() {
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
        rules.push(if scope == NODE_SCOPE { "BNODE" } else { "BTOP" });
        (scope, rules.join(" "))
    }

    /// β parentof α, with the rules that lead there: PNODE, PDEFRES and PCLASS.
    pub(crate) fn parent_of(&self, scope: &str) -> Option<(String, String)> {
        match scope {
            "::" => None,
            NODE_SCOPE => Some(("::".to_owned(), "PNODE".to_owned())),
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

fn undefined<T>(class: &str, at: Range) -> Step<T> {
    stuck(at, format!("class {class} is not in dom(κ): it must be defined before it is declared"))
}

fn class_name(expr: &Expr) -> Step<String> {
    match &expr.kind {
        ExprKind::Name(name) => Ok(name.as_str().trim_start_matches("::").to_owned()),
        ExprKind::String(name) => Ok(name.trim_start_matches("::").to_owned()),
        _ => outside(expr.range, "a class is named by a word in µPuppet"),
    }
}

/// A statement of a body, or an assignment that DEF or merge puts before one.
enum Statement<'p> {
    Written(&'p Expr),
    Given { name: &'p str, value: Value, at: Range },
    Default { name: &'p str, value: &'p Expr, at: Range },
}

/// Where the source says it.
trait Placed {
    fn place(&self) -> Range;
}

impl Placed for Expr {
    fn place(&self) -> Range {
        self.range
    }
}

impl Placed for ResourceBody {
    fn place(&self) -> Range {
        self.range
    }
}

impl Placed for Statement<'_> {
    fn place(&self) -> Range {
        match self {
            Self::Written(statement) => statement.range,
            Self::Given { at, .. } | Self::Default { at, .. } => *at,
        }
    }
}

/// merge(ρ, v_H): assignments of what is given, or of defaults, to the parameters. It looks at the parameters alone: what is
/// given besides has no effect, where Puppet refuses it. Without a value for each parameter it is undefined, and so
/// the rule that asks for it does not apply.
fn merge<'p>(parameters: &'p [Parameter], given: &[(String, Value)], at: Range) -> Step<Vec<Statement<'p>>> {
    let mut assignments = Vec::new();
    for Parameter { name, type_expr, default, range, .. } in parameters {
        let name = name.as_str();
        if let Some(of_type) = type_expr {
            let why = format!("the parameter {name} has a type, and µPuppet has none to check");
            return outside(of_type.range, why);
        }
        assignments.push(match (given.iter().find(|(given, _)| given == name), default) {
            (Some((_, value)), _) => Statement::Given { name, value: value.clone(), at: *range },
            (None, Some(value)) => Statement::Default { name, value, at: *range },
            (None, None) => {
                return stuck(at, format!("merge is undefined: the parameter {name} has no value"));
            }
        });
    }
    Ok(assignments)
}
