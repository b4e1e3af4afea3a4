//! Answers for programs.

use serde_json::{Value as Json, json};
use setpoint_diagram::{Diagram, Edge, Legend, Style};
use setpoint_provenance::{Leaf, Node, Prov};
use setpoint_puppet::Compilation;
use setpoint_puppet_values::{Data, Value, to_text};
use setpoint_source::{Severity, Span, Symbol};

use crate::absence::Absence;
use crate::answer::{Answer, Reason};
use crate::impact::Impact;
use crate::text::{Writer, is_secret, masked};

const MOST_NODES: usize = 10_000;
const MOST_DEPTH: usize = 100;

impl Impact {
    /// `{"line", "inputs", "resources"}`.
    pub fn json(&self, compilation: &Compilation, line: &str) -> Json {
        let Some(catalog) = &compilation.catalog else { return Json::Null };
        let names = |names: &[Symbol]| names.iter().map(|name| name.as_str().into()).collect::<Vec<Json>>();
        let resources: Vec<Json> = self
            .resources
            .iter()
            .map(|affected| {
                json!({
                    "resource": catalog[affected.resource].reference(),
                    "existence": affected.existence,
                    "parameters": names(&affected.parameters),
                    "possible": names(&affected.possible),
                })
            })
            .collect();
        json!({"line": line, "inputs": self.inputs, "resources": resources})
    }
}

impl Writer<'_> {
    /// `{"target", "value", "where", "expression", "depends", "exists"}`.
    pub fn json(&self, answer: &Answer) -> Json {
        let mut nodes = 0;
        let value = answer
            .value
            .as_ref()
            .filter(|_| !answer.secret)
            .map(|value| masked(value, self.sources.secrets()));
        let value = value.as_ref().map_or(Json::Null, json_value);
        let mut out = json!({
            "target": answer.target,
            "value": value,
            "where": answer.origin.map(|leaf| self.place(&leaf, answer)),
            "expression": self.tree_json(answer.prov, 0, answer, &mut nodes),
            "depends": self.depends_json(answer),
            "exists": self.reasons_json(&answer.reasons, answer),
        });
        if answer.secret {
            out["secret"] = true.into();
        }
        out
    }

    /// `{"target", "present", "virtual", "kept_out", "undef", "collectors"}`.
    pub fn absence_json(&self, absence: &Absence) -> Json {
        let answer = &self.nothing_secret();
        let place = |span: Span| self.place_of(span, answer);
        let kept: Vec<Json> = absence
            .kept_out
            .iter()
            .map(|kept| {
                let leaves = self.compilation.arena.made_of(kept.condition);
                let from: Vec<Json> = leaves.iter().map(|(_, leaf)| self.place(leaf, answer)).collect();
                json!({"branch": place(kept.branch), "condition": from})
            })
            .collect();
        json!({
            "target": absence.target,
            "present": false,
            "virtual": absence.is_virtual.map(place),
            "kept_out": kept,
            "undef": absence.undefined.iter().map(|leaf| self.place(leaf, answer)).collect::<Vec<_>>(),
            "collectors": absence.collectors.iter().map(|span| place(*span)).collect::<Vec<_>>(),
        })
    }

    /// `{"fails", "because"}`: the errors that there is no catalog for, and what led to them.
    pub fn failure_json(&self) -> Json {
        let answer = &self.nothing_secret();
        let errors = self.compilation.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        let place = |span| self.place_of(span, answer);
        let errors: Vec<Json> =
            errors.map(|error| json!({"message": error.message, "place": error.span.map(place)})).collect();
        json!({"fails": errors, "because": self.reasons_json(&self.failure_reasons(), answer)})
    }

    fn reasons_json(&self, reasons: &[Reason], answer: &Answer) -> Vec<Json> {
        let reason_json = |reason: &Reason| {
            let mut place = reason.span.map_or_else(|| json!({}), |span| self.place_of(span, answer));
            place["kind"] = reason.kind.as_str().into();
            place
        };
        reasons.iter().map(reason_json).collect()
    }

    fn depends_json(&self, answer: &Answer) -> Vec<Json> {
        let mut seen = rustc_hash::FxHashSet::default();
        let found = answer.depends.iter().filter(|found| seen.insert((found.leaf, found.shape)));
        found
            .map(|found| {
                let mut place = self.place(&found.leaf, answer);
                if found.shape {
                    place["shape"] = true.into();
                }
                place
            })
            .collect()
    }

    /// `{"path", "line", "column", "text", "kind"}`, and the name of what has one.
    pub fn place(&self, leaf: &Leaf, answer: &Answer) -> Json {
        let name = leaf.name.map(Symbol::as_str);
        let mut place = match leaf.span {
            Some(span) => self.place_of(span, answer),
            None => json!({"path": null, "line": null, "column": null, "text": name}),
        };
        place["kind"] = leaf.kind.as_str().into();
        if let Some(name) = name {
            place["name"] = name.into();
        }
        place
    }

    /// A place without a kind.
    pub fn place_of(&self, span: Span, answer: &Answer) -> Json {
        let file = self.sources.shown(span.file);
        let position = file.position(span.range.start);
        let text = if is_secret(span, answer) { Json::Null } else { file.slice(span.range).into() };
        let mut place =
            json!({"path": file.path(), "line": position.line, "column": position.column, "text": text});
        if let Some(note) = (self.notes)(span) {
            place["blame"] = note.into();
        }
        place
    }

    fn tree_json(&self, prov: Prov, depth: usize, answer: &Answer, nodes: &mut usize) -> Json {
        *nodes += 1;
        if *nodes > MOST_NODES || depth > MOST_DEPTH {
            return json!({"kind": "elided"});
        }
        match self.compilation.arena.node(prov) {
            None => Json::Null,
            Some(Node::Leaf(leaf)) => json!({"kind": "leaf", "place": self.place(&leaf, answer)}),
            Some(Node::Copy { of, span, name }) => {
                let place = span.map(|span| self.place_of(span, answer));
                let of = self.tree_json(of, depth + 1, answer, nodes);
                json!({"kind": "copy", "name": name.map(Symbol::as_str), "place": place, "of": of})
            }
            Some(Node::Under { of, .. } | Node::Shape { of }) => self.tree_json(of, depth + 1, answer, nodes),
            Some(Node::Operation { name, span, arguments, .. }) => {
                let place = span.map(|span| self.place_of(span, answer));
                let arguments: Vec<Json> = arguments
                    .iter()
                    .map(|argument| self.tree_json(*argument, depth + 1, answer, nodes))
                    .collect();
                json!({"kind": "operation", "name": name.as_str(), "place": place, "arguments": arguments})
            }
        }
    }

    /// The expression as a graph: from the leaves to the value.
    pub fn diagram(&self, answer: &Answer) -> Diagram {
        let mut diagram = Diagram {
            title: answer.target.clone(),
            legend: Legend { plain: "is a part of", strong: "is copied to", implied: "decides about" },
            ..Diagram::default()
        };
        let mut known = rustc_hash::FxHashMap::default();
        let root = setpoint_diagram::Node {
            kind: "value".to_owned(),
            name: answer.target.clone(),
            ..Default::default()
        };
        diagram.nodes.push(root);
        self.draw(answer.prov, 0, Style::Strong, answer, &mut known, &mut diagram);
        for found in &answer.depends {
            if known.contains_key(&found.node) || diagram.nodes.len() >= MOST_DRAWN {
                continue;
            }
            let source = diagram.nodes.len();
            diagram.nodes.push(self.drawn(&found.leaf, answer));
            known.insert(found.node, source);
            diagram.edges.push(Edge {
                source,
                target: 0,
                style: Style::Implied,
                details: String::new(),
                wrong: false,
            });
        }
        diagram
    }

    fn draw(
        &self,
        prov: Prov,
        target: usize,
        style: Style,
        answer: &Answer,
        known: &mut rustc_hash::FxHashMap<Prov, usize>,
        diagram: &mut Diagram,
    ) {
        let edge = |source| Edge { source, target, style, details: String::new(), wrong: false };
        if let Some(source) = known.get(&prov) {
            diagram.edges.push(edge(*source));
            return;
        }
        let source = diagram.nodes.len();
        if source >= MOST_DRAWN {
            return;
        }
        match self.compilation.arena.node(prov) {
            None => {}
            Some(Node::Under { of, .. } | Node::Shape { of }) => {
                self.draw(of, target, style, answer, known, diagram);
            }
            Some(Node::Leaf(leaf)) => {
                known.insert(prov, source);
                diagram.nodes.push(self.drawn(&leaf, answer));
                diagram.edges.push(edge(source));
            }
            Some(Node::Copy { of, span, name }) => {
                known.insert(prov, source);
                let details = span.map(|span| self.sources.place(span)).into_iter().collect();
                let name = name.map_or("", |name| name.as_str()).to_owned();
                diagram.nodes.push(setpoint_diagram::Node {
                    kind: "name".to_owned(),
                    name,
                    details,
                    ..Default::default()
                });
                diagram.edges.push(edge(source));
                self.draw(of, source, Style::Strong, answer, known, diagram);
            }
            Some(Node::Operation { name, span, arguments, .. }) => {
                known.insert(prov, source);
                let details = span.map(|span| self.sources.place(span)).into_iter().collect();
                let name = name.as_str().to_owned();
                diagram.nodes.push(setpoint_diagram::Node {
                    kind: "operation".to_owned(),
                    name,
                    details,
                    ..Default::default()
                });
                diagram.edges.push(edge(source));
                for argument in arguments {
                    self.draw(*argument, source, Style::Plain, answer, known, diagram);
                }
            }
        }
    }

    fn drawn(&self, leaf: &Leaf, answer: &Answer) -> setpoint_diagram::Node {
        let name = match leaf.span {
            Some(span) if !is_secret(span, answer) => self.slice(span),
            _ => leaf.name.map_or("", |name| name.as_str()).to_owned(),
        };
        let details = leaf.span.map(|span| self.sources.place(span)).into_iter().collect();
        setpoint_diagram::Node { kind: leaf.kind.as_str().to_owned(), name, details, ..Default::default() }
    }
}

/// Larger drawings help nobody.
const MOST_DRAWN: usize = 500;

/// A value as JSON; secrets are left out.
pub fn json_value(value: &Value) -> Json {
    match &value.data {
        Data::Undef => Json::Null,
        Data::Bool(value) => (*value).into(),
        Data::Integer(value) => (*value).into(),
        Data::Float(value) => (*value).into(),
        Data::String(text) => (**text).into(),
        Data::Array(items) => items.iter().map(json_value).collect(),
        Data::Hash(entries) => {
            entries.iter().map(|(key, entry)| (to_text(&key.0).to_string(), json_value(entry))).collect()
        }
        Data::Sensitive(_) => Json::Null,
        Data::Opaque(opaque) => json!({"unknown": *opaque.reason}),
        _ => to_text(value).to_string().into(),
    }
}
