//! The adapter for rspec-puppet on a module of its own: Puppet and `setpoint serve` compile each catalog, and both must agree.
//! Without Ruby or rspec-puppet there is nothing to compare with.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::Output;

const MANIFEST: &str = r#"
class demo (Integer $port = 80, String $root = '/srv') {
  if $port == 1 { fail('port one is taken') }
  file { $root: ensure => directory }
  -> file { "${root}/conf": content => template('demo/conf.erb') }
  notify { "on ${facts['os']['family']}": }
}
"#;

const HELPER: &str = r"
require 'rspec-puppet'
require 'rspec-puppet/setpoint'
RSpec.configure do |config|
  config.module_path = File.expand_path('fixtures/modules', __dir__)
  config.mock_with :rspec
end
";

const SPEC: &str = r#"
require 'spec_helper'
describe 'demo' do
  let(:facts) { { 'os' => { 'family' => 'Debian' } } }
  it { is_expected.to compile.with_all_deps }
  it { is_expected.to contain_file('/srv/conf').with_content("port 80\n").that_requires('File[/srv]') }
  it { is_expected.to contain_notify('on Debian') }
  context 'with another port' do
    let(:params) { { 'port' => 8080 } }
    it { is_expected.to contain_file('/srv/conf').with_content("port 8080\n") }
  end
  context 'refused by the code' do
    let(:params) { { 'port' => 1 } }
    it { is_expected.to compile.and_raise_error(/port one is taken/) }
  end
  context 'of a wrong type' do
    let(:params) { { 'port' => 'x' } }
    it { is_expected.to compile.and_raise_error(/parameter 'port' expects an Integer value, got String/) }
  end
  context 'with something stubbed' do
    before { allow(File).to receive(:world_readable?) }
    let(:params) { { 'port' => 3 } }
    it { is_expected.to compile }
  end
end
"#;

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn ruby(folder: &Path, arguments: &[&str], mode: &str) -> Option<Output> {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations/rspec-puppet/lib");
    let mut command = setpoint_testing::ruby();
    command.current_dir(folder).arg("-I").arg(library).args(["-I", "spec"]).args(arguments);
    command.env("SETPOINT", env!("CARGO_BIN_EXE_setpoint")).env("SETPOINT_RSPEC", mode);
    command.output().ok()
}

#[test]
fn a_suite_passes_by_setpoint_and_both_agree() {
    let folder = Folder(std::env::temp_dir().join(format!("setpoint-rspec-{}", std::process::id())));
    let module = folder.0.join("spec/fixtures/modules/demo");
    for (path, text) in [
        (module.join("manifests/init.pp"), MANIFEST),
        (module.join("templates/conf.erb"), "port <%= @port %>\n"),
        (folder.0.join("spec/spec_helper.rb"), HELPER),
        (folder.0.join("spec/classes/demo_spec.rb"), SPEC),
    ] {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let has_oracle = ruby(&folder.0, &["-e", "require 'rspec-puppet'; require 'puppet'"], "off");
    if !has_oracle.is_some_and(|output| output.status.success()) {
        eprintln!("skipped: there is no rspec-puppet here");
        return;
    }
    let runner = "require 'rspec/core'; exit RSpec::Core::Runner.run(ARGV)";
    for mode in ["off", "on", "verify"] {
        let output = ruby(&folder.0, &["-e", runner, "spec/classes"], mode).expect("ruby runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{mode}: {text}{told}");
        assert!(text.contains("7 examples, 0 failures"), "{mode}: {text}");
        let counts = mode != "off";
        assert_eq!(told.contains("4 compiled by setpoint"), counts, "{mode}: {told}");
        assert_eq!(told.contains("1 something is stubbed"), counts, "{mode}: {told}");
    }
}
