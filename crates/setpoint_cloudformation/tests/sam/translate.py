"""Writes what AWS's translator makes of the template of each case: `python3 translate.py CASE...`.

Needs the packages `aws-sam-translator` and `pyyaml`. With `--check` nothing is written, and cases that differ are named. A digest in a name is
left out, since the order of creation does not depend on it.
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
    "AWS::ApiGateway::Stage",
    "AWS::ApiGatewayV2::Stage",
    "AWS::Lambda::LayerVersion",
    "AWS::Lambda::Permission",
    "AWS::Lambda::Version",
}


def plain(name, kind):
    return re.sub(r"[0-9a-f]{10}$", "", name) if kind in DIGESTED else name


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
    parameters = {name: one.get("Default", "x") for name, one in template.get("Parameters", {}).items()}
    resources = transform(template, parameters, Policies())["Resources"]
    names = {name: plain(name, one["Type"]) for name, one in resources.items()}
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


def main():
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
