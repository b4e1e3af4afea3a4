//! How far a long check is: one line on a terminal, which is gone when the work is done.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use setpoint_project::{Progress, Stage};

use crate::output;

/// What is done sooner is not worth a line.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the line is written anew.
const PAUSE: Duration = Duration::from_millis(200);
/// Longer lines would wrap on a narrow terminal, and could not be erased.
const WIDTH: usize = 79;

/// What is being done.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Point {
    /// How many nodes were begun, and how many there are.
    nodes: (usize, usize),
    /// The node that reported last.
    node: String,
    /// Its question, how much of it is decided, and of how much.
    stage: Option<(Stage, usize, usize)>,
}

/// Shared by all who work and the thread that writes.
#[derive(Debug, Default)]
struct Board {
    point: Mutex<Point>,
    /// Whether anybody looks.
    is_watched: AtomicBool,
}

impl Progress for Board {
    fn expect(&self, nodes: usize) {
        self.change(|point| point.nodes.1 += nodes);
    }

    fn begin(&self, node: &str) {
        self.change(|point| {
            point.nodes.0 += 1;
            node.clone_into(&mut point.node);
            point.stage = None;
        });
    }

    fn tell(&self, node: &str, stage: Stage, decided: usize, of: usize) {
        self.change(|point| {
            node.clone_into(&mut point.node);
            point.stage = Some((stage, decided, of));
        });
    }
}

impl Board {
    fn change(&self, change: impl FnOnce(&mut Point)) {
        if self.is_watched.load(Ordering::Relaxed) {
            change(&mut self.point.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn point(&self) -> Point {
        self.point.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Writes the line while it lives.
#[derive(Debug)]
pub(crate) struct Shown {
    board: Arc<Board>,
    writer: Option<JoinHandle<()>>,
}

impl Shown {
    /// Shows nothing unless standard error is a terminal.
    pub(crate) fn start(wanted: bool) -> Self {
        let is_shown = wanted && std::io::stderr().is_terminal();
        let board = Arc::new(Board { is_watched: is_shown.into(), ..Board::default() });
        let watched = Arc::clone(&board);
        // Without a thread for it there is no line; the work goes on.
        let writer =
            is_shown.then(|| std::thread::Builder::new().spawn(move || write(&watched)).ok()).flatten();
        Self { board, writer }
    }

    /// What those who work tell how far they are.
    pub(crate) fn progress(&self) -> Arc<dyn Progress> {
        Arc::clone(&self.board) as Arc<dyn Progress>
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.board.is_watched.store(false, Ordering::Relaxed);
        if let Some(writer) = self.writer.take() {
            writer.thread().unpark();
            let _ = writer.join();
        }
    }
}

fn write(board: &Board) {
    let mut shown = Point::default();
    std::thread::park_timeout(PATIENCE);
    while board.is_watched.load(Ordering::Relaxed) {
        let point = board.point();
        if point != shown {
            output::status(&line(&point, WIDTH));
            shown = point;
        }
        std::thread::park_timeout(PAUSE);
    }
    if shown != Point::default() {
        output::status("");
    }
}

/// `node 3 of 12, web3.example.com: order, 120 of 4500 pairs decided`
fn line(point: &Point, width: usize) -> String {
    let (begun, nodes) = point.nodes;
    let mut place = if nodes > 1 { format!("node {begun} of {nodes}, ") } else { String::new() };
    let doing = match point.stage {
        None => "compiling".to_owned(),
        Some((stage, decided, of)) => {
            let (question, what) = match stage {
                Stage::Order => ("order", "pairs"),
                Stage::Twice => ("second run", "parts"),
                Stage::Invariants => ("what must hold", "statements"),
                Stage::Refresh => ("restarts of services", "files"),
                Stage::Edges => ("relationships that change nothing", "relationships"),
            };
            format!("{question}, {decided} of {of} {what} decided")
        }
    };
    let room = width.saturating_sub(place.chars().count() + doing.chars().count() + 2);
    if point.node.chars().count() <= room {
        place.push_str(&point.node);
    } else if room > 1 {
        place.extend(point.node.chars().take(room - 1).chain(['…']));
    }
    let whole = if place.is_empty() { doing } else { format!("{}: {doing}", place.trim_end_matches(", ")) };
    whole.chars().take(width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(nodes: (usize, usize), node: &str, stage: Option<(Stage, usize, usize)>) -> Point {
        Point { nodes, node: node.to_owned(), stage }
    }

    #[test]
    fn a_line_says_who_what_and_how_far() {
        let told = |point: Point| line(&point, WIDTH);
        assert_eq!(told(Point::default()), "compiling");
        assert_eq!(told(point((1, 1), "web1", None)), "web1: compiling");
        assert_eq!(
            told(point((3, 12), "web3.example.com", Some((Stage::Order, 120, 4500)))),
            "node 3 of 12, web3.example.com: order, 120 of 4500 pairs decided"
        );
        assert_eq!(
            told(point((1, 1), "web1", Some((Stage::Twice, 0, 7)))),
            "web1: second run, 0 of 7 parts decided"
        );
        assert_eq!(
            told(point((1, 1), "", Some((Stage::Invariants, 1, 2)))),
            "what must hold, 1 of 2 statements decided"
        );
    }

    #[test]
    fn a_line_never_wraps() {
        let long = "a-node-with-a-very-long-name.in-a-long-domain.of-a-long-organisation.example.com";
        for nodes in [(1, 1), (10, 2000)] {
            for stage in [None, Some((Stage::Refresh, 12345, 123_456))] {
                for width in [0, 5, 40, 79, 200] {
                    let text = line(&point(nodes, long, stage), width);
                    assert!(text.chars().count() <= width, "{text}");
                }
            }
        }
        let text = line(&point((10, 2000), long, Some((Stage::Order, 1, 2))), WIDTH);
        assert_eq!(text, "node 10 of 2000, a-node-with-a-very-long-name.in-…: order, 1 of 2 pairs decided");
    }
}
