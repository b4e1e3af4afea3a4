//! Compressions, recognised by their first bytes.

use std::io::{self, BufRead, BufReader, Read};

use crate::IndexError;

/// The bytes of a stream as they were before it was compressed; a stream that is not compressed comes as it is.
pub fn plain<'a>(reader: impl Read + 'a, origin: &str) -> Result<Box<dyn BufRead + 'a>, IndexError> {
    let mut reader = BufReader::with_capacity(1 << 16, reader);
    // A pipe may give its first bytes one at a time.
    let mut start = Vec::new();
    (&mut reader)
        .take(6)
        .read_to_end(&mut start)
        .map_err(|error| IndexError::new(origin, error.to_string()))?;
    let kind = start.clone();
    let whole = BufReader::with_capacity(1 << 16, io::Cursor::new(start).chain(reader));
    Ok(match kind.as_slice() {
        [0x1f, 0x8b, ..] => buffered(flate2::bufread::MultiGzDecoder::new(whole)),
        [0xfd, b'7', b'z', b'X', b'Z', 0] => {
            buffered(lzma_rust2::XzReader::new_mem_limit(whole, true, MEMORY_KB))
        }
        [b'B', b'Z', b'h', ..] => buffered(bzip2::bufread::MultiBzDecoder::new(whole)),
        [0x04, 0x22, 0x4d, 0x18, ..] => buffered(Frames::new(whole, lz4_frame)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => buffered(Frames::new(whole, zstd_frame)),
        _ => Box::new(whole),
    })
}

/// No published index asks for more to be unpacked.
const MEMORY_KB: u32 = 1 << 20;
const WINDOW: u64 = 1 << 28;

fn buffered<'a>(reader: impl Read + 'a) -> Box<dyn BufRead + 'a> {
    Box::new(BufReader::with_capacity(1 << 17, reader))
}

/// Formats whose decoders end with a frame, though another may follow.
struct Frames<R, D> {
    frame: Frame<R, D>,
    start: fn(R) -> io::Result<D>,
}

enum Frame<R, D> {
    Between(R),
    Inside(D),
    Broken,
}

trait Decoder<R>: Read {
    fn into_source(self) -> R;
}

impl<R: BufRead, D: Decoder<R>> Frames<R, D> {
    fn new(source: R, start: fn(R) -> io::Result<D>) -> Self {
        Self { frame: Frame::Between(source), start }
    }
}

impl<R: BufRead, D: Decoder<R>> Read for Frames<R, D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(&mut self.frame, Frame::Broken) {
                Frame::Between(mut source) => {
                    if source.fill_buf()?.is_empty() {
                        self.frame = Frame::Between(source);
                        return Ok(0);
                    }
                    self.frame = Frame::Inside((self.start)(source)?);
                }
                Frame::Inside(mut decoder) => {
                    let read = decoder.read(buffer)?;
                    if read > 0 {
                        self.frame = Frame::Inside(decoder);
                        return Ok(read);
                    }
                    self.frame = Frame::Between(decoder.into_source());
                }
                Frame::Broken => return Err(io::Error::other("the compressed data is damaged")),
            }
        }
    }
}

type Lz4<R> = lz4_flex::frame::FrameDecoder<R>;
type Zstd<R> = ruzstd::decoding::StreamingDecoder<R, ruzstd::decoding::FrameDecoder>;

#[allow(clippy::unnecessary_wraps, reason = "the other format can fail here")]
fn lz4_frame<R: BufRead>(source: R) -> io::Result<Lz4<R>> {
    Ok(lz4_flex::frame::FrameDecoder::new(source))
}

impl<R: BufRead> Decoder<R> for Lz4<R> {
    fn into_source(self) -> R {
        self.into_inner()
    }
}

fn zstd_frame<R: BufRead>(source: R) -> io::Result<Zstd<R>> {
    ruzstd::decoding::StreamingDecoder::new_with_max_window_size(source, WINDOW)
        .map_err(|error| io::Error::other(error.to_string()))
}

impl<R: BufRead> Decoder<R> for Zstd<R> {
    fn into_source(self) -> R {
        self.into_inner()
    }
}
