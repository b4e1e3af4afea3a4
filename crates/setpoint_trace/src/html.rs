//! One page without anything outside of it, on which one steps through a trace.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use setpoint_source::Sources;
use setpoint_source::print::is_hidden;

use crate::Trace;

/// The page: the source with the line of the step marked, the steps, the stores as they are after it.
pub fn html(trace: &Trace, sources: &Sources, title: &str) -> String {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for span in trace.steps.iter().filter_map(|step| step.span) {
        let file = sources.shown(span.file);
        files.entry(file.path().to_owned()).or_insert_with(|| file.text().to_owned());
    }
    let data = json!({"trace": crate::json(trace, sources), "files": files, "title": title});
    // Each part on its own: a name or a text may look like a mark of the page.
    let (head, tail) = PAGE.split_once("{{DATA}}").unwrap_or((PAGE, ""));
    format!("{}{}{tail}", head.replace("{{TITLE}}", &escaped(title)), in_script(&data))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// JSON that no text in it can end the script that it stands in, and in whose texts nothing hides.
fn in_script(data: &Json) -> String {
    let mut out = String::new();
    for letter in data.to_string().chars() {
        match letter {
            '<' | '>' | '&' => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter if is_hidden(letter) => out.push_str(&format!("\\\\u{:04x}", u32::from(letter))),
            letter => out.push(letter),
        }
    }
    out
}

const PAGE: &str = r#"<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{{TITLE}}</title>
<style>
body { font: 14px/1.4 system-ui, sans-serif; margin: 0; display: grid; height: 100vh;
  grid-template: auto 1fr / 1fr 1fr 1fr; color: #222; background: #fff; }
header { grid-column: 1 / -1; padding: .6em 1em; border-bottom: 1px solid #ccc; }
header button { font: inherit; padding: .2em .8em; }
section { min-width: 0; min-height: 0; overflow: auto; padding: .5em 1em; border-right: 1px solid #ddd; }
pre, code, li { font-family: ui-monospace, monospace; font-size: 13px; }
pre { margin: 0; } .line { display: block; } #source pre { width: max-content; min-width: 100%; }
.here { background: #fff3a3; }
ol { padding-left: 3.5em; margin: 0; } li { cursor: pointer; white-space: pre-wrap; overflow-wrap: anywhere;
  padding-left: calc(var(--depth) * 1em); }
#stores .line { white-space: pre-wrap; overflow-wrap: anywhere; }
.whole { font-family: ui-monospace, monospace; font-size: 13px; overflow-wrap: anywhere; border-top: 1px solid #ddd; padding-top: .5em; }
li.now { background: #d7e9ff; } li b { font-weight: 600; }
.added { background: #d9f5d9; } .changed { background: #ffe9c7; } .removed { background: #ffd9d9; text-decoration: line-through; }
@media (max-width: 800px) { body { grid-template: auto 1fr 1fr 1fr / 1fr; } small { display: none; }
  section { border-right: 0; border-bottom: 1px solid #ddd; } li { padding-left: calc(var(--depth) * .4em); } }
@media (prefers-color-scheme: dark) { body { background: #1b1b1b; color: #ddd; }
  .here { background: #5b5210; } li.now { background: #1d3b5c; } .added { background: #1e4620; }
  .changed { background: #5a3d0c; } .removed { background: #5c1f1f; } }
</style></head><body>
<header><strong>{{TITLE}}</strong> &nbsp; <button id="first">|&lt;</button> <button id="back">&lt; back</button>
<button id="next">next &gt;</button> <button id="last">&gt;|</button> &nbsp; step <span id="at"></span> &nbsp;
<code id="rule"></code> &nbsp; <small>the arrow keys step, too</small></header>
<section id="source" aria-label="source"></section><section aria-label="steps"><ol id="steps"></ol><p id="end"></p></section>
<section id="stores" aria-label="stores"></section>
<script type="application/json" id="data">{{DATA}}</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const steps = data.trace.steps, el = id => document.getElementById(id);
let now = 0;
steps.forEach((step, number) => {
  const item = document.createElement("li"), name = document.createElement("b");
  name.textContent = step.rule;
  item.style.setProperty("--depth", Math.min(step.depth, 20));
  item.append(name, " " + step.what);
  item.onclick = () => show(number);
  el("steps").append(item);
});
if (data.trace.end) el("end").textContent = data.trace.end + ".";
// The stores after a step, as a tree: setting a component replaces what was below it.
function stores(upTo) {
  const tops = new Map();
  steps.slice(0, upTo + 1).forEach((step, number) => step.changes.forEach(change => {
    const path = change.store === "s" ? change.at.split(":") : [change.at];
    let below = tops;
    for (const name of [change.store, ...path.slice(0, -1)]) {
      if (!below.has(name)) below.set(name, {below: new Map()});
      below = below.get(name).below;
    }
    const last = path[path.length - 1], is_now = number === upTo;
    if (change.after === null && !is_now) { below.delete(last); return; }
    const kind = !is_now ? "" : change.after === null ? "removed" : change.before === null ? "added" : "changed";
    below.set(last, {value: change.after === null ? change.before : change.after, kind, below: new Map()});
  }));
  const lines = [];
  const walk = (store, path, below) => below.forEach((entry, name) => {
    const at = path === null ? name : path + ":" + name;
    // A component that is changed below no longer is what it was set to.
    const value = entry.value + (entry.below.size ? ", changed below" : "");
    if (entry.value !== undefined) lines.push([store + "(" + at + ") = " + value, entry.kind]);
    walk(store, at, entry.below);
  });
  tops.forEach((entry, store) => walk(store, null, entry.below));
  return lines;
}
let file;
const marked = {};
// Takes the mark from what had it: a long trace has too many lines to look at each.
function mark(line, kind) {
  if (marked[kind]) marked[kind].classList.remove(kind);
  if (line) { line.classList.add(kind); line.scrollIntoView({block: "nearest"}); }
  marked[kind] = line;
}
function show(number) {
  if (!steps.length) return;
  now = Math.max(0, Math.min(steps.length - 1, number));
  const step = steps[now];
  el("at").textContent = (now + 1) + " of " + steps.length;
  el("rule").textContent = step.rule;
  mark(el("steps").children[now], "now");
  const first = Object.keys(data.files)[0], source = el("source");
  const place = step.place || {path: data.title in data.files ? data.title : first, line: 0};
  if (place.path !== file) {
    file = place.path;
    source.replaceChildren();
    const name = document.createElement("p"), pre = document.createElement("pre");
    name.textContent = file;
    data.files[file].replace(/\n$/, "").split("\n").forEach((text, at) => {
      const line = document.createElement("span");
      line.className = "line";
      line.textContent = String(at + 1).padStart(4) + "  " + text;
      pre.append(line);
    });
    source.append(name, pre);
  }
  mark(source.querySelectorAll(".line")[place.line - 1], "here");
  const list = document.createElement("pre");
  stores(now).forEach(([text, kind]) => {
    const line = document.createElement("span");
    line.className = "line " + kind;
    line.textContent = text;
    list.append(line);
  });
  const whole = document.createElement("p");
  whole.className = "whole";
  whole.textContent = step.stores ? "s = " + data.trace.stores[step.stores - 1]
    : data.trace.stores_left_out ? "s as a whole is not shown here: after many stores only the last one is" : "";
  el("stores").replaceChildren(list, whole);
}
el("first").onclick = () => show(0);
el("back").onclick = () => show(now - 1);
el("next").onclick = () => show(now + 1);
el("last").onclick = () => show(steps.length - 1);
document.onkeydown = event => {
  if (event.key === "ArrowRight" || event.key === "ArrowDown") show(now + 1);
  else if (event.key === "ArrowLeft" || event.key === "ArrowUp") show(now - 1);
  else return;
  event.preventDefault();
};
show(0);
</script></body></html>
"#;
