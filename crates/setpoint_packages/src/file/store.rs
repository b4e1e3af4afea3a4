//! Where the bytes of an index are: in memory, or in a file that is read piece by piece.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::IndexError;

#[derive(Debug)]
pub(super) enum Store {
    Memory(Cow<'static, [u8]>),
    Disk { file: Mutex<File>, length: u64, name: String },
}

impl Store {
    pub(super) fn open(path: &Path) -> Result<Self, IndexError> {
        let name = path.display().to_string();
        if path.is_dir() {
            return Err(IndexError::new(
                name,
                "it is a folder; `setpoint packages build` makes an index of one",
            ));
        }
        let file = setpoint_source::open_stream(path)
            .map_err(|error| IndexError::new(name.clone(), error.reason))?;
        let about = file.metadata().map_err(|error| IndexError::new(name.clone(), error.to_string()))?;
        Ok(Self::Disk { file: Mutex::new(file), length: about.len(), name })
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Memory(_) => "",
            Self::Disk { name, .. } => name,
        }
    }

    pub(super) fn length(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::Disk { length, .. } => *length,
        }
    }

    /// Up to `length` bytes; fewer only at the end of the file.
    pub(super) fn start(&self, length: usize) -> Result<Vec<u8>, IndexError> {
        let length = length.min(usize::try_from(self.length()).unwrap_or(usize::MAX));
        self.read(0, length)
    }

    pub(super) fn read(&self, offset: u64, length: usize) -> Result<Vec<u8>, IndexError> {
        let cut =
            || IndexError::new(self.name(), "the file ends too early: it is damaged or was not fully copied");
        if offset.checked_add(length as u64).is_none_or(|end| end > self.length()) {
            return Err(cut());
        }
        match self {
            Self::Memory(bytes) => {
                let start = offset as usize;
                Ok(bytes.get(start..start + length).ok_or_else(cut)?.to_vec())
            }
            Self::Disk { file, name, .. } => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let mut bytes = vec![0; length];
                file.seek(SeekFrom::Start(offset))
                    .and_then(|_| file.read_exact(&mut bytes))
                    .map_err(|error| IndexError::new(name.clone(), error.to_string()))?;
                Ok(bytes)
            }
        }
    }
}
