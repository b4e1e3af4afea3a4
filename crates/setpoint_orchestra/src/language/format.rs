//! One layout for all rule files.

use super::syntax::{
    Binder, Claim, Clause, Edge, Effect, EffectKind, Formula, FormulaKind, Item, Member, Name, ObjectItem,
    Path, Quoted, RuleFile,
};

/// The file in the one layout. Comments keep their places: before a line, or at its end.
pub fn format(file: &RuleFile, text: &str) -> String {
    let mut out = Printer { text, comments: &file.comments, next: 0, out: String::new(), depth: 0 };
    for (at, item) in file.items.iter().enumerate() {
        let first =
            out.comments.get(out.next).map_or(item.range().start, |c| c.range.start.min(item.range().start));
        let separate = at > 0 && out.blank_before(first);
        out.item(item, separate);
    }
    out.comments_before(u32::MAX, !file.items.is_empty());
    out.out
}

/// Longer blocks are written on several lines.
const WIDTH: usize = 110;

struct Printer<'a> {
    text: &'a str,
    comments: &'a [Quoted],
    next: usize,
    out: String,
    depth: usize,
}

impl Printer<'_> {
    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
    }

    /// Comments that stand alone before an offset, one a line. A blank line in the source stays.
    fn comments_before(&mut self, offset: u32, mut blank: bool) {
        while let Some(comment) = self.comments.get(self.next).filter(|comment| comment.range.start < offset)
        {
            if blank {
                self.out.push('\n');
            }
            self.indent();
            self.out.push_str(&comment.text);
            self.out.push('\n');
            self.next += 1;
            blank = self.blank_after(comment.range.end);
        }
        if blank && offset != u32::MAX {
            self.out.push('\n');
        }
    }

    fn blank_after(&self, offset: u32) -> bool {
        let rest = self.text.get(offset as usize..).unwrap_or("");
        let gap = rest.len() - rest.trim_start().len();
        rest[..gap].matches('\n').count() > 1
    }

    fn blank_before(&self, offset: u32) -> bool {
        let before = self.text.get(..offset as usize).unwrap_or("");
        before[before.trim_end().len()..].matches('\n').count() > 1
    }

    /// A comment that stands at the end of the line that ends at `offset`, then the line end.
    fn end_line(&mut self, offset: u32) {
        if let Some(comment) = self.comments.get(self.next) {
            let between = self.text.get(offset as usize..comment.range.start as usize);
            if comment.range.start >= offset
                && between.is_some_and(|gap| !gap.contains('\n') && gap.trim().is_empty())
            {
                self.out.push_str("  ");
                self.out.push_str(&comment.text);
                self.next += 1;
            }
        }
        self.out.push('\n');
    }

    fn line(&mut self, text: &str, start: u32, end: u32, first: bool) {
        let first_comment =
            self.comments.get(self.next).map_or(start, |comment| comment.range.start.min(start));
        let blank = !first && self.blank_before(first_comment);
        self.comments_before(start, blank);
        self.indent();
        self.out.push_str(text);
        self.end_line(end);
    }

    fn item(&mut self, item: &Item, separate: bool) {
        let range = item.range();
        self.comments_before(range.start, separate);
        match item {
            Item::Model { name, title, .. } => {
                let title = title.as_ref().map(|title| format!(" \"{}\"", title.text)).unwrap_or_default();
                self.head(&format!("model {}{title}", name.text), range.end);
            }
            Item::Use { path, .. } => self.head(&format!("use \"{}\"", path.text), range.end),
            Item::Class(class) | Item::Extend(class) => {
                let word = if matches!(item, Item::Class(_)) { "class" } else { "extend" };
                let lines = class.members.iter().map(|m| (member(m), m.range())).collect();
                self.block(&format!("{word} {}", class.name.text), lines, range.end, class.name.range.end);
            }
            Item::Rule(rule) => {
                let title =
                    rule.title.as_ref().map(|title| format!(" \"{}\"", title.text)).unwrap_or_default();
                let parameters: Vec<String> = rule.parameters.iter().map(binder).collect();
                let head = format!("rule {}{title} ({})", rule.name.text, parameters.join(", "));
                let lines = rule.clauses.iter().map(|c| (clause(c), c.range())).collect();
                let open = rule.parameters.last().map_or(rule.name.range.end, |last| last.class.range.end);
                self.block(&head, lines, range.end, open);
            }
            Item::Require { claims, .. } => self.claims("require", claims, range),
            Item::Init { claims, .. } => self.claims("init", claims, range),
            Item::Final { claims, .. } => self.claims("final", claims, range),
            Item::Invariant { name, claims, .. } => {
                self.claims(&format!("invariant {}", name.text), claims, range);
            }
            Item::Instance { name, objects, .. } => {
                let lines = objects.iter().map(|o| (object(o), o.range)).collect();
                self.block(&format!("instance {}", name.text), lines, range.end, name.range.end);
            }
        }
    }

    fn head(&mut self, text: &str, end: u32) {
        self.out.push_str(text);
        self.end_line(end);
    }

    fn claims(&mut self, head: &str, claims: &[Claim], range: setpoint_source::Range) {
        let lines = claims.iter().map(|c| (claim(c), c.range())).collect();
        self.block(head, lines, range.end, range.start + head.len() as u32);
    }

    fn block(&mut self, head: &str, lines: Vec<(String, setpoint_source::Range)>, end: u32, head_end: u32) {
        let commented = self.comments.get(self.next).is_some_and(|comment| comment.range.start < end);
        let written = self.text.get(head_end as usize..end as usize).unwrap_or("\n");
        if !written.contains('\n') && !commented {
            // A short block that was written on one line stays on it.
            let inner: Vec<&str> = lines.iter().map(|(text, _)| text.as_str()).collect();
            let line = format!("{head} {{ {} }}", inner.join(" "));
            if line.len() <= WIDTH {
                self.out.push_str(&line);
                self.end_line(end);
                return;
            }
        }
        self.out.push_str(head);
        self.out.push_str(" {");
        let brace = self.text.get(head_end as usize..).and_then(|rest| rest.find('{'));
        self.end_line(brace.map_or(head_end, |at| head_end + at as u32 + 1));
        self.depth += 1;
        for (at, (text, range)) in lines.into_iter().enumerate() {
            self.line(&text, range.start, range.end, at == 0);
        }
        self.comments_before(end, false);
        // A blank line before the closing brace is dropped.
        while self.out.ends_with("\n\n") {
            self.out.pop();
        }
        self.depth -= 1;
        self.indent();
        self.out.push('}');
        self.end_line(end);
    }
}

fn member(member: &Member) -> String {
    match member {
        Member::Types(list, _) => format!("types {}", names(list, ", ")),
        Member::States(list, _) => format!("states {}", names(list, ", ")),
        Member::Messages(list, _) => format!("messages {}", names(list, ", ")),
        Member::Ordered(_) => "ordered".to_owned(),
        Member::Link { name, target, one_to_one, onto, .. } => format!(
            "link {}: {}{}{}",
            name.text,
            target.text,
            if *one_to_one { " one-to-one" } else { "" },
            if *onto { " onto" } else { "" }
        ),
    }
}

fn names(list: &[Name], separator: &str) -> String {
    list.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(separator)
}

fn clause(clause: &Clause) -> String {
    match clause {
        Clause::When(condition, _) => format!("when {}", formula(condition, 0)),
        Clause::Then(effects, _) => {
            let effects: Vec<String> = effects.iter().map(effect).collect();
            format!("then {}", effects.join(", "))
        }
    }
}

fn effect(effect: &Effect) -> String {
    let verb = match effect.kind {
        EffectKind::Becomes => "becomes",
        EffectKind::Gets => "gets",
        EffectKind::Loses => "loses",
    };
    format!("{} {verb} {}", path(&effect.path), effect.value.text)
}

fn claim(claim: &Claim) -> String {
    match claim {
        Claim::Formula(condition) => formula(condition, 0),
        Claim::Acyclic { edges, .. } => {
            let edges: Vec<String> = edges.iter().map(edge).collect();
            format!("acyclic {}", edges.join(", "))
        }
    }
}

fn edge(edge: &Edge) -> String {
    let filter = edge.filter.as_ref().map(|f| format!(" where {}", formula(f, 0))).unwrap_or_default();
    format!("{} -> {} for {}{filter}", path(&edge.from), path(&edge.to), binder(&edge.binder))
}

fn object(object: &ObjectItem) -> String {
    let mut out = format!("{}: {}", names(&object.names, ", "), object.class.text);
    if let Some(kind) = object.kind {
        out += &format!(" of {}", kind.text);
    }
    if let Some(state) = object.state {
        out += &format!(" is {}", state.text);
    }
    if !object.links.is_empty() {
        let links: Vec<String> =
            object.links.iter().map(|(link, target)| format!("{} = {}", link.text, target.text)).collect();
        out += &format!(" {{ {} }}", links.join(", "));
    }
    out
}

fn binder(binder: &Binder) -> String {
    format!("{}: {}", binder.name.text, binder.class.text)
}

fn path(path: &Path) -> String {
    let mut out = path.root.text.to_string();
    for link in &path.links {
        out.push('.');
        out.push_str(&link.text);
    }
    out
}

/// `level` is how tightly the place binds: 0 anything, 1 below `implies`, 2 below `or`, 3 below `and`.
fn formula(node: &Formula, level: u8) -> String {
    let (own, text) = match &node.kind {
        FormulaKind::Constant(value) => (4, value.to_string()),
        FormulaKind::Not(inner) => (3, format!("not {}", formula(inner, 4))),
        FormulaKind::And(parts) => (2, joined(parts, " and ", 3)),
        FormulaKind::Or(parts) => (1, joined(parts, " or ", 2)),
        FormulaKind::Implies(left, right) => {
            (0, format!("{} implies {}", formula(left, 1), formula(right, 0)))
        }
        FormulaKind::Quantified { all, binder: bound, filter, body } => {
            let word = if *all { "all" } else { "some" };
            let filter = filter.as_ref().map(|f| format!(" where {}", formula(f, 0))).unwrap_or_default();
            let body = body.as_ref().map(|b| format!(" {{ {} }}", formula(b, 0))).unwrap_or_default();
            // Without braces nothing ends the filter but a bracket.
            let own = if body.is_empty() { 0 } else { 4 };
            (own, format!("{word} {}{filter}{body}", binder(bound)))
        }
        FormulaKind::State { path: object, negated, states } => {
            (4, format!("{} is {}{}", path(object), if *negated { "not " } else { "" }, names(states, "|")))
        }
        FormulaKind::Type { path: object, negated, types } => {
            (4, format!("{} of {}{}", path(object), if *negated { "not " } else { "" }, names(types, "|")))
        }
        FormulaKind::Message { path: object, several, message } => {
            (4, format!("{} has {}{}", path(object), if *several { "several " } else { "" }, message.text))
        }
        FormulaKind::Equal { left, right, negated } => {
            (4, format!("{} {} {}", path(left), if *negated { "!=" } else { "=" }, path(right)))
        }
        FormulaKind::Before { left, right } => (4, format!("{} before {}", path(left), path(right))),
        FormulaKind::Broken => (4, String::new()),
    };
    if own < level { format!("({text})") } else { text }
}

fn joined(parts: &[Formula], separator: &str, level: u8) -> String {
    parts.iter().map(|part| formula(part, level)).collect::<Vec<_>>().join(separator)
}
