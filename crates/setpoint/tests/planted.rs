//! Changes planted in the example repository, one at a time: the first ten lines of the comment say what each does, and
//! whitespace, comments and moves say that nothing changes. A secret is in no line.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An edit of a file.
enum Edit {
    /// The first text becomes the second, wherever it stands; it must stand somewhere.
    Replace(&'static str, &'static str, &'static str),
    Append(&'static str, &'static str),
    Write(&'static str, &'static [u8]),
    Rename(&'static str, &'static str),
    /// A link at the first path to the second.
    Link(&'static str, &'static str),
    /// A file, or a folder with all that is in it.
    Remove(&'static str),
}

use Edit::{Append, Link, Remove, Rename, Replace, Write};

struct Plant {
    name: &'static str,
    /// Committed before the change.
    before: &'static [Edit],
    change: &'static [Edit],
    /// What the first ten lines have.
    head: &'static [&'static str],
    /// What the comment has anywhere.
    body: &'static [&'static str],
    /// What the comment has nowhere.
    without: &'static [&'static str],
    status: i32,
}

const NOTHING: Plant =
    Plant { name: "", before: &[], change: &[], head: &["no change"], body: &[], without: &[], status: 0 };

const BASE: &str = "site-modules/profile/manifests/base.pp";
const NGINX: &str = "modules/nginx/manifests/init.pp";
const SITE: &str = "manifests/site.pp";
const OLD_SECRET: &str = "AQEBBQAEggEAShopStandIn1";
const NEW_SECRET: &str = "AQEBBQAEggEAShopStandIn9";

const CACHE_FACTS: &[u8] = b"---
os: {name: Debian, family: Debian, architecture: amd64, release: {full: '12.5', major: '12'}}
kernel: Linux
role: cache
processors: {count: 2}
memory: {system: {total_bytes: 8589934592}}
networking: {fqdn: cache1.shop.example, hostname: cache1, domain: shop.example, ip: 10.20.0.51}
";

/// Where a plant of the base profile stands.
const SOIL: &str = "  contain chrony\n";
const IN_CIRCLES: Edit = Replace(
    "modules/chrony/manifests/init.pp",
    "    ensure => installed,\n",
    "    ensure  => installed,\n    require => Service[$service],\n",
);

static PLANTS: &[Plant] = &[
    Plant {
        name: "a source that moves with its bytes",
        before: &[
            Write("modules/chrony/files/a", b"x\n"),
            Replace(
                BASE,
                SOIL,
                "  contain chrony\n  file { '/etc/a': source => 'puppet:///modules/chrony/a' }\n",
            ),
        ],
        change: &[
            Rename("modules/chrony/files/a", "modules/chrony/files/b"),
            Replace(BASE, "modules/chrony/a", "modules/chrony/b"),
        ],
        ..NOTHING
    },
    Plant {
        name: "a source that moves to other bytes",
        before: &[
            Write("modules/chrony/files/a", b"x\n"),
            Write("modules/chrony/files/b", b"y\n"),
            Replace(
                BASE,
                SOIL,
                "  contain chrony\n  file { '/etc/a': source => 'puppet:///modules/chrony/a' }\n",
            ),
        ],
        change: &[Replace(BASE, "modules/chrony/a", "modules/chrony/b")],
        head: &["7 of 7 nodes change", "`~ File[/etc/a] source`"],
        ..NOTHING
    },
    Plant {
        name: "blanks at the ends of lines",
        before: &[
            Write("modules/chrony/files/a", b"x\ny\nz\n"),
            Replace(BASE, SOIL, "  contain chrony\n  file { '/etc/a': content => file('chrony/a') }\n"),
        ],
        change: &[Write("modules/chrony/files/a", b"x\ny \t\nz\r\n")],
        head: &["7 of 7 nodes change", "`~ File[/etc/a] content`"],
        body: &["\n+ y␠␉\n+ z␍\n", "\n+     y␠␉\n", "\n+     z␍\n"],
        ..NOTHING
    },
    Plant {
        name: "a password in plain data",
        before: &[
            Append("data/common.yaml", "\nchat::password_of_bot: hunter2plain\nchat::password_authentication: no\n"),
            Replace(
                BASE,
                SOIL,
                "  contain chrony\n  file { '/etc/p': content => \"pw ${lookup('chat::password_of_bot')}\" }\n  \
                 notify { \"auth ${lookup('chat::password_authentication')}\": }\n",
            ),
        ],
        change: &[
            Replace("data/common.yaml", "hunter2plain", "hunter3plain"),
            Replace("data/common.yaml", "password_authentication: no", "password_authentication: yes"),
        ],
        head: &["7 of 7 nodes change", "`~ File[/etc/p] content`"],
        body: &["- (not shown: a secret stands here)", "+ chat::password_authentication: yes"],
        without: &["hunter2plain", "hunter3plain"],
        ..NOTHING
    },
    Plant {
        name: "names of nodes that an expression takes over",
        before: &[Replace(
            SITE,
            "node /^web\\d+\\.shop\\.example$/",
            "node 'web1.shop.example', 'web2.shop.example', 'web3.shop.example', 'web4.shop.example'",
        )],
        change: &[Replace(
            SITE,
            "node 'web1.shop.example', 'web2.shop.example', 'web3.shop.example', 'web4.shop.example'",
            "node /^web\\d+\\.shop\\.example$/",
        )],
        body: &["| ✅ same catalog, same file contents | 8 |"],
        without: &["➖ removed"],
        ..NOTHING
    },
    Plant {
        name: "an expression that names of nodes take over",
        change: &[Replace(
            SITE,
            "node /^web\\d+\\.shop\\.example$/",
            "node 'web1.shop.example', 'web2.shop.example', 'web3.shop.example', 'web4.shop.example'",
        )],
        body: &["| ✅ same catalog, same file contents | 8 |"],
        without: &["➕ new"],
        ..NOTHING
    },
    Plant {
        name: "a module that is not installed",
        change: &[
            Write("Puppetfile", b"mod 'puppetlabs/motd', '1.0.0'\n"),
            Replace(BASE, SOIL, "  contain chrony\n  include motd\n"),
        ],
        head: &["nothing was compared"],
        body: &["| ➖ not looked at | 7 | Could not find class ::motd", "it is not installed: run `r10k puppetfile install`."],
        ..NOTHING
    },
    Plant {
        name: "a cycle in both versions",
        before: &[IN_CIRCLES],
        change: &[Replace(BASE, SOIL, "  contain   chrony\n")],
        head: &["no node works, before or after", "| ➖ fail, before and after | 7 |"],
        body: &["the agent can apply neither version: "],
        ..NOTHING
    },
    Plant {
        name: "a cycle in both versions, and a change",
        before: &[IN_CIRCLES],
        change: &[Replace(BASE, SOIL, "  contain chrony\n  notify { 'x': }\n")],
        head: &["no node works, before or after", "`+ Notify[x]`"],
        body: &["| ➖ fail, before and after | 7 |", "the agent can apply neither version: "],
        ..NOTHING
    },
    Plant {
        name: "a custom fact",
        before: &[Write("modules/chrony/lib/facter/clock.rb", b"# before\n")],
        change: &[Write("modules/chrony/lib/facter/clock.rb", b"# after\n")],
        head: &["no change in what was compared", "`modules/chrony/lib/facter/clock.rb` changed and was not compared"],
        ..NOTHING
    },
    Plant {
        name: "a function in Ruby that is not run",
        before: &[
            Write(
                "modules/chrony/lib/puppet/functions/chrony/zone.rb",
                b"Puppet::Functions.create_function(:'chrony::zone') do\n  def zone()\n    `hostname`\n  end\nend\n",
            ),
            Replace(BASE, SOIL, "  contain chrony\n  file { '/etc/zone': content => chrony::zone() }\n"),
        ],
        change: &[Replace("modules/chrony/lib/puppet/functions/chrony/zone.rb", "hostname", "date")],
        head: &["7 of 7 nodes change", "`~ File[/etc/zone] content`"],
        body: &["functions/chrony/zone.rb:3"],
        without: &["not explained"],
        ..NOTHING
    },
    Plant {
        name: "a provider",
        change: &[Write("modules/chrony/lib/puppet/provider/clock/ruby.rb", b"# after\n")],
        head: &["no change in what was compared", "provider/clock/ruby.rb` changed and was not compared"],
        ..NOTHING
    },
    Plant {
        name: "a collector of exported resources",
        change: &[Replace(BASE, SOIL, "  contain chrony\n  Host <<| tag == 'x' |>>\n")],
        head: &[
            "no change in what was compared",
            "what `Host <<| tag == 'x' |>>` (site-modules/profile/manifests/base.pp:9) collects from other nodes on 7 nodes was not compared",
        ],
        ..NOTHING
    },
    Plant {
        name: "Sensitive taken away",
        before: &[Replace(BASE, SOIL, "  contain chrony\n  file { '/etc/s': content => Sensitive('hunter2x') }\n")],
        change: &[Replace(BASE, "Sensitive('hunter2x')", "'hunter2x'")],
        head: &["7 of 7 nodes change", "`~ File[/etc/s] content`"],
        body: &["-     (Sensitive: hidden in reports and logs)", "+     (not Sensitive: shown in reports and logs)"],
        without: &["hunter2x"],
        ..NOTHING
    },
    Plant {
        name: "a level of the hierarchy",
        change: &[Replace("hiera.yaml", "      - \"os/%{facts.os.family}.yaml\"\n", "")],
        head: &[],
        body: &["Catalog changes: hiera.yaml:20: "],
        without: &["not explained"],
        ..NOTHING
    },
    Plant {
        name: "facts of a node",
        change: &[Replace("facts/web1.shop.example.yaml", "role: webserver", "role: build")],
        head: &["1 of 7 nodes change"],
        body: &["facts/web1.shop.example.yaml"],
        without: &["not explained"],
        ..NOTHING
    },
    Plant {
        name: "the ends of lines of a template",
        change: &[Replace("modules/chrony/templates/chrony.conf.erb", "\n", "\r\n")],
        head: &["7 of 7 nodes change", "`~ File[/etc/chrony/chrony.conf] content`"],
        body: &["modules/chrony/templates/chrony.conf.erb"],
        without: &["not explained"],
        ..NOTHING
    },
    Plant {
        name: "a pin on the following line, in a variable and in a table",
        before: &[Write(
            "Puppetfile",
            b"apt = '1.0'\nALL = {\n  'ntp' => '1.1',\n}\nmod 'puppetlabs/stdlib',\n  '9.4.0'\nmod 'puppetlabs/apt', apt\nmod 'x/ntp', ALL['ntp']\n",
        )],
        change: &[Write(
            "Puppetfile",
            b"apt = '2.0'\nALL = {\n  'ntp' => '2.1',\n}\nmod 'puppetlabs/stdlib',\n  '9.7.0'\nmod 'puppetlabs/apt', apt\nmod 'x/ntp', ALL['ntp']\n",
        )],
        head: &[
            "no change in what was compared",
            "apt 1.0 → 2.0 was not compared; ntp 1.1 → 2.1 was not compared; stdlib 9.4.0 → 9.7.0 was not compared.**",
        ],
        ..NOTHING
    },
    Plant {
        name: "a manifest that no node uses",
        change: &[Write("modules/nginx/manifests/unused.pp", b"class nginx::unused { notify { 'x': } }\n")],
        head: &[
            "➖ Setpoint: no change, and no node uses what was edited",
            "ℹ️ No node uses `modules/nginx/manifests/unused.pp`, which the change edits",
        ],
        ..NOTHING
    },
    Plant {
        name: "a source of a type that a module brings",
        before: &[
            Write(
                "modules/chrony/lib/puppet/type/piece.rb",
                b"Puppet::Type.newtype(:piece) do\n  newparam(:name)\n  newparam(:source)\nend\n",
            ),
            Write("modules/chrony/files/piece", b"one\n"),
            Replace(
                BASE,
                SOIL,
                "  contain chrony\n  piece { 'x': source => 'puppet:///modules/chrony/piece' }\n",
            ),
        ],
        change: &[Write("modules/chrony/files/piece", b"two\n")],
        head: &["7 of 7 nodes change", "`~ Piece[x] source`"],
        ..NOTHING
    },
    Plant {
        name: "a lens",
        before: &[Write("modules/chrony/lib/augeas/lenses/shop.aug", b"(* before *)\n")],
        change: &[Write("modules/chrony/lib/augeas/lenses/shop.aug", b"(* after *)\n")],
        head: &[
            "no change in what was compared",
            "How Augeas reads a file: `modules/chrony/lib/augeas/lenses/shop.aug` changed and was not compared",
        ],
        ..NOTHING
    },
    Plant {
        name: "a class that is included and no longer contained",
        change: &[Replace(BASE, "  contain chrony\n", "  include chrony\n")],
        head: &["7 of 7 nodes change", "`~ Class[Chrony] contained in`"],
        body: &["-     Class[Profile::Base]"],
        without: &["not explained"],
        ..NOTHING
    },
    Plant {
        name: "references in another order",
        before: &[Replace(
            BASE,
            SOIL,
            "  contain chrony\n  file { '/etc/r': require => [Package['chrony'], File['/etc/motd']] }\n",
        )],
        change: &[Replace(
            BASE,
            "[Package['chrony'], File['/etc/motd']]",
            "[File['/etc/motd'], Package['chrony']]",
        )],
        ..NOTHING
    },
    Plant {
        name: "resources that change alike",
        change: &[Replace(
            BASE,
            SOIL,
            "  contain chrony\n  ['a', 'b', 'c'].each |$x| { file { \"/etc/shop-${x}\": content => 'x' } }\n",
        )],
        head: &["7 of 7 nodes change", "`+ File[/etc/shop-a]` and 2 alike"],
        ..NOTHING
    },
    Plant {
        name: "a node whose name is made up",
        before: &[Append("manifests/site.pp", "node /^edge\\d+\\.x$/ { file { '/etc/e': content => 'x' } }\n")],
        change: &[Replace("manifests/site.pp", "'/etc/e': content => 'x'", "'/etc/e': content => 'y'")],
        head: &["1 of 8 nodes change", "`edge1.x`¹†"],
        body: &["† a name made up for the regular expression of a node statement."],
        without: &["made up for /"],
        ..NOTHING
    },
    Plant {
        name: "data that cannot be read",
        change: &[Append("data/common.yaml", "\t- x: [\n")],
        head: &["this change stops Puppet on 7 nodes"],
        body: &["The change edits `data/common.yaml`."],
        without: &["#### ❌ New: Unable to parse (./data/common.yaml): found a tab character that violates indentation \
            while scanning a plain scalar at line 50 column 1\n```diff\n  site-modules/role/manifests/monitoring.pp",
            "collects from other nodes"],
        status: 1,
        ..NOTHING
    },
    Plant {
        name: "a title with markup",
        change: &[Replace(
            BASE,
            SOIL,
            "  contain chrony\n  notify { \"a\\n\\n# Owned\\n</details><h1>Owned</h1> `x` | y\": }\n",
        )],
        head: &["7 of 7 nodes change"],
        without: &["\n# Owned", "\n</details><h1>"],
        ..NOTHING
    },
    Plant {
        name: "a comment that silences taken away",
        before: &[Replace(
            BASE,
            SOIL,
            "  contain chrony\n  # setpoint:allow(always-fails) it is a drill\n  exec { '/bin/false': }\n",
        )],
        change: &[Replace(BASE, "  # setpoint:allow(always-fails) it is a drill\n", "")],
        head: &["this change brings 1 error"],
        body: &["A comment silenced it before this change: it is a drill"],
        status: 1,
        ..NOTHING
    },
    Plant {
        name: "a comment that silences without a reason",
        change: &[Replace(BASE, SOIL, "  # setpoint:allow(missing-order)\n  contain chrony\n")],
        head: &["this change brings 1 error"],
        body: &["This comment silences findings and does not say why, so it silences nothing"],
        status: 1,
        ..NOTHING
    },
    Plant {
        name: "a file that becomes a link out of the repository",
        before: &[
            Write("modules/chrony/files/keys", b"before\n"),
            Replace(BASE, SOIL, "  contain chrony\n  file { '/etc/keys': content => file('chrony/keys') }\n"),
        ],
        change: &[Link("modules/chrony/files/keys", "/etc/hostname")],
        head: &["7 of 7 nodes change", "`~ File[/etc/keys] content`"],
        ..NOTHING
    },
    Plant {
        name: "a link out of the repository that becomes a file",
        before: &[
            Write("modules/chrony/files/keep", b""),
            Link("modules/chrony/files/keys", "/etc/hostname"),
            Replace(BASE, SOIL, "  contain chrony\n  file { '/etc/keys': content => file('chrony/keys') }\n"),
        ],
        change: &[Remove("modules/chrony/files/keys"), Write("modules/chrony/files/keys", b"after\n")],
        head: &["7 of 7 nodes change", "`~ File[/etc/keys] content`"],
        ..NOTHING
    },
    Plant {
        name: "a package of a provider that a module brings",
        before: &[Write("modules/chrony/lib/puppet/provider/package/npm.rb", b"# a provider\n")],
        change: &[Replace(BASE, SOIL, "  contain chrony\n  package { 'bower': provider => 'npm' }\n")],
        head: &["7 of 7 nodes change", "`+ Package[bower]`"],
        ..NOTHING
    },
    Plant {
        name: "all manifests removed",
        change: &[Remove("manifests")],
        head: &["7 of 7 nodes change"],
        ..NOTHING
    },
    Plant {
        name: "a node in capitals",
        change: &[Replace(SITE, "node 'mon1.shop.example'", "node 'MON1.shop.example'")],
        ..NOTHING
    },
    Plant {
        name: "whitespace",
        change: &[
            Replace(BASE, "  contain chrony\n", "\n\n    contain   chrony\n"),
            Replace("data/common.yaml", "backup_server: backup", "backup_server:   backup"),
        ],
        ..NOTHING
    },
    Plant {
        name: "comments",
        change: &[
            Replace(BASE, "  contain chrony\n", "  # The clock first.\n  contain chrony # really\n"),
            Replace(
                "data/common.yaml",
                "postgres::version: 15",
                "# As Debian has it.\npostgres::version: 15",
            ),
            Append("site-modules/profile/templates/motd.epp", "<%# nothing -%>\n"),
        ],
        ..NOTHING
    },
    Plant { name: "quotes", change: &[Replace(BASE, "'/etc/motd'", "\"/etc/motd\"")], ..NOTHING },
    Plant {
        name: "code moved within a class",
        change: &[
            Replace(
                "site-modules/profile/manifests/backup.pp",
                "  package { 'rsync':\n    ensure => installed,\n  }\n\n",
                "",
            ),
            Replace(
                "site-modules/profile/manifests/backup.pp",
                "  # Not all databases",
                "  package { 'rsync':\n    ensure => installed,\n  }\n\n  # Not all databases",
            ),
        ],
        ..NOTHING
    },
    Plant {
        name: "code moved into a function's file",
        change: &[
            Replace(BASE, "  contain chrony\n", "  contain chrony\n  $clock = 'chrony'\n"),
            Replace(BASE, "Class['chrony'] ->", "Class[$clock] ->"),
        ],
        ..NOTHING
    },
    Plant {
        name: "data moved to another level",
        change: &[
            Replace("data/common.yaml", "profile::backup::hour: 2\n", ""),
            Append("data/roles/database.yaml", "profile::backup::hour: 2\n"),
        ],
        ..NOTHING
    },
    Plant { name: "a README", change: &[Append("README.md", "More.\n")], ..NOTHING },
    Plant {
        name: "a cycle",
        change: &[Replace(
            "modules/chrony/manifests/init.pp",
            "    ensure => installed,\n",
            "    ensure  => installed,\n    require => Service[$service],\n",
        )],
        head: &["❌ Setpoint: this change stops Puppet on 7 nodes", "| ❌ will fail | 7 |"],
        body: &[
            "#### ❌ New: dependency cycle: the agent will apply nothing",
            "+ 10      require => Service[$service],",
            "**Fix (checked on 7 nodes):**",
        ],
        // No comment silences what the agent refuses.
        without: &["Silence: "],
        status: 1,
        ..NOTHING
    },
    Plant {
        name: "a removed require",
        change: &[Replace(
            NGINX,
            "    content => epp('nginx/nginx.conf.epp'),\n    require => Package['nginx'],\n",
            "    content => epp('nginx/nginx.conf.epp'),\n",
        )],
        head: &["3 of 7 nodes change", "`~ File[/etc/nginx/nginx.conf] require`", "| 🔄 will change | 3 |"],
        ..NOTHING
    },
    Plant {
        name: "a bumped module that is not installed",
        before: &[Write("Puppetfile", b"mod 'puppetlabs/stdlib', '9.4.0'\n")],
        change: &[Write("Puppetfile", b"mod 'puppetlabs/stdlib', '9.7.0'\n")],
        head: &["no change in what was compared", "⚠️ **stdlib 9.4.0 → 9.7.0 was not compared.**"],
        ..NOTHING
    },
    Plant {
        name: "a bumped module of the repository",
        before: &[Write("Puppetfile", b"mod 'shop/chrony', '1.0.0'\n")],
        change: &[
            Write("Puppetfile", b"mod 'shop/chrony', '1.1.0'\n"),
            Replace("modules/chrony/templates/chrony.conf.erb", "makestep 1 3", "makestep 1 -1"),
        ],
        head: &["7 of 7 nodes change", "`~ File[/etc/chrony/chrony.conf] content`"],
        ..NOTHING
    },
    Plant {
        name: "a changed EPP template",
        change: &[Replace("site-modules/profile/templates/motd.epp", "Questions:", "Ask:")],
        head: &["7 of 7 nodes change", "`~ File[/etc/motd] content`"],
        body: &["site-modules/profile/templates/motd.epp:3: 7 changes on 7 nodes"],
        ..NOTHING
    },
    Plant {
        name: "a changed ERB template",
        change: &[Replace("modules/nginx/templates/vhost.conf.erb", "server {", "server { # one")],
        head: &["3 of 7 nodes change", "sites-enabled/shop.conf] content` and 6 alike"],
        ..NOTHING
    },
    Plant {
        name: "a changed source file",
        change: &[Append("site-modules/profile/files/release", "two\n")],
        head: &["7 of 7 nodes change", "`~ File[/etc/shop-release] source`"],
        body: &["site-modules/profile/files/release:2", "+ two"],
        ..NOTHING
    },
    Plant {
        name: "a changed binary",
        change: &[Write("site-modules/profile/files/blob", b"\x00\x01\x02\xff")],
        head: &["7 of 7 nodes change", "`~ File[/etc/shop-blob] source`"],
        body: &["- (binary, 3 bytes, sha256 ", "+ (binary, 4 bytes, sha256 "],
        ..NOTHING
    },
    Plant {
        name: "a data key of all nodes",
        change: &[Replace("data/common.yaml", "2.pool.ntp.org", "3.pool.ntp.org")],
        head: &["7 of 7 nodes change", "`~ File[/etc/chrony/chrony.conf] content`"],
        body: &["data/common.yaml:25"],
        ..NOTHING
    },
    Plant {
        name: "a data key of one node",
        change: &[Replace(
            "data/nodes/db2.shop.example.yaml",
            "max_connections: 400",
            "max_connections: 500",
        )],
        head: &["1 of 7 nodes change", "| 🔄 will change | 1 | `db2.shop.example` |"],
        ..NOTHING
    },
    Plant {
        name: "a branch that depends on a fact",
        change: &[Replace(
            "modules/node_exporter/manifests/init.pp",
            "'RedHat' => 'node_exporter'",
            "'RedHat' => 'golang-node-exporter'",
        )],
        head: &["2 of 7 nodes change", "`build1.shop.example`, `web3.shop.example`", "Package["],
        ..NOTHING
    },
    Plant {
        name: "a new node",
        change: &[
            Replace(
                SITE,
                "node default {",
                "node 'cache1.shop.example' {\n  include profile::base\n}\n\nnode default {",
            ),
            Write("facts/cache1.shop.example.yaml", CACHE_FACTS),
        ],
        head: &["1 new node"],
        body: &["| ➕ new | 1 | `cache1.shop.example` |"],
        ..NOTHING
    },
    Plant {
        name: "a new node that does not compile",
        change: &[Replace(
            SITE,
            "node default {",
            "node 'cache1.shop.example' {\n  include profile::cache\n}\n\nnode default {",
        )],
        head: &["this change stops Puppet on 1 node", "| ❌ no longer compile | 1 | `cache1.shop.example`"],
        status: 1,
        ..NOTHING
    },
    Plant {
        name: "a removed node",
        change: &[
            Replace(SITE, "'db1.shop.example', 'db2.shop.example'", "'db1.shop.example'"),
            Remove("facts/db2.shop.example.yaml"),
            Remove("data/nodes/db2.shop.example.yaml"),
        ],
        head: &["1 removed node"],
        body: &["| ➖ removed | 1 | `db2.shop.example` |"],
        ..NOTHING
    },
    Plant {
        name: "a removed resource",
        change: &[Replace(
            "modules/accounts/manifests/init.pp",
            "  file { '/etc/sudoers.d/ops':\n    ensure  => file,\n    mode    => '0440',\n    content => \"%ops ALL=(ALL) NOPASSWD: ALL\\n\",\n    require => Group['ops'],\n  }\n",
            "",
        )],
        head: &["7 of 7 nodes change", "`- File[/etc/sudoers.d/ops]`"],
        ..NOTHING
    },
    Plant {
        name: "an added resource",
        change: &[Replace(
            BASE,
            "  contain chrony\n",
            "  package { 'tmux': ensure => installed }\n  contain chrony\n",
        )],
        head: &["7 of 7 nodes change", "`+ Package[tmux]`"],
        ..NOTHING
    },
    Plant {
        name: "a renamed class",
        change: &[
            Rename("site-modules/profile/manifests/backup.pp", "site-modules/profile/manifests/dumps.pp"),
            Replace(
                "site-modules/profile/manifests/dumps.pp",
                "class profile::backup",
                "class profile::dumps",
            ),
            Replace("site-modules/role/manifests/database.pp", "profile::backup", "profile::dumps"),
            Replace("data/common.yaml", "profile::backup::", "profile::dumps::"),
            Replace("data/nodes/db2.shop.example.yaml", "profile::backup::", "profile::dumps::"),
        ],
        head: &["2 of 7 nodes change", "`- Class[Profile::Backup]`", "`+ Class[Profile::Dumps]`"],
        ..NOTHING
    },
    Plant {
        name: "a changed secret",
        change: &[Replace("data/secrets.eyaml", OLD_SECRET, NEW_SECRET)],
        head: &["2 of 7 nodes change", "`~ File[/var/lib/postgresql/.pgpass] content`"],
        body: &["(not shown: a secret stands here)", "(a secret)"],
        ..NOTHING
    },
    Plant {
        name: "a secret that leaks into a plain file",
        change: &[Replace(
            "modules/postgres/manifests/init.pp",
            "  service { 'postgresql':\n",
            "  file { '/etc/leak': content => $superuser_password.unwrap }\n  service { 'postgresql':\n",
        )],
        head: &["this change brings 1 error", "`+ File[/etc/leak]`", "| 🔄 will change | 2 |"],
        body: &["#### ❌ New: The secret postgres::superuser"],
        status: 1,
        ..NOTHING
    },
    Plant {
        name: "a syntax error",
        change: &[Replace(BASE, "package { $packages:", "package { $packages")],
        head: &["this change stops Puppet on 7 nodes", "| ❌ no longer compile | 7 |"],
        body: &["#### ❌ New: "],
        status: 1,
        ..NOTHING
    },
    Plant {
        name: "a class that is nowhere",
        change: &[Replace(
            "site-modules/role/manifests/webserver.pp",
            "include profile::webserver",
            "include profile::webservers",
        )],
        head: &[
            "this change stops Puppet on 3 nodes",
            "`web1.shop.example`, `web2.shop.example`, `web3.shop.example`",
        ],
        status: 1,
        ..NOTHING
    },
    Plant {
        name: "a duplicate declaration",
        change: &[Replace(
            BASE,
            "  contain chrony\n",
            "  package { 'rsync': ensure => installed }\n  contain chrony\n",
        )],
        head: &[
            "this change stops Puppet on 2 nodes",
            "| ❌ no longer compile | 2 | `db1.shop.example`, `db2.shop.example` |",
        ],
        body: &["Duplicate declaration: Package\\[rsync\\]"],
        status: 1,
        ..NOTHING
    },
    Plant {
        name: "a value of another type",
        change: &[Replace("data/common.yaml", "profile::backup::hour: 2", "profile::backup::hour: 25")],
        head: &["this change stops Puppet on 1 node", "`db1.shop.example`"],
        body: &["Integer"],
        status: 1,
        ..NOTHING
    },
    Plant {
        name: "a command without a guard",
        change: &[Replace(
            BASE,
            "  contain chrony\n",
            "  exec { '/usr/bin/logger puppet': }\n  contain chrony\n",
        )],
        head: &["7 of 7 nodes change, 1 new warning", "`+ Exec[/usr/bin/logger puppet]`"],
        body: &["#### ⚠️ New: every run reports changes"],
        ..NOTHING
    },
    Plant {
        name: "an exported resource",
        change: &[Replace(
            "modules/node_exporter/manifests/init.pp",
            "$port       = 9100",
            "$port       = 9101",
        )],
        head: &["7 of 7 nodes change"],
        body: &["-node.yaml] (exported) content"],
        ..NOTHING
    },
    Plant {
        name: "a mode",
        change: &[Replace(BASE, "mode    => '0644'", "mode    => '0600'")],
        head: &["7 of 7 nodes change", "`~ File[/etc/motd] mode`"],
        body: &["-     '0644'", "+     '0600'"],
        ..NOTHING
    },
    Plant {
        name: "a level of the hierarchy",
        change: &[Replace("hiera.yaml", "      - \"os/%{facts.os.family}.yaml\"\n", "")],
        head: &["nodes change", "`- Package["],
        ..NOTHING
    },
    Plant {
        name: "a fact",
        change: &[Replace("facts/build1.shop.example.yaml", "full: '9.4'", "full: '9.5'")],
        head: &["1 of 7 nodes change", "`build1.shop.example`"],
        ..NOTHING
    },
    Plant {
        name: "a broken template",
        change: &[Replace("site-modules/profile/templates/motd.epp", "<%= $role %>", "<%= $rule %>")],
        head: &["this change stops Puppet on 7 nodes"],
        body: &["Unknown variable: 'rule'"],
        status: 1,
        ..NOTHING
    },
    Plant {
        name: "a mended node",
        before: &[Replace(
            "site-modules/role/manifests/monitoring.pp",
            "include profile::base",
            "include profile::bass",
        )],
        change: &[Replace(
            "site-modules/role/manifests/monitoring.pp",
            "include profile::bass",
            "include profile::base",
        )],
        head: &["1 node works again"],
        body: &["| ✅ work again | 1 | `mon1.shop.example` |", "Gone with this change: 1 finding"],
        ..NOTHING
    },
    Plant {
        name: "a node that fails before and after",
        before: &[Replace(
            "site-modules/role/manifests/monitoring.pp",
            "include profile::base",
            "include profile::bass",
        )],
        change: &[Append(SITE, "# nothing\n")],
        head: &["no change on the 6 nodes that work"],
        body: &["| ➖ fail, before and after | 1 | 1 reason, below |", "not counted against this change"],
        ..NOTHING
    },
];

/// A repository that is removed when the test is done.
struct Repository(PathBuf);

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Repository {
    fn of_example(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("setpoint-planted-{name}-{}", std::process::id()));
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/control-repo");
        copy(&example, &folder);
        let repository = Self(folder);
        repository.edit(&Write("site-modules/profile/files/release", b"one\n"));
        repository.edit(&Write("site-modules/profile/files/blob", b"\x00\x01\x02"));
        repository.edit(&Replace(
            BASE,
            "  contain chrony\n",
            "  file { '/etc/shop-release': source => 'puppet:///modules/profile/release' }\n  \
             file { '/etc/shop-blob': source => 'puppet:///modules/profile/blob' }\n  contain chrony\n",
        ));
        repository.git(&["init", "--quiet"]);
        repository.commit("base");
        repository
    }

    /// Runs git and gives what it printed.
    fn git(&self, arguments: &[&str]) -> String {
        let done = Command::new("git")
            .current_dir(&self.0)
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .expect("git");
        assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// The comment on a comparison, without proofs.
    fn comment(&self, revisions: &[&str]) -> String {
        let fixed = ["--format", "markdown", "--timeout", "0"];
        let done = self.setpoint(&[&["diff"], revisions, &fixed].concat());
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    fn commit(&self, name: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", name]);
    }

    fn edit(&self, edit: &Edit) {
        let path = |name: &str| self.0.join(name);
        let read = |name: &str| {
            std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        match edit {
            Replace(name, from, to) => {
                let text = read(name);
                assert!(text.contains(from), "{name} has no {from:?}");
                std::fs::write(path(name), text.replace(from, to)).expect("a file");
            }
            Append(name, more) => std::fs::write(path(name), read(name) + more).expect("a file"),
            Write(name, bytes) => {
                std::fs::create_dir_all(path(name).parent().expect("a folder")).expect("a folder");
                std::fs::write(path(name), bytes).expect("a file");
            }
            Link(at, to) => {
                let _ = std::fs::remove_file(path(at));
                std::os::unix::fs::symlink(to, path(at)).expect("a link");
            }
            Rename(from, to) => std::fs::rename(path(from), path(to)).expect("a file"),
            Remove(name) if path(name).is_dir() => std::fs::remove_dir_all(path(name)).expect("a folder"),
            Remove(name) => std::fs::remove_file(path(name)).expect("a file"),
        }
    }

    fn setpoint(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_setpoint"))
            .current_dir(&self.0)
            .args(arguments)
            .env("NO_COLOR", "1")
            .output()
            .expect("the program runs")
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).expect("a file");
        }
    }
}

/// What is wrong with the comment on a planted change.
fn problems(plant: &Plant, repository: &Repository) -> Vec<String> {
    plant.before.iter().for_each(|edit| repository.edit(edit));
    repository.commit("before");
    plant.change.iter().for_each(|edit| repository.edit(edit));
    let done =
        repository.setpoint(&["diff", "HEAD", "--format", "markdown", "--output", "json=../planted.json"]);
    let comment = String::from_utf8_lossy(&done.stdout).into_owned();
    let json = std::fs::read_to_string(repository.0.join("../planted.json")).unwrap_or_default();
    let mut problems = Vec::new();
    if !done.stderr.is_empty() {
        problems.push(format!("says on standard error: {}", String::from_utf8_lossy(&done.stderr)));
    }
    let head = comment.lines().take(10).collect::<Vec<_>>().join("\n");
    problems.extend(
        plant
            .head
            .iter()
            .filter(|text| !head.contains(*text))
            .map(|text| format!("no {text:?} in the first ten lines")),
    );
    problems
        .extend(plant.body.iter().filter(|text| !comment.contains(*text)).map(|text| format!("no {text:?}")));
    problems.extend(
        plant.without.iter().filter(|text| comment.contains(*text)).map(|text| format!("has {text:?}")),
    );
    for secret in [OLD_SECRET, NEW_SECRET] {
        if comment.contains(secret) || json.contains(secret) {
            problems.push("a secret is shown".to_owned());
        }
    }
    if comment.encode_utf16().count() > 65_536 {
        problems.push("it is too long".to_owned());
    }
    if done.status.code() != Some(plant.status) {
        problems.push(format!("status {:?}", done.status.code()));
    }
    if problems.is_empty() {
        problems
    } else {
        vec![format!("=== {}: {}\n{comment}", plant.name, problems.join("; "))]
    }
}

#[test]
fn each_planted_change_is_told_in_the_first_ten_lines() {
    let repository = Repository::of_example("changes");
    repository.git(&["tag", "start"]);
    let mut found = Vec::new();
    for plant in PLANTS {
        found.extend(problems(plant, &repository));
        repository.git(&["reset", "--quiet", "--hard", "start"]);
        repository.git(&["clean", "--quiet", "-fdx"]);
    }
    let _ = std::fs::remove_file(repository.0.join("../planted.json"));
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), PLANTS.len(), found.join("\n"));
}

#[test]
fn a_subfolder_is_compared_as_the_repository_around_it() {
    let repository = Repository::of_example("subfolder");
    repository.edit(&Replace(BASE, SOIL, "  contain chrony\n  notify { 'x': }\n"));
    let whole = repository.setpoint(&["diff", "HEAD", "--format", "markdown"]);
    let inside = Repository(repository.0.join("site-modules/profile"));
    let part = inside.setpoint(&["diff", "HEAD", "--format", "markdown"]);
    std::mem::forget(inside);
    assert_eq!(String::from_utf8_lossy(&whole.stdout), String::from_utf8_lossy(&part.stdout));
    assert!(String::from_utf8_lossy(&whole.stdout).contains("`+ Notify[x]`"));
}

/// A manifest whose name cannot be written is not read, so that nobody knows whether anything changes.
#[test]
fn a_name_that_is_not_utf8_is_told() {
    use std::os::unix::ffi::OsStrExt;
    let repository = Repository::of_example("names");
    let name = std::ffi::OsStr::from_bytes(b"\xff.pp");
    std::fs::write(repository.0.join("manifests").join(name), "node 'new.shop.example' { }\n").unwrap();
    let done = repository.setpoint(&["diff", "HEAD", "--format", "markdown"]);
    let comment = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(comment.contains("no change in what was compared"), "{comment}");
    assert!(comment.contains("was not compared: names in it are not UTF-8"), "{comment}");
}

/// Names of a commit are any bytes: two that are no UTF-8 are not one file.
#[test]
fn a_name_that_is_not_utf8_is_told_between_commits() {
    use std::os::unix::ffi::OsStrExt;
    let repository = Repository::of_example("committed-names");
    let files = "modules/chrony/files/parts";
    repository.edit(&Write("modules/chrony/files/parts/one", b"one\n"));
    let source = "  contain chrony\n  file { '/etc/parts': ensure => directory, recurse => true, \
                  source => 'puppet:///modules/chrony/parts' }\n";
    repository.edit(&Replace(BASE, SOIL, source));
    for name in [&b"caf\xe9"[..], b"caf\xe8"] {
        let path = repository.0.join(files).join(std::ffi::OsStr::from_bytes(name));
        std::fs::write(path, "two\n").unwrap();
        repository.commit("a file");
    }
    let comment = repository.comment(&["HEAD~1", "HEAD"]);
    assert!(comment.contains("no change in what was compared"), "{comment}");
    assert!(comment.contains("was not compared: names in it are not UTF-8"), "{comment}");
}

/// Git keeps lines with one end and checks them out with another: what it calls unchanged is no change.
#[test]
fn line_ends_that_git_converts_are_no_change() {
    let repository = Repository::of_example("line-ends");
    repository.edit(&Write(".gitattributes", b"* text=auto eol=crlf\n"));
    repository.commit("attributes");
    repository.edit(&Remove("site-modules"));
    repository.git(&["checkout", "--quiet", "."]);
    let served = std::fs::read(repository.0.join("site-modules/profile/files/release")).unwrap();
    assert_eq!(served, b"one\r\n");
    let comment = repository.comment(&["HEAD"]);
    assert!(comment.contains("✅ Setpoint: no change\n"), "{comment}");
    repository.edit(&Write("site-modules/profile/files/release", b"two\r\n"));
    let comment = repository.comment(&["HEAD"]);
    assert!(comment.contains("`~ File[/etc/shop-release] source`"), "{comment}");
}

/// Of a submodule one commit is checked out, for both versions: another one is named, wherever it is wanted.
#[test]
fn a_submodule_that_is_not_compared_is_named() {
    let module = Repository(std::env::temp_dir().join(format!("setpoint-submodule-{}", std::process::id())));
    let manifest = |title: &str| format!("class clock {{ notify {{ '{title}': }} }}\n");
    std::fs::create_dir_all(module.0.join("manifests")).unwrap();
    std::fs::write(module.0.join("manifests/init.pp"), manifest("one")).unwrap();
    module.git(&["init", "--quiet"]);
    module.commit("one");
    let repository = Repository::of_example("submodule");
    let (from, at) = (module.0.display().to_string(), "modules/clock");
    repository.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from, at]);
    repository.edit(&Replace(BASE, SOIL, "  contain chrony\n  include clock\n"));
    repository.commit("a submodule");
    assert!(repository.comment(&["HEAD"]).contains("✅ Setpoint: no change\n"));
    std::fs::write(repository.0.join(at).join("manifests/init.pp"), manifest("two")).unwrap();
    let comment = repository.comment(&["HEAD"]);
    let told = "what is not committed in the submodule clock was not compared";
    assert!(comment.contains("no change in what was compared") && comment.contains(told), "{comment}");
    repository.git(&["-C", at, "commit", "--quiet", "--all", "--message", "two"]);
    for version in ["checked out", "staged", "committed"] {
        let old = if version == "committed" { "HEAD~1" } else { "HEAD" };
        let comment = repository.comment(&[old]);
        let is_named = comment.lines().any(|line| line.contains("clock ") && line.contains("not compared"));
        assert!(is_named && comment.contains("no change in what was compared"), "{version}: {comment}");
        repository.git(&["add", "--all"]);
        if version == "staged" {
            repository.commit("another commit");
        }
    }
}

/// A bare repository has commits to compare, and no work tree.
#[test]
fn a_bare_repository_is_compared_by_two_revisions() {
    let repository = Repository::of_example("bare");
    repository.edit(&Replace(BASE, SOIL, "  contain chrony\n  notify { 'x': }\n"));
    repository.commit("more");
    let bare = Repository(repository.0.with_extension("git"));
    repository.git(&["clone", "--quiet", "--bare", ".", &bare.0.display().to_string()]);
    let comment = bare.comment(&["HEAD~1", "HEAD"]);
    assert!(comment.contains("7 of 7 nodes change") && comment.contains("`+ Notify[x]`"), "{comment}");
    let done = bare.setpoint(&["diff", "HEAD~1"]);
    let message = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(message.contains("this repository is bare: name both revisions"), "{message}");
    // What git cannot give is not the same by being missing twice.
    let served = "site-modules/profile/files/release";
    repository.edit(&Write(served, b"two\n"));
    repository.commit("another release");
    for revision in ["HEAD~1", "HEAD"] {
        let object = repository.git(&["rev-parse", &format!("{revision}:{served}")]);
        let (folder, name) = object.trim().split_at(2);
        std::fs::remove_file(repository.0.join(".git/objects").join(folder).join(name)).unwrap();
    }
    let comment = repository.comment(&["HEAD~1", "HEAD"]);
    assert!(comment.contains("no change in what was compared"), "{comment}");
    assert!(comment.contains("files/release` was not compared: git cannot give it"), "{comment}");
}

/// The control repository of a repository that holds more is found from its root.
#[test]
fn a_control_repository_below_the_root_is_found() {
    let repository = Repository::of_example("below");
    std::fs::create_dir(repository.0.join("puppet")).unwrap();
    repository.git(&[
        "mv",
        "-k",
        "data",
        "environment.conf",
        "facts",
        "hiera.yaml",
        "manifests",
        "modules",
        "puppet",
    ]);
    repository.git(&["mv", "setpoint.toml", "site-modules", "puppet"]);
    repository.commit("moved");
    let base = "puppet/site-modules/profile/manifests/base.pp";
    repository.edit(&Replace(base, SOIL, "  contain chrony\n  notify { 'x': }\n"));
    let comment = repository.comment(&["HEAD"]);
    assert!(comment.contains("`+ Notify[x]`"), "{comment}");
    assert_eq!(repository.comment(&["HEAD:puppet"]).replace("HEAD:puppet", "HEAD"), comment);
    repository.edit(&Write("other/environment.conf", b""));
    repository.edit(&Write("other/manifests/site.pp", b"node default { }\n"));
    repository.git(&["add", "--all"]);
    let done = repository.setpoint(&["diff", "HEAD"]);
    let message = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(message.contains("several control repositories here: other, puppet"), "{message}");
}

#[test]
fn a_shallow_clone_is_told_what_to_fetch() {
    let repository = Repository::of_example("shallow");
    repository.git(&["branch", "main-line"]);
    repository.edit(&Append("README.md", "More.\n"));
    repository.commit("more");
    let clone = Repository(repository.0.with_extension("clone"));
    let from = format!("file://{}", repository.0.display());
    repository.git(&["clone", "--quiet", "--depth", "1", &from, &clone.0.display().to_string()]);
    let done = clone.setpoint(&["diff", "origin/main-line"]);
    let message = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(message.contains("fetch-depth: 0"), "{message}");
    assert_eq!(done.status.code(), Some(2));
    clone.git(&["fetch", "--quiet", "--depth", "1", "origin", "main-line:main-line"]);
    let done = clone.setpoint(&["diff", "main-line"]);
    let message = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(message.contains("merge base") && message.contains("fetch-depth: 0"), "{message}");
    let done = clone.setpoint(&["diff", "main-line", "--direct"]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
}

/// The comment that the README begins with is what the program prints, but for the names of commits.
#[test]
fn the_comment_of_the_readme_is_what_is_printed() {
    let repository = Repository::of_example("readme");
    repository.git(&["tag", "start"]);
    let plant = PLANTS.iter().find(|plant| plant.name == "a cycle").expect("the change of the README");
    plant.change.iter().for_each(|edit| repository.edit(edit));
    repository.commit("change");
    let done =
        repository.setpoint(&["diff", "start", "--format", "markdown", "--marker", "example/control-repo"]);
    let mut comment = String::from_utf8_lossy(&done.stdout).into_owned();
    for (name, shown) in [("start", "f26fb7b"), ("HEAD", "5fce049")] {
        let commit =
            Command::new("git").current_dir(&repository.0).args(["rev-parse", name]).output().expect("git");
        let commit = String::from_utf8_lossy(&commit.stdout).into_owned();
        comment = comment.replace(commit.get(..7).expect("a commit"), shown);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(&path).expect("the README");
    let begin = "<!-- recorded by crates/setpoint/tests/planted.rs -->\n";
    let (before, rest) = readme.split_once(begin).expect("a place for the comment");
    let (recorded, after) = rest.split_once("<!-- end -->").expect("an end of the comment");
    if std::env::var_os("SETPOINT_BLESS").is_some() {
        std::fs::write(&path, format!("{before}{begin}{comment}<!-- end -->{after}")).expect("the README");
    } else {
        assert_eq!(recorded, comment, "SETPOINT_BLESS=1 records it anew");
    }
}
