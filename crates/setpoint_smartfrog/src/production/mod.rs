//! The semantics of the production compiler: types, placement, functions, links.
//!
//! The whole specification becomes a tree of components ([`tree`]). Then come the phases, each over the result of the one
//! before: prototypes are copied into the components that extend them ([`types`]), attributes with a path for a name are put
//! where they belong ([`place`]), components that are functions become applications ([`construct`]), and the links and
//! applications of `sfConfig` are replaced by their values ([`resolve`], [`functions`]). All of them look ahead: what
//! is used may be defined later. Where the production compiler runs for ever, this one finds the circle and says so.

mod construct;
mod finish;
mod functions;
mod place;
mod resolve;
mod tree;
mod types;

use rustc_hash::{FxHashMap, FxHashSet};
use setpoint_provenance::{Arena, Prov};
use setpoint_source::{Span, Symbol};

use crate::core::described;
use crate::error::{Fail, Number, numbered};
use crate::observe::Observations;
use crate::store::Store;
use crate::syntax::Body;
use crate::{MAIN, Options};
use tree::{Key, NodeId, Tree, Value};

/// One compilation.
#[derive(Debug)]
pub(crate) struct Production<'o> {
    tree: Tree,
    options: &'o Options,
    pub(crate) arena: Arena,
    /// Attributes whose value is being computed.
    resolving: FxHashSet<(NodeId, Symbol)>,
    /// Components whose links are being resolved, and those whose links are.
    linking: FxHashSet<NodeId>,
    linked: FxHashSet<NodeId>,
    /// Free variables that the compiled tree has so far.
    variables: u32,
    /// How deep the evaluation is nested.
    depth: usize,
    /// Which value each value replaced; recorded with the provenance.
    pub(crate) overridden: FxHashMap<Prov, Prov>,
    /// What `check` reports, if it asked.
    pub(crate) observations: Option<Observations>,
}

impl<'o> Production<'o> {
    pub(crate) fn new(options: &'o Options) -> Self {
        Self {
            tree: Tree::default(),
            options,
            arena: Arena::new(options.provenance),
            resolving: FxHashSet::default(),
            linking: FxHashSet::default(),
            linked: FxHashSet::default(),
            variables: 0,
            depth: 0,
            overridden: FxHashMap::default(),
            observations: options.observe.then(Observations::default),
        }
    }

    /// All phases. The errors are all that the phase found in which compilation stopped.
    pub(crate) fn specification(&mut self, body: &Body, end: Span) -> Result<Store, Vec<Fail>> {
        let root = self.build_root(body);
        self.resolve_types(root)?;
        self.place_all(root)?;
        self.construct_functions(root).map_err(|fail| vec![fail])?;
        let main = self.main(root, end).map_err(|fail| vec![fail])?;
        self.resolve_links(main)?;
        self.finished(main, &mut FxHashMap::default()).map_err(|fail| vec![fail])
    }

    fn main(&self, root: NodeId, end: Span) -> Result<NodeId, Fail> {
        let name = Key::Name(Symbol::new(MAIN));
        let Some(attribute) = self.tree.node(root).attributes.get(&name) else {
            let mut fail =
                numbered(Number::SfConfig, end, "there is no `sfConfig`, the component to compile");
            fail.helps.push("define `sfConfig extends { … }` at the top level".into());
            return Err(fail);
        };
        let what = match &attribute.value {
            Value::Component(node) => return Ok(*node),
            Value::Basic(value) => described(value),
            _ => "a link or an expression",
        };
        let message = format!("`sfConfig` must be a component, and it is {what}");
        Err(numbered(Number::SfConfig, attribute.span, message))
    }
}
