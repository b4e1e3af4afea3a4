//! What can go wrong in a call of a function.

use setpoint_source::{Diagnostic, Rule, Severity, Span};

use crate::Stop;

pub(crate) static WRONG_ARGUMENTS: Rule = Rule {
    name: "wrong-arguments",
    severity: Severity::Error,
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
```
",
};

pub(crate) static FUNCTION_FAILED: Rule = Rule {
    name: "function-failed",
    severity: Severity::Error,
    summary: "a function cannot give a result for its arguments",
    explanation: "\
The arguments have types that the function takes, but it has no answer for these values: a text that is not a number, \
a file that does not exist, an index that is not an integer. Puppet refuses to compile the catalog.

```puppet
notice(Integer('ten'))
```

Check the value before the call, or give a default where the function takes one.
",
};

pub(crate) static FAIL_CALLED: Rule = Rule {
    name: "fail-called",
    severity: Severity::Error,
    summary: "the manifest itself calls fail()",
    explanation: "\
The manifest was reached under conditions that its author refuses, and says so with `fail()`. Puppet refuses to compile \
the catalog.

```puppet
unless $facts['os']['family'] == 'Debian' { fail('only Debian is supported') }
```

Compile with facts and parameters that the manifest accepts.
",
};

pub(crate) static UNSUPPORTED_FUNCTION: Rule = Rule {
    name: "unsupported-function",
    severity: Severity::Error,
    summary: "a function needs something that is never done while checking",
    explanation: "\
The function runs a program, or needs Ruby itself. Nothing is executed while a manifest is checked, so its result is not \
known.

```puppet
$motd = generate('/usr/bin/fortune')
```

Take the value from a fact or from Hiera instead.
",
};

pub(crate) static UNKNOWN_VALUE: Rule = Rule {
    name: "unknown-value",
    severity: Severity::Error,
    summary: "a decision depends on a value that could not be computed",
    explanation: "\
A value comes from something that is never done while checking, such as a Ruby function of a module or an encrypted \
secret. It may be passed on, but nothing can be decided by it and nothing iterates over it.

```puppet
some_module::ruby_function().each |$item| { notify { $item: } }
```

Give the function a stub in `setpoint.toml`, or take the value from a fact or from Hiera.
",
};

/// No complaint but a jump: a backend of Hiera says that it has not the key.
pub(crate) static NO_SUCH_KEY: Rule = Rule {
    name: "no-such-key",
    severity: Severity::Error,
    summary: "a backend of Hiera was asked for a key outside of a lookup",
    explanation: "`not_found` of a lookup context ends the function that Hiera has called, and nothing else.",
};

pub static RULES: &[&Rule] =
    &[&FAIL_CALLED, &FUNCTION_FAILED, &UNKNOWN_VALUE, &UNSUPPORTED_FUNCTION, &WRONG_ARGUMENTS];

/// What `not_found` of a lookup context does: it ends the function that Hiera has called.
pub fn no_such_key(span: Span) -> Stop {
    stop(&NO_SUCH_KEY, "not_found() was called outside of a lookup", span)
}

/// Whether a function ended with `not_found`.
pub fn is_no_such_key(stop: &Stop) -> bool {
    matches!(stop, Stop::Error(diagnostic) if std::ptr::eq(diagnostic.rule, &raw const NO_SUCH_KEY))
}

pub(crate) fn stop(rule: &'static Rule, message: impl Into<String>, span: Span) -> Stop {
    Stop::Error(Box::new(Diagnostic::new(rule, message).at(span)))
}

pub(crate) fn failed(message: impl Into<String>, span: Span) -> Stop {
    stop(&FUNCTION_FAILED, message, span)
}

pub(crate) fn unsupported(message: impl Into<String>, span: Span) -> Stop {
    stop(&UNSUPPORTED_FUNCTION, message, span)
}
