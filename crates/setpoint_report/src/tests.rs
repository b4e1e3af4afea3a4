#![allow(clippy::unwrap_used)]

use serde_json::json;
use setpoint_diagram::{Diagram, Edge, Node, Style};
use setpoint_source::{
    Basis, Diagnostic, Drawing, Edit, Fix, Gap, InputReport, Judgement, Question, Range, Reason, Report,
    Rule, RunTitle, Sources, Standing, Story, StoryFact, StoryRun, StoryStep, Verdict, Witness,
};
use setpoint_testing::html::{problems, text};

use crate::markup::{escaped, explanation};
use crate::{About, html};

const EVIL: &str = "<script>alert('1')</script>";

/// A report with every part that a finding may have, and source text that would like to be markup.
fn sample() -> (Report, Sources) {
    let sources = Sources::new();
    let text = format!("file {{ '{EVIL}':\n  content => Sensitive('hunter2'),\n}}\nservice {{ 'web': }}\n");
    let file = sources.add("site.pp", text.as_str());
    let first = text.find(EVIL).unwrap();
    let last = text.find("web").unwrap();
    let title = Range::new(first, first + EVIL.len()).in_file(file);
    let mut finding = Diagnostic::new(Rule::MissingOrder, format!("File[{EVIL}] needs `Service[web]`"))
        .at(title)
        .labelled(format!("File[{EVIL}]"))
        .with_label(Range::new(last, last + 3).in_file(file), "Service[web]")
        .with_note("A note of its own.")
        .with_help("Add `require` to it.")
        .with_resources([format!("File[{EVIL}]"), "Service[web]".to_owned()])
        .with_fix(Fix {
            title: "Add `require`".to_owned(),
            edits: vec![Edit {
                span: Range::new(last + 5, last + 5).in_file(file),
                replacement: " require => File['x'],".to_owned(),
            }],
        });
    let evil = format!("File[{EVIL}]");
    let run = |title, steps: [&str; 2], end| StoryRun {
        title,
        steps: steps.map(StoryStep::named).into(),
        more: 0,
        end,
    };
    let fails = StoryFact::bad(format!("Service[web] fails: no {EVIL}"));
    finding = finding.with_story(Story {
        start: vec!["/etc/web does not exist".to_owned()],
        runs: vec![
            run(
                RunTitle::OneOrder,
                [&evil, "Service[web]"],
                vec![fails, StoryFact::new("/etc/web is a file")],
            ),
            run(
                RunTitle::AnotherOrder,
                ["Service[web]", &evil],
                vec![StoryFact::new("Service[web] succeeds")],
            ),
        ],
        data: json!({}),
    });
    finding.nodes = vec!["web1".to_owned(), "web2".to_owned()];
    let diagram = Diagram {
        title: "Resources".to_owned(),
        nodes: vec![node("File", EVIL), node("Service", "web"), node("User", "app")],
        edges: vec![Edge {
            source: 0,
            target: 1,
            style: Style::Plain,
            details: EVIL.to_owned(),
            wrong: false,
        }],
        ..Diagram::default()
    };
    let second = diagram.clone();
    let input = |node: &str, order: Judgement, drawing, findings: Vec<Diagnostic>| {
        let mut input = InputReport::new("site.pp", "puppet");
        input.node = Some(node.to_owned());
        input.findings = findings;
        input.drawing = Some(drawing);
        let mut verdict = Verdict::nothing_asked();
        verdict.give(Question::Catalog, Judgement::Proved(Basis::of([Standing::BaseFolders])));
        verdict.give(Question::Order, order);
        input.conclude(verdict);
        input
    };
    let dependent = || Judgement::refuted(Witness::of(&finding));
    let web2 = input("web2", dependent(), Drawing::Graph(second), Vec::new());
    let web1 = input("web1", dependent(), Drawing::Graph(diagram), vec![finding.clone()]);
    let open = Judgement::unknown(Reason::new(Gap::Assumed, "Exec[x] touches only /srv/a").at(finding.span));
    let undecided = Diagnostic::new(Rule::Undecided, "not decided for Exec[x]: the solver gave up");
    let large = input("db1", open, Drawing::TooLarge(999), vec![undecided]);
    (Report { inputs: vec![web1, web2, large] }, sources)
}

fn node(kind: &str, name: &str) -> Node {
    Node { kind: kind.to_owned(), name: name.to_owned(), ..Node::default() }
}

fn page() -> String {
    let (report, sources) = sample();
    let about = About {
        version: "1.2.3".to_owned(),
        inputs: vec![format!("site{EVIL}.pp")],
        options: vec![("--node".to_owned(), EVIL.to_owned())],
        date: Some("today".to_owned()),
    };
    html(&report, &sources, &about).unwrap()
}

#[test]
fn what_comes_from_inputs_is_never_markup() {
    let page = page();
    assert!(!page.contains("<script"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"), "{page}");
    assert!(!page.contains("hunter2") && page.contains("Sensitive(&#39;*******&#39;)"), "{page}");
}

#[test]
fn a_finding_is_told_with_all_its_parts() {
    let page = page();
    let text = text(&page);
    for part in [
        "3 nodes checked · today",
        "1 warning\n",
        "1 note\n",
        // The verdicts, and what they say.
        "\nsite.pp | web1 | ok | dependent | 0 | 1 | 0\n",
        "\nsite.pp | web2 | ok | dependent | 0 | 1 | 0\n",
        "\nsite.pp | db1 | ok | unknown | 0 | 0 | 1\n",
        "\norder: dependent\nIt is right only thanks to the order that is taken today",
        // The finding.
        "\nwarning File[<script>alert('1')</script>] needs Service[web]\n",
        "\nsite.pp:1:9 · On 2 nodes: web1, web2\n",
        "\n1file { '<script>alert('1')</script>':\n        ↑ File[<script>alert('1')</script>]\n",
        "\n4service { 'web': }\n           ↑ Service[web]\n",
        "\nStart\n/etc/web does not exist\n",
        "\nIn one order\nFile[<script>alert('1')</script>]\nService[web]\nIt ends so:\n\
         Service[web] fails: no <script>alert('1')</script>\n/etc/web is a file\n",
        "\nIn another order\nService[web]\nFile[<script>alert('1')</script>]\nIt ends so:\nService[web] succeeds\n",
        "\nA note of its own.\n",
        "\nWhat to do\nAdd require to it.\n",
        "\n+service { 'web': require => File['x'], }\n",
        // What is open, the graphs, the rules.
        "\nsite.pp, db1 | order\nIt holds if:\norder: Exec[x] touches only /srv/a (site.pp:1:9)",
        "\nthe base folders, files and accounts of the platform exist\n",
        "\nnote not decided for Exec[x]: the solver gave up\n",
        "\nsite.pp, web1 site.pp, web2\n[The graph of site.pp, web1; site.pp, web2: 3 nodes, 1 relationship]\n",
        "Red is what errors and warnings are about.",
        "It is left out: it has 999 nodes",
        "State the order: require => Package",
        "\nMade by\nsetpoint 1.2.3\n",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert!(!text.contains("File[<script>alert('1')</script>], then Service[web]"), "the story is told once");
    assert_eq!(page.matches("<svg").count(), 1, "one graph for the nodes that share it");
    assert_eq!(page.matches("<g class=\"wrong\">").count(), 2, "two of three nodes are in the finding");
    assert!(page.contains("<mark class=\"primary\">&lt;script"), "{page}");
    assert!(page.contains("<mark class=\"other\">web</mark>"), "{page}");
}

#[test]
fn the_page_is_well_formed_and_stands_alone() {
    assert_eq!(problems(&page()), Vec::<String>::new());
    let broken = page().replacen("</article>", "", 1).replacen("href=\"#about\"", "href=\"#nowhere\"", 1);
    assert!(problems(&broken).len() > 1, "what is wrong is seen");
}

#[test]
fn the_same_report_makes_the_same_page() {
    assert_eq!(page(), page());
}

#[test]
fn a_report_without_findings_says_so() {
    let page = html(&Report::default(), &Sources::new(), &About::default()).unwrap();
    let text = text(&page);
    assert!(text.contains("0 inputs checked") && text.contains("Nothing was found."), "{text}");
    assert!(text.contains("There is nothing to draw."), "{text}");
}

#[test]
fn control_characters_are_left_out() {
    assert_eq!(escaped("a\u{0}\u{1b}[1m<\"'>\n"), "a[1m&lt;&quot;&#39;&gt;\n");
}

#[test]
fn explanations_have_paragraphs_lists_and_code() {
    let shown = explanation("One `a`\nmore.\n\n- first\n- second\n\n```\n<x>\n```\nEnd ` here.").to_string();
    assert_eq!(
        shown,
        "<p>One <code>a</code> more.</p>\n<ul>\n<li>first</li>\n<li>second</li>\n</ul>\n\
         <pre class=\"code\" tabindex=\"0\"><code>&lt;x&gt;</code></pre>\n<p>End ` here.</p>\n"
    );
}
