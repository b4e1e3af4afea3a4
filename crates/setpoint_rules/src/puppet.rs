//! Puppet code: its syntax, and what its evaluation refuses.

use crate::{About, Class, Severity};

pub(crate) static SYNTAX_ERROR: About = About {
    name: "syntax-error",
    aliases: &["puppet-syntax", "model-syntax", "smartfrog-syntax"],
    severity: Severity::Error,
    class: Class::Syntax,
    summary: "The text is not well-formed",
    explanation: "\
In Puppet. Puppet cannot read the manifest beyond this place, so nothing in it is applied. The message names the \
first token that does not fit; what is wrong often stands just before it.

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

In a rule set. The text is not one that the rule language has. Reading goes on at the next part that can be \
understood, so that one mistake does not hide the others.

    rule start(r: resource) {
      when r is initial
      then r is started        # an effect is `becomes`, not `is`
    }

`docs/rule-language.md` shows the whole language on one page.

In SmartFrog. The text is not a SmartFrog specification. A specification is a sequence of attributes, each a name \
and a value:

```
sfConfig extends {
  port 80;
  web extends Service, { running true; }
}
```

A plain value ends in `;`. A component is written with `extends`, and needs none. After an error the parser goes on
with the next attribute, so that one run shows all errors.",
};

pub(crate) static INVALID_CODE: About = About {
    name: "invalid-code",
    aliases: &["puppet-validation"],
    severity: Severity::Error,
    class: Class::Syntax,
    summary: "The text is well-formed, and yet no valid Puppet",
    explanation: "\
Some texts fit the grammar and are refused by Puppet before anything is evaluated: a value that is produced and \
forgotten, a class inside a condition, an assignment to what is no variable, a parameter that is declared twice.

```puppet
class ntp {
  'running'
}
```

The string has no effect, so Puppet takes it for a mistake. Remove it, or use it in an expression that has an effect.",
};

pub(crate) static NESTED_TOO_DEEP: About = About {
    name: "nested-too-deep",
    aliases: &["puppet-nesting"],
    severity: Severity::Error,
    class: Class::Open,
    summary: "The text is nested too deeply to be read",
    explanation: "\
Setpoint reads expressions that nest so deep and no deeper, because a tree is read and evaluated from the inside out. \
Puppet may accept the text, so no verdict that depends on it is given. A manifest that people write stays far below the \
limit; one that is generated can name its parts.

```puppet
$x = [[[[[[[[ … ]]]]]]]]
```

Assign the inner parts to variables, and use those.",
};

pub(crate) static UNSUPPORTED_SYNTAX: About = About {
    name: "unsupported-syntax",
    aliases: &["puppet-unsupported"],
    severity: Severity::Error,
    class: Class::Syntax,
    summary: "A construct that has no place in a catalog",
    explanation: "\
A plan orchestrates tasks on many machines; it is no part of the catalog of one machine, and Puppet itself refuses \
it in a manifest.

```puppet
plan app::deploy(TargetSpec $nodes) {
  run_task('app::stop', $nodes)
}
```

Keep plans in the `plans` folder of a module, and run them with the tool that is made for them.",
};

pub(crate) static UNKNOWN_ESCAPE: About = About {
    name: "unknown-escape",
    aliases: &["puppet-unknown-escape"],
    severity: Severity::Warning,
    class: Class::Syntax,
    summary: "A backslash in a string begins no escape that Puppet knows",
    explanation: "\
Puppet keeps the backslash and warns. In double quotes it knows `\\\\`, `\\\"`, `'`, `\\$`, `\\
`, `\\r`, `	`, `\\s`, `\\uXXXX` and a line end.

```puppet
$pattern = \"\\d+\"
```

Write the backslash twice, or use single quotes, where only `\\\\` and `'` are escapes.",
};

pub(crate) static RESERVED_NAME: About = About {
    name: "reserved-name",
    aliases: &["puppet-reserved-name"],
    severity: Severity::Warning,
    class: Class::Syntax,
    summary: "A name that a later Puppet will use as a keyword",
    explanation: "\
The name works today and will be a syntax error once Puppet makes it a keyword.

```puppet
class plan { }
```

Choose another name.",
};

pub(crate) static EVALUATION_ERROR: About = About {
    name: "evaluation-error",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "an expression has no value",
    explanation: "\
Puppet cannot evaluate an expression, and compiles no catalog for the node.

```puppet
$ports = [80, 443] / 2    # an array cannot be divided
```

The message says which operand does not fit. Give the expression what it needs, or test the value first.

In a trace of µPuppet. No rule of the text applies to what comes next, so that by its rules the manifest has no \
catalog. Puppet itself may give one: it also finds a class that is defined later.",
};

pub(crate) static UNKNOWN_VARIABLE: About = About {
    name: "unknown-variable",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a variable is read that has no value here",
    explanation: "\
The variable is not assigned in this scope, in the class that it inherits from, or at top scope, or not yet: classes \
see only what was assigned before they were declared. Puppet 8 refuses such a manifest; Puppet 7 takes `undef`, \
unless strict variables are on.

```puppet
class a { $x = 1 }
class b { notice($x) }    # b does not see the variables of a
```

Write `$a::x` after `include a`, or pass the value as a parameter.",
};

pub(crate) static REASSIGNED_VARIABLE: About = About {
    name: "reassigned-variable",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a variable is assigned twice in one scope",
    explanation: "\
A variable of Puppet keeps its first value.

```puppet
$port = 80
$port = 8080    # not allowed
```

Use a second name, or choose the value in one expression: `$port = if $tls { 443 } else { 80 }`.",
};

pub(crate) static UNKNOWN_FUNCTION: About = About {
    name: "unknown-function",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a function is called that does not exist",
    explanation: "\
Neither Puppet nor a module on the module path has a function of this name.

```puppet
$names = rang('a', 'c')    # range is meant, and comes from the module stdlib
```

Check the spelling, and that `--modulepath` names the folder of the module that has the function.",
};

pub(crate) static UNKNOWN_CLASS: About = About {
    name: "unknown-class",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a class is declared that does not exist",
    explanation: "\
The class is neither in the manifest nor in a module on the module path. The class `apache::mod::ssl` is looked for \
in `apache/manifests/mod/ssl.pp`, `apache` itself in `apache/manifests/init.pp`.

```puppet
include ntpd    # the module is called ntp
```

Check the spelling, and that `--modulepath` names the folder that holds the module.",
};

pub(crate) static UNKNOWN_RESOURCE_TYPE: About = About {
    name: "unknown-resource-type",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a resource is of a type that does not exist",
    explanation: "\
The name is neither a type of Puppet, nor a definition, nor a data type or alias, in the manifest or in a module on \
the module path.

```puppet
files { '/etc/motd': }    # file is meant
```

Check the spelling and `--modulepath`.",
};

pub(crate) static DUPLICATE_DECLARATION: About = About {
    name: "duplicate-declaration",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a resource is declared twice",
    explanation: "\
A catalog has each resource once: type and title are its name, and where a type has a name of its own (the `path` of \
a file) that is one, too.

```puppet
package { 'curl': ensure => installed }
package { 'curl': ensure => latest }    # the same resource again
```

Declare it in one class and `include` that class where it is needed, or make it virtual and `realize` it.",
};

pub(crate) static DUPLICATE_DEFINITION: About = About {
    name: "duplicate-definition",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a class, definition or node is defined twice",
    explanation: "\
Two definitions have the same name, so it would depend on the order of files which of them holds.

```puppet
class ntp { }
class ntp { }
```

Join them, or give one of them another name.",
};

pub(crate) static UNKNOWN_PARAMETER: About = About {
    name: "unknown-parameter",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a resource has a parameter that its type does not know",
    explanation: "\
Puppet refuses the whole catalog if one resource has a parameter that its type does not have.

```puppet
file { '/etc/motd': contents => 'hello' }    # content is meant
```

Check the spelling against the documentation of the type.",
};

pub(crate) static DANGLING_REFERENCE: About = About {
    name: "dangling-reference",
    aliases: &["dangling-dependency"],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a relationship or reference names a resource that is not in the catalog",
    explanation: "\
In a manifest. `require`, `before`, `notify`, `subscribe`, an arrow, an override or `realize` names a resource that \
nothing declares for this node.

```puppet
service { 'ntp': require => Package['ntpd'] }    # there is only Package['ntp']
```

Declare the resource on every path on which the reference is used, or correct its title.

In a catalog. Puppet refuses the catalog before it applies anything.

```puppet
file { '/etc/motd': require => Package['motd'] }   # there is no such package
```

Declare the resource, or mend its name.",
};

pub(crate) static OVERRIDE_NOT_ALLOWED: About = About {
    name: "override-not-allowed",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a parameter is overridden where that is not allowed",
    explanation: "\
The parameters of a resource can be changed by a class that inherits from the class that declares it, and by a \
collector. Others may only add parameters, and only from the same class.

```puppet
class a { file { '/x': mode => '0644' } }
class b { File['/x'] { mode => '0600' } }    # b does not inherit from a
```

Write `class b inherits a`, or use a collector: `File <| title == '/x' |> { mode => '0600' }`.",
};

pub(crate) static DEFAULT_REDEFINED: About = About {
    name: "default-redefined",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a default is set twice in one scope",
    explanation: "\
A resource default can be given once per scope and parameter.

```puppet
File { mode => '0644' }
File { mode => '0600' }
```

Keep one of the two.",
};

pub(crate) static TYPE_MISMATCH: About = About {
    name: "type-mismatch",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a value does not have the type that is declared",
    explanation: "\
A parameter, a function or a lambda declares a data type, and the value that it is given does not fit; or a \
parameter without a default is given no value, or one is given that does not exist.

```puppet
class web(Integer $port) { }
class { 'web': port => '80' }    # a String
```

Give a value of the declared type: `port => 80`.",
};

pub(crate) static UNEVALUATED_PARAMETER: About = About {
    name: "unevaluated-parameter",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "the default of a parameter reads one that has no value yet",
    explanation: "\
Parameters get their values from the first to the last, so the default of one can read those before it only, and \
only if they have a value.

```puppet
class web($url = \"http://${host}\", $host = 'localhost') { }
```

Put `$host` first.",
};

pub(crate) static MISPLACED_CODE: About = About {
    name: "misplaced-code",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a file of a module holds what does not belong there",
    explanation: "\
A file of a module holds definitions and nothing else, and their names begin as the path of the file says: \
`apache/manifests/mod/ssl.pp` holds `apache::mod::ssl`. Puppet refuses to load a file that holds anything else.

```puppet
# apache/manifests/mod/ssl.pp
class apache::ssl { }
```

Move the definition, or give it the name that its file asks for. Code outside of classes belongs into a class.",
};

pub(crate) static NO_MATCHING_NODE: About = About {
    name: "no-matching-node",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "no node statement fits the node",
    explanation: "\
The manifest has `node` statements, but none with this node's name, no regular expression that matches it, and no \
`node default`.

Add `node default { }`, or compile with `--node` and a name that one of them has.",
};

pub(crate) static ENDLESS_EVALUATION: About = About {
    name: "endless-evaluation",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "the evaluation does not come to an end",
    explanation: "\
Definitions that declare instances of each other, functions that call themselves or classes that inherit from each \
other would go on forever. Puppet gives up after 1,000 rounds, or when its stack is full.

```puppet
define a() { a { \"${title}x\": } }
```

Give the recursion an end.",
};

pub(crate) static INVALID_TITLE: About = About {
    name: "invalid-title",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a resource has no usable title",
    explanation: "\
A title is a string that is not empty, or an array of such strings.

```puppet
file { undef: ensure => file }
```

Check the variable that the title comes from.",
};

pub(crate) static QUESTIONABLE_CONSTRUCT: About = About {
    name: "questionable-construct",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a construct that Puppet 7 warns about and Puppet 8 refuses",
    explanation: "\
Puppet 8 has `strict = error`: what earlier versions only warned about stops the compilation.

```puppet
$sum = '10' + 5    # a string used as a number
```

Write what is meant: `Integer('10') + 5`.",
};

pub(crate) static HIERA_ERROR: About = About {
    name: "hiera-error",
    aliases: &["unusable-data"],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a lookup fails because of the data or its hiera.yaml",
    explanation: "\
A data file is not what it should be, a `hiera.yaml` is wrong, an interpolation leads nowhere or back to itself, or \
values of several levels do not fit together. Puppet compiles no catalog then.

```yaml
# data/common.yaml
motd: \"%{lookup('motd')}\"
```

The message names the key or the file. `setpoint lookup KEY --explain` shows each step of the search.",
};

pub(crate) static WRONG_ARGUMENTS: About = About {
    name: "wrong-arguments",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a function is called with arguments that it does not accept",
    explanation: "\
A call gives a function too few or too many arguments, a value of a type that the function does not take, or a block \
with the wrong number of parameters. Puppet refuses to compile the catalog.

```puppet
notice(join('a', ','))    # join takes an array
```

Give the arguments that the function's signature names:

```puppet
notice(join(['a', 'b'], ','))
```",
};

pub(crate) static FUNCTION_FAILED: About = About {
    name: "function-failed",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a function cannot give a result for its arguments",
    explanation: "\
The arguments have types that the function takes, but it has no answer for these values: a text that is not a \
number, a file that does not exist, an index that is not an integer. Puppet refuses to compile the catalog.

```puppet
notice(Integer('ten'))
```

Check the value before the call, or give a default where the function takes one.",
};

pub(crate) static FAIL_CALLED: About = About {
    name: "fail-called",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "the manifest itself calls fail()",
    explanation: "\
The manifest was reached under conditions that its author refuses, and says so with `fail()`. Puppet refuses to \
compile the catalog.

```puppet
unless $facts['os']['family'] == 'Debian' { fail('only Debian is supported') }
```

Compile with facts and parameters that the manifest accepts.",
};

pub(crate) static UNSUPPORTED_FUNCTION: About = About {
    name: "unsupported-function",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Open,
    summary: "a function needs something that is never done while checking",
    explanation: "\
The function runs a program, or needs Ruby itself. Nothing is executed while a manifest is checked, so its result is \
not known.

```puppet
$motd = generate('/usr/bin/fortune')
```

Take the value from a fact or from Hiera instead.",
};

pub(crate) static UNKNOWN_VALUE: About = About {
    name: "unknown-value",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Open,
    summary: "a decision depends on a value that could not be computed",
    explanation: "\
A value comes from something that is never done while checking, such as a Ruby function of a module or an encrypted \
secret. It may be passed on, but nothing can be decided by it and nothing iterates over it.

```puppet
some_module::ruby_function().each |$item| { notify { $item: } }
```

Give the function a stub in `setpoint.toml`, or take the value from a fact or from Hiera.",
};

pub(crate) static NO_SUCH_KEY: About = About {
    name: "no-such-key",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a backend of Hiera was asked for a key outside of a lookup",
    explanation: "\
`not_found` of a lookup context ends the function that Hiera has called, and nothing else.",
};
