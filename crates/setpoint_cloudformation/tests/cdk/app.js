// Thirty stacks as people write them, twenty of them with a network of their own. `node app.js FOLDER` synthesises them.
const cdk = require('aws-cdk-lib');
const {
  aws_ec2: ec2, aws_ecs: ecs, aws_ecs_patterns: patterns, aws_elasticloadbalancingv2: elb, aws_rds: rds, aws_lambda: lambda,
  aws_s3: s3, aws_sqs: sqs, aws_sns: sns, aws_sns_subscriptions: subscriptions, aws_dynamodb: dynamodb, aws_apigateway: api,
  aws_events: events, aws_events_targets: targets, aws_iam: iam, aws_efs: efs, aws_autoscaling: autoscaling, aws_logs: logs,
  aws_stepfunctions: steps, aws_cloudfront: cloudfront, aws_cloudfront_origins: origins, aws_elasticache: cache, aws_kms: kms,
  aws_s3_notifications: notifications, aws_apigatewayv2: http, aws_cognito: cognito, aws_lambda_event_sources: sources,
} = cdk;

const app = new cdk.App({ outdir: process.argv[2], analyticsReporting: false });
const stack = (name, build) => build(new cdk.Stack(app, name));
const code = lambda.Code.fromInline('exports.handler = async () => {};');
const fn = (scope, id, more = {}) =>
  new lambda.Function(scope, id, { runtime: lambda.Runtime.NODEJS_22_X, handler: 'index.handler', code, ...more });

// With a network.
stack('VpcPlain', (s) => new ec2.Vpc(s, 'Vpc'));
stack('VpcOneNat', (s) => new ec2.Vpc(s, 'Vpc', { natGateways: 1 }));
stack('VpcNoNat', (s) => new ec2.Vpc(s, 'Vpc', { natGateways: 0 }));
stack('VpcIsolated', (s) => new ec2.Vpc(s, 'Vpc', {
  natGateways: 0, subnetConfiguration: [{ name: 'data', subnetType: ec2.SubnetType.PRIVATE_ISOLATED }],
}));
stack('VpcEndpoints', (s) => {
  const vpc = new ec2.Vpc(s, 'Vpc');
  vpc.addGatewayEndpoint('S3', { service: ec2.GatewayVpcEndpointAwsService.S3 });
  vpc.addInterfaceEndpoint('Sqs', { service: ec2.InterfaceVpcEndpointAwsService.SQS });
});
stack('VpcFlowLogs', (s) => new ec2.Vpc(s, 'Vpc', { flowLogs: { all: {} } }));
stack('VpcDualStack', (s) => new ec2.Vpc(s, 'Vpc', { ipProtocol: ec2.IpProtocol.DUAL_STACK }));
stack('VpcThreeZones', (s) => new ec2.Vpc(s, 'Vpc', { maxAzs: 3 }));
stack('Bastion', (s) => new ec2.BastionHostLinux(s, 'Bastion', { vpc: new ec2.Vpc(s, 'Vpc') }));
stack('Instance', (s) => {
  const vpc = new ec2.Vpc(s, 'Vpc', { natGateways: 0 });
  const instance = new ec2.Instance(s, 'Server', {
    vpc, vpcSubnets: { subnetType: ec2.SubnetType.PUBLIC }, associatePublicIpAddress: true,
    instanceType: ec2.InstanceType.of(ec2.InstanceClass.T3, ec2.InstanceSize.MICRO),
    machineImage: ec2.MachineImage.latestAmazonLinux2023(),
  });
  instance.connections.allowFromAnyIpv4(ec2.Port.tcp(443));
  new ec2.CfnEIP(s, 'Address', { instanceId: instance.instanceId });
});
stack('WebGroup', (s) => {
  const vpc = new ec2.Vpc(s, 'Vpc');
  const group = new autoscaling.AutoScalingGroup(s, 'Group', {
    vpc, instanceType: new ec2.InstanceType('t3.micro'), machineImage: ec2.MachineImage.latestAmazonLinux2023(),
  });
  const balancer = new elb.ApplicationLoadBalancer(s, 'Balancer', { vpc, internetFacing: true });
  balancer.addListener('Http', { port: 80 }).addTargets('Web', { port: 80, targets: [group] });
});
stack('Fargate', (s) => new patterns.ApplicationLoadBalancedFargateService(s, 'Service', {
  vpc: new ec2.Vpc(s, 'Vpc'), taskImageOptions: { image: ecs.ContainerImage.fromRegistry('nginx') },
}));
stack('FargateNetwork', (s) => new patterns.NetworkLoadBalancedFargateService(s, 'Service', {
  vpc: new ec2.Vpc(s, 'Vpc'), taskImageOptions: { image: ecs.ContainerImage.fromRegistry('nginx') },
}));
stack('ClusterOnInstances', (s) => {
  const cluster = new ecs.Cluster(s, 'Cluster', { vpc: new ec2.Vpc(s, 'Vpc') });
  cluster.addCapacity('Capacity', { instanceType: new ec2.InstanceType('t3.small') });
});
stack('Database', (s) => new rds.DatabaseInstance(s, 'Database', {
  vpc: new ec2.Vpc(s, 'Vpc'), engine: rds.DatabaseInstanceEngine.postgres({ version: rds.PostgresEngineVersion.VER_16 }),
}));
stack('Aurora', (s) => new rds.DatabaseCluster(s, 'Cluster', {
  vpc: new ec2.Vpc(s, 'Vpc'), writer: rds.ClusterInstance.serverlessV2('Writer'),
  engine: rds.DatabaseClusterEngine.auroraPostgres({ version: rds.AuroraPostgresEngineVersion.VER_16_4 }),
}));
stack('FunctionInNetwork', (s) => fn(s, 'Function', { vpc: new ec2.Vpc(s, 'Vpc') }));
stack('FileSystem', (s) => {
  const vpc = new ec2.Vpc(s, 'Vpc');
  const point = new efs.FileSystem(s, 'Files', { vpc }).addAccessPoint('Point', {
    path: '/data', createAcl: { ownerUid: '1000', ownerGid: '1000', permissions: '750' }, posixUser: { uid: '1000', gid: '1000' },
  });
  fn(s, 'Function', { vpc, filesystem: lambda.FileSystem.fromEfsAccessPoint(point, '/mnt/data') });
});
stack('Cache', (s) => {
  const vpc = new ec2.Vpc(s, 'Vpc');
  const group = new cache.CfnSubnetGroup(s, 'Subnets', {
    description: 'cache', subnetIds: vpc.privateSubnets.map((subnet) => subnet.subnetId),
  });
  new cache.CfnCacheCluster(s, 'Cache', {
    engine: 'redis', cacheNodeType: 'cache.t3.micro', numCacheNodes: 1, cacheSubnetGroupName: group.ref,
  });
});
stack('ServiceDiscovery', (s) => {
  const cluster = new ecs.Cluster(s, 'Cluster', { vpc: new ec2.Vpc(s, 'Vpc'), defaultCloudMapNamespace: { name: 'local' } });
  const task = new ecs.FargateTaskDefinition(s, 'Task');
  task.addContainer('Web', { image: ecs.ContainerImage.fromRegistry('nginx'), portMappings: [{ containerPort: 80 }] });
  new ecs.FargateService(s, 'Service', { cluster, taskDefinition: task, cloudMapOptions: { name: 'web' } });
});

// Without.
stack('QueueAndFunction', (s) => {
  const queue = new sqs.Queue(s, 'Queue', { deadLetterQueue: { queue: new sqs.Queue(s, 'Dead'), maxReceiveCount: 3 } });
  fn(s, 'Function').addEventSource(new sources.SqsEventSource(queue));
});
stack('Topic', (s) => {
  const topic = new sns.Topic(s, 'Topic', { masterKey: new kms.Key(s, 'Key') });
  topic.addSubscription(new subscriptions.SqsSubscription(new sqs.Queue(s, 'Queue')));
  topic.addSubscription(new subscriptions.LambdaSubscription(fn(s, 'Function')));
});
stack('RestApi', (s) => {
  const table = new dynamodb.Table(s, 'Table', { partitionKey: { name: 'id', type: dynamodb.AttributeType.STRING } });
  const handler = fn(s, 'Function', { environment: { TABLE: table.tableName } });
  table.grantReadWriteData(handler);
  new api.LambdaRestApi(s, 'Api', { handler });
});
stack('RestApiWithUsers', (s) => {
  const pool = new cognito.UserPool(s, 'Users');
  pool.addClient('Client');
  const authorizer = new api.CognitoUserPoolsAuthorizer(s, 'Authorizer', { cognitoUserPools: [pool] });
  const rest = new api.RestApi(s, 'Api');
  rest.root.addResource('items').addMethod('GET', new api.LambdaIntegration(fn(s, 'Function')), { authorizer });
});
stack('HttpApi', (s) => new http.HttpApi(s, 'Api'));
stack('BucketNotification', (s) => {
  const bucket = new s3.Bucket(s, 'Bucket');
  bucket.addEventNotification(s3.EventType.OBJECT_CREATED, new notifications.SqsDestination(new sqs.Queue(s, 'Queue')));
});
stack('Site', (s) => new cloudfront.Distribution(s, 'Site', {
  defaultBehavior: { origin: origins.S3BucketOrigin.withOriginAccessControl(new s3.Bucket(s, 'Bucket')) },
}));
stack('Schedule', (s) => new events.Rule(s, 'Rule', {
  schedule: events.Schedule.rate(cdk.Duration.hours(1)), targets: [new targets.LambdaFunction(fn(s, 'Function'))],
}));
stack('StateMachine', (s) => new steps.StateMachine(s, 'Machine', {
  definitionBody: steps.DefinitionBody.fromChainable(new steps.Pass(s, 'Pass')),
  logs: { destination: new logs.LogGroup(s, 'Log') },
}));
stack('Roles', (s) => {
  const role = new iam.Role(s, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
  new s3.Bucket(s, 'Bucket').grantRead(role);
  fn(s, 'Function', { role });
});
app.synth();
