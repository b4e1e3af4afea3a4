//! The compiled component as text: JSON, YAML as in figure 3 of the paper, and the production compiler's own notation.

mod json;
mod sf;
mod yaml;

pub use json::{json, json_value};
pub use sf::{name, quoted, sf, sf_value, tags};
pub use yaml::yaml;

use crate::syntax::{Number, Part};

/// A data reference as it is written, without `DATA`: `s1:web`.
pub fn reference(parts: &[Part]) -> String {
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.push(':');
        }
        let (keyword, name) = match part {
            Part::Name(name) => ("", Some(name)),
            Part::Root => ("ROOT", None),
            Part::Parent => ("PARENT", None),
            Part::This => ("THIS", None),
            Part::Process => ("PROCESS", None),
            Part::Attrib(name) if at == 0 => ("", Some(name)),
            Part::Attrib(name) => ("ATTRIB ", Some(name)),
            Part::Here(name) if at > 0 => ("", Some(name)),
            Part::Here(name) => ("HERE ", Some(name)),
            Part::Property(name) => ("PROPERTY ", Some(name)),
            Part::IntegerProperty(name) => ("IPROPERTY ", Some(name)),
            Part::Environment(name) => ("ENVPROPERTY ", Some(name)),
            Part::IntegerEnvironment(name) => ("IENVPROPERTY ", Some(name)),
            Part::Constant(name) => ("CONSTANT ", Some(name)),
            Part::Host(name) => ("HOST ", Some(name)),
        };
        out.push_str(keyword);
        // What is looked up outside of the specification is no name of it, and is never in quotes.
        match (part, name) {
            (_, None) => {}
            (Part::Name(_) | Part::Attrib(_) | Part::Here(_), Some(name)) => out.push_str(&sf::name(name)),
            (_, Some(name)) => out.push_str(name),
        }
    }
    out
}

/// A number as JSON and YAML write it.
fn plain_number(number: &Number, out: &mut String) {
    use std::fmt::Write as _;
    let _ = match number {
        Number::Integer(value) | Number::Long(value) => write!(out, "{value}"),
        Number::Big(digits) => write!(out, "{digits}"),
        Number::Float(value) | Number::Double(value) => write!(out, "{value:?}"),
    };
}
