//! `strftime` in the manner of Ruby.

use super::stamp::{civil_from_days, days_from_civil};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

pub(super) fn month_names() -> &'static [&'static str] {
    &MONTHS
}

pub(super) fn day_names() -> &'static [&'static str] {
    &DAYS
}

/// A moment by its parts.
struct Clock {
    seconds: i64,
    nanos: u32,
    /// `None` for UTC.
    offset: Option<i64>,
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    weekday: i64,
    day_of_year: i64,
}

/// Seconds since 1970 with nanoseconds, seen from a zone (seconds to the east, `None` for UTC).
pub(super) fn strftime(seconds: i64, nanos: u32, offset: Option<i64>, format: &str) -> String {
    let local = seconds.saturating_add(offset.unwrap_or(0));
    let days = local.div_euclid(86400);
    let rest = local.rem_euclid(86400);
    let (year, month, day) = civil_from_days(days);
    let clock = Clock {
        seconds,
        nanos,
        offset,
        year,
        month,
        day,
        hour: rest / 3600,
        minute: rest / 60 % 60,
        second: rest % 60,
        weekday: (days + 4).rem_euclid(7),
        day_of_year: days - days_from_civil(year, 1, 1) + 1,
    };
    clock.format(format)
}

/// What stands between `%` and the letter.
#[derive(Clone, Default)]
struct Flags {
    pad: Option<Pad>,
    upper: bool,
    swap: bool,
    colons: usize,
    width: Option<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Pad {
    None,
    Zero,
    Blank,
}

impl Clock {
    fn format(&self, format: &str) -> String {
        let letters: Vec<char> = format.chars().collect();
        let mut out = String::new();
        let mut at = 0;
        while at < letters.len() {
            if letters[at] != '%' {
                out.push(letters[at]);
                at += 1;
                continue;
            }
            let start = at;
            at += 1;
            let mut flags = Flags::default();
            while let Some(letter) = letters.get(at) {
                match letter {
                    '-' => flags.pad = Some(Pad::None),
                    '_' => flags.pad = Some(Pad::Blank),
                    '0' if flags.width.is_none() => flags.pad = Some(Pad::Zero),
                    '^' => flags.upper = true,
                    '#' => flags.swap = true,
                    ':' => flags.colons += 1,
                    '0'..='9' => {
                        let digit = letter.to_digit(10).unwrap_or(0) as usize;
                        flags.width = Some((flags.width.unwrap_or(0) * 10 + digit).min(1000));
                    }
                    'E' | 'O' => {}
                    _ => break,
                }
                at += 1;
            }
            let text = letters.get(at).and_then(|letter| self.directive(*letter, &flags));
            if let Some(text) = text {
                out.push_str(&text);
                at += 1;
            } else {
                // Not a directive: it stands for itself.
                at = (at + 1).min(letters.len());
                out.extend(&letters[start..at]);
            }
        }
        out
    }

    fn directive(&self, letter: char, flags: &Flags) -> Option<String> {
        let number = |value: i64, width: usize, pad: Pad| Some(number(value, width, pad, flags));
        let twelve = |hour: i64| if hour % 12 == 0 { 12 } else { hour % 12 };
        let (iso_year, iso_week) = self.iso_week();
        match letter {
            'Y' => number(self.year, if self.year < 0 { 5 } else { 4 }, Pad::Zero),
            'C' => number(self.year.div_euclid(100), 2, Pad::Zero),
            'y' => number(self.year.rem_euclid(100), 2, Pad::Zero),
            'm' => number(self.month, 2, Pad::Zero),
            'd' => number(self.day, 2, Pad::Zero),
            'e' => number(self.day, 2, Pad::Blank),
            'j' => number(self.day_of_year, 3, Pad::Zero),
            'H' => number(self.hour, 2, Pad::Zero),
            'k' => number(self.hour, 2, Pad::Blank),
            'I' => number(twelve(self.hour), 2, Pad::Zero),
            'l' => number(twelve(self.hour), 2, Pad::Blank),
            'M' => number(self.minute, 2, Pad::Zero),
            'S' => number(self.second, 2, Pad::Zero),
            's' => number(self.seconds, 1, Pad::Zero),
            'u' => number(if self.weekday == 0 { 7 } else { self.weekday }, 1, Pad::Zero),
            'w' => number(self.weekday, 1, Pad::Zero),
            'G' => number(iso_year, 4, Pad::Zero),
            'g' => number(iso_year.rem_euclid(100), 2, Pad::Zero),
            'V' => number(iso_week, 2, Pad::Zero),
            'U' => number((self.day_of_year + 6 - self.weekday) / 7, 2, Pad::Zero),
            'W' => number((self.day_of_year + 6 - (self.weekday + 6) % 7) / 7, 2, Pad::Zero),
            'L' => Some(fraction(self.nanos, flags.width.unwrap_or(3))),
            'N' => Some(fraction(self.nanos, flags.width.unwrap_or(9))),
            'B' => Some(text(name(&MONTHS, self.month - 1), flags)),
            'b' | 'h' => Some(text(&name(&MONTHS, self.month - 1)[..3], flags)),
            'A' => Some(text(name(&DAYS, self.weekday), flags)),
            'a' => Some(text(&name(&DAYS, self.weekday)[..3], flags)),
            'p' => Some(text(
                match (self.hour < 12, flags.swap) {
                    (true, false) => "AM",
                    (true, true) => "am",
                    (false, false) => "PM",
                    (false, true) => "pm",
                },
                &Flags { swap: false, ..flags.clone() },
            )),
            'P' => Some(text(if self.hour < 12 { "am" } else { "pm" }, flags)),
            'Z' => Some(text(if self.offset.is_none() { "UTC" } else { "" }, flags)),
            'z' => Some(self.zone(flags)),
            'n' => Some("\n".to_owned()),
            't' => Some("\t".to_owned()),
            '%' => Some("%".to_owned()),
            'c' => Some(text(&self.format("%a %b %e %H:%M:%S %Y"), flags)),
            'D' | 'x' => Some(text(&self.format("%m/%d/%y"), flags)),
            'F' => Some(text(&self.format("%Y-%m-%d"), flags)),
            'v' => Some(text(&self.format("%e-%^b-%Y"), flags)),
            'X' | 'T' => Some(text(&self.format("%H:%M:%S"), flags)),
            'r' => Some(text(&self.format("%I:%M:%S %p"), flags)),
            'R' => Some(text(&self.format("%H:%M"), flags)),
            '+' => Some(text(&self.format("%a %b %e %H:%M:%S %Z %Y"), flags)),
            _ => None,
        }
    }

    fn iso_week(&self) -> (i64, i64) {
        let weekday = if self.weekday == 0 { 7 } else { self.weekday };
        let week = (self.day_of_year - weekday + 10).div_euclid(7);
        if week < 1 {
            return (self.year - 1, weeks_in(self.year - 1));
        }
        if week > weeks_in(self.year) { (self.year + 1, 1) } else { (self.year, week) }
    }

    fn zone(&self, flags: &Flags) -> String {
        let offset = self.offset.unwrap_or(0);
        let sign = if offset < 0 { '-' } else { '+' };
        let total = offset.abs();
        let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60);
        let rest = match flags.colons {
            0 => format!("{minutes:02}"),
            1 => format!(":{minutes:02}"),
            2 => format!(":{minutes:02}:{seconds:02}"),
            _ if seconds != 0 => format!(":{minutes:02}:{seconds:02}"),
            _ if minutes != 0 => format!(":{minutes:02}"),
            _ => String::new(),
        };
        let digits = format!("{hours:02}{rest}");
        let missing = flags.width.unwrap_or(0).saturating_sub(digits.len() + 1);
        match flags.pad {
            Some(Pad::Blank) => format!("{}{sign}{}", " ".repeat(missing), digits.trim_start_matches('0')),
            Some(Pad::None) => format!("{sign}{}", digits.strip_prefix('0').unwrap_or(&digits)),
            _ => format!("{sign}{}{digits}", "0".repeat(missing)),
        }
    }
}

/// Whether the year has 52 or 53 weeks.
fn weeks_in(year: i64) -> i64 {
    let last_day =
        |year: i64| (year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400)).rem_euclid(7);
    if last_day(year) == 4 || last_day(year - 1) == 3 { 53 } else { 52 }
}

fn name(names: &'static [&'static str], index: i64) -> &'static str {
    usize::try_from(index).ok().and_then(|index| names.get(index)).copied().unwrap_or("???")
}

fn number(value: i64, width: usize, default: Pad, flags: &Flags) -> String {
    let width = flags.width.unwrap_or(width);
    match flags.pad.unwrap_or(default) {
        Pad::None => value.to_string(),
        Pad::Blank => format!("{value:>width$}"),
        Pad::Zero => format!("{value:0width$}"),
    }
}

fn fraction(nanos: u32, digits: usize) -> String {
    let all = format!("{nanos:09}");
    if digits <= 9 { all[..digits.max(1)].to_owned() } else { format!("{all:0<digits$}") }
}

fn text(value: &str, flags: &Flags) -> String {
    let value = if flags.upper || flags.swap { value.to_uppercase() } else { value.to_owned() };
    let width = flags.width.unwrap_or(0);
    match flags.pad {
        Some(Pad::Zero) => format!("{value:0>width$}"),
        Some(Pad::None) => value,
        _ => format!("{value:>width$}"),
    }
}
