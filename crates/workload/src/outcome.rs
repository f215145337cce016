//! How an operation can fail. What the storage did is data: failures are counted by these kinds.

/// Why an operation failed. The number is the index of its counter everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ErrorKind {
    /// EIO: the storage reported a failure.
    InputOutput = 0,
    /// ENOSPC or EDQUOT: no room.
    NoSpace = 1,
    /// EROFS, EACCES or EPERM: not writable.
    ReadOnly = 2,
    /// ENOENT, ESTALE or EBADF: the file is gone.
    Gone = 3,
    /// Fewer bytes moved than asked for, and no error: the file is shorter than planned.
    Short = 4,
    /// What was read is not what was written.
    Corrupt = 5,
    /// The operation was outstanding longer than its deadline.
    Deadline = 6,
    /// EINTR or EAGAIN that did not go away.
    Interrupted = 7,
    /// EINVAL: the file system refuses such an operation (alignment, O_DIRECT).
    Invalid = 8,
    /// Any other error number.
    Other = 9,
    /// The operation was still outstanding a while after the run had been stopped at once.
    LeftBehind = 10,
    /// EPROTO: the server's answer breaks the protocol.
    Protocol = 11,
}

impl ErrorKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [ErrorKind; 12] = [
        ErrorKind::InputOutput,
        ErrorKind::NoSpace,
        ErrorKind::ReadOnly,
        ErrorKind::Gone,
        ErrorKind::Short,
        ErrorKind::Corrupt,
        ErrorKind::Deadline,
        ErrorKind::Interrupted,
        ErrorKind::Invalid,
        ErrorKind::Other,
        ErrorKind::LeftBehind,
        ErrorKind::Protocol,
    ];
    /// How many kinds there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The kind of a Linux error number.
    pub const fn from_errno(errno: i32) -> ErrorKind {
        match errno {
            5 => ErrorKind::InputOutput,
            28 | 122 => ErrorKind::NoSpace,
            30 | 13 | 1 => ErrorKind::ReadOnly,
            2 | 116 | 9 => ErrorKind::Gone,
            4 | 11 => ErrorKind::Interrupted,
            22 => ErrorKind::Invalid,
            71 => ErrorKind::Protocol,
            _ => ErrorKind::Other,
        }
    }

    /// The name in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorKind::InputOutput => "input_output",
            ErrorKind::NoSpace => "no_space",
            ErrorKind::ReadOnly => "read_only",
            ErrorKind::Gone => "gone",
            ErrorKind::Short => "short",
            ErrorKind::Corrupt => "corrupt",
            ErrorKind::Deadline => "deadline",
            ErrorKind::Interrupted => "interrupted",
            ErrorKind::Invalid => "invalid",
            ErrorKind::Other => "other",
            ErrorKind::LeftBehind => "left_behind",
            ErrorKind::Protocol => "protocol",
        }
    }
}
