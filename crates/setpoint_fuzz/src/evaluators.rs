//! Every evaluator: programs with their data, in memory. Several files are one case of the test suites, which is what fuzzing starts from.

use std::path::Path;

use setpoint_oracle::{Mode, Request, setpoint};
use setpoint_smartfrog::Semantics;
use setpoint_source::{MemoryFileSystem, Sources};
use setpoint_testing::Case;

use crate::{Target, text_of};

/// The targets.
pub const TARGETS: &[Target] = &[
    ("compile", compile),
    ("lookup", lookup),
    ("epp-body", epp_body),
    ("erb-body", erb_body),
    ("ruby-function", ruby_function),
    ("micropuppet", micropuppet),
    ("smartfrog", smartfrog),
    ("cloudformation", cloudformation),
    ("tosca", tosca),
    ("generated", generated),
];

/// Manifests, modules, data of Hiera and facts.
fn compile(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let case = Case::parse(text);
    let mode = if data.len().is_multiple_of(2) { Mode::Seven } else { Mode::Eight };
    let request = if case.inputs.is_empty() {
        Request::manifest(text, mode)
    } else {
        let Ok(request) = Request::of(&case, mode) else { return };
        request
    };
    let _ = setpoint(&request);
}

/// The data of a Hiera of one level; `a` is asked for.
fn lookup(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let manifest = "notice(lookup('a', undef, 'deep', {}))\n";
    let mut request = Request::manifest(manifest, Mode::Eight);
    request.files.push(("data/common.yaml".to_owned(), text.to_owned()));
    let hiera = "version: 5\nhierarchy:\n  - name: a\n    path: common.yaml\n";
    request.files.push(("hiera.yaml".to_owned(), hiera.to_owned()));
    let _ = setpoint(&request);
}

fn body(data: &[u8], name: &str, call: &str) {
    let Some(text) = text_of(data) else { return };
    let manifest = format!("$list = [1, 'b']\n$hash = {{ 'k' => 'v', 'l' => [true] }}\nnotice({call})\n");
    let mut request = Request::manifest(&manifest, Mode::Seven);
    request.files.push((format!("modules/m/{name}"), text.to_owned()));
    let _ = setpoint(&request);
}

fn epp_body(data: &[u8]) {
    body(data, "templates/t.epp", "epp('m/t.epp', { 'a' => [1, 'b'] })");
}

fn erb_body(data: &[u8]) {
    body(data, "templates/t.erb", "template('m/t.erb')");
}

fn ruby_function(data: &[u8]) {
    body(data, "lib/puppet/functions/m/f.rb", "m::f('a', [1, 2], { 'k' => 'v' })");
}

fn micropuppet(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let sources = Sources::new();
    let parse = setpoint_puppet_syntax::parse(sources.add("a.pp", text), text);
    let _ = setpoint_micropuppet::trace(&parse.program, "node1.example.com", &[]);
}

fn smartfrog(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let mut files = MemoryFileSystem::new();
    files.add("included.sf", "Base extends { a 1; b LAZY c; }\n");
    for semantics in [Semantics::Core, Semantics::Forward, Semantics::Production] {
        let options =
            setpoint_smartfrog::Options { semantics, provenance: true, observe: true, ..Default::default() };
        let sources = Sources::new();
        let text = text.to_owned();
        let _ = setpoint_smartfrog::compile_text(Path::new("a.sf"), text, &files, &sources, &options);
    }
}

fn cloudformation(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let sources = Sources::new();
    let file = sources.add("a.yaml", text);
    let (files, options) = (MemoryFileSystem::new(), setpoint_cloudformation::Options::default());
    let _ = setpoint_cloudformation::check(&files, &sources, Path::new("a.yaml"), file, &options);
}

fn tosca(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let sources = Sources::new();
    let file = sources.add("a.yaml", text);
    let _ = setpoint_tosca::check(&MemoryFileSystem::new(), &sources, file, Path::new("a.yaml"), &[]);
}

/// Compiles a program of the generator, which parses and mostly compiles, from the seed that the bytes are.
fn generated(data: &[u8]) {
    let mut seed = [0; 8];
    let length = data.len().min(8);
    seed[..length].copy_from_slice(&data[..length]);
    let text = setpoint_oracle::generate(u64::from_le_bytes(seed));
    let _ = setpoint(&Request::manifest(&text, Mode::Eight));
}
