//! The obligations of a proof as SMT-LIB 2.6, with their quantifiers, for any solver to confirm.
//!
//! Every `check-sat` of the file must answer `unsat`. The text is written from the model and the proof's results
//! (invariants, measure, uses of the cyclic dependency lemma) alone; it shares nothing with the encoding by which the
//! proof was found. Classes may be empty: each sort has a predicate that says which of its elements are objects.

use std::fmt::Write;

use setpoint_source::Symbol;

use crate::model::{Bound, ClassId, Edge, Effect, Formula, Model, ModelRule, NameSet, Term, TypeId};
use crate::parametric::{Counted, Measure, Minimal, Proof, none_nearer};

/// The certificate. It is complete if the proof's answer is yes; else the obligations that failed are in it as well,
/// and are not confirmed.
pub fn certificate(model: &Model, proof: &Proof) -> String {
    let mut writer = Writer { model, out: String::new(), next: 0 };
    writer.header(proof);
    writer.signature();
    writer.requirements();
    writer.initiation(proof);
    writer.consecution(proof);
    writer.start(proof);
    writer.progress(proof);
    if let Some(measure) = &proof.measure {
        writer.decrease(proof, measure);
    }
    writer.out
}

/// Which of the two states a formula is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    Before,
    After,
}

impl Time {
    fn mark(self) -> &'static str {
        match self {
            Self::Before => "",
            Self::After => "'",
        }
    }
}

struct Writer<'m> {
    model: &'m Model,
    out: String,
    next: usize,
}

/// The names of variables in sight.
type Names = Vec<(usize, ClassId, String)>;

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn header(&mut self, proof: &Proof) {
        let _ = writeln!(
            self.out,
            "; Obligations of {}: {} conditions, {} invariants. Every answer is unsat.",
            self.model.name,
            proof.conditions.len(),
            proof.invariants.len()
        );
        self.line("(set-logic ALL)");
    }

    fn sort(&self, class: ClassId) -> String {
        format!("|{}|", self.model.class(class).name)
    }

    fn member(&self, class: ClassId, object: &str) -> String {
        format!("(|in {}| {object})", self.model.class(class).name)
    }

    fn signature(&mut self) {
        for class in self.model.class_ids() {
            let declared = self.model.class(class);
            let name = declared.name;
            let _ =
                writeln!(self.out, "(declare-sort |{name}| 0)\n(declare-fun |in {name}| (|{name}|) Bool)");
            self.enumeration(&format!("{name} state"), &declared.states);
            self.enumeration(&format!("{name} type"), &declared.types);
            if !declared.states.is_empty() {
                let _ = writeln!(self.out, "(declare-fun |state of {name}| (|{name}|) |{name} state|)");
            }
            if !declared.types.is_empty() {
                let _ = writeln!(self.out, "(declare-fun |type of {name}| (|{name}|) |{name} type|)");
            }
            for message in &declared.messages {
                let _ = writeln!(
                    self.out,
                    "(declare-fun |{message} at {name}| (|{name}|) Int)\n(assert (forall ((x |{name}|)) (>= (|{message} at {name}| x) 0)))"
                );
            }
        }
        for class in self.model.class_ids().filter(|&class| self.model.class(class).ordered) {
            self.order(class);
        }
        for class in self.model.class_ids() {
            for link in &self.model.class(class).links {
                let (from, to) = (self.sort(class), self.sort(link.target));
                let function = self.link_name(class, &link.name);
                let (in_from, in_to) =
                    (self.member(class, "x"), self.member(link.target, &format!("({function} x)")));
                let _ = writeln!(
                    self.out,
                    "(declare-fun {function} ({from}) {to})\n(assert (forall ((x {from})) (=> {in_from} {in_to})))"
                );
                if link.one_to_one {
                    let in_other = self.member(class, "y");
                    let _ = writeln!(
                        self.out,
                        "(assert (forall ((x {from}) (y {from})) (=> (and {in_from} {in_other} (= ({function} x) ({function} y))) (= x y))))"
                    );
                }
                if link.onto {
                    let inverse = format!("|inverse of {} of {}|", link.name, self.model.class(class).name);
                    let in_target = self.member(link.target, "y");
                    let in_source = self.member(class, &format!("({inverse} y)"));
                    let _ = writeln!(
                        self.out,
                        "(declare-fun {inverse} ({to}) {from})\n(assert (forall ((y {to})) (=> {in_target} (and {in_source} (= ({function} ({inverse} y)) y)))))"
                    );
                }
            }
        }
    }

    /// A strict total order of the objects of a class.
    fn order(&mut self, class: ClassId) {
        let name = self.model.class(class).name;
        let (sort, [x, y, z]) = (self.sort(class), ["x", "y", "z"].map(|object| self.member(class, object)));
        let _ = writeln!(
            self.out,
            "(declare-fun |before of {name}| ({sort} {sort}) Bool)
(assert (forall ((x {sort})) (not (|before of {name}| x x))))
(assert (forall ((x {sort}) (y {sort}) (z {sort})) (=> (and {x} {y} {z} (|before of {name}| x y) (|before of {name}| y z)) (|before of {name}| x z))))
(assert (forall ((x {sort}) (y {sort})) (=> (and {x} {y}) (or (= x y) (|before of {name}| x y) (|before of {name}| y x)))))"
        );
    }

    fn enumeration(&mut self, sort: &str, names: &[Symbol]) {
        if names.is_empty() {
            return;
        }
        let values: Vec<String> = names.iter().map(|name| format!("(|{sort} {name}|)")).collect();
        let _ = writeln!(self.out, "(declare-datatypes ((|{sort}| 0)) (({})))", values.join(" "));
    }

    fn link_name(&self, class: ClassId, link: &str) -> String {
        format!("|{link} of {}|", self.model.class(class).name)
    }

    fn requirements(&mut self) {
        let claims =
            self.model.requires.iter().chain(self.model.init.iter().filter(|c| c.formula.is_static()));
        let texts: Vec<String> = claims
            .map(|claim| claim.formula.clone())
            .collect::<Vec<_>>()
            .iter()
            .map(|formula| self.formula(formula, &Names::new(), Time::Before))
            .collect();
        for text in texts {
            let _ = writeln!(self.out, "(assert {text})");
        }
    }

    fn assert(&mut self, text: &str) {
        let _ = writeln!(self.out, "(assert {text})");
    }

    /// One obligation: what is written by `body` has no model.
    fn obligation(&mut self, name: &str, body: impl FnOnce(&mut Self)) {
        let _ = writeln!(self.out, "\n; {name}\n(push 1)");
        body(self);
        self.line("(check-sat)\n(pop 1)");
    }

    fn assume_init(&mut self) {
        let texts: Vec<String> = self
            .model
            .init
            .iter()
            .filter(|claim| !claim.formula.is_static())
            .map(|claim| claim.formula.clone())
            .collect::<Vec<_>>()
            .iter()
            .map(|formula| self.formula(formula, &Names::new(), Time::Before))
            .collect();
        for text in texts {
            self.assert(&text);
        }
        for class in self.model.class_ids() {
            let name = self.model.class(class).name;
            for message in &self.model.class(class).messages {
                let _ =
                    writeln!(self.out, "(assert (forall ((x |{name}|)) (= (|{message} at {name}| x) 0)))");
            }
        }
    }

    /// The inferred invariants, and the stated ones that are proved.
    fn invariants(&self, proof: &Proof) -> Vec<Formula> {
        let mut out = proof.invariants.clone();
        for (stated, invariant) in proof.stated.iter().zip(&self.model.invariants) {
            if stated.answer.is_proved() {
                out.extend(invariant.claims.iter().map(|claim| claim.formula.clone()));
            }
        }
        out
    }

    fn assume_invariants(&mut self, proof: &Proof, time: Time) {
        for invariant in self.invariants(proof) {
            let text = self.formula(&invariant, &Names::new(), time);
            self.assert(&text);
        }
    }

    fn initiation(&mut self, proof: &Proof) {
        for (at, invariant) in self.invariants(proof).iter().enumerate() {
            self.obligation(&format!("(4) invariant {} holds at the start", at + 1), |this| {
                this.assume_init();
                let text = this.formula(invariant, &Names::new(), Time::Before);
                this.assert(&format!("(not {text})"));
            });
        }
    }

    fn consecution(&mut self, proof: &Proof) {
        let model = self.model;
        let invariants = self.invariants(proof);
        for rule in &model.rules {
            for (at, invariant) in invariants.iter().enumerate() {
                if !touches(rule, invariant) {
                    continue;
                }
                self.obligation(&format!("(5) rule {} keeps invariant {}", rule.name, at + 1), |this| {
                    this.assume_invariants(proof, Time::Before);
                    let names = this.parameters(rule);
                    this.fire(rule, &names);
                    let text = this.formula(invariant, &Names::new(), Time::After);
                    this.assert(&format!("(not {text})"));
                });
            }
        }
    }

    fn start(&mut self, proof: &Proof) {
        let literal = proof.conditions.iter().any(|c| c.number == 1 && c.statement == "init → cont");
        self.obligation("(1) some rule applies at the start, or it is final", |this| {
            this.assume_init();
            this.assume_invariants(proof, Time::Before);
            if !literal {
                this.not_final(Time::Before);
            }
            this.no_rule_applies(Time::Before);
            let uses = if proof.at_start.is_empty() { &proof.minimal } else { &proof.at_start };
            this.minimal_elements(uses, Time::Before);
        });
    }

    /// Progress wherever the invariants hold; or, where that much was not shown, after one step of each rule.
    fn progress(&mut self, proof: &Proof) {
        let Some(after_rules) = &proof.after_rules else {
            return self.obligation(
                "(2) where the invariants hold, some rule applies or the state is final",
                |this| {
                    this.assume_invariants(proof, Time::Before);
                    this.not_final(Time::Before);
                    this.no_rule_applies(Time::Before);
                    this.minimal_elements(&proof.minimal, Time::Before);
                },
            );
        };
        let model = self.model;
        for (rule, uses) in model.rules.iter().zip(after_rules) {
            let name = format!("(2) after rule {} some rule applies or the state is final", rule.name);
            self.obligation(&name, |this| {
                this.assume_invariants(proof, Time::Before);
                this.not_final(Time::Before);
                let names = this.parameters(rule);
                this.fire(rule, &names);
                // They hold again, by (5).
                this.assume_invariants(proof, Time::After);
                this.not_final(Time::After);
                this.no_rule_applies(Time::After);
                this.minimal_elements(uses, Time::After);
            });
        }
    }

    fn not_final(&mut self, time: Time) {
        let text = self.formula(&self.model.final_formula(), &Names::new(), time);
        self.assert(&format!("(not {text})"));
    }

    fn no_rule_applies(&mut self, time: Time) {
        let model = self.model;
        for rule in &model.rules {
            let names: Names = rule
                .parameters
                .iter()
                .map(|bound| (bound.var, bound.class, format!("|{}|", bound.name)))
                .collect();
            let applies = self.applies(rule, &names, time);
            let binders: Vec<String> =
                names.iter().map(|(_, class, name)| format!("({name} {})", self.sort(*class))).collect();
            let members: Vec<String> =
                names.iter().map(|(_, class, name)| self.member(*class, name)).collect();
            if binders.is_empty() {
                self.assert(&format!("(not {applies})"));
            } else {
                let inside = and(&members);
                self.assert(&format!("(forall ({}) (not (and {inside} {applies})))", binders.join(" ")));
            }
        }
    }

    /// When a rule applies: its guards, its messages, and effects that agree.
    fn applies(&mut self, rule: &ModelRule, names: &Names, time: Time) -> String {
        let mut parts: Vec<String> =
            rule.guards.iter().map(|guard| self.formula(&guard.formula, names, time)).collect();
        for (at, one) in rule.effects.iter().enumerate() {
            if let Effect::Loses(term, message) = one {
                // As many messages as this rule takes from the same object.
                let object = self.term(term, names);
                let count = self.message(term.class, *message, &object, time);
                let mut needed = vec!["1".to_owned()];
                for other in &rule.effects[..at] {
                    if let Effect::Loses(earlier, theirs) = other
                        && theirs == message
                        && earlier.class == term.class
                    {
                        needed.push(format!("(ite (= {} {object}) 1 0)", self.term(earlier, names)));
                    }
                }
                let sum =
                    if needed.len() == 1 { "1".to_owned() } else { format!("(+ {})", needed.join(" ")) };
                parts.push(format!("(>= {count} {sum})"));
            }
            for other in &rule.effects[..at] {
                if let (Effect::Becomes(left, a), Effect::Becomes(right, b)) = (one, other)
                    && left.class == right.class
                    && a != b
                {
                    parts.push(format!("(not (= {} {}))", self.term(left, names), self.term(right, names)));
                }
            }
        }
        and(&parts)
    }

    fn parameters(&mut self, rule: &ModelRule) -> Names {
        let mut names = Names::new();
        for bound in &rule.parameters {
            let name = format!("|the {}|", bound.name);
            let (sort, member) = (self.sort(bound.class), self.member(bound.class, &name));
            let _ = writeln!(self.out, "(declare-const {name} {sort})\n(assert {member})");
            names.push((bound.var, bound.class, name));
        }
        names
    }

    /// The rule applies, and the primed functions are the state after it.
    fn fire(&mut self, rule: &ModelRule, names: &Names) {
        let applies = self.applies(rule, names, Time::Before);
        self.assert(&applies);
        for class in self.model.class_ids() {
            let declared = self.model.class(class);
            let name = declared.name;
            if !declared.states.is_empty() {
                let mut value = format!("(|state of {name}| x)");
                for effect in &rule.effects {
                    if let Effect::Becomes(term, state) = effect
                        && term.class == class
                    {
                        let object = self.term(term, names);
                        let new = declared.states[*state as usize];
                        value = format!("(ite (= x {object}) |{name} state {new}| {value})");
                    }
                }
                let _ = writeln!(
                    self.out,
                    "(define-fun |state of {name}'| ((x |{name}|)) |{name} state| {value})"
                );
            }
            for (message, called) in declared.messages.iter().enumerate() {
                let mut value = format!("(|{called} at {name}| x)");
                for effect in &rule.effects {
                    let (term, sign) = match effect {
                        Effect::Gets(term, sent) if *sent as usize == message => (term, "+"),
                        Effect::Loses(term, lost) if *lost as usize == message => (term, "-"),
                        _ => continue,
                    };
                    if term.class == class {
                        let object = self.term(term, names);
                        value = format!("({sign} {value} (ite (= x {object}) 1 0))");
                    }
                }
                let _ = writeln!(self.out, "(define-fun |{called} at {name}'| ((x |{name}|)) Int {value})");
            }
        }
    }

    /// Of the objects in a set, if there are any, one has no edge of an acyclic relation to another of them.
    fn minimal_elements(&mut self, uses: &[Minimal], time: Time) {
        for (at, minimal) in uses.iter().enumerate() {
            let name = format!("|least {}|", at + 1);
            let sort = self.sort(minimal.class);
            let _ = writeln!(self.out, "(declare-const {name} {sort})");
            let inside = |this: &mut Self, object: &str| {
                let member = this.member(minimal.class, object);
                and(&[member, this.in_set(minimal, object, time)])
            };
            let (some, least) = (inside(self, "x"), inside(self, &name));
            self.assert(&format!("(forall ((x {sort})) (=> {some} {least}))"));
            if self.model.acyclic[minimal.relation].order.is_some() {
                let nearer = none_nearer(minimal.class, minimal.reversed, &minimal.set);
                let names: Names = vec![(0, minimal.class, name.clone())];
                let text = self.formula(&nearer, &names, time);
                self.assert(&text);
            }
            for &(edge, kind) in &minimal.edges {
                let edge = self.model.acyclic[minimal.relation].edges[edge].directed(minimal.reversed);
                self.no_edge(&edge, kind, &name, minimal, time);
            }
        }
    }

    fn in_set(&mut self, minimal: &Minimal, object: &str, time: Time) -> String {
        let names = vec![(0, minimal.class, object.to_owned())];
        self.formula(&minimal.set, &names, time)
    }

    fn no_edge(&mut self, edge: &Edge, kind: Option<TypeId>, least: &str, minimal: &Minimal, time: Time) {
        let maker = "k".to_owned();
        let names: Names = vec![(edge.bound.var, edge.bound.class, maker.clone())];
        let mut parts = vec![self.member(edge.bound.class, &maker), self.formula(&edge.filter, &names, time)];
        if let Some(kind) = kind {
            parts.push(self.of_types(edge.bound.class, &maker, NameSet::one(kind)));
        }
        parts.push(format!("(= {} {least})", self.term(&edge.from, &names)));
        let target = self.term(&edge.to, &names);
        parts.push(self.in_set(minimal, &target, time));
        let sort = self.sort(edge.bound.class);
        self.assert(&format!("(forall (({maker} {sort})) (not {}))", and(&parts)));
    }

    /// The weights of what a rule takes away are more than those of what it puts there.
    fn decrease(&mut self, proof: &Proof, measure: &Measure) {
        let model = self.model;
        for rule in &model.rules {
            self.obligation(&format!("(3) rule {} decreases the measure", rule.name), |this| {
                this.assume_invariants(proof, Time::Before);
                if measure.until_final {
                    this.not_final(Time::Before);
                }
                let names = this.parameters(rule);
                this.fire(rule, &names);
                let changes: Vec<String> =
                    (0..measure.sums.len()).map(|sum| this.change(rule, &names, measure, sum)).collect();
                let mut cases = Vec::new();
                for (at, change) in changes.iter().enumerate() {
                    let mut parts: Vec<String> =
                        changes[..at].iter().map(|same| format!("(= {same} 0)")).collect();
                    parts.push(format!("(< {change} 0)"));
                    cases.push(and(&parts));
                }
                this.assert(&format!("(not (or {} false))", cases.join(" ")));
            });
        }
    }

    /// How one sum of the measure changes with a rule; an object that is named twice counts once.
    fn change(&mut self, rule: &ModelRule, names: &Names, measure: &Measure, sum: usize) -> String {
        let weight = |counted: Counted| measure.sums[sum].get(&counted).copied().unwrap_or(0);
        let mut parts = vec!["0".to_owned()];
        let mut counted: Vec<(ClassId, String)> = Vec::new();
        for effect in &rule.effects {
            let object = self.term(effect.term(), names);
            let class = effect.term().class;
            match effect {
                Effect::Becomes(_, state) => {
                    let repeated: Vec<String> = counted
                        .iter()
                        .filter(|(other, _)| *other == class)
                        .map(|(_, other)| format!("(= {other} {object})"))
                        .collect();
                    let states = &self.model.class(class).states;
                    let name = self.model.class(class).name;
                    let mut old = "0".to_owned();
                    for (at, called) in states.iter().enumerate() {
                        let heavy = weight(Counted::State(class, at as u8));
                        old = format!(
                            "(ite (= (|state of {name}| {object}) |{name} state {called}|) {heavy} {old})"
                        );
                    }
                    let new = weight(Counted::State(class, *state));
                    let difference = format!("(- {new} {old})");
                    parts.push(if repeated.is_empty() {
                        difference
                    } else {
                        format!("(ite (or {}) 0 {difference})", repeated.join(" "))
                    });
                    counted.push((class, object));
                }
                Effect::Gets(_, message) => parts.push(weight(Counted::Message(class, *message)).to_string()),
                Effect::Loses(_, message) => {
                    parts.push(format!("(- 0 {})", weight(Counted::Message(class, *message))));
                }
            }
        }
        format!("(+ {})", parts.join(" "))
    }

    // Formulas.

    fn term(&self, term: &Term, names: &Names) -> String {
        let Some((_, class, name)) = names.iter().rev().find(|(var, ..)| *var == term.var) else {
            return "unknown".to_owned();
        };
        let (mut class, mut text) = (*class, name.clone());
        for &link in &term.path {
            let declared = &self.model.class(class).links[link];
            text = format!("({} {text})", self.link_name(class, &declared.name));
            class = declared.target;
        }
        text
    }

    fn in_states(&self, class: ClassId, object: &str, states: NameSet, time: Time) -> String {
        let declared = self.model.class(class);
        let name = declared.name;
        let cases: Vec<String> = states
            .iter()
            .filter_map(|state| declared.states.get(state as usize))
            .map(|state| format!("(= (|state of {name}{}| {object}) |{name} state {state}|)", time.mark()))
            .collect();
        or(&cases)
    }

    fn of_types(&self, class: ClassId, object: &str, types: NameSet) -> String {
        let declared = self.model.class(class);
        let name = declared.name;
        let cases: Vec<String> = types
            .iter()
            .filter_map(|kind| declared.types.get(kind as usize))
            .map(|kind| format!("(= (|type of {name}| {object}) |{name} type {kind}|)"))
            .collect();
        or(&cases)
    }

    fn message(&self, class: ClassId, message: u8, object: &str, time: Time) -> String {
        let declared = self.model.class(class);
        format!("(|{} at {}{}| {object})", declared.messages[message as usize], declared.name, time.mark())
    }

    fn formula(&mut self, formula: &Formula, names: &Names, time: Time) -> String {
        match formula {
            Formula::Constant(value) => value.to_string(),
            Formula::Not(inner) => format!("(not {})", self.formula(inner, names, time)),
            Formula::And(parts) => and(&self.formulas(parts, names, time)),
            Formula::Or(parts) => or(&self.formulas(parts, names, time)),
            Formula::All { bound, filter, body } => {
                self.quantified("forall", "=>", bound, filter, body, names, time)
            }
            Formula::Some { bound, filter, body } => {
                self.quantified("exists", "and", bound, filter, body, names, time)
            }
            Formula::InStates(term, states) => {
                let object = self.term(term, names);
                self.in_states(term.class, &object, *states, time)
            }
            Formula::OfTypes(term, types) => {
                let object = self.term(term, names);
                self.of_types(term.class, &object, *types)
            }
            Formula::SameType(left, right) => {
                let (one, other) = (self.model.class(left.class), self.model.class(right.class));
                let (left_text, right_text) = (self.term(left, names), self.term(right, names));
                let cases: Vec<String> = one
                    .types
                    .iter()
                    .filter(|kind| other.types.contains(kind))
                    .map(|kind| {
                        format!(
                            "(and (= (|type of {}| {left_text}) |{} type {kind}|) (= (|type of {}| {right_text}) |{} type {kind}|))",
                            one.name, one.name, other.name, other.name
                        )
                    })
                    .collect();
                or(&cases)
            }
            Formula::Equal(left, right) => {
                format!("(= {} {})", self.term(left, names), self.term(right, names))
            }
            Formula::Before(left, right) => {
                let name = self.model.class(left.class).name;
                format!("(|before of {name}| {} {})", self.term(left, names), self.term(right, names))
            }
            Formula::Has(term, message) => {
                let object = self.term(term, names);
                format!("(>= {} 1)", self.message(term.class, *message, &object, time))
            }
            Formula::HasSeveral(term, message) => {
                let object = self.term(term, names);
                format!("(>= {} 2)", self.message(term.class, *message, &object, time))
            }
        }
    }

    fn formulas(&mut self, parts: &[Formula], names: &Names, time: Time) -> Vec<String> {
        parts.iter().map(|part| self.formula(part, names, time)).collect()
    }

    #[allow(clippy::too_many_arguments)]
    fn quantified(
        &mut self,
        quantifier: &str,
        connective: &str,
        bound: &Bound,
        filter: &Formula,
        body: &Formula,
        names: &Names,
        time: Time,
    ) -> String {
        self.next += 1;
        let name = format!("x{}", self.next);
        let mut inner = names.clone();
        inner.push((bound.var, bound.class, name.clone()));
        let filter = self.formula(filter, &inner, time);
        let body = self.formula(body, &inner, time);
        let member = self.member(bound.class, &name);
        let sort = self.sort(bound.class);
        format!("({quantifier} (({name} {sort})) ({connective} {} {body}))", and(&[member, filter]))
    }
}

/// Whether a rule can change what a formula speaks of.
fn touches(rule: &ModelRule, formula: &Formula) -> bool {
    let mut found = false;
    formula.terms(&mut |term| found |= rule.effects.iter().any(|effect| effect.term().class == term.class));
    found
}

fn and(parts: &[String]) -> String {
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| *part != "true").collect();
    match parts[..] {
        [] => "true".to_owned(),
        [only] => only.to_owned(),
        _ => format!("(and {})", parts.join(" ")),
    }
}

fn or(parts: &[String]) -> String {
    match parts {
        [] => "false".to_owned(),
        [only] => only.clone(),
        _ => format!("(or {})", parts.join(" ")),
    }
}
