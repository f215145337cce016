//! The calls of the generator: the next one of each lane.

use anyhow::{Result, bail};
use nfs3::arguments::{
    CREATE3args, GETATTR3args, LOOKUP3args, REMOVE3args, createhow3, stable_how,
};
use nfs3::client::Client;
use nfs3::request::{Arguments, NfsArguments};
use nfs3::template::{ReadTemplate, WriteTemplate};
use nfs3::types::{Handle, diropargs3, filename3, sattr3};

use crate::session::{self, Session};

const FOLDER: &str = "load";
const FILE_BYTES: u64 = 2 << 20;

/// The kind of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Read,
    Write,
    GetAttributes,
    LookUp,
    CreateRemove,
}

impl Call {
    pub(crate) fn parse(word: &str) -> Result<Call> {
        Ok(match word {
            "read" => Call::Read,
            "write" => Call::Write,
            "getattr" => Call::GetAttributes,
            "lookup" => Call::LookUp,
            "create-remove" => Call::CreateRemove,
            other => bail!("unknown call `{other}`"),
        })
    }
}

struct File {
    name: String,
    handle: Handle,
    reads: ReadTemplate,
    writes: WriteTemplate,
}

/// The files, and the state of all lanes.
pub(crate) struct Work {
    pub(crate) transfer_bytes: usize,
    call: Call,
    sequential: bool,
    session: Session,
    root: Handle,
    folder: Handle,
    files: Vec<File>,
    /// The data of a WRITE; its length needs no padding.
    data: Vec<u8>,
    lanes: Vec<Lane>,
    random: u64,
    position: u64,
}

/// The state of a lane.
struct Lane {
    name: String,
    /// The lane's file exists, so REMOVE is next.
    exists: bool,
}

impl Work {
    pub(crate) fn prepare(
        mut session: Session,
        root_of_export: Handle,
        call: Call,
        transfer_bytes: usize,
        sequential: bool,
        files: u64,
    ) -> Result<Work> {
        let folder = session.make_folder(&root_of_export, FOLDER)?;
        let mut made = Vec::new();
        for number in 0..files {
            let name = format!("file-{number:02}");
            let handle = session.make_file(&folder, &name, FILE_BYTES)?;
            let reads = ReadTemplate::new(&session::root(), handle.fh());
            let writes = WriteTemplate::new(&session::root(), handle.fh());
            made.push(File { name, handle, reads, writes });
        }
        let data = if call == Call::Write { vec![0xa5; transfer_bytes] } else { Vec::new() };
        Ok(Work {
            transfer_bytes,
            call,
            sequential,
            session,
            root: root_of_export,
            folder,
            files: made,
            data,
            lanes: Vec::new(),
            random: 1,
            position: 0,
        })
    }

    pub(crate) fn new_lane(&mut self) -> u32 {
        let number = self.lanes.len();
        self.lanes.push(Lane { name: format!("lane-{number}"), exists: false });
        number as u32
    }

    /// The data after the message of each call.
    pub(crate) fn data(&self) -> &[u8] {
        &self.data
    }

    /// Index of the file and offset of the next READ or WRITE.
    fn next_offset(&mut self) -> (usize, u64) {
        let files = self.files.len() as u64;
        let transfers = FILE_BYTES / self.transfer_bytes as u64;
        let number = if self.sequential {
            self.position += 1;
            self.position % (files * transfers)
        } else {
            // Knuth's MMIX generator; only its high bits are random enough.
            self.random = self
                .random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.random >> 33) % (files * transfers)
        };
        ((number / transfers) as usize, number % transfers * self.transfer_bytes as u64)
    }

    /// Starts a lane's next call; `None` if the connection has no free slot.
    pub(crate) fn begin(&mut self, client: &mut Client, lane: u32) -> Option<u32> {
        let (file, offset) = self.next_offset();
        let file = &self.files[file];
        let count = self.transfer_bytes as u32;
        let arguments = match self.call {
            Call::Read => return client.read(&file.reads, offset, count),
            Call::Write => {
                return client.write(&file.writes, offset, count, stable_how::UNSTABLE);
            }
            Call::GetAttributes => NfsArguments::GETATTR(GETATTR3args { object: file.handle.fh() }),
            Call::LookUp => {
                let name = filename3(file.name.as_bytes());
                NfsArguments::LOOKUP(LOOKUP3args {
                    what: diropargs3 { dir: self.folder.fh(), name },
                })
            }
            Call::CreateRemove => {
                let lane = &mut self.lanes[lane as usize];
                let name = filename3(lane.name.as_bytes());
                let at = diropargs3 { dir: self.folder.fh(), name };
                lane.exists = !lane.exists;
                if lane.exists {
                    let attributes = sattr3 { mode: Some(0o644), ..sattr3::UNCHANGED };
                    let how = createhow3::UNCHECKED(attributes);
                    NfsArguments::CREATE(CREATE3args { r#where: at, how })
                } else {
                    NfsArguments::REMOVE(REMOVE3args { object: at })
                }
            }
        };
        client.call(&session::root(), &Arguments::Nfs(arguments))
    }

    /// Removes all files from the export.
    pub(crate) fn remove(mut self) -> Result<()> {
        for lane in self.lanes.iter().filter(|lane| lane.exists) {
            self.session.remove(&self.folder, &lane.name)?;
        }
        for file in &self.files {
            self.session.remove(&self.folder, &file.name)?;
        }
        self.session.remove_folder(&self.root, FOLDER)
    }
}
