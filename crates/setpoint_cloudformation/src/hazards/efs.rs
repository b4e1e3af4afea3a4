//! File systems.

use setpoint_source::Severity;

use super::{Concern, Hazard, Wait};
use crate::graph::Stack;
use crate::template::Resource;
use crate::value::Value;

pub(super) static MOUNT_TARGET: Hazard = Hazard {
    name: "function-file-system",
    severity: Severity::Error,
    concerns: Concern::Creation,
    why: "A function mounts a file system through its mount targets. If it is created before them, its creation fails.",
    page: "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-lambda-function.html",
    find: |stack, out| {
        for function in
            stack.of_kind("AWS::Lambda::Function").chain(stack.of_kind("AWS::Serverless::Function"))
        {
            let Some(configs) = function.property(&["FileSystemConfigs"]) else { continue };
            for file_system in file_systems(stack, configs) {
                for target in stack.of_kind("AWS::EFS::MountTarget") {
                    if stack
                        .referred(target.property(&["FileSystemId"]), "AWS::EFS::FileSystem")
                        .map(|one| one.name)
                        == Some(file_system.name)
                    {
                        let because = format!("mounts the file system `{}`", file_system.name);
                        out.push(Wait { consumer: function.name, any_of: vec![target.name], because });
                    }
                }
            }
        }
    },
};

/// The file systems behind the access points that a function names.
fn file_systems<'a>(stack: &Stack<'a>, configs: &Value) -> Vec<&'a Resource> {
    let mut out = stack.all_referred(Some(configs), "AWS::EFS::FileSystem");
    for point in stack.all_referred(Some(configs), "AWS::EFS::AccessPoint") {
        out.extend(stack.referred(point.property(&["FileSystemId"]), "AWS::EFS::FileSystem"));
    }
    out.sort_by_key(|one| one.name);
    out.dedup_by_key(|one| one.name);
    out
}
