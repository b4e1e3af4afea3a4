//! The kinds of errors that a text of Puppet can have.

use setpoint_source::{Rule, Severity};

/// Every rule of this crate.
pub static RULES: &[&Rule] =
    &[&SYNTAX, &VALIDATION, &TOO_DEEP, &UNSUPPORTED, &DUPLICATE_KEY, &UNKNOWN_ESCAPE, &RESERVED_NAME];

pub(crate) static SYNTAX: Rule = Rule {
    name: "puppet-syntax",
    severity: Severity::Error,
    summary: "The text is not well-formed Puppet",
    explanation: "Puppet cannot read the manifest beyond this place, so nothing in it is applied. The message names the first \
token that does not fit; what is wrong often stands just before it.

```puppet
file { '/etc/motd'
  ensure => file,
}
```

Here the colon after the title is missing, and `ensure` is the token that does not fit. Write

```puppet
file { '/etc/motd':
  ensure => file,
}
```
",
};

pub(crate) static VALIDATION: Rule = Rule {
    name: "puppet-validation",
    severity: Severity::Error,
    summary: "The text is well-formed, and yet no valid Puppet",
    explanation: "Some texts fit the grammar and are refused by Puppet before anything is evaluated: a value that is produced \
and forgotten, a class inside a condition, an assignment to what is no variable, a parameter that is declared twice.

```puppet
class ntp {
  'running'
}
```

The string has no effect, so Puppet takes it for a mistake. Remove it, or use it in an expression that has an effect.
",
};

pub(crate) static TOO_DEEP: Rule = Rule {
    name: "puppet-nesting",
    severity: Severity::Error,
    summary: "The text is nested too deeply to be read",
    explanation: "Expressions may nest only so deep, because a tree is read and evaluated from the inside out. A manifest that \
people write stays far below the limit; one that is generated can name its parts.

```puppet
$x = [[[[[[[[ … ]]]]]]]]
```

Assign the inner parts to variables, and use those.
",
};

pub(crate) static UNSUPPORTED: Rule = Rule {
    name: "puppet-unsupported",
    severity: Severity::Error,
    summary: "A construct that has no place in a catalog",
    explanation: "A plan orchestrates tasks on many machines; it is no part of the catalog of one machine, and Puppet itself \
refuses it in a manifest.

```puppet
plan app::deploy(TargetSpec $nodes) {
  run_task('app::stop', $nodes)
}
```

Keep plans in the `plans` folder of a module, and run them with the tool that is made for them.
",
};

pub(crate) static DUPLICATE_KEY: Rule = Rule {
    name: "puppet-duplicate-key",
    severity: Severity::Warning,
    summary: "A hash has the same key twice",
    explanation:
        "The last value wins, and the first is lost without a word. Puppet 7 warns, Puppet 8 refuses it.

```puppet
$ports = { http => 80, http => 8080 }
```

Remove one of the two, or rename its key.
",
};

pub(crate) static UNKNOWN_ESCAPE: Rule = Rule {
    name: "puppet-unknown-escape",
    severity: Severity::Warning,
    summary: "A backslash in a string begins no escape that Puppet knows",
    explanation: "Puppet keeps the backslash and warns. In double quotes it knows `\\\\`, `\\\"`, `\\'`, `\\$`, `\\n`, `\\r`, `\\t`, `\\s`, \
`\\uXXXX` and a line end.

```puppet
$pattern = \"\\d+\"
```

Write the backslash twice, or use single quotes, where only `\\\\` and `\\'` are escapes.
",
};

pub(crate) static RESERVED_NAME: Rule = Rule {
    name: "puppet-reserved-name",
    severity: Severity::Warning,
    summary: "A name that a later Puppet will use as a keyword",
    explanation: "The name works today and will be a syntax error once Puppet makes it a keyword.

```puppet
class plan { }
```

Choose another name.
",
};
