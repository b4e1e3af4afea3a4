//! No text makes the parser panic, overflow the stack or lose its place.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use setpoint_puppet_syntax::ast::{Expr, ExprKind, Program};
use setpoint_puppet_syntax::{Parse, children, dump, parse, parse_epp, parse_expression};
use setpoint_source::{FileId, Severity};
use setpoint_testing::{Random, shared, skip};

fn read(text: &str) -> Parse {
    parse(FileId(0), text)
}

fn is_fine(parsed: &Parse) -> bool {
    parsed.diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error)
}

fn only_too_deep(text: &str) {
    let parsed = read(text);
    let rules: Vec<_> = parsed.diagnostics.iter().map(|diagnostic| diagnostic.rule.name()).collect();
    assert_eq!(rules, ["nested-too-deep"], "{}", &text[..40]);
}

#[test]
fn nesting_has_a_limit_and_one_message() {
    let deep = 100_000;
    for (open, middle, close) in [
        ("[", "1", "]"),
        ("(", "1", ")"),
        ("{a => ", "1", "}"),
        ("if true { ", "notice(1)", " }"),
        ("case 1 { 1: { ", "notice(1)", " } }"),
        ("foo(", "1", ")"),
        ("!", "true", ""),
        ("- ", "1", ""),
        ("$x = ", "1", ""),
        ("\"${", "x", "}\""),
        ("class a { ", "notice(1)", " }"),
        ("foo() || { ", "notice(1)", " }"),
        ("file { 'a': b => [", "1", "] }"),
        ("@", "file { 'a': }", ""),
        ("$x ? { a => ", "1", " }"),
        ("$x ? a => ", "1", ""),
        ("x[", "1", "]"),
        ("File <| a == (", "1", ") |>"),
        ("1 < 2 == 3 << (", "4", ")"),
    ] {
        only_too_deep(&format!("{}{middle}{}", open.repeat(deep), close.repeat(deep)));
        // Half a bracket is enough.
        only_too_deep(&open.repeat(deep));
    }
}

#[test]
fn long_chains_are_no_deep_nesting() {
    let links = 4_000;
    for (first, link) in [
        ("$x = 1", " + 1"),
        ("$x = true", " and true"),
        ("File['a']", " -> File['a']"),
        ("$x", ".foo()"),
        ("$x = $y", "[1]"),
        ("if $a { notice(1) }", " elsif $a { notice(1) }"),
    ] {
        let text = format!("{first}{}", link.repeat(links));
        let parsed = read(&text);
        assert!(is_fine(&parsed), "{link}: {:?}", parsed.diagnostics[0].message);
        assert_eq!(parsed.program.body.len(), 1);
    }
    only_too_deep(&format!("$x = 1{}", " + 1".repeat(1_000_000)));
    only_too_deep(&format!("if $a {{ }}{}", " elsif $a { }".repeat(1_000_000)));
    // A chain inside a chain is as deep as both.
    let mut nested = "1".to_owned();
    for _ in 0..100 {
        nested = format!("({nested}){}", " + 1".repeat(100));
    }
    only_too_deep(&format!("$x = {nested}"));
}

#[test]
fn long_lists_are_no_nesting() {
    let many = 100_000;
    assert!(is_fine(&read(&format!("$x = [{}]", "1, ".repeat(many)))));
    assert!(is_fine(&read(&"notice(1)\n".repeat(many))));
    assert!(is_fine(&read(&format!("case 1 {{ {} }}", "1: { } ".repeat(many)))));
    assert!(is_fine(&read(&format!("$x = \"{}\"", "${x} ".repeat(many)))));
    assert!(is_fine(&read(&format!("foo {{ {} }}", "'a': b => 1; ".repeat(many)))));
}

#[test]
fn any_bytes_are_read_in_linear_time() {
    let size = 2_000_000;
    for piece in [
        "\\/",
        "/",
        "\"",
        "'",
        "$",
        "@(",
        "@(A)\n",
        "${",
        "\"${",
        "<<|",
        "(",
        " (",
        "\u{a0}(",
        "::",
        "Foo::",
        "foo::",
        "0x",
        "1.",
        "1e",
        "/*",
        "#",
        "\r",
        "\r\n",
        "\u{feff}",
        "\0",
        "é",
        "}",
        "]",
        "{",
        "[",
        "|",
        "-%>",
        "<%",
        "%>",
        "class a { ",
        "= ",
        ", ",
        "; ",
        "\\",
        "\"\\",
        "if ",
        "@@",
        "x => ",
        "x: ",
        "@(\"A\")\n${",
        "plan a(",
        "''",
        "\"\"\"",
    ] {
        let text = piece.repeat(size / piece.len());
        let parsed = read(&text);
        check_ranges(&parsed, &text);
        let parsed = parse_epp(FileId(0), &text);
        check_ranges(&parsed, &text);
        parse_expression(FileId(0), &text);
    }
}

#[test]
fn line_ends_of_other_systems() {
    let unix = "class a(\n  $x = 1,\n) {\n  # c\n  notice($x)\n  (1)\n  $y = @(E)\n    text\n    | E\n}\n";
    let windows = unix.replace('\n', "\r\n");
    assert_eq!(dump(&read(unix).program), dump(&read(&windows).program).replace("\\r\\n", "\\n"));
}

/// Every byte of every manifest, changed in many ways.
#[test]
fn mutated_manifests_do_no_harm() {
    let mut texts: Vec<String> = vec![
        "class a(String $x = \"${b}\") inherits c { file { ['a', $y]: * => $h; default: mode => '0644' } ~> Exec <| a == 1 |> }".to_owned(),
        "$x = @(\"E\":json/tn)\n   a ${b.map |$c| { \"${c}\" }} $d\n   |- E\nnode /x/, 'y' { if 1 =~ /2/ { notice 1, 2 } }".to_owned(),
    ];
    match shared() {
        Some(folder) => collect(&folder.join("corpus/puppet"), &mut texts),
        None => skip("puppet syntax: mutated corpus", "the shared corpora are not there"),
    }
    let mut random = Random::new(1);
    let pieces = [
        "{", "}", "[", "]", "(", ")", "\"", "'", "${", "$", "@(", "/", "=>", "|", "?", "\\", "\n", "::",
        "<|", "@", ",", ";", "é", "if ", "class ", "0x", "/*", "#", "<%", "%>", " ", "Foo", "-",
    ];
    for text in &texts {
        for _ in 0..40 {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len() + 1);
                match random.below(3) {
                    0 if at < bytes.len() => {
                        bytes.remove(at);
                    }
                    1 if at < bytes.len() => bytes[at] = random.below(256) as u8,
                    _ => {
                        let piece = random.pick(&pieces);
                        bytes.splice(at..at, piece.bytes());
                    }
                }
            }
            let mutated = String::from_utf8_lossy(&bytes);
            check_ranges(&read(&mutated), &mutated);
            check_ranges(&parse_epp(FileId(0), &mutated), &mutated);
        }
    }
}

fn collect(folder: &std::path::Path, out: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "pp")
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            out.push(text);
        }
    }
}

/// Ranges lie in the file, those of parts within that of the whole, and diagnostics have a place.
fn check_ranges(parsed: &Parse, text: &str) {
    let end = text.len() as u32;
    for diagnostic in &parsed.diagnostics {
        let range = diagnostic.span.unwrap().range;
        assert!(range.start <= range.end && range.end <= end, "{range:?} {}", diagnostic.message);
    }
    let Program { body, .. } = &parsed.program;
    let mut work: Vec<&Expr> = body.iter().collect();
    while let Some(expr) = work.pop() {
        assert!(expr.range.start <= expr.range.end && expr.range.end <= end, "{:?}", expr.range);
        children(expr, &mut |child| work.push(child));
        match &expr.kind {
            ExprKind::Class(class) => work.extend(&class.body),
            ExprKind::Define(define) => work.extend(&define.body),
            ExprKind::Node(node) => work.extend(&node.body),
            ExprKind::Function(function) => work.extend(&function.body),
            ExprKind::Epp { body, .. } => work.extend(body),
            _ => {}
        }
    }
}
