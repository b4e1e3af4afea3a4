//! What `git blame --porcelain` says.

use std::collections::BTreeMap;

#[derive(Default, Clone)]
struct Commit {
    author: String,
    seconds: i64,
    summary: String,
}

/// Each line with the commit that changed it last: its name, date, author and first line.
pub fn blame(porcelain: &str) -> BTreeMap<u32, String> {
    let mut commits: BTreeMap<String, Commit> = BTreeMap::new();
    let mut found = BTreeMap::new();
    let mut current: Option<(String, u32)> = None;
    for line in porcelain.lines() {
        if line.starts_with('\t') {
            if let Some((hash, number)) = current.take() {
                found.insert(number, hash);
            }
            continue;
        }
        let mut words = line.splitn(2, ' ');
        let (first, rest) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        if first.len() >= 40 && first.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let number = rest.split(' ').nth(1).and_then(|number| number.parse().ok());
            current = number.map(|number| (first.to_owned(), number));
            commits.entry(first.to_owned()).or_default();
        } else if let Some((hash, _)) = &current {
            let commit = commits.entry(hash.clone()).or_default();
            match first {
                "author" => rest.clone_into(&mut commit.author),
                "author-time" => commit.seconds = rest.parse().unwrap_or(0),
                "summary" => rest.clone_into(&mut commit.summary),
                _ => {}
            }
        }
    }
    let told = |hash: &String| {
        let commit = commits.get(hash).cloned().unwrap_or_default();
        if hash.bytes().all(|byte| byte == b'0') {
            return "not committed yet".to_owned();
        }
        let short = hash.get(..10).unwrap_or(hash);
        format!("{short} {} {}: {}", date(commit.seconds), commit.author, commit.summary)
    };
    found.iter().map(|(line, hash)| (*line, told(hash))).collect()
}

/// The day of a time, in universal time.
fn date(seconds: i64) -> String {
    // Days since 0000-03-01, in eras of 400 years.
    let days = seconds.div_euclid(86_400) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::{blame, date};

    #[test]
    fn a_line_is_told_with_its_commit_author_and_date() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        let text = format!(
            "{hash} 1 1 2\nauthor Ada\nauthor-mail <ada@example.com>\nauthor-time 1704164645\nsummary A clock\n\tfirst\n{hash} 2 2\n\tsecond\n"
        );
        let lines = blame(&text);
        assert_eq!(lines[&1], "0123456789 2024-01-02 Ada: A clock");
        assert_eq!(lines[&2], lines[&1]);
    }

    #[test]
    fn days_are_counted() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(4_102_444_799), "2099-12-31");
    }
}
