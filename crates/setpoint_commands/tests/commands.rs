//! What commands do and ask. Many are from modules that people use.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

use setpoint_commands::{Condition, Step, Surroundings, Syntax, condition, effects, effects_of_words};
use setpoint_testing::Random;

fn srv() -> Surroundings<'static> {
    Surroundings::of(Some("/srv"))
}

fn text(text: &str) -> String {
    text.to_owned()
}

/// The steps of a command that is understood, run in /srv.
fn steps(command: &str) -> Vec<Step> {
    let found = effects(command, srv());
    assert!(found.understood, "{command}: {}", found.reason.unwrap());
    found.steps
}

/// The one step of a command.
fn step(command: &str) -> Step {
    let mut found = steps(command);
    assert_eq!(found.len(), 1, "{command}: {found:?}");
    found.remove(0)
}

fn stopped_at(command: &str) -> String {
    let found = effects(command, srv());
    assert!(!found.understood, "{command}: {:?}", found.steps);
    assert_eq!(found.steps, []);
    found.reason.unwrap().word
}

fn write(path: &str, content: &str, append: bool) -> Step {
    Step::Write { path: text(path), content: Some(text(content)), append }
}

#[test]
fn files_and_directories() {
    assert_eq!(step("/bin/touch /a"), Step::Touch(text("/a")));
    assert_eq!(step("touch 'a b' "), Step::Touch(text("/srv/a b")));
    assert_eq!(
        step("mkdir -p -m 0750 /x/./y/"),
        Step::Mkdir { path: text("/x/y"), parents: true, mode: Some(text("0750")) }
    );
    assert_eq!(step("rm -rf /a"), Step::Remove { path: text("/a"), recursive: true, force: true });
    assert_eq!(
        step("rm /etc/rsyslog.d/49-haproxy.conf"),
        Step::Remove { path: text("/etc/rsyslog.d/49-haproxy.conf"), recursive: false, force: false }
    );
    assert_eq!(
        step("cp -a /a /b"),
        Step::Copy { from: text("/a"), to: text("/b"), into: None, recursive: true }
    );
    assert_eq!(
        step("cp /a /b/"),
        Step::Copy { from: text("/a"), to: text("/b"), into: Some(true), recursive: false }
    );
    assert_eq!(step("mv -T a /b"), Step::Move { from: text("/srv/a"), to: text("/b"), into: Some(false) });
    assert_eq!(
        step("ln -sfn ../x /b"),
        Step::Link { target: text("../x"), path: text("/b"), symbolic: true, force: true, replaces: true }
    );
    assert_eq!(
        step("tar xzf /tmp/a.tgz -C /opt"),
        Step::Extract { archive: text("/tmp/a.tgz"), into: text("/opt") }
    );
    assert_eq!(
        step("/bin/tar --strip-components=1 -zxf /tmp/a.tgz --directory=/opt/a"),
        Step::Extract { archive: text("/tmp/a.tgz"), into: text("/opt/a") }
    );
    assert_eq!(
        step("chmod -R u+rwX,go-w /d"),
        Step::Chmod { path: text("/d"), mode: text("u+rwX,go-w"), recursive: true }
    );
    assert_eq!(step("chmod -x /d"), Step::Chmod { path: text("/d"), mode: text("-x"), recursive: false });
    assert_eq!(
        step("chown swift:swift /srv/node"),
        Step::Chown {
            path: text("/srv/node"),
            owner: Some(text("swift")),
            group: Some(text("swift")),
            recursive: false
        }
    );
    assert_eq!(
        step("chgrp -R adm /var/log/x"),
        Step::Chown { path: text("/var/log/x"), owner: None, group: Some(text("adm")), recursive: true }
    );
    assert_eq!(
        step("a2ensite -q x"),
        Step::And(vec![
            Step::Read(text("/etc/apache2/sites-available/x.conf")),
            Step::Link {
                target: text("../sites-available/x.conf"),
                path: text("/etc/apache2/sites-enabled/x.conf"),
                symbolic: true,
                force: true,
                replaces: true
            }
        ])
    );
    assert!(matches!(&step("rm -f a b"), Step::Each(both) if both.len() == 2));
    assert_eq!(steps("rmdir /home/repositories; ln -sf /data /home/repositories").len(), 2);
}

#[test]
fn writing() {
    assert_eq!(step("echo never > /sys/x"), write("/sys/x", "never\n", false));
    assert_eq!(step("echo 'a  b' c >> f 2>/dev/null"), write("/srv/f", "a  b c\n", true));
    assert_eq!(step("echo -n x >f"), write("/srv/f", "x", false));
    assert_eq!(step("printf '%s\\n' \"it's\" > f"), write("/srv/f", "it's\n", false));
    assert_eq!(step("printf 'a\\nb' > f"), write("/srv/f", "a\nb", false));
    assert_eq!(step("> f"), write("/srv/f", "", false));
    assert_eq!(
        step("true > f"),
        Step::And(vec![write("/srv/f", "", false), Step::Guard(Condition::Constant(true))])
    );
    assert_eq!(step("echo x | tee -a /etc/hosts >/dev/null"), write("/etc/hosts", "x\n", true));
    assert_eq!(
        step("echo \"$HOSTNAME\" > /etc/x"),
        Step::Write { path: text("/etc/x"), content: None, append: false }
    );
    assert_eq!(step("echo 'a\\tb' > f"), Step::Write { path: text("/srv/f"), content: None, append: false });
    assert_eq!(
        step("cat /a > /b"),
        Step::And(vec![
            write("/b", "", false),
            Step::Read(text("/a")),
            Step::Fill { from: text("/a"), to: text("/b") }
        ])
    );
    assert_eq!(
        step("curl -sL -o x http://a/b"),
        Step::Fetch { path: text("/srv/x"), address: text("http://a/b") }
    );
    assert_eq!(
        step("wget -q http://a/b.tgz -O /opt/b"),
        Step::Fetch { path: text("/opt/b"), address: text("http://a/b.tgz") }
    );
    assert_eq!(
        step("wget http://a/b.tgz"),
        Step::Fetch { path: text("/srv/b.tgz"), address: text("http://a/b.tgz") }
    );
    assert_eq!(stopped_at("wget -P /opt http://a/b"), "wget");
    assert_eq!(
        step("sed -i -e 's/a/b/' -e '/^#/d' /etc/x"),
        Step::EditFile { path: text("/etc/x"), program: text("s/a/b/\n/^#/d"), extended: false }
    );
    assert_eq!(
        step("sed -e '/^## BEGIN/,/^## END ##/ d' -i /etc/x"),
        Step::EditFile { path: text("/etc/x"), program: text("/^## BEGIN/,/^## END ##/ d"), extended: false }
    );
    assert_eq!(stopped_at("sed -i.bak s/a/b/ /etc/x"), "-i.bak");
    assert_eq!(stopped_at("sed -i 's/a/b/w /tmp/other' /etc/x"), "sed");
}

#[test]
fn packages_services_users() {
    assert_eq!(
        step(
            "DEBIAN_FRONTEND=noninteractive apt-get -y -o Dpkg::Options::=--force-confold install vim:amd64 git=1:2.1"
        ),
        Step::And(vec![Step::InstallPackage(text("vim:amd64")), Step::InstallPackage(text("git=1:2.1"))])
    );
    assert_eq!(step("/usr/bin/apt-get update -qq"), Step::UpdatePackageLists);
    assert_eq!(step("apt-get purge -y x"), Step::RemovePackage { name: text("x"), purge: true });
    assert_eq!(step("yum -y -d 0 -e 0 install httpd"), Step::InstallPackage(text("httpd")));
    assert_eq!(step("systemctl daemon-reload"), Step::ReloadUnits);
    assert_eq!(
        step("/usr/bin/systemctl restart xinetd.service"),
        Step::Service { name: text("xinetd"), action: text("restart") }
    );
    assert_eq!(
        step("systemctl enable --now foo.timer"),
        Step::And(vec![
            Step::Service { name: text("foo.timer"), action: text("enable") },
            Step::Service { name: text("foo.timer"), action: text("start") }
        ])
    );
    assert_eq!(
        step("service postgresql stop"),
        Step::Service { name: text("postgresql"), action: text("stop") }
    );
    assert_eq!(
        step("/etc/init.d/nginx reload"),
        Step::Service { name: text("nginx"), action: text("reload") }
    );
    assert_eq!(
        step("useradd -r -m -d /var/lib/x -g daemon -G adm,www-data -s /bin/false x"),
        Step::CreateUser {
            name: text("x"),
            group: Some(text("daemon")),
            groups: vec![text("adm"), text("www-data")],
            home: Some(text("/var/lib/x")),
            create_home: true,
            system: true,
        }
    );
    assert_eq!(
        step("usermod -aG docker jenkins"),
        Step::ChangeUser {
            name: text("jenkins"),
            group: None,
            groups: vec![text("docker")],
            append_groups: true,
            home: None
        }
    );
    assert_eq!(step("groupadd --system x"), Step::CreateGroup { name: text("x"), force: false });
    for command in
        ["apt-get upgrade", "apt-get install ./own.deb", "yum update", "pip install x", "systemctl isolate x"]
    {
        assert!(!effects(command, Surroundings::default()).understood, "{command}");
    }
}

#[test]
fn commands_are_joined_as_the_shell_joins_them() {
    let guard = |condition: Condition| Step::Guard(condition);
    assert_eq!(
        step("test -f /a && rm /a || true"),
        Step::Or(vec![
            Step::And(vec![
                guard(Condition::IsFile(text("/a"))),
                Step::Remove { path: text("/a"), recursive: false, force: false }
            ]),
            guard(Condition::Constant(true))
        ])
    );
    assert_eq!(steps("touch /a; touch /b\ntouch /c").len(), 3);
    // A line may end after an operator; a semicolon needs a command before it.
    assert_eq!(
        steps("touch /a &&\n  touch /b ||\n\n touch /c").len(),
        steps("touch /a && touch /b || touch /c").len()
    );
    assert_eq!(step("echo x |\n  tee /f > /dev/null"), write("/f", "x\n", false));
    assert_eq!(stopped_at("touch /a && ; touch /b"), ";");
    assert_eq!(stopped_at("touch /a\n| tee /f"), "|");
    assert_eq!(
        step("cd /opt && touch x"),
        Step::And(vec![guard(Condition::IsDirectory(text("/opt"))), Step::Touch(text("/opt/x"))])
    );
    assert_eq!(steps("(cd /opt && touch x); touch y")[1], Step::Touch(text("/srv/y")));
    assert_eq!(step("/bin/sh -c \"rm -rf '/a b'\""), step("rm -rf '/a b'"));
    assert_eq!(
        step("sudo -u postgres touch /a"),
        Step::And(vec![guard(Condition::UserExists(text("postgres"))), Step::Touch(text("/a"))])
    );
    assert_eq!(step("timeout 10 touch /a"), Step::Touch(text("/a")));
    assert_eq!(stopped_at("cd /opt; touch x"), "x", "if /opt is not there, x is made elsewhere");
    assert_eq!(
        effects_of_words(&["/bin/touch", "/a b", "/$x"], Surroundings::default()).steps,
        [Step::Each(vec![Step::Touch(text("/a b")), Step::Touch(text("/$x"))])],
        "words of an array see no shell"
    );
}

#[test]
fn checks() {
    let ask = |command: &str| condition(command, srv()).unwrap_or_else(|error| panic!("{command}: {error}"));
    assert_eq!(
        ask("test -e /etc/rsyslog.d/49-haproxy.conf"),
        Condition::Exists(text("/etc/rsyslog.d/49-haproxy.conf"))
    );
    assert_eq!(ask("[ ! -d x ]"), Condition::Not(Box::new(Condition::IsDirectory(text("/srv/x")))));
    assert_eq!(ask("! test -L /x"), Condition::Not(Box::new(Condition::IsLink(text("/x")))));
    assert_eq!(
        ask("test -f /a -a -s /b || test -x /c"),
        Condition::Any(vec![
            Condition::All(vec![Condition::IsFile(text("/a")), Condition::HasContent(text("/b"))]),
            Condition::IsExecutable(text("/c"))
        ])
    );
    assert_eq!(ask("which tox"), Condition::ProgramExists(text("tox")));
    assert_eq!(ask("command -v git >/dev/null 2>&1"), Condition::ProgramExists(text("git")));
    assert_eq!(
        ask("rpm -q gpg-pubkey-6026dfca-573adfde 2>/dev/null"),
        Condition::PackageInstalled(text("gpg-pubkey-6026dfca-573adfde"))
    );
    assert_eq!(
        ask("systemctl -q is-active libvirtd.socket"),
        Condition::ServiceActive(text("libvirtd.socket"))
    );
    assert_eq!(ask("getent passwd x"), Condition::UserExists(text("x")));
    assert_eq!(ask("/bin/false # a comment"), Condition::Constant(false));
    let written = |path: &str, pattern: &str, syntax: Syntax| Condition::Matches {
        path: text(path),
        pattern: text(pattern),
        syntax,
        whole: false,
        ignore_case: false,
    };
    let matches = |path: &str, pattern: &str| written(path, pattern, Syntax::Basic);
    assert_eq!(
        ask(r#"/bin/grep -qE "automount:\s+sss" /etc/nsswitch.conf"#),
        written("/etc/nsswitch.conf", r"automount:\s+sss", Syntax::Extended)
    );
    assert_eq!(ask(r#"cat /sys/x/enabled | grep "\[never\]""#), matches("/sys/x/enabled", r"\[never\]"));
    assert_eq!(
        ask("grep -q x < /a"),
        Condition::All(vec![Condition::Exists(text("/a")), matches("/a", "x")])
    );
    for command in
        ["touch /a", "curl http://x", "vgs x", "test $(rpm -qa | wc -l) -eq 1", "ps aux | grep -q x"]
    {
        assert!(condition(command, Surroundings::default()).is_err(), "{command}");
    }
}

#[test]
fn what_is_not_understood_names_the_word() {
    for (command, word) in [
        ("make install", "make"),
        ("touch /a && ./configure", "./configure"),
        ("rm -rf /a/*", "/a/*"),
        ("touch $HOME/x", "$HOME/x"),
        ("touch `hostname`", "`hostname`"),
        ("mkdir ~/.gitolite/keydir", "~/.gitolite/keydir"),
        ("cp --weird /a /b", "--weird"),
        ("touch /a &", "&"),
        ("for i in 1 2; do touch $i; done", "for"),
        ("cat <<EOF", "<<"),
        ("touch 'a", "a"),
        ("touch /a)", ")"),
        ("(touch /a", "("),
        ("&& touch /a", "&&"),
        ("echo x >", ">"),
        ("touch ../x", "../x"),
        ("", ""),
        ("/opt/awscli-bundle/install -i /usr/local/aws", "/opt/awscli-bundle/install"),
        ("mysqlbackup --incremental backup", "mysqlbackup"),
        ("ovs-vsctl show | grep x", "ovs-vsctl"),
    ] {
        assert_eq!(stopped_at(command), word, "{command}");
    }
    assert_eq!(
        effects("touch a", Surroundings::default()).reason.unwrap().why,
        "it is relative, and no working directory is given"
    );
}

#[test]
fn no_text_makes_it_panic_or_hang() {
    let pieces = [
        "touch", "/a", "'", "\"", "`", "$(", "${", "$", "\\", "&&", "||", ";", "|", "&", "(", ")", "{", "}",
        "!", ">", ">>", "<", "2>&1", "[", "]", "sed", "-i", "tar", "xf", "test", "-o", "-a", "sudo", "sh",
        "-c", "#", "\n", "=", "é", "*", "~", "--", "-", "cp", "grep", "useradd", "timeout", "apt-get",
        "install", "%s", "printf", "cd", "{a,b}",
    ];
    let mut random = Random::new(1);
    for _ in 0..20_000 {
        let mut command = String::new();
        for _ in 0..=random.below(16) {
            let piece = random.pick(&pieces);
            command.push_str(piece);
            if random.chance(75) {
                command.push(' ');
            }
        }
        let found = effects(&command, srv());
        assert_eq!(found.understood, found.reason.is_none(), "{command}");
        let _ = condition(&command, Surroundings::default());
    }
    for deep in [
        "(".repeat(5000),
        "! ".repeat(5000) + "true",
        "sudo ".repeat(5000) + "true",
        "$(".repeat(5000),
        "[ ! ".repeat(2000),
    ] {
        assert!(!effects(&deep, Surroundings::default()).understood);
    }
}

/// The commands and checks of the modules that Debian packages: told, not demanded.
#[test]
fn share_of_real_commands() {
    let folder = std::path::Path::new("/usr/share/puppet/modules");
    let mut found = std::collections::BTreeSet::new();
    for module in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        for path in setpoint_testing::files_below(&module.path().join("manifests")) {
            let Ok(source) = std::fs::read_to_string(&path) else { continue };
            for line in source.lines() {
                let Some((key, value)) = line.split_once("=>") else { continue };
                let (key, value) = (key.trim(), value.trim().trim_end_matches(','));
                let quote = value.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
                let Some(inner) = quote.and_then(|quote| value.strip_prefix(quote)?.strip_suffix(quote))
                else {
                    continue;
                };
                if matches!(key, "command" | "unless" | "onlyif") && !inner.starts_with("SELECT") {
                    // Puppet has put in what stands in `${…}` before the shell sees it.
                    let mut text = inner.replace("\\\"", "\"");
                    while let Some((before, after)) = text.clone().split_once("${") {
                        let rest = after.split_once('}').map_or("", |(_, rest)| rest);
                        let sample =
                            if before.ends_with(|c: char| !c.is_whitespace() && c != '\'' && c != '"') {
                                "x"
                            } else {
                                "/x"
                            };
                        text = format!("{before}{sample}{rest}");
                    }
                    found.insert((key.to_owned(), text));
                }
            }
        }
    }
    let understood = found
        .iter()
        .filter(|(key, text)| {
            if key == "command" {
                effects(text, Surroundings::of(Some("/"))).understood
            } else {
                condition(text, Surroundings::of(Some("/"))).is_ok()
            }
        })
        .count();
    eprintln!("{understood} of {} commands and checks are understood", found.len());
    if std::env::var_os("SETPOINT_SHOW").is_some() {
        for (key, text) in &found {
            let reason = if key == "command" {
                effects(text, Surroundings::of(Some("/"))).reason
            } else {
                condition(text, Surroundings::of(Some("/"))).err()
            };
            eprintln!(
                "{key} {text}: {}",
                reason.map_or_else(|| "understood".to_owned(), |reason| reason.to_string())
            );
        }
    }
    assert!(found.is_empty() || understood * 5 > found.len(), "{understood} of {}", found.len());
}

#[test]
fn what_other_commands_print_is_read() {
    let made =
        Step::Make { path: text("/srv/out"), from: vec![text("/srv/val")], append: false, volatile: false };
    assert_eq!(step("echo $(cat /srv/val) > /srv/out"), made);
    assert_eq!(step("echo `cat /srv/val` > /srv/out"), made);
    assert_eq!(step("printf '%s' \"$(cat /srv/val | sort)\" > /srv/out"), made);
    assert_eq!(stopped_at("echo $(/opt/vendor/key) > /srv/out"), "/opt/vendor/key");
    assert_eq!(stopped_at("echo $(rm /srv/a) > /srv/out"), "rm /srv/a");
    assert_eq!(stopped_at("X=$(cat /srv/val); echo $X > /srv/out"), "X=$(cat /srv/val)");
    let written = |content| Step::Write { path: text("/srv/out"), content, append: false };
    assert_eq!(step("echo $(uname -r) > /srv/out"), written(None));
    assert_eq!(step("echo $((1 + 1)) > /srv/out"), written(None));
}

#[test]
fn the_user_as_whom_a_command_runs_must_be_there() {
    let as_app =
        Step::And(vec![Step::Guard(Condition::UserExists(text("app"))), Step::Touch(text("/srv/x"))]);
    for command in
        ["sudo -u app touch /srv/x", "su app -c 'touch /srv/x'", "runuser -u app -c 'touch /srv/x'"]
    {
        assert_eq!(step(command), as_app, "{command}");
    }
}
