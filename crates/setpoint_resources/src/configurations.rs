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

#[cfg(test)]
mod tests {
    use super::*;

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
