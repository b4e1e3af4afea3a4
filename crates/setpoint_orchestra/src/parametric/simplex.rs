//! Linear optimisation in whole numbers of any sign: small systems, exact, with a rule that never cycles.

/// A fraction in lowest terms with a positive denominator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Fraction {
    above: i128,
    below: i128,
}

impl Fraction {
    const ZERO: Self = Self { above: 0, below: 1 };

    fn new(above: i128, below: i128) -> Option<Self> {
        if below == 0 {
            return None;
        }
        let divisor = gcd(above.unsigned_abs(), below.unsigned_abs()).max(1) as i128;
        let sign = below.signum();
        Some(Self { above: sign * above / divisor, below: sign * below / divisor })
    }

    fn whole(value: i64) -> Self {
        Self { above: i128::from(value), below: 1 }
    }

    fn minus(self, other: Self) -> Option<Self> {
        let left = self.above.checked_mul(other.below)?;
        let right = other.above.checked_mul(self.below)?;
        Self::new(left.checked_sub(right)?, self.below.checked_mul(other.below)?)
    }

    fn times(self, other: Self) -> Option<Self> {
        Self::new(self.above.checked_mul(other.above)?, self.below.checked_mul(other.below)?)
    }

    fn over(self, other: Self) -> Option<Self> {
        Self::new(self.above.checked_mul(other.below)?, self.below.checked_mul(other.above)?)
    }

    fn less(self, other: Self) -> Option<bool> {
        Some(self.above.checked_mul(other.below)? < other.above.checked_mul(self.below)?)
    }
}

fn gcd(mut left: u128, mut right: u128) -> u128 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

/// Values of at least 0 that maximise `goal` where each row is at most its bound (bounds are not negative), scaled to
/// whole numbers. `None` if the goal has no maximum or the numbers grow too large.
pub(super) fn maximise(goal: &[i64], rows: &[(Vec<i64>, i64)]) -> Option<Vec<u64>> {
    let (width, height) = (goal.len(), rows.len());
    // The tableau: a row for each constraint with its slack, the bound last; then the goal.
    let mut table: Vec<Vec<Fraction>> = rows
        .iter()
        .enumerate()
        .map(|(at, (row, bound))| {
            let mut line: Vec<Fraction> = row.iter().map(|&value| Fraction::whole(value)).collect();
            line.extend((0..height).map(|slack| Fraction::whole(i64::from(slack == at))));
            line.push(Fraction::whole(*bound));
            line
        })
        .collect();
    let mut last: Vec<Fraction> = goal.iter().map(|&value| Fraction::whole(-value)).collect();
    last.extend(vec![Fraction::ZERO; height + 1]);
    let mut basis: Vec<usize> = (width..width + height).collect();
    // Bland's rule: the first column that helps, the row with the least ratio and the first variable.
    while let Some(column) = (0..width + height).find(|&at| last[at].above < 0) {
        let mut best: Option<(usize, Fraction)> = None;
        for (at, line) in table.iter().enumerate() {
            if line[column].above <= 0 {
                continue;
            }
            let ratio = line[width + height].over(line[column])?;
            let better = match best {
                None => true,
                Some((row, known)) => ratio.less(known)? || (ratio == known && basis[at] < basis[row]),
            };
            if better {
                best = Some((at, ratio));
            }
        }
        let (row, _) = best?;
        let pivot = table[row][column];
        for value in &mut table[row] {
            *value = value.over(pivot)?;
        }
        let pivot_line = table[row].clone();
        for line in
            table.iter_mut().enumerate().filter(|(at, _)| *at != row).map(|(_, line)| line).chain([&mut last])
        {
            let factor = line[column];
            if factor.above != 0 {
                for (value, pivot) in line.iter_mut().zip(&pivot_line) {
                    *value = value.minus(factor.times(*pivot)?)?;
                }
            }
        }
        basis[row] = column;
    }
    let mut values = vec![Fraction::ZERO; width];
    for (line, &variable) in table.iter().zip(&basis) {
        if variable < width {
            values[variable] = line[width + height];
        }
    }
    let mut scale: i128 = 1;
    for value in &values {
        let divisor = gcd(scale.unsigned_abs(), value.below.unsigned_abs()) as i128;
        scale = scale.checked_mul(value.below / divisor.max(1))?;
    }
    values.iter().map(|value| u64::try_from(value.above.checked_mul(scale / value.below)?).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::maximise;

    #[test]
    fn finds_a_corner() {
        // x + y ≤ 4, x ≤ 2: 3x + 2y is largest at (2, 2).
        let rows = [(vec![1, 1], 4), (vec![1, 0], 2)];
        assert_eq!(maximise(&[3, 2], &rows), Some(vec![2, 2]));
    }

    #[test]
    fn fractions_are_scaled() {
        // 2x ≤ 1, 3y ≤ 1: (1/2, 1/3) becomes (3, 2).
        let rows = [(vec![2, 0], 1), (vec![0, 3], 1)];
        assert_eq!(maximise(&[1, 1], &rows), Some(vec![3, 2]));
    }

    #[test]
    fn a_goal_without_a_limit_has_no_maximum() {
        assert_eq!(maximise(&[1], &[(vec![-1], 0)]), None);
    }
}
