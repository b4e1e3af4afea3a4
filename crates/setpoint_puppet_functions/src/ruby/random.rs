//! Ruby's `Random`: the Mersenne Twister MT19937, seeded and limited as Ruby does it, so that numbers are equal.

const N: usize = 624;
const M: usize = 397;

pub(crate) struct Random {
    state: Box<[u32; N]>,
    next: usize,
}

impl Random {
    /// A generator for a seed of any size, as 32-bit words with the lowest first.
    pub(crate) fn new(seed: &[u32]) -> Self {
        let used = seed.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        let mut words = &seed[..used];
        // Ruby takes a highest word of one for a guard, and drops it.
        if words.len() > 1 && words.last() == Some(&1) {
            words = &words[..words.len() - 1];
        }
        match words {
            [] => Self::from_word(0),
            [word] => Self::from_word(*word),
            _ => Self::from_words(words),
        }
    }

    /// A generator for a seed written in hexadecimal digits.
    pub(crate) fn from_hex(digits: &str) -> Self {
        let mut words = Vec::with_capacity(digits.len() / 8 + 1);
        let mut end = digits.len();
        while end > 0 {
            let start = end.saturating_sub(8);
            words.push(
                digits.get(start..end).and_then(|part| u32::from_str_radix(part, 16).ok()).unwrap_or(0),
            );
            end = start;
        }
        Self::new(&words)
    }

    fn from_word(seed: u32) -> Self {
        let mut state = Box::new([0; N]);
        state[0] = seed;
        for i in 1..N {
            let previous = state[i - 1];
            state[i] = 1_812_433_253_u32.wrapping_mul(previous ^ (previous >> 30)).wrapping_add(i as u32);
        }
        Self { state, next: N }
    }

    fn from_words(words: &[u32]) -> Self {
        let mut random = Self::from_word(19_650_218);
        let state = &mut random.state;
        let mix = |previous: u32| previous ^ (previous >> 30);
        let (mut i, mut j) = (1, 0);
        for _ in 0..N.max(words.len()) {
            state[i] = (state[i] ^ mix(state[i - 1]).wrapping_mul(1_664_525))
                .wrapping_add(words[j])
                .wrapping_add(j as u32);
            i += 1;
            j = (j + 1) % words.len();
            if i >= N {
                state[0] = state[N - 1];
                i = 1;
            }
        }
        for _ in 0..N - 1 {
            state[i] = (state[i] ^ mix(state[i - 1]).wrapping_mul(1_566_083_941)).wrapping_sub(i as u32);
            i += 1;
            if i >= N {
                state[0] = state[N - 1];
                i = 1;
            }
        }
        state[0] = 0x8000_0000;
        random
    }

    fn word(&mut self) -> u32 {
        if self.next >= N {
            self.refill();
        }
        let mut y = self.state[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    fn refill(&mut self) {
        for i in 0..N {
            let y = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % N] & 0x7fff_ffff);
            let odd = if y & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[i] = self.state[(i + M) % N] ^ (y >> 1) ^ odd;
        }
        self.next = 0;
    }

    /// A number from 0 to `limit`, both included.
    pub(crate) fn up_to(&mut self, limit: u64) -> u64 {
        if limit == 0 {
            return 0;
        }
        let mask = u64::MAX >> limit.leading_zeros();
        'retry: loop {
            let mut value = 0;
            for shift in [32, 0] {
                if (mask >> shift) & 0xffff_ffff != 0 {
                    value |= u64::from(self.word()) << shift;
                    value &= mask;
                    if value > limit {
                        continue 'retry;
                    }
                }
            }
            return value;
        }
    }

    /// A number from 0 to below `end`; nothing if there is none.
    pub(crate) fn below(&mut self, end: i64) -> Option<i64> {
        (end > 0).then(|| self.up_to(end as u64 - 1) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those that Ruby 3.1 gives.
    #[test]
    fn numbers_are_equal_to_rubys() {
        assert_eq!(Random::new(&[1]).below(100), Some(37));
        assert_eq!(Random::new(&[]).below(100), Some(44));
        assert_eq!(Random::new(&[5, 1]).below(100), Some(99));
        assert_eq!(Random::new(&[0, 1]).below(1000), Some(684));
        assert_eq!(Random::new(&[7, 0, 1]).below(1000), Some(264));
        assert_eq!(Random::from_hex("29d42b64e76714244cb").below(1_000_000_000_000), Some(850_306_865_476));
    }
}
