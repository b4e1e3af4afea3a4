//! Pools of users.

use setpoint_source::{Severity, Symbol};

use super::{Concern, Hazard, Wait};
use crate::template::Resource;
use crate::value::Value;

pub(super) static PROVIDER: Hazard = Hazard {
    name: "client-provider",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "A client can support only identity providers that its pool has. If the provider comes later, the creation of the client \
          fails: the provider does not exist for the user pool.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cognito-userpoolclient.html",
    find: |stack, out| {
        let pool = |one: &Resource| one.property(&["UserPoolId"]).and_then(Value::reference);
        for client in stack.of_kind("AWS::Cognito::UserPoolClient") {
            let named =
                client.property(&["SupportedIdentityProviders"]).map(Value::items).unwrap_or_default();
            for name in named.iter().filter_map(Value::text) {
                let has_name = |one: &&Resource| {
                    pool(one).is_some()
                        && pool(one) == pool(client)
                        && one.property(&["ProviderName"]).and_then(Value::text) == Some(name)
                };
                let providers = stack.of_kind("AWS::Cognito::UserPoolIdentityProvider");
                let any_of: Vec<Symbol> = providers.filter(has_name).map(|one| one.name).collect();
                if !any_of.is_empty() {
                    let because = format!("supports the identity provider `{name}`");
                    out.push(Wait { consumer: client.name, any_of, because });
                }
            }
        }
    },
};
