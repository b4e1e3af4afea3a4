//! The rules of findings about what a run of Puppet does.

use setpoint_source::{Rule, Severity};

pub(crate) static MISSING_ORDER: Rule = Rule {
    name: "missing-order",
    severity: Severity::Warning,
    summary: "the result depends on the order of two resources, and nothing says their order",
    explanation: "Puppet applies resources in the order of the catalog where no relationship says otherwise. Two resources that \
                  touch the same thing then work only thanks to where they stand: a file moves to another class, and a run \
                  fails or ends in another state. If the order that Puppet uses today fails already, the finding is an error.\n\n\
                  ```puppet\nfile { '/etc/ntp.conf': content => 'server a' }\npackage { 'ntp': ensure => installed }   # brings an /etc/ntp.conf of its own\n```\n\n\
                  State the order: `require => Package['ntp']` on the file. `setpoint fix` writes the smallest change that makes \
                  every order the same.",
};

pub(crate) static DIVERGES: Rule = Rule {
    name: "diverges",
    severity: Severity::Error,
    summary: "two resources set the same thing to different values",
    explanation: "Whichever of the two runs last wins, and the other changes it back in the next run. No order makes both come true, \
                  so nothing that is added can mend it.\n\n\
                  ```puppet\nfile { '/etc/hosts': content => '127.0.0.1 localhost' }\nhost { 'db': ip => '10.0.0.2' }          # writes /etc/hosts, too\n```\n\n\
                  Let one resource manage it: take one of the two away, or put both contents into one.",
};

pub(crate) static NOT_IDEMPOTENT: Rule = Rule {
    name: "not-idempotent",
    severity: Severity::Warning,
    summary: "a second run changes what the first one made",
    explanation: "After a run without failures, a second run with the same catalog must leave everything as it is. Where it does not, \
                  the machine depends on how often Puppet ran.\n\n\
                  ```puppet\nfile { '/dst': source => '/src' }\nfile { '/src': ensure => absent, require => File['/dst'] }\n```\n\n\
                  Let each resource describe a state that can stay: guard commands with `creates`, `unless` or `onlyif`, and do \
                  not read in one resource what another takes away.",
};

pub(crate) static NOT_QUIET: Rule = Rule {
    name: "not-quiet",
    severity: Severity::Note,
    summary: "a second run reports changes although nothing was to be done",
    explanation: "The state is the same after each run, but every run reports a change, and refreshes what listens to it: services \
                  restart for nothing, and real changes drown.\n\n\
                  ```puppet\nexec { '/usr/bin/touch /var/lib/app/done': }\n```\n\n\
                  Guard the command (`creates`, `unless`, `onlyif`), or let it run only when it is notified (`refreshonly => true`).",
};

pub(crate) static NOT_CONVERGENT: Rule = Rule {
    name: "not-convergent",
    severity: Severity::Note,
    summary: "what a resource manages ends differently from different starts",
    explanation: "After a run without failures, what the catalog manages should be the same whatever the machine looked like before. \
                  Here it is not: something that was there at the start shines through.\n\n\
                  ```puppet\nfile { '/etc/app.conf': source => '/opt/app/app.conf' }   # nothing manages the source\n```\n\n\
                  Manage what it depends on as well, or accept that it is given from outside.",
};

pub(crate) static ALWAYS_FAILS: Rule = Rule {
    name: "always-fails",
    severity: Severity::Error,
    summary: "a resource fails in every order",
    explanation: "No order of the resources makes this one succeed from the start that is shown, so a relationship will not mend it: \
                  something that it needs is missing.\n\n\
                  ```puppet\nfile { '/srv/app/config': content => 'x' }   # nothing makes /srv/app\n```\n\n\
                  Declare what it needs.",
};

pub(crate) static MISSING_NOTIFY: Rule = Rule {
    name: "missing-notify",
    severity: Severity::Warning,
    summary: "a service keeps running with its old configuration",
    explanation: "The configuration changes, and nothing restarts the service: it runs with what it loaded before, until somebody \
                  restarts it by hand.\n\n\
                  ```puppet\nfile { '/etc/ntp.conf': content => 'server a' }\nservice { 'ntp': ensure => running, require => File['/etc/ntp.conf'] }\n```\n\n\
                  Use `subscribe` in place of `require` on the service, or `notify => Service['ntp']` on the file.",
};

pub(crate) static LOST_REFRESH: Rule = Rule {
    name: "lost-refresh",
    severity: Severity::Note,
    summary: "one failure, and the service is never restarted",
    explanation: "The configuration changes and would restart the service, but something else that the service depends on fails in the \
                  same run: the service is skipped, and with it the restart. In the next run nothing changes any more, so nothing \
                  restarts the service: it runs with the old configuration although every run since was clean.\n\n\
                  Let the service depend on little that can fail, or compare what it has loaded with what is on disk.",
};

pub(crate) static BROKEN_INVARIANT: Rule = Rule {
    name: "broken-invariant",
    severity: Severity::Error,
    summary: "a stated invariant does not hold after a run",
    explanation: "`setpoint.toml` or the command line states what must hold after every run without failures. There is a start from \
                  which it does not. If only an order shows it that Puppet does not take today, the finding is a warning.\n\n\
                  ```toml\n[[invariant]]\nname = \"nginx runs where it is installed\"\nexpression = \"package('nginx').installed \
                  implies service('nginx').running\"\n```\n\n\
                  The finding shows the start, the order and the end. Mend the manifest, or the invariant; docs/configuration.md \
                  has the language.",
};

pub(crate) static UNKNOWN_EFFECT: Rule = Rule {
    name: "unknown-effect",
    severity: Severity::Note,
    summary: "what a resource does is not known, so nothing is proved about it",
    explanation: "A command that is not understood, or a type that has no model, may touch anything. Verdicts say `unknown` for the \
                  pairs that it takes part in, and for no others.\n\n\
                  Declare what it does in `setpoint.toml`:\n\n\
                  ```toml\n[[exec]]\ncommand = \"make install\"\ncreates = [\"/usr/local/bin/app\"]\n```",
};

pub(crate) static UNKNOWN_PACKAGE: Rule = Rule {
    name: "unknown-package",
    severity: Severity::Note,
    summary: "it is not known what a package installs",
    explanation: "No index has this package, so it is taken to install nothing that another resource touches.\n\n\
                  Build an index of your distribution and name it: `setpoint packages build -o packages.idx`, then \
                  `setpoint check --packages packages.idx`.",
};

pub(crate) static REDUNDANT_EDGE: Rule = Rule {
    name: "redundant-edge",
    severity: Severity::Note,
    summary: "a relationship can be taken away without changing any result",
    explanation: "Another relationship says the same already, or Puppet relates the two by itself, or what comes first cannot fail and \
                  the order of the two does not matter: without the relationship every start still ends the same way, failures \
                  included. Off unless it is asked for with `--enable redundant-edge`.\n\n\
                  ```puppet\nfile { '/srv/app': ensure => directory }\nfile { '/srv/app/x': content => 'x', require => File['/srv/app'] }\n```\n\n\
                  It does no harm; take it away if it only obscures what matters. Each such relationship was asked about by \
                  itself: take one away, and ask again.",
};

pub(crate) static UNDECIDED: Rule = Rule {
    name: "undecided",
    severity: Severity::Note,
    summary: "a question about some resources was not decided",
    explanation: "The verdict is `unknown` for the resources that the finding names; what is proved about the others stands. Nothing \
                  is guessed.\n\n\
                  `--timeout SECONDS` gives more time. Fewer resources that touch the same paths make the question easier.",
};

pub(crate) static ASSUMED: Rule = Rule {
    name: "assumption",
    severity: Severity::Note,
    summary: "something is taken for granted about the machine at the start",
    explanation: "By default the start is an admissible machine: the platform's base directories exist, an installed package has its \
                  files, users and dependencies, and a managed path is absent or of the kind that is declared for it. A folder \
                  that nothing creates is taken to exist, and the finding says so.\n\n\
                  `--any-start` drops all of this but that a path lies in a directory.",
};

pub static RULES: &[&Rule] = &[
    &MISSING_ORDER,
    &DIVERGES,
    &NOT_IDEMPOTENT,
    &NOT_QUIET,
    &NOT_CONVERGENT,
    &ALWAYS_FAILS,
    &MISSING_NOTIFY,
    &LOST_REFRESH,
    &BROKEN_INVARIANT,
    &UNKNOWN_EFFECT,
    &UNKNOWN_PACKAGE,
    &REDUNDANT_EDGE,
    &UNDECIDED,
    &ASSUMED,
];
