//! The service manager.

use super::{Done, all, arguments, needs, only, texts};
use crate::infer::Stream;
use crate::lexer::Word;
use crate::step::{Condition, NotUnderstood, Step};

/// Units of services are named without their ending, as Puppet names them.
pub(super) fn unit(name: &str) -> String {
    name.strip_suffix(".service").unwrap_or(name).to_owned()
}

pub(super) fn systemctl(words: &[Word]) -> Done {
    let found = arguments(
        "systemctl",
        words,
        &[
            ('q', "quiet", false),
            ('\u{1}', "now", false),
            ('\u{2}', "no-block", false),
            ('\u{3}', "system", false),
            ('f', "force", false),
            ('\u{4}', "no-pager", false),
            ('\u{5}', "no-reload", false),
            ('\u{6}', "runtime", false),
            ('\u{7}', "no-ask-password", false),
            ('\u{8}', "wait", false),
            ('l', "full", false),
        ],
    )?;
    let operands = texts(&found.operands)?;
    let Some((verb, units)) = operands.split_first() else { return Err(needs("systemctl", "what to do")) };
    let of_each = |action: &str| -> Vec<Step> {
        units.iter().map(|name| Step::Service { name: unit(name), action: action.to_owned() }).collect()
    };
    let ask = |condition: fn(String) -> Condition| -> Done {
        match units {
            [name] => Ok((Step::Guard(condition(unit(name))), Stream::Text(None))),
            _ => Err(needs("systemctl", "one unit")),
        }
    };
    match verb.as_str() {
        "daemon-reload" | "daemon-reexec" => only(Step::ReloadUnits),
        "is-active" | "status" => ask(Condition::ServiceActive),
        "is-enabled" => ask(Condition::ServiceEnabled),
        "reset-failed" => only(Step::Nothing),
        _ if units.is_empty() => Err(NotUnderstood::new(verb, "systemctl does not say with what")),
        "enable" | "disable" | "mask" => {
            let mut steps = of_each(verb);
            if found.has('\u{1}') {
                steps.extend(of_each(if verb == "enable" { "start" } else { "stop" }));
            }
            all(steps)
        }
        "start"
        | "stop"
        | "restart"
        | "reload"
        | "try-restart"
        | "condrestart"
        | "reload-or-restart"
        | "unmask"
        | "reload-or-try-restart"
        | "force-reload"
        | "reenable" => all(of_each(verb)),
        _ => Err(NotUnderstood::new(verb, "what systemctl does with it is not known")),
    }
}
