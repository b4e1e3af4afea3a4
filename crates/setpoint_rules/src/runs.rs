//! Catalogs, and what runs of Puppet do with them.

use crate::{About, Class, Severity};

pub(crate) static DEPENDENCY_CYCLE: About = About {
    name: "dependency-cycle",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "things wait for each other in a circle",
    explanation: "\
In a catalog. Each of the resources comes only after the next one, so none can be the first. Puppet applies nothing \
of the circle; CloudFormation refuses the template.

```puppet
file { '/etc/app': ensure => directory, require => Package['app'] }
package { 'app': require => File['/etc/app/apt.conf'] }
file { '/etc/app/apt.conf': }   # waits for its folder by itself
```

Remove one of the relationships that the finding names. Those that a type adds by itself (a file waits for its \
folder) cannot be removed; turn the other one round.

In CloudFormation. Each of the resources is created only after the next one, so none can be the first. The template \
is refused, or fails for the choice of parameters that the finding names.

```yaml
Resources:
  A:
    Type: AWS::EC2::SecurityGroup
    Properties:
      SecurityGroupIngress:
        - SourceSecurityGroupId: !Ref B
  B:
    Type: AWS::EC2::SecurityGroup
    Properties:
      SecurityGroupIngress:
        - SourceSecurityGroupId: !Ref A
```

Break the circle: move one of the references into a resource of its own, which is created after both.",
};

pub(crate) static INVALID_RESOURCE: About = About {
    name: "invalid-resource",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "Puppet cannot manage a resource as it is declared",
    explanation: "\
The catalog compiles, but the agent refuses it when it turns the catalog into native resources: a value is none that \
the type allows, a path is not absolute, parameters exclude each other. The whole run ends there, and nothing is \
applied, not even what has nothing to do with the resource.

```puppet
file { '/etc/motd': mode => 644 }   # a number: write '0644'
exec { 'apt-get update': }          # no path, and none given
```

Give the value that the finding asks for.",
};

pub(crate) static INVALID_CATALOG: About = About {
    name: "invalid-catalog",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a file is no Puppet catalog",
    explanation: "\
A catalog is the JSON that a Puppet server answers, that an agent keeps under `client_data/catalog`, or that \
PuppetDB stores. The finding names the place at which this file is something else.

Take the file from one of these again; `puppet catalog compile NODE --render-as json` prints one, too.",
};

pub(crate) static MISSING_ORDER: About = About {
    name: "missing-order",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "the result depends on the order of two resources, and nothing says their order",
    explanation: "\
Puppet applies resources in the order of the catalog where no relationship says otherwise. Two resources that touch \
the same thing then work only thanks to where they stand: a file moves to another class, and a run fails or ends in \
another state. If the order that Puppet uses today fails already, the finding is an error.

```puppet
file { '/etc/ntp.conf': content => 'server a' }
package { 'ntp': ensure => installed }   # brings an /etc/ntp.conf of its own
```

State the order: `require => Package['ntp']` on the file. `setpoint fix` writes the smallest change that makes every \
order the same.",
};

pub(crate) static DIVERGES: About = About {
    name: "diverges",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "two resources set the same thing to different values",
    explanation: "\
Whichever of the two runs last wins, and the other changes it back in the next run. No order makes both come true, \
so nothing that is added can mend it.

```puppet
file { '/etc/hosts': content => '127.0.0.1 localhost' }
host { 'db': ip => '10.0.0.2' }          # writes /etc/hosts, too
```

Let one resource manage it: take one of the two away, or put both contents into one.",
};

pub(crate) static CONTRADICTION: About = About {
    name: "contradiction",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "two resources declare what cannot hold at the same time",
    explanation: "\
What one resource declares excludes what the other declares: a package and the absence of a package that it depends on, \
two packages that conflict, a removed folder and a file in it, a removed user and a file that it owns. In every order one \
of the two fails or is undone, in this run and in all that follow. An order or a notification mends nothing, and `setpoint \
fix` adds none.

```puppet
package { 'git': ensure => present }
package { 'perl': ensure => absent }     # git depends on perl
```

Take one of the two away, or change what it declares. The finding shows what is lost in each order.",
};

pub(crate) static NOT_IDEMPOTENT: About = About {
    name: "not-idempotent",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "a second run changes what the first one made",
    explanation: "\
After a run without failures, a second run with the same catalog must leave everything as it is. Where it does not, \
the machine depends on how often Puppet ran.

```puppet
file { '/dst': source => '/src' }
file { '/src': ensure => absent, require => File['/dst'] }
```

Let each resource describe a state that can stay: guard commands with `creates`, `unless` or `onlyif`, and do not \
read in one resource what another takes away.",
};

pub(crate) static CHANGES_EVERY_RUN: About = About {
    name: "changes-every-run",
    aliases: &["not-quiet"],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "a second run reports changes although nothing was to be done",
    explanation: "\
The state is the same after each run, but every run reports a change, and refreshes what listens to it: services \
restart for nothing, and real changes drown.

```puppet
exec { '/usr/bin/touch /var/lib/app/done': }
```

Guard the command (`creates`, `unless`, `onlyif`), or let it run only when it is notified (`refreshonly => true`).",
};

pub(crate) static NOT_CONVERGENT: About = About {
    name: "not-convergent",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Defect,
    summary: "what a resource manages ends differently from different starts",
    explanation: "\
After a run without failures, what the catalog manages should be the same whatever the machine looked like before. \
Here it is not: something that was there at the start shines through.

```puppet
file { '/etc/app.conf': source => '/opt/app/app.conf' }   # nothing manages the source
```

Manage what it depends on as well, or accept that it is given from outside.",
};

pub(crate) static ALWAYS_FAILS: About = About {
    name: "always-fails",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a resource fails in every order",
    explanation: "\
No order of the resources makes this one succeed from the start that is shown, so a relationship will not mend it: \
something that it needs is missing.

```puppet
file { '/srv/app/config': content => 'x' }   # nothing makes /srv/app
```

Declare what it needs.",
};

pub(crate) static MISSING_NOTIFY: About = About {
    name: "missing-notify",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "a service keeps running with its old configuration",
    explanation: "\
The configuration changes, and nothing restarts the service: it runs with what it loaded before, until somebody \
restarts it by hand.

```puppet
file { '/etc/ntp.conf': content => 'server a' }
service { 'ntp': ensure => running, require => File['/etc/ntp.conf'] }
```

Use `subscribe` in place of `require` on the service, or `notify => Service['ntp']` on the file.",
};

pub(crate) static MAY_NEED: About = About {
    name: "may-need",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Open,
    summary: "a command or package that is not known goes with another resource, and nothing orders the two",
    explanation: "\
What the command does is not known, but some things it needs whatever it does: its program, its folder and its user, and \
it names a script or a path that another resource of the catalog brings. If the command comes first, it fails or reads \
what is not there yet. The order of the two is `unknown`, never `independent`.

```puppet
package { 'acme': ensure => installed }
exec { '/usr/bin/acme-setup --config /etc/acme.conf': }   # brought by the package
```

A package that no index lists is known by its name alone: a service, a user, a folder or a command of that name seems to be \
its own, and an archive that the catalog adds under that name seems to have it. What needs the package must come after it; \
the archive must come before it, and with apt `apt-get update` between the two.

State the order: `require => Package['acme']` on the command. If the command needs nothing of the other resource, say what \
it does in `setpoint.toml` (`setpoint explain unknown-effect`).",
};

pub(crate) static LOST_REFRESH: About = About {
    name: "lost-refresh",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Defect,
    summary: "one failure, and the service is never restarted",
    explanation: "\
The configuration changes and would restart the service, but something else that the service depends on fails in the \
same run: the service is skipped, and with it the restart. In the next run nothing changes any more, so nothing \
restarts the service: it runs with the old configuration although every run since was clean.

Let the service depend on little that can fail, or compare what it has loaded with what is on disk. Off unless it is \
asked for with `--enable lost-refresh`.",
};

pub(crate) static BROKEN_INVARIANT: About = About {
    name: "broken-invariant",
    aliases: &["invariant-broken"],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "something that must hold at the end does not",
    explanation: "\
In a catalog. `setpoint.toml` or the command line states what must hold after every run without failures. There is a \
start from which it does not. If only an order shows it that Puppet does not take today, the finding is a warning.

```toml
[[invariant]]
name = \"nginx runs where it is installed\"
expression = \"package('nginx').installed implies service('nginx').running\"
```

The finding shows the start, the order and the end. Mend the manifest, or the invariant; docs/configuration.md has \
the language.

In a rule set. A run from an initial state leads to a state in which the stated invariant is false. The finding \
shows the smallest instance that was found, and the run.

    invariant ready-first { all p: property where p.parent is started { p is ready } }

Strengthen the guard of the rule that breaks it, or correct the invariant.",
};

pub(crate) static UNKNOWN_EFFECT: About = About {
    name: "unknown-effect",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Open,
    summary: "what a resource does is not known, so nothing is proved about it",
    explanation: "\
A command that is not understood, or a type that has no model, may touch anything. Verdicts say `unknown` for the \
pairs that it takes part in, and for no others.

Declare what it does in `setpoint.toml`:

```toml
[[exec]]
command = \"make install\"
creates = [\"/usr/local/bin/app\"]
```",
};

pub(crate) static UNKNOWN_PACKAGE: About = About {
    name: "unknown-package",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Open,
    summary: "it is not known what a package installs",
    explanation: "\
No index has this package, so it is taken to install nothing that another resource touches.

Build an index of your distribution and name it: `setpoint packages build -o packages.idx`, then `setpoint check \
--packages packages.idx`.",
};

pub(crate) static REDUNDANT_EDGE: About = About {
    name: "redundant-edge",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Defect,
    summary: "a relationship can be taken away without changing any result",
    explanation: "\
Another relationship says the same already, or Puppet relates the two by itself, or what comes first cannot fail and \
the order of the two does not matter: without the relationship every start still ends the same way, failures \
included. Off unless it is asked for with `--enable redundant-edge`.

```puppet
file { '/srv/app': ensure => directory }
file { '/srv/app/x': content => 'x', require => File['/srv/app'] }
```

It does no harm; take it away if it only obscures what matters. Each such relationship was asked about by itself: \
take one away, and ask again.",
};

pub(crate) static UNDECIDED: About = About {
    name: "undecided",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Open,
    summary: "a question could not be decided",
    explanation: "\
In a catalog. The verdict is `unknown` for the resources that the finding names; what is proved about the others \
stands. Nothing is guessed.

`--timeout SECONDS` gives more time. Fewer resources that touch the same paths make the question easier.

In a rule set. One run does not decide for this rule set, because its steps may disturb each other, and there are \
more states than the search visits; or more than 255 messages of one name can wait at one object. Nothing is claimed \
either way.

`setpoint prove` on the rule set says which rules disturb each other; `setpoint simulate --random SEED` tries single \
runs.",
};

pub(crate) static ASSUMPTION: About = About {
    name: "assumption",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Assumption,
    summary: "something is taken for granted about the machine at the start",
    explanation: "\
By default the start is an admissible machine: the platform's base directories exist, an installed package has its \
files, users and dependencies, and a managed path is absent or of the kind that is declared for it. A folder that \
nothing creates is taken to exist, and the finding says so.

`--any-start` drops all of this but that a path lies in a directory.",
};
