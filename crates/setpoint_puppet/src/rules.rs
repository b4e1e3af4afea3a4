//! What can be wrong with a manifest that is well-formed.

use setpoint_puppet_functions::Stop;
use setpoint_source::{Diagnostic, Rule, Severity, Span};

/// Every rule of this crate.
pub static RULES: &[&Rule] = &[
    &DANGLING_REFERENCE,
    &DEFAULT_REDEFINED,
    &DUPLICATE_DECLARATION,
    &DUPLICATE_DEFINITION,
    &ENDLESS_EVALUATION,
    &EVALUATION,
    &INVALID_TITLE,
    &MISPLACED_CODE,
    &NO_MATCHING_NODE,
    &OVERRIDE_NOT_ALLOWED,
    &QUESTIONABLE,
    &REASSIGNED_VARIABLE,
    &TYPE_MISMATCH,
    &UNEVALUATED_PARAMETER,
    &UNKNOWN_CLASS,
    &UNKNOWN_FUNCTION,
    &UNKNOWN_PARAMETER,
    &UNKNOWN_RESOURCE_TYPE,
    &UNKNOWN_VARIABLE,
    &UNREADABLE_FILE,
    &UNUSABLE_DATA,
];

macro_rules! rule {
    ($constant:ident, $name:literal, $summary:literal, $explanation:literal) => {
        pub(crate) static $constant: Rule =
            Rule { name: $name, severity: Severity::Error, summary: $summary, explanation: $explanation };
    };
}

rule!(
    EVALUATION,
    "evaluation-error",
    "an expression has no value",
    "\
Puppet cannot evaluate an expression, and compiles no catalog for the node.

```puppet
$ports = [80, 443] / 2    # an array cannot be divided
```

The message says which operand does not fit. Give the expression what it needs, or test the value first.
"
);

rule!(
    UNKNOWN_VARIABLE,
    "unknown-variable",
    "a variable is read that has no value here",
    "\
The variable is not assigned in this scope, in the class that it inherits from, or at top scope, or not yet: classes see \
only what was assigned before they were declared. Puppet 8 refuses such a manifest; Puppet 7 takes `undef`, unless strict \
variables are on.

```puppet
class a { $x = 1 }
class b { notice($x) }    # b does not see the variables of a
```

Write `$a::x` after `include a`, or pass the value as a parameter.
"
);

rule!(
    REASSIGNED_VARIABLE,
    "reassigned-variable",
    "a variable is assigned twice in one scope",
    "\
A variable of Puppet keeps its first value.

```puppet
$port = 80
$port = 8080    # not allowed
```

Use a second name, or choose the value in one expression: `$port = if $tls { 443 } else { 80 }`.
"
);

rule!(
    UNKNOWN_FUNCTION,
    "unknown-function",
    "a function is called that does not exist",
    "\
Neither Puppet nor a module on the module path has a function of this name.

```puppet
$names = rang('a', 'c')    # range is meant, and comes from the module stdlib
```

Check the spelling, and that `--modulepath` names the folder of the module that has the function.
"
);

rule!(
    UNKNOWN_CLASS,
    "unknown-class",
    "a class is declared that does not exist",
    "\
The class is neither in the manifest nor in a module on the module path. The class `apache::mod::ssl` is looked for in \
`apache/manifests/mod/ssl.pp`, `apache` itself in `apache/manifests/init.pp`.

```puppet
include ntpd    # the module is called ntp
```

Check the spelling, and that `--modulepath` names the folder that holds the module.
"
);

rule!(
    UNKNOWN_RESOURCE_TYPE,
    "unknown-resource-type",
    "a resource is of a type that does not exist",
    "\
The name is neither a type of Puppet, nor a definition, nor a data type or alias, in the manifest or in a module on the \
module path.

```puppet
files { '/etc/motd': }    # file is meant
```

Check the spelling and `--modulepath`.
"
);

rule!(
    DUPLICATE_DECLARATION,
    "duplicate-declaration",
    "a resource is declared twice",
    "\
A catalog has each resource once: type and title are its name, and where a type has a name of its own (the `path` of a \
file) that is one, too.

```puppet
package { 'curl': ensure => installed }
package { 'curl': ensure => latest }    # the same resource again
```

Declare it in one class and `include` that class where it is needed, or make it virtual and `realize` it.
"
);

rule!(
    DUPLICATE_DEFINITION,
    "duplicate-definition",
    "a class, definition or node is defined twice",
    "\
Two definitions have the same name, so it would depend on the order of files which of them holds.

```puppet
class ntp { }
class ntp { }
```

Join them, or give one of them another name.
"
);

rule!(
    UNKNOWN_PARAMETER,
    "unknown-parameter",
    "a resource has a parameter that its type does not know",
    "\
Puppet refuses the whole catalog if one resource has a parameter that its type does not have.

```puppet
file { '/etc/motd': contents => 'hello' }    # content is meant
```

Check the spelling against the documentation of the type.
"
);

rule!(
    DANGLING_REFERENCE,
    "dangling-reference",
    "a reference names a resource that is not in the catalog",
    "\
`require`, `before`, `notify`, `subscribe`, an arrow, an override or `realize` names a resource that nothing declares for \
this node.

```puppet
service { 'ntp': require => Package['ntpd'] }    # there is only Package['ntp']
```

Declare the resource on every path on which the reference is used, or correct its title.
"
);

rule!(
    OVERRIDE_NOT_ALLOWED,
    "override-not-allowed",
    "a parameter is overridden where that is not allowed",
    "\
The parameters of a resource can be changed by a class that inherits from the class that declares it, and by a \
collector. Others may only add parameters, and only from the same class.

```puppet
class a { file { '/x': mode => '0644' } }
class b { File['/x'] { mode => '0600' } }    # b does not inherit from a
```

Write `class b inherits a`, or use a collector: `File <| title == '/x' |> { mode => '0600' }`.
"
);

rule!(
    DEFAULT_REDEFINED,
    "default-redefined",
    "a default is set twice in one scope",
    "\
A resource default can be given once per scope and parameter.

```puppet
File { mode => '0644' }
File { mode => '0600' }
```

Keep one of the two.
"
);

rule!(
    TYPE_MISMATCH,
    "type-mismatch",
    "a value does not have the type that is declared",
    "\
A parameter, a function or a lambda declares a data type, and the value that it is given does not fit; or a parameter \
without a default is given no value, or one is given that does not exist.

```puppet
class web(Integer $port) { }
class { 'web': port => '80' }    # a String
```

Give a value of the declared type: `port => 80`.
"
);

rule!(
    UNEVALUATED_PARAMETER,
    "unevaluated-parameter",
    "the default of a parameter reads one that has no value yet",
    "\
Parameters get their values from the first to the last, so the default of one can read those before it only, and only if \
they have a value.

```puppet
class web($url = \"http://${host}\", $host = 'localhost') { }
```

Put `$host` first.
"
);

rule!(
    MISPLACED_CODE,
    "misplaced-code",
    "a file of a module holds what does not belong there",
    "\
A file of a module holds definitions and nothing else, and their names begin as the path of the file says: \
`apache/manifests/mod/ssl.pp` holds `apache::mod::ssl`. Puppet refuses to load a file that holds anything else.

```puppet
# apache/manifests/mod/ssl.pp
class apache::ssl { }
```

Move the definition, or give it the name that its file asks for. Code outside of classes belongs into a class.
"
);

rule!(
    NO_MATCHING_NODE,
    "no-matching-node",
    "no node statement fits the node",
    "\
The manifest has `node` statements, but none with this node's name, no regular expression that matches it, and no \
`node default`.

Add `node default { }`, or compile with `--node` and a name that one of them has.
"
);

rule!(
    ENDLESS_EVALUATION,
    "endless-evaluation",
    "the evaluation does not come to an end",
    "\
Definitions that declare instances of each other, functions that call themselves or classes that inherit from each other \
would go on forever. Puppet gives up after 1,000 rounds, or when its stack is full.

```puppet
define a() { a { \"${title}x\": } }
```

Give the recursion an end.
"
);

rule!(
    INVALID_TITLE,
    "invalid-title",
    "a resource has no usable title",
    "\
A title is a string that is not empty, or an array of such strings.

```puppet
file { undef: ensure => file }
```

Check the variable that the title comes from.
"
);

rule!(
    QUESTIONABLE,
    "questionable-construct",
    "a construct that Puppet 7 warns about and Puppet 8 refuses",
    "\
Puppet 8 has `strict = error`: what earlier versions only warned about stops the compilation.

```puppet
$sum = '10' + 5    # a string used as a number
```

Write what is meant: `Integer('10') + 5`.
"
);

rule!(
    UNREADABLE_FILE,
    "unreadable-file",
    "a file cannot be read",
    "\
A manifest, a template or another file that the compilation needs is missing, is not valid UTF-8, is too large, or cannot \
be opened.

Check the path and the permissions.
"
);

rule!(
    UNUSABLE_DATA,
    "unusable-data",
    "a lookup fails because of the data or its hiera.yaml",
    "\
A data file is not what it should be, a `hiera.yaml` is wrong, an interpolation leads nowhere or back to itself, or values \
of several levels do not fit together. Puppet compiles no catalog then.

```yaml
# data/common.yaml
motd: \"%{lookup('motd')}\"
```

The message names the key or the file. `setpoint lookup KEY --explain` shows each step of the search.
"
);

/// An error at a place.
pub(crate) fn stop(rule: &'static Rule, message: impl Into<String>, span: impl Into<Option<Span>>) -> Stop {
    let mut diagnostic = Diagnostic::new(rule, message);
    diagnostic.span = span.into();
    Stop::Error(Box::new(diagnostic))
}

/// An error of evaluation that has no rule of its own.
pub(crate) fn fail(message: impl Into<String>, span: impl Into<Option<Span>>) -> Stop {
    stop(&EVALUATION, message, span)
}
