//! Orders that AWS documents and no reference implies: one file a family, one table row a hazard.

mod api_gateway;
mod audit;
mod containers;
mod databases;
mod efs;
mod gateway;
mod iam;
mod identities;
mod names;
mod networks;
mod notifications;
mod vpn;

use setpoint_source::{Diagnostic, Rule, Severity, Symbol};

use crate::fix;
use crate::graph::{Stack, Waits};
use crate::omission::{Omission, Omitted};
use crate::template::Resource;

/// A documented order: `find` names each consumer with what it must wait for.
pub struct Hazard {
    /// Names the hazard in fixtures and documentation.
    pub name: &'static str,
    pub severity: Severity,
    /// What the order decides.
    pub(crate) concerns: Concern,
    /// What goes wrong otherwise, as a sentence.
    pub why: &'static str,
    /// Where AWS says so.
    pub page: &'static str,
    find: fn(&Stack<'_>, &mut Vec<Wait>),
}

/// What goes wrong without an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Concern {
    /// The creation may fail.
    Creation,
    /// The stack is created, and something in it lacks what came too late.
    Contents,
}

impl std::fmt::Debug for Hazard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hazard").field("name", &self.name).finish_non_exhaustive()
    }
}

/// One resource must wait for another, or for one of several.
pub(crate) struct Wait {
    pub(crate) consumer: Symbol,
    /// It must wait for one of these; an order to any of them will do.
    pub(crate) any_of: Vec<Symbol>,
    /// What it is about the consumer that makes it wait: "has a public address".
    pub(crate) because: String,
}

pub static HAZARDS: &[&Hazard] = &[
    &gateway::ROUTE,
    &gateway::TRANSIT,
    &gateway::TRANSIT_ELSEWHERE,
    &gateway::ADDRESS,
    &gateway::NAT,
    &gateway::PUBLIC_CONSUMER,
    &vpn::ROUTE_PROPAGATION,
    &vpn::CLIENT_ROUTE,
    &iam::POLICY,
    &efs::MOUNT_TARGET,
    &containers::LISTENER,
    &containers::CAPACITY,
    &api_gateway::METHODS,
    &api_gateway::LATE_METHODS,
    &api_gateway::ROUTES,
    &api_gateway::LATE_ROUTES,
    &api_gateway::PLAN,
    &api_gateway::SCHEMA,
    &api_gateway::LOGS,
    &iam::DOMAIN,
    &identities::PROVIDER,
    &databases::PROXY,
    &networks::RANGE,
    &notifications::BUCKET,
    &audit::TRAIL,
    &audit::CONFIG_RULE,
    &audit::SUBSCRIPTION,
    &names::LITERAL,
];

/// Finds the orders that are missing: those on which the creation depends in `out`, the others in `beside`.
pub(crate) fn check(
    stack: &Stack<'_>,
    out: &mut Vec<Diagnostic>,
    beside: &mut Vec<Diagnostic>,
    open: &mut Vec<Omission>,
) {
    let mut reported: Vec<(Symbol, Symbol)> = Vec::new();
    let mut found: Vec<Found> = Vec::new();
    for hazard in HAZARDS {
        let mut waits = Vec::new();
        (hazard.find)(stack, &mut waits);
        for wait in waits {
            found.extend(finding(stack, hazard, &wait, &mut reported, open));
        }
    }
    // A resource that must wait for several gets one `DependsOn` with all of them.
    for Found { finding, consumer, addable, concerns } in &found {
        let targets: Vec<Symbol> =
            found.iter().filter(|one| one.consumer == *consumer).filter_map(|one| one.addable).collect();
        let fix = addable
            .and(stack.resource(*consumer))
            .and_then(|resource| fix::add_depends_on(stack.template, resource, &targets));
        let list = if *concerns == Concern::Creation { &mut *out } else { &mut *beside };
        list.push(match fix {
            Some(fix) => finding.clone().with_fix(fix),
            None => finding.clone(),
        });
    }
}

/// A finding, and what its consumer's `DependsOn` lacks, if adding it is enough.
struct Found {
    finding: Diagnostic,
    consumer: Symbol,
    addable: Option<Symbol>,
    concerns: Concern,
}

fn finding(
    stack: &Stack<'_>,
    hazard: &Hazard,
    wait: &Wait,
    reported: &mut Vec<(Symbol, Symbol)>,
    open: &mut Vec<Omission>,
) -> Option<Found> {
    let consumer = stack.resource(wait.consumer)?;
    let needed: Vec<&Resource> = wait
        .any_of
        .iter()
        .filter(|name| **name != wait.consumer)
        .filter_map(|name| stack.resource(*name))
        .collect();
    let names: Vec<Symbol> = needed.iter().map(|one| one.name).collect();
    let valuation = match stack.waits(consumer.name, &names) {
        Waits::Always => return None,
        Waits::NotIf(valuation) => valuation,
        Waits::Undecided => {
            let what = Omitted::Waits(consumer.name, *names.first()?);
            open.push(Omission::new(what, consumer.name_range));
            return None;
        }
    };
    let target = needed.into_iter().find(|one| valuation.allows(&stack.exists(one.name)))?;
    // What waits for a resource that is reported itself will wait once that one is mended.
    let mended =
        reported.iter().any(|(fixed, to)| *to == target.name && stack.may_wait(consumer.name, *fixed));
    if mended || reported.contains(&(consumer.name, target.name)) {
        return None;
    }
    reported.push((consumer.name, target.name));
    let message = format!(
        "`{}` {}, so it must wait for `{}`, and nothing makes it wait",
        consumer.name, wait.because, target.name
    );
    let mut finding = Diagnostic::new(Rule::MissingDependsOn, message)
        .severity(hazard.severity)
        .at(stack.template.span(consumer.name_range))
        .labelled(format!("{} is created at the same time or before", consumer.kind))
        .with_label(
            stack.template.span(target.name_range),
            format!("this {} must be there first", target.kind),
        )
        .with_note(hazard.why)
        .with_note(format!("AWS: {}", hazard.page))
        .with_resources([consumer.name.to_string(), target.name.to_string()]);
    let conditions: Vec<Symbol> = stack
        .graph
        .edges_from(consumer.name)
        .flat_map(|edge| stack.edge_guard(edge))
        .filter(|_| stack.may_wait(consumer.name, target.name))
        // Which of several is there decides whether waiting for another one of them is enough.
        .chain(names.iter().filter(|_| names.len() > 1).flat_map(|name| stack.exists(*name)))
        .map(|(condition, _)| condition)
        .collect();
    if !conditions.is_empty() {
        finding =
            finding.with_note(format!("This is so when {}.", stack.logic.describe(&valuation, &conditions)));
    }
    if stack.may_wait(target.name, consumer.name) {
        let finding = finding.with_help(format!(
            "`{}` waits for `{}` already, so a `DependsOn` would close a circle. Give `{}` a fixed name, and use that \
             name instead of a reference in `{}`; then add `DependsOn: {}`.",
            target.name, consumer.name, consumer.name, target.name, target.name
        ));
        return Some(Found { finding, consumer: consumer.name, addable: None, concerns: hazard.concerns });
    }
    finding = finding.with_help(format!("Add `DependsOn: {}` to `{}`.", target.name, consumer.name));
    Some(Found { finding, consumer: consumer.name, addable: Some(target.name), concerns: hazard.concerns })
}
