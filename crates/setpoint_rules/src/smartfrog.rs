//! SmartFrog specifications.

use crate::{About, Class, Severity};

pub(crate) static SMARTFROG_INCLUDE: About = About {
    name: "smartfrog-include",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Open,
    summary: "a file cannot be included",
    explanation: "\
`#include \"f\"` reads the attributes of another file, whose name is relative to the file that includes it. The file
must exist, and files may not include each other in a circle. `#include? \"f\"` leaves out a file that does not exist.",
};

pub(crate) static SMARTFROG_COMPILE: About = About {
    name: "smartfrog-compile",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "the specification has no meaning",
    explanation: "\
The semantics gives the specification no value. The numbers are those of *A Formal Semantics for the SmartFrog
Configuration Language*:

| number | meaning |
|---|---|
| err1 | an attribute is placed in something that is not a component |
| err2 | an attribute is placed in a component that does not exist (yet) |
| err3 | the root would be replaced |
| err4 | a prototype does not exist (yet), or is not a component |
| err5 | a link refers to nothing (yet) |
| err7 | there is no `sfConfig`, or it is not a component |
| err105 | links refer to each other in a circle (forward and production semantics) |
| err106 | a link or a prototype contains itself, and would expand without end |

In the core semantics everything must be defined before it is used. `--semantics forward` resolves links at the end,
and `--semantics production` prototypes and placements too.",
};

pub(crate) static SMARTFROG_LIMIT: About = About {
    name: "smartfrog-limit",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Open,
    summary: "the specification is too large or too deep",
    explanation: "\
A specification can be short and its compiled form enormous: a component that holds two copies of another, which holds
two copies of a third, and so on, doubles with each step. The compiler stops at limits that no sensible specification
reaches, and says which part reached them.",
};

pub(crate) static SMARTFROG_UNCHECKED: About = About {
    name: "smartfrog-unchecked",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Open,
    summary: "a function, assertion or schema was not evaluated",
    explanation: "\
An assertion or schema over `LAZY` values is checked by the runtime, when the values are there. A function that is Java
code is known to the runtime only. The core and forward semantics of the paper have neither: there a schema is a component
like any other. What was not evaluated is neither right nor wrong.

Give values that are not `LAZY` where they should be checked before the deployment, and use `--semantics production`.",
};

pub(crate) static ORDER_CYCLE: About = About {
    name: "order-cycle",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "constraints on the order of attributes contradict each other",
    explanation: "\
`order a < b;` demands that `a` comes before `b` in the compiled component. Constraints are inherited; a constraint of a
component overrides an inherited one on the same two attributes. Together they must leave some order possible:

```
c extends {
  order a < b;
  order b < a;   // no order satisfies both
  a 1; b 2;
}
```",
};

pub(crate) static ORDER_CHANGED: About = About {
    name: "order-changed",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "attributes are compiled in another order than they are written",
    explanation: "\
An attribute that overrides an inherited one takes its value, and keeps the *position* of the inherited one. So the \
order
in which a component is written need not be the order in which it is compiled, and a change in a prototype can reorder
components that did not change. Where order matters, as in the rules of a firewall, this can open a hole:

```
default extends {
  private \"-s DEV_NET ALLOW\";
  public \"-p PUB_PORT DENY\";
}
testServer extends default, {
  public \"-p PUB_PORT DENY\";      // written first, compiled second
  private \"-s DEV_NET ALLOW\";
}
```

State the order that is meant with `order public < private;` in the component, or write the attributes in the order of
the prototype.",
};

pub(crate) static SHADOWED_PROTOTYPE: About = About {
    name: "shadowed-prototype",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "a prototype is hidden by a nearer component of the same name",
    explanation: "\
A prototype is looked for in the component that it is written in first, and then outwards. A component that bears the
name of its prototype finds itself, which is still empty:

```
server extends { port 80; }
sfConfig extends {
  server extends server    // itself: it has no `port`
}
```

Give one of the two another name, or say which is meant by a longer reference.",
};

pub(crate) static LINK_CHANGES_MEANING: About = About {
    name: "link-changes-meaning",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "a link has one value in the core semantics and another with forward links",
    explanation: "\
In the core semantics a link is the value that it refers to where it is written. With forward links, and in the
production compiler, it is resolved at the end, and from the component into which a prototype was copied:

```
data 1;
Foo extends { a data; }
sfConfig extends {
  data 100;
  x extends Foo    // x:a is 1 in the core semantics, and 100 with forward links
}
```

Different compilers give different configurations for the same text. Use a name that only one of the components defines.",
};

pub(crate) static UNUSED_COMPONENT: About = About {
    name: "unused-component",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Defect,
    summary: "a component is neither compiled nor used as a prototype or link",
    explanation: "\
Only `sfConfig` is compiled. Other components at the top level serve as prototypes or as targets of links; one that
nothing refers to has no effect.",
};
