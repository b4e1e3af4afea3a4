//! Where common services have their configuration, if neither their package nor their name tells.

/// Names of services (as distributions call them), and what they read: files, and folders that end with a slash.
const TABLE: &[(&[&str], &[&str])] = &[
    (&["apache2", "httpd"], &["/etc/apache2/", "/etc/httpd/"]),
    (&["autofs"], &["/etc/auto.master", "/etc/auto.master.d/", "/etc/autofs.conf"]),
    (&["bind9", "named"], &["/etc/bind/", "/etc/named.conf", "/etc/named/"]),
    (&["chrony", "chronyd"], &["/etc/chrony/", "/etc/chrony.conf"]),
    (&["clamav-daemon", "clamd"], &["/etc/clamav/clamd.conf", "/etc/clamd.conf"]),
    (&["dhcpd", "isc-dhcp-server"], &["/etc/dhcp/dhcpd.conf", "/etc/default/isc-dhcp-server"]),
    (&["grafana-server"], &["/etc/grafana/"]),
    (&["libvirtd"], &["/etc/libvirt/"]),
    (&["mariadb", "mysql", "mysqld"], &["/etc/mysql/", "/etc/my.cnf", "/etc/my.cnf.d/"]),
    (&["mongod", "mongodb"], &["/etc/mongod.conf", "/etc/mongodb.conf"]),
    (&["nagios-nrpe-server", "nrpe"], &["/etc/nagios/nrpe.cfg", "/etc/nagios/nrpe.d/"]),
    (&["networking"], &["/etc/network/interfaces", "/etc/network/interfaces.d/"]),
    (&["ntp", "ntpd", "ntpsec"], &["/etc/ntp.conf", "/etc/ntpsec/ntp.conf", "/etc/default/ntp"]),
    (&["openntpd"], &["/etc/openntpd/", "/etc/ntpd.conf"]),
    (
        &["postgresql"],
        &["/etc/postgresql/", "/var/lib/pgsql/data/postgresql.conf", "/var/lib/pgsql/data/pg_hba.conf"],
    ),
    (&["puppet"], &["/etc/puppet/puppet.conf", "/etc/puppetlabs/puppet/puppet.conf"]),
    (&["rabbitmq-server"], &["/etc/rabbitmq/"]),
    (&["redis", "redis-server"], &["/etc/redis/", "/etc/redis.conf"]),
    (&["rsync", "rsyncd"], &["/etc/rsyncd.conf", "/etc/default/rsync"]),
    (&["rsyslog"], &["/etc/rsyslog.conf", "/etc/rsyslog.d/"]),
    (&["nmbd", "samba", "smb", "smbd"], &["/etc/samba/smb.conf"]),
    (&["slapd"], &["/etc/ldap/", "/etc/openldap/", "/etc/default/slapd"]),
    (&["smartd", "smartmontools"], &["/etc/smartd.conf", "/etc/default/smartmontools"]),
    (&["snmpd"], &["/etc/snmp/snmpd.conf", "/etc/default/snmpd"]),
    (&["ssh", "sshd"], &["/etc/ssh/sshd_config", "/etc/ssh/sshd_config.d/"]),
    (&["supervisor", "supervisord"], &["/etc/supervisor/", "/etc/supervisord.conf", "/etc/supervisord.d/"]),
    (&["systemd-journald"], &["/etc/systemd/journald.conf", "/etc/systemd/journald.conf.d/"]),
    (&["systemd-logind"], &["/etc/systemd/logind.conf", "/etc/systemd/logind.conf.d/"]),
    (&["systemd-resolved"], &["/etc/systemd/resolved.conf", "/etc/systemd/resolved.conf.d/"]),
    (&["systemd-timesyncd"], &["/etc/systemd/timesyncd.conf", "/etc/systemd/timesyncd.conf.d/"]),
    (&["tftpd-hpa"], &["/etc/default/tftpd-hpa"]),
    (&["zabbix-agent"], &["/etc/zabbix/zabbix_agentd.conf", "/etc/zabbix/zabbix_agentd.d/"]),
];

/// Folders whose files bear the names of services and are read by others, or at other times.
const READ_BY_OTHERS: &[&str] = &[
    "/etc/apparmor.d/",
    "/etc/apt/",
    "/etc/bash_completion.d/",
    "/etc/cron.d/",
    "/etc/cron.daily/",
    "/etc/cron.hourly/",
    "/etc/cron.monthly/",
    "/etc/cron.weekly/",
    "/etc/init.d/",
    "/etc/ld.so.conf.d/",
    "/etc/logrotate.d/",
    "/etc/modprobe.d/",
    "/etc/modules-load.d/",
    "/etc/pam.d/",
    "/etc/profile.d/",
    "/etc/security/",
    "/etc/sudoers.d/",
    "/etc/sysctl.d/",
    "/etc/systemd/",
    "/etc/sysusers.d/",
    "/etc/tmpfiles.d/",
    "/etc/ufw/",
    "/etc/yum.repos.d/",
];

/// Whether the name of a path says nothing about the service that reads it, or the service reads it whenever it needs it.
pub(crate) fn is_read_by_others(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    READ_BY_OTHERS.iter().any(|folder| path.starts_with(folder))
        || ["htpasswd", "htdigest", "htgroup"].iter().any(|kind| name.contains(kind))
        // Tables of postfix are looked at again when they change.
        || (path.starts_with("/etc/postfix/") && name.rsplit_once('.').is_none_or(|(_, ending)| ending != "cf"))
}

/// Whether a service reads a path, as the table has it.
pub(crate) fn reads(service: &str, path: &str) -> bool {
    TABLE.iter().filter(|(names, _)| names.contains(&service)).any(|(_, places)| {
        places.iter().any(|place| path == *place || (place.ends_with('/') && path.starts_with(place)))
    })
}

/// What the content of a configuration names that its service may not start without.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// Paths that the service writes to, looks below, or reads as a part of its configuration, and patterns of such paths.
    pub(crate) paths: Vec<String>,
    /// Users and groups that it works as.
    pub(crate) accounts: Vec<String>,
    /// Words among which are the names of machines that it talks to.
    pub(crate) machines: Vec<String>,
}

/// Returns what a content names, by the words that begin its lines: `log_directory = /srv/log`, `user app;`. A folder that is only
/// served (`root`, `DocumentRoot`) may be missing when the service starts.
pub(crate) fn named_in(content: &str) -> Named {
    const PLACES: [&str; 17] = [
        "cache", "data", "dir", "dump", "home", "include", "log", "path", "pid", "queue", "socket", "spool",
        "state", "storage", "store", "temp", "tmp",
    ];
    const ACCOUNTS: [&str; 4] = ["group", "owner", "runas", "user"];
    let mut named = Named::default();
    for line in content.lines().map(str::trim) {
        if line.starts_with(['#', ';', '<', '/']) {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some(at) = line.find(|one: char| one.is_whitespace() || "=:".contains(one)) else { continue };
        let key = line[..at].trim_matches(['"', '\'']).to_ascii_lowercase();
        if PLACES.iter().any(|place| key.contains(place)) {
            let words = line[at..].split(|one: char| one.is_whitespace() || "\"'=,(){}".contains(one));
            let paths = words.map(|word| word.trim_end_matches([';', ':', ']', '/']));
            named
                .paths
                .extend(paths.filter(|path| path.starts_with('/') && path.len() > 1).map(str::to_owned));
        }
        if ["server", "proxy", "host", "url"].iter().any(|one| key.contains(one)) {
            let words = line[at..].split(|one: char| !one.is_ascii_alphanumeric() && !".-_".contains(one));
            named.machines.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
        }
        let last = key.rsplit(['.', '_', '-']).next().unwrap_or_default();
        if ACCOUNTS.contains(&last) {
            let words = line[at..].split(|one: char| one.is_whitespace() || "=:;,\"'".contains(one));
            named.accounts.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_names_what_its_service_works_in_and_as() {
        let text = "# user no\nuser app web;\n[www]\nlisten.owner = fpm\nlogfile \"/srv/log/a.log\"\nroot /srv/www;\n\
                    <Directory /srv/other>\n  CustomLog /srv/access combined\ndatadir=/srv/db\n";
        let named = named_in(text);
        assert_eq!(named.accounts, ["app", "web", "fpm"]);
        assert_eq!(named.paths, ["/srv/log/a.log", "/srv/access", "/srv/db"]);
    }

    #[test]
    fn the_table_tells_files_from_folders() {
        assert!(reads("rsync", "/etc/rsyncd.conf"));
        assert!(reads("ssh", "/etc/ssh/sshd_config.d/x.conf"));
        assert!(reads("sshd", "/etc/ssh/sshd_config"));
        assert!(!reads("ssh", "/etc/ssh/ssh_config"));
        assert!(!reads("ssh", "/etc/ssh/sshd_config.old"));
        assert!(!reads("cron", "/etc/rsyncd.conf"));
    }

    #[test]
    fn every_service_has_one_line() {
        let mut names: Vec<&str> = TABLE.iter().flat_map(|(names, _)| names.iter().copied()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(TABLE.iter().all(|(_, places)| places.iter().all(|place| place.starts_with('/'))));
    }
}
