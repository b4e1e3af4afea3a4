//! Files, data, settings, and what of an input was entered.

use crate::{About, Class, Severity};

pub(crate) static MESSAGE: About = About {
    name: "message",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Defect,
    summary: "a message of the manifest itself, or a warning of the compiler",
    explanation: "\
`notice()`, `warning()` and their kin say something while a catalog is compiled, and so does the compiler where a \
construct is questionable. It changes nothing in the catalog.",
};

pub(crate) static EMPTY_COLLECTOR: About = About {
    name: "empty-collector",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Defect,
    summary: "a collector finds nothing",
    explanation: "\
No resource fits the query on any of the nodes, so the collector does nothing.

```puppet
file { '/etc/motd': content => 'x' }
File <| title == '/etc/modt' |> { mode => '0600' }
```

Many collectors are meant to find nothing on most nodes, so this is told only where `--enable empty-collector` asks \
for it; but one of your own that sets parameters, or names a title, is a warning without being asked for: something \
was meant to be there. Mend the query, or take the collector away.",
};

pub(crate) static UNKNOWN_ENVIRONMENT_SETTING: About = About {
    name: "unknown-environment-setting",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "environment.conf has a setting that Puppet does not know",
    explanation: "\
Puppet reads a few settings from `environment.conf` and warns about all others: they do nothing.

```ini
module_path = site-modules:modules
```

Use the name that the message suggests, or remove the line.",
};

pub(crate) static NOT_ENTERED: About = About {
    name: "not-entered",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Open,
    summary: "a class or node was not compiled, and why",
    explanation: "\
Setpoint compiles the classes of a module that need no parameter, and the nodes of a repository that have a name. \
What else there is was not checked.

Name a case for it in `setpoint.toml`:

```toml
[[case]]
name = \"two servers\"
class = \"ntp\"
parameters = { servers = [\"a\", \"b\"] }
```",
};

pub(crate) static ASSUMED_PLATFORM: About = About {
    name: "assumed-platform",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Assumption,
    summary: "nothing says what facts a node has, and those of a usual platform are taken",
    explanation: "\
A catalog depends on facts. Where none are given, those of a usual platform are taken, so that the code can be \
compiled at all.

Give the real ones with `--facts`, as files in `facts/`, or name a platform with `--platform` or in `setpoint.toml`.",
};

pub(crate) static ASSUMED_HIERARCHY: About = About {
    name: "assumed-hierarchy",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Assumption,
    summary: "the repository has data and no `hiera.yaml`, and another file is taken for the server's",
    explanation: "\
Data of a repository is read as a `hiera.yaml` says. Where the repository has none, the server has one of its own, which a \
module often installs: such a file is taken if it finds data here. If there is none, or several, keys that no module has are \
not known.

Name the server's configuration with `--hiera`, or in `setpoint.toml`:

```toml
[puppet]
hiera = \"modules/puppetserver/files/hiera.yaml\"
```",
};

pub(crate) static MISSING_MODULES: About = About {
    name: "missing-modules",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Open,
    summary: "modules that the code depends on are not on the module path",
    explanation: "\
The Puppetfile, `metadata.json` or `.fixtures.yml` names modules that are not there. What uses them cannot be \
compiled, and is not checked.

Install them (`r10k puppetfile install`, `rake spec_prep`), or name a folder that has them with `--modulepath`.",
};

pub(crate) static UNKNOWN_ENVIRONMENT: About = About {
    name: "unknown-environment",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a classifier names an environment that is not there",
    explanation: "\
What an external node classifier says about the environment counts more than what the node asks for. The environment \
is looked for beside the one that is checked, in the folder `environments`. Puppet compiles no catalog for such a \
node.

```yaml
classes: [role::web]
environment: stagin
```

Mend the name, or deploy the environment.",
};

pub(crate) static OTHER_ENVIRONMENT: About = About {
    name: "other-environment",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Assumption,
    summary: "a classifier puts a node into another environment than the one that is checked",
    explanation: "\
The manifests, modules and data of the environment that the classifier names are used for this node, as on a server, \
and not those of the environment that the command line names.

Take `environment` out of what the classifier printed to check the node with the code of the command line.",
};

pub(crate) static UNREADABLE_FILE: About = About {
    name: "unreadable-file",
    aliases: &["unreadable-input"],
    severity: Severity::Error,
    class: Class::Open,
    summary: "a file cannot be read",
    explanation: "\
The file is missing, is too large, or is not UTF-8 text. Nothing was checked in it.

Check the path and the encoding. Files over 64 MB are refused: no source text is that long.

In a manifest. A manifest, a template or another file that the compilation needs is missing, is not valid UTF-8, is \
too large, or cannot be opened.

Check the path and the permissions.",
};

pub(crate) static INVALID_DATA: About = About {
    name: "invalid-data",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Syntax,
    summary: "a YAML or JSON file is not well formed",
    explanation: "\
The text is not valid YAML or JSON at the marked place, so the rest of it has no meaning.

```yaml
Resources:
  Bucket:
   Type: AWS::S3::Bucket
  - Queue
```

Mend the indentation, the quotes or the brackets at the marked place.",
};

pub(crate) static DUPLICATE_KEY: About = About {
    name: "duplicate-key",
    aliases: &["puppet-duplicate-key"],
    severity: Severity::Warning,
    class: Class::Syntax,
    summary: "a key is given twice",
    explanation: "\
In YAML and JSON. Only one of the two values counts, and tools disagree on which. Here the last one counts.

```yaml
name: a
name: b
```

Remove one of them.

In Puppet. The last value wins, and the first is lost without a word. Puppet 7 warns, Puppet 8 refuses it.

```puppet
$ports = { http => 80, http => 8080 }
```

Remove one of the two, or rename its key.",
};

pub(crate) static INVALID_SETTING: About = About {
    name: "invalid-setting",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Syntax,
    summary: "a setting in setpoint.toml cannot be used",
    explanation: "\
The text is not TOML, or a setting is not of the kind that it must be. What it should say is unknown, so the result \
would not be the one that was asked for.

```toml
[puppet]
strict_variables = \"yes\"
```

Write the value as docs/configuration.md shows it; here `true`.",
};

pub(crate) static UNKNOWN_SETTING: About = About {
    name: "unknown-setting",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Syntax,
    summary: "setpoint.toml has a setting that does not exist",
    explanation: "\
Nothing reads this setting, so it does nothing. Most often its name is misspelt.

```toml
[puppet]
platform = [\"debian-12\"]
```

Use the name that the message suggests, or remove it.",
};

pub(crate) static NOTHING_CHECKED: About = About {
    name: "nothing-checked",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Open,
    summary: "no node and no class of the input was entered",
    explanation: "\
Nothing that this input says about a machine was compiled, so nothing was checked. The verdicts of other inputs do \
not cover it.

A control repository needs a node to compile for: a node statement with a name, a file of facts in `facts/`, a data \
file that a hierarchy names after a node, or a class whose name has `role` in it. Name one with `--node`, or list \
them in `setpoint.toml`:

```toml
[puppet]
nodes = [\"web1.example.com\"]
```",
};

pub(crate) static LIMIT_REACHED: About = About {
    name: "limit-reached",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Open,
    summary: "a limit ended the work before all of the input was read",
    explanation: "\
Setpoint reads input within limits of size, depth and work, so that no input can hang it. What lies beyond a limit \
was not looked at, and no verdict that depends on it is proved.

The message names the limit and the place. Split the input, or raise the limit with the option that the message names.",
};

pub(crate) static FINDINGS_IN_MODULES: About = About {
    name: "findings-in-modules",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Open,
    summary: "findings in installed modules are counted, not listed",
    explanation: "\
Modules that the Puppetfile installs are compiled against and not reported on: their findings are for their authors, \
and never fail a run.

`--include-modules` lists them.",
};

pub(crate) static ALLOW_WITHOUT_REASON: About = About {
    name: "allow-without-reason",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a finding is silenced and nobody says why",
    explanation: "\
A comment silences findings of a rule only if it says why, for whoever reads it next year. Without a reason it silences \
nothing.

```puppet
# setpoint:allow(missing-order)
file { '/etc/motd': content => 'x' }
```

Write the reason after the parenthesis:

```puppet
# setpoint:allow(missing-order) the package has a motd of its own, and both are the same
file { '/etc/motd': content => 'x' }
```",
};

pub(crate) static UNUSED_ALLOW: About = About {
    name: "unused-allow",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "a comment silences findings that do not occur",
    explanation: "\
The code was checked, and nothing was found that the comment silences: the finding was mended, the rule has another \
name, or it is one that cannot be silenced. Syntax errors, code that does not compile and `nothing-checked` cannot.

```puppet
# setpoint:allow(missing-notify) restarted by hand
service { 'ntp': ensure => running }
```

Remove the comment. A comment above a statement holds for that statement and all inside it, one at the end of a line \
for that line, and `setpoint:allow-file` within the first ten lines for the file.",
};

pub(crate) static STALE_BASELINE: About = About {
    name: "stale-baseline",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Defect,
    summary: "the baseline lists findings that no longer occur",
    explanation: "\
`setpoint-baseline.json` lists findings that are known and not reported. Some of them no longer occur in the files that \
were checked. `setpoint check --write-baseline` removes their entries.",
};
