//! Orchestration as the input grows: CloudFormation resources and TOSCA nodes, each ten times as many as the row before. Time must
//! grow at most as n^1.1.

use super::{Context, Row, cloudformation, tosca};

/// Sizes, how often ours is measured, and whether the peer is asked: cfn-lint needs minutes for more than a few hundred.
const SIZES: [(usize, u32, bool); 3] = [(500, 10, true), (5_000, 3, false), (50_000, 1, false)];

pub(super) fn rows(context: &Context) -> Result<Vec<Row>, String> {
    let mut rows = cloudformation::growing_rows(context, &SIZES)?;
    tell_growth(&mut rows, &SIZES.map(|(count, ..)| count));
    rows.extend(tosca::rows(context)?);
    Ok(rows)
}

/// Writes the exponent of the growth since the row before into the remarks.
fn tell_growth(rows: &mut [Row], sizes: &[usize]) {
    for at in 1..rows.len().min(sizes.len()) {
        let time = rows[at].ours.cpu_ms / rows[at - 1].ours.cpu_ms;
        let size = sizes[at] as f64 / sizes[at - 1] as f64;
        rows[at].remark = format!("grows as n^{:.2}", time.ln() / size.ln());
    }
}
