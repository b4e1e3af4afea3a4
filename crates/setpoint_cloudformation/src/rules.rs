//! The rules of CloudFormation templates.

use setpoint_source::{Rule, Severity};

pub(crate) static MALFORMED: Rule = Rule {
    name: "malformed-template",
    severity: Severity::Error,
    summary: "a part of a template has not the shape that CloudFormation wants",
    explanation: "CloudFormation refuses the template before it creates anything.\n\n\
                  ```yaml\nResources:\n  Bucket:\n    Properties: {}\n```\n\n\
                  Here the resource has no `Type`. Give each resource a type.",
};

pub(crate) static UNKNOWN_REFERENCE: Rule = Rule {
    name: "unknown-reference",
    severity: Severity::Error,
    summary: "a template refers to a name that it does not define",
    explanation: "`Ref`, `Fn::GetAtt`, `Fn::Sub` and `DependsOn` name resources and parameters of the same template. \
                  CloudFormation refuses a template with a name that is neither.\n\n\
                  ```yaml\nResources:\n  Subnet:\n    Type: AWS::EC2::Subnet\n    Properties:\n      VpcId: !Ref Vcp\n```\n\n\
                  Mend the name, or define what it names.",
};

pub(crate) static DEPENDENCY_CYCLE: Rule = Rule {
    name: "dependency-cycle",
    severity: Severity::Error,
    summary: "resources wait for each other in a circle",
    explanation: "Each of the resources is created only after the next one, so none can be the first. The template is \
                  refused, or fails for the choice of parameters that the finding names.\n\n\
                  ```yaml\nResources:\n  A:\n    Type: AWS::EC2::SecurityGroup\n    Properties:\n      SecurityGroupIngress:\n        - SourceSecurityGroupId: !Ref B\n  B:\n    Type: AWS::EC2::SecurityGroup\n    Properties:\n      SecurityGroupIngress:\n        - SourceSecurityGroupId: !Ref A\n```\n\n\
                  Break the circle: move one of the references into a resource of its own, which is created after both.",
};

pub(crate) static MISSING_DEPENDS_ON: Rule = Rule {
    name: "missing-depends-on",
    severity: Severity::Error,
    summary: "a resource must wait for another one, and nothing makes it wait",
    explanation: "CloudFormation creates resources in parallel unless a reference or `DependsOn` orders them. Some resources \
                  need another one that they do not name. Then the creation fails on some days and not on others, and so \
                  does the deletion, in the opposite order.\n\n\
                  ```yaml\nResources:\n  Route:\n    Type: AWS::EC2::Route\n    Properties:\n      GatewayId: !Ref Gateway   # must be attached first\n  Attachment:\n    Type: AWS::EC2::VPCGatewayAttachment\n    Properties:\n      InternetGatewayId: !Ref Gateway\n```\n\n\
                  Add `DependsOn: Attachment` to the route. `setpoint fix` does so.",
};

pub(crate) static CONDITIONAL_REFERENCE: Rule = Rule {
    name: "conditional-reference",
    severity: Severity::Error,
    summary: "a resource refers to one that a condition removes",
    explanation: "When the condition is false the resource is not created, and what refers to it cannot be either: the stack \
                  fails for that choice of parameters.\n\n\
                  ```yaml\nResources:\n  Key:\n    Type: AWS::KMS::Key\n    Condition: Encrypt\n  Bucket:\n    Type: AWS::S3::Bucket\n    Properties:\n      KmsKey: !Ref Key\n```\n\n\
                  Give both the same condition, or choose with `!If [Encrypt, !Ref Key, !Ref AWS::NoValue]`.",
};

pub(crate) static REDUNDANT_DEPENDS_ON: Rule = Rule {
    name: "redundant-depends-on",
    severity: Severity::Note,
    summary: "a `DependsOn` repeats what a reference says already",
    explanation: "A reference makes CloudFormation wait. The `DependsOn` beside it changes nothing and can be removed.",
};

pub(crate) static DEADLOCK: Rule = Rule {
    name: "deadlock",
    severity: Severity::Error,
    summary: "a wait condition waits for a signal of a resource that waits for it",
    explanation: "A wait condition is complete when it has its signals. If every resource that could send one is created only \
                  after the wait condition, no signal ever comes: the stack stops, and is rolled back when the time is over.\n\n\
                  ```yaml\nResources:\n  Handle:\n    Type: AWS::CloudFormation::WaitConditionHandle\n  Ready:\n    Type: AWS::CloudFormation::WaitCondition\n    Properties: { Handle: !Ref Handle, Timeout: '600' }\n  Server:\n    Type: AWS::EC2::Instance\n    DependsOn: Ready\n    Properties:\n      UserData: !Base64 { 'Fn::Sub': 'curl -X PUT ${Handle}' }\n```\n\n\
                  Let the wait condition depend on the server, and not the other way round.",
};

pub(crate) static NEVER_SIGNALLED: Rule = Rule {
    name: "never-signalled",
    severity: Severity::Warning,
    summary: "a resource waits for a signal that nothing in the template sends",
    explanation: "A `CreationPolicy` or a wait condition makes CloudFormation wait for signals. Nothing in the template seems to \
                  send one: no `cfn-signal`, no use of the handle. Then the creation ends with a time-out and is rolled back.\n\n\
                  Send the signal at the end of the user data: `cfn-signal --stack … --resource … --region …`.",
};

pub(crate) static DELETION_BLOCKED: Rule = Rule {
    name: "deletion-blocked",
    severity: Severity::Warning,
    summary: "a resource that is kept keeps another one from being deleted",
    explanation: "With `DeletionPolicy: Retain` a resource stays when the stack is deleted. What it still uses cannot be deleted \
                  then, and the deletion of the stack fails: a subnet group with an instance in it, a security group in use.\n\n\
                  Keep both, or delete both.",
};

pub(crate) static NAME_TAKEN: Rule = Rule {
    name: "name-taken",
    severity: Severity::Error,
    summary: "a resource is created with a name that another one has",
    explanation: "A custom name can be taken once. Two resources of one template cannot share it. And when an update must replace a \
                  named resource, CloudFormation creates the new one before it deletes the old one, so the name is still taken: \
                  the update fails and is rolled back. `setpoint diff OLD NEW` finds that.\n\n\
                  ```yaml\nResources:\n  Table:\n    Type: AWS::DynamoDB::Table\n    Properties:\n      TableName: orders          # the same as before\n      KeySchema: [{ AttributeName: id, KeyType: HASH }]   # changed: needs a replacement\n```\n\n\
                  Change the name in the same update, or leave it out: then CloudFormation makes up a name.",
};

pub(crate) static TYPE_CHANGED: Rule = Rule {
    name: "type-changed",
    severity: Severity::Error,
    summary: "an update gives a resource another type",
    explanation: "The type of a resource cannot be changed. CloudFormation refuses the update: update of resource type is not \
                  permitted.\n\nGive the new resource another logical name; the old one is then deleted in the clean-up.",
};

pub(crate) static EXPORT_CHANGED: Rule = Rule {
    name: "export-changed",
    severity: Severity::Warning,
    summary: "an update removes or changes an export that other stacks may import",
    explanation: "As long as another stack imports an export, it can be neither removed nor changed: the update fails. Nothing is \
                  wrong if no stack imports it.\n\n\
                  Add an export of another name, move the importing stacks to it, and only then remove the old one.",
};

pub(crate) static OWN_IMPORT: Rule = Rule {
    name: "own-import",
    severity: Severity::Error,
    summary: "a template imports what it exports itself",
    explanation: "An export is there only when its stack is complete. A resource of the same stack that imports it cannot be \
                  created: no export of that name is found.\n\n\
                  ```yaml\nResources:\n  Rule:\n    Type: AWS::EC2::SecurityGroupIngress\n    Properties:\n      GroupId: !ImportValue web-group\nOutputs:\n  Group:\n    Value: !Ref Group\n    Export: { Name: web-group }\n```\n\n\
                  Refer to the resource: `!Ref Group`.",
};

pub(crate) static ROLLING_UPDATE: Rule = Rule {
    name: "rolling-update-blocked",
    severity: Severity::Error,
    summary: "a rolling update leaves no instance that may be replaced",
    explanation: "During a rolling update `MinInstancesInService` instances stay in service, and `MaxSize` is never passed. If the \
                  first is not less than the second, CloudFormation refuses the update.\n\n\
                  ```yaml\nUpdatePolicy:\n  AutoScalingRollingUpdate:\n    MinInstancesInService: 2   # with `MaxSize: 2`\n```\n\n\
                  Lower `MinInstancesInService`, or raise `MaxSize`.",
};

pub(crate) static KEPT_NAME: Rule = Rule {
    name: "kept-name",
    severity: Severity::Note,
    summary: "a named resource stays when its creation is rolled back",
    explanation: "With `DeletionPolicy: Retain` a resource stays even when the creation of its stack is rolled back. If its name is \
                  fixed, the next creation of the stack fails, because the name is taken.\n\n\
                  `DeletionPolicy: RetainExceptOnCreate` keeps it later, and removes it when its creation is rolled back.",
};

pub(crate) static NESTED_STACK: Rule = Rule {
    name: "nested-stack",
    severity: Severity::Warning,
    summary: "a nested stack does not fit the template that it names",
    explanation: "The template asks for an output that the nested template does not have, gives a parameter that it does not \
                  take, or leaves out one that it needs. The stack fails when it comes to the nested one.",
};

pub(crate) static NOT_MODELLED: Rule = Rule {
    name: "not-modelled",
    severity: Severity::Note,
    summary: "a part of a template is known only by its references",
    explanation: "A macro, a module or an unknown transform may add or change resources when the stack is deployed. Setpoint \
                  checks what the template says before that, and names what it cannot see.",
};

pub static RULES: &[&Rule] = &[
    &MALFORMED,
    &UNKNOWN_REFERENCE,
    &DEPENDENCY_CYCLE,
    &MISSING_DEPENDS_ON,
    &CONDITIONAL_REFERENCE,
    &REDUNDANT_DEPENDS_ON,
    &DEADLOCK,
    &NEVER_SIGNALLED,
    &DELETION_BLOCKED,
    &NAME_TAKEN,
    &TYPE_CHANGED,
    &EXPORT_CHANGED,
    &OWN_IMPORT,
    &ROLLING_UPDATE,
    &KEPT_NAME,
    &NESTED_STACK,
    &NOT_MODELLED,
];
