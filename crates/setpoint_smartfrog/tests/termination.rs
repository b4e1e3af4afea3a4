//! Every compilation ends, with an answer or with a reason (theorem 1): specifications on which the production
//! compiler runs for ever or out of its stack, and ones that are too deep or too large.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::format_collect, reason = "specifications are written for reading, not for speed")]

use std::path::Path;

use setpoint_smartfrog::{Options, Semantics, check, compile_text, output};
use setpoint_source::{Class, MemoryFileSystem, Severity, Sources};

const SEMANTICS: [Semantics; 3] = [Semantics::Core, Semantics::Forward, Semantics::Production];

/// The answers in the core, forward and production semantics: `OK json`, or the rule and the start of the message.
fn answers(text: &str) -> [String; 3] {
    SEMANTICS.map(|semantics| {
        let options = Options { semantics, ..Options::default() };
        let files = MemoryFileSystem::new();
        let compiled = compile_text(Path::new("x.sf"), text.to_owned(), &files, &Sources::new(), &options);
        if let Some(store) = &compiled.store {
            return format!("OK {}", output::json(store));
        }
        let first = compiled.diagnostics.first().unwrap();
        format!("{}: {}", first.rule.name(), first.message)
    })
}

/// Each answer begins as is expected; an empty expectation is met by any answer.
fn expect(text: &str, expected: [&str; 3]) {
    for (answer, expected) in answers(text).iter().zip(expected) {
        let shown: String = answer.chars().take(300).collect();
        assert!(answer.starts_with(expected), "expected {expected}, got {shown}");
    }
}

const DEEP: &str = "smartfrog-limit: this is nested more than 500 levels deep";
const CYCLE: &str = "smartfrog-compile: err106";

#[test]
fn text_that_is_nested_without_end() {
    let nested = |open: &str, middle: &str, close: &str| {
        format!("sfConfig extends {{ {}{middle}{} }}", open.repeat(100_000), close.repeat(100_000))
    };
    expect(&nested("a extends {", "", "}"), [DEEP; 3]);
    expect(&nested("a extends {", "", ""), [DEEP; 3]);
    expect(&format!("sfConfig extends {{ a {}1{}; }}", "[".repeat(100_000), "]".repeat(100_000)), [DEEP; 3]);
    expect(&format!("sfConfig extends {{ a {}1{}; }}", "(".repeat(100_000), ")".repeat(100_000)), [DEEP; 3]);
    expect(
        &format!("sfConfig extends {{ a {}; }}", "IF ".repeat(100_000)),
        ["syntax-error", "syntax-error", DEEP],
    );
}

#[test]
fn text_that_is_nested_as_deep_as_is_allowed() {
    let text = format!("sfConfig extends {{ {} x 1; {} }}", "a extends {".repeat(480), "}".repeat(480));
    expect(&text, ["OK {\"a\":{\"a\":"; 3]);
}

#[test]
fn components_that_contain_themselves() {
    let figure_8 = "sfConfig extends { comp1 extends { comp2 comp1; } }";
    expect(figure_8, ["OK {\"comp1\":{\"comp2\":{}}}", CYCLE, CYCLE]);
    let section_7 = "sfConfig extends { a extends sfConfig }";
    expect(section_7, ["OK {\"a\":{\"a\":{}}}", "OK {\"a\":{\"a\":{}}}", CYCLE]);
    let mutual = "sfConfig extends { a extends b, { x 1; } b extends a, { y 2; } }";
    expect(mutual, ["smartfrog-compile: err4", "smartfrog-compile: err4", CYCLE]);
    let through_parts = "sfConfig extends { a extends { l b; } b extends { m c; } c extends { n b:m; } }";
    expect(through_parts, ["smartfrog-compile: err5", CYCLE, CYCLE]);
    let growing = format!("sfConfig extends {{ x 1; {} }}", "a extends sfConfig ".repeat(5_000));
    expect(&growing, ["smartfrog-limit", "smartfrog-limit", CYCLE]);
}

#[test]
fn functions_that_feed_themselves() {
    expect("sfConfig extends { a (b + 1); b (a + 1); }", ["", "", "smartfrog-compile: err105"]);
    expect("sfConfig extends { a (a ++ a); }", ["", "", "smartfrog-compile: err105"]);
    expect("sfConfig extends { a IF a THEN 1 ELSE 2 FI; }", ["", "", "smartfrog-compile: err105"]);
    expect("sfConfig extends { a OPTIONAL(1) b; b OPTIONAL(2) a; }", ["", "", "smartfrog-compile: err105"]);
}

#[test]
fn placements_that_prototypes_bring_back() {
    let text = "P extends { a extends { } a:b extends Q; } Q extends { a:c extends { } a extends { } }
                sfConfig extends { p extends P; p:a:b:a:d 5; }";
    expect(text, ["", "", "OK {\"p\":{\"a\":{\"b\":{\"a\":{\"d\":5,\"c\":{}}}}}}"]);
    expect("sfConfig extends { a extends { b extends { } b:c extends a; } }", ["OK", "OK", CYCLE]);
    expect(
        "sfConfig extends { a:a:a 1; a:a extends { } a extends { } }",
        ["", "", "OK {\"a\":{\"a\":{\"a\":1}}}"],
    );
}

#[test]
fn components_that_double() {
    let double = |inner: fn(usize) -> String| {
        let steps: String = (1..64).map(inner).collect();
        format!("a0 extends {{ x 1; }} {steps} sfConfig extends {{ z extends a63 }}")
    };
    expect(
        &double(|at| format!("a{at} extends {{ l extends a{0} r extends a{0} }} ", at - 1)),
        ["smartfrog-limit"; 3],
    );
    expect(&double(|at| format!("a{at} extends {{ l a{0}; r a{0}; }} ", at - 1)), ["smartfrog-limit"; 3]);
    let copies: String = (0..60).map(|at| format!("a{at} extends sfConfig ")).collect();
    expect(&format!("sfConfig extends {{ x 1; {copies} }}"), ["smartfrog-limit", "smartfrog-limit", CYCLE]);
    for operator in ["<>", "++"] {
        let steps: String = (1..60).map(|at| format!("a{at} (a{0} {operator} a{0});", at - 1)).collect();
        expect(&format!("sfConfig extends {{ a0 [1, 2]; {steps} }}"), ["", "", "smartfrog-limit"]);
    }
}

#[test]
fn long_chains() {
    let links: String = (0..20_000).map(|at| format!("a{at} a{};", at + 1)).collect();
    let forward = format!("sfConfig extends {{ {links} a20000 1; }}");
    expect(&forward, ["smartfrog-compile: err5", "OK {\"a0\":1,", "smartfrog-limit"]);
    let links: String = (1..20_000).map(|at| format!("a{at} a{};", at - 1)).collect();
    expect(&format!("sfConfig extends {{ a0 1; {links} }}"), ["OK {\"a0\":1,"; 3]);
    let prototypes: String = (1..20_000).map(|at| format!("a{at} extends a{};", at - 1)).collect();
    expect(
        &format!("sfConfig extends {{ a0 extends {{ x 1; }} {prototypes} }}"),
        ["OK {\"a0\":{\"x\":1},"; 3],
    );
    let prototypes: String = (0..20_000).map(|at| format!("a{at} extends a{};", at + 1)).collect();
    let forward = format!("sfConfig extends {{ {prototypes} a20000 extends {{ x 1; }} }}");
    expect(&forward, ["smartfrog-compile: err4", "smartfrog-compile: err4", "smartfrog-limit"]);
    let nested: String =
        (1..20_000).map(|at| format!("a{at} extends {{ n extends a{}; }} ", at - 1)).collect();
    expect(&format!("a0 extends {{ }} {nested} sfConfig extends a19999"), ["smartfrog-limit"; 3]);
    let nested: String = (1..20_000).map(|at| format!("a{at} extends {{ n a{}; }} ", at - 1)).collect();
    expect(&format!("a0 extends {{ }} {nested} sfConfig extends a19999"), ["smartfrog-limit"; 3]);
}

#[test]
fn text_that_is_no_specification() {
    for piece in ["{", "}", "\"", "/*", "(", "a:", "extends ", "@", "##", "\\", "[| ", "-- ", "\u{0}", "é"] {
        let text = piece.repeat(20_000);
        for answer in answers(&text) {
            assert!(
                answer.starts_with("smartfrog-") || answer.starts_with("syntax-error"),
                "{piece}: {answer}"
            );
        }
    }
    expect(
        &format!("{}a 1;", "sfConfig:".repeat(20_000)),
        ["smartfrog-limit", "smartfrog-limit", "smartfrog-compile: err2"],
    );
}

#[test]
fn files_that_include_each_other_without_end() {
    let mut files = MemoryFileSystem::new();
    files.add("a.sf", "#include \"./b/../b.sf\"\n");
    files.add("b.sf", "#include \"a.sf\"\n");
    for at in 0..40 {
        files.add(format!("d{at}.sf"), format!("#include \"d{0}.sf\"\n#include \"d{0}.sf\"\n", at + 1));
        files.add(format!("c{at}.sf"), format!("#include \"c{}.sf\"\n", at + 1));
    }
    files.add("d40.sf", "x 1;\n");
    for (first, reason) in
        [("a.sf", "includes itself"), ("d0.sf", "more than 10000 files"), ("c0.sf", "cannot read")]
    {
        let text = format!("#include \"{first}\"\nsfConfig extends {{ }}\n");
        let options = Options::default();
        let compiled = compile_text(Path::new("main.sf"), text, &files, &Sources::new(), &options);
        assert!(compiled.store.is_none());
        assert!(compiled.diagnostics.iter().any(|found| found.message.contains(reason)), "{reason}");
    }
}

#[test]
fn check_ends_where_compilation_does() {
    let wide: String = (0..1_000).map(|at| format!("x{at} {at};")).collect();
    let chain: String = (1..1_000).map(|at| format!("a{at} extends a{}, {{ y{at} 1; }} ", at - 1)).collect();
    let text = format!("a0 extends {{ {wide} }} {chain} sfConfig extends a999");
    let checked =
        check::check(Path::new("x.sf"), text, &MemoryFileSystem::new(), &Sources::new(), &Options::default());
    let findings = checked.findings;
    assert!(findings.is_empty(), "{:?}", findings.first());
}

/// What was not read or is over a limit is a finding of its own with a place, and is counted.
#[test]
fn what_was_not_read_has_a_place() {
    let mut files = MemoryFileSystem::new();
    files.add("broken.sf", "sfConfig extends {");
    files.add("deep0.sf", "#include \"deep1.sf\"\n");
    for at in 1..60 {
        files.add(format!("deep{at}.sf"), format!("#include \"deep{}.sf\"\n", at + 1));
    }
    for (include, read, parsed, class) in [
        ("missing.sf", 1, 1, Class::Open),
        ("broken.sf", 2, 1, Class::Syntax),
        ("deep0.sf", 50, 50, Class::Open),
        ("x.sf", 1, 1, Class::Open),
    ] {
        let text = format!("#include \"{include}\"\nsfConfig extends {{ }}\n");
        let checked = check::check(Path::new("x.sf"), text, &files, &Sources::new(), &Options::default());
        let errors: Vec<_> =
            checked.findings.iter().filter(|found| found.severity == Severity::Error).collect();
        assert!(errors.iter().any(|found| found.rule.class() == class), "{include}: {errors:?}");
        assert!(errors.iter().all(|found| found.span.is_some()), "{include}: {errors:?}");
        let counted = checked.coverage.sources;
        assert_eq!((counted.read, counted.parsed), (read, parsed), "{include}");
        assert_eq!(checked.coverage.definitions.reached, 0, "{include}: nothing is compiled");
    }
    let whole = check::check(
        Path::new("x.sf"),
        "a extends { } b extends { } sfConfig extends a\n".to_owned(),
        &files,
        &Sources::new(),
        &Options::default(),
    );
    let components = whole.coverage.definitions;
    assert_eq!((components.reached, components.found), (2, 3), "nothing extends b");
}
