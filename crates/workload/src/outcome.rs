//! How an operation can fail. Failures are counted by kind.

/// Why an operation failed. The number is the index of its counter.
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
    /// Fewer bytes moved than requested, without an error: the file is shorter than planned.
    Short = 4,
    /// A read returned other data than was written.
    Corrupt = 5,
    /// The operation was outstanding longer than its deadline.
    Deadline = 6,
    /// EINTR or EAGAIN that persisted.
    Interrupted = 7,
    /// EINVAL: the file system does not support the operation (alignment, O_DIRECT).
    Invalid = 8,
    /// Any other error number.
    Other = 9,
    /// The operation was still outstanding when the grace period after an immediate stop ended.
    Abandoned = 10,
    /// EPROTO: the server's reply violates the protocol.
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
        ErrorKind::Abandoned,
        ErrorKind::Protocol,
    ];
    /// The number of kinds.
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
            ErrorKind::Abandoned => "abandoned",
            ErrorKind::Protocol => "protocol",
        }
    }
}
