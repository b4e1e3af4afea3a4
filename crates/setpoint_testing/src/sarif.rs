//! SARIF 2.1.0 in tests: whether a log has the objects, properties, types and bounds of the standard's schema.

use serde_json::{Map, Value};

/// What the schema says about a property.
enum Is {
    Text,
    /// A list of texts, all different.
    Texts,
    /// A URI reference.
    Uri,
    /// An integer that is at least this.
    AtLeast(i64),
    OneOf(&'static [&'static str]),
    Object(&'static str),
    /// At least so many items, all different.
    List(usize, &'static str),
}

/// An object of the schema: its name, its properties, and those of them that are required. A property that Setpoint does not
/// write is not here: whoever writes it adds what the schema says about it.
type Object = (&'static str, &'static [(&'static str, Is)], &'static [&'static str]);

const LEVELS: Is = Is::OneOf(&["none", "note", "warning", "error"]);

const OBJECTS: &[Object] = &[
    (
        "log",
        &[("$schema", Is::Uri), ("version", Is::OneOf(&["2.1.0"])), ("runs", Is::List(0, "run"))],
        &["version", "runs"],
    ),
    (
        "run",
        &[
            ("tool", Is::Object("tool")),
            ("columnKind", Is::OneOf(&["utf16CodeUnits", "unicodeCodePoints"])),
            ("results", Is::List(0, "result")),
        ],
        &["tool"],
    ),
    ("tool", &[("driver", Is::Object("toolComponent"))], &["driver"]),
    (
        "toolComponent",
        &[("name", Is::Text), ("version", Is::Text), ("rules", Is::List(0, "reportingDescriptor"))],
        &["name"],
    ),
    (
        "reportingDescriptor",
        &[
            ("id", Is::Text),
            ("shortDescription", Is::Object("multiformatMessageString")),
            ("help", Is::Object("multiformatMessageString")),
            ("defaultConfiguration", Is::Object("reportingConfiguration")),
            ("properties", Is::Object("propertyBag")),
        ],
        &["id"],
    ),
    ("multiformatMessageString", &[("text", Is::Text), ("markdown", Is::Text)], &["text"]),
    ("propertyBag", &[("tags", Is::Texts)], &[]),
    ("reportingConfiguration", &[("level", LEVELS)], &[]),
    (
        "result",
        &[
            ("ruleId", Is::Text),
            ("ruleIndex", Is::AtLeast(0)),
            ("level", LEVELS),
            ("message", Is::Object("message")),
            // GitHub refuses results without a location, though the schema does not.
            ("locations", Is::List(1, "location")),
            ("partialFingerprints", Is::Object("fingerprints")),
            ("relatedLocations", Is::List(0, "location")),
            ("fixes", Is::List(0, "fix")),
            ("suppressions", Is::List(0, "suppression")),
        ],
        &["message", "locations"],
    ),
    ("fingerprints", &[("setpoint/v1", Is::Text)], &["setpoint/v1"]),
    ("suppression", &[("kind", Is::OneOf(&["inSource", "external"]))], &["kind"]),
    ("message", &[("text", Is::Text)], &["text"]),
    (
        "location",
        &[
            ("id", Is::AtLeast(0)),
            ("physicalLocation", Is::Object("physicalLocation")),
            ("message", Is::Object("message")),
        ],
        &[],
    ),
    (
        "physicalLocation",
        &[("artifactLocation", Is::Object("artifactLocation")), ("region", Is::Object("region"))],
        &["artifactLocation"],
    ),
    ("artifactLocation", &[("uri", Is::Uri)], &["uri"]),
    (
        "region",
        &[
            ("startLine", Is::AtLeast(1)),
            ("startColumn", Is::AtLeast(1)),
            ("endLine", Is::AtLeast(1)),
            ("endColumn", Is::AtLeast(1)),
        ],
        &["startLine"],
    ),
    (
        "fix",
        &[("description", Is::Object("message")), ("artifactChanges", Is::List(1, "artifactChange"))],
        &["artifactChanges"],
    ),
    (
        "artifactChange",
        &[("artifactLocation", Is::Object("artifactLocation")), ("replacements", Is::List(1, "replacement"))],
        &["artifactLocation", "replacements"],
    ),
    (
        "replacement",
        &[("deletedRegion", Is::Object("region")), ("insertedContent", Is::Object("artifactContent"))],
        &["deletedRegion"],
    ),
    ("artifactContent", &[("text", Is::Text)], &[]),
];

/// Returns what is wrong with a log, each with the place in it.
pub fn problems(log: &Value) -> Vec<String> {
    let mut out = Vec::new();
    check_object(log, "log", "$", &mut out);
    for run in items(&log["runs"]) {
        let rules = items(&run["tool"]["driver"]["rules"]);
        for (at, rule) in rules.iter().enumerate() {
            if rules[..at].iter().any(|other| other["id"] == rule["id"]) {
                out.push(format!("two rules have the id {}", rule["id"]));
            }
        }
        for (at, result) in items(&run["results"]).iter().enumerate() {
            let rule = result["ruleIndex"].as_u64().and_then(|index| rules.get(index as usize));
            if rule.is_none_or(|rule| rule["id"] != result["ruleId"]) {
                out.push(format!("ruleIndex of result {at} is not that of {}", result["ruleId"]));
            }
        }
    }
    out
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

fn check_object(value: &Value, name: &str, place: &str, out: &mut Vec<String>) {
    let Some((_, properties, required)) = OBJECTS.iter().find(|object| object.0 == name) else {
        return out.push(format!("{place}: {name} is not described here"));
    };
    let Some(object) = value.as_object() else { return out.push(format!("{place} is not a {name}")) };
    for name in *required {
        if !object.contains_key(*name) {
            out.push(format!("{place} has no {name}"));
        }
    }
    for (name, value) in object {
        let place = format!("{place}.{name}");
        match properties.iter().find(|property| property.0 == name) {
            Some((_, is)) => check_value(value, is, &place, out),
            None => out.push(format!("{place} is not described here")),
        }
    }
    if name == "region" && ends_before_start(object) {
        out.push(format!("{place} ends before it starts"));
    }
}

fn check_value(value: &Value, is: &Is, place: &str, out: &mut Vec<String>) {
    let fits = match is {
        Is::Text => value.is_string(),
        Is::Texts => {
            let texts = items(value);
            let is_new = |at: usize| !texts[..at].contains(&texts[at]);
            value.is_array() && texts.iter().enumerate().all(|(at, text)| text.is_string() && is_new(at))
        }
        Is::Uri => value.as_str().is_some_and(is_uri_reference),
        Is::AtLeast(least) => value.as_i64().is_some_and(|number| number >= *least),
        Is::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        Is::Object(name) => return check_object(value, name, place, out),
        Is::List(least, name) => {
            let list = items(value);
            for (at, item) in list.iter().enumerate() {
                check_object(item, name, &format!("{place}[{at}]"), out);
                // Only results may be alike: two nodes can have the same finding.
                if *name != "result" && list[..at].contains(item) {
                    out.push(format!("{place}[{at}] stands there twice"));
                }
            }
            value.is_array() && list.len() >= *least
        }
    };
    if !fits {
        out.push(format!("{place} cannot be {value}"));
    }
}

fn ends_before_start(region: &Map<String, Value>) -> bool {
    let number = |name: &str| region.get(name).and_then(Value::as_u64);
    let start = (number("startLine"), number("startColumn"));
    let end = (number("endLine").or(start.0), number("endColumn"));
    end.0 < start.0 || (end.0 == start.0 && end.1.is_some() && end.1 < start.1)
}

/// Whether a text has only the characters of a URI reference, each `%` with its two digits, and no colon in the first segment
/// of a relative path.
fn is_uri_reference(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    let escaped = |rest: &str| rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    let scheme = text.split(['/', '?', '#']).next().unwrap_or_default().split_once(':');
    text.bytes().all(allowed)
        && text.split('%').skip(1).all(escaped)
        && scheme.is_none_or(|(scheme, _)| ["file", "https"].contains(&scheme))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn log() -> Value {
        let region = json!({ "startLine": 1, "startColumn": 2, "endLine": 1, "endColumn": 2 });
        let artifact = json!({ "uri": "a%20b.pp" });
        json!({
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": { "name": "x", "rules": [{ "id": "a" }, { "id": "b" }] } },
                "results": [{
                    "ruleId": "b",
                    "ruleIndex": 1,
                    "level": "note",
                    "message": { "text": "t" },
                    "locations": [{ "physicalLocation": { "artifactLocation": artifact, "region": region } }],
                    "fixes": [{ "artifactChanges": [{
                        "artifactLocation": artifact,
                        "replacements": [{ "deletedRegion": region, "insertedContent": { "text": "" } }],
                    }] }],
                }],
            }],
        })
    }

    #[test]
    fn a_proper_log_has_no_problems() {
        assert_eq!(problems(&log()), [""; 0]);
    }

    #[test]
    fn every_kind_of_mistake_is_found() {
        let result = "/runs/0/results/0";
        let region = "/locations/0/physicalLocation/region";
        for (place, wrong, problem) in [
            ("/version".to_owned(), json!("2.0.0"), "$.version cannot be \"2.0.0\""),
            ("/runs/0/tool".to_owned(), json!({}), "$.runs[0].tool has no driver"),
            (format!("{result}/level"), json!("info"), "$.runs[0].results[0].level cannot be \"info\""),
            (format!("{result}/ruleIndex"), json!(0), "ruleIndex of result 0 is not that of \"b\""),
            (format!("{result}/ruleIndex"), json!(2), "ruleIndex of result 0 is not that of \"b\""),
            (
                format!("{result}/message"),
                json!({ "words": "t" }),
                "$.runs[0].results[0].message has no text",
            ),
            (
                format!("{result}{region}/startLine"),
                json!(0),
                "$.runs[0].results[0].locations[0].physicalLocation.region.startLine cannot be 0",
            ),
            (
                format!("{result}{region}/endColumn"),
                json!(1),
                "$.runs[0].results[0].locations[0].physicalLocation.region ends before it starts",
            ),
            (
                format!("{result}/fixes/0/artifactChanges"),
                json!([]),
                "$.runs[0].results[0].fixes[0].artifactChanges cannot be []",
            ),
            (
                "/runs/0/tool/driver/rules".to_owned(),
                json!([{ "id": "b" }, { "id": "b" }]),
                "two rules have the id \"b\"",
            ),
        ] {
            let mut log = log();
            *log.pointer_mut(&place).unwrap_or(&mut Value::Null) = wrong;
            let found = problems(&log);
            assert!(found.iter().any(|found| found == problem), "{place}: {found:?}");
        }
    }

    #[test]
    fn characters_that_uris_reserve_are_escaped() {
        for good in ["a.pp", "../a/b%3Ac.pp", "file:///srv/%C3%A4.pp", "https://json.schemastore.org/x.json"]
        {
            assert!(is_uri_reference(good), "{good}");
        }
        for bad in ["a b.pp", "ä.pp", "100%.pp", "%zz", "c:a.pp", "a\\b"] {
            assert!(!is_uri_reference(bad), "{bad}");
        }
    }
}
