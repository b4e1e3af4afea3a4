//! The rule language: its messages, its recovery and its one layout.

use setpoint_orchestra::language::{format, parse};
use setpoint_orchestra::{load_model, load_model_text, models};
use setpoint_source::{FileId, MemoryFileSystem, Sources, print};
use setpoint_testing::Random;
use std::path::Path;

/// The findings as users see them.
fn shown(text: &str) -> String {
    let sources = Sources::new();
    let loaded = load_model_text(&sources, "test.spm", text);
    loaded.diagnostics.iter().map(|found| print::diagnostic(found, &sources, false)).collect()
}

#[test]
fn a_mistake_is_shown_in_its_line_with_the_cure() {
    let text = "class resource {\n  states initial, started\n}\nrule start (r: resource) {\n  when r is intial\n  then r becomes started\n}\nfinal { all r: resource { r is started } }\n";
    let shown = shown(text);
    assert!(shown.contains("error[model-names]: class `resource` has no state `intial`"), "{shown}");
    assert!(shown.contains("test.spm:5:13"), "{shown}");
    assert!(shown.contains("when r is intial"), "{shown}");
    assert!(shown.contains("help: did you mean `initial`?"), "{shown}");
}

#[test]
fn one_mistake_does_not_hide_the_next() {
    let shown = shown(
        "class a { states x y }\nclass b {\n  link to a\n  states p, q\n}\nrule r (o: b) {\n  when o is\n  then o becomes q\n}\nfrobnicate\nfinal { all o: b { o is q } }\n",
    );
    for message in [
        "expected `types`, `states`, `messages`, `ordered`, `link` or `}`, found `y`",
        "expected `:` and the class that the link leads to, found `a`",
        "expected a state, found `then`",
        "found `frobnicate`",
    ] {
        assert!(shown.contains(message), "{message}\n{shown}");
    }
}

#[test]
fn names_are_checked() {
    for (text, message) in [
        ("class a { states x } class a { states y } final { true }", "class `a` is declared twice"),
        ("class a { states x, x } final { true }", "state `x` is declared twice"),
        ("class a { link type: a } final { true }", "cannot name a link"),
        ("class a { states x } final { all o: b { o is x } }", "there is no class `b`"),
        ("class a { states x } final { all o: a { p is x } }", "`p` is not a variable here"),
        (
            "class a { states x } class b { states y } final { all o: a { all p: b { o = p } } }",
            "never equal",
        ),
        (
            "class a { states x } rule r (o: a) { when o is x } final { all o: a { o is x } }",
            "changes nothing",
        ),
        ("class a { states x }", "has no `final`"),
        (
            "class a { states x } require { all o: a { o is x } } final { all o: a { o is x } }",
            "never changes",
        ),
        ("class a { states x } final { acyclic o -> o for o: a }", "belongs into `require` or `init`"),
        (
            "class a { states x } final { all o: a { o is x } } instance i { p: a { to = q } }",
            "has no link `to`",
        ),
        ("class a { states x link to: a } final { true } instance i { p: a { to = q } }", "no such a"),
        ("class a { states x link to: a } final { true } instance i { p: a }", "has no link `to`"),
        ("use \"b.spm\"", "uses no other file"),
    ] {
        assert!(shown(text).contains(message), "{text}\n{}", shown(text));
    }
}

#[test]
fn files_can_use_each_other_but_not_in_a_circle() {
    let mut files = MemoryFileSystem::new();
    files.add("m/base.spm", "class a { states x, y } final { all o: a { o is y } }");
    files.add("m/rules.spm", "use \"base.spm\"\nrule r (o: a) { when o is x then o becomes y }");
    files.add("m/self.spm", "use \"self.spm\"");
    let sources = Sources::new();
    let loaded = load_model(&files, &sources, Path::new("m/rules.spm"));
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    assert_eq!(loaded.model.unwrap().rules.len(), 1);
    let circle = load_model(&files, &sources, Path::new("m/self.spm"));
    assert!(circle.diagnostics[0].message.contains("uses itself"));
}

#[test]
fn the_built_in_files_have_the_one_layout() {
    for built_in in models::ALL {
        let parsed = parse(FileId(0), built_in.text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        assert_eq!(format(&parsed.file, built_in.text), built_in.text, "{}", built_in.path);
    }
}

#[test]
fn the_dissertation_models_are_short() {
    assert!(models::CLOUDFORMATION_SETUP.text.lines().count() <= 40);
    assert!(models::TOSCA_SETUP.text.lines().count() <= 80);
}

#[test]
fn the_layout_keeps_comments_and_meaning() {
    let ugly = "# first\nmodel   m   \"t\"  # named\n\n\n\nclass a{types t,u states x ,y # two\n link to:a one-to-one onto }\nrule r(o:a,p:a){when (o is x)and(not(p is y or o=p))\n\n # before\n then o becomes y,p becomes y}\nfinal{all o:a where o of t|u{o is y implies (o.to is x implies o is x)}\n# inside\n}\n# last";
    let pretty = format(&parse(FileId(0), ugly).file, ugly);
    assert_eq!(
        pretty,
        "# first\nmodel m \"t\"  # named\n\nclass a {\n  types t, u\n  states x, y  # two\n  link to: a one-to-one onto\n}\nrule r (o: a, p: a) {\n  when o is x and not (p is y or o = p)\n\n  # before\n  then o becomes y, p becomes y\n}\nfinal {\n  all o: a where o of t|u { o is y implies o.to is x implies o is x }\n  # inside\n}\n\n# last\n"
    );
    let again = format(&parse(FileId(0), &pretty).file, &pretty);
    assert_eq!(again, pretty);
}

/// Texts cut off and stirred up: nothing panics, and what is formatted stays as it is.
#[test]
fn any_text_is_read_without_a_panic() {
    let mut random = Random::new(7);
    for built_in in models::ALL {
        let text = built_in.text;
        for _ in 0..400 {
            let mut bytes: Vec<char> = text.chars().collect();
            for _ in 0..=random.below(6) {
                let at = random.below(bytes.len());
                match random.below(3) {
                    0 => bytes.truncate(at),
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(
                        at,
                        ['{', '}', '(', ')', '"', '#', '.', '|', 'é', '-', ':', ','][random.below(12)],
                    ),
                }
                if bytes.is_empty() {
                    bytes.push('x');
                }
            }
            let stirred: String = bytes.into_iter().collect();
            let sources = Sources::new();
            let loaded = load_model_text(&sources, "test.spm", &stirred);
            for found in &loaded.diagnostics {
                assert!(!print::diagnostic(found, &sources, false).is_empty());
            }
            let parsed = parse(FileId(0), &stirred);
            if parsed.diagnostics.is_empty() {
                let once = format(&parsed.file, &stirred);
                let again = parse(FileId(0), &once);
                assert!(again.diagnostics.is_empty(), "{once}");
                assert_eq!(format(&again.file, &once), once);
            }
        }
    }
}

#[test]
fn deep_and_long_formulas_are_no_danger() {
    let deep = format!("final {{ {}true{} }}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(shown(&deep).contains("nested more than"));
    let not = format!("final {{ {} true }}", "not ".repeat(100_000));
    assert!(shown(&not).is_empty(), "{}", shown(&not));
    let long = format!("final {{ true{} }}", " and true".repeat(100_000));
    assert!(shown(&long).is_empty());
}
