//! A model and an instance put together: cells, and every binding of every rule that links and types allow.

use setpoint_source::{Diagnostic, Limit, Rule, Span};

use super::eval::{Evaluator, Quantifier, compile, quantifiers};
use crate::instance::{Instance, ObjectId};
use crate::model::{ClassId, Effect, Formula, LinkId, MessageId, Model, NameSet, StateId, Term, VarId};

/// A place whose value can change: the state of an object, or the number of one of its messages.
pub type Cell = u32;

/// The value of every cell.
pub type State = Box<[u8]>;

/// More bindings than this are refused: a rule over several unrelated objects multiplies them.
const MAX_STEPS: Limit = Limit::new(20_000_000);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    Set(u8),
    Add(u8),
    Subtract(u8),
}

/// A rule with its parameters bound to objects.
#[derive(Clone, Debug)]
pub struct Step {
    pub rule: usize,
    pub binding: Vec<ObjectId>,
    /// What it does, in this order; what is lost of a message comes before what is got.
    pub writes: Vec<(Cell, Write)>,
    /// What must hold of single cells for it to be enabled.
    pub(super) tests: Vec<Test>,
}

/// A condition on one cell. Guards are mostly conjunctions of these, once the objects are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    In(Cell, NameSet),
    AtLeast(Cell, u8),
    AtMost(Cell, u8),
    /// No state satisfies it; the cell is one of the step's, to have a place to wait at.
    Never(Cell),
}

impl Test {
    pub(super) fn holds(self, state: &[u8]) -> bool {
        match self {
            Self::In(cell, states) => states.contains(state[cell as usize]),
            Self::AtLeast(cell, count) => state[cell as usize] >= count,
            Self::AtMost(cell, count) => state[cell as usize] <= count,
            Self::Never(_) => false,
        }
    }

    pub(super) fn cell(self) -> Cell {
        match self {
            Self::In(cell, _) | Self::AtLeast(cell, _) | Self::AtMost(cell, _) | Self::Never(cell) => cell,
        }
    }
}

/// Everything that a run reads, and nothing that it changes.
#[derive(Debug)]
pub struct Ground<'a> {
    pub model: &'a Model,
    pub instance: &'a Instance,
    pub steps: Vec<Step>,
    pub start: State,
    /// What the instance breaks of the model's `require`, `init` and link shapes. If there is any, nothing that
    /// was proved about the model holds for the instance.
    pub malformed: Vec<Diagnostic>,
    pub(super) layout: Layout,
    /// The guards of each rule that can change, negations pushed inwards.
    pub(super) guards: Vec<Vec<Formula>>,
    /// Of each rule those guards that are not made of tests of single cells.
    pub(super) other_guards: Vec<Vec<Formula>>,
    pub(super) final_formula: Formula,
}

/// Where the cells of objects are, and who links to whom.
#[derive(Debug)]
pub(super) struct Layout {
    members: Vec<Vec<ObjectId>>,
    /// For each class and link: for each object, those that link to it.
    incoming: Vec<Vec<Vec<Vec<ObjectId>>>>,
    message_base: Vec<Cell>,
    cells: usize,
}

impl Layout {
    fn new(model: &Model, instance: &Instance) -> Self {
        let mut members = vec![Vec::new(); model.classes.len()];
        let mut incoming: Vec<Vec<Vec<Vec<ObjectId>>>> = model
            .classes
            .iter()
            .map(|class| class.links.iter().map(|_| vec![Vec::new(); instance.objects.len()]).collect())
            .collect();
        let mut message_base = Vec::with_capacity(instance.objects.len());
        let mut cells = instance.objects.len();
        for (id, object) in instance.ids().zip(&instance.objects) {
            let class = object.class.0 as usize;
            members[class].push(id);
            for (link, target) in object.links.iter().enumerate() {
                incoming[class][link][target.target.index()].push(id);
            }
            message_base.push(cells as Cell);
            cells += model.classes[class].messages.len();
        }
        Self { members, incoming, message_base, cells }
    }

    pub(super) fn members(&self, class: ClassId) -> &[ObjectId] {
        &self.members[class.0 as usize]
    }

    /// The objects of a class whose link leads to `target`.
    pub(super) fn incoming(&self, class: ClassId, link: LinkId, target: ObjectId) -> &[ObjectId] {
        &self.incoming[class.0 as usize][link][target.index()]
    }

    pub(super) fn message_cell(&self, object: ObjectId, message: MessageId) -> Cell {
        self.message_base[object.index()] + Cell::from(message)
    }

    pub(super) fn state_cell(object: ObjectId) -> Cell {
        object.0
    }
}

/// What a cell stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellMeaning {
    StateOf(ObjectId),
    MessagesAt(ObjectId, MessageId),
}

/// A rule fits an instance in more ways than are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooManyBindings {
    pub rule: String,
}

impl TooManyBindings {
    fn of(rule: &crate::model::ModelRule) -> Self {
        Self { rule: rule.name.to_string() }
    }

    /// The finding that this limit ended the work.
    pub fn finding(&self, place: Option<Span>) -> Diagnostic {
        let message = format!("rule `{}` fits in more than {MAX_STEPS} ways here", self.rule);
        let mut finding = Diagnostic::new(Rule::LimitReached, message);
        finding.span = place;
        finding
    }
}

impl<'a> Ground<'a> {
    pub fn new(model: &'a Model, instance: &'a Instance) -> Result<Self, TooManyBindings> {
        let layout = Layout::new(model, instance);
        let mut start = vec![0; layout.cells].into_boxed_slice();
        for (cell, object) in instance.objects.iter().enumerate() {
            start[cell] = object.state.unwrap_or(0);
        }
        let mut ground = Self {
            model,
            instance,
            steps: Vec::new(),
            start,
            malformed: Vec::new(),
            layout,
            guards: Vec::new(),
            other_guards: Vec::new(),
            final_formula: compile(&model.final_formula()),
        };
        ground.bind_rules()?;
        ground.malformed = ground.well_formed();
        Ok(ground)
    }

    pub fn meaning(&self, cell: Cell) -> CellMeaning {
        if (cell as usize) < self.instance.objects.len() {
            return CellMeaning::StateOf(ObjectId(cell));
        }
        let owner = self.layout.message_base.partition_point(|&base| base <= cell) - 1;
        CellMeaning::MessagesAt(ObjectId(owner as u32), (cell - self.layout.message_base[owner]) as MessageId)
    }

    /// The cell of an object's local state.
    pub fn state_of(&self, state: &[u8], object: ObjectId) -> StateId {
        state[object.index()]
    }

    /// How many of a message wait at an object.
    pub fn messages_at(&self, state: &[u8], object: ObjectId, message: MessageId) -> u8 {
        state[self.layout.message_cell(object, message) as usize]
    }

    /// The object that links lead to.
    pub fn follow_path(&self, root: ObjectId, path: &[LinkId]) -> ObjectId {
        self.follow(root, path)
    }

    pub fn is_final(&self, state: &[u8]) -> bool {
        self.holds(&self.final_formula, state, &mut Vec::new())
    }

    /// Whether a formula without free variables holds; negations may stand anywhere.
    pub fn satisfies(&self, formula: &Formula, state: &[u8]) -> bool {
        self.holds(&compile(formula), state, &mut Vec::new())
    }

    pub(super) fn holds(&self, formula: &Formula, state: &[u8], env: &mut Vec<ObjectId>) -> bool {
        Evaluator { ground: self, state }.holds(formula, env)
    }

    pub fn enabled(&self, step: &Step, state: &[u8]) -> bool {
        step.tests.iter().all(|test| test.holds(state))
            && (self.other_guards[step.rule].is_empty() || {
                let mut env = step.binding.clone();
                self.other_guards[step.rule].iter().all(|guard| self.holds(guard, state, &mut env))
            })
    }

    /// The cells that the guards of a step read.
    pub(super) fn reads(&self, step: &Step, state: &[u8]) -> Vec<Cell> {
        let mut cells: Vec<Cell> = step.tests.iter().map(|test| test.cell()).collect();
        let mut env = step.binding.clone();
        for guard in &self.other_guards[step.rule] {
            Evaluator { ground: self, state }.cells(guard, &mut env, &mut cells);
        }
        cells
    }

    /// Whether a step would make more messages wait at one place than are counted. Whoever looks for runs stops
    /// there and says so.
    pub fn overflows(step: &Step, state: &[u8]) -> bool {
        step.writes.iter().any(|&(cell, write)| match write {
            Write::Add(count) => state[cell as usize].checked_add(count).is_none(),
            Write::Set(_) | Write::Subtract(_) => false,
        })
    }

    /// Whether an enabled step is one that overflows.
    pub fn is_crowded(&self, state: &[u8]) -> bool {
        self.steps.iter().any(|step| Self::overflows(step, state) && self.enabled(step, state))
    }

    /// Applies a step that is enabled and does not overflow.
    pub fn apply(step: &Step, state: &mut [u8]) {
        for &(cell, write) in &step.writes {
            let value = &mut state[cell as usize];
            *value = match write {
                Write::Set(new) => new,
                Write::Add(count) => value.saturating_add(count),
                Write::Subtract(count) => value.saturating_sub(count),
            };
        }
    }

    /// All enabled steps, in the order of rules and bindings.
    pub fn enabled_steps(&self, state: &[u8]) -> Vec<usize> {
        (0..self.steps.len()).filter(|&at| self.enabled(&self.steps[at], state)).collect()
    }

    fn bind_rules(&mut self) -> Result<(), TooManyBindings> {
        let model = self.model;
        for (rule, definition) in model.rules.iter().enumerate() {
            let mut conjuncts = Vec::new();
            for guard in &definition.guards {
                flatten(compile(&guard.formula), &mut conjuncts);
            }
            let (fixed, changing): (Vec<Formula>, Vec<Formula>) =
                conjuncts.into_iter().partition(Formula::is_static);
            let others = changing.iter().filter(|guard| !is_testable(guard)).cloned().collect();
            self.guards.push(changing);
            self.other_guards.push(others);
            let mut bindings = Vec::new();
            let mut partial = vec![None; definition.parameters.len()];
            self.bind(rule, &fixed, &mut partial, &mut bindings)?;
            bindings.sort();
            for binding in bindings {
                if let Some(writes) = self.writes(&definition.effects, &binding) {
                    let tests = self.tests(rule, &binding, &writes);
                    self.steps.push(Step { rule, binding, writes, tests });
                }
            }
            if self.steps.len() > MAX_STEPS {
                return Err(TooManyBindings::of(definition));
            }
        }
        Ok(())
    }

    /// Extends a partial binding by the parameter that has the fewest candidates, until all are bound.
    fn bind(
        &self,
        rule: usize,
        fixed: &[Formula],
        partial: &mut Vec<Option<ObjectId>>,
        out: &mut Vec<Vec<ObjectId>>,
    ) -> Result<(), TooManyBindings> {
        if out.len() > MAX_STEPS {
            return Err(TooManyBindings::of(&self.model.rules[rule]));
        }
        let Some((var, candidates)) = self.next_parameter(rule, fixed, partial) else {
            let mut env: Vec<ObjectId> = partial.iter().flatten().copied().collect();
            if fixed.iter().all(|guard| self.holds(guard, &self.start, &mut env)) {
                out.push(env);
            }
            return Ok(());
        };
        for candidate in candidates {
            partial[var] = Some(candidate);
            self.bind(rule, fixed, partial, out)?;
        }
        partial[var] = None;
        Ok(())
    }

    fn next_parameter(
        &self,
        rule: usize,
        fixed: &[Formula],
        partial: &[Option<ObjectId>],
    ) -> Option<(VarId, Vec<ObjectId>)> {
        let mut free = Vec::new();
        for bound in &self.model.rules[rule].parameters {
            if partial[bound.var].is_some() {
                continue;
            }
            for guard in fixed {
                if let Some(candidates) = self.candidates(guard, bound.var, bound.class, &|term| {
                    partial.get(term.var).copied().flatten().map(|root| self.follow(root, &term.path))
                }) {
                    return Some((bound.var, candidates));
                }
            }
            free.push(bound);
        }
        // None follows from the bound ones. Begin with one that others follow from.
        let determines = |var: VarId| {
            fixed
                .iter()
                .filter(|guard| {
                    matches!(guard, Formula::Equal(a, b)
                    if (a.var == var && b.path.is_empty()) || (b.var == var && a.path.is_empty()))
                })
                .count()
        };
        let first = free.iter().max_by_key(|bound| (determines(bound.var), std::cmp::Reverse(bound.var)))?;
        Some((first.var, self.layout.members(first.class).to_vec()))
    }

    /// The objects that an equation allows for `var`, if it is one between `var` and a known term.
    pub(super) fn candidates(
        &self,
        formula: &Formula,
        var: VarId,
        class: ClassId,
        known: &dyn Fn(&Term) -> Option<ObjectId>,
    ) -> Option<Vec<ObjectId>> {
        let Formula::Equal(left, right) = formula else { return None };
        let (mine, other) = match (left.var == var, right.var == var) {
            (true, false) => (left, right),
            (false, true) => (right, left),
            _ => return None,
        };
        let target = known(other)?;
        Some(self.sources(class, &mine.path, target))
    }

    /// The objects of `class` from which `path` leads to `target`.
    fn sources(&self, class: ClassId, path: &[LinkId], target: ObjectId) -> Vec<ObjectId> {
        let mut classes = vec![class];
        for &link in path {
            let last = classes[classes.len() - 1];
            classes.push(self.model.class(last).links[link].target);
        }
        let mut found = vec![target];
        for (&link, &from) in path.iter().zip(&classes).rev() {
            found = found.iter().flat_map(|&at| self.layout.incoming(from, link, at)).copied().collect();
        }
        found
    }

    pub(super) fn follow(&self, root: ObjectId, path: &[LinkId]) -> ObjectId {
        path.iter().fold(root, |at, &link| self.instance.link(at, link).target)
    }

    /// The conditions on single cells: messages that the step loses, and the guards that are made of such.
    fn tests(&self, rule: usize, binding: &[ObjectId], writes: &[(Cell, Write)]) -> Vec<Test> {
        let mut tests: Vec<Test> = writes
            .iter()
            .filter_map(|&(cell, write)| match write {
                Write::Subtract(count) => Some(Test::AtLeast(cell, count)),
                Write::Set(_) | Write::Add(_) => None,
            })
            .collect();
        let mut env = binding.to_vec();
        for guard in self.guards[rule].iter().filter(|guard| is_testable(guard)) {
            self.add_tests(guard, &mut env, &mut tests);
        }
        tests
    }

    fn add_tests(&self, formula: &Formula, env: &mut Vec<ObjectId>, out: &mut Vec<Test>) {
        let at = |term: &Term, env: &[ObjectId]| self.follow(env[term.var], &term.path);
        match formula {
            Formula::And(parts) => {
                for part in parts {
                    self.add_tests(part, env, out);
                }
            }
            Formula::InStates(term, set) => out.push(Test::In(Layout::state_cell(at(term, env)), *set)),
            Formula::Has(term, message) => {
                out.push(Test::AtLeast(self.layout.message_cell(at(term, env), *message), 1));
            }
            Formula::HasSeveral(term, message) => {
                out.push(Test::AtLeast(self.layout.message_cell(at(term, env), *message), 2));
            }
            Formula::Not(inner) => match &**inner {
                Formula::Has(term, message) => {
                    out.push(Test::AtMost(self.layout.message_cell(at(term, env), *message), 0));
                }
                Formula::HasSeveral(term, message) => {
                    out.push(Test::AtMost(self.layout.message_cell(at(term, env), *message), 1));
                }
                _ => self.add_fixed(formula, env, out),
            },
            Formula::Or(parts) => {
                // All parts but one are fixed.
                let fixed = parts.iter().filter(|part| part.is_static());
                if !fixed.clone().any(|part| self.holds(part, &self.start, env))
                    && let Some(part) = parts.iter().find(|part| !part.is_static())
                {
                    self.add_tests(part, env, out);
                }
            }
            Formula::All { bound, filter, body } => {
                let quantifier = Quantifier { bound, equations: quantifiers(filter) };
                let before = env.len();
                let candidates = self.quantified(&quantifier, env);
                env.resize(bound.var.max(before), ObjectId(0));
                for candidate in candidates {
                    env.truncate(bound.var);
                    env.push(candidate);
                    if self.holds(filter, &self.start, env) {
                        self.add_tests(body, env, out);
                    }
                }
                env.truncate(before);
            }
            _ => self.add_fixed(formula, env, out),
        }
    }

    /// What never changes is true or false once and for all.
    fn add_fixed(&self, formula: &Formula, env: &mut Vec<ObjectId>, out: &mut Vec<Test>) {
        if !self.holds(formula, &self.start, env) {
            out.push(Test::Never(env.first().map_or(0, |first| first.0)));
        }
    }

    /// The effects on cells; none if two of them disagree.
    fn writes(&self, effects: &[Effect], binding: &[ObjectId]) -> Option<Vec<(Cell, Write)>> {
        let mut writes: Vec<(Cell, Write)> = Vec::new();
        let mut sent: Vec<(Cell, u8, u8)> = Vec::new();
        for effect in effects {
            let term = effect.term();
            let object = self.follow(binding[term.var], &term.path);
            match *effect {
                Effect::Becomes(_, state) => {
                    let cell = Layout::state_cell(object);
                    match writes.iter().find(|(known, _)| *known == cell) {
                        Some((_, Write::Set(value))) if *value != state => return None,
                        Some(_) => {}
                        None => writes.push((cell, Write::Set(state))),
                    }
                }
                Effect::Gets(_, message) | Effect::Loses(_, message) => {
                    let cell = self.layout.message_cell(object, message);
                    let at = sent.iter().position(|(known, ..)| *known == cell).unwrap_or_else(|| {
                        sent.push((cell, 0, 0));
                        sent.len() - 1
                    });
                    if matches!(effect, Effect::Gets(..)) {
                        sent[at].1 += 1;
                    } else {
                        sent[at].2 += 1;
                    }
                }
            }
        }
        for (cell, gets, loses) in sent {
            // What is lost must be there before; what is got comes after.
            if loses > 0 {
                writes.push((cell, Write::Subtract(loses)));
            }
            if gets > 0 {
                writes.push((cell, Write::Add(gets)));
            }
        }
        Some(writes)
    }

    fn well_formed(&self) -> Vec<Diagnostic> {
        let mut out = Vec::new();
        for class in self.model.class_ids() {
            for (link, declared) in self.model.class(class).links.iter().enumerate() {
                self.check_shape(class, link, declared.one_to_one, declared.onto, &mut out);
            }
        }
        for claim in self.model.requires.iter().chain(&self.model.init) {
            if !self.satisfies(&claim.formula, &self.start) {
                let culprit = self.culprit(&claim.formula);
                let mut found = Diagnostic::new(
                    Rule::MalformedInstance,
                    match &culprit {
                        Some(object) => format!("{object} breaks what the rule set requires"),
                        None => "this instance breaks what the rule set requires".to_owned(),
                    },
                )
                .at(claim.span);
                found.resources.extend(culprit);
                out.push(found);
            }
        }
        out
    }

    /// The first relation of the model that is said to be acyclic and has a cycle here.
    pub fn cyclic_relation(&self) -> Option<usize> {
        self.model.acyclic.iter().position(|relation| {
            let mut edges: Vec<Vec<ObjectId>> = vec![Vec::new(); self.instance.objects.len()];
            for edge in &relation.edges {
                for &object in self.layout.members(edge.bound.class) {
                    let mut env = vec![object];
                    if self.holds(&compile(&edge.filter), &self.start, &mut env) {
                        let from = self.follow(object, &edge.from.path);
                        edges[from.index()].push(self.follow(object, &edge.to.path));
                    }
                }
            }
            has_cycle(&edges)
        })
    }

    /// The object for which a universal claim fails first.
    fn culprit(&self, formula: &Formula) -> Option<String> {
        let Formula::All { bound, filter, body } = compile(formula) else { return None };
        let mut env = vec![ObjectId(0); bound.var];
        self.layout.members(bound.class).iter().find_map(|&object| {
            env.push(object);
            let broken =
                self.holds(&filter, &self.start, &mut env) && !self.holds(&body, &self.start, &mut env);
            env.pop();
            broken.then(|| self.instance.object(object).id.clone())
        })
    }

    fn check_shape(
        &self,
        class: ClassId,
        link: LinkId,
        one_to_one: bool,
        onto: bool,
        out: &mut Vec<Diagnostic>,
    ) {
        let declared = &self.model.class(class).links[link];
        let (name, sources) = (declared.name, &self.model.class(class).name);
        for &target in self.layout.members(declared.target) {
            let linked = self.layout.incoming(class, link, target);
            let target = self.instance.object(target);
            if onto && linked.is_empty() {
                let message =
                    format!("no {sources} has `{}` as its {name}, and the rule set requires one", target.id);
                let mut found =
                    Diagnostic::new(Rule::MalformedInstance, message).with_resources([target.id.clone()]);
                found.span = target.span;
                out.push(found);
            }
            if one_to_one && linked.len() > 1 {
                let ids: Vec<String> = linked.iter().map(|&id| self.instance.object(id).id.clone()).collect();
                let message = format!(
                    "`{}` is the {name} of {}, and the rule set allows one",
                    target.id,
                    ids.join(" and ")
                );
                let mut found = Diagnostic::new(Rule::MalformedInstance, message).with_resources(ids);
                found.span = self.instance.link(linked[1], link).span.or(target.span);
                out.push(found);
            }
        }
    }

    /// The quantifier's objects that its filter allows, and the links that lead there.
    pub(super) fn quantified(&self, quantifier: &Quantifier<'_>, env: &[ObjectId]) -> Vec<ObjectId> {
        let known = |term: &Term| env.get(term.var).map(|&root| self.follow(root, &term.path));
        quantifier
            .equations
            .iter()
            .find_map(|equation| {
                self.candidates(equation, quantifier.bound.var, quantifier.bound.class, &known)
            })
            .unwrap_or_else(|| self.layout.members(quantifier.bound.class).to_vec())
    }

    /// The term by which a quantifier's objects are found, if there is one: `p.parent` in `p.parent = r`.
    pub(super) fn quantifier_trail(bound_var: VarId, filter: &Formula) -> Option<(&Term, &Term)> {
        quantifiers(filter).into_iter().find_map(|equation| match equation {
            Formula::Equal(left, right) if left.var == bound_var && right.var != bound_var => {
                Some((left, right))
            }
            Formula::Equal(left, right) if right.var == bound_var && left.var != bound_var => {
                Some((right, left))
            }
            _ => None,
        })
    }
}

/// Whether a guard is a conjunction of conditions on single cells, once its objects are known.
fn is_testable(formula: &Formula) -> bool {
    match formula {
        Formula::And(parts) => parts.iter().all(is_testable),
        Formula::InStates(..) | Formula::Has(..) | Formula::HasSeveral(..) => true,
        Formula::Not(inner) => {
            matches!(&**inner, Formula::Has(..) | Formula::HasSeveral(..)) || formula.is_static()
        }
        Formula::Or(parts) => {
            let mut changing = parts.iter().filter(|part| !part.is_static());
            match (changing.next(), changing.next()) {
                (None, _) => true,
                (Some(only), None) => is_testable(only),
                (Some(_), Some(_)) => false,
            }
        }
        Formula::All { filter, body, .. } => filter.is_static() && is_testable(body),
        other => other.is_static(),
    }
}

/// Whether a graph has a cycle: what is left when objects without outgoing edges are removed again and again.
fn has_cycle(edges: &[Vec<ObjectId>]) -> bool {
    let mut incoming = vec![0usize; edges.len()];
    for target in edges.iter().flatten() {
        incoming[target.index()] += 1;
    }
    let mut free: Vec<usize> = (0..edges.len()).filter(|&at| incoming[at] == 0).collect();
    let mut removed = 0;
    while let Some(at) = free.pop() {
        removed += 1;
        for target in &edges[at] {
            incoming[target.index()] -= 1;
            if incoming[target.index()] == 0 {
                free.push(target.index());
            }
        }
    }
    removed < edges.len()
}

fn flatten(formula: Formula, out: &mut Vec<Formula>) {
    match formula {
        Formula::And(parts) => parts.into_iter().for_each(|part| flatten(part, out)),
        Formula::Constant(true) => {}
        other => out.push(other),
    }
}
