//! What resources of a scenario are about, and what is there before.

use super::{Declaration, Dice, Scenario, quoted};

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
    pub(super) fn pick(dice: &mut Dice) -> Self {
        THEMES[dice.below(THEMES.len())]
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
const WEB: &str = "web 1.0 installed\n  /lib/systemd/system/web.service = \"[Service]\\n\"\n  \
                   /etc/web.conf = \"default\\n\" conffile\n";

/// The few paths that the resources of one scenario share, and what numbers their titles.
#[derive(Debug)]
pub(super) struct Pool {
    paths: Vec<&'static str>,
    next: usize,
}

impl Pool {
    pub(super) fn new(dice: &mut Dice) -> Self {
        let count = 2 + dice.below(4);
        let mut paths = Vec::new();
        while paths.len() < count {
            let path = dice.pick(&PATHS);
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        Self { paths, next: 0 }
    }

    fn path(&self, dice: &mut Dice) -> &'static str {
        dice.pick(&self.paths)
    }

    fn title(&mut self, stem: &str) -> String {
        self.next += 1;
        format!("{stem}{}", self.next)
    }
}

/// Adds what is there at the start.
pub(super) fn start(theme: Theme, dice: &mut Dice, scenario: &mut Scenario) {
    let some = |dice: &mut Dice, scenario: &mut Scenario, lines: &[&str]| {
        for line in lines {
            if dice.once_in(2) {
                scenario.start.push(format!("{line}\n"));
            }
        }
    };
    match theme {
        Theme::Files | Theme::Commands => {
            tree(dice, scenario);
            some(dice, scenario, &["user alice"]);
        }
        Theme::Accounts => some(
            dice,
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
            dice,
            scenario,
            &[
                "user alice",
                "/var/spool/cron/crontabs/root = \"# Puppet Name: j1\\n5 * * * * /bin/true\\n\" 0600",
            ],
        ),
        Theme::Hosts => {
            let known = dice.pick(&[
                "127.0.0.1\\tlocalhost\\n10.0.0.1\\th1\\n",
                "127.0.0.1\\tlocalhost\\n# by hand\\n10.0.0.2\\th2\\talias\\n10.0.0.9\\th9\\n",
                "10.0.0.9 h1\\n",
                "",
            ]);
            some(
                dice,
                scenario,
                &[&format!("/etc/hosts = \"{known}\""), "/srv/hosts = \"10.0.0.1\\th1\\n\""],
            );
        }
        Theme::Keys => some(
            dice,
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
            let first = if dice.once_in(2) { FOO } else { FOO_INSTALLED };
            scenario.packages.push(first);
            let installed = first == FOO_INSTALLED && dice.once_in(2);
            scenario.packages.push(if installed { BAR_INSTALLED } else { BAR });
            // Otherwise the folder goes with the last package.
            scenario.declarations.push(Declaration::new("file", "/opt/kept").with("ensure", "directory"));
            scenario.start.push("/opt/kept/\n".to_owned());
            // A changed file of a package that is not there: apt-get would ask what to do, and nobody answers.
            if first == FOO_INSTALLED && dice.once_in(2) {
                scenario.then.push("/etc/foo.conf = \"mine\\n\"\n".to_owned());
            }
        }
        Theme::Services => match dice.below(3) {
            0 => scenario.packages.push(WEB),
            1 => scenario.start.push("service web running enabled reads /etc/web.conf\n".to_owned()),
            _ => scenario.start.push("service web reads /etc/web.conf\n".to_owned()),
        },
        Theme::Lines => {
            let known = dice.pick(&[
                "k = 1\\n",
                "one\\ntwo\\n",
                "",
                "[s]\\nk = 1\\nj = a b\\n",
                "# c\\none\\none\\n",
            ]);
            some(
                dice,
                scenario,
                &[&format!("/srv/c = \"{known}\""), "/srv/i = \"[s]\\nk = 1\\nj = a b\\n\""],
            );
        }
        Theme::Mounts => some(
            dice,
            scenario,
            &["/srv/m/", "/etc/fstab = \"/dev/sda1\\t/srv/m\\text4\\tdefaults\\t0\\t0\\n\""],
        ),
    }
}

/// Files, directories and links; now and then of another kind than their names tell.
fn tree(dice: &mut Dice, scenario: &mut Scenario) {
    let wild = dice.once_in(4);
    let mut directories = vec!["/srv".to_owned()];
    for path in PATHS {
        let above = path.rsplit_once('/').map_or("", |(above, _)| above);
        if !directories.iter().any(|directory| directory == above) || dice.once_in(2) {
            continue;
        }
        let natural = match path {
            "/srv/d" | "/srv/d/e" | "/srv/t" => 0,
            "/srv/l" => 1,
            _ => 2,
        };
        let kind = if wild && dice.once_in(2) { dice.below(3) } else { natural };
        let mode = dice.pick(&["", " 0600", " 0755"]);
        match kind {
            0 => {
                scenario.start.push(format!("{path}/{mode}\n"));
                directories.push(path.to_owned());
            }
            1 => {
                let target = dice.pick(&PATHS);
                if target != path {
                    scenario.start.push(format!("{path} -> {target}\n"));
                }
            }
            _ => {
                let content = quoted_for_start(dice.pick(&CONTENTS));
                scenario.start.push(format!("{path} = {content}{mode}\n"));
            }
        }
    }
}

fn quoted_for_start(content: &str) -> String {
    format!("\"{}\"", content.replace('\n', "\\n"))
}

/// One resource of a theme, or a few that belong together.
pub(super) fn declare(theme: Theme, pool: &mut Pool, dice: &mut Dice) -> Vec<Declaration> {
    if dice.once_in(12) {
        return vec![anything(pool, dice)];
    }
    let one = match theme {
        Theme::Files => {
            if dice.once_in(4) {
                command(pool, dice)
            } else {
                file(pool, dice)
            }
        }
        Theme::Commands => {
            if dice.once_in(3) {
                file(pool, dice)
            } else {
                command(pool, dice)
            }
        }
        Theme::Accounts => account(pool, dice),
        Theme::Jobs => job(pool, dice),
        Theme::Hosts => host(pool, dice),
        Theme::Keys => key(pool, dice),
        Theme::Packages => package(pool, dice),
        Theme::Services => service(pool, dice),
        Theme::Lines => return line(pool, dice),
        Theme::Mounts => mount(pool, dice),
    };
    vec![one]
}

fn anything(pool: &mut Pool, dice: &mut Dice) -> Declaration {
    match dice.below(4) {
        0 => Declaration::new("notify", "said"),
        1 => Declaration::new("anchor", &pool.title("anchor")),
        2 => {
            if !dice.once_in(3) {
                return command(pool, dice);
            }
            let tidy = Declaration::new("tidy", dice.pick(&["/srv/d", "/srv/a"]));
            if dice.once_in(2) { tidy.with("recurse", "true").with("matches", "a*") } else { tidy }
        }
        _ => command(pool, dice),
    }
}

fn file(pool: &mut Pool, dice: &mut Dice) -> Declaration {
    let path = pool.path(dice);
    file_at(path, pool, dice)
}

fn file_at(path: &str, pool: &mut Pool, dice: &mut Dice) -> Declaration {
    let natural_directory = matches!(path, "/srv/d" | "/srv/d/e") && !dice.once_in(3);
    let mut file = Declaration::new("file", path);
    let form = if natural_directory { 5 + dice.below(4) } else { dice.below(14) };
    file = match form {
        0..=2 => file.with_text("content", quoted(dice.pick(&CONTENTS))),
        3 => file.with("ensure", "file").with_text("content", quoted(dice.pick(&CONTENTS))),
        4 => file.with("ensure", dice.pick(&["file", "present"])),
        5 => file.with("ensure", "directory"),
        6 => file.with("ensure", "directory").with("recurse", "true"),
        7 => file.with("ensure", "directory").with("recurse", "true").with("purge", "true"),
        8 => file
            .with("ensure", "directory")
            .with("recurse", dice.pick(&["true", "remote"]))
            .with("source", dice.pick(&["/srv/t", "/srv/g", "puppet:///modules/m/tree"])),
        9 => {
            let target = pool.path(dice);
            let target = if target == path { "/srv/none" } else { target };
            file.with("ensure", "link").with("target", target)
        }
        10 | 11 => file.with("ensure", "absent"),
        12 => {
            let local = pool.path(dice);
            file.with("source", dice.pick(&[local, "puppet:///modules/m/one"]))
        }
        _ => file.with("mode", dice.pick(&MODES)),
    };
    if dice.once_in(4) && !file.has("mode") {
        file = file.with("mode", dice.pick(&MODES));
    }
    if dice.once_in(8) {
        file = file.with("owner", dice.pick(&["alice", "daemon", "0"]));
    }
    if dice.once_in(10) {
        file = file.with("group", dice.pick(&["team", "adm"]));
    }
    if dice.once_in(4) {
        file = file.with("force", "true");
    }
    if dice.once_in(8) {
        file = file.with("replace", "false");
    }
    if dice.once_in(15) {
        file = file.with("backup", dice.pick(&["false", ".old"]));
    }
    if dice.once_in(15) {
        file = file.with("links", dice.pick(&["follow", "manage"]));
    }
    file
}

/// What a command may do to two paths.
fn done(one: &str, other: &str, dice: &mut Dice) -> String {
    match dice.below(34) {
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

fn asked(path: &str, dice: &mut Dice) -> String {
    match dice.below(7) {
        0 | 1 => format!("test -e {path}"),
        2 => format!("test -f {path}"),
        3 => format!("test -d {path}"),
        4 => format!("test ! -e {path}"),
        5 => format!("test -L {path}"),
        _ => format!("grep -q x {path}"),
    }
}

fn command(pool: &mut Pool, dice: &mut Dice) -> Declaration {
    let (one, other) = (pool.path(dice), pool.path(dice));
    let command = done(one, other, dice);
    let exec = exec(&pool.title("e"), &command);
    guarded(exec, pool, dice)
}

fn exec(title: &str, command: &str) -> Declaration {
    Declaration::new("exec", title)
        .with_text("command", quoted(command))
        .with("provider", "shell")
        .with("path", "/bin:/usr/bin:/sbin:/usr/sbin")
}

fn guarded(mut exec: Declaration, pool: &Pool, dice: &mut Dice) -> Declaration {
    if dice.once_in(4) {
        exec = exec.with("creates", pool.path(dice));
    }
    if dice.once_in(5) {
        exec = exec.with("unless", &asked(pool.path(dice), dice));
    }
    if dice.once_in(6) {
        exec = exec.with("onlyif", &asked(pool.path(dice), dice));
    }
    if dice.once_in(5) {
        exec = exec.with("refreshonly", "true");
    }
    if dice.once_in(20) {
        exec = exec.with("cwd", pool.path(dice));
    }
    if dice.once_in(20) {
        exec = exec.with_text("returns", dice.pick(&["[0, 1]", "1"]).to_owned());
    }
    exec
}

fn account(pool: &mut Pool, dice: &mut Dice) -> Declaration {
    let user = dice.pick(&["alice", "bob"]);
    let group = dice.pick(&["team", "ops"]);
    match dice.below(8) {
        0..=2 => {
            let mut one = Declaration::new("user", user);
            one = one.with("ensure", if dice.once_in(4) { "absent" } else { "present" });
            if dice.once_in(2) {
                one = one.with("managehome", "true");
            }
            if dice.once_in(4) {
                one = one.with("gid", group);
            }
            if dice.once_in(3) {
                let groups = dice.pick(&["['team']", "['team', 'ops']", "'ops'", "'adm'"]);
                one = one.with_text("groups", groups.to_owned());
            }
            if dice.once_in(6) {
                one = one.with("membership", dice.pick(&["inclusive", "minimum"]));
            }
            if dice.once_in(5) {
                one = one.with("uid", dice.pick(&["3001", "3002"]));
            }
            if dice.once_in(5) {
                one = one.with("shell", dice.pick(&["/bin/sh", "/bin/bash"]));
            }
            if dice.once_in(6) {
                one = one.with("home", dice.pick(&["/srv/home", "/home/alice"]));
            }
            if dice.once_in(8) {
                one = one.with("comment", "A user");
            }
            one
        }
        3 | 4 => {
            let group = dice.pick(&["team", "ops", "alice"]);
            let one = Declaration::new("group", group);
            let one = one.with("ensure", if dice.once_in(4) { "absent" } else { "present" });
            if dice.once_in(4) { one.with("gid", dice.pick(&["3101", "3102"])) } else { one }
        }
        5 => {
            let command = match dice.below(7) {
                0 => format!("useradd {user}"),
                1 => format!("useradd -m {user}"),
                2 => format!("userdel {user}"),
                3 => format!("groupadd {group}"),
                4 => format!("groupdel {group}"),
                5 => format!("usermod -aG {group} {user}"),
                _ => format!("useradd -g {group} {user}"),
            };
            let exec = exec(&pool.title("e"), &command);
            match dice.below(4) {
                0 => exec.with("unless", &format!("getent passwd {user}")),
                1 => exec.with("onlyif", &format!("getent group {group}")),
                2 => exec.with("unless", &format!("id {user}")),
                _ => exec,
            }
        }
        6 => Declaration::new("file", dice.pick(&["/home/alice", "/srv/home"]))
            .with("ensure", if dice.once_in(4) { "absent" } else { "directory" })
            .with("force", "true")
            .with("owner", user),
        _ => {
            let file = Declaration::new("file", "/srv/a").with_text("content", quoted("x\n"));
            let file = file.with("owner", user);
            if dice.once_in(2) { file.with("group", group) } else { file }
        }
    }
}

fn job(pool: &mut Pool, dice: &mut Dice) -> Declaration {
    let user = dice.pick(&["root", "root", "alice"]);
    match dice.below(8) {
        0..=4 => {
            let job = Declaration::new("cron", dice.pick(&["j1", "j2", "j3"]));
            if dice.once_in(5) {
                return job.with("ensure", "absent").with("user", user);
            }
            let job = job.with("command", dice.pick(&["/bin/true", "/bin/false"])).with("user", user);
            match dice.below(5) {
                0 => job.with("special", "daily"),
                1 => job.with("minute", "5").with("hour", "*"),
                2 => job.with_text("minute", "[0, 30]".to_owned()).with("weekday", "Monday"),
                3 => job.with("minute", "5").with("environment", "A=b"),
                _ => job.with("minute", "5"),
            }
        }
        5 => Declaration::new("user", "alice").with("ensure", dice.pick(&["present", "present", "absent"])),
        6 => Declaration::new("resources", "cron").with("purge", "true"),
        _ => {
            let path = format!("/var/spool/cron/crontabs/{user}");
            if dice.once_in(2) {
                Declaration::new("file", &path).with("mode", "0600")
            } else {
                exec(&pool.title("e"), &format!("rm -f {path}"))
            }
        }
    }
}

fn host(pool: &mut Pool, dice: &mut Dice) -> Declaration {
    let path = "/etc/hosts";
    match dice.below(9) {
        0..=4 => {
            let mut host = Declaration::new("host", dice.pick(&["h1", "h2", "localhost"]));
            if dice.once_in(5) {
                host = host.with("ensure", "absent");
            } else {
                host = host.with("ip", dice.pick(&["10.0.0.1", "10.0.0.2"]));
            }
            if dice.once_in(4) {
                host = host.with("host_aliases", dice.pick(&["alias", "other"]));
            }
            host
        }
        5 => Declaration::new("resources", "host").with("purge", "true"),
        6 => {
            let file = Declaration::new("file", path);
            match dice.below(4) {
                0 => file.with("ensure", "absent"),
                1 => file.with("mode", "0600"),
                _ => file
                    .with_text("content", quoted(dice.pick(&["10.0.0.1\th1\n", "127.0.0.1\tlocalhost\n"]))),
            }
        }
        7 => {
            let line = dice.pick(&["10.0.0.9 h9", "10.0.0.1\th1"]);
            Declaration::new("file_line", &pool.title("line"))
                .with("path", path)
                .with_text("line", quoted(line))
        }
        _ => {
            let exec = exec(&pool.title("e"), &format!("echo 10.0.0.9 h9 >> {path}"));
            if dice.once_in(2) {
                exec.with("unless", &format!("grep -qx '10.0.0.9 h9' {path}"))
            } else {
                exec
            }
        }
    }
}

fn key(pool: &mut Pool, dice: &mut Dice) -> Declaration {
    let user = dice.pick(&["alice", "root"]);
    match dice.below(9) {
        0..=2 => {
            let key = Declaration::new("ssh_authorized_key", dice.pick(&["k1", "k2"])).with("user", user);
            if dice.once_in(4) {
                return key.with("ensure", "absent");
            }
            let key = key.with("type", "ssh-rsa").with("key", dice.pick(&["AAAA", "BBBB"]));
            if dice.once_in(6) { key.with("target", "/srv/keys") } else { key }
        }
        3 => {
            let key = Declaration::new("sshkey", dice.pick(&["h1", "h2"])).with("type", "ssh-rsa");
            if dice.once_in(4) {
                return key.with("ensure", "absent");
            }
            let key = key.with("key", dice.pick(&["AAAA", "BBBB"]));
            if dice.once_in(4) { key.with("host_aliases", "alias") } else { key }
        }
        4 => {
            let user = Declaration::new("user", "alice");
            let user = user.with("ensure", if dice.once_in(5) { "absent" } else { "present" });
            let user = if dice.once_in(2) { user.with("managehome", "true") } else { user };
            if dice.once_in(3) { user.with("purge_ssh_keys", "true") } else { user }
        }
        5 => {
            let path = dice.pick(&["/home/alice", "/home/alice/.ssh", "/root/.ssh", "/etc/ssh"]);
            let file = Declaration::new("file", path).with("ensure", "directory");
            if dice.once_in(3) { file.with("mode", "0700") } else { file }
        }
        6 => {
            let path = dice.pick(&[
                "/home/alice/.ssh/authorized_keys",
                "/root/.ssh/authorized_keys",
                "/etc/ssh/ssh_known_hosts",
            ]);
            let file = Declaration::new("file", path);
            match dice.below(3) {
                0 => file.with("ensure", "absent"),
                1 => file.with("mode", "0600"),
                _ => file.with("ensure", "file"),
            }
        }
        7 => exec(&pool.title("e"), "mkdir -p /home/alice/.ssh"),
        _ => Declaration::new("resources", "sshkey").with("purge", "true"),
    }
}

fn package(pool: &mut Pool, dice: &mut Dice) -> Declaration {
    let name = dice.pick(&["foo", "foo", "bar"]);
    match dice.below(9) {
        0..=3 => Declaration::new("package", name)
            .with("ensure", dice.pick(&["present", "installed", "latest", "absent", "purged", "1.0"])),
        4 | 5 => {
            let file = Declaration::new("file", dice.pick(&["/etc/foo.conf", "/opt/foo/a", "/opt/bar/b"]));
            match dice.below(5) {
                0 => file.with("ensure", "absent"),
                1 => file.with("mode", "0600"),
                2 => file.with_text("content", quoted("mine\n")).with("owner", "bar"),
                _ => file.with_text("content", quoted("mine\n")),
            }
        }
        6 => {
            let file = Declaration::new("file", dice.pick(&["/opt/foo", "/opt/bar"]));
            match dice.below(4) {
                0 => file.with("ensure", "absent").with("force", "true"),
                1 => file.with("ensure", "directory").with("recurse", "true").with("purge", "true"),
                _ => file.with("ensure", "directory"),
            }
        }
        7 => {
            let verb = dice.pick(&["remove", "purge"]);
            let exec = exec(&pool.title("e"), &format!("apt-get -q -y {verb} {name}"));
            if dice.once_in(2) { exec.with("unless", &format!("dpkg -s {name}")) } else { exec }
        }
        _ => {
            let command = done("/opt/foo/a", "/etc/foo.conf", dice);
            exec(&pool.title("e"), &command)
        }
    }
}

fn service(pool: &mut Pool, dice: &mut Dice) -> Declaration {
    match dice.below(9) {
        0..=2 => {
            let service = Declaration::new("service", "web");
            let service = service.with("ensure", if dice.once_in(4) { "stopped" } else { "running" });
            if dice.once_in(2) {
                service.with("enable", dice.pick(&["true", "true", "false"]))
            } else {
                service
            }
        }
        3 | 4 => {
            let file = Declaration::new("file", "/etc/web.conf");
            match dice.below(4) {
                0 => file.with("ensure", "absent"),
                1 => file.with("mode", "0600"),
                _ => file.with_text("content", quoted(dice.pick(&["x\n", "y\n"]))),
            }
        }
        5 => {
            let unit = Declaration::new("file", "/etc/systemd/system/web.service");
            if dice.once_in(3) {
                unit.with("ensure", "absent")
            } else {
                unit.with_text("content", quoted("[Service]\nReads=/etc/web.conf\n"))
            }
        }
        6 => Declaration::new("package", "web").with("ensure", dice.pick(&["present", "absent"])),
        7 => {
            let verb = dice.pick(&["start", "stop", "restart", "reload", "enable", "disable", "try-restart"]);
            let exec = exec(&pool.title("e"), &format!("systemctl {verb} web"));
            match dice.below(4) {
                0 => exec.with("refreshonly", "true"),
                1 => exec.with("unless", "systemctl is-active web"),
                2 => exec.with("onlyif", "systemctl is-enabled web"),
                _ => exec,
            }
        }
        _ => {
            let line = Declaration::new("file_line", &pool.title("line")).with("path", "/etc/web.conf");
            line.with("line", dice.pick(&["x", "z"]))
        }
    }
}

fn line(pool: &mut Pool, dice: &mut Dice) -> Vec<Declaration> {
    let path = dice.pick(&["/srv/c", "/srv/c", "/srv/i"]);
    let one = match dice.below(10) {
        0..=2 => {
            let mut line = Declaration::new("file_line", &pool.title("line"));
            line = line.with("path", path).with("line", dice.pick(&["one", "two", "k = 2", "k = 1"]));
            if dice.once_in(4) {
                line = line.with("ensure", "absent");
            }
            if dice.once_in(2) {
                line = line.with("match", dice.pick(&["^one", "^k = ", "o"]));
                for (name, chance) in
                    [("append_on_no_match", 5), ("replace", 5), ("multiple", 4), ("match_for_absence", 3)]
                {
                    if dice.once_in(chance) {
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
            let setting = setting.with("section", dice.pick(&["s", "t", ""]));
            let setting = setting.with("setting", dice.pick(&["k", "j"]));
            if dice.once_in(4) {
                setting.with("ensure", "absent")
            } else {
                setting.with("value", dice.pick(&["1", "2"]))
            }
        }
        5 => {
            let part = Declaration::new("ini_subsetting", &pool.title("part")).with("path", path);
            let part =
                part.with("section", "s").with("setting", "j").with("subsetting", dice.pick(&["a", "c"]));
            if dice.once_in(4) {
                part.with("ensure", "absent")
            } else {
                part.with("value", dice.pick(&["", "9"]))
            }
        }
        6 => {
            let file = Declaration::new("file", path);
            match dice.below(5) {
                0 => file.with("ensure", "absent"),
                1 => file.with("ensure", "file"),
                2 => file.with("mode", "0600"),
                _ => file.with_text("content", quoted(dice.pick(&["one\n", "k = 1\n", "[s]\nk = 1\n"]))),
            }
        }
        7 => {
            let command = match dice.below(6) {
                0 => format!("echo one >> {path}"),
                1 => format!("echo 'k = 2' >> {path}"),
                2 => format!("sed -i 's/^k = .*/k = 2/' {path}"),
                3 => format!("sed -i '/^one/d' {path}"),
                4 => format!("sed -i s/one/two/ {path}"),
                _ => format!("echo one > {path}"),
            };
            let exec = exec(&pool.title("e"), &command);
            match dice.below(3) {
                0 => exec.with("unless", &format!("grep -q one {path}")),
                1 => exec.with("unless", &format!("grep -qx 'k = 2' {path}")),
                _ => exec,
            }
        }
        _ => {
            let mut made = vec![Declaration::new("concat", path)];
            if dice.once_in(4) {
                made[0] = made[0].clone().with("ensure", "absent");
            }
            if dice.once_in(4) {
                made[0] = made[0].clone().with("ensure_newline", "true");
            }
            for _ in 0..=dice.below(2) {
                made.push(
                    Declaration::new("concat::fragment", &pool.title("part"))
                        .with("target", path)
                        .with_text("content", quoted(dice.pick(&["one\n", "k = 1\n", "two"])))
                        .with("order", dice.pick(&["1", "02", "10"])),
                );
            }
            return made;
        }
    };
    vec![one]
}

fn mount(pool: &mut Pool, dice: &mut Dice) -> Declaration {
    match dice.below(6) {
        0..=2 => {
            let mount = Declaration::new("mount", "/srv/m");
            let ensure = dice.pick(&["present", "mounted", "mounted", "unmounted", "absent", "defined"]);
            let mount = mount.with("ensure", ensure).with("device", dice.pick(&["/dev/sda1", "/dev/sdb1"]));
            let mount = mount.with("fstype", "ext4");
            if dice.once_in(3) { mount.with("options", "noatime") } else { mount }
        }
        3 => Declaration::new("file", "/srv/m")
            .with("ensure", if dice.once_in(4) { "absent" } else { "directory" }),
        4 => {
            let command = dice.pick(&["mkdir -p /srv/m", "rmdir /srv/m", "touch /srv/m/a", "rm -rf /srv/m"]);
            exec(&pool.title("e"), command)
        }
        _ => Declaration::new("file", "/srv/m/a").with_text("content", quoted("x\n")),
    }
}
