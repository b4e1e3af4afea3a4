//! Which of two versions is the newer one.

use std::cmp::Ordering;

/// Whether the first version is newer, by dpkg's rules; rpm's differ only in corners that releases do not have.
pub fn newer(one: &str, other: &str) -> bool {
    compare(one, other) == Ordering::Greater
}

/// Orders two versions by dpkg's rules.
pub(crate) fn compare(one: &str, other: &str) -> Ordering {
    let (epoch, rest) = epoch(one);
    let (other_epoch, other_rest) = self::epoch(other);
    let (upstream, revision) = rest.rsplit_once('-').unwrap_or((rest, ""));
    let (other_upstream, other_revision) = other_rest.rsplit_once('-').unwrap_or((other_rest, ""));
    number(epoch, other_epoch)
        .then_with(|| part(upstream.as_bytes(), other_upstream.as_bytes()))
        .then_with(|| part(revision.as_bytes(), other_revision.as_bytes()))
}

fn epoch(version: &str) -> (&str, &str) {
    version
        .split_once(':')
        .filter(|(epoch, _)| epoch.bytes().all(|byte| byte.is_ascii_digit()))
        .unwrap_or(("0", version))
}

/// Numbers of any length.
fn number(one: &str, other: &str) -> Ordering {
    let (one, other) = (one.trim_start_matches('0'), other.trim_start_matches('0'));
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

fn part(mut one: &[u8], mut other: &[u8]) -> Ordering {
    loop {
        let text = |bytes: &[u8]| bytes.iter().take_while(|byte| !byte.is_ascii_digit()).count();
        let (text_one, rest_one) = one.split_at(text(one));
        let (text_other, rest_other) = other.split_at(text(other));
        for at in 0..text_one.len().max(text_other.len()) {
            let by_weight = weight(text_one.get(at)).cmp(&weight(text_other.get(at)));
            if by_weight != Ordering::Equal {
                return by_weight;
            }
        }
        let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits_one, after_one) = rest_one.split_at(digits(rest_one));
        let (digits_other, after_other) = rest_other.split_at(digits(rest_other));
        let as_text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
        let by_number = number(as_text(digits_one), as_text(digits_other));
        if by_number != Ordering::Equal {
            return by_number;
        }
        if after_one.is_empty() && after_other.is_empty() {
            return Ordering::Equal;
        }
        (one, other) = (after_one, after_other);
    }
}

/// A tilde comes before the end, letters come before the rest.
fn weight(byte: Option<&u8>) -> i32 {
    match byte {
        None => 0,
        Some(b'~') => -1,
        Some(letter) if letter.is_ascii_alphabetic() => i32::from(*letter),
        Some(other) => i32::from(*other) + 256,
    }
}

#[cfg(test)]
mod tests {
    use super::newer;

    #[test]
    fn versions_are_ordered_as_dpkg_orders_them() {
        for (older, later) in [
            ("1.0", "1.1"),
            ("1.9", "1.10"),
            ("1.0~rc1", "1.0"),
            ("1.0", "1.0+deb12u1"),
            ("9.9", "1:1.0"),
            ("1.0-1", "1.0-2"),
            ("1.0", "1.0-1"),
            ("1.0a", "1.0b"),
            ("1.0a.1", "1.0.1"),
            ("007", "8"),
        ] {
            assert!(newer(later, older), "{later} > {older}");
            assert!(!newer(older, later), "{older} < {later}");
        }
        assert!(!newer("1.01", "1.1"));
    }
}
