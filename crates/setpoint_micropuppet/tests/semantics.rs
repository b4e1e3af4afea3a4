//! docs/semantics.md: every program is evaluated, and its trace is the one that is printed below it. `SETPOINT_BLESS=1` rewrites the
//! traces.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::Path;

use setpoint_smartfrog::{Options, Semantics, compile_text, semantics};
use setpoint_source::{MemoryFileSystem, Sources};

/// What a program of a block gives: `sf`, `sf forward`, `sf production`, `sf all`, `pp`.
fn answer(kind: &str, text: &str) -> String {
    let sources = Sources::new();
    let files = MemoryFileSystem::new();
    if kind == "pp" {
        let file = sources.add("site.pp".to_owned(), text.to_owned());
        let parse = setpoint_puppet_syntax::parse(file, text);
        assert!(parse.diagnostics.is_empty(), "{text}: {:?}", parse.diagnostics);
        return setpoint_trace::text(
            &setpoint_micropuppet::trace(&parse.program, "localhost", &[]).trace,
            &sources,
        );
    }
    let path = Path::new("a.sf");
    let semantics = match kind {
        "sf all" => {
            let options = Options { provenance: true, ..Options::default() };
            return semantics::compile_all(path, text, &files, &sources, &options).text(&sources);
        }
        "sf forward" => Semantics::Forward,
        "sf production" => Semantics::Production,
        _ => Semantics::Core,
    };
    let options = Options { semantics, trace: true, ..Options::default() };
    let compiled = compile_text(path, text.to_owned(), &files, &sources, &options);
    setpoint_trace::text(&compiled.trace.unwrap(), &sources)
}

#[test]
fn every_trace_of_the_document_is_right() {
    let path = setpoint_testing::repository().join("docs/semantics.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut out = String::new();
    let mut program: Option<(String, String)> = None;
    let mut count = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let block: String = block.iter().flat_map(|line| [*line, "\n"]).collect();
        if kind == "trace" {
            let (kind, text) = program.take().unwrap_or_else(|| panic!("a trace without a program: {block}"));
            out.push_str(answer(&kind, &text).trim_start_matches('\n'));
            count += 1;
        } else {
            out.push_str(&block);
            program = Some((kind.to_owned(), block));
        }
        out.push_str("```\n");
    }
    assert!(count > 20, "only {count} traces");
    if std::env::var_os("SETPOINT_BLESS").is_some() {
        std::fs::write(&path, &out).unwrap();
        return;
    }
    assert_eq!(text, out, "a trace differs; SETPOINT_BLESS=1 rewrites them");
}

/// Rules that the text names, and that a trace shows.
#[test]
fn every_rule_is_shown_at_work() {
    let path = setpoint_testing::repository().join("docs/semantics.md");
    let text = std::fs::read_to_string(path).unwrap();
    let traces: String =
        text.split("```trace\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let shown: BTreeSet<&str> = traces.split([' ', ':', '\n']).collect();
    let rules = "PNODE PDEFRES PCLASS BTOP BNODE BDEFRES BCLASS LVAR PVAR TVAR QVAR ARITHLEFT ARITHRIGHT ARITHVALUE COMPLEFT \
        COMPRIGHT COMPVALUEI COMPVALUEII ANDLEFT ANDRIGHTI ANDRIGHTII ANDVALUE NOTSTEP NOTVALUEI NOTVALUEII ARREXP ARRELE ARRELEI \
        HEXP HELE HELEI SCON SELE SCHOOSE SCHOOSEI SDEFAULT DEREFEXP DEREFINDEX DEREFARRAY DEREFHASH REFRES DEREFRES EXPRSTEP EXPR \
        SEQSTEP SEQSKIP ASSIGNSTEP ASSIGN IFSTEP IFT IFF UNLESSSTEP UNLESST UNLESSF CASESTEP1 CASESTEP2 CASEMATCH CASENOMATCH \
        CASEDEFAULT CASEDONE RESSTEP RESDECL DEFSTEP DEF INCU INCD INCPU INCPD CDECSTEP CDECU CDECPU CDECPD SCOPESTEP DEFSCOPESTEP \
        SCOPEDONE DEFSCOPEDONE TOPSCOPE MSEQSTEP MSEQSKIP NODEMATCH NODENOMATCH RDEF CDEF CDEFI CDEFP CDEFPI";
    let missing: Vec<&str> = rules.split_whitespace().filter(|rule| !shown.contains(rule)).collect();
    assert!(missing.is_empty(), "no trace shows {}", missing.join(", "));
    for definition in [13, 14, 16, 17, 18, 21, 22, 23, 24, 25, 26, 27] {
        assert!(traces.contains(&format!("Def. {definition} (")), "no trace shows definition {definition}");
    }
}
