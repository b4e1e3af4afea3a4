//! Pairs that are written by hand: each shows one thing that the random ones meet seldom or never.

use crate::pairs::Pair;

/// A name, the old manifest, the new one.
const CASES: &[(&str, &str, &str)] = &[
    // Checks of a command that is notified.
    (
        "a check holds back a notified command",
        "file { '/srv/a': content => \"x\\n\" } ~> exec { '/bin/touch /srv/t': refreshonly => true, unless => '/usr/bin/test -f /srv/a' }",
        "file { '/srv/a': content => \"y\\n\" } ~> exec { '/bin/touch /srv/t': refreshonly => true, unless => '/usr/bin/test -f /srv/a' }",
    ),
    (
        "a check lets a notified command run",
        "file { '/srv/a': content => \"x\\n\" } ~> exec { '/bin/touch /srv/t': refreshonly => true, onlyif => '/usr/bin/test -f /srv/a' }",
        "file { '/srv/a': content => \"y\\n\" } ~> exec { '/bin/touch /srv/t': refreshonly => true, onlyif => '/usr/bin/test -f /srv/a' }",
    ),
    (
        "what it creates is there when it is notified",
        "file { '/srv/a': content => \"x\\n\" } ~> exec { '/bin/touch /srv/t': creates => '/srv/t' }",
        "file { '/srv/a': content => \"y\\n\" } ~> exec { '/bin/touch /srv/t': creates => '/srv/t' }",
    ),
    (
        "a command that was held back notifies all the same",
        "file { '/srv/a': content => \"x\\n\" } ~> exec { '/bin/touch /srv/t': creates => '/srv/t', refreshonly => true } ~> exec { '/bin/touch /srv/u': refreshonly => true }",
        "file { '/srv/a': content => \"y\\n\" } ~> exec { '/bin/touch /srv/t': creates => '/srv/t', refreshonly => true } ~> exec { '/bin/touch /srv/u': refreshonly => true }",
    ),
    (
        "a check is satisfied by the command's own turn before it is refreshed",
        "file { '/srv/a': content => \"x\\n\" }",
        "file { '/srv/a': content => \"y\\n\" } ~> exec { '/bin/touch /srv/t': unless => '/usr/bin/test -f /srv/t' }",
    ),
    (
        "the program of a check is missing when it is notified",
        "file { '/srv/a': content => \"x\\n\" } ~> exec { '/bin/touch /srv/t': refreshonly => true, onlyif => '/srv/missing' } -> file { '/srv/b': content => \"x\\n\" }",
        "file { '/srv/a': content => \"y\\n\" } ~> exec { '/bin/touch /srv/t': refreshonly => true, onlyif => '/srv/missing' } -> file { '/srv/b': content => \"y\\n\" }",
    ),
    // A service that is started in its turn hears no notification.
    (
        "a new service is started, and not restarted",
        "file { '/srv/a': content => \"x\\n\" }",
        "file { '/srv/a': content => \"y\\n\" } ~> service { 'web': ensure => running, enable => true }",
    ),
    (
        "a service that was skipped before is started, and not restarted",
        "exec { '/bin/true': cwd => '/srv/none' } ~> service { 'web': ensure => running }",
        "exec { '/bin/true': } ~> service { 'web': ensure => running }",
    ),
    (
        "a service that is stopped hears a notification",
        "file { '/srv/a': content => \"x\\n\" } ~> service { 'web': ensure => running }",
        "file { '/srv/a': content => \"y\\n\" } ~> service { 'web': ensure => stopped }",
    ),
    // The command of a refresh, and its exit status.
    (
        "another command refreshes",
        "file { '/srv/a': content => \"x\\n\" } ~> exec { '/bin/touch /srv/t': refreshonly => true, refresh => '/bin/touch /srv/r' }",
        "file { '/srv/a': content => \"y\\n\" } ~> exec { '/bin/touch /srv/t': refreshonly => true, refresh => '/bin/touch /srv/r' }",
    ),
    (
        "the command of a refresh fails",
        "file { '/srv/a': content => \"x\\n\" } ~> exec { '/bin/true': refresh => '/bin/false' } -> file { '/srv/b': content => \"x\\n\" }",
        "file { '/srv/a': content => \"y\\n\" } ~> exec { '/bin/true': refresh => '/bin/false' } -> file { '/srv/b': content => \"y\\n\" }",
    ),
    (
        "the command fails when it is refreshed",
        "file { '/srv/a': content => \"x\\n\" } ~> exec { '/bin/false': refreshonly => true } -> file { '/srv/b': content => \"x\\n\" }",
        "file { '/srv/a': content => \"y\\n\" } ~> exec { '/bin/false': refreshonly => true } -> file { '/srv/b': content => \"y\\n\" }",
    ),
    (
        "another status is expected of both commands",
        "file { '/srv/a': content => \"x\\n\" } ~> exec { '/bin/false': returns => [0, 1], refresh => '/bin/false' } -> file { '/srv/b': content => \"x\\n\" }",
        "file { '/srv/a': content => \"y\\n\" } ~> exec { '/bin/false': returns => [0, 1], refresh => '/bin/false' } -> file { '/srv/b': content => \"y\\n\" }",
    ),
    (
        "only another status is expected of a refresh",
        "file { '/srv/a': content => \"x\\n\" } ~> exec { '/bin/false': returns => 1, refresh => '/bin/true' } ~> exec { '/bin/touch /srv/t': refreshonly => true }",
        "file { '/srv/a': content => \"y\\n\" } ~> exec { '/bin/false': returns => 1, refresh => '/bin/true' } ~> exec { '/bin/touch /srv/t': refreshonly => true }",
    ),
    (
        "the program of a refresh is missing",
        "file { '/srv/a': content => \"x\\n\" } ~> exec { '/bin/true': refreshonly => true, refresh => '/srv/missing' }",
        "file { '/srv/a': content => \"y\\n\" } ~> exec { '/bin/true': refreshonly => true, refresh => '/srv/missing' }",
    ),
    (
        "a refresh is tried several times",
        "file { '/srv/a': content => \"x\\n\" } ~> exec { '/bin/false': refreshonly => true, tries => 2, try_sleep => 0 }",
        "file { '/srv/a': content => \"y\\n\" } ~> exec { '/bin/false': refreshonly => true, tries => 2, try_sleep => 0 }",
    ),
    // A service whose state is not declared.
    (
        "a stopped service without ensure is notified",
        "file { '/etc/web.conf': content => \"x\\n\" } ~> service { 'web': enable => true }",
        "file { '/etc/web.conf': content => \"y\\n\" } ~> service { 'web': enable => true }",
    ),
    (
        "a running service without ensure is notified",
        "file { '/etc/web.conf': content => \"x\\n\" } ~> service { 'web': ensure => running }",
        "file { '/etc/web.conf': content => \"y\\n\" } ~> service { 'web': }",
    ),
    (
        "a running service without ensure is notified and passes it on",
        "file { '/etc/web.conf': content => \"x\\n\" } ~> service { 'web': ensure => running }",
        "file { '/etc/web.conf': content => \"y\\n\" } ~> service { 'web': enable => true } ~> exec { '/bin/touch /srv/t': refreshonly => true }",
    ),
    (
        "a stopped service is notified and passes it on",
        "file { '/etc/web.conf': content => \"x\\n\" } ~> service { 'web': ensure => stopped }",
        "file { '/etc/web.conf': content => \"y\\n\" } ~> service { 'web': ensure => stopped } ~> exec { '/bin/touch /srv/t': refreshonly => true }",
    ),
    (
        "a service that is not there is notified",
        "file { '/etc/web.conf': content => \"x\\n\" } ~> service { 'other': }",
        "file { '/etc/web.conf': content => \"y\\n\" } ~> service { 'other': }",
    ),
    (
        "a service that is notified is restarted by a command that fails",
        "file { '/etc/web.conf': content => \"x\\n\" } ~> service { 'web': ensure => running, restart => '/bin/false' } -> file { '/srv/b': content => \"x\\n\" }",
        "file { '/etc/web.conf': content => \"y\\n\" } ~> service { 'web': ensure => running, restart => '/bin/false' } -> file { '/srv/b': content => \"y\\n\" }",
    ),
    // How deep a recursion goes.
    (
        "a limit of recursion spares what is deep",
        "file { ['/srv/d', '/srv/d/e', '/srv/d/e/f']: ensure => directory } file { ['/srv/d/x', '/srv/d/e/x', '/srv/d/e/f/x']: content => 'x' }",
        "file { '/srv/d': ensure => directory, recurse => true, recurselimit => 1, purge => true, force => true }",
    ),
    (
        "a limit of recursion spares what is deep, without force",
        "file { ['/srv/d', '/srv/d/e', '/srv/d/e/f']: ensure => directory } file { ['/srv/d/x', '/srv/d/e/x', '/srv/d/e/f/x']: content => 'x' }",
        "file { '/srv/d': ensure => directory, recurse => true, recurselimit => 1, purge => true }",
    ),
    (
        "a deeper limit of recursion reaches more",
        "file { ['/srv/d', '/srv/d/e', '/srv/d/e/f']: ensure => directory } file { ['/srv/d/x', '/srv/d/e/x', '/srv/d/e/f/x']: content => 'x', mode => '0644' }",
        "file { '/srv/d': ensure => directory, recurse => true, recurselimit => 2, mode => '0600' }",
    ),
    (
        "recursion with a limit of none",
        "file { ['/srv/d', '/srv/d/e']: ensure => directory } file { ['/srv/d/x', '/srv/d/e/x']: content => 'x', mode => '0644' }",
        "file { '/srv/d': ensure => directory, recurse => true, recurselimit => 0, mode => '0600' }",
    ),
    (
        "a limit of recursion holds for what is copied",
        "file { '/srv/d': ensure => directory, recurse => true, source => 'puppet:///modules/m/tree', recurselimit => 1 }",
        "file { '/srv/d': ensure => directory, recurse => true, source => 'puppet:///modules/m/tree', recurselimit => 2 }",
    ),
    (
        "a limit of a remote recursion",
        "file { '/srv/d': ensure => directory, recurse => remote, source => 'puppet:///modules/m/tree', recurselimit => 2 }",
        "file { '/srv/d': ensure => directory, recurse => remote, source => 'puppet:///modules/m/tree', recurselimit => 1, purge => true }",
    ),
    // Links, and sources that are links.
    (
        "a file becomes what a link of the module leads to",
        "file { '/srv/a': content => \"x\\n\" }",
        "file { '/srv/a': source => 'puppet:///modules/m/link' }",
    ),
    (
        "a source that is a link is followed",
        "file { '/srv/a': content => \"x\\n\" }",
        "file { '/srv/a': source => 'puppet:///modules/m/link', links => follow }",
    ),
    (
        "a source that is a link is copied as one",
        "file { '/srv/a': source => 'puppet:///modules/m/link', links => follow }",
        "file { '/srv/a': source => 'puppet:///modules/m/link', links => manage }",
    ),
    (
        "a source that is a link is copied as one, with ensure",
        "file { '/srv/a': content => \"x\\n\" }",
        "file { '/srv/a': ensure => file, source => 'puppet:///modules/m/link' }",
    ),
    (
        "a tree with a link is copied",
        "file { '/srv/d': ensure => directory }",
        "file { '/srv/d': ensure => directory, recurse => true, source => 'puppet:///modules/m/linked' }",
    ),
    (
        "a tree with a link is copied, and links are followed",
        "file { '/srv/d': ensure => directory, recurse => true, source => 'puppet:///modules/m/linked' }",
        "file { '/srv/d': ensure => directory, recurse => true, source => 'puppet:///modules/m/linked', links => follow }",
    ),
    (
        "a link that is managed becomes a file",
        "file { '/srv/b': content => \"x\\n\" } file { '/srv/l': ensure => link, target => '/srv/b' }",
        "file { '/srv/b': content => \"x\\n\" } file { '/srv/l': ensure => file, content => \"y\\n\", links => manage }",
    ),
    (
        "a link that is followed keeps its place",
        "file { '/srv/b': content => \"x\\n\" } file { '/srv/l': ensure => link, target => '/srv/b' }",
        "file { '/srv/l': ensure => file, content => \"y\\n\", links => follow }",
    ),
    (
        "the mode of what a link leads to",
        "file { '/srv/b': content => \"x\\n\", mode => '0644' } file { '/srv/l': ensure => link, target => '/srv/b' }",
        "file { '/srv/l': mode => '0600', links => follow }",
    ),
    (
        "a link to a folder is followed",
        "file { '/srv/e': ensure => directory, mode => '0755' } file { '/srv/l': ensure => link, target => '/srv/e' }",
        "file { '/srv/l': ensure => directory, links => follow, mode => '0700' }",
    ),
    (
        "a local source that is a link",
        "file { '/srv/b': content => \"x\\n\" } file { '/srv/l': ensure => link, target => '/srv/b' }",
        "file { '/srv/b': content => \"x\\n\" } file { '/srv/l': ensure => link, target => '/srv/b' } file { '/srv/c': source => '/srv/l' }",
    ),
    (
        "a local source that is a link is followed",
        "file { '/srv/b': content => \"x\\n\" } file { '/srv/l': ensure => link, target => '/srv/b' }",
        "file { '/srv/b': content => \"x\\n\" } file { '/srv/l': ensure => link, target => '/srv/b' } file { '/srv/c': source => '/srv/l', links => follow }",
    ),
    // Schedules.
    (
        "a schedule of never",
        "file { '/srv/a': content => \"x\\n\" }",
        "schedule { 'no': period => never } file { '/srv/a': content => \"y\\n\", schedule => 'no' } ~> exec { '/bin/touch /srv/t': refreshonly => true }",
    ),
    (
        "a notified command with a schedule of never",
        "file { '/srv/a': content => \"x\\n\" }",
        "schedule { 'no': period => never } file { '/srv/a': content => \"y\\n\" } ~> exec { '/bin/touch /srv/t': refreshonly => true, schedule => 'no' } -> file { '/srv/b': content => \"x\\n\" }",
    ),
    (
        "a schedule that says nothing",
        "file { '/srv/a': content => \"x\\n\" }",
        "schedule { 'any': } file { '/srv/a': content => \"y\\n\", schedule => 'any' }",
    ),
    (
        "a schedule of one hour a day",
        "schedule { 'night': range => '2 - 4' } file { '/srv/a': content => \"x\\n\" }",
        "schedule { 'night': range => '2 - 4' } file { '/srv/a': content => \"y\\n\", schedule => 'night' } -> file { '/srv/b': content => \"y\\n\" }",
    ),
    (
        "a schedule that holds already applied what it should",
        "schedule { 'day': period => daily } file { '/srv/a': content => \"x\\n\", schedule => 'day' }",
        "schedule { 'day': period => daily } file { '/srv/a': content => \"y\\n\", schedule => 'day' } ~> exec { '/bin/touch /srv/t': refreshonly => true }",
    ),
    (
        "a built-in schedule",
        "file { '/srv/a': content => \"x\\n\" }",
        "file { '/srv/a': content => \"y\\n\", schedule => 'never' }",
    ),
    (
        "a schedule that does not exist",
        "file { '/srv/a': content => \"x\\n\" }",
        "file { '/srv/a': content => \"y\\n\", schedule => 'none' }",
    ),
    (
        "a schedule of a class",
        "class part { file { '/srv/a': content => \"x\\n\" } } include part",
        "schedule { 'no': period => never } class part { file { '/srv/a': content => \"y\\n\" } } class { 'part': schedule => 'no' }",
    ),
    // What the type decides where the catalog says nothing.
    (
        "options of a key are no longer declared",
        "ssh_authorized_key { 'k1': user => 'root', type => 'ssh-rsa', key => 'AAAA', options => 'no-pty' }",
        "ssh_authorized_key { 'k1': user => 'root', type => 'ssh-rsa', key => 'AAAA' }",
    ),
    (
        "a line is added beside others without a pattern, and nothing may be replaced",
        "file { '/srv/a': ensure => file } -> file_line { 'line': path => '/srv/a', line => 'one', replace => false } -> file { '/srv/b': content => \"x\\n\" }",
        "file { '/srv/a': ensure => file } -> file_line { 'line': path => '/srv/a', line => 'two', replace => false } -> file { '/srv/b': content => \"y\\n\" }",
    ),
    // What `tidy` takes.
    (
        "a file need no longer be old to go",
        "tidy { '/srv/t': age => '1w' } -> exec { '/bin/touch /srv/t': creates => '/srv/t' }",
        "tidy { '/srv/t': } -> exec { '/bin/touch /srv/t': creates => '/srv/t' }",
    ),
    (
        "a file whose name does not match stays",
        "file { '/srv/d': ensure => directory } -> exec { '/bin/touch /srv/d/t': creates => '/srv/d/t' }",
        "tidy { '/srv/d': recurse => 1, matches => 'u*' } -> file { '/srv/d': ensure => directory } -> exec { '/bin/touch /srv/d/t': creates => '/srv/d/t' }",
    ),
];

pub(crate) fn pairs() -> impl Iterator<Item = (&'static str, Pair)> {
    CASES.iter().map(|&(name, old, new)| {
        let line = |text: &str| format!("{text}\n");
        (name, Pair { old: line(old), new: line(new), already: Vec::new() })
    })
}
