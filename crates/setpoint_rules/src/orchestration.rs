//! CloudFormation, TOSCA and rule sets.

use crate::{About, Class, Severity};

pub(crate) static MODEL_NAMES: About = About {
    name: "model-names",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Syntax,
    summary: "a rule file uses a name that is not declared, or declares one twice",
    explanation: "\
Classes, types, states, links, messages and variables are declared once and used by name.

    class resource { states initial, started }
    rule start(r: resource) { when r is intial then r becomes started }   # `intial` is no state of resource

Write the name as it was declared, or declare it.",
};

pub(crate) static DEADLOCK: About = About {
    name: "deadlock",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a run stops before all is in place",
    explanation: "\
In a rule set. From the initial state the rules lead to a state in which none of them applies, and which is not \
final: something waits for ever. The finding shows what waits for what, with the line of each link, and the run that \
leads there.

    A: resource           # A refers to B, and B refers to A
    B: resource
    a: property { parent = A, refer = B }
    b: property { parent = B, refer = A }

Remove or redirect one of the links of the circle, or add the rule that moves the object on which the others wait.

In CloudFormation. A wait condition is complete when it has its signals. If every resource that could send one is \
created only after the wait condition, no signal ever comes: the stack stops, and is rolled back when the time is \
over.

```yaml
Resources:
  Handle:
    Type: AWS::CloudFormation::WaitConditionHandle
  Ready:
    Type: AWS::CloudFormation::WaitCondition
    Properties: { Handle: !Ref Handle, Timeout: '600' }
  Server:
    Type: AWS::EC2::Instance
    DependsOn: Ready
    Properties:
      UserData: !Base64 { 'Fn::Sub': 'curl -X PUT ${Handle}' }
```

Let the wait condition depend on the server, and not the other way round.",
};

pub(crate) static ENDLESS_RUN: About = About {
    name: "endless-run",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a run goes on for ever without reaching a final state",
    explanation: "\
The rules can be applied in a circle: the same state is reached again, and the final state is never passed. A rule \
set that retries without counting its retries has such runs.

    rule fail(r: resource)  { when r is busy    then r becomes failed }
    rule retry(r: resource) { when r is failed  then r becomes busy }

Count the retries in the local states, so that each round uses one up, or give up in a final state.",
};

pub(crate) static MALFORMED_INSTANCE: About = About {
    name: "malformed-instance",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a topology breaks what its rule set requires",
    explanation: "\
The rule set says in `require`, `init` and at its links what every topology satisfies; this one does not, so that \
nothing that was proved about the rule set holds for it.

    link cap: capability one-to-one      # no two relationships share a capability
    require { all l: relationship { l.cap.type = l.type } }

Change the topology, or the requirement.",
};

pub(crate) static NOT_PROVED: About = About {
    name: "not-proved",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Open,
    summary: "it could be neither proved nor refuted that a rule set reaches its final state",
    explanation: "\
The prover found no invariant that carries the proof, and no small instance in which a run goes wrong. The finding \
names the conditions that are open. State an `invariant` that the proof needs, or simplify the rule.",
};

pub(crate) static VACUOUS_MODEL: About = About {
    name: "vacuous-model",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a rule set has no initial state, or a rule that never applies",
    explanation: "\
A proof about nothing proves nothing. `init` must have an instance with an object of every class, and every rule \
must apply in some run.

    rule start(r: resource) { when r is initial and r is started then r becomes started }   # never applies

Correct the guard, or remove the rule.",
};

pub(crate) static MALFORMED_TEMPLATE: About = About {
    name: "malformed-template",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Syntax,
    summary: "a part of a template has not the shape that its language wants",
    explanation: "\
CloudFormation refuses the template before it creates anything.

```yaml
Resources:
  Bucket:
    Properties: {}
```

Here the resource has no `Type`. Give each resource a type.

In TOSCA, a key that the grammar of the file's version does not know, one that is missing, or a list where a mapping \
belongs. Tools refuse the file, or pass over what they do not know.

```yaml
node_types:
  - my.nodes.Server:
      derived_from: tosca.nodes.Root
```

Here the types are a list. Write them as a mapping from their names.",
};

pub(crate) static INVALID_VALUE: About = About {
    name: "invalid-value",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a value is missing or does not fit its definition",
    explanation: "\
The definition of a property, an attribute, an input or a parameter says what type its value has, which constraints \
it keeps and whether it may be left out. The template is refused if the value is another one.

```yaml
node_templates:
  server:
    type: tosca.nodes.Compute
    capabilities:
      host:
        properties:
          num_cpus: many
```

Here a whole number is wanted. Give a value that fits, or mend the definition.",
};

pub(crate) static UNKNOWN_REFERENCE: About = About {
    name: "unknown-reference",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a template refers to a name that it does not define",
    explanation: "\
`Ref`, `Fn::GetAtt`, `Fn::Sub` and `DependsOn` name resources and parameters of the same template. CloudFormation \
refuses a template with a name that is neither.

```yaml
Resources:
  Subnet:
    Type: AWS::EC2::Subnet
    Properties:
      VpcId: !Ref Vcp
```

Mend the name, or define what it names.",
};

pub(crate) static MISSING_DEPENDS_ON: About = About {
    name: "missing-depends-on",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a resource must wait for another one, and nothing makes it wait",
    explanation: "\
CloudFormation creates resources in parallel unless a reference or `DependsOn` orders them. Some resources need \
another one that they do not name. Then the creation fails on some days and not on others, and so does the deletion, \
in the opposite order.

```yaml
Resources:
  Route:
    Type: AWS::EC2::Route
    Properties:
      GatewayId: !Ref Gateway   # must be attached first
  Attachment:
    Type: AWS::EC2::VPCGatewayAttachment
    Properties:
      InternetGatewayId: !Ref Gateway
```

Add `DependsOn: Attachment` to the route. `setpoint fix` does so.",
};

pub(crate) static CONDITIONAL_REFERENCE: About = About {
    name: "conditional-reference",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a resource refers to one that a condition removes",
    explanation: "\
When the condition is false the resource is not created, and what refers to it cannot be either: the stack fails for \
that choice of parameters.

```yaml
Resources:
  Key:
    Type: AWS::KMS::Key
    Condition: Encrypt
  Bucket:
    Type: AWS::S3::Bucket
    Properties:
      KmsKey: !Ref Key
```

Give both the same condition, or choose with `!If [Encrypt, !Ref Key, !Ref AWS::NoValue]`.",
};

pub(crate) static REDUNDANT_DEPENDS_ON: About = About {
    name: "redundant-depends-on",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Defect,
    summary: "a `DependsOn` repeats what a reference says already",
    explanation: "\
A reference makes CloudFormation wait. The `DependsOn` beside it changes nothing and can be removed.",
};

pub(crate) static NEVER_SIGNALLED: About = About {
    name: "never-signalled",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "a resource waits for a signal that nothing in the template sends",
    explanation: "\
A `CreationPolicy` or a wait condition makes CloudFormation wait for signals. Nothing in the template seems to send \
one: no `cfn-signal`, no use of the handle. Then the creation ends with a time-out and is rolled back.

Send the signal at the end of the user data: `cfn-signal --stack … --resource … --region …`.",
};

pub(crate) static DELETION_BLOCKED: About = About {
    name: "deletion-blocked",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "a resource that is kept keeps another one from being deleted",
    explanation: "\
With `DeletionPolicy: Retain` a resource stays when the stack is deleted. What it still uses cannot be deleted then, \
and the deletion of the stack fails: a subnet group with an instance in it, a security group in use.

Keep both, or delete both.",
};

pub(crate) static NAME_TAKEN: About = About {
    name: "name-taken",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a resource is created with a name that another one has",
    explanation: "\
A custom name can be taken once. Two resources of one template cannot share it. And when an update must replace a \
named resource, CloudFormation creates the new one before it deletes the old one, so the name is still taken: the \
update fails and is rolled back. `setpoint diff OLD NEW` finds that.

```yaml
Resources:
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: orders          # the same as before
      KeySchema: [{ AttributeName: id, KeyType: HASH }]   # changed: needs a replacement
```

Change the name in the same update, or leave it out: then CloudFormation makes up a name.",
};

pub(crate) static TYPE_CHANGED: About = About {
    name: "type-changed",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "an update gives a resource another type",
    explanation: "\
The type of a resource cannot be changed. CloudFormation refuses the update: update of resource type is not permitted.

Give the new resource another logical name; the old one is then deleted in the clean-up.",
};

pub(crate) static EXPORT_CHANGED: About = About {
    name: "export-changed",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "an update removes or changes an export that other stacks may import",
    explanation: "\
As long as another stack imports an export, it can be neither removed nor changed: the update fails. Nothing is \
wrong if no stack imports it.

Add an export of another name, move the importing stacks to it, and only then remove the old one.",
};

pub(crate) static OWN_IMPORT: About = About {
    name: "own-import",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a template imports what it exports itself",
    explanation: "\
An export is there only when its stack is complete. A resource of the same stack that imports it cannot be created: \
no export of that name is found.

```yaml
Resources:
  Rule:
    Type: AWS::EC2::SecurityGroupIngress
    Properties:
      GroupId: !ImportValue web-group
Outputs:
  Group:
    Value: !Ref Group
    Export: { Name: web-group }
```

Refer to the resource: `!Ref Group`.",
};

pub(crate) static ROLLING_UPDATE_BLOCKED: About = About {
    name: "rolling-update-blocked",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a rolling update leaves no instance that may be replaced",
    explanation: "\
During a rolling update `MinInstancesInService` instances stay in service, and `MaxSize` is never passed. If the \
first is not less than the second, CloudFormation refuses the update.

```yaml
UpdatePolicy:
  AutoScalingRollingUpdate:
    MinInstancesInService: 2   # with `MaxSize: 2`
```

Lower `MinInstancesInService`, or raise `MaxSize`.",
};

pub(crate) static KEPT_NAME: About = About {
    name: "kept-name",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Defect,
    summary: "a named resource stays when its creation is rolled back",
    explanation: "\
With `DeletionPolicy: Retain` a resource stays even when the creation of its stack is rolled back. If its name is \
fixed, the next creation of the stack fails, because the name is taken.

`DeletionPolicy: RetainExceptOnCreate` keeps it later, and removes it when its creation is rolled back.",
};

pub(crate) static NESTED_STACK: About = About {
    name: "nested-stack",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Open,
    summary: "a nested stack does not fit the template that it names",
    explanation: "\
The template asks for an output that the nested template does not have, gives a parameter that it does not take, or \
leaves out one that it needs. The stack fails when it comes to the nested one.",
};

pub(crate) static NOT_MODELLED: About = About {
    name: "not-modelled",
    aliases: &[],
    severity: Severity::Note,
    class: Class::Open,
    summary: "something in the input has no model",
    explanation: "\
In CloudFormation. A macro, a module or an unknown transform may add or change resources when the stack is deployed. \
Setpoint checks what the template says before that, and names what it cannot see.

In TOSCA. A macro, a module, an import from elsewhere or an unknown type may add to what the input says. Setpoint \
checks what it can see, and names what it cannot.

In a trace of µPuppet. The manifest goes on with what the fragment does not have, such as a function or a type of a \
parameter. The trace shows what comes before it.",
};

pub(crate) static UNKNOWN_TYPE: About = About {
    name: "unknown-type",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "a node or relationship has a type that is not defined",
    explanation: "\
The type is neither normative nor defined in the template or its imports, so nothing is known of its requirements \
and capabilities.

```yaml
node_templates:
  server:
    type: tosca.nodes.Computer
```

Mend the name, or import the file that defines the type.",
};

pub(crate) static UNSATISFIED_REQUIREMENT: About = About {
    name: "unsatisfied-requirement",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a requirement has nothing that fulfils it",
    explanation: "\
A requirement names a node that does not exist, or one that has no capability that fits. The topology cannot be \
deployed.

```yaml
node_templates:
  app:
    type: tosca.nodes.WebApplication
    requirements:
      - host: web_server   # there is no such node
```

Name a node of the topology that has the capability.",
};

pub(crate) static WRONG_HOST: About = About {
    name: "wrong-host",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a node is hosted on one that cannot host it",
    explanation: "\
The host has no capability of the type that the requirement wants, or its capability does not take nodes of this type.

```yaml
node_templates:
  dbms:
    type: tosca.nodes.DBMS
  app:
    type: tosca.nodes.WebApplication
    requirements:
      - host: dbms
```

Host it on a node of a type that takes it.",
};

pub(crate) static TOPOLOGY_STRUCTURE: About = About {
    name: "topology-structure",
    aliases: &[],
    severity: Severity::Warning,
    class: Class::Defect,
    summary: "a topology breaks a structural constraint",
    explanation: "\
A relationship leads from a node to itself (an error); a node is hosted on two nodes, or a capability or requirement \
is used more often than its type allows (a warning); a dependency leads to another machine, or a connection stays on \
the same one (a note: the rules of set-up take dependencies for local and connections for remote).

```yaml
node_templates:
  app:
    type: tosca.nodes.SoftwareComponent
    requirements:
      - host: one
      - host: two
```

Host each node on one node, and join different nodes.",
};

pub(crate) static SUBSTITUTION_MAPPING: About = About {
    name: "substitution-mapping",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Defect,
    summary: "a topology does not fit the node that it stands for",
    explanation: "\
`substitution_mappings` says which node of the topology has each capability and requirement of the type that the \
topology stands for, and which input gets each property. Here a name is mapped that the type, the topology or the \
node does not have, or the types do not fit.

```yaml
substitution_mappings:
  node_type: my.Database
  capabilities:
    endpoint: [ databse, database_endpoint ]   # there is no such node
```

Mend the name, or map another node.",
};

pub(crate) static MISSING_IMPORT: About = About {
    name: "missing-import",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Open,
    summary: "a file that a template imports cannot be read",
    explanation: "\
Imports are read from the folder of the importing file or from its archive; nothing is fetched.",
};

pub(crate) static BAD_ARCHIVE: About = About {
    name: "bad-archive",
    aliases: &[],
    severity: Severity::Error,
    class: Class::Open,
    summary: "a CSAR archive cannot be read",
    explanation: "\
The archive is not a ZIP file, or names no service template that it holds. A CSAR has either \
`TOSCA-Metadata/TOSCA.meta` with `Entry-Definitions`, or one YAML file at its top.",
};
