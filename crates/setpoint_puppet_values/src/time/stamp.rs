//! Points in time as text.

use super::strftime::strftime;
use super::strptime::{Parsed, strptime};
use super::{NANOS_PER_SECOND, Timestamp};
use crate::error::ValueError;

const WITHOUT_ZONE: [&str; 5] = ["%FT%T.%N", "%FT%T", "%F %T.%N", "%F %T", "%F"];
const WITH_ZONE: [&str; 5] = ["%FT%T.%N %Z", "%FT%T %Z", "%F %T.%N %Z", "%F %T %Z", "%F %Z"];

impl Timestamp {
    /// Formatted as Ruby's `strftime` does, in UTC or a zone such as `+02:00` or `EST`.
    pub fn format(self, format: &str, zone: Option<&str>) -> Result<String, ValueError> {
        let offset = match zone.filter(|zone| !zone.is_empty()) {
            None => None,
            Some(zone) => Some(zone_offset(zone).ok_or_else(|| illegal_zone(zone))?),
        };
        Ok(strftime(self.seconds(), self.nanos().rem_euclid(NANOS_PER_SECOND) as u32, offset, format))
    }

    /// Read by the usual formats.
    pub fn parse_default(text: &str, zone: Option<&str>) -> Result<Self, ValueError> {
        let zone = zone.filter(|zone| !zone.is_empty());
        if zone.is_some() {
            return Self::parse(text, &WITHOUT_ZONE, zone);
        }
        Self::parse(text, &[WITH_ZONE, WITHOUT_ZONE].concat(), None)
    }

    /// Read by the first of several formats that fits.
    pub fn parse(text: &str, formats: &[&str], zone: Option<&str>) -> Result<Self, ValueError> {
        let zone = zone.filter(|zone| !zone.is_empty());
        for format in formats {
            match strptime(text, format) {
                Some(parsed) if parsed.complete && !(zone.is_some() && parsed.zone.is_some()) => {
                    return from_parsed(&parsed, zone);
                }
                _ => {}
            }
        }
        let formats = formats.join(", ");
        Err(ValueError::new(format!("Unable to parse '{text}' using any of the formats {formats}")))
    }

    /// Read by one format.
    pub fn parse_one(text: &str, format: &str, zone: Option<&str>) -> Result<Self, ValueError> {
        let zone = zone.filter(|zone| !zone.is_empty());
        let Some(parsed) = strptime(text, format).filter(|parsed| parsed.complete) else {
            return Err(ValueError::new(format!("Unable to parse '{text}' using format '{format}'")));
        };
        if zone.is_some() && parsed.zone.is_some() {
            return Err(ValueError::new(
                "Using a Timezone designator in format specification is mutually exclusive to providing an explicit \
                 timezone argument",
            ));
        }
        from_parsed(&parsed, zone)
    }
}

fn illegal_zone(zone: &str) -> ValueError {
    ValueError::new(format!("Illegal timezone '{zone}'"))
}

fn from_parsed(parsed: &Parsed, zone: Option<&str>) -> Result<Timestamp, ValueError> {
    let out_of_range = || ValueError::new("argument out of range");
    let Some(year) = parsed.year else {
        return Err(ValueError::new("can't convert nil into an exact number"));
    };
    let month = parsed.month.unwrap_or(1);
    let day = parsed.day.unwrap_or(1);
    let days = days_from_civil(year, i64::from(month), i64::from(day));
    let clock = i64::from(parsed.hour.unwrap_or(0)) * 3600
        + i64::from(parsed.minute.unwrap_or(0)) * 60
        + i64::from(parsed.second.unwrap_or(0));
    let offset = match zone.or(parsed.zone.as_deref()) {
        Some(zone) => zone_offset(zone).ok_or_else(|| illegal_zone(zone))?,
        None => 0,
    };
    let seconds = i128::from(days) * 86400 + i128::from(clock) - i128::from(offset);
    let nanos = seconds * NANOS_PER_SECOND + i128::from(parsed.nanos.unwrap_or(0));
    Timestamp::from_nanos(nanos).ok_or_else(out_of_range)
}

/// Days since 1970 of a date in the Gregorian calendar.
pub(super) fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month and day of a number of days since 1970.
pub(super) fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Seconds to the east of Greenwich. The zone of the machine is not asked: it would make results depend on it.
pub(super) fn zone_offset(zone: &str) -> Option<i64> {
    let name = zone.trim().to_ascii_lowercase();
    let (name, summer) = match name.strip_suffix(" dst").or_else(|| name.strip_suffix(" daylight time")) {
        Some(name) => (name.to_owned(), 3600),
        None => (name.strip_suffix(" standard time").map_or(name.clone(), str::to_owned), 0),
    };
    let hours = match name.as_str() {
        "utc" | "gmt" | "ut" | "z" | "wet" | "current" | "western european" | "greenwich" => 0.0,
        "bst" | "cet" | "met" | "west" | "mez" | "fwt" | "mewt" | "swt" | "a" => 1.0,
        "cest" | "mest" | "mesz" | "eet" | "sast" | "ist israel" | "b" => 2.0,
        "eest" | "msk" | "bt" | "eat" | "c" => 3.0,
        "msd" | "zp4" | "d" => 4.0,
        "zp5" | "e" => 5.0,
        "ist" => 5.5,
        "zp6" | "f" => 6.0,
        "wast" | "g" => 7.0,
        "cct" | "awst" | "h" => 8.0,
        "jst" | "kst" | "i" => 9.0,
        "acst" => 9.5,
        "aest" | "east" | "gst" | "k" => 10.0,
        "acdt" => 10.5,
        "aedt" | "eadt" | "l" => 11.0,
        "nzst" | "nzt" | "idle" | "m" => 12.0,
        "nzdt" => 13.0,
        "at" | "n" => -1.0,
        "brst" | "o" => -2.0,
        "ndt" => -2.5,
        "brt" | "adt" | "art" | "p" => -3.0,
        "nst" => -3.5,
        "ast" | "clt" | "edt" | "q" => -4.0,
        "est" | "cdt" | "r" => -5.0,
        "cst" | "mdt" | "s" => -6.0,
        "mst" | "pdt" | "t" => -7.0,
        "pst" | "akdt" | "u" | "ydt" => -8.0,
        "akst" | "yst" | "hdt" | "v" => -9.0,
        "hst" | "ahst" | "cat" | "w" => -10.0,
        "nt" | "x" => -11.0,
        "idlw" | "y" => -12.0,
        _ => return numeric_offset(&name).map(|offset| offset + summer),
    };
    Some((hours * 3600.0) as i64 + summer)
}

/// `+02:00`, `-0530`, `gmt+2`.
fn numeric_offset(name: &str) -> Option<i64> {
    let name = name.strip_prefix("gmt").or_else(|| name.strip_prefix("utc")).unwrap_or(name);
    let (sign, digits) = match name.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, name.strip_prefix('+')?),
    };
    let parts: Vec<&str> = if digits.contains(':') {
        digits.split(':').collect()
    } else {
        if !digits.is_ascii() {
            return None;
        }
        match digits.len() {
            1 | 2 => vec![digits],
            3 => vec![&digits[..1], &digits[1..]],
            4 => vec![&digits[..2], &digits[2..]],
            6 => vec![&digits[..2], &digits[2..4], &digits[4..]],
            _ => return None,
        }
    };
    let mut total = 0;
    for (part, factor) in parts.iter().zip([3600, 60, 1]) {
        if part.is_empty() || part.len() > 2 {
            return None;
        }
        total += part.parse::<u32>().ok().map(i64::from)? * factor;
    }
    Some(sign * total)
}
