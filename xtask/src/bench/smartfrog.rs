//! SmartFrog specifications of several shapes and sizes. The compilers of the paper are quadratic in siblings; their
//! recorded times are named where there is one for the size. At 300,000 attributes the time should have grown by at most n^1.1
//! since 30,000, and the peak should be below 500 MB.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Context, Row};
use crate::measure::measure;

const SIZES: [usize; 6] = [1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000];

/// A specification of about so many compiled attributes.
struct Shape {
    name: &'static str,
    text: fn(usize) -> String,
    semantics: &'static str,
    /// Larger ones are left out: every prototype of a chain is kept, though only the last is compiled.
    largest: usize,
    /// What the OCaml compiler and the Haskell one needed, where it was measured.
    recorded: &'static [(usize, &'static str)],
}

static SHAPES: &[Shape] = &[
    Shape {
        name: "flat",
        text: flat,
        semantics: "core",
        largest: 1_000_000,
        recorded: &[
            (10_000, "OCaml 0.50 s, Haskell 1.12 s"),
            (30_000, "OCaml 5.4 s, Haskell 7.8 s"),
            (100_000, "both more than 60 s"),
        ],
    },
    Shape {
        name: "flat, forward links",
        text: flat_links,
        semantics: "forward",
        largest: 1_000_000,
        recorded: &[],
    },
    Shape {
        name: "flat, production",
        text: flat_links,
        semantics: "production",
        largest: 1_000_000,
        recorded: &[],
    },
    Shape {
        name: "one wide component, inherited",
        text: wide,
        semantics: "core",
        largest: 1_000_000,
        recorded: &[(10_000, "OCaml 5.9 s, Haskell 8.2 s")],
    },
    Shape {
        name: "tree of groups of 100",
        text: tree,
        semantics: "core",
        largest: 1_000_000,
        recorded: &[(100_000, "OCaml 1.3 s, Haskell 3.3 s")],
    },
    Shape {
        name: "a chain of prototypes of 1,000 attributes",
        text: chain,
        semantics: "core",
        largest: 100_000,
        recorded: &[],
    },
];

pub(crate) fn rows(context: &Context) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for Shape { name, text, semantics, largest, recorded } in SHAPES {
        let mut times: BTreeMap<usize, f64> = BTreeMap::new();
        for size in SIZES.into_iter().filter(|size| size <= largest) {
            let path = context.scratch.join(format!("{}-{size}.sf", name.replace([' ', ','], "-")));
            std::fs::write(&path, text(size)).map_err(|error| format!("{}: {error}", path.display()))?;
            let path = path.display().to_string();
            let command = [&context.setpoint, "compile", &path, "--semantics", semantics].map(str::to_owned);
            let ours = measure(if size < 1_000_000 { 5 } else { 1 }, None, &command)?;
            let mut remark = format!("{:.2} µs each", ours.cpu_ms * 1000.0 / size as f64);
            // Below this, the start of the program counts.
            if let Some(before) = times.get(&(size / 10)).filter(|_| size >= 100_000) {
                let _ = write!(remark, "; grows as n^{:.2}", (ours.cpu_ms / before.max(0.001)).log10());
            }
            times.insert(size, ours.cpu_ms);
            if let Some((_, known)) = recorded.iter().find(|(of, _)| *of == size) {
                let _ = write!(remark, "; recorded: {known}");
            }
            rows.push(Row { name: format!("{name}: {size}"), ours, peer: None, remark });
        }
    }
    Ok(rows)
}

fn body(out: &mut String, attributes: usize) {
    for at in 0..attributes {
        let _ = writeln!(out, "  a{at} {at};");
    }
}

fn flat(size: usize) -> String {
    let mut out = String::from("sfConfig extends {\n");
    body(&mut out, size);
    out + "}\n"
}

/// Each attribute links to the one before it.
fn flat_links(size: usize) -> String {
    let mut out = String::from("sfConfig extends {\n  a0 1;\n");
    for at in 1..size {
        let _ = writeln!(out, "  a{at} a{};", at - 1);
    }
    out + "}\n"
}

/// A component that inherits a wide one and overrides every tenth attribute.
fn wide(size: usize) -> String {
    let mut out = String::from("base extends {\n");
    body(&mut out, size);
    out += "}\nsfConfig extends {\n  c extends base, {\n";
    for at in (0..size).step_by(10) {
        let _ = writeln!(out, "    a{at} true;");
    }
    out + "  }\n}\n"
}

fn tree(size: usize) -> String {
    let mut out = String::from("sfConfig extends {\n");
    for group in 0..size.div_ceil(100) {
        let _ = writeln!(out, "g{group} extends {{");
        body(&mut out, 99);
        out += "}\n";
    }
    out + "}\n"
}

/// A wide component, and a chain in which each inherits from the one before and adds one attribute; the last is compiled.
fn chain(size: usize) -> String {
    let mut out = String::from("c0 extends {\n");
    body(&mut out, 1_000);
    out += "}\n";
    for at in 1..size {
        let _ = writeln!(out, "c{at} extends c{}, {{ b{at} 1; a{} true; }}", at - 1, at % 1_000);
    }
    let _ = writeln!(out, "sfConfig extends c{}", size - 1);
    out
}
