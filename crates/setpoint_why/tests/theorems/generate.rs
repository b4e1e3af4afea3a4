//! Small programs in which much depends on much: values come from few names and numbers, so that a change of one of them
//! turns conditions, moves titles and declares other classes.

use std::fmt::Write as _;

use setpoint_testing::Random;

/// Data for the manifest of a seed: a key a line, in two levels.
pub(crate) fn data(seed: u64) -> (String, String) {
    let mut random = Random::new(seed ^ 0xda7a);
    let mut level = |count: usize| {
        let mut text = String::from("---\n");
        let mut known: Vec<String> = Vec::new();
        for _ in 0..count {
            let key = match random.below(3) {
                0 => format!("c{}::p", 2 + random.below(12)),
                _ => format!("k{}", random.below(4)),
            };
            if !known.contains(&key) {
                let value = *random.pick(&["a", "b", "web", "t1", "1", "2", "true"]);
                let _ = writeln!(text, "{key}: {value}");
                known.push(key);
            }
        }
        text
    };
    (level(4), level(6))
}

/// The manifest of a seed.
pub(crate) fn manifest(seed: u64) -> String {
    let mut generator = Generator { random: Random::new(seed), ..Generator::default() };
    generator.program();
    generator.out
}

#[derive(Default)]
struct Generator {
    random: Random,
    out: String,
    used: u32,
    /// Variables that the scope sets for certain or perhaps.
    set: Vec<String>,
    classes: Vec<String>,
    defines: Vec<String>,
    functions: Vec<String>,
    /// Titles of notifies that may be there.
    titles: Vec<String>,
    depth: usize,
    defaulted: bool,
    /// Variables of the lambdas around.
    locals: Vec<String>,
    in_code: bool,
}

impl Generator {
    fn program(&mut self) {
        for _ in 0..self.random.below(3) {
            self.function();
        }
        for _ in 0..=self.random.below(2) {
            self.define();
        }
        for _ in 0..=self.random.below(3) {
            self.class();
        }
        self.in_code = false;
        for _ in 0..5 + self.random.below(8) {
            self.statement();
        }
        for class in self.classes.clone() {
            if !self.chance(4) {
                self.line(&format!("include '{class}'"));
            }
        }
    }

    fn below(&mut self, count: usize) -> usize {
        self.random.below(count)
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.used += 1;
        format!("{stem}{}", self.used)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:indent$}{text}", "", indent = self.depth * 2);
    }

    fn number(&mut self) -> String {
        (1 + self.below(3)).to_string()
    }

    fn word(&mut self) -> String {
        format!("'{}'", self.random.pick(&["a", "b", "web", "t1", "t2"]))
    }

    fn variable(&mut self) -> String {
        let known = ["v1", "v2", "v3", "v4"];
        match self.below(8) {
            0 => "$facts['role']".to_owned(),
            1 => "$facts['os']['family']".to_owned(),
            2 => "$num".to_owned(),
            3 if !self.classes.is_empty() => {
                let class = self.random.pick(&self.classes).clone();
                format!("${class}::{}", self.random.pick(&known))
            }
            4 if !self.locals.is_empty() => format!("${}", self.random.pick(&self.locals)),
            _ => format!("${}", self.random.pick(&known)),
        }
    }

    fn value(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.below(5) {
                0 => self.number(),
                1 => (*self.random.pick(&["true", "false"])).to_owned(),
                2 => self.variable(),
                _ => self.word(),
            };
        }
        let next = depth - 1;
        match self.below(27) {
            26 => format!("lookup('k{}', {{ 'default_value' => {} }})", self.below(4), self.value(0)),
            0..=3 => self.variable(),
            4 | 5 => self.word(),
            6 => self.number(),
            7 => format!("\"x${{{}}}y\"", self.variable().trim_start_matches('$')),
            8 => {
                let (subject, first, second, rest) =
                    (self.variable(), self.value(0), self.value(next), self.value(next));
                format!("({subject} ? {{ {first} => {second}, default => {rest} }})")
            }
            9 => format!("[{}, {}]", self.value(next), self.value(next)),
            10 => format!("{{ 'a' => {}, {} => {} }}", self.value(next), self.word(), self.value(next)),
            11 => format!(
                "({{ 'a' => {}, {} => {} }}[{}])",
                self.value(next),
                self.word(),
                self.value(next),
                self.word()
            ),
            12 => format!("([{}, {}][{}])", self.value(next), self.value(next), self.below(2)),
            13 => format!("upcase(\"${{{}}}\")", self.variable().trim_start_matches('$')),
            14 => format!(
                "split(\"a,b,${{{}}}\", {})",
                self.variable().trim_start_matches('$'),
                self.random.pick(&["','", "'b'"])
            ),
            15 => format!("join([{}, {}], {})", self.value(0), self.value(0), self.word()),
            16 => format!("[{}, {}].map |$e| {{ {} }}", self.value(0), self.value(0), self.lambda_value("e")),
            17 => {
                let condition = self.condition(0);
                format!(
                    "[{}, {}, 1].filter |$e| {{ $e == {} or {condition} }}",
                    self.value(0),
                    self.value(0),
                    self.value(0)
                )
            }
            18 => format!(
                "[1, 2, {}].reduce |$m, $e| {{ if $e == {} {{ break() }} \"${{m}}${{e}}\" }}",
                self.value(0),
                self.number()
            ),
            19 if !self.functions.is_empty() => {
                let function = self.random.pick(&self.functions).clone();
                format!("{function}({})", self.value(next))
            }
            20 => format!("({} + {})", self.hash(), self.hash()),
            21 => format!("getvar('{}')", self.random.pick(&["v1", "v2", "v3"])),
            22 => format!(
                "inline_epp('<% if $x == {} {{ %>one<% }} else {{ %>two <%= $x %><% }} %>', {{ 'x' => {} }})",
                self.below(3),
                self.value(0)
            ),
            23 => "inline_template('<%= @v1 %> and <%= @v2.to_s %>')".to_owned(),
            24 => {
                let condition = self.condition(next);
                format!("(if {condition} {{ {} }} else {{ {} }})", self.value(next), self.value(next))
            }
            _ => format!("[{}, {}].each |$e| {{ {} }}", self.value(0), self.value(0), self.lambda_value("e")),
        }
    }

    fn hash(&mut self) -> String {
        format!("{{ {} => {}, {} => {} }}", self.word(), self.value(0), self.word(), self.value(0))
    }

    fn lambda_value(&mut self, name: &str) -> String {
        self.locals.push(name.to_owned());
        let condition = self.condition(0);
        let text = match self.below(4) {
            0 => format!("if {condition} {{ next({}) }} ${name}", self.value(0)),
            1 => format!("if {condition} {{ break() }} {}", self.value(0)),
            2 => format!("\"${{{name}}}{}\"", self.number()),
            _ => self.value(0),
        };
        self.locals.pop();
        text
    }

    fn condition(&mut self, depth: usize) -> String {
        match self.below(if depth > 0 { 11 } else { 4 }) {
            0..=2 => format!("{} == {}", self.variable(), self.value(0)),
            3 => format!("{} in [{}, {}]", self.variable(), self.value(0), self.value(0)),
            4 => format!("defined(Notify[{}])", self.title()),
            5 if !self.classes.is_empty() => format!("defined(Class['{}'])", self.random.pick(&self.classes)),
            6 => format!("defined('${}')", self.random.pick(&["v1", "v2", "v3", "v4"])),
            7 => format!("!({})", self.condition(depth - 1)),
            8 => format!("({} and {})", self.condition(depth - 1), self.condition(depth - 1)),
            9 => format!("\"${{{}}}\" =~ /(a|1)(.)?/", self.variable().trim_start_matches('$')),
            10 if self.chance(3) => format!("tagged({})", self.word()),
            _ => self.variable(),
        }
    }

    fn title(&mut self) -> String {
        if self.titles.is_empty() || self.chance(6) {
            return self.word();
        }
        format!("'{}'", self.random.pick(&self.titles))
    }

    fn attributes(&mut self) -> String {
        let mut all = Vec::new();
        if !self.chance(3) {
            all.push(match self.below(6) {
                0 => format!("* => {{ 'message' => {}, 'withpath' => {} }}", self.value(1), self.boolean()),
                1 => format!(
                    "* => ({{ 'message' => {} }} + {{ 'noop' => {} }})",
                    self.value(1),
                    self.boolean()
                ),
                _ => format!("message => {}", self.value(2)),
            });
        }
        if self.chance(4) {
            all.push(format!("tag => {}", self.word()));
        }
        if self.chance(6) {
            all.push(format!("loglevel => {}", self.random.pick(&["'info'", "undef", "$v1"])));
        }
        all.join(", ")
    }

    fn boolean(&mut self) -> String {
        match self.below(4) {
            0 => self.condition(0),
            1 => "undef".to_owned(),
            _ => (*self.random.pick(&["true", "false"])).to_owned(),
        }
    }

    fn statement(&mut self) {
        match self.below(if self.depth > 3 { 9 } else { 27 }) {
            0 | 1 => {
                let name = (*self.random.pick(&["v1", "v2", "v3", "v4"])).to_owned();
                if self.set.contains(&name) {
                    return;
                }
                let value = self.value(2);
                self.line(&format!("${name} = {value}"));
                self.set.push(name);
            }
            2..=5 => self.resource(),
            6 => self.include(),
            7 => {
                let (a, b) = (self.title(), self.title());
                let arrow = *self.random.pick(&["->", "~>"]);
                match self.below(4) {
                    0 => {
                        let word = self.word();
                        self.line(&format!("if defined(Notify[{b}]) {{ Notify <| tag == {word} |> {arrow} Notify[{b}] }}"));
                    }
                    _ if self.chance(6) => self.line(&format!("Notify[{a}] {arrow} Notify[{b}]")),
                    _ => self.line(&format!("if defined(Notify[{a}]) and defined(Notify[{b}]) {{ Notify[{a}] {arrow} Notify[{b}] }}")),
                }
            }
            8 => {
                let (name, title) = (self.random.pick(&self.defines).clone(), self.fresh("d"));
                let form = if self.chance(4) { "@" } else { "" };
                let value = self.value(1);
                let given = if self.chance(3) { String::new() } else { format!("p => {value}") };
                let tag = if self.chance(3) { format!(", tag => {}", self.word()) } else { String::new() };
                let tag = if given.is_empty() { tag.trim_start_matches(", ").to_owned() } else { tag };
                let title = if self.locals.is_empty() {
                    format!("'{title}'")
                } else {
                    format!("\"{title}-${{{}}}\"", self.locals[0])
                };
                self.line(&format!("{form}{name} {{ {title}: {given}{tag} }}"));
            }
            9..=12 => self.conditional(),
            13 | 14 => self.case(),
            15 | 16 => self.each(),
            17 if !self.defaulted => {
                let value = self.value(1);
                self.line(&format!("Notify {{ message => {value} }}"));
                self.defaulted = true;
            }
            18 => {
                let (title, value) = (self.title(), self.value(1));
                let name = *self.random.pick(&["loglevel", "noop", "schedule"]);
                self.line(&format!(
                    "if defined(Notify[{title}]) {{ Notify[{title}] {{ {name} => {value} }} }}"
                ));
            }
            19 => {
                let title = self.fresh("w");
                let attributes = self.attributes();
                self.line(&format!("@notify {{ '{title}': {attributes} }}"));
                self.titles.push(title);
            }
            20 | 21 => self.collector(),
            22 => {
                let title = self.title();
                self.line(&format!("if defined(Notify[{title}]) {{ realize(Notify[{title}]) }}"));
            }
            23 => {
                let (title, first, second) = (self.fresh("r"), self.value(1), self.value(0));
                let defaults = if self.chance(2) {
                    format!(", {{ 'loglevel' => 'info', 'message' => {second} }}")
                } else {
                    String::new()
                };
                let other = self.word();
                self.line(&format!("if !defined(Notify[{other}]) {{ create_resources('notify', {{ '{title}' => {{ 'message' => {first} }}, {other} => {{}} }}{defaults}) }}"));
                self.titles.push(title);
            }
            24 if self.in_code => {
                let word = self.word();
                self.line(&format!("tag({word})"));
            }
            25 if self.in_code => {
                let condition = self.condition(1);
                self.line(&format!("if {condition} {{ return() }}"));
            }
            _ => {
                let title = self.title();
                self.line(&format!("unless defined(Notify[{title}]) {{ notify {{ {title}: }} }}"));
            }
        }
    }

    fn resource(&mut self) {
        let attributes = self.attributes();
        if !self.locals.is_empty() {
            let (title, local) = (self.fresh("n"), self.random.pick(&self.locals).clone());
            return self.line(&format!("notify {{ \"{title}-${{{local}}}\": {attributes} }}"));
        }
        match self.below(8) {
            0 => {
                let (value, title) = (self.variable(), self.fresh("n"));
                self.line(&format!(
                    "notify {{ \"{title}-${{{}}}\": {attributes} }}",
                    value.trim_start_matches('$')
                ));
            }
            1 => {
                let (first, second) = (self.fresh("n"), self.fresh("n"));
                self.line(&format!("notify {{ ['{first}', '{second}']: {attributes} }}"));
                self.titles.extend([first, second]);
            }
            2 => {
                let (first, second, value) = (self.fresh("n"), self.fresh("n"), self.value(1));
                self.line(&format!(
                    "notify {{ default: message => {value}; '{first}': {attributes}; '{second}': }}"
                ));
                self.titles.extend([first, second]);
            }
            _ => {
                let title = self.fresh("n");
                self.line(&format!("notify {{ '{title}': {attributes} }}"));
                self.titles.push(title);
            }
        }
    }

    fn include(&mut self) {
        if self.classes.is_empty() {
            return self.resource();
        }
        let class = self.random.pick(&self.classes).clone();
        match self.below(8) {
            0 => self.line(&format!("contain {class}")),
            1 => self.line(&format!("require {class}")),
            2 => {
                let value = self.value(1);
                self.line(&format!(
                    "unless defined(Class['{class}']) {{ class {{ '{class}': p => {value} }} }}"
                ));
            }
            3 => self.line(&format!("['{class}'].each |$c| {{ include $c }}")),
            _ => self.line(&format!("include '{class}'")),
        }
    }

    fn body(&mut self) {
        self.depth += 1;
        for _ in 0..=self.below(2) {
            self.statement();
        }
        self.depth -= 1;
    }

    fn conditional(&mut self) {
        let word = if self.chance(4) { "unless" } else { "if" };
        let condition = self.condition(2);
        self.line(&format!("{word} {condition} {{"));
        let before = self.set.clone();
        self.body();
        if self.chance(2) {
            let after = std::mem::replace(&mut self.set, before);
            self.line("} else {");
            self.body();
            self.set.extend(after);
        }
        self.line("}");
    }

    fn case(&mut self) {
        let subject = self.variable();
        self.line(&format!("case {subject} {{"));
        let before = self.set.clone();
        let mut all = before.clone();
        for _ in 0..=self.below(2) {
            let value = self.value(0);
            self.line(&format!("{value}: {{"));
            self.set.clone_from(&before);
            self.body();
            all.append(&mut self.set);
            self.line("}");
        }
        self.line("default: {");
        self.set = before;
        self.body();
        self.set.append(&mut all);
        self.line("} }");
    }

    fn each(&mut self) {
        let local = self.fresh("i");
        let list = match self.below(4) {
            0 => format!("[{}, {}].unique", self.number(), self.number()),
            1 => format!("Integer[1, {}]", self.number()),
            2 => format!("split({}, ',')", self.random.pick(&["'a,b'", "'a'", "'b,c,d'"])),
            _ => format!("[{}, {}].unique", self.word(), self.variable()),
        };
        self.line(&format!("{list}.each |${local}| {{"));
        self.locals.push(local);
        if self.chance(4) {
            let condition = self.condition(0);
            let jump = *self.random.pick(&["next()", "break()"]);
            self.line(&format!("  if {condition} {{ {jump} }}"));
        }
        self.body();
        self.locals.pop();
        self.line("}");
    }

    fn collector(&mut self) {
        let query = match self.below(5) {
            0 => format!("tag == {}", self.word()),
            1 => format!("title == {}", self.title()),
            2 => format!("message == {}", self.value(0)),
            3 => format!("tag == {} and loglevel != 'info'", self.word()),
            _ => String::new(),
        };
        let set = match self.below(5) {
            0 => format!(" {{ message => {} }}", self.value(1)),
            1 => " { noop => true }".to_owned(),
            2 => format!(" {{ tag +> {} }}", self.word()),
            _ => String::new(),
        };
        if self.chance(4) {
            let define = self.random.pick(&self.defines).clone();
            let query =
                if query.contains("message") || query.contains("loglevel") { String::new() } else { query };
            let set = if self.chance(3) { format!(" {{ p => {} }}", self.value(0)) } else { String::new() };
            return self.line(&format!("{} <| {query} |>{set}", capital(&define)));
        }
        self.line(&format!("Notify <| {query} |>{set}"));
    }

    fn scoped(&mut self, head: &str) {
        let set = std::mem::take(&mut self.set);
        let defaulted = std::mem::take(&mut self.defaulted);
        let locals = std::mem::take(&mut self.locals);
        self.line(&format!("{head} {{"));
        self.in_code = true;
        self.depth += 1;
        for _ in 0..=self.below(4) {
            self.statement();
        }
        self.depth -= 1;
        self.line("}");
        self.set = set;
        self.defaulted = defaulted;
        self.locals = locals;
    }

    fn class(&mut self) {
        let name = self.fresh("c");
        let parent = if self.chance(3) && !self.classes.is_empty() {
            format!(" inherits {}", self.random.pick(&self.classes))
        } else {
            String::new()
        };
        let value = self.value(1);
        self.scoped(&format!("class {name}($p = {value}){parent}"));
        self.classes.push(name);
    }

    fn define(&mut self) {
        let name = self.fresh("d");
        let value = self.value(0);
        let head = format!("define {name}($p = {value})");
        self.defines.push(name);
        // Titles in a definition are made of its own.
        let titles = std::mem::take(&mut self.titles);
        let (message, condition) = (self.value(0), self.condition(1));
        self.line(&format!("{head} {{"));
        self.line("  notify { \"of ${title}\": message => $p }");
        self.line(&format!(
            "  if $p == {message} {{ notify {{ \"more ${{title}}\": message => \"${{name}}\" }} }}"
        ));
        match self.below(5) {
            0 => self.line(&format!("  if {condition} {{ tag('t1') }}")),
            1 => self.line("  Notify <| title == 'a' |> { noop => true }"),
            2 if !self.classes.is_empty() => {
                let class = self.random.pick(&self.classes).clone();
                self.line(&format!("  include {class}"));
            }
            3 => self.line(&format!("  unless {condition} {{ notify {{ \"last ${{title}}\": }} }}")),
            _ => {}
        }
        self.line("}");
        self.titles = titles;
    }

    fn function(&mut self) {
        let name = self.fresh("f");
        let (first, second) = (self.value(0), self.value(1));
        let (condition, other) = (self.number(), self.word());
        let effect = if self.chance(4) {
            format!("  unless defined(Notify['{name}']) {{ notify {{ '{name}': message => $x }} }}\n")
        } else {
            String::new()
        };
        let _ = write!(
            self.out,
            "function {name}($x) {{\n  if $x == {condition} {{ return({first}) }}\n  if $x == {other} {{ $v1 = {second} }}\n{effect}  [$x, $v1]\n}}\n"
        );
        self.functions.push(name);
    }
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str())
}
