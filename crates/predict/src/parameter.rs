//! The parameters of the model by name: the part each belongs to and what it is per.
//!
//! For: [`crate::parameters`], which has their values, and tables.

macro_rules! parameters {
    ($($(#[$doc:meta])* $variant:ident: $group:ident, $per:ident, $words:literal;)*) => {
        /// A parameter of the model.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Parameter { $($(#[$doc])* $variant,)* }

        impl Parameter {
            /// All of them.
            pub const ALL: &[Parameter] = &[$(Parameter::$variant,)*];

            /// What it is, for tables.
            pub const fn label(self) -> &'static str {
                match self { $(Parameter::$variant => $words,)* }
            }

            /// What the demand is per.
            pub const fn per(self) -> Per {
                match self { $(Parameter::$variant => Per::$per,)* }
            }

            /// The part it belongs to; the parameters of one part are fitted together.
            pub const fn group(self) -> Group {
                match self { $(Parameter::$variant => Group::$group,)* }
            }
        }
    };
}

/// What a demand is per.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// A call, which is an operation if it is no larger than rsize or wsize.
    Call,
    /// A byte.
    Byte,
    /// Nothing: an exponent.
    Power,
}

/// A part of the system whose parameters are fitted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// A connection of the Linux client.
    LinuxFlow,
    /// A connection of an AVS host.
    EsxiFlow,
    /// A regular volume.
    Regular,
    /// A large volume.
    Large,
    /// A large volume in breakthrough mode, per endpoint.
    Breakthrough,
    /// A Linux host, per processor.
    LinuxHost,
    /// A virtual machine on an AVS host.
    Guest,
    /// An AVS host.
    EsxiHost,
    /// An endpoint of regular volumes.
    Endpoint,
    /// Operations on names of a volume of each kind.
    Names,
}

parameters! {
    /// A read over one connection of the Linux client.
    FlowRead: LinuxFlow, Call, "a read over one connection, Linux";
    /// A byte read over one connection of the Linux client.
    FlowReadByte: LinuxFlow, Byte, "a byte read over one connection, Linux";
    /// A write over one connection of the Linux client.
    FlowWrite: LinuxFlow, Call, "a write over one connection, Linux";
    /// A byte written over one connection of the Linux client.
    FlowWriteByte: LinuxFlow, Byte, "a byte written over one connection, Linux";
    /// A call over one connection of the VMware client.
    EsxiFlow: EsxiFlow, Call, "a call over one connection, VMware";
    /// A byte over one connection of the VMware client.
    EsxiFlowByte: EsxiFlow, Byte, "a byte over one connection, VMware";
    /// A random read at a regular volume.
    RegularRead: Regular, Call, "a random read at a regular volume";
    /// A byte of a random operation at a regular volume.
    RegularByte: Regular, Byte, "a byte of a random operation at a regular volume";
    /// A random write at a regular volume.
    RegularWrite: Regular, Call, "a random write at a regular volume";
    /// A byte of a sequential read at a regular volume.
    RegularReadPath: Regular, Byte, "a byte read in order at a regular volume";
    /// A byte of a sequential write at a regular volume.
    RegularWritePath: Regular, Byte, "a byte written in order at a regular volume";
    /// A random read at a large volume.
    LargeRead: Large, Call, "a random read at a large volume";
    /// A random write at a large volume.
    LargeWrite: Large, Call, "a random write at a large volume";
    /// A byte of a sequential read at a large volume.
    LargeReadPath: Large, Byte, "a byte read in order at a large volume";
    /// A byte of a sequential write at a large volume.
    LargeWritePath: Large, Byte, "a byte written in order at a large volume";
    /// A random read at one endpoint of a volume in breakthrough mode.
    BreakthroughRead: Breakthrough, Call, "a random read at an endpoint of a breakthrough volume";
    /// A random write at one endpoint of a volume in breakthrough mode.
    BreakthroughWrite: Breakthrough, Call, "a random write at an endpoint of a breakthrough volume";
    /// A byte of a sequential read at one endpoint of a volume in breakthrough mode.
    BreakthroughReadPath: Breakthrough, Byte,
        "a byte read in order at an endpoint of a breakthrough volume";
    /// A byte of a sequential write at one endpoint of a volume in breakthrough mode.
    BreakthroughWritePath: Breakthrough, Byte,
        "a byte written in order at an endpoint of a breakthrough volume";
    /// A call on one processor of a host.
    Vcpu: LinuxHost, Call, "a call on one processor of a host";
    /// A byte read on one processor of a host.
    VcpuReadByte: LinuxHost, Byte, "a byte read on one processor of a host";
    /// A byte written on one processor of a host.
    VcpuWriteByte: LinuxHost, Byte, "a byte written on one processor of a host";
    /// The exponent with which a host's rate of calls grows with its processors.
    VcpuPower: LinuxHost, Power, "power of the processors, for calls";
    /// A call of a virtual machine on an AVS host.
    Guest: Guest, Call, "a call of one virtual machine on VMware";
    /// A call at an AVS host.
    EsxiHost: EsxiHost, Call, "a call at one host of VMware's";
    /// A byte at an AVS host.
    EsxiHostByte: EsxiHost, Byte, "a byte at one host of VMware's";
    /// A call at an endpoint of regular volumes.
    Endpoint: Endpoint, Call, "a call at an endpoint";
    /// A byte at an endpoint of regular volumes.
    EndpointByte: Endpoint, Byte, "a byte at an endpoint";
    /// An operation on a name at a regular volume.
    RegularName: Names, Call, "an operation on a name at a regular volume";
    /// An operation on a name at a large volume.
    LargeName: Names, Call, "an operation on a name at a large volume";
    /// An operation on a name at a volume in breakthrough mode.
    BreakthroughName: Names, Call, "an operation on a name at a breakthrough volume";
}
