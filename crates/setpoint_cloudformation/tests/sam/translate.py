"""Writes what AWS's translator makes of the template of each case: `python3 translate.py CASE...`.

Needs the packages `aws-sam-translator` and `pyyaml`. With `--check` nothing is written, and cases that differ are named. A digest in a name is
left out, since the order of creation does not depend on it. With `--survey FROM TO`, each template of a folder that the translator accepts is
copied to another one, with its graph beside it, for the survey of `tests/sam.rs`.
"""
import logging
import os
import re
import sys

os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
logging.disable(logging.CRITICAL)

from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse


class Policies:
    """Names of managed policies are looked up by the translator; these stand for all."""

    def load(self):
        return {"AWSLambdaBasicExecutionRole": "arn:aws:iam::aws:policy/AWSLambdaBasicExecutionRole"}


DIGESTED = {
    "AWS::ApiGateway::Deployment",
    "AWS::ApiGateway::DomainName",
    "AWS::ApiGateway::DomainNameAccessAssociation",
    "AWS::ApiGateway::DomainNameV2",
    "AWS::ApiGateway::Stage",
    "AWS::ApiGatewayV2::DomainName",
    "AWS::ApiGatewayV2::Stage",
    "AWS::Lambda::LayerVersion",
    "AWS::Lambda::Permission",
    "AWS::Lambda::Version",
    "AWS::Route53::RecordSetGroup",
}

# There may be several of these that differ in the digest only.
NUMBERED = {"ApiGatewayDomainName", "ApiGatewayDomainNameV2", "DomainNameAccessAssociation", "RecordSetGroup"}


def plain(name, kind):
    return re.sub(r"[0-9a-f]{10}$", "", name) if kind in DIGESTED else name


def plain_names(resources, written):
    """Names without digests. Where these are alike, they are numbered in the order of the interfaces that the template writes."""
    names = {name: plain(name, one["Type"]) for name, one in resources.items()}
    uses = {name: set() for name in resources}
    for name, one in resources.items():
        references(one.get("Properties", {}), uses[name])
    place = {name: index for index, name in enumerate(written)}

    def first(name):
        users = [one for one in resources if name in uses[one]]
        apis = [place.get(api, len(place)) for user in users for api in uses[user] if api in resources and api != name]
        return min(apis, default=len(place))

    domains = {name: first(name) for name in names if names[name].startswith("ApiGatewayDomainName")}
    order = {name: min((domains[one] for one in uses[name] if one in domains), default=len(place)) for name in names}
    order.update(domains)
    for prefix in NUMBERED:
        alike = sorted((name for name in names if names[name] == prefix and name != prefix), key=order.get)
        for index, name in enumerate(alike[1:], 2):
            names[name] += str(index)
    return names


def references(value, found):
    if isinstance(value, list):
        for one in value:
            references(one, found)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key == "Ref":
                found.add(inner)
            elif key == "Fn::GetAtt":
                found.add(inner[0] if isinstance(inner, list) else inner.split(".")[0])
            elif key == "Fn::Sub":
                text, own = (inner, {}) if isinstance(inner, str) else (inner[0], inner[1])
                names = {name.strip().split(".")[0] for name in re.findall(r"\$\{([^}!]+)\}", text)}
                found.update(names - set(own))
                references(own, found)
            else:
                references(inner, found)


def graph(text):
    template = yaml_parse(text)
    written = list(template["Resources"])
    parameters = {name: one.get("Default", "x") for name, one in template.get("Parameters", {}).items()}
    resources = transform(template, parameters, Policies())["Resources"]
    names = plain_names(resources, written)
    nodes, edges = [], set()
    for name, one in resources.items():
        condition = f" if {one['Condition']}" if "Condition" in one else ""
        nodes.append(f"{names[name]}: {one['Type']}{condition}")
        found = set()
        for key, value in one.items():
            if key == "DependsOn":
                found.update([value] if isinstance(value, str) else value)
            elif key != "Condition":
                references(value, found)
        edges.update(f"{names[name]} -> {names[other]}" for other in found if other in resources)
    return "".join(line + "\n" for line in sorted(nodes) + sorted(edges))


def survey(source, target):
    """The translator takes a template without the line that asks for it; CloudFormation does not, so the line is added."""
    accepted = refused = 0
    for place, _, files in os.walk(source):
        for name in sorted(files):
            if not name.endswith((".yaml", ".yml", ".json", ".template")):
                continue
            with open(os.path.join(place, name)) as file:
                text = file.read()
            if not text.lstrip().startswith("{") and not re.search(r"^Transform:", text, re.MULTILINE):
                text = "Transform: AWS::Serverless-2016-10-31\n" + text
            try:
                answer = graph(text)
            except Exception as problem:
                refused += 1
                print(f"refused {name}: {str(problem)[:200]}")
                continue
            accepted += 1
            copy = os.path.join(target, os.path.relpath(os.path.join(place, name), source).replace(os.sep, "-"))
            for path, content in [(copy, text), (copy + ".graph", answer)]:
                with open(path, "w") as file:
                    file.write(content)
    print(f"{accepted} accepted, {refused} refused")


def main():
    if "--survey" in sys.argv:
        return survey(*sys.argv[-2:])
    check, differing = "--check" in sys.argv, []
    for path in (one for one in sys.argv[1:] if one != "--check"):
        with open(path) as file:
            text = file.read()
        template = text.split(">>> template.yaml\n", 1)[1].split("<<< graph\n", 1)[0]
        answer = text.split("<<< graph\n")[0] + "<<< graph\n" + graph(template)
        if answer != text:
            differing.append(path)
            if not check:
                with open(path, "w") as file:
                    file.write(answer)
    if check and differing:
        sys.exit("\n".join(differing))


if __name__ == "__main__":
    main()
