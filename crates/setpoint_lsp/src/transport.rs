//! Messages of the editor from standard input, and to it on standard output.

use std::io::{self, BufRead, ErrorKind, Read};
use std::thread::JoinHandle;

use crossbeam_channel::bounded;
use lsp_server::{Connection, Message};
use setpoint_source::MAX_FILE_BYTES;

/// Lines before a message are no longer than this, all together.
const MAX_HEADER_BYTES: u64 = 64 * 1024;

/// The threads that read and write.
pub(crate) struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// Waits until all is read and written.
    pub(crate) fn join(self) -> io::Result<()> {
        let panicked = |_| Err(io::Error::other("a thread panicked"));
        self.reader.join().unwrap_or_else(panicked)?;
        self.writer.join().unwrap_or_else(panicked)
    }
}

/// Connects to whoever is at the other end of standard input and output.
pub(crate) fn standard_streams() -> io::Result<(Connection, Threads)> {
    let (sender, to_write) = bounded::<Message>(0);
    let (read, receiver) = bounded::<Message>(0);
    let writer = std::thread::Builder::new().name("writer".to_owned()).spawn(move || {
        let mut output = io::stdout().lock();
        to_write.into_iter().try_for_each(|message| message.write(&mut output))
    })?;
    let reader = std::thread::Builder::new().name("reader".to_owned()).spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(message) = read_message(&mut input)? {
            let is_last = matches!(&message, Message::Notification(last) if last.method == "exit");
            if read.send(message).is_err() || is_last {
                break;
            }
        }
        Ok(())
    })?;
    Ok((Connection { sender, receiver }, Threads { reader, writer }))
}

/// Reads a message, or nothing at the end. How long it is says whoever sends it: no memory is taken before it is there.
fn read_message(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let invalid = |what: &str| io::Error::new(ErrorKind::InvalidData, what.to_owned());
    let mut whole = Vec::new();
    let mut length = None;
    let mut header = input.take(MAX_HEADER_BYTES);
    loop {
        let start = whole.len();
        if header.read_until(b'\n', &mut whole)? == 0 {
            return if whole.is_empty() { Ok(None) } else { Err(ErrorKind::UnexpectedEof.into()) };
        }
        let line = String::from_utf8_lossy(&whole[start..]);
        let Some((name, value)) = line.split_once(':') else { break };
        if name.eq_ignore_ascii_case("Content-Length") {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let length = length.ok_or_else(|| invalid("a message without a length"))?;
    if length > 8 * MAX_FILE_BYTES.get() as u64 {
        return Err(invalid("a message that is too long"));
    }
    let start = whole.len() as u64;
    input.take(length).read_to_end(&mut whole)?;
    if whole.len() as u64 - start < length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Message::read(&mut whole.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_as_long_as_what_is_there() {
        let exit = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let text = format!("content-length: {}\r\nX: y\r\n\r\n{exit}", exit.len());
        let mut input = text.as_bytes();
        assert!(matches!(read_message(&mut input), Ok(Some(Message::Notification(_)))));
        assert!(matches!(read_message(&mut input), Ok(None)));
        for wrong in [
            "Content-Length: 99999999999999\r\n\r\nx",
            "Content-Length: 400000000\r\n\r\nx",
            "Content-Length: -1\r\n\r\n{}",
            "\r\n\r\n",
            "Content-Length: 2\r\n\r\n{",
            "Content-Length: 2\r\n",
        ] {
            assert!(read_message(&mut wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
