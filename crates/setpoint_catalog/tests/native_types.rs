//! The table of native types is what the installed Puppet says.

use std::path::Path;

#[test]
fn the_table_is_up_to_date() {
    let modules = Path::new("/usr/share/puppet/modules");
    if !setpoint_testing::puppet() || !modules.join("mount_core").is_dir() {
        setpoint_testing::skip("native types", "Puppet and its core modules are not installed");
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = folder.join("extract/native-types.rb");
    let run = setpoint_testing::ruby().arg(script).arg(modules).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let wanted = String::from_utf8(run.stdout).unwrap();
    let version = |text: &str| text.lines().next().map(str::to_owned);
    let kept = std::fs::read_to_string(folder.join("src/native/table.rs")).unwrap();
    if version(&wanted) != version(&kept) {
        setpoint_testing::skip("native types", "another version of Puppet is installed");
        return;
    }
    let difference = setpoint_testing::diff(&wanted, &kept);
    assert!(wanted == kept, "run extract/native-types.rb, or mend it:\n{difference}");
}
