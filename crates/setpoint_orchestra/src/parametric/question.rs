//! A question about all instances at once, as a propositional one over finitely many named objects.
//!
//! A question names some objects (the parameters of a rule, the object that breaks an invariant, a minimal
//! element), closes them under links, and instantiates every universal statement with the objects that it names.
//! Any two named objects of a class may be the same one: equality is a variable of the question, with its axioms.
//! An object that stands for a witness may not exist at all (its class may be empty), so each named object has a
//! literal that says whether it exists.
//!
//! Every clause holds in every real situation in which the asserted formulas hold, for some choice of the named
//! objects. So an unsatisfiable question is a proof, whatever the bounds; a satisfiable one proves nothing.

use rustc_hash::FxHashMap;
use setpoint_solver::{Choice, Circuit, Lit, Outcome};
use setpoint_source::Symbol;

use crate::model::{
    Bound, ClassId, Effect, Formula, LinkId, MessageId, Model, ModelRule, NameSet, StateId, Term,
};

/// An object that a question names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Named(u32);

/// A moment: before any step, or after some.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Moment(u32);

pub(super) const BEFORE: Moment = Moment(0);

/// How far a question is worked out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Depth {
    /// Universal statements are instantiated with objects of this generation and below; a witness is one
    /// generation above the objects that it is a witness for.
    pub(super) generation: u32,
}

/// Named objects of one class; more than that, and the question is left as it is.
const MAX_OF_CLASS: usize = 40;

impl Depth {
    pub(super) fn generations(generation: u32) -> Self {
        Self { generation }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Origin {
    Root,
    Link(Named, LinkId),
    /// Some object of the class whose link leads here.
    Inverse(Named, ClassId, LinkId),
}

struct Object {
    class: ClassId,
    origin: Origin,
    generation: u32,
    length: u32,
    exists: Lit,
    kind: Choice,
    state: Choice,
    /// At least one, at least two.
    messages: Vec<[Lit; 2]>,
}

/// What happened since the moment before.
enum Change {
    Start,
    /// Objects get states, all at once.
    Become(Moment, Vec<(Named, StateId)>),
    /// One message less. If there were several, `still` says whether there are several left.
    Lose {
        before: Moment,
        at: Named,
        message: MessageId,
        still: Lit,
    },
    Gain {
        before: Moment,
        at: Named,
        message: MessageId,
    },
}

/// `lit` implies: for all objects of the class, the filter implies the body.
struct Universal {
    lit: Lit,
    bound: Bound,
    filter: Formula,
    body: Formula,
    positive: bool,
    env: Vec<Named>,
    moment: Moment,
    /// So many objects of the class were looked at; of these some wait for their generation.
    done: usize,
    postponed: Vec<Named>,
}

pub(super) struct Question<'m> {
    pub(super) model: &'m Model,
    pub(super) circuit: Circuit,
    objects: Vec<Object>,
    by_class: Vec<Vec<Named>>,
    known: FxHashMap<Origin, Named>,
    equal: FxHashMap<(Named, Named), Lit>,
    /// For objects of an ordered class, the one that was named first before the other.
    earlier: FxHashMap<(Named, Named), Lit>,
    changes: Vec<Change>,
    state_lits: FxHashMap<(Moment, Named, StateId), Lit>,
    message_lits: FxHashMap<(Moment, Named, MessageId), [Lit; 2]>,
    universals: Vec<Universal>,
    depth: Depth,
    /// Links are followed so far by themselves; formulas may name longer paths.
    reach: u32,
    /// Some instance was left out for its generation or number.
    pub(super) bounded: bool,
}

impl<'m> Question<'m> {
    /// A question in which the links of the model have their shapes and `require` holds.
    pub(super) fn new(model: &'m Model, depth: Depth) -> Self {
        let mut question = Self {
            model,
            circuit: Circuit::with_limit(200_000),
            objects: Vec::new(),
            by_class: vec![Vec::new(); model.classes.len()],
            known: FxHashMap::default(),
            equal: FxHashMap::default(),
            earlier: FxHashMap::default(),
            changes: vec![Change::Start],
            state_lits: FxHashMap::default(),
            message_lits: FxHashMap::default(),
            universals: Vec::new(),
            depth,
            reach: if links_are_layered(model) { 8 } else { 2 },
            bounded: false,
        };
        for claim in model.requires.iter().chain(model.init.iter().filter(|claim| claim.formula.is_static()))
        {
            question.assert(&claim.formula, &[], BEFORE, true);
        }
        question
    }

    /// A named object that exists.
    pub(super) fn object(&mut self, class: ClassId) -> Named {
        let exists = self.circuit.constant(true);
        self.root(class, 0, exists)
    }

    /// A named object that may not exist.
    pub(super) fn possible_object(&mut self, class: ClassId) -> Named {
        let exists = self.circuit.fresh();
        self.root(class, 0, exists)
    }

    pub(super) fn exists(&self, object: Named) -> Lit {
        self.objects[object.0 as usize].exists
    }

    pub(super) fn objects_of(&self, class: ClassId) -> &[Named] {
        &self.by_class[class.0 as usize]
    }

    fn root(&mut self, class: ClassId, generation: u32, exists: Lit) -> Named {
        self.add(class, Origin::Root, generation, 0, exists)
    }

    fn node(&self, object: Named) -> &Object {
        &self.objects[object.0 as usize]
    }

    fn add(&mut self, class: ClassId, origin: Origin, generation: u32, length: u32, exists: Lit) -> Named {
        let declared = self.model.class(class);
        let named = Named(self.objects.len() as u32);
        let kind = Choice::new(&mut self.circuit, declared.types.len());
        let state = Choice::new(&mut self.circuit, declared.states.len());
        let messages = declared
            .messages
            .iter()
            .map(|_| {
                let (one, two) = (self.circuit.fresh(), self.circuit.fresh());
                self.circuit.assert(&[!two, one]);
                [one, two]
            })
            .collect();
        self.objects.push(Object { class, origin, generation, length, exists, kind, state, messages });
        if origin != Origin::Root {
            self.known.insert(origin, named);
        }
        self.relate(named);
        self.by_class[class.0 as usize].push(named);
        if length < self.reach {
            for (link, declared) in declared.links.iter().enumerate() {
                if !self.is_crowded(declared.target) {
                    self.follow(named, link);
                }
            }
        }
        named
    }

    /// Equality is between all pairs of a class and transitive: its cost grows with the cube of their number.
    fn is_crowded(&self, class: ClassId) -> bool {
        self.by_class[class.0 as usize].len() >= MAX_OF_CLASS
    }

    /// Equality of a new object with those of its class that are there already.
    fn relate(&mut self, new: Named) {
        let class = self.node(new).class;
        let others = self.by_class[class.0 as usize].clone();
        for (at, &other) in others.iter().enumerate() {
            let same = self.circuit.fresh();
            self.equal.insert((other, new), same);
            let (exists, exists_too) = (self.exists(new), self.exists(other));
            self.circuit.assert(&[!same, !exists, exists_too]);
            self.circuit.assert(&[!same, exists, !exists_too]);
            for &third in &others[..at] {
                let (a, b, c) = (self.same(third, other), self.same(third, new), same);
                self.circuit.assert(&[!a, !b, c]);
                self.circuit.assert(&[!a, b, !c]);
                self.circuit.assert(&[a, !b, !c]);
            }
            if self.model.class(class).ordered {
                let earlier = self.circuit.fresh();
                self.earlier.insert((other, new), earlier);
                self.circuit.assert(&[!same, !earlier]);
                for &third in &others[..at] {
                    self.order_three([third, other, new]);
                }
            }
            let pairs: Vec<(Lit, Lit)> = {
                let (one, two) = (self.node(other), self.node(new));
                let kinds = (0..one.kind.len())
                    .map(|v| (one.kind.is(&self.circuit, v), two.kind.is(&self.circuit, v)));
                let states = (0..one.state.len())
                    .map(|v| (one.state.is(&self.circuit, v), two.state.is(&self.circuit, v)));
                let messages =
                    one.messages.iter().flatten().copied().zip(two.messages.iter().flatten().copied());
                kinds.chain(states).chain(messages).collect()
            };
            for (one, two) in pairs {
                self.circuit.assert(&[!same, !one, two]);
                self.circuit.assert(&[!same, one, !two]);
            }
        }
    }

    /// The literal that two objects of one class are the same.
    pub(super) fn same(&self, left: Named, right: Named) -> Lit {
        if left == right {
            return self.circuit.constant(true);
        }
        let key = if left < right { (left, right) } else { (right, left) };
        self.equal.get(&key).copied().unwrap_or(self.circuit.constant(false))
    }

    /// What stands before another stands before all that stand behind that one.
    fn order_three(&mut self, objects: [Named; 3]) {
        for [one, two, three] in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let (one, two, three) = (objects[one], objects[two], objects[three]);
            let (first, second, both) =
                (self.before(one, two), self.before(two, three), self.before(one, three));
            self.circuit.assert(&[!first, !second, both]);
        }
    }

    /// The literal that one object of an ordered class stands before another. Of two objects one stands before the other
    /// unless they are the same; what does not exist may stand anywhere.
    pub(super) fn before(&mut self, left: Named, right: Named) -> Lit {
        if left < right {
            return self.earlier.get(&(left, right)).copied().unwrap_or(self.circuit.constant(false));
        }
        match self.earlier.get(&(right, left)).copied() {
            Some(earlier) => {
                let same = self.same(left, right);
                self.circuit.and(&[!earlier, !same])
            }
            None => self.circuit.constant(false),
        }
    }

    /// The object that a link leads to.
    pub(super) fn follow(&mut self, object: Named, link: LinkId) -> Named {
        let origin = Origin::Link(object, link);
        if let Some(&known) = self.known.get(&origin) {
            return known;
        }
        // The link of an inverse leads back.
        if let Origin::Inverse(target, class, inverse) = self.node(object).origin
            && class == self.node(object).class
            && inverse == link
        {
            return target;
        }
        let node = self.node(object);
        let (class, length, exists) = (node.class, node.length + 1, node.exists);
        // Where classes link in circles, a long way counts like a witness, so that it ends.
        let generation = node.generation + u32::from(length > self.reach);
        let target = self.model.class(class).links[link].target;
        let named = self.add(target, origin, generation, length, exists);
        self.agree_on_link(object, link, named);
        named
    }

    /// Equal objects have equal links, and different ones different links if the link is one-to-one.
    fn agree_on_link(&mut self, object: Named, link: LinkId, target: Named) {
        let class = self.node(object).class;
        let one_to_one = self.model.class(class).links[link].one_to_one;
        for other in self.by_class[class.0 as usize].clone() {
            if other == object {
                continue;
            }
            let theirs = match self.node(other).origin {
                Origin::Inverse(back, of, inverse) if of == class && inverse == link => Some(back),
                _ => self.known.get(&Origin::Link(other, link)).copied(),
            };
            if let Some(theirs) = theirs {
                let (same, same_targets) = (self.same(object, other), self.same(target, theirs));
                self.circuit.assert(&[!same, same_targets]);
                if one_to_one {
                    let (one, two) = (self.exists(object), self.exists(other));
                    self.circuit.assert(&[!same_targets, same, !one, !two]);
                }
            }
        }
    }

    /// Objects that link here, where the model says that there is one.
    fn add_inverses(&mut self, generation: u32) -> bool {
        let mut changed = false;
        for class in self.model.class_ids() {
            for (link, declared) in self.model.class(class).links.iter().enumerate() {
                if !declared.onto {
                    continue;
                }
                let mut at = 0;
                while at < self.by_class[declared.target.0 as usize].len() {
                    let target = self.by_class[declared.target.0 as usize][at];
                    at += 1;
                    changed |= self.add_inverse(target, class, link, declared.one_to_one, generation);
                }
            }
        }
        changed
    }

    fn add_inverse(
        &mut self,
        target: Named,
        class: ClassId,
        link: LinkId,
        one_to_one: bool,
        limit: u32,
    ) -> bool {
        let node = self.node(target);
        let origin = Origin::Inverse(target, class, link);
        let is_link =
            matches!(node.origin, Origin::Link(from, by) if by == link && self.node(from).class == class);
        if self.known.contains_key(&origin) || (one_to_one && is_link) {
            return false;
        }
        // Going back from where a link led, if it need not lead back to the same object, is a new witness.
        let generation = if is_link { node.generation + 1 } else { node.generation };
        if generation > limit || self.is_crowded(class) {
            self.bounded |= limit == self.depth.generation;
            return false;
        }
        let exists = node.exists;
        let inverse = self.add(class, origin, generation, 0, exists);
        self.agree_on_link(inverse, link, target);
        true
    }

    pub(super) fn term(&mut self, term: &Term, env: &[Named]) -> Named {
        term.path.iter().fold(env[term.var], |at, &link| self.follow(at, link))
    }

    // What holds of an object at a moment.

    pub(super) fn of_types(&mut self, object: Named, types: NameSet) -> Lit {
        let kind = self.node(object).kind.clone();
        kind.is_one_of(&mut self.circuit, |value| types.contains(value as u8))
    }

    fn same_type(&mut self, left: Named, right: Named) -> Lit {
        let names = |this: &Self, object: Named| -> Vec<(Symbol, Lit)> {
            let node = this.node(object);
            let types = &this.model.class(node.class).types;
            types.iter().enumerate().map(|(at, &name)| (name, node.kind.is(&this.circuit, at))).collect()
        };
        let (one, two) = (names(self, left), names(self, right));
        let mut cases = Vec::new();
        for &(name, lit) in &one {
            if let Some(&(_, other)) = two.iter().find(|(known, _)| *known == name) {
                cases.push(self.circuit.and(&[lit, other]));
            }
        }
        self.circuit.or(&cases)
    }

    pub(super) fn is_state(&mut self, object: Named, state: StateId, moment: Moment) -> Lit {
        if let Some(&known) = self.state_lits.get(&(moment, object, state)) {
            return known;
        }
        let lit = match &self.changes[moment.0 as usize] {
            Change::Start => self.node(object).state.is(&self.circuit, state as usize),
            &Change::Lose { before, .. } | &Change::Gain { before, .. } => {
                self.is_state(object, state, before)
            }
            Change::Become(before, writes) => {
                let (before, writes) = (*before, writes.clone());
                let class = self.node(object).class;
                let mut hits = Vec::new();
                let mut untouched = Vec::new();
                for (target, new) in writes {
                    if self.node(target).class != class {
                        continue;
                    }
                    let hit = self.same(object, target);
                    untouched.push(!hit);
                    if new == state {
                        hits.push(hit);
                    }
                }
                untouched.push(self.is_state(object, state, before));
                hits.push(self.circuit.and(&untouched));
                self.circuit.or(&hits)
            }
        };
        self.state_lits.insert((moment, object, state), lit);
        lit
    }

    pub(super) fn in_states(&mut self, object: Named, states: NameSet, moment: Moment) -> Lit {
        let count = self.model.class(self.node(object).class).states.len();
        if NameSet::first(count).minus(states).is_empty() {
            return self.circuit.constant(true);
        }
        let lits: Vec<Lit> = states
            .iter()
            .filter(|&s| (s as usize) < count)
            .map(|s| self.is_state(object, s, moment))
            .collect();
        self.circuit.or(&lits)
    }

    /// At least one, at least two messages.
    pub(super) fn messages(&mut self, object: Named, message: MessageId, moment: Moment) -> [Lit; 2] {
        if let Some(&known) = self.message_lits.get(&(moment, object, message)) {
            return known;
        }
        let class = self.node(object).class;
        let counts = match self.changes[moment.0 as usize] {
            Change::Start => self.node(object).messages[message as usize],
            Change::Become(before, _) => self.messages(object, message, before),
            Change::Lose { before, at, message: lost, still } => {
                let [one, two] = self.messages(object, message, before);
                if lost == message && self.node(at).class == class {
                    let hit = self.same(object, at);
                    let left = self.circuit.and(&[two, still]);
                    [self.circuit.choose(hit, two, one), self.circuit.choose(hit, left, two)]
                } else {
                    [one, two]
                }
            }
            Change::Gain { before, at, message: sent } => {
                let [one, two] = self.messages(object, message, before);
                if sent == message && self.node(at).class == class {
                    let hit = self.same(object, at);
                    [self.circuit.or(&[hit, one]), self.circuit.choose(hit, one, two)]
                } else {
                    [one, two]
                }
            }
        };
        self.message_lits.insert((moment, object, message), counts);
        counts
    }

    // Formulas.

    /// The formula (or its negation) holds.
    pub(super) fn assert(&mut self, formula: &Formula, env: &[Named], moment: Moment, positive: bool) {
        let lit = self.imply(formula, env, moment, positive);
        self.circuit.assert(&[lit]);
    }

    /// A literal that implies that the formula (or its negation) holds. The converse need not hold.
    pub(super) fn imply(&mut self, formula: &Formula, env: &[Named], moment: Moment, positive: bool) -> Lit {
        match formula {
            Formula::Constant(value) => self.circuit.constant(*value == positive),
            Formula::Not(inner) => self.imply(inner, env, moment, !positive),
            Formula::And(parts) | Formula::Or(parts) => {
                let conjunction = matches!(formula, Formula::And(_)) == positive;
                let lits: Vec<Lit> =
                    parts.iter().map(|part| self.imply(part, env, moment, positive)).collect();
                if conjunction { self.circuit.and(&lits) } else { self.circuit.or(&lits) }
            }
            Formula::All { bound, filter, body } | Formula::Some { bound, filter, body } => {
                if matches!(formula, Formula::All { .. }) == positive {
                    self.universal(bound, filter, body, positive, env, moment)
                } else {
                    self.witness(bound, filter, body, positive, env, moment)
                }
            }
            Formula::InStates(term, states) => {
                let object = self.term(term, env);
                self.in_states(object, *states, moment).signed(positive)
            }
            Formula::OfTypes(term, types) => {
                let object = self.term(term, env);
                self.of_types(object, *types).signed(positive)
            }
            Formula::SameType(left, right) => {
                let (left, right) = (self.term(left, env), self.term(right, env));
                self.same_type(left, right).signed(positive)
            }
            Formula::Equal(left, right) => {
                let (left, right) = (self.term(left, env), self.term(right, env));
                self.same(left, right).signed(positive)
            }
            Formula::Before(left, right) => {
                let (left, right) = (self.term(left, env), self.term(right, env));
                self.before(left, right).signed(positive)
            }
            Formula::Has(term, message) => {
                let object = self.term(term, env);
                self.messages(object, *message, moment)[0].signed(positive)
            }
            Formula::HasSeveral(term, message) => {
                let object = self.term(term, env);
                self.messages(object, *message, moment)[1].signed(positive)
            }
        }
    }

    fn universal(
        &mut self,
        bound: &Bound,
        filter: &Formula,
        body: &Formula,
        positive: bool,
        env: &[Named],
        moment: Moment,
    ) -> Lit {
        let lit = self.circuit.fresh();
        self.universals.push(Universal {
            lit,
            bound: bound.clone(),
            filter: filter.clone(),
            body: body.clone(),
            positive,
            env: env.to_vec(),
            moment,
            done: 0,
            postponed: Vec::new(),
        });
        lit
    }

    fn witness(
        &mut self,
        bound: &Bound,
        filter: &Formula,
        body: &Formula,
        positive: bool,
        env: &[Named],
        moment: Moment,
    ) -> Lit {
        // Of a closed statement that the question begins with, the witness is as good as a parameter.
        let generation = env.iter().map(|&one| self.node(one).generation + 1).max().unwrap_or(0);
        if generation > self.depth.generation + 1 || self.is_crowded(bound.class) {
            // Without a witness nothing follows; a free literal says so.
            self.bounded = true;
            return self.circuit.fresh();
        }
        // Where the filter says what a link of the witness leads to, it leads there: no other object need be named.
        let given: Vec<(LinkId, Named)> =
            given_links(bound, filter).into_iter().map(|(link, term)| (link, self.term(term, env))).collect();
        let exists = self.circuit.fresh();
        let next = Named(self.objects.len() as u32);
        for &(link, target) in &given {
            self.known.insert(Origin::Link(next, link), target);
        }
        let object = self.root(bound.class, generation, exists);
        for (link, target) in given {
            self.agree_on_link(object, link, target);
        }
        let inner = extend(env, bound.var, object);
        let filter = self.imply(filter, &inner, moment, true);
        let body = self.imply(body, &inner, moment, positive);
        self.circuit.and(&[exists, filter, body])
    }

    /// Instantiates until nothing new comes of it: first with the objects of the first generation, then with their
    /// witnesses, and so on, so that those come first that the question is about.
    pub(super) fn work_out(&mut self) {
        for generation in 0..=self.depth.generation {
            loop {
                let mut changed = self.add_inverses(generation);
                let mut at = 0;
                while at < self.universals.len() {
                    changed |= self.instantiate(at, generation);
                    at += 1;
                }
                if !changed {
                    break;
                }
            }
        }
        self.bounded |= self.universals.iter().any(|universal| !universal.postponed.is_empty());
    }

    fn instantiate(&mut self, at: usize, generation: u32) -> bool {
        let class = self.universals[at].bound.class.0 as usize;
        let mut ready = Vec::new();
        for object in std::mem::take(&mut self.universals[at].postponed) {
            self.take_or_postpone(at, object, generation, &mut ready);
        }
        while let Some(&object) = self.by_class[class].get(self.universals[at].done) {
            self.universals[at].done += 1;
            self.take_or_postpone(at, object, generation, &mut ready);
        }
        let changed = !ready.is_empty();
        for object in ready {
            let Universal { lit, bound, filter, body, positive, env, moment, .. } = &self.universals[at];
            let (lit, positive, moment) = (*lit, *positive, *moment);
            let (env, filter, body) = (extend(env, bound.var, object), filter.clone(), body.clone());
            let outside = self.imply(&filter, &env, moment, false);
            let inside = self.imply(&body, &env, moment, positive);
            let exists = self.exists(object);
            self.circuit.assert(&[!lit, !exists, outside, inside]);
        }
        changed
    }

    fn take_or_postpone(&mut self, universal: usize, object: Named, generation: u32, ready: &mut Vec<Named>) {
        if self.node(object).generation <= generation {
            ready.push(object);
        } else {
            self.universals[universal].postponed.push(object);
        }
    }

    // Steps.

    /// The rule applies to these objects at a moment; returns the moment after it.
    pub(super) fn fire(&mut self, rule: &ModelRule, env: &[Named], moment: Moment) -> Moment {
        for guard in &rule.guards {
            self.assert(&guard.formula, env, moment, true);
        }
        let disagreement = disagreements(rule);
        self.assert(&disagreement, env, moment, false);
        self.after(rule, env, moment)
    }

    /// The moment after the rule's effects; the messages that it loses are there.
    fn after(&mut self, rule: &ModelRule, env: &[Named], mut moment: Moment) -> Moment {
        let mut writes = Vec::new();
        for effect in &rule.effects {
            let object = self.term(effect.term(), env);
            match *effect {
                Effect::Becomes(_, state) => writes.push((object, state)),
                Effect::Loses(_, message) => {
                    let [one, _] = self.messages(object, message, moment);
                    self.circuit.assert(&[one]);
                    let still = self.circuit.fresh();
                    moment = self.then(Change::Lose { before: moment, at: object, message, still });
                }
                Effect::Gets(..) => {}
            }
        }
        for effect in &rule.effects {
            if let Effect::Gets(term, message) = effect {
                let object = self.term(term, env);
                moment = self.then(Change::Gain { before: moment, at: object, message: *message });
            }
        }
        self.then(Change::Become(moment, writes))
    }

    fn then(&mut self, change: Change) -> Moment {
        self.changes.push(change);
        Moment(self.changes.len() as u32 - 1)
    }

    /// No message waits anywhere, for the objects that are named when this is called.
    pub(super) fn no_messages(&mut self) {
        for at in 0..self.objects.len() {
            let messages = self.objects[at].messages.clone();
            for [one, _] in messages {
                self.circuit.assert(&[!one]);
            }
        }
    }

    /// Works the question out and asks it.
    pub(super) fn ask(&mut self, assumptions: &[Lit]) -> Outcome {
        self.work_out();
        self.circuit.solve(assumptions)
    }

    pub(super) fn parameters(&mut self, rule: &ModelRule) -> Vec<Named> {
        rule.parameters.iter().map(|bound| self.object(bound.class)).collect()
    }
}

/// The links of a bound object that a filter gives: `x.link = y`, where `y` is another object.
fn given_links<'f>(bound: &Bound, filter: &'f Formula) -> Vec<(LinkId, &'f Term)> {
    let mut out: Vec<(LinkId, &Term)> = Vec::new();
    for conjunct in filter.conjuncts() {
        let Formula::Equal(left, right) = conjunct else { continue };
        for (own, other) in [(left, right), (right, left)] {
            if let [link] = own.path[..]
                && own.var == bound.var
                && other.var != bound.var
                && !out.iter().any(|(known, _)| *known == link)
            {
                out.push((link, other));
            }
        }
    }
    out
}

fn extend(env: &[Named], var: usize, object: Named) -> Vec<Named> {
    let mut out = env.to_vec();
    // What stands between is never read: variables in sight have lower numbers.
    out.resize(var.max(out.len()), object);
    out.truncate(var);
    out.push(object);
    out
}

/// Two effects of the rule give different states to one object.
pub(super) fn disagreements(rule: &ModelRule) -> Formula {
    let mut cases = Vec::new();
    for (at, one) in rule.effects.iter().enumerate() {
        for other in &rule.effects[..at] {
            if let (Effect::Becomes(left, a), Effect::Becomes(right, b)) = (one, other)
                && left.class == right.class
                && a != b
            {
                cases.push(Formula::Equal(left.clone(), right.clone()));
            }
        }
    }
    Formula::Or(cases)
}

/// When the rule applies, as a formula over its parameters; never weaker than the truth. (Where two of its messages
/// may be one and the same, it asks that they are not.)
pub(super) fn enabling(rule: &ModelRule) -> Formula {
    let mut parts: Vec<Formula> = rule.guards.iter().map(|guard| guard.formula.clone()).collect();
    parts.push(disagreements(rule).negate());
    let loses: Vec<(&Term, MessageId)> = rule
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Loses(term, message) => Some((term, *message)),
            Effect::Becomes(..) | Effect::Gets(..) => None,
        })
        .collect();
    for (at, (term, message)) in loses.iter().enumerate() {
        parts.push(Formula::Has((*term).clone(), *message));
        for (other, theirs) in &loses[..at] {
            if message == theirs && term.class == other.class {
                parts.push(Formula::Equal((*term).clone(), (*other).clone()).negate());
            }
        }
    }
    Formula::And(parts)
}

/// The rule applies to no objects at all.
pub(super) fn never_applies(rule: &ModelRule) -> Formula {
    rule.parameters.iter().rev().fold(enabling(rule).negate(), |body, bound| Formula::All {
        bound: bound.clone(),
        filter: Box::new(Formula::Constant(true)),
        body: Box::new(body),
    })
}

/// No class is reached from itself by links.
fn links_are_layered(model: &Model) -> bool {
    let mut height = vec![0usize; model.classes.len()];
    for _ in 0..=model.classes.len() {
        let mut changed = false;
        for (at, class) in model.classes.iter().enumerate() {
            let needed = class.links.iter().map(|link| height[link.target.0 as usize] + 1).max().unwrap_or(0);
            if needed > height[at] {
                height[at] = needed;
                changed = true;
            }
        }
        if !changed {
            return true;
        }
    }
    false
}
