//! What an index promises: it gives back what it was made of.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use setpoint_packages::{Collection, ConffileKnowledge, Found, Index, User};

fn names(list: &[Box<str>]) -> Vec<&str> {
    list.iter().map(|name| &**name).collect()
}

fn clause(text: &str) -> Vec<Box<str>> {
    text.split('|').map(|name| name.trim().into()).collect()
}

#[test]
fn a_package_comes_back_as_it_was_added() {
    let mut packages = Collection::new();
    for path in
        ["usr/sbin/sshd", "./etc/ssh/sshd_config", "/lib/systemd/system/ssh.service", "/etc/init.d/ssh"]
    {
        packages.add_file("openssh-server", path);
    }
    packages.add_directory("openssh-server", "/var/empty/");
    packages.add_directory("openssh-server", "/usr/sbin");
    packages.set_conffiles("openssh-server", ["/etc/init.d/ssh"]);
    packages.set_listed("openssh-server");
    packages.add_user(
        "openssh-server",
        User { name: "sshd".into(), group: None, home: Some("/run/sshd".into()) },
    );
    packages.add_file("nginx", "/usr/sbin/nginx");
    packages.add_file("nginx", "/etc/nginx/nginx.conf");
    let index = Index::from_bytes(packages.to_bytes()).unwrap();

    let ssh = index.lookup("openssh-server").unwrap().unwrap();
    assert_eq!(
        names(&ssh.files),
        ["/etc/init.d/ssh", "/etc/ssh/sshd_config", "/lib/systemd/system/ssh.service", "/usr/sbin/sshd"]
    );
    assert_eq!(names(&ssh.conffiles), ["/etc/init.d/ssh"]);
    assert_eq!(ssh.conffile_knowledge, ConffileKnowledge::Recorded);
    assert_eq!(
        names(&ssh.directories),
        [
            "/etc",
            "/etc/init.d",
            "/etc/ssh",
            "/lib",
            "/lib/systemd",
            "/lib/systemd/system",
            "/usr",
            "/usr/sbin",
            "/var",
            "/var/empty"
        ]
    );
    assert!(!ssh.is_partial());
    assert_eq!(
        ssh.services.iter().map(|service| &*service.path).collect::<Vec<_>>(),
        ["/lib/systemd/system/ssh.service", "/etc/init.d/ssh"]
    );
    assert_eq!(&*ssh.users[0].name, "sshd");

    let nginx = index.lookup("nginx:amd64").unwrap().unwrap();
    assert!(nginx.is_partial(), "nobody said that these are all its files");
    assert_eq!(nginx.conffile_knowledge, ConffileKnowledge::Presumed);
    assert_eq!(names(&nginx.conffiles), ["/etc/nginx/nginx.conf"]);
    assert!(index.lookup("apache2").unwrap().is_none());
}

#[test]
fn a_name_that_one_package_provides_is_that_package() {
    let mut packages = Collection::new();
    packages.add_file("postfix", "/usr/sbin/postfix");
    packages.add_provides("postfix", "mail-transport-agent");
    packages.add_provides("postfix", "postfix-ldap");
    packages.add_file("exim4", "/usr/sbin/exim4");
    packages.add_provides("exim4", "mail-transport-agent");
    let index = Index::from_bytes(packages.to_bytes()).unwrap();
    assert_eq!(&*index.lookup("postfix-ldap").unwrap().unwrap().name, "postfix");
    assert_eq!(index.find("mail-transport-agent").unwrap(), Found::Virtual(clause("exim4|postfix")));
    assert_eq!(index.find("sendmail").unwrap(), Found::Unknown);
}

#[test]
fn dependencies_and_dependants_follow_alternatives_and_provided_names() {
    let mut packages = Collection::new();
    for (name, depends) in [
        ("golang-go", &["perl", "golang-src"][..]),
        ("golang-src", &[]),
        ("perl", &["perl-base", "libc6"]),
        ("perl-base", &["libc6"]),
        ("libc6", &[]),
        ("mailer", &["exim4 | mail-transport-agent"]),
        ("exim4", &["libc6"]),
        ("postfix", &["libc6"]),
        ("editor-user", &["vim | nano"]),
        ("nano", &["libc6"]),
        ("lost", &["nowhere"]),
    ] {
        packages.set_listed(name);
        for one in depends {
            packages.add_depends(name, clause(one));
        }
    }
    packages.add_provides("exim4", "mail-transport-agent");
    packages.add_provides("postfix", "mail-transport-agent");
    let index = Index::from_bytes(packages.to_bytes()).unwrap();

    let needed = |name: &str| index.dependencies(name).unwrap();
    assert_eq!(
        names(&needed("golang-go").packages),
        ["golang-go", "golang-src", "libc6", "perl", "perl-base"]
    );
    assert_eq!(names(&needed("mailer").packages), ["exim4", "libc6", "mailer"]);
    assert_eq!(names(&needed("editor-user").packages), ["editor-user", "libc6", "nano"]);
    assert_eq!(needed("lost").unknown, [clause("nowhere")]);

    let gone = index.dependants("perl").unwrap();
    assert_eq!(names(&gone.certain), ["golang-go"]);
    let gone = index.dependants("exim4").unwrap();
    assert_eq!(names(&gone.certain), [""; 0]);
    assert_eq!(names(&gone.possible), ["mailer"]);
    assert_eq!(names(&index.dependants("nano").unwrap().certain), ["editor-user"]);
}

#[test]
fn a_higher_layer_decides_and_a_lower_one_fills_in() {
    let mut own = Collection::new();
    own.add_file("app", "/opt/app/bin/app");
    own.add_depends("app", clause("runtime"));
    let mut base = Collection::new();
    base.add_file("app", "/usr/bin/old-app");
    base.add_file("runtime", "/usr/lib/runtime.so");
    base.add_depends("runtime", clause("libc6"));
    base.add_depends("tool", clause("app"));
    let index = Index::from_bytes(own.to_bytes()).unwrap().over(&Index::from_bytes(base.to_bytes()).unwrap());
    assert_eq!(names(&index.lookup("app").unwrap().unwrap().files), ["/opt/app/bin/app"]);
    assert_eq!(names(&index.lookup("runtime").unwrap().unwrap().files), ["/usr/lib/runtime.so"]);
    let needed = index.dependencies("app").unwrap();
    assert_eq!(names(&needed.packages), ["app", "runtime"]);
    assert_eq!(needed.unknown, [clause("libc6")]);
    assert_eq!(names(&index.dependants("runtime").unwrap().certain), ["app", "tool"]);
}

#[test]
fn an_empty_index_knows_nothing() {
    let index = Index::from_bytes(Collection::new().to_bytes()).unwrap();
    assert_eq!(index.find("anything").unwrap(), Found::Unknown);
    assert_eq!(index.dependencies("anything").unwrap().packages, []);
}
