//! Programs whose values are made of values: arrays and hashes are built, taken apart and built again by functions,
//! lambdas, templates, Hiera and Ruby. Each expression has a kind, so that most programs compile.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use setpoint_testing::Random;

/// The files of the module that the programs call.
pub(crate) const MODULE: [(&str, &str); 8] = [
    (
        "modules/m/templates/list.erb",
        "<% @v1.each do |x| -%>\n* <%= x %>\n<% end -%>\n<%= @h1.map { |k, v| \"#{k}=#{v}\" }.join(',') %>",
    ),
    (
        "modules/m/templates/list.epp",
        "<%- | Array $list, Hash $hash | -%>\n<% $list.each |$x| { -%>\n* <%= $x %>\n<% } -%>\n<% $hash.each |$k, $v| { %><%= $k %>:<%= $v %>;<% } %>",
    ),
    (
        "modules/m/lib/puppet/functions/m/first_of.rb",
        "Puppet::Functions.create_function(:'m::first_of') do\n  dispatch :first do\n    param 'Array', :list\n  end\n  def first(list)\n    list.empty? ? 'none' : list.first.to_s\n  end\nend\n",
    ),
    (
        "modules/m/lib/puppet/functions/m/pairs.rb",
        "Puppet::Functions.create_function(:'m::pairs') do\n  dispatch :pairs do\n    param 'Hash', :hash\n  end\n  def pairs(hash)\n    hash.map { |k, v| \"#{k}-#{v}\" }\n  end\nend\n",
    ),
    (
        "modules/m/lib/puppet/functions/m/through.rb",
        "Puppet::Functions.create_function(:'m::through') do\n  dispatch :through do\n    param 'Array', :list\n    block_param\n  end\n  def through(list)\n    list.map { |x| yield(x) }\n  end\nend\n",
    ),
    (
        "modules/m/lib/puppet/parser/functions/m_old.rb",
        "module Puppet::Parser::Functions\n  newfunction(:m_old, :type => :rvalue) do |args|\n    args[0].reverse + [args[0].length.to_s]\n  end\nend\n",
    ),
    (
        "modules/m/functions/wrap.pp",
        "function m::wrap(Array $list, *$rest) { $list.map |$x| { \"<${x}>\" } + $rest }\n",
    ),
    (
        "modules/m/functions/table.pp",
        "function m::table(Array $list, String $value) { $list.reduce({}) |$m, $x| { $m + { $x => $value } } }\n",
    ),
];

const STDLIB: &str = "/usr/share/puppet/modules/stdlib";
const FROM_STDLIB: [&str; 16] = [
    "concat",
    "deep_merge",
    "delete",
    "difference",
    "hash",
    "intersection",
    "join_keys_to_values",
    "pick",
    "prefix",
    "reject",
    "suffix",
    "union",
    "values_at",
    "zip",
    "to_json",
    "merge",
];

/// The functions of stdlib that the programs call, where it is installed.
pub(crate) static LIBRARY: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let mut found = Vec::new();
    for name in FROM_STDLIB {
        for folder in ["functions", "parser/functions"] {
            let path = format!("lib/puppet/{folder}/{name}.rb");
            if let Ok(text) = std::fs::read_to_string(Path::new(STDLIB).join(&path)) {
                found.push((format!("modules/stdlib/{path}"), text));
            }
        }
    }
    found
});

/// Data for the program of a seed, in two levels. A key is on one line.
pub(crate) fn data(seed: u64) -> (String, String) {
    let mut random = Random::new(seed ^ 0x00c0_ffee);
    let upper = level(&mut random, true);
    let lower = level(&mut random, false);
    (upper, lower)
}

fn level(random: &mut Random, is_upper: bool) -> String {
    let mut out = String::from("---\n");
    let word = |random: &mut Random| (*random.pick(&WORDS)).to_owned();
    let list = |random: &mut Random| {
        let count = 1 + random.below(3);
        let items: Vec<String> = (0..count)
            .map(|_| match random.below(8) {
                0 => "\"%{facts.role}\"".to_owned(),
                1 => "\"%{lookup('s1')}\"".to_owned(),
                2 if is_upper => format!("--{}", random.pick(&WORDS)),
                _ => (*random.pick(&WORDS)).to_owned(),
            })
            .collect();
        format!("[{}]", items.join(", "))
    };
    let table = |random: &mut Random| {
        let mut entries: Vec<String> = Vec::new();
        for key in ["a", "b", "web", "n"] {
            if random.below(3) > 0 {
                let value = match random.below(4) {
                    0 => list(random),
                    1 => format!("{{{}: {}, {}: {}}}", "p", word(random), "q", list(random)),
                    _ => word(random),
                };
                entries.push(format!("{key}: {value}"));
            }
        }
        format!("{{{}}}", entries.join(", "))
    };
    let flat = |random: &mut Random| {
        let entries: Vec<String> =
            ["a", "b", "t1"].iter().map(|key| format!("{key}: {}", word(random))).collect();
        format!("{{{}}}", entries.join(", "))
    };
    let _ = writeln!(out, "s1: {}", word(random));
    for key in ["l1", "l2", "c1::list"] {
        if random.below(4) > 0 || !is_upper && key != "c1::list" {
            let _ = writeln!(out, "{key}: {}", list(random));
        }
    }
    for key in ["h1", "h2"] {
        if random.below(4) > 0 || !is_upper {
            let _ = writeln!(out, "{key}: {}", table(random));
        }
    }
    if random.below(3) > 0 || !is_upper {
        let _ = writeln!(out, "f1: {}", flat(random));
    }
    if random.below(2) == 0 {
        let _ = writeln!(out, "c1::table: {}", flat(random));
    }
    if random.below(3) > 0 {
        let knobs = *random.pick(&[
            "deep",
            "{strategy: deep, knockout_prefix: \"--\"}",
            "{strategy: deep, sort_merged_arrays: true}",
            "{strategy: deep, merge_hash_arrays: true}",
            "hash",
            "first",
        ]);
        let unique = *random.pick(&["unique", "first"]);
        let _ = writeln!(
            out,
            "lookup_options: {{l1: {{merge: {unique}}}, h1: {{merge: {knobs}}}, \"c1::list\": {{merge: {}}}}}",
            random.pick(&["unique", "first"])
        );
    }
    out
}

const WORDS: [&str; 6] = ["a", "b", "web", "t1", "t2", "x"];

/// The program of a seed.
pub(crate) fn manifest(seed: u64) -> String {
    let mut generator = Composer { random: Random::new(seed), ..Composer::default() };
    generator.program();
    generator.out
}

#[derive(Default)]
struct Composer {
    random: Random,
    out: String,
    used: u32,
    texts: Vec<String>,
    lists: Vec<String>,
    tables: Vec<String>,
    /// What the templates read is there.
    is_ready: bool,
}

impl Composer {
    fn below(&mut self, count: usize) -> usize {
        self.random.below(count)
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.used += 1;
        format!("{stem}{}", self.used)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}");
    }

    fn word(&mut self) -> String {
        format!("'{}'", self.random.pick(&WORDS))
    }

    fn program(&mut self) {
        let (one, two, three) = (self.word(), self.word(), self.word());
        self.line(&format!("$b1 = [{one}, {two}]"));
        self.line(&format!("$g1 = {{ {two} => {three}, 'n' => {one} }}"));
        self.lists.push("b1".to_owned());
        self.tables.push("g1".to_owned());
        // The templates read these.
        let (list, table) = (self.list(2), self.table(2));
        self.line(&format!("$v1 = {list}"));
        self.line(&format!("$h1 = {table}"));
        self.lists.push("v1".to_owned());
        self.tables.push("h1".to_owned());
        self.is_ready = true;
        for _ in 0..2 + self.below(4) {
            self.variable();
        }
        let class = self.below(2) == 0;
        if class {
            self.class();
        }
        for _ in 0..2 + self.below(4) {
            self.output();
        }
    }

    fn variable(&mut self) {
        let name = self.fresh("x");
        match self.below(4) {
            0 => {
                let value = self.text(2);
                self.line(&format!("${name} = {value}"));
                self.texts.push(name);
            }
            1 | 2 => {
                let value = self.list(3);
                self.line(&format!("${name} = {value}"));
                self.lists.push(name);
            }
            _ => {
                let value = self.table(3);
                self.line(&format!("${name} = {value}"));
                self.tables.push(name);
            }
        }
    }

    fn class(&mut self) {
        let (list, table, own) = (self.list(1), self.table(1), self.text(1));
        self.line(&format!("class c1(Array $list = {list}, Hash $table = {table}) {{"));
        self.line("  notify { 'c1-list': message => join($list, ',') }");
        self.line("  notify { 'c1-table': message => $table.map |$k, $v| { \"${k}${v}\" } }");
        self.line(&format!("  notify {{ 'c1-own': message => {own} }}"));
        self.line("}");
        let changed = self.text(1);
        if self.below(2) == 0 {
            let word = self.word();
            self.line(&format!(
                "class c2 inherits c1 {{ Notify['c1-own'] {{ message => {changed}, tag +> {word} }} }}\ninclude c2"
            ));
        } else if self.below(3) == 0 {
            self.line(&format!("class {{ 'c1': list => [{changed}] }}"));
        } else {
            self.line("include c1");
        }
    }

    fn output(&mut self) {
        let title = self.fresh("n");
        match self.below(14) {
            0 => {
                let table = self.table(2);
                self.line(&format!("create_resources('notify', {{ '{title}' => {{ 'message' => {table} }} }}, {{ 'loglevel' => 'info' }})"));
            }
            1 => {
                let (list, value) = (self.list(2), self.text(1));
                self.line(&format!(
                    "({list}).unique.each |$e| {{ notify {{ \"{title}-${{e}}\": message => {value} }} }}"
                ));
            }
            2 => {
                let (list, word) = (self.list(2), self.word());
                self.line(&format!("@notify {{ '{title}': message => {list}, tag => {word} }}"));
                let (set, tag) = (self.text(1), self.word());
                self.line(&format!("Notify <| tag == {tag} |> {{ message => {set} }}"));
            }
            3 => {
                let (list, table) = (self.list(2), self.table(2));
                self.line(&format!("define {title}($list, $table) {{ notify {{ \"${{title}}-of\": message => $list + $table.values }} }}"));
                self.line(&format!("{title} {{ 'of-{title}': list => {list}, table => {table} }}"));
            }
            4 => {
                let (table, other) = (self.table(2), self.table(1));
                self.line(&format!(
                    "notify {{ '{title}': * => {{ 'message' => {table} }} + {{ 'tag' => keys({other}) }} }}"
                ));
            }
            5 => {
                let (condition, text, other) = (self.condition(1), self.text(1), self.text(1));
                self.line(&format!("if {condition} {{ notify {{ '{title}': message => {text} }} }} else {{ notify {{ '{title}': message => {other} }} }}"));
            }
            6 => {
                let (name, list) = (self.fresh("s"), self.list(1));
                self.line(&format!("notify {{ '{name}': message => {list} }}\nnotify {{ '{title}': message => join(Notify['{name}']['message'], ' ') }}"));
            }
            7 => {
                let table = self.table(2);
                self.line(&format!(
                    "({table}).each |$k, $v| {{ notify {{ \"{title}-${{k}}\": message => $v }} }}"
                ));
            }
            8 | 9 => {
                let list = self.list(2);
                self.line(&format!("notify {{ '{title}': message => {list} }}"));
            }
            10 => {
                let table = self.table(2);
                self.line(&format!("notify {{ '{title}': message => {table} }}"));
            }
            _ => {
                let text = self.text(3);
                self.line(&format!("notify {{ '{title}': message => {text} }}"));
            }
        }
    }

    fn text(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.below(5) {
                0 => "$facts['role']".to_owned(),
                1 => "$facts['os']['family']".to_owned(),
                2 if !self.texts.is_empty() => format!("${}", self.random.pick(&self.texts)),
                _ => self.word(),
            };
        }
        let next = depth - 1;
        let has_library = !LIBRARY.is_empty();
        match self.below(if has_library { 34 } else { 31 }) {
            0..=2 => format!("join({}, {})", self.list(next), self.word()),
            3 => format!("\"x${{({})}}y\"", self.list(next)),
            4 => format!("\"x${{({})}}\"", self.table(next)),
            5 => format!("\"${{{}[{}]}}\"", self.list_name(), self.below(3)),
            6 => format!("\"${{{}[{}]}}\"", self.table_name(), self.word()),
            7 => format!("regsubst({}, {}, {}, 'G')", self.text(next), self.word(), self.word()),
            8 => format!("sprintf('%s-%s', {}, {})", self.text(next), self.text(0)),
            9 => format!("upcase({})", self.text(next)),
            10 => format!("{}.reduce('') |$m, $e| {{ \"${{m}}${{e}}\" }}", self.list(next)),
            11 => format!("{}.reduce('') |$m, $e| {{ \"${{m}}${{e[0]}}=${{e[1]}}\" }}", self.table(next)),
            12 => format!(
                "inline_epp('<% $l.each |$x| {{ %><%= $x %>,<% }} %><%= $t %>', {{ 'l' => {}, 't' => {} }})",
                self.list(next),
                self.text(next)
            ),
            13 if self.is_ready => {
                "inline_template('<% @v1.each do |x| %><%= x %>;<% end %><%= @h1.keys.sort.join(\" \") %>')"
                    .to_owned()
            }
            14 if self.is_ready => "template('m/list.erb')".to_owned(),
            15 => format!(
                "epp('m/list.epp', {{ 'list' => {}, 'hash' => {} }})",
                self.list(next),
                self.table(next)
            ),
            16 => format!("lookup('s1', String, 'first', {})", self.word()),
            17 => format!("lookup('absent', {{ 'default_value' => {} }})", self.text(next)),
            18 => {
                let (condition, one, other) = (self.condition(next), self.text(next), self.text(next));
                format!("(if {condition} {{ {one} }} else {{ {other} }})")
            }
            19 => {
                let (subject, pattern, one, other) =
                    (self.text(0), self.word(), self.text(next), self.text(next));
                format!("({subject} ? {{ {pattern} => {one}, default => {other} }})")
            }
            20 => format!("m::first_of({})", self.list(next)),
            21 => format!("String({})", self.list(next)),
            22 => format!("\"${{{}.length}}\"", self.list(next)),
            23 => format!("{}.then |$t| {{ \"{}${{t}}\" }}", self.text(next), self.random.pick(&WORDS)),
            24 => format!("\"${{{}.dig('n', 'p')}}\"", self.deep()),
            25 => format!("\"${{{}.get('n.q.0', {})}}\"", self.deep(), self.word()),
            26 => format!("with({}, {}) |$t, $l| {{ \"${{t}}${{l}}\" }}", self.text(next), self.list(next)),
            27 => format!("md5(join({}, ''))", self.list(next)),
            28 => format!("\"${{{}.index({})}}\"", self.list(next), self.word()),
            29 => format!("\"${{({}).get({}, {})}}\"", self.table(next), self.word(), self.text(next)),
            30 => format!("\"${{{}.lest || {{ {} }}}}\"", self.missing(), self.text(next)),
            31 => format!("to_json({})", self.table(next)),
            32 => format!("pick({}, {})", self.missing(), self.text(next)),
            _ => format!("to_json({})", self.list(next)),
        }
    }

    /// Perhaps `undef`.
    fn missing(&mut self) -> String {
        let (table, word) = (self.table_name(), self.word());
        format!("${}[{word}]", table.trim_start_matches('$'))
    }

    fn deep(&mut self) -> String {
        format!("({} + {{ 'n' => {{ 'p' => {}, 'q' => {} }} }})", self.table(0), self.text(0), self.list(0))
    }

    fn nested(&mut self) -> String {
        match self.below(4) {
            0 => "lookup('h1')".to_owned(),
            1 => "lookup('h2', Hash, 'deep')".to_owned(),
            2 => self.deep(),
            _ => "lookup({ 'name' => 'h2', 'merge' => { 'strategy' => 'deep', 'knockout_prefix' => '--' } })"
                .to_owned(),
        }
    }

    /// A variable, or an element of one that was just made, to be read in a text.
    fn list_name(&mut self) -> String {
        self.random.pick(&self.lists).clone()
    }

    fn table_name(&mut self) -> String {
        self.random.pick(&self.tables).clone()
    }

    fn list(&mut self, depth: usize) -> String {
        if depth == 0 {
            if !self.lists.is_empty() && self.below(2) == 0 {
                return format!("${}", self.random.pick(&self.lists));
            }
            return format!("[{}, {}]", self.text(0), self.text(0));
        }
        let next = depth - 1;
        let has_library = !LIBRARY.is_empty();
        match self.below(if has_library { 50 } else { 38 }) {
            0 => format!("{}.map |$e| {{ {} }}", self.list(next), self.text(next)),
            1 => format!("{}.map |$e| {{ \"{}${{e}}\" }}", self.list(next), self.random.pick(&WORDS)),
            2 => format!("{}.map |$i, $e| {{ \"${{i}}${{e}}\" }}", self.list(next)),
            3 => format!("{}.filter |$e| {{ $e != {} }}", self.list(next), self.text(0)),
            4 => format!("{}.filter |$i, $e| {{ $i < {} }}", self.list(next), 1 + self.below(3)),
            5 => format!("split({}, {})", self.text(next), self.word()),
            6 => format!("keys({})", self.table(next)),
            7 => format!("values({})", self.table(next)),
            8 => format!("{}.map |$k, $v| {{ \"${{k}}=${{v}}\" }}", self.table(next)),
            9 => format!("({} + {})", self.list(next), self.list(next)),
            10 => format!("({} - {})", self.list(next), self.list(0)),
            11 => format!("({} << {})", self.list(next), self.text(next)),
            12 => format!("unique({})", self.list(next)),
            13 => format!("flatten([{}, [{}]])", self.list(next), self.list(next)),
            14 => format!("sort({}.map |$e| {{ \"${{e}}\" }})", self.list(next)),
            15 => format!("{}.slice({}).map |$p| {{ \"${{p}}\" }}", self.list(next), 1 + self.below(2)),
            16 => format!("flatten({}.slice(2))", self.list(next)),
            17 => "lookup('l1')".to_owned(),
            18 => format!("lookup('l2', Array, '{}')", self.random.pick(&["unique", "first"])),
            19 => format!("{}[0, {}]", self.list_of_array(next), 1 + self.below(2)),
            20 => format!("{}.reduce([]) |$m, $e| {{ $m + [$e] }}", self.list(next)),
            21 => format!("[*{}, {}]", self.list(next), self.text(next)),
            22 => format!("Array({}.reverse_each)", self.list(next)),
            23 => format!("flatten(Array({}))", self.table(next)),
            24 => format!("{}.partition |$e| {{ $e == {} }}[0]", self.list(next), self.text(0)),
            25 => format!("flatten({}.group_by |$e| {{ \"${{e}}\".length }}.values)", self.list(next)),
            26 => format!("m::pairs({})", self.table(next)),
            27 => format!("m::wrap({}, {})", self.list(next), self.text(next)),
            28 => {
                format!("m::through({}) |$e| {{ \"{}${{e}}\" }}", self.list(next), self.random.pick(&WORDS))
            }
            29 => format!("m_old({})", self.list(next)),
            30 => format!(
                "Integer[1, {0}].map |$e| {{ \"{1}${{e}}\" }}",
                1 + self.below(3),
                self.random.pick(&WORDS)
            ),
            31 => format!("[{}, {}].filter |$e| {{ $e }}", self.missing(), self.text(next)),
            32 => format!("{}.each |$e| {{ $e }}", self.list(next)),
            33 => format!("Array({}.step({}))", self.list(next), 1 + self.below(2)),
            34 => format!("{}.with |$l| {{ $l + [{}] }}", self.list(next), self.text(0)),
            35 => {
                let (condition, one, other) = (self.condition(next), self.list(next), self.list(next));
                format!("(if {condition} {{ {one} }} else {{ {other} }})")
            }
            36 => format!("[{}, {}, {}]", self.text(next), self.text(next), self.text(0)),
            37 => format!(
                "flatten({}.tree_each({{ 'include_containers' => false }}).map |$p| {{ \"${{p}}\" }})",
                self.nested()
            ),
            38 => format!("concat({}, {})", self.list(next), self.list(next)),
            39 => format!("prefix({}, {})", strings(&self.list(next)), self.word()),
            40 => format!("suffix({}, {})", strings(&self.list(next)), self.word()),
            41 => format!("flatten(zip({}, {}))", self.list(next), self.list(next)),
            42 => format!("difference({}, {})", self.list(next), self.list(next)),
            43 => format!("intersection({}, {})", self.list(next), self.list(next)),
            44 => format!("union({}, {})", self.list(next), self.list(next)),
            45 => format!("delete({}, {})", self.list(next), self.text(0)),
            46 => format!("join_keys_to_values({}, {})", self.table(next), self.word()),
            47 => format!("reject({}, {})", strings(&self.list(next)), self.word()),
            48 => format!("values_at({}, [0])", strings(&format!("({} + ['x'])", self.list(next)))),
            _ => format!("zip({}, {}).map |$p| {{ join($p, '+') }}", self.list(next), self.list(next)),
        }
    }

    fn list_of_array(&mut self, next: usize) -> String {
        format!("({} + [{}])", self.list(next), self.word())
    }

    fn table(&mut self, depth: usize) -> String {
        if depth == 0 {
            if !self.tables.is_empty() && self.below(2) == 0 {
                return format!("${}", self.random.pick(&self.tables));
            }
            return format!("{{ {} => {}, {} => {} }}", self.word(), self.text(0), self.word(), self.text(0));
        }
        let next = depth - 1;
        let has_library = !LIBRARY.is_empty();
        match self.below(if has_library { 24 } else { 20 }) {
            0..=2 => format!(
                "{{ {} => {}, {} => {} }}",
                self.word(),
                self.text(next),
                self.word(),
                self.text(next)
            ),
            3 | 4 => format!("({} + {})", self.table(next), self.table(next)),
            5 => format!("Hash({}.map |$e| {{ [\"${{e}}\", {}] }})", self.list(next), self.text(next)),
            6 => format!(
                "Hash({}.map |$k, $v| {{ [$k, \"{}${{v}}\"] }})",
                self.table(next),
                self.random.pick(&WORDS)
            ),
            7 => format!("{}.filter |$k, $v| {{ $k != {} }}", self.table(next), self.word()),
            8 => format!("{}.filter |$e| {{ $e[1] != {} }}", self.table(next), self.text(0)),
            9 => format!(
                "{}.reduce({{}}) |$m, $e| {{ $m + {{ \"${{e}}\" => {} }} }}",
                self.list(next),
                self.text(next)
            ),
            10 => "lookup('f1')".to_owned(),
            11 => format!("lookup('f1', Hash, '{}')", self.random.pick(&["hash", "deep", "first"])),
            12 => format!("({} - {})", self.table(next), self.word()),
            13 => format!("({} - [{}])", self.table(next), self.text(0)),
            14 => format!("m::table({}, {})", self.list(next), self.text(next)),
            15 => format!(
                "Hash(flatten([{}, {}]).slice(1).map |$i, $p| {{ [\"k${{i}}\", $p] }})",
                self.text(next),
                self.list(next)
            ),
            16 => {
                let (condition, one, other) = (self.condition(next), self.table(next), self.table(next));
                format!("(if {condition} {{ {one} }} else {{ {other} }})")
            }
            17 => format!("{}.group_by |$e| {{ \"${{e}}\" }}", self.list(next)),
            18 => format!("{{ {} => {}, 'l' => {} }}", self.word(), self.text(next), self.list(next)),
            19 => self.nested(),
            20 => format!("merge({}, {})", self.table(next), self.table(next)),
            21 => format!("deep_merge({}, {})", self.table(next), self.nested()),
            22 => format!("delete({}, {})", self.table(next), self.word()),
            _ => format!(
                "hash(zip({}.unique.map |$e| {{ \"k${{e}}\" }}, {}))",
                self.list(next),
                self.list(next)
            ),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        if depth == 0 {
            return format!("{} == {}", self.text(0), self.text(0));
        }
        let next = depth - 1;
        match self.below(8) {
            0 => format!("{} in {}", self.text(0), self.list(next)),
            1 => format!("{} in {}", self.word(), self.table(next)),
            2 => format!("{}.any |$e| {{ $e == {} }}", self.list(next), self.text(0)),
            3 => format!("{}.all |$e| {{ $e != {} }}", self.list(next), self.text(0)),
            4 => format!("empty({})", self.list(next)),
            5 => format!("{}.length > {}", self.list(next), self.below(4)),
            6 => format!("{} == {}", self.list(next), self.list(next)),
            _ => format!("{} =~ /(a|1)(.)?/", self.text(next)),
        }
    }
}

/// A list whose elements are texts for certain.
fn strings(list: &str) -> String {
    format!("({list}.map |$e| {{ \"${{e}}\" }})")
}
