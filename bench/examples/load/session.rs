//! One call at a time on a blocking connection: mounts the export, makes and removes the files.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use nfs3::arguments::{
    CREATE3args, Data, LOOKUP3args, MKDIR3args, REMOVE3args, RMDIR3args, WRITE3args, createhow3,
    stable_how,
};
use nfs3::client::{Client, ClientOptions, Received};
use nfs3::mount::dirpath;
use nfs3::request::{Arguments, MountArguments, MountResults, NfsArguments, NfsResults, Results};
use nfs3::results::Res3;
use nfs3::rpc::{AuthSys, Credential, Gids};
use nfs3::types::{Handle, diropargs3, filename3, nfsstat3, sattr3};

/// Credentials of all calls.
pub(crate) fn root() -> Credential<'static> {
    Credential::Sys(AuthSys {
        stamp: 0,
        machinename: b"bench",
        uid: 0,
        gid: 0,
        gids: Gids::default(),
    })
}

/// The first generation of a connection's xids, different in every run: a server with a duplicate
/// request cache must not take a call of this run for one of the previous run.
pub(crate) fn first_generation(connection: usize) -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_nanos() as u32).wrapping_mul(0x9e37_79b1).wrapping_add((connection as u32) << 12)
}

/// A blocking connection.
pub(crate) struct Session {
    stream: TcpStream,
    client: Client,
}

impl Session {
    pub(crate) fn connect(address: &str) -> Result<Session> {
        let stream = TcpStream::connect(address).with_context(|| format!("connect {address}"))?;
        stream.set_nodelay(true)?;
        let options = ClientOptions {
            slots: 1,
            max_reply_bytes: 1 << 17,
            first_generation: first_generation(0),
        };
        Ok(Session { stream, client: Client::new(options) })
    }

    /// The handle of an export's root.
    pub(crate) fn mount(address: &str, export: &str) -> Result<Handle> {
        let mut session = Session::connect(address)?;
        let arguments = Arguments::Mount(MountArguments::MNT(dirpath(export.as_bytes())));
        session.call(&arguments, |results| match results {
            Results::Mount(MountResults::MNT(Ok(ok))) => Ok(Handle::from(ok.fhandle)),
            other => bail!("mount {export}: {other:?}"),
        })
    }

    /// Makes a call and converts its results with `take`.
    fn call<T>(
        &mut self,
        arguments: &Arguments<'_>,
        take: impl Fn(Results<'_>) -> Result<T>,
    ) -> Result<T> {
        let slot = self.client.call(&root(), arguments).context("the only slot is free")?;
        self.stream.write_all(self.client.message(slot))?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let bytes = self.stream.read(&mut buffer)?;
            ensure!(bytes > 0, "the server closed the connection");
            let mut input = &buffer[..bytes];
            if let Some(received) = self.client.receive(&mut input)? {
                match received {
                    Received::Completed(completion) => return take(completion.results()?),
                    Received::Stale { xid } => bail!("a reply without a call: xid {xid}"),
                }
            }
        }
    }

    fn nfs<T>(
        &mut self,
        arguments: NfsArguments<'_>,
        take: impl Fn(NfsResults<'_>) -> Result<T>,
    ) -> Result<T> {
        self.call(&Arguments::Nfs(arguments), |results| match results {
            Results::Nfs(results) => take(results),
            other => bail!("results of another program: {other:?}"),
        })
    }

    fn lookup(&mut self, dir: &Handle, name: &str) -> Result<Handle> {
        let what = diropargs3 { dir: dir.fh(), name: filename3(name.as_bytes()) };
        self.nfs(NfsArguments::LOOKUP(LOOKUP3args { what }), |results| match results {
            NfsResults::LOOKUP(Res3::Ok(ok)) => Ok(Handle::from(ok.object)),
            other => bail!("look up {name}: {other:?}"),
        })
    }

    /// Makes a folder unless it exists; returns its handle.
    pub(crate) fn make_folder(&mut self, dir: &Handle, name: &str) -> Result<Handle> {
        let at = diropargs3 { dir: dir.fh(), name: filename3(name.as_bytes()) };
        let attributes = sattr3 { mode: Some(0o755), ..sattr3::UNCHANGED };
        let arguments = NfsArguments::MKDIR(MKDIR3args { r#where: at, attributes });
        self.nfs(arguments, |results| match results {
            NfsResults::MKDIR(Res3::Ok(_) | Res3::Fail(nfsstat3::NFS3ERR_EXIST, _)) => Ok(()),
            other => bail!("make the folder {name}: {other:?}"),
        })?;
        self.lookup(dir, name)
    }

    /// Makes a file of `bytes` bytes, written, not a hole; returns its handle.
    pub(crate) fn make_file(&mut self, dir: &Handle, name: &str, bytes: u64) -> Result<Handle> {
        let at = diropargs3 { dir: dir.fh(), name: filename3(name.as_bytes()) };
        let how = createhow3::UNCHECKED(sattr3 { mode: Some(0o644), ..sattr3::UNCHANGED });
        self.nfs(
            NfsArguments::CREATE(CREATE3args { r#where: at, how }),
            |results| match results {
                NfsResults::CREATE(Res3::Ok(_)) => Ok(()),
                other => bail!("make the file {name}: {other:?}"),
            },
        )?;
        let file = self.lookup(dir, name)?;
        let data = vec![0x5a; 1 << 16];
        for offset in (0..bytes).step_by(data.len()) {
            let arguments = NfsArguments::WRITE(WRITE3args {
                file: file.fh(),
                offset,
                count: data.len() as u32,
                stable: stable_how::UNSTABLE,
                data: Data(&data),
            });
            self.nfs(arguments, |results| match results {
                NfsResults::WRITE(Res3::Ok(ok)) if ok.count as usize == data.len() => Ok(()),
                other => bail!("write {name} at {offset}: {other:?}"),
            })?;
        }
        Ok(file)
    }

    /// Removes a file if it exists.
    pub(crate) fn remove(&mut self, dir: &Handle, name: &str) -> Result<()> {
        let object = diropargs3 { dir: dir.fh(), name: filename3(name.as_bytes()) };
        self.nfs(NfsArguments::REMOVE(REMOVE3args { object }), |results| match results {
            NfsResults::REMOVE(Res3::Ok(_) | Res3::Fail(nfsstat3::NFS3ERR_NOENT, _)) => Ok(()),
            other => bail!("remove {name}: {other:?}"),
        })
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&mut self, dir: &Handle, name: &str) -> Result<()> {
        let object = diropargs3 { dir: dir.fh(), name: filename3(name.as_bytes()) };
        self.nfs(NfsArguments::RMDIR(RMDIR3args { object }), |results| match results {
            NfsResults::RMDIR(Res3::Ok(_)) => Ok(()),
            other => bail!("remove the folder {name}: {other:?}"),
        })
    }
}
