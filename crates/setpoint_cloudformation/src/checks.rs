//! Checks of a template beside cycles and hazards.

use setpoint_source::{Diagnostic, Range, Rule, Symbol};

use crate::conditions::Formula;
use crate::graph::{How, Stack, Unknown, User, Via, Waits, references};
use crate::omission::{Omission, Omitted};
use crate::template::Resource;
use crate::text::Text;
use crate::value::{Guard, Piece, Value, ValueKind};

/// Names that nothing defines. One that the serverless transform may make is left open.
pub(crate) fn unknown_names(stack: &Stack<'_>, out: &mut Vec<Diagnostic>, open: &mut Vec<Omission>) {
    for unknown in &stack.graph.unknown {
        let Unknown { user, name, how, range } = unknown;
        if stack.template.is_serverless() && may_be_made(stack, *name) {
            open.push(Omission::new(Omitted::Serverless(*name), *range));
            continue;
        }
        let subject = match user {
            User::Resource(name) => format!("`{name}`"),
            User::Output(name) => format!("the output `{name}`"),
            User::Condition(name) => format!("the condition `{name}`"),
        };
        let what = match how {
            How::DependsOn => format!("depends on `{name}`"),
            How::Reference => format!("refers to `{name}`"),
            How::Condition => format!("uses the condition `{name}`"),
            How::Mapping => format!("looks into the mapping `{name}`"),
            How::MappingKey => format!("looks for the key `{name}`"),
        };
        let message = format!("{subject} {what}, which the template does not define");
        let mut finding = Diagnostic::new(Rule::UnknownReference, message).at(stack.template.span(*range));
        if let User::Resource(name) = user {
            finding = finding.with_resources([name.to_string()]);
        }
        if *how == How::DependsOn && stack.template.parameters.contains_key(name) {
            finding = finding.with_note("This is a parameter; only resources can be waited for.");
        } else if matches!(user, User::Condition(_)) && stack.template.resources.contains_key(name) {
            finding = finding.with_note("This is a resource; conditions are decided before there are any.");
        } else if let Some(near) = nearest(stack, *name, *how) {
            finding = finding.with_help(format!("Did you mean `{near}`?"));
        }
        out.push(finding);
    }
}

/// Whether a name is one that the serverless transform makes up: it begins as a resource does, or as an implicit interface. Of
/// the names with a dot, such as `Function.Alias`, only those are left that it may make and that have no model.
fn may_be_made(stack: &Stack<'_>, name: Symbol) -> bool {
    const OPEN: [&str; 6] =
        ["DomainName", "UsagePlan", "UsagePlanKey", "ApiKey", "DestinationTopic", "DestinationQueue"];
    if let Some((_, attribute)) = name.split_once('.') {
        return OPEN.contains(&attribute);
    }
    name.starts_with("Serverless")
        || stack.template.resources.keys().any(|known| name.starts_with(known.as_str()))
}

fn nearest<'a>(stack: &'a Stack<'_>, name: Symbol, how: How) -> Option<&'a str> {
    let template = stack.template;
    let names: Vec<&str> = match how {
        How::DependsOn | How::Reference => {
            template.resources.keys().chain(template.parameters.keys()).map(|known| known.as_str()).collect()
        }
        How::Condition => template.conditions.keys().map(|known| known.as_str()).collect(),
        How::Mapping => template.mappings.keys().map(|known| known.as_str()).collect(),
        How::MappingKey => Vec::new(),
    };
    setpoint_source::nearest(&name, names.into_iter())
}

/// References to resources that a condition removes while the reference stays.
pub(crate) fn removed_references(stack: &Stack<'_>, out: &mut Vec<Diagnostic>) {
    let mut seen: Vec<(Symbol, Symbol)> = Vec::new();
    for edge in &stack.graph.edges {
        // A `DependsOn` on a resource that is not created is passed over.
        if matches!(edge.via, Via::DependsOn | Via::Transform(_)) || seen.contains(&(edge.from, edge.to)) {
            continue;
        }
        let mut here = edge.guard.clone();
        here.extend(stack.exists(edge.from));
        if let Some(finding) = removed(stack, &format!("`{}`", edge.from), edge.to, &here, edge.range) {
            seen.push((edge.from, edge.to));
            out.push(finding.with_resources([edge.from.to_string(), edge.to.to_string()]));
        }
    }
    for output in stack.template.outputs.fields() {
        let mut guard: Guard = output
            .value
            .get("Condition")
            .and_then(Value::text)
            .map(|name| (Symbol::new(name), true))
            .into_iter()
            .collect();
        let mut found: Vec<(Symbol, Guard, Range)> = Vec::new();
        output.value.walk(&mut guard, &mut |value, guard| {
            references(value, &mut |name, _| {
                if stack.template.resources.contains_key(&name) {
                    found.push((name, guard.clone(), value.range));
                }
            });
        });
        let finding = found.into_iter().find_map(|(name, guard, range)| {
            removed(stack, &format!("the output `{}`", output.name), name, &guard, range)
                .map(|finding| finding.with_resources([name.to_string()]))
        });
        out.extend(finding);
    }
}

fn removed(stack: &Stack<'_>, from: &str, to: Symbol, guard: &Guard, range: Range) -> Option<Diagnostic> {
    let target = stack.resource(to)?;
    let (condition, place) = target.condition?;
    let mut wanted = guard.clone();
    wanted.push((condition, false));
    let valuation = stack.logic.satisfiable(&[stack.logic.guard(&wanted)])?;
    let conditions: Vec<Symbol> = wanted.iter().map(|(name, _)| *name).collect();
    let message = format!("{from} refers to `{to}`, which is not created when `{condition}` is false");
    Some(
        Diagnostic::new(Rule::ConditionalReference, message)
            .at(stack.template.span(range))
            .with_label(stack.template.span(place), format!("`{to}` is created only then"))
            .with_note(format!("This happens when {}.", stack.logic.describe(&valuation, &conditions)))
            .with_help(format!(
                "Give both the condition `{condition}`, or choose with `!If [{condition}, …, !Ref AWS::NoValue]`."
            )),
    )
}

/// `DependsOn` beside a reference that says the same.
pub(crate) fn redundant_depends_on(stack: &Stack<'_>, out: &mut Vec<Diagnostic>) {
    for resource in stack.template.resources.values() {
        for (name, range) in &resource.depends_on {
            let reference = stack
                .graph
                .edges_from(resource.name)
                .find(|edge| edge.to == *name && edge.via != Via::DependsOn && edge.guard.is_empty());
            if let Some(reference) = reference {
                out.push(
                    Diagnostic::new(
                        Rule::RedundantDependsOn,
                        format!("`{}` waits for `{name}` already, because it refers to it", resource.name),
                    )
                    .at(stack.template.span(*range))
                    .labelled("this changes nothing")
                    .with_label(
                        stack.template.span(reference.range),
                        format!("this {} makes it wait", reference.via.describe()),
                    )
                    .with_help(format!("Remove `{name}` from `DependsOn`."))
                    .with_resources([resource.name.to_string()]),
                );
            }
        }
    }
}

/// Signals that never come.
pub(crate) fn signals(stack: &Stack<'_>, opaque: bool, out: &mut Vec<Diagnostic>, open: &mut Vec<Omission>) {
    for condition in stack.of_kind("AWS::CloudFormation::WaitCondition") {
        let Some(value) = condition.property(&["Handle"]) else { continue };
        let handle = value.reference();
        let Some(handle) = handle.filter(|name| stack.template.resources.contains_key(name)) else {
            let words = format!("somebody sends the signal that `{}` waits for", condition.name);
            open.push(Omission::new(Omitted::Assumption(words), value.range));
            continue;
        };
        wait_condition(stack, condition, handle, opaque, out, open);
    }
    for resource in stack.template.resources.values() {
        if resource.creation_policy.as_ref().is_some_and(|policy| policy.get("ResourceSignal").is_some())
            && !opaque
        {
            creation_policy(stack, resource, out, open);
        }
    }
}

fn wait_condition(
    stack: &Stack<'_>,
    condition: &Resource,
    handle: Symbol,
    opaque: bool,
    out: &mut Vec<Diagnostic>,
    open: &mut Vec<Omission>,
) {
    if condition.property(&["Count"]).and_then(Value::text) == Some("0") {
        return;
    }
    let senders: Vec<&Resource> = stack
        .template
        .resources
        .values()
        .filter(|one| one.name != condition.name && &*one.kind != "AWS::CloudFormation::WaitCondition")
        .filter(|one| {
            stack.graph.edges_from(one.name).any(|edge| edge.to == handle && edge.via != Via::DependsOn)
        })
        .collect();
    let told_outside = stack.template.outputs.refers_to(handle);
    if senders.is_empty() {
        if !told_outside && !opaque {
            out.push(
                Diagnostic::new(
                    Rule::NeverSignalled,
                    format!(
                        "`{}` waits for a signal, and nothing uses its handle `{handle}`",
                        condition.name
                    ),
                )
                .at(stack.template.span(condition.name_range))
                .with_help(format!(
                    "Let the resource that is waited for call the address that `!Ref {handle}` gives."
                ))
                .with_resources([condition.name.to_string(), handle.to_string()]),
            );
        }
        return;
    }
    if told_outside {
        return;
    }
    // The condition is there, and under some choice of parameters none of those that use its handle is.
    let edges =
        senders.iter().flat_map(|one| stack.graph.edges_from(one.name)).filter(|edge| edge.to == handle);
    let absent = edges.map(|edge| Formula::Not(Box::new(stack.logic.guard(&stack.edge_guard(edge)))));
    let wanted: Vec<Formula> = std::iter::once(stack.exists_formula(condition.name)).chain(absent).collect();
    if !opaque && let Some(valuation) = stack.logic.satisfiable(&wanted) {
        let conditions: Vec<Symbol> = senders
            .iter()
            .flat_map(|one| stack.graph.edges_from(one.name))
            .filter(|edge| edge.to == handle)
            .flat_map(|edge| stack.edge_guard(edge))
            .chain(stack.exists(condition.name))
            .map(|(name, _)| name)
            .collect();
        out.push(
            Diagnostic::new(
                Rule::NeverSignalled,
                format!("`{}` waits for a signal, and what sends it may not be created", condition.name),
            )
            .at(stack.template.span(condition.name_range))
            .with_note(format!("This happens when {}.", stack.logic.describe(&valuation, &conditions)))
            .with_help(format!("Give `{}` the condition of what signals it.", condition.name))
            .with_resources([condition.name.to_string(), handle.to_string()]),
        );
        return;
    }
    for sender in &senders {
        match stack.waits(sender.name, &[condition.name]) {
            Waits::Always => {}
            Waits::NotIf(_) => return,
            Waits::Undecided => {
                let what = Omitted::Waits(sender.name, condition.name);
                return open.push(Omission::new(what, sender.name_range));
            }
        }
    }
    let Some(path) = stack.path(senders[0].name, &[condition.name], &|_| true) else { return };
    let mut finding = Diagnostic::new(
        Rule::Deadlock,
        format!(
            "`{}` waits for a signal of `{}`, which is created only after it: the stack can never be complete",
            condition.name, senders[0].name
        ),
    )
    .at(stack.template.span(condition.name_range))
    .labelled("complete only when the signal has come");
    for edge in path {
        let text = format!("`{}` waits for `{}` ({})", edge.from, edge.to, edge.via.describe());
        finding = finding.with_label(stack.template.span(edge.range), text);
    }
    out.push(
        finding
            .with_note("No other resource uses the handle, so no signal can come from elsewhere.")
            .with_help(format!(
                "Let `{}` depend on `{}`, not the other way round; what needs the signal then depends on `{}`.",
                condition.name, senders[0].name, condition.name
            ))
            .with_resources(senders.iter().map(|one| one.name.to_string()).chain([condition.name.to_string()])),
    );
}

/// A resource with a creation policy must send a signal, itself or through what starts its instances.
fn creation_policy(
    stack: &Stack<'_>,
    resource: &Resource,
    out: &mut Vec<Diagnostic>,
    open: &mut Vec<Omission>,
) {
    let count = resource.creation_policy.as_ref().and_then(|policy| policy.at(&["ResourceSignal", "Count"]));
    let count = count.map_or(Some(1), |count| Text::of(count, stack.template).plain()?.parse::<usize>().ok());
    if count == Some(0) {
        return;
    }
    let size = ["DesiredCapacity", "MinSize"].iter().find_map(|name| resource.property(&[name]));
    let size = size.and_then(|size| Text::of(size, stack.template).plain()?.parse::<usize>().ok());
    let Senders { sent, is_whole } = senders(stack, resource);
    let (message, note) = match (count, size) {
        // An instance counts once, however often it signals.
        (Some(count), Some(size))
            if count > size && resource.kind.ends_with("AutoScalingGroup") && sent > 0 =>
        {
            (
                format!("`{}` waits for {count} signals, and starts with {size} instances", resource.name),
                "Each instance counts once.",
            )
        }
        _ if !is_whole => {
            if sent == 0 {
                let words = format!("what `{}` runs sends its signal", resource.name);
                open.push(Omission::new(Omitted::Assumption(words), resource.name_range));
            }
            return;
        }
        _ if sent == 0 => (
            format!(
                "`{}` is complete only when it has its signal, and nothing in the template sends one",
                resource.name
            ),
            "Without the signal the creation ends with a time-out, and the stack is rolled back.",
        ),
        (Some(count), _) if count > sent && &*resource.kind == "AWS::EC2::Instance" => (
            format!("`{}` waits for {count} signals, and the template sends {sent}", resource.name),
            "An instance counts once, however often it signals.",
        ),
        _ => return,
    };
    out.push(
        Diagnostic::new(Rule::NeverSignalled, message)
            .at(stack.template.span(resource.name_range))
            .with_note(note)
            .with_help("Call `cfn-signal` at the end of the user data, or remove the `CreationPolicy`.")
            .with_resources([resource.name.to_string()]),
    );
}

/// Whether something in the template sends the signals of a resource, or may do so in text that is not here.
pub(crate) fn sends_signal(stack: &Stack<'_>, resource: &Resource) -> bool {
    let senders = senders(stack, resource);
    senders.sent > 0 || !senders.is_whole
}

/// The commands that may signal a resource.
struct Senders {
    sent: usize,
    /// All that the resource runs is text of the template: no parameter, import or other file brings in more.
    is_whole: bool,
}

fn senders(stack: &Stack<'_>, resource: &Resource) -> Senders {
    let starters = stack.graph.edges_from(resource.name).filter_map(|edge| stack.resource(edge.to));
    let mut scripts = std::iter::once(resource).chain(starters).collect::<Vec<_>>();
    scripts.dedup_by_key(|one| one.name);
    let is_whole = scripts.iter().all(|one| {
        one.property(&["UserData"])
            .or_else(|| one.property(&["LaunchTemplateData", "UserData"]))
            .is_none_or(is_script)
    });
    let mut sent = 0;
    for one in stack.template.resources.values() {
        for value in std::iter::once(&one.properties).chain(&one.others) {
            each_text(value, &mut |value| {
                let text = Text::of(value, stack.template).with_gaps();
                sent += signals_to(&text, &resource.name);
            });
        }
    }
    Senders { sent, is_whole }
}

/// Whether user data is a script with its text in the template, into which other values may be put. Text outside of
/// `Fn::Base64` is encoded, and is not read.
fn is_script(data: &Value) -> bool {
    match &data.kind {
        ValueKind::Call { name, argument } if &**name == "Fn::Base64" => has_text(argument),
        ValueKind::If { then, otherwise, .. } => is_script(then) && is_script(otherwise),
        ValueKind::Ref(name) => &**name == "AWS::NoValue",
        _ => false,
    }
}

fn has_text(value: &Value) -> bool {
    match &value.kind {
        ValueKind::Text(_) => true,
        ValueKind::Sub { pieces, .. } => {
            pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if !text.trim().is_empty()))
        }
        ValueKind::If { then, otherwise, .. } => has_text(then) && has_text(otherwise),
        ValueKind::Call { name, argument } if &**name == "Fn::Join" => {
            argument.items().last().is_some_and(|parts| parts.items().iter().any(has_text))
        }
        _ => false,
    }
}

/// Calls `found` for each text below a value, with what is joined to one text taken as one.
fn each_text<'a>(value: &'a Value, found: &mut dyn FnMut(&'a Value)) {
    match &value.kind {
        ValueKind::Text(_) | ValueKind::Sub { .. } => found(value),
        ValueKind::List(items) => items.iter().for_each(|item| each_text(item, found)),
        ValueKind::Map(fields) => fields.iter().for_each(|field| each_text(&field.value, found)),
        ValueKind::If { then, otherwise, .. } => {
            each_text(then, found);
            each_text(otherwise, found);
        }
        ValueKind::Call { name, .. } if &**name == "Fn::Join" => found(value),
        ValueKind::Call { argument, .. } => each_text(argument, found),
        _ => {}
    }
}

/// Counts the signals in a script that may be for a resource: those that name it, and those whose name is not known.
fn signals_to(text: &str, resource: &str) -> usize {
    let is_comment = |line: &&str| line.trim_start().starts_with('#');
    let text: String = text.split_inclusive('\n').filter(|line| !is_comment(line)).collect();
    let by_command = text.match_indices("cfn-signal").filter(|(at, word)| {
        let rest = &text[at + word.len()..];
        let end = rest.find("cfn-signal").unwrap_or(rest.len());
        // A script may also look for the program, or install it.
        let Some(option) = rest[..end].find("--resource") else { return true };
        let after = rest[option + "--resource".len()..end].trim_start_matches([' ', '=', '"', '\'']);
        let name: String = after.chars().take_while(char::is_ascii_alphanumeric).collect();
        name.is_empty() || name == resource || after[name.len()..].starts_with(['\0', '$', '{'])
    });
    let by_interface = ["signal-resource", "SignalResource"].iter().map(|word| text.matches(word).count());
    by_command.count() + by_interface.sum::<usize>()
}

/// Types that cannot be deleted while another resource uses them.
const REFUSES_DELETION: &[&str] = &[
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::Subnet",
    "AWS::EC2::VPC",
    "AWS::EC2::NetworkInterface",
    "AWS::RDS::DBSubnetGroup",
    "AWS::RDS::DBParameterGroup",
    "AWS::RDS::DBClusterParameterGroup",
    "AWS::RDS::OptionGroup",
    "AWS::ElastiCache::SubnetGroup",
    "AWS::Redshift::ClusterSubnetGroup",
    "AWS::ECS::Cluster",
];

/// What is kept keeps what it uses.
pub(crate) fn deletion(stack: &Stack<'_>, out: &mut Vec<Diagnostic>) {
    for resource in stack.template.resources.values().filter(|one| one.is_retained()) {
        let blocked = stack.graph.edges_from(resource.name).find(|edge| {
            edge.via != Via::DependsOn
                && stack.resource(edge.to).is_some_and(|target| {
                    !target.is_retained() && REFUSES_DELETION.contains(&target.kind.as_str())
                })
        });
        if let Some(edge) = blocked {
            out.push(
                Diagnostic::new(
                    Rule::DeletionBlocked,
                    format!(
                        "`{}` is kept when the stack is deleted, and then `{}` cannot be deleted",
                        edge.from, edge.to
                    ),
                )
                .at(stack.template.span(edge.range))
                .labelled(format!("`{}` still uses `{}`", edge.from, edge.to))
                .with_help(format!(
                    "Give `{}` a `DeletionPolicy: Retain` too, or remove the one of `{}`.",
                    edge.to, edge.from
                ))
                .with_resources([edge.from.to_string(), edge.to.to_string()]),
            );
        }
    }
}
