"""Writes `src/sam/facts.txt`: names that AWS's translator knows, `python3 facts.py [--check]`.

Needs the package `aws-sam-translator`. Facts only: types with their properties, what `Globals` may hold, events with their properties,
policy templates with their parameters. A name that ends in `!` must be given; after a `:` stand the kinds of value that the translator takes
where it looks at them: `t` a text, number or flag, `l` a list, `m` a mapping.
"""
import inspect
import json
import os
import sys

os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")

import samtranslator
from samtranslator.model import sam_resources
from samtranslator.model.eventsources import cloudwatchlogs, pull, push, scheduler
from samtranslator.model.stepfunctions import events
from samtranslator.plugins.globals.globals import Globals

FILE = os.path.join(os.path.dirname(__file__), "../../src/sam/facts.txt")
# What the translator asks for in its code, not in its tables; and what it fills in itself.
ASKED = {
    "MSK": ["Topics"],
    "MQ": ["Queues"],
    "SelfManagedKafka": ["Topics"],
    "CloudWatchEvent": ["Pattern"],
    "EventBridgeRule": ["Pattern"],
}
FILLED = ["RestApiId"]


SAMPLES = {"t": ["a", "1", 1, 1.5, True], "l": [[], ["a"], [{}]], "m": [{}, {"a": 1, "b": 2}]}


def kinds(one):
    """The kinds of value that a property takes; nothing if the translator takes all of them."""

    def takes(value):
        try:
            return one.validate is None or one.validate(value, should_raise=False)
        except Exception:
            return False

    taken = "".join(letter for letter, samples in SAMPLES.items() if any(takes(value) for value in samples))
    return "" if taken in ("", "tlm") else ":" + taken


def names(properties, asked=()):
    is_asked = lambda name: (properties[name].required and name not in FILLED) or name in asked
    return " ".join(name + kinds(properties[name]) + "!" * is_asked(name) for name in sorted(properties))


def classes(module):
    for _, one in inspect.getmembers(module, inspect.isclass):
        if getattr(one, "resource_type", None) and one.__module__ == module.__name__:
            yield one


def lines():
    for one in classes(sam_resources):
        yield f"type {one.resource_type} {names(one.property_types)}"
    for kind, properties in Globals.supported_properties.items():
        yield f"globals {kind} {' '.join(sorted(properties))}"
    for owner, modules in (("Function", (push, pull, cloudwatchlogs)), ("StateMachine", (events,))):
        for one in (one for module in (*modules, scheduler) for one in classes(module)):
            yield f"event {owner}/{one.resource_type} {names(one.property_types, ASKED.get(one.resource_type, ()))}"
    folder = os.path.dirname(samtranslator.__file__)
    with open(os.path.join(folder, "policy_templates_data/policy_templates.json")) as file:
        for name, one in json.load(file)["Templates"].items():
            yield f"policy {name} {' '.join(sorted(one['Parameters']))}"


def main():
    text = "".join(sorted(line.rstrip() + "\n" for line in lines()))
    if "--check" not in sys.argv:
        with open(FILE, "w") as file:
            file.write(text)
        return
    with open(FILE) as file:
        if file.read() != text:
            sys.exit("src/sam/facts.txt is not what the translator knows")


if __name__ == "__main__":
    main()
