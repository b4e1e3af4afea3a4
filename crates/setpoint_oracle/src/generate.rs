//! Small random manifests over the whole language, from a seed.
//!
//! Most of them compile: a program keeps to the variables, classes and resources that it has made so far, and to the kinds
//! of values that fit. Once in a while it does not, so that errors are compared too.

use std::fmt::Write;

use setpoint_testing::Random;

/// What a generated expression gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Integer,
    Float,
    String,
    Boolean,
    Array,
    Hash,
    Type,
}

const KINDS: [Kind; 7] =
    [Kind::Integer, Kind::Float, Kind::String, Kind::Boolean, Kind::Array, Kind::Hash, Kind::Type];

/// The manifest of a seed.
pub fn generate(seed: u64) -> String {
    let mut generator = Generator { random: Random::new(seed), ..Generator::default() };
    generator.program();
    generator.out
}

#[derive(Default)]
struct Generator {
    random: Random,
    out: String,
    indent: usize,
    /// Names that are used up, of variables, classes, titles and the like.
    used: u32,
    variables: Vec<(String, Kind)>,
    classes: Vec<String>,
    /// Classes that another class must not include before they are defined.
    included: Vec<String>,
    defines: Vec<(String, Kind)>,
    functions: Vec<(String, Kind, Kind)>,
    /// Titles of `notify` resources that are declared for certain.
    notifies: Vec<String>,
    /// Titles of virtual ones.
    virtuals: Vec<String>,
    /// Whether resources that are declared here are declared once for certain.
    unconditional: bool,
}

impl Generator {
    fn program(&mut self) {
        self.unconditional = true;
        for _ in 0..self.random.below(3) {
            self.function();
        }
        for _ in 0..self.random.below(3) {
            self.define();
        }
        for _ in 0..self.random.below(4) {
            self.class();
        }
        for _ in 0..3 + self.random.below(8) {
            self.statement(3);
        }
    }

    fn line(&mut self, text: &str) {
        let spaces = self.indent * 2;
        let _ = writeln!(self.out, "{:spaces$}{text}", "");
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.used += 1;
        format!("{stem}{}", self.used)
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.random.below(one_in) == 0
    }

    fn kind(&mut self) -> Kind {
        KINDS[self.random.below(KINDS.len())]
    }

    fn statement(&mut self, depth: usize) {
        match self.random.below(21) {
            0..=2 => {
                let (name, kind) = (self.fresh("v"), self.kind());
                let value = self.expression(kind, 3);
                self.line(&format!("${name} = {value}"));
                self.variables.push((name, kind));
            }
            3..=5 => {
                let kind = self.kind();
                let value = self.expression(kind, 3);
                self.line(&format!("notice({value})"));
            }
            6..=8 => self.resource(),
            9 if depth > 0 => self.conditional(depth),
            10 if depth > 0 => self.case(depth),
            11 if depth > 0 => self.each(depth),
            12 => self.include(),
            13 => self.declare_define(),
            14 => self.relationship(),
            15 => self.collector(),
            16 => self.resource_default(),
            17 => self.overriding(),
            18 => self.virtual_resource(),
            19 => self.several_assigned(),
            _ => self.call(),
        }
    }

    fn block(&mut self, statements: usize, depth: usize) {
        let (variables, unconditional) = (self.variables.len(), self.unconditional);
        self.unconditional = false;
        self.indent += 1;
        for _ in 0..statements {
            self.statement(depth);
        }
        self.line("notice('end of block')");
        self.indent -= 1;
        self.variables.truncate(variables);
        self.unconditional = unconditional;
    }

    fn conditional(&mut self, depth: usize) {
        let word = if self.chance(4) { "unless" } else { "if" };
        let condition = self.expression(Kind::Boolean, 2);
        self.line(&format!("{word} {condition} {{"));
        self.block(1, depth - 1);
        if word == "if" && self.chance(3) {
            let other = self.expression(Kind::Boolean, 1);
            self.line(&format!("}} elsif {other} {{"));
            self.block(1, depth - 1);
        }
        if self.chance(2) {
            self.line("} else {");
            self.block(1, depth - 1);
        }
        self.line("}");
    }

    fn case(&mut self, depth: usize) {
        let kind = self.kind();
        let subject = self.expression(kind, 2);
        self.line(&format!("case {subject} {{"));
        self.indent += 1;
        for _ in 0..=self.random.below(3) {
            let option = match self.random.below(4) {
                0 => self.type_name(1),
                1 if kind == Kind::String => self.regex(),
                _ => self.expression(kind, 1),
            };
            self.line(&format!("{option}: {{"));
            self.block(1, depth - 1);
            self.line("}");
        }
        self.line("default: { notice('default') }");
        self.indent -= 1;
        self.line("}");
    }

    fn each(&mut self, depth: usize) {
        let list = self.expression(Kind::Array, 2);
        let name = self.fresh("i");
        self.line(&format!("{list}.each |${name}| {{"));
        self.line(&format!("  notice(\"item ${{{name}}}\")"));
        self.block(1, depth - 1);
        self.line("}");
    }

    fn resource(&mut self) {
        let title = if self.chance(40) && !self.notifies.is_empty() {
            self.random.pick(&self.notifies).clone()
        } else {
            self.fresh("n")
        };
        let parameters = self.parameters();
        // In a loop a title would come twice: what is around makes it different, or an error that is compared.
        self.line(&format!("notify {{ '{title}': {parameters} }}"));
        if self.unconditional {
            self.notifies.push(title);
        }
    }

    fn parameters(&mut self) -> String {
        let mut all = Vec::new();
        if self.chance(2) {
            let kind = self.kind();
            all.push(format!("message => {}", self.expression(kind, 2)));
        }
        if self.chance(3) {
            all.push(format!("withpath => {}", self.expression(Kind::Boolean, 1)));
        }
        if self.chance(4) {
            all.push(format!("tag => {}", self.random.pick(&["'t1'", "['t1', 't2']", "'a::b'", "t3"])));
        }
        if self.chance(4) && !self.notifies.is_empty() {
            let other = self.random.pick(&self.notifies).clone();
            let name = self.random.pick(&["require", "before", "notify", "subscribe"]);
            all.push(format!("{name} => Notify['{other}']"));
        }
        if self.chance(60) {
            all.push("color => 'red'".to_owned());
        }
        all.join(", ")
    }

    fn virtual_resource(&mut self) {
        let title = self.fresh("v");
        let parameters = self.parameters();
        self.line(&format!("@notify {{ '{title}': {parameters} }}"));
        if self.unconditional {
            self.virtuals.push(title);
        }
    }

    fn include(&mut self) {
        if self.classes.is_empty() || self.chance(50) {
            return self.call();
        }
        let class = self.random.pick(&self.classes).clone();
        match self.random.below(5) {
            0 => self.line(&format!("contain {class}")),
            1 => self.line(&format!("require {class}")),
            2 if !self.included.contains(&class) && self.unconditional => {
                self.line(&format!("class {{ '{class}': }}"));
            }
            _ => self.line(&format!("include {class}")),
        }
        self.included.push(class);
    }

    fn declare_define(&mut self) {
        if self.defines.is_empty() {
            return self.resource();
        }
        let (name, kind) = self.random.pick(&self.defines).clone();
        let title = self.fresh("d");
        let kind = if self.chance(40) { self.kind() } else { kind };
        let value = self.expression(kind, 2);
        let tag = if self.chance(4) { ", tag => 'of_define'" } else { "" };
        self.line(&format!("{name} {{ '{title}': p => {value}{tag} }}"));
    }

    fn relationship(&mut self) {
        if self.notifies.len() < 2 {
            return self.resource();
        }
        let mut text = String::new();
        for index in 0..2 + self.random.below(2) {
            if index > 0 {
                let arrow = self.random.pick(&["->", "~>", "<-", "<~"]);
                let _ = write!(text, " {arrow} ");
            }
            let first = self.random.pick(&self.notifies).clone();
            let second = self.random.pick(&self.notifies).clone();
            match self.random.below(4) {
                0 => {
                    let _ = write!(text, "[Notify['{first}'], Notify['{second}']]");
                }
                1 => {
                    let _ = write!(text, "Notify['{first}', '{second}']");
                }
                _ => {
                    let _ = write!(text, "Notify['{first}']");
                }
            }
        }
        self.line(&text);
    }

    fn collector(&mut self) {
        let mut query = String::new();
        for index in 0..self.random.below(3) {
            if index > 0 {
                query.push_str(self.random.pick::<&str>(&[" and ", " or "]));
            }
            let test = match self.random.below(4) {
                0 => "tag == 't1'".to_owned(),
                1 => "withpath == true".to_owned(),
                2 if !self.virtuals.is_empty() => {
                    format!("title == '{}'", self.random.pick(&self.virtuals))
                }
                _ => "message != 'x'".to_owned(),
            };
            query.push_str(&test);
        }
        let block = match self.random.below(4) {
            0 => format!(" {{ message => {} }}", self.expression(Kind::String, 1)),
            1 => " { tag +> 'collected' }".to_owned(),
            _ => String::new(),
        };
        self.line(&format!("Notify <| {query} |>{block}"));
    }

    fn resource_default(&mut self) {
        let value = self.expression(Kind::String, 1);
        self.line(&format!("Notify {{ message => {value} }}"));
    }

    fn overriding(&mut self) {
        if self.notifies.is_empty() {
            return self.resource();
        }
        let title = self.random.pick(&self.notifies).clone();
        self.line(&format!("Notify['{title}'] {{ loglevel => 'info' }}"));
    }

    fn several_assigned(&mut self) {
        let (a, b) = (self.fresh("m"), self.fresh("m"));
        let (first, second) = (self.expression(Kind::Integer, 1), self.expression(Kind::String, 1));
        self.line(&format!("[${a}, ${b}] = [{first}, {second}]"));
        self.variables.push((a, Kind::Integer));
        self.variables.push((b, Kind::String));
    }

    fn call(&mut self) {
        let value = self.expression(Kind::String, 2);
        let function = self.random.pick(&["notice", "warning", "info", "notice"]);
        self.line(&format!("{function}({value})"));
    }

    /// A definition has a scope of its own: what it makes stays in it.
    fn definition(&mut self, head: &str, statements: usize, parameter: Option<(String, Kind)>) {
        let saved = (
            std::mem::take(&mut self.variables),
            std::mem::take(&mut self.notifies),
            std::mem::take(&mut self.virtuals),
        );
        self.variables.extend(parameter);
        self.line(&format!("{head} {{"));
        self.block(statements, 2);
        self.line("}");
        (self.variables, self.notifies, self.virtuals) = saved;
    }

    fn class(&mut self) {
        let name = self.fresh("c");
        let kind = self.kind();
        let (parameter, value) = (self.fresh("p"), self.expression(kind, 1));
        let declared = if self.chance(2) { format!("{} ", type_of(kind)) } else { String::new() };
        let parent = if self.chance(4) && !self.classes.is_empty() {
            format!(" inherits {}", self.random.pick(&self.classes))
        } else {
            String::new()
        };
        let head = format!("class {name}({declared}${parameter} = {value}){parent}");
        let statements = 1 + self.random.below(3);
        self.definition(&head, statements, Some((parameter, kind)));
        self.classes.push(name);
    }

    fn define(&mut self) {
        let name = self.fresh("d");
        let kind = self.kind();
        let declared = if self.chance(2) { format!("{} ", type_of(kind)) } else { String::new() };
        self.line(&format!("define {name}({declared}$p) {{"));
        self.line("  notify { \"of ${title}\": message => $p }");
        self.line("  notice(\"${name} ${p}\")");
        self.line("}");
        self.defines.push((name, kind));
    }

    fn function(&mut self) {
        let name = self.fresh("f");
        let (argument, result) = (self.kind(), self.kind());
        let variables = std::mem::take(&mut self.variables);
        self.variables.push(("x".to_owned(), argument));
        let (first, second) = (self.expression(result, 2), self.expression(result, 2));
        let condition = self.expression(Kind::Boolean, 1);
        self.variables = variables;
        self.line(&format!("function {name}({} $x) >> {} {{", type_of(argument), type_of(result)));
        self.line(&format!("  if {condition} {{ return({first}) }}"));
        self.line(&format!("  {second}"));
        self.line("}");
        self.functions.push((name, argument, result));
    }

    fn expression(&mut self, kind: Kind, depth: usize) -> String {
        // A value of another kind now and then: the error must be the same.
        let kind = if self.chance(400) { self.kind() } else { kind };
        if self.chance(3) {
            let known: Vec<String> = self
                .variables
                .iter()
                .filter(|(_, of)| *of == kind)
                .map(|(name, _)| format!("${name}"))
                .collect();
            if !known.is_empty() {
                return self.random.pick(&known).clone();
            }
        }
        if depth == 0 {
            return self.literal(kind);
        }
        if self.chance(8) {
            return self.choice(kind, depth - 1);
        }
        if self.chance(6) {
            let fitting: Vec<(String, Kind)> = self
                .functions
                .iter()
                .filter(|(_, _, result)| *result == kind)
                .map(|(name, argument, _)| (name.clone(), *argument))
                .collect();
            if !fitting.is_empty() {
                let (name, argument) = self.random.pick(&fitting).clone();
                let value = self.expression(argument, depth - 1);
                return format!("{name}({value})");
            }
        }
        match kind {
            Kind::Integer => self.integer(depth - 1),
            Kind::Float => self.float(depth - 1),
            Kind::String => self.string(depth - 1),
            Kind::Boolean => self.boolean(depth - 1),
            Kind::Array => self.array(depth - 1),
            Kind::Hash => self.hash(depth - 1),
            Kind::Type => self.type_name(depth - 1),
        }
    }

    /// One of two values, chosen by a conditional that is a value.
    fn choice(&mut self, kind: Kind, depth: usize) -> String {
        let (first, second) = (self.expression(kind, depth), self.expression(kind, depth));
        let condition = self.expression(Kind::Boolean, depth.min(1));
        match self.random.below(3) {
            0 => format!("(if {condition} {{ {first} }} else {{ {second} }})"),
            1 => format!("({condition} ? {{ true => {first}, default => {second} }})"),
            _ => format!("(case {condition} {{ true: {{ {first} }} default: {{ {second} }} }})"),
        }
    }

    fn literal(&mut self, kind: Kind) -> String {
        let choices: &[&str] = match kind {
            Kind::Integer => &["0", "1", "2", "7", "-3", "42", "0x1f", "017", "1000000"],
            Kind::Float => &["0.5", "1.0", "-2.25", "1e3", "3.14159", "1.5e-3"],
            Kind::String => &[
                "'a'",
                "'B'",
                "''",
                "'hello world'",
                "\"tab\\there\"",
                "'it\\'s'",
                "\"\\u00e9t\\u00e9\"",
                "word",
                "'10'",
                "'x,y,z'",
                "'Abc Def'",
                "'/etc/motd'",
            ],
            Kind::Boolean => &["true", "false"],
            Kind::Array => &[
                "[]",
                "[1, 2, 3]",
                "['a', 'b']",
                "[[1], [2, [3]]]",
                "[undef, 'x']",
                "['b', 'A', 'c']",
                "[3, 1, 2]",
            ],
            // In parentheses, since a statement does not begin with a hash.
            Kind::Hash => &[
                "({})",
                "({ 'a' => 1 })",
                "({ 'k' => { 'n' => [1] }, 'l' => undef })",
                "({ 1 => 'one', 'two' => 2 })",
            ],
            Kind::Type => {
                &["Integer", "String[1]", "Array[Integer]", "Undef", "Enum['a', 'b']", "Optional[String]"]
            }
        };
        (*self.random.pick(choices)).to_owned()
    }

    fn integer(&mut self, depth: usize) -> String {
        let (a, b) = (self.expression(Kind::Integer, depth), self.expression(Kind::Integer, depth));
        match self.random.below(12) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("({a} * {b})"),
            3 => format!("({a} % 7)"),
            4 => format!("({a} / 3)"),
            5 => format!("({a} / {b})"),
            6 => format!("-({a})"),
            7 => format!("({a} % 64 << 2)"),
            8 => format!("{}.length", self.expression(Kind::Array, depth)),
            9 => format!("([{a}, {b}].reduce |$m, $n| {{ $m + $n }})"),
            10 => format!("Integer('{}')", self.random.below(100)),
            _ => self.literal(Kind::Integer),
        }
    }

    fn float(&mut self, depth: usize) -> String {
        let (a, b) = (self.expression(Kind::Float, depth), self.expression(Kind::Integer, depth));
        match self.random.below(6) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} * 2)"),
            2 => format!("({b} / 4.0)"),
            3 => format!("Float({b})"),
            4 => format!("({a} - 0.125)"),
            _ => self.literal(Kind::Float),
        }
    }

    fn string(&mut self, depth: usize) -> String {
        let other = self.kind();
        match self.random.below(14) {
            0..=2 => {
                let value = self.expression(other, depth);
                // A bare word or number in braces is a variable's name.
                format!("\"<${{[{value}][0]}}>\"")
            }
            3 => {
                let known: Vec<String> = self.variables.iter().map(|(name, _)| name.clone()).collect();
                if known.is_empty() {
                    return self.literal(Kind::String);
                }
                let name = self.random.pick(&known).clone();
                format!("\"${name} and ${{{name}}}\"")
            }
            4 => format!("{}.join('-')", self.expression(Kind::Array, depth)),
            5 => format!(
                "sprintf('%s:%05d', {}, {})",
                self.expression(Kind::String, depth),
                self.expression(Kind::Integer, depth)
            ),
            6 => {
                let function = self.random.pick(&[
                    "upcase",
                    "downcase",
                    "capitalize",
                    "strip",
                    "lstrip",
                    "chomp",
                    "camelcase",
                ]);
                let value = self.expression(Kind::String, depth);
                format!("{function}({value})")
            }
            7 => format!("regsubst({}, '[aeiou]', '<\\0>', 'G')", self.expression(Kind::String, depth)),
            8 => format!("String({})", self.expression(other, depth)),
            9 => format!("(\"${{{}}}\")[{}]", "facts['kernel']", self.random.pick(&["0", "-1", "1, 2", "9"])),
            10 => format!("\"${{facts['os']['family']}}{}\"", self.random.below(10)),
            11 => format!("String({}, '%p')", self.expression(other, depth)),
            12 => format!("type({}).convert_to(String)", self.expression(other, depth)),
            _ => self.literal(Kind::String),
        }
    }

    fn boolean(&mut self, depth: usize) -> String {
        let kind = self.kind();
        match self.random.below(12) {
            0 => format!(
                "({} {} {})",
                self.expression(Kind::Integer, depth),
                self.random.pick(&["<", ">", "<=", ">="]),
                self.expression(Kind::Integer, depth)
            ),
            1 => format!(
                "({} {} {})",
                self.expression(Kind::String, depth),
                self.random.pick(&["<", ">", "<=", ">="]),
                self.expression(Kind::String, depth)
            ),
            2 => format!(
                "({} {} {})",
                self.expression(kind, depth),
                self.random.pick(&["==", "!="]),
                self.expression(kind, depth)
            ),
            3 => format!("({} in {})", self.expression(kind, depth), self.expression(Kind::Array, depth)),
            4 => format!(
                "({} in {})",
                self.expression(Kind::String, depth),
                self.expression(Kind::Hash, depth)
            ),
            5 => format!(
                "({} in {})",
                self.expression(Kind::String, depth),
                self.expression(Kind::String, depth)
            ),
            6 => format!("({} =~ {})", self.expression(Kind::String, depth), self.regex()),
            7 => format!(
                "({} {} {})",
                self.expression(kind, depth),
                self.random.pick(&["=~", "!~"]),
                self.type_name(depth)
            ),
            8 => format!(
                "({} {} {})",
                self.expression(Kind::Boolean, depth),
                self.random.pick(&["and", "or"]),
                self.expression(Kind::Boolean, depth)
            ),
            9 => format!("!{}", self.expression(Kind::Boolean, depth)),
            10 => format!(
                "({} {} {})",
                self.type_name(depth),
                self.random.pick(&["<", "<=", ">", "=="]),
                self.type_name(depth)
            ),
            _ => format!("{}.empty", self.expression(Kind::Array, depth)),
        }
    }

    fn array(&mut self, depth: usize) -> String {
        let kind = self.kind();
        match self.random.below(14) {
            0 => {
                let items: Vec<String> =
                    (0..self.random.below(4)).map(|_| self.expression(kind, depth)).collect();
                format!("[{}]", items.join(", "))
            }
            1 => {
                format!("({} + {})", self.expression(Kind::Array, depth), self.expression(Kind::Array, depth))
            }
            2 => {
                format!("({} - {})", self.expression(Kind::Array, depth), self.expression(Kind::Array, depth))
            }
            3 => format!("({} << {})", self.expression(Kind::Array, depth), self.expression(kind, depth)),
            4 => format!("({}.map |$e| {{ \"m${{e}}\" }})", self.expression(Kind::Array, depth)),
            5 => format!("({}.map |$i, $e| {{ [$i, $e] }})", self.expression(Kind::Array, depth)),
            6 => format!(
                "({}.filter |$e| {{ $e =~ {} }})",
                self.expression(Kind::Array, depth),
                self.type_name(depth)
            ),
            7 => format!("{}.keys", self.expression(Kind::Hash, depth)),
            8 => format!("{}.values", self.expression(Kind::Hash, depth)),
            9 => format!("{}.split(',')", self.expression(Kind::String, depth)),
            10 => format!("{}.slice(2)", self.expression(Kind::Array, depth)),
            11 => format!(
                "{}.{}",
                self.expression(Kind::Array, depth),
                self.random.pick(&["flatten", "unique"])
            ),
            12 => format!("[*{}, {}]", self.expression(Kind::Array, depth), self.expression(kind, depth)),
            _ => format!(
                "{}[{}]",
                self.literal(Kind::Array),
                self.random.pick(&["0, 2", "1, 1", "-2, 2", "0, -1"])
            ),
        }
    }

    fn hash(&mut self, depth: usize) -> String {
        let kind = self.kind();
        match self.random.below(6) {
            0 => {
                let (key, first) = (self.expression(Kind::String, depth), self.expression(kind, depth));
                format!("({{ 'a' => {first}, {key} => {} }})", self.expression(kind, depth))
            }
            1 => format!("({} + {})", self.expression(Kind::Hash, depth), self.expression(Kind::Hash, depth)),
            2 => format!("({} - ['a', 1])", self.expression(Kind::Hash, depth)),
            3 => {
                let (hash, of) = (self.expression(Kind::Hash, depth), self.type_name(depth));
                format!("({hash}.filter |$k, $v| {{ $v =~ {of} }})")
            }
            4 => format!("({}.group_by |$e| {{ \"${{e}}\".length }})", self.expression(Kind::Array, depth)),
            _ => self.literal(Kind::Hash),
        }
    }

    fn regex(&mut self) -> String {
        (*self.random.pick(&["/a/", "/^[a-z]+$/", "/(\\w)(\\d*)/", "/\\s/", "/^$/", "/(?i:HELLO)/", "/b|c/"]))
            .to_owned()
    }

    fn type_name(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.literal(Kind::Type);
        }
        let inner = self.type_name(depth - 1);
        match self.random.below(13) {
            0 => format!("Integer[{}, {}]", self.random.below(5), 5 + self.random.below(100)),
            1 => format!("Array[{inner}]"),
            2 => format!("Array[{inner}, 1, 3]"),
            3 => format!("Hash[String, {inner}]"),
            4 => format!("Optional[{inner}]"),
            5 => format!("Variant[{inner}, {}]", self.type_name(depth - 1)),
            6 => format!("Tuple[{inner}, String]"),
            7 => format!("Struct[{{ 'a' => {inner}, Optional['k'] => Any }}]"),
            8 => format!("NotUndef[{inner}]"),
            9 => format!("Type[{inner}]"),
            10 => format!("String[{}]", self.random.below(4)),
            11 => format!("Pattern[{}]", self.regex()),
            _ => (*self.random.pick(&[
                "Scalar",
                "Numeric",
                "Data",
                "Any",
                "Collection",
                "Boolean",
                "Float",
                "Iterable",
                "RichData",
                "ScalarData",
                "Default",
            ]))
            .to_owned(),
        }
    }
}

/// A type that every value of the kind has.
fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer => "Integer",
        Kind::Float => "Float",
        Kind::String => "String",
        Kind::Boolean => "Boolean",
        Kind::Array => "Array",
        Kind::Hash => "Hash",
        Kind::Type => "Type",
    }
}
