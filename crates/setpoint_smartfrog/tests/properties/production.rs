//! Specifications in the production language at random: well formed, and most of them with a meaning.

use setpoint_testing::Random;

const NAMES: [&str; 6] = ["a", "b", "c", "d", "P", "Q"];
const PREFIXES: [&str; 7] =
    ["OPTIONAL(1) ", "OPTIONAL(1) ", "OPTIONAL ", "", "LAZY ", "DATA ", "LAZY OPTIONAL(2) "];
const PARTS: [&str; 11] =
    ["a", "b", "c", "d", "P", "Q", "PARENT:a", "ROOT:P", "ATTRIB b", "HERE c", "ROOT:sfConfig"];
const LITERALS: [&str; 9] = ["1", "2L", "1.5D", "true", "\"s\"", "NULL", "VAR", "[|1|]", "[]"];
const PROTOTYPES: [&str; 10] =
    ["P", "Q", "P", "Q", "concat", "vector", "append", "Constraint", "next", "AggregateSpecifier"];
const TAGS: [&str; 8] = ["", "", "", "", "", "[sfTemp] ", "[sfLocal] ", "[sfIgnoreLink] "];

pub(crate) fn specification(random: &mut Random) -> String {
    format!(
        "#include \"org/smartfrog/functions.sf\"\nP extends {{ {} }}\nQ extends {{ {} }}\n{} {};\nsfConfig extends {{ {} }}\n",
        body(random, 1),
        body(random, 1),
        random.pick(&NAMES),
        value(random, 0),
        body(random, 0)
    )
}

fn body(random: &mut Random, depth: usize) -> String {
    let assignments = (0..=random.below(4)).map(|_| assignment(random, depth));
    assignments.collect::<Vec<_>>().join(" ")
}

fn assignment(random: &mut Random, depth: usize) -> String {
    let (tag, name) = (*random.pick(&TAGS), if random.chance(8) { "--" } else { *random.pick(&NAMES) });
    if random.chance(70) || depth > 3 {
        return format!("{tag}{name} {};", value(random, 0));
    }
    let prototype = if random.chance(50) { *random.pick(&PROTOTYPES) } else { "" };
    format!("{tag}{name} extends {prototype} {{ {} }}", body(random, depth + 1))
}

fn value(random: &mut Random, depth: usize) -> String {
    let inner = |random: &mut Random| value(random, depth + 1);
    match random.below(if depth > 3 { 6 } else { 10 }) {
        0..3 => (*random.pick(&LITERALS)).to_owned(),
        3..6 => format!("{}{}", random.pick(&PREFIXES), random.pick(&PARTS)),
        6 => format!("[{}, {}]", inner(random), inner(random)),
        7 => format!("({} ++ {})", inner(random), inner(random)),
        8 => format!(
            "IF ({} == {}) THEN {} ELSE {} FI",
            inner(random),
            inner(random),
            inner(random),
            inner(random)
        ),
        _ => format!(
            "{}APPLY {{ sfFunctionClass \"org.smartfrog.sfcore.languages.sf.functions.Vector\"; a {}; b {}; }}",
            random.pick(&["", "", "", "LAZY "]),
            inner(random),
            inner(random)
        ),
    }
}
