//! What resources of a scenario are about, and what is there before.

use setpoint_testing::Random;

use super::{Declaration, Scenario, quoted};

fn one_of<'a>(random: &mut Random, words: &[&'a str]) -> &'a str {
    words[random.below(words.len())]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    Files,
    Commands,
    Accounts,
    Jobs,
    Hosts,
    Keys,
    Packages,
    Services,
    Lines,
    Mounts,
}

const THEMES: [Theme; 12] = [
    Theme::Files,
    Theme::Files,
    Theme::Commands,
    Theme::Commands,
    Theme::Accounts,
    Theme::Jobs,
    Theme::Hosts,
    Theme::Keys,
    Theme::Packages,
    Theme::Services,
    Theme::Lines,
    Theme::Mounts,
];

impl Theme {
    pub(super) fn pick(random: &mut Random) -> Self {
        THEMES[random.below(THEMES.len())]
    }

    /// The theme whose start it has.
    pub(super) fn place(self) -> Self {
        if self == Self::Commands { Self::Files } else { self }
    }
}

/// What the module `m` serves.
pub(super) const SERVED: [(&str, &str); 3] = [("one", "x\n"), ("tree/a", "x\n"), ("tree/e/f", "served\n")];

const PATHS: [&str; 9] =
    ["/srv/a", "/srv/b", "/srv/d", "/srv/d/a", "/srv/d/b", "/srv/d/e", "/srv/d/e/f", "/srv/l", "/srv/g/a"];
const CONTENTS: [&str; 5] = ["x\n", "y\n", "", "k = 1\n", "one\ntwo\n"];
const MODES: [&str; 5] = ["0644", "0600", "0755", "0700", "u=rw,go=r"];
const FOO: &str = "foo 1.0\n  /etc/foo.conf = \"default\\n\" conffile\n  /opt/foo/a = \"x\\n\"\n";
const FOO_INSTALLED: &str =
    "foo 1.0 installed\n  /etc/foo.conf = \"default\\n\" conffile\n  /opt/foo/a = \"x\\n\"\n";
const BAR: &str = "bar 1.0 depends foo\n  /opt/bar/b = \"y\\n\"\n  user bar\n";
const BAR_INSTALLED: &str = "bar 1.0 installed depends foo\n  /opt/bar/b = \"y\\n\"\n  user bar\n";
const WEB: &str = "web 1.0 installed\n  /lib/systemd/system/web.service = \"[Service]\\nReads=/etc/web.conf\\n\"\n  \
                   /etc/web.conf = \"default\\n\" conffile\n";

/// The few paths that the resources of one scenario share, and what numbers their titles.
#[derive(Debug)]
pub(super) struct Pool {
    paths: Vec<&'static str>,
    next: usize,
}

impl Pool {
    pub(super) fn new(random: &mut Random) -> Self {
        let count = 2 + random.below(4);
        let mut paths = Vec::new();
        while paths.len() < count {
            let path = one_of(random, &PATHS);
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        Self { paths, next: 0 }
    }

    fn path(&self, random: &mut Random) -> &'static str {
        one_of(random, &self.paths)
    }

    fn title(&mut self, stem: &str) -> String {
        self.next += 1;
        format!("{stem}{}", self.next)
    }
}

/// Adds what is there at the start.
pub(super) fn start(theme: Theme, random: &mut Random, scenario: &mut Scenario) {
    let some = |random: &mut Random, scenario: &mut Scenario, lines: &[&str]| {
        for line in lines {
            if random.once_in(2) {
                scenario.start.push(format!("{line}\n"));
            }
        }
    };
    match theme {
        Theme::Files | Theme::Commands => {
            tree(random, scenario);
            some(random, scenario, &["user alice"]);
        }
        Theme::Accounts => some(
            random,
            scenario,
            &[
                "user alice",
                "group team",
                "group ops alice",
                "/home/alice/ 0755 alice:alice",
                "/srv/a = \"x\\n\" 0600",
            ],
        ),
        Theme::Jobs => some(
            random,
            scenario,
            &[
                "user alice",
                "/var/spool/cron/crontabs/root = \"# Puppet Name: j1\\n5 * * * * /bin/true\\n\" 0600",
            ],
        ),
        Theme::Hosts => {
            let known = one_of(
                random,
                &[
                    "127.0.0.1\\tlocalhost\\n10.0.0.1\\th1\\n",
                    "127.0.0.1\\tlocalhost\\n# by hand\\n10.0.0.2\\th2\\talias\\n10.0.0.9\\th9\\n",
                    "10.0.0.9 h1\\n",
                    "",
                ],
            );
            some(
                random,
                scenario,
                &[&format!("/etc/hosts = \"{known}\""), "/srv/hosts = \"10.0.0.1\\th1\\n\""],
            );
        }
        Theme::Keys => some(
            random,
            scenario,
            &[
                "user alice",
                "/home/alice/ 0755 alice:alice",
                "/home/alice/.ssh/ 0700 alice:alice",
                "/etc/ssh/",
                "/etc/ssh/ssh_known_hosts = \"h1 ssh-rsa AAAA\\n\"",
                "/root/.ssh/authorized_keys = \"ssh-rsa AAAA k1\\nssh-rsa BBBB k9\\n\" 0600",
            ],
        ),
        Theme::Packages => {
            let first = if random.once_in(2) { FOO } else { FOO_INSTALLED };
            scenario.packages.push(first);
            let installed = first == FOO_INSTALLED && random.once_in(2);
            scenario.packages.push(if installed { BAR_INSTALLED } else { BAR });
            // Otherwise the folder goes with the last package.
            scenario.declarations.push(Declaration::new("file", "/opt/kept").with("ensure", "directory"));
            scenario.start.push("/opt/kept/\n".to_owned());
            // A changed file of a package that is not there: apt-get would ask what to do, and nobody answers.
            if first == FOO_INSTALLED && random.once_in(2) {
                scenario.then.push("/etc/foo.conf = \"mine\\n\"\n".to_owned());
            }
        }
        Theme::Services => match random.below(3) {
            0 => scenario.packages.push(WEB),
            1 => scenario.start.push("service web running enabled reads /etc/web.conf\n".to_owned()),
            _ => scenario.start.push("service web reads /etc/web.conf\n".to_owned()),
        },
        Theme::Lines => {
            let known = one_of(
                random,
                &["k = 1\\n", "one\\ntwo\\n", "", "[s]\\nk = 1\\nj = a b\\n", "# c\\none\\none\\n"],
            );
            some(
                random,
                scenario,
                &[&format!("/srv/c = \"{known}\""), "/srv/i = \"[s]\\nk = 1\\nj = a b\\n\""],
            );
        }
        Theme::Mounts => some(
            random,
            scenario,
            &["/srv/m/", "/etc/fstab = \"/dev/sda1\\t/srv/m\\text4\\tdefaults\\t0\\t0\\n\""],
        ),
    }
}

/// Files, directories and links; now and then of another kind than their names tell.
fn tree(random: &mut Random, scenario: &mut Scenario) {
    let wild = random.once_in(4);
    let mut directories = vec!["/srv".to_owned()];
    for path in PATHS {
        let above = path.rsplit_once('/').map_or("", |(above, _)| above);
        if !directories.iter().any(|directory| directory == above) || random.once_in(2) {
            continue;
        }
        let natural = match path {
            "/srv/d" | "/srv/d/e" | "/srv/t" => 0,
            "/srv/l" => 1,
            _ => 2,
        };
        let kind = if wild && random.once_in(2) { random.below(3) } else { natural };
        let mode = one_of(random, &["", " 0600", " 0755"]);
        match kind {
            0 => {
                scenario.start.push(format!("{path}/{mode}\n"));
                directories.push(path.to_owned());
            }
            1 => {
                let target = one_of(random, &PATHS);
                if target != path {
                    scenario.start.push(format!("{path} -> {target}\n"));
                }
            }
            _ => {
                let content = quoted_for_start(one_of(random, &CONTENTS));
                scenario.start.push(format!("{path} = {content}{mode}\n"));
            }
        }
    }
}

fn quoted_for_start(content: &str) -> String {
    format!("\"{}\"", content.replace('\n', "\\n"))
}

/// One resource of a theme, or a few that belong together.
pub(super) fn declare(theme: Theme, pool: &mut Pool, random: &mut Random) -> Vec<Declaration> {
    if random.once_in(12) {
        return vec![anything(pool, random)];
    }
    let one = match theme {
        Theme::Files => {
            if random.once_in(4) {
                command(pool, random)
            } else {
                file(pool, random)
            }
        }
        Theme::Commands => {
            if random.once_in(3) {
                file(pool, random)
            } else {
                command(pool, random)
            }
        }
        Theme::Accounts => account(pool, random),
        Theme::Jobs => job(pool, random),
        Theme::Hosts => host(pool, random),
        Theme::Keys => key(pool, random),
        Theme::Packages => package(pool, random),
        Theme::Services => service(pool, random),
        Theme::Lines => return line(pool, random),
        Theme::Mounts => mount(pool, random),
    };
    vec![one]
}

fn anything(pool: &mut Pool, random: &mut Random) -> Declaration {
    match random.below(4) {
        0 => Declaration::new("notify", "said"),
        1 => Declaration::new("anchor", &pool.title("anchor")),
        2 => {
            if !random.once_in(3) {
                return command(pool, random);
            }
            let tidy = Declaration::new("tidy", one_of(random, &["/srv/d", "/srv/a"]));
            if random.once_in(2) { tidy.with("recurse", "true").with("matches", "a*") } else { tidy }
        }
        _ => command(pool, random),
    }
}

fn file(pool: &mut Pool, random: &mut Random) -> Declaration {
    let path = pool.path(random);
    file_at(path, pool, random)
}

fn file_at(path: &str, pool: &mut Pool, random: &mut Random) -> Declaration {
    let natural_directory = matches!(path, "/srv/d" | "/srv/d/e") && !random.once_in(3);
    let mut file = Declaration::new("file", path);
    let form = if natural_directory { 5 + random.below(4) } else { random.below(14) };
    file = match form {
        0..=2 => file.with_text("content", quoted(one_of(random, &CONTENTS))),
        3 => file.with("ensure", "file").with_text("content", quoted(one_of(random, &CONTENTS))),
        4 => file.with("ensure", one_of(random, &["file", "present"])),
        5 => file.with("ensure", "directory"),
        6 => file.with("ensure", "directory").with("recurse", "true"),
        7 => file.with("ensure", "directory").with("recurse", "true").with("purge", "true"),
        8 => file
            .with("ensure", "directory")
            .with("recurse", one_of(random, &["true", "remote"]))
            .with("source", one_of(random, &["/srv/t", "/srv/g", "puppet:///modules/m/tree"])),
        9 => {
            let target = pool.path(random);
            let target = if target == path { "/srv/none" } else { target };
            file.with("ensure", "link").with("target", target)
        }
        10 | 11 => file.with("ensure", "absent"),
        12 => {
            let local = pool.path(random);
            file.with("source", one_of(random, &[local, "puppet:///modules/m/one"]))
        }
        _ => file.with("mode", one_of(random, &MODES)),
    };
    if random.once_in(4) && !file.has("mode") {
        file = file.with("mode", one_of(random, &MODES));
    }
    if random.once_in(8) {
        file = file.with("owner", one_of(random, &["alice", "daemon", "0"]));
    }
    if random.once_in(10) {
        file = file.with("group", one_of(random, &["team", "adm"]));
    }
    if random.once_in(4) {
        file = file.with("force", "true");
    }
    if random.once_in(8) {
        file = file.with("replace", "false");
    }
    if random.once_in(15) {
        file = file.with("backup", one_of(random, &["false", ".old"]));
    }
    if random.once_in(15) {
        file = file.with("links", one_of(random, &["follow", "manage"]));
    }
    file
}

/// What a command may do to two paths.
fn done(one: &str, other: &str, random: &mut Random) -> String {
    match random.below(34) {
        0 | 1 => format!("touch {one}"),
        2 => format!("mkdir {one}"),
        3 | 4 => format!("mkdir -p {one}"),
        5 => format!("rm {one}"),
        6 => format!("rm -f {one}"),
        7 => format!("rm -rf {one}"),
        8 => format!("rmdir {one}"),
        9 | 10 => format!("cp {one} {other}"),
        11 => format!("cp -p {one} {other}"),
        12 => format!("mv {one} {other}"),
        13 => format!("ln -s {one} {other}"),
        14 => format!("ln -sf {one} {other}"),
        15 => format!("ln -sfn {one} {other}"),
        16 => format!("chmod 0600 {one}"),
        17 => format!("chmod -R 0755 {one}"),
        18 => format!("chown alice {one}"),
        19 => format!("echo x > {one}"),
        20 => format!("echo y > {one}"),
        21 => format!("echo x >> {one}"),
        22 => format!("sed -i s/x/y/ {one}"),
        23 => format!("sed -i '/one/d' {one}"),
        24 => format!("test -e {one} && touch {other}"),
        25 => format!("test -d {one} || mkdir {one}"),
        26 => format!("rm {one}; touch {other}"),
        27 => format!("cat {one} > {other}"),
        28 => format!("rm {one} || true"),
        29 => "false".to_owned(),
        30 => "true".to_owned(),
        31 => format!("touch {one} {other}"),
        32 => format!("install -m 0600 {one} {other}"),
        _ => format!("mkdir -p {one} && touch {one}/a"),
    }
}

fn asked(path: &str, random: &mut Random) -> String {
    match random.below(7) {
        0 | 1 => format!("test -e {path}"),
        2 => format!("test -f {path}"),
        3 => format!("test -d {path}"),
        4 => format!("test ! -e {path}"),
        5 => format!("test -L {path}"),
        _ => format!("grep -q x {path}"),
    }
}

fn command(pool: &mut Pool, random: &mut Random) -> Declaration {
    let (one, other) = (pool.path(random), pool.path(random));
    let command = done(one, other, random);
    let exec = exec(&pool.title("e"), &command);
    guarded(exec, pool, random)
}

fn exec(title: &str, command: &str) -> Declaration {
    Declaration::new("exec", title)
        .with_text("command", quoted(command))
        .with("provider", "shell")
        .with("path", "/bin:/usr/bin:/sbin:/usr/sbin")
}

fn guarded(mut exec: Declaration, pool: &Pool, random: &mut Random) -> Declaration {
    if random.once_in(4) {
        exec = exec.with("creates", pool.path(random));
    }
    if random.once_in(5) {
        exec = exec.with("unless", &asked(pool.path(random), random));
    }
    if random.once_in(6) {
        exec = exec.with("onlyif", &asked(pool.path(random), random));
    }
    if random.once_in(5) {
        exec = exec.with("refreshonly", "true");
    }
    if random.once_in(20) {
        exec = exec.with("cwd", pool.path(random));
    }
    if random.once_in(20) {
        exec = exec.with_text("returns", one_of(random, &["[0, 1]", "1"]).to_owned());
    }
    exec
}

fn account(pool: &mut Pool, random: &mut Random) -> Declaration {
    let user = one_of(random, &["alice", "bob"]);
    let group = one_of(random, &["team", "ops"]);
    match random.below(8) {
        0..=2 => {
            let mut one = Declaration::new("user", user);
            one = one.with("ensure", if random.once_in(4) { "absent" } else { "present" });
            if random.once_in(2) {
                one = one.with("managehome", "true");
            }
            if random.once_in(4) {
                one = one.with("gid", group);
            }
            if random.once_in(3) {
                let groups = one_of(random, &["['team']", "['team', 'ops']", "'ops'", "'adm'"]);
                one = one.with_text("groups", groups.to_owned());
            }
            if random.once_in(6) {
                one = one.with("membership", one_of(random, &["inclusive", "minimum"]));
            }
            if random.once_in(5) {
                one = one.with("uid", one_of(random, &["3001", "3002"]));
            }
            if random.once_in(5) {
                one = one.with("shell", one_of(random, &["/bin/sh", "/bin/bash"]));
            }
            if random.once_in(6) {
                one = one.with("home", one_of(random, &["/srv/home", "/home/alice"]));
            }
            if random.once_in(8) {
                one = one.with("comment", "A user");
            }
            one
        }
        3 | 4 => {
            let group = one_of(random, &["team", "ops", "alice"]);
            let one = Declaration::new("group", group);
            let one = one.with("ensure", if random.once_in(4) { "absent" } else { "present" });
            if random.once_in(4) { one.with("gid", one_of(random, &["3101", "3102"])) } else { one }
        }
        5 => {
            let command = match random.below(7) {
                0 => format!("useradd {user}"),
                1 => format!("useradd -m {user}"),
                2 => format!("userdel {user}"),
                3 => format!("groupadd {group}"),
                4 => format!("groupdel {group}"),
                5 => format!("usermod -aG {group} {user}"),
                _ => format!("useradd -g {group} {user}"),
            };
            let exec = exec(&pool.title("e"), &command);
            match random.below(4) {
                0 => exec.with("unless", &format!("getent passwd {user}")),
                1 => exec.with("onlyif", &format!("getent group {group}")),
                2 => exec.with("unless", &format!("id {user}")),
                _ => exec,
            }
        }
        6 => Declaration::new("file", one_of(random, &["/home/alice", "/srv/home"]))
            .with("ensure", if random.once_in(4) { "absent" } else { "directory" })
            .with("force", "true")
            .with("owner", user),
        _ => {
            let file = Declaration::new("file", "/srv/a").with_text("content", quoted("x\n"));
            let file = file.with("owner", user);
            if random.once_in(2) { file.with("group", group) } else { file }
        }
    }
}

fn job(pool: &mut Pool, random: &mut Random) -> Declaration {
    let user = one_of(random, &["root", "root", "alice"]);
    match random.below(8) {
        0..=4 => {
            let job = Declaration::new("cron", one_of(random, &["j1", "j2", "j3"]));
            if random.once_in(5) {
                return job.with("ensure", "absent").with("user", user);
            }
            let job = job.with("command", one_of(random, &["/bin/true", "/bin/false"])).with("user", user);
            match random.below(5) {
                0 => job.with("special", "daily"),
                1 => job.with("minute", "5").with("hour", "*"),
                2 => job.with_text("minute", "[0, 30]".to_owned()).with("weekday", "Monday"),
                3 => job.with("minute", "5").with("environment", "A=b"),
                _ => job.with("minute", "5"),
            }
        }
        5 => Declaration::new("user", "alice")
            .with("ensure", one_of(random, &["present", "present", "absent"])),
        6 => Declaration::new("resources", "cron").with("purge", "true"),
        _ => {
            let path = format!("/var/spool/cron/crontabs/{user}");
            if random.once_in(2) {
                Declaration::new("file", &path).with("mode", "0600")
            } else {
                exec(&pool.title("e"), &format!("rm -f {path}"))
            }
        }
    }
}

fn host(pool: &mut Pool, random: &mut Random) -> Declaration {
    let path = "/etc/hosts";
    match random.below(9) {
        0..=4 => {
            let mut host = Declaration::new("host", one_of(random, &["h1", "h2", "localhost"]));
            if random.once_in(5) {
                host = host.with("ensure", "absent");
            } else {
                host = host.with("ip", one_of(random, &["10.0.0.1", "10.0.0.2"]));
            }
            if random.once_in(4) {
                host = host.with("host_aliases", one_of(random, &["alias", "other"]));
            }
            host
        }
        5 => Declaration::new("resources", "host").with("purge", "true"),
        6 => {
            let file = Declaration::new("file", path);
            match random.below(4) {
                0 => file.with("ensure", "absent"),
                1 => file.with("mode", "0600"),
                _ => file.with_text(
                    "content",
                    quoted(one_of(random, &["10.0.0.1\th1\n", "127.0.0.1\tlocalhost\n"])),
                ),
            }
        }
        7 => {
            let line = one_of(random, &["10.0.0.9 h9", "10.0.0.1\th1"]);
            Declaration::new("file_line", &pool.title("line"))
                .with("path", path)
                .with_text("line", quoted(line))
        }
        _ => {
            let exec = exec(&pool.title("e"), &format!("echo 10.0.0.9 h9 >> {path}"));
            if random.once_in(2) {
                exec.with("unless", &format!("grep -qx '10.0.0.9 h9' {path}"))
            } else {
                exec
            }
        }
    }
}

fn key(pool: &mut Pool, random: &mut Random) -> Declaration {
    let user = one_of(random, &["alice", "root"]);
    match random.below(9) {
        0..=2 => {
            let key =
                Declaration::new("ssh_authorized_key", one_of(random, &["k1", "k2"])).with("user", user);
            if random.once_in(4) {
                return key.with("ensure", "absent");
            }
            let key = key.with("type", "ssh-rsa").with("key", one_of(random, &["AAAA", "BBBB"]));
            if random.once_in(6) { key.with("target", "/srv/keys") } else { key }
        }
        3 => {
            let key = Declaration::new("sshkey", one_of(random, &["h1", "h2"])).with("type", "ssh-rsa");
            if random.once_in(4) {
                return key.with("ensure", "absent");
            }
            let key = key.with("key", one_of(random, &["AAAA", "BBBB"]));
            if random.once_in(4) { key.with("host_aliases", "alias") } else { key }
        }
        4 => {
            let user = Declaration::new("user", "alice");
            let user = user.with("ensure", if random.once_in(5) { "absent" } else { "present" });
            let user = if random.once_in(2) { user.with("managehome", "true") } else { user };
            if random.once_in(3) { user.with("purge_ssh_keys", "true") } else { user }
        }
        5 => {
            let path = one_of(random, &["/home/alice", "/home/alice/.ssh", "/root/.ssh", "/etc/ssh"]);
            let file = Declaration::new("file", path).with("ensure", "directory");
            if random.once_in(3) { file.with("mode", "0700") } else { file }
        }
        6 => {
            let path = one_of(
                random,
                &[
                    "/home/alice/.ssh/authorized_keys",
                    "/root/.ssh/authorized_keys",
                    "/etc/ssh/ssh_known_hosts",
                ],
            );
            let file = Declaration::new("file", path);
            match random.below(3) {
                0 => file.with("ensure", "absent"),
                1 => file.with("mode", "0600"),
                _ => file.with("ensure", "file"),
            }
        }
        7 => exec(&pool.title("e"), "mkdir -p /home/alice/.ssh"),
        _ => Declaration::new("resources", "sshkey").with("purge", "true"),
    }
}

fn package(pool: &mut Pool, random: &mut Random) -> Declaration {
    let name = one_of(random, &["foo", "foo", "bar"]);
    match random.below(9) {
        0..=3 => Declaration::new("package", name)
            .with("ensure", one_of(random, &["present", "installed", "latest", "absent", "purged", "1.0"])),
        4 | 5 => {
            let file =
                Declaration::new("file", one_of(random, &["/etc/foo.conf", "/opt/foo/a", "/opt/bar/b"]));
            match random.below(5) {
                0 => file.with("ensure", "absent"),
                1 => file.with("mode", "0600"),
                2 => file.with_text("content", quoted("mine\n")).with("owner", "bar"),
                _ => file.with_text("content", quoted("mine\n")),
            }
        }
        6 => {
            let file = Declaration::new("file", one_of(random, &["/opt/foo", "/opt/bar"]));
            match random.below(4) {
                0 => file.with("ensure", "absent").with("force", "true"),
                1 => file.with("ensure", "directory").with("recurse", "true").with("purge", "true"),
                _ => file.with("ensure", "directory"),
            }
        }
        7 => {
            let verb = one_of(random, &["remove", "purge"]);
            let exec = exec(&pool.title("e"), &format!("apt-get -q -y {verb} {name}"));
            if random.once_in(2) { exec.with("unless", &format!("dpkg -s {name}")) } else { exec }
        }
        _ => {
            let command = done("/opt/foo/a", "/etc/foo.conf", random);
            exec(&pool.title("e"), &command)
        }
    }
}

fn service(pool: &mut Pool, random: &mut Random) -> Declaration {
    match random.below(9) {
        0..=2 => {
            let service = Declaration::new("service", "web");
            let service = service.with("ensure", if random.once_in(4) { "stopped" } else { "running" });
            if random.once_in(2) {
                service.with("enable", one_of(random, &["true", "true", "false"]))
            } else {
                service
            }
        }
        3 | 4 => {
            let file = Declaration::new("file", "/etc/web.conf");
            match random.below(4) {
                0 => file.with("ensure", "absent"),
                1 => file.with("mode", "0600"),
                _ => file.with_text("content", quoted(one_of(random, &["x\n", "y\n"]))),
            }
        }
        5 => {
            let unit = Declaration::new("file", "/etc/systemd/system/web.service");
            if random.once_in(3) {
                unit.with("ensure", "absent")
            } else {
                unit.with_text("content", quoted("[Service]\nReads=/etc/web.conf\n"))
            }
        }
        6 => Declaration::new("package", "web").with("ensure", one_of(random, &["present", "absent"])),
        7 => {
            let verb =
                one_of(random, &["start", "stop", "restart", "reload", "enable", "disable", "try-restart"]);
            let exec = exec(&pool.title("e"), &format!("systemctl {verb} web"));
            match random.below(4) {
                0 => exec.with("refreshonly", "true"),
                1 => exec.with("unless", "systemctl is-active web"),
                2 => exec.with("onlyif", "systemctl is-enabled web"),
                _ => exec,
            }
        }
        _ => {
            let line = Declaration::new("file_line", &pool.title("line")).with("path", "/etc/web.conf");
            line.with("line", one_of(random, &["x", "z"]))
        }
    }
}

fn line(pool: &mut Pool, random: &mut Random) -> Vec<Declaration> {
    let path = one_of(random, &["/srv/c", "/srv/c", "/srv/i"]);
    let one = match random.below(10) {
        0..=2 => {
            let mut line = Declaration::new("file_line", &pool.title("line"));
            line = line.with("path", path).with("line", one_of(random, &["one", "two", "k = 2", "k = 1"]));
            if random.once_in(4) {
                line = line.with("ensure", "absent");
            }
            if random.once_in(2) {
                line = line.with("match", one_of(random, &["^one", "^k = ", "o"]));
                for (name, chance) in
                    [("append_on_no_match", 5), ("replace", 5), ("multiple", 4), ("match_for_absence", 3)]
                {
                    if random.once_in(chance) {
                        let value =
                            if matches!(name, "multiple" | "match_for_absence") { "true" } else { "false" };
                        line = line.with(name, value);
                    }
                }
            }
            line
        }
        3 | 4 => {
            let setting = Declaration::new("ini_setting", &pool.title("set")).with("path", path);
            let setting = setting.with("section", one_of(random, &["s", "t", ""]));
            let setting = setting.with("setting", one_of(random, &["k", "j"]));
            if random.once_in(4) {
                setting.with("ensure", "absent")
            } else {
                setting.with("value", one_of(random, &["1", "2"]))
            }
        }
        5 => {
            let part = Declaration::new("ini_subsetting", &pool.title("part")).with("path", path);
            let part = part
                .with("section", "s")
                .with("setting", "j")
                .with("subsetting", one_of(random, &["a", "c"]));
            if random.once_in(4) {
                part.with("ensure", "absent")
            } else {
                part.with("value", one_of(random, &["", "9"]))
            }
        }
        6 => {
            let file = Declaration::new("file", path);
            match random.below(5) {
                0 => file.with("ensure", "absent"),
                1 => file.with("ensure", "file"),
                2 => file.with("mode", "0600"),
                _ => file.with_text("content", quoted(one_of(random, &["one\n", "k = 1\n", "[s]\nk = 1\n"]))),
            }
        }
        7 => {
            let command = match random.below(6) {
                0 => format!("echo one >> {path}"),
                1 => format!("echo 'k = 2' >> {path}"),
                2 => format!("sed -i 's/^k = .*/k = 2/' {path}"),
                3 => format!("sed -i '/^one/d' {path}"),
                4 => format!("sed -i s/one/two/ {path}"),
                _ => format!("echo one > {path}"),
            };
            let exec = exec(&pool.title("e"), &command);
            match random.below(3) {
                0 => exec.with("unless", &format!("grep -q one {path}")),
                1 => exec.with("unless", &format!("grep -qx 'k = 2' {path}")),
                _ => exec,
            }
        }
        _ => {
            let mut made = vec![Declaration::new("concat", path)];
            if random.once_in(4) {
                made[0] = made[0].clone().with("ensure", "absent");
            }
            if random.once_in(4) {
                made[0] = made[0].clone().with("ensure_newline", "true");
            }
            for _ in 0..=random.below(2) {
                made.push(
                    Declaration::new("concat::fragment", &pool.title("part"))
                        .with("target", path)
                        .with_text("content", quoted(one_of(random, &["one\n", "k = 1\n", "two"])))
                        .with("order", one_of(random, &["1", "02", "10"])),
                );
            }
            return made;
        }
    };
    vec![one]
}

fn mount(pool: &mut Pool, random: &mut Random) -> Declaration {
    match random.below(6) {
        0..=2 => {
            let mount = Declaration::new("mount", "/srv/m");
            let ensure = one_of(random, &["present", "mounted", "mounted", "unmounted", "absent", "defined"]);
            let mount =
                mount.with("ensure", ensure).with("device", one_of(random, &["/dev/sda1", "/dev/sdb1"]));
            let mount = mount.with("fstype", "ext4");
            if random.once_in(3) { mount.with("options", "noatime") } else { mount }
        }
        3 => Declaration::new("file", "/srv/m")
            .with("ensure", if random.once_in(4) { "absent" } else { "directory" }),
        4 => {
            let command =
                one_of(random, &["mkdir -p /srv/m", "rmdir /srv/m", "touch /srv/m/a", "rm -rf /srv/m"]);
            exec(&pool.title("e"), command)
        }
        _ => Declaration::new("file", "/srv/m/a").with_text("content", quoted("x\n")),
    }
}
