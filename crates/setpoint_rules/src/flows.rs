//! What may flow where: untrusted facts into what root runs, secrets into what others read.

use crate::{About, Class, Severity};

pub(crate) static FACT_IN_COMMAND: About = About {
    name: "fact-in-command",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "An untrusted fact is part of a command",
    explanation: "\
A fact is what the agent says: whoever can influence it, by a DHCP answer, a host name, a cloud's metadata or a file of \
external facts, writes a part of a command that root runs. Puppet's documentation of trusted facts calls all other facts \
self-reported and asks to treat them as unsafe input.

```puppet
exec { 'register':
  command => \"/usr/local/bin/register --name ${facts['networking']['hostname']}\",
}
```

A host name of `x; rm -rf /srv` runs a second command. Confine the value: by a type (`Stdlib::Fqdn`, `Enum`, `Pattern`, `Integer`), by a \
`case` over literals, by `shellquote()`, or give the command as an array, which no shell reads:

```puppet
exec { 'register':
  command => ['/usr/local/bin/register', '--name', $facts['networking']['hostname']],
}
```

The finding shows the way from the fact to the command, step by step.",
};

pub(crate) static FACT_IN_PRIVILEGED_FILE: About = About {
    name: "fact-in-privileged-file",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "An untrusted fact is part of a file that grants rights or is run",
    explanation: "\
Scripts, `sudoers`, crontabs, units, PAM, files of `profile.d` and authorized keys decide what runs with which rights. A fact is what the agent \
says; a line break in it is a line of its own in such a file.

```puppet
file { '/etc/sudoers.d/team':
  content => \"${facts['team']} ALL=(ALL) NOPASSWD: ALL\\n\",
}
```

Take the value from Hiera or from `$trusted`, which the certificate vouches for, or confine it by a type or a `case` over literals.",
};

pub(crate) static FACT_SELECTS_SECRET: About = About {
    name: "fact-selects-secret",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "An untrusted fact chooses the file that a secret is read from",
    explanation: "\
The server believes every fact of an agent. Where a level of the hierarchy is chosen by a fact and holds secrets, a node that lies \
about the fact gets the secrets of another.

```yaml
hierarchy:
  - name: per node
    lookup_key: eyaml_lookup_key
    path: \"nodes/%{facts.networking.fqdn}.eyaml\"
```

Choose by what the certificate says, as Puppet's documentation of Hiera advises:

```yaml
    path: \"nodes/%{trusted.certname}.eyaml\"
```",
};

pub(crate) static SECRET_WORLD_READABLE: About = About {
    name: "secret-world-readable",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "A secret is in a file that every user of the machine may read",
    explanation: "\
`Sensitive` keeps a value out of logs and reports; it says nothing about the file. Without a `mode`, Puppet makes new files with 0644.

```puppet
file { '/etc/app/token':
  content => Sensitive($token),
}
```

Set a mode without rights for others, and an owner:

```puppet
file { '/etc/app/token':
  content => Sensitive($token),
  owner   => 'app',
  mode    => '0600',
}
```

A file below a folder that the catalog closes to others (`mode => '0700'`) is not reported.",
};

pub(crate) static SECRET_NOT_SENSITIVE: About = About {
    name: "secret-not-sensitive",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "A secret is in a parameter that is not Sensitive",
    explanation: "\
What was encrypted by eyaml, or is `Sensitive` somewhere, reaches a parameter as plain text. Puppet then writes it into logs and \
reports, and PuppetDB keeps it with the catalog.

```puppet
class app(String $token) {           # app::token is encrypted in the data
  exec { 'login': command => \"/usr/bin/app-login ${token}\" }
}
```

Make it `Sensitive` in the data and keep it so:

```yaml
lookup_options:
  app::token: { convert_to: Sensitive }
```

```puppet
class app(Sensitive[String] $token) {
  exec { 'login': command => Sensitive(\"/usr/bin/app-login ${token.unwrap}\") }
}
```",
};

pub(crate) static SECRET_EXPORTED: About = About {
    name: "secret-exported",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "A secret is in an exported resource",
    explanation: "\
An exported resource is kept in PuppetDB and given to every node that collects it; `Sensitive` does not survive the way there.

```puppet
@@file { \"/etc/backup/${facts['networking']['fqdn']}\":
  content => $token.unwrap,
}
```

Export what is public, such as a name or an address, and let the collecting node look the secret up itself.",
};

pub(crate) static SECRET_IN_TITLE: About = About {
    name: "secret-in-title",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "A secret is part of a title",
    explanation: "\
Titles are in every log line, report and error, and in the edges of the catalog. They cannot be `Sensitive`.

```puppet
exec { \"/usr/bin/app-login ${token.unwrap}\": }
```

Give the resource a plain title, and the secret to a parameter:

```puppet
exec { 'app login':
  command => Sensitive(\"/usr/bin/app-login ${token.unwrap}\"),
}
```",
};

pub(crate) static EXPORT_RUNS_ELSEWHERE: About = About {
    name: "export-runs-elsewhere",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "A fact of one node is part of what another node runs",
    explanation: "\
An exported command, script or key carries the facts of the node that exports it to the nodes that collect it. A node that was \
taken over can so run commands on others.

```puppet
@@cron { \"backup ${facts['networking']['fqdn']}\":
  command => \"/usr/bin/backup ${facts['networking']['fqdn']}\",
}
```

Export data, and build the command on the node that runs it; confine what comes from outside by a type, or use \
`$trusted['certname']`, which the certificate vouches for.",
};

pub(crate) static POLICY_BROKEN: About = About {
    name: "policy-broken",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "A value reaches a place that a policy forbids",
    explanation: "\
`[[policy]]` in `setpoint.toml` says which sources may not reach which sinks, and what cleanses on the way.

```toml
[[policy]]
name = \"no facts in web pages\"
from = [\"fact:*\"]
to = [\"File[/srv/www/*].content\"]
unless = [\"htmlescape\"]
```

Sources are `fact:NAME`, `trusted:NAME`, `hiera:KEY`, `file:PATH` and `secret`; `*` stands for anything. Sinks are parameters of \
resources. `docs/flows.md` has the details.",
};
