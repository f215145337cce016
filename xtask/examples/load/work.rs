//! What is called: for each lane the next call.

use anyhow::{Result, bail};
use nfs3::arguments::{
    CREATE3args, GETATTR3args, LOOKUP3args, REMOVE3args, createhow3, stable_how,
};
use nfs3::client::Client;
use nfs3::request::{Arguments, NfsArguments};
use nfs3::template::{ReadTemplate, WriteTemplate};
use nfs3::types::{Handle, diropargs3, filename3, sattr3};

use crate::session::{Session, root};

const FOLDER: &str = "load";
const FILE_BYTES: u64 = 2 << 20;

/// Which calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Read,
    Write,
    GetAttributes,
    LookUp,
    CreateRemove,
}

impl What {
    pub(crate) fn of(word: &str) -> Result<What> {
        Ok(match word {
            "read" => What::Read,
            "write" => What::Write,
            "getattr" => What::GetAttributes,
            "lookup" => What::LookUp,
            "create-remove" => What::CreateRemove,
            other => bail!("no call `{other}`"),
        })
    }
}

struct File {
    name: String,
    handle: Handle,
    reads: ReadTemplate,
    writes: WriteTemplate,
}

/// Everything that the lanes have in common.
pub(crate) struct Work {
    pub(crate) transfer_bytes: usize,
    what: What,
    sequential: bool,
    session: Session,
    root: Handle,
    folder: Handle,
    files: Vec<File>,
    /// A WRITE's data, in which nothing needs padding.
    data: Vec<u8>,
    lanes: Vec<Lane>,
    random: u64,
    position: u64,
}

/// What one lane remembers.
struct Lane {
    name: String,
    /// CREATE is done and REMOVE is next.
    exists: bool,
}

impl Work {
    pub(crate) fn prepare(
        mut session: Session,
        root_of_export: Handle,
        what: What,
        transfer_bytes: usize,
        sequential: bool,
        files: u64,
    ) -> Result<Work> {
        let folder = session.folder(&root_of_export, FOLDER)?;
        let mut made = Vec::new();
        for number in 0..files {
            let name = format!("file-{number:02}");
            let handle = session.file(&folder, &name, FILE_BYTES)?;
            let reads = ReadTemplate::new(&root(), handle.fh());
            let writes = WriteTemplate::new(&root(), handle.fh());
            made.push(File { name, handle, reads, writes });
        }
        let data = if what == What::Write { vec![0xa5; transfer_bytes] } else { Vec::new() };
        Ok(Work {
            transfer_bytes,
            what,
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

    /// The data behind each call's message.
    pub(crate) fn data(&self) -> &[u8] {
        &self.data
    }

    /// Where the next READ or WRITE goes: file and offset.
    fn next_place(&mut self) -> (usize, u64) {
        let files = self.files.len() as u64;
        let transfers = FILE_BYTES / self.transfer_bytes as u64;
        let number = if self.sequential {
            self.position += 1;
            self.position % (files * transfers)
        } else {
            // Knuth's MMIX; the high bits are the good ones.
            self.random = self
                .random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.random >> 33) % (files * transfers)
        };
        ((number / transfers) as usize, number % transfers * self.transfer_bytes as u64)
    }

    /// Begins a lane's next call; `None` when the connection has no slot left.
    pub(crate) fn begin(&mut self, client: &mut Client, lane: u32) -> Option<u32> {
        let (file, offset) = self.next_place();
        let file = &self.files[file];
        let count = self.transfer_bytes as u32;
        let arguments = match self.what {
            What::Read => return client.read(&file.reads, offset, count),
            What::Write => {
                return client.write(&file.writes, offset, count, stable_how::UNSTABLE);
            }
            What::GetAttributes => NfsArguments::GETATTR(GETATTR3args { object: file.handle.fh() }),
            What::LookUp => {
                let name = filename3(file.name.as_bytes());
                NfsArguments::LOOKUP(LOOKUP3args {
                    what: diropargs3 { dir: self.folder.fh(), name },
                })
            }
            What::CreateRemove => {
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
        client.call(&root(), &Arguments::Nfs(arguments))
    }

    /// Leaves the export as it was.
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
