//! The payload of an interval's frame. A histogram is sparse: each bucket is stored as its distance
//! from the previous one and its count.
//!
//! Response times that equal the service times (a closed loop without data to make) are stored
//! once. An interval of one stream with 300 non-empty buckets then has about 700 bytes.
//!
//! A journal may come from a third party, and analysis relies on what the recorder guarantees: time
//! goes forward, buckets exist and ascend, and no sum overflows. Decoding therefore refuses
//! intervals that cannot have been measured.

use metrics::connection::ConnectionInterval;
use metrics::histogram::{BUCKETS, Counts};
use metrics::interval::{
    Interval, KindInterval, StreamInterval, TargetInterval, UsersInterval, WorkerInterval,
};
use workload::op::OpKind;
use workload::outcome::ErrorKind;

use crate::codec::{Cursor, Malformed, UNKNOWN_KINDS, put_u64, put_u128};
use crate::{connection, host_state, wire};

/// Flag of an operation kind with operations. A kind without any is the byte 0.
const KIND_USED: u8 = 1;
/// Flag of an operation kind whose response times equal its service times.
const RESPONSE_IS_SERVICE: u8 = 2;

/// Appends an interval of the run with this index.
pub fn encode(run_index: u32, interval: &Interval, out: &mut Vec<u8>) {
    put_u64(out, u64::from(run_index));
    put_u64(out, u64::from(interval.index));
    put_u64(out, interval.start_ns);
    put_u64(out, interval.end_ns);
    put_u64(out, interval.process_user_ns);
    put_u64(out, interval.process_system_ns);
    put_u64(out, interval.workers.len() as u64);
    for worker in &interval.workers {
        put_u64(out, u64::from(worker.stream));
        put_u64(out, u64::from(worker.lane));
        put_u64(out, worker.cpu_ns);
    }
    put_u64(out, interval.streams.len() as u64);
    for stream in &interval.streams {
        encode_stream(stream, out);
    }
    // Connections, network counters, host state, targets and users were added in this order, each at the
    // end.
    let of_targets = || interval.targets.iter().map(|one| &one.sums);
    let all_sums = || interval.streams.iter().chain(of_targets());
    let has_users = all_sums().any(|sums| sums.users.is_some());
    let has_targets = !interval.targets.is_empty() || has_users;
    let has_host = interval.host.is_some() || has_targets;
    let has_wire = !interval.wire.is_empty() || has_host;
    if !interval.connections.is_empty() || has_wire {
        connection::encode(&interval.connections, out);
    }
    if has_wire {
        wire::encode(&interval.wire, out);
    }
    if has_host {
        host_state::encode(interval.host.as_ref(), out);
    }
    if has_targets {
        put_u64(out, interval.targets.len() as u64);
        for one in &interval.targets {
            put_u64(out, u64::from(one.stream));
            put_u64(out, u64::from(one.target));
            encode_stream(&one.sums, out);
        }
    }
    if has_users {
        // In the order of the streams, then of the targets.
        for sums in all_sums() {
            match &sums.users {
                None => out.push(0),
                Some(users) => {
                    out.push(1);
                    encode_users(users, out);
                }
            }
        }
    }
}

fn encode_users(users: &UsersInterval, out: &mut Vec<u8>) {
    let UsersInterval { started, completed, due, late, duration_us, delay } = users;
    for count in [started, completed, due, late] {
        put_u64(out, *count);
    }
    encode_counts(duration_us, out);
    encode_counts(delay, out);
}

fn decode_users(cursor: &mut Cursor<'_>) -> Result<Option<Box<UsersInterval>>, Malformed> {
    match cursor.u8()? {
        0 => Ok(None),
        1 => Ok(Some(Box::new(UsersInterval {
            started: cursor.u64()?,
            completed: cursor.u64()?,
            due: cursor.u64()?,
            late: cursor.u64()?,
            duration_us: decode_counts(cursor)?,
            delay: decode_counts(cursor)?,
        }))),
        _ => Err(Malformed("this version of fourcorners does not know its users")),
    }
}

fn encode_stream(stream: &StreamInterval, out: &mut Vec<u8>) {
    put_u64(out, stream.issued);
    put_u64(out, stream.outstanding_start);
    put_u64(out, stream.outstanding_end);
    put_u128(out, stream.outstanding_time_ns);
    put_u64(out, stream.backlog_end);
    put_u128(out, stream.backlog_time_ns);
    // The numbers of kinds and of errors are stored, so that kinds can be added without a new
    // version.
    let kinds = stream.kinds.stored_kinds();
    put_u64(out, kinds.len() as u64);
    for kind in kinds {
        encode_kind(&stream.kinds[*kind], out);
    }
}

fn encode_kind(kind: &KindInterval, out: &mut Vec<u8>) {
    if *kind == KindInterval::default() {
        out.push(0);
        return;
    }
    let same = kind.response == kind.service;
    out.push(KIND_USED | if same { RESPONSE_IS_SERVICE } else { 0 });
    put_u64(out, kind.completed);
    put_u64(out, kind.bytes);
    put_u64(out, kind.failed.iter().filter(|count| **count != 0).count() as u64);
    for (error, count) in kind.failed.iter().enumerate().filter(|(_, count)| **count != 0) {
        put_u64(out, error as u64);
        put_u64(out, *count);
    }
    encode_counts(&kind.service, out);
    if !same {
        encode_counts(&kind.response, out);
    }
}

fn encode_counts(counts: &Counts, out: &mut Vec<u8>) {
    put_u64(out, counts.buckets.len() as u64);
    let mut before = 0;
    for (bucket, count) in &counts.buckets {
        put_u64(out, u64::from(bucket.wrapping_sub(before)));
        put_u64(out, *count);
        before = *bucket;
    }
    put_u64(out, counts.over_range);
    put_u128(out, counts.sum_ns);
    // The minimum of an empty histogram is u64::MAX; it is stored as 0.
    put_u64(out, counts.min_ns.wrapping_add(1));
    put_u64(out, counts.max_ns);
}

/// The run's index and the interval.
pub(crate) fn decode(payload: &[u8]) -> Result<(u32, Interval), Malformed> {
    let cursor = &mut Cursor::new(payload);
    let run_index = cursor.u32()?;
    let mut interval = Interval {
        index: cursor.u32()?,
        start_ns: cursor.u64()?,
        end_ns: cursor.u64()?,
        process_user_ns: cursor.u64()?,
        process_system_ns: cursor.u64()?,
        ..Interval::default()
    };
    if interval.index == u32::MAX {
        return Err(Malformed("its interval has the highest index"));
    }
    if interval.end_ns < interval.start_ns {
        return Err(Malformed("its interval ends before it begins"));
    }
    let workers = cursor.count(3)?;
    interval.workers.reserve_exact(workers);
    for _ in 0..workers {
        let (stream, lane) = (cursor.u32()?, cursor.u32()?);
        interval.workers.push(WorkerInterval { stream, lane, cpu_ns: cursor.u64()? });
    }
    let streams = cursor.count(7)?;
    interval.streams.reserve_exact(streams);
    for _ in 0..streams {
        interval.streams.push(decode_stream(cursor)?);
    }
    if !cursor.is_at_end() {
        interval.connections = connection::decode(cursor)?;
    }
    if !cursor.is_at_end() {
        interval.wire = wire::decode(cursor)?;
    }
    if !cursor.is_at_end() {
        interval.host = host_state::decode(cursor)?;
    }
    if !cursor.is_at_end() {
        let targets = cursor.count(9)?;
        if targets == 0 && cursor.is_at_end() {
            return Err(Malformed("its list of targets is empty"));
        }
        interval.targets.reserve_exact(targets);
        for _ in 0..targets {
            let (stream, target) = (cursor.u32()?, cursor.u32()?);
            interval.targets.push(TargetInterval { stream, target, sums: decode_stream(cursor)? });
        }
        let at = |one: &TargetInterval| (one.stream, one.target);
        if interval.targets.windows(2).any(|pair| at(&pair[0]) >= at(&pair[1])) {
            return Err(Malformed("its targets do not ascend"));
        }
    }
    if !cursor.is_at_end() {
        let of_targets = interval.targets.iter_mut().map(|one| &mut one.sums);
        for sums in interval.streams.iter_mut().chain(of_targets) {
            sums.users = decode_users(cursor)?;
            if sums.users.as_ref().is_some_and(|users| users.late > users.due) {
                return Err(Malformed("more starts of its users were late than due"));
            }
        }
        let of_targets = interval.targets.iter().map(|one| &one.sums);
        if interval.streams.iter().chain(of_targets).all(|sums| sums.users.is_none()) {
            return Err(Malformed("it has no users"));
        }
    }
    cursor.end()?;
    Ok((run_index, interval))
}

fn decode_stream(cursor: &mut Cursor<'_>) -> Result<StreamInterval, Malformed> {
    let mut stream = StreamInterval {
        issued: cursor.u64()?,
        outstanding_start: cursor.u64()?,
        outstanding_end: cursor.u64()?,
        outstanding_time_ns: cursor.u128()?,
        backlog_end: cursor.u64()?,
        backlog_time_ns: cursor.u128()?,
        ..StreamInterval::default()
    };
    let kinds = cursor.count(1)?;
    let kinds = OpKind::ALL.get(..kinds).ok_or(Malformed(UNKNOWN_KINDS))?;
    for kind in kinds {
        match cursor.u8()? {
            0 => {}
            flags => stream.kinds[*kind] = decode_kind(cursor, flags)?,
        }
    }
    Ok(stream)
}

fn decode_kind(cursor: &mut Cursor<'_>, flags: u8) -> Result<KindInterval, Malformed> {
    if flags & !RESPONSE_IS_SERVICE != KIND_USED {
        return Err(Malformed("this version of fourcorners does not know its flags"));
    }
    let mut kind =
        KindInterval { completed: cursor.u64()?, bytes: cursor.u64()?, ..KindInterval::default() };
    for _ in 0..cursor.count(2)? {
        let error = cursor.u64()?;
        if error >= ErrorKind::COUNT as u64 {
            return Err(Malformed("this version of fourcorners does not know its error kinds"));
        }
        kind.failed[error as usize] = cursor.u64()?;
    }
    kind.service = decode_counts(cursor)?;
    kind.response = if flags & RESPONSE_IS_SERVICE != 0 {
        kind.service.clone()
    } else {
        decode_counts(cursor)?
    };
    Ok(kind)
}

fn decode_counts(cursor: &mut Cursor<'_>) -> Result<Counts, Malformed> {
    let buckets = cursor.count(2)?;
    let mut counts = Counts { buckets: Vec::with_capacity(buckets), ..Counts::default() };
    let mut bucket = 0u32;
    for nth in 0..buckets {
        let distance = cursor.u32()?;
        if nth > 0 && distance == 0 {
            return Err(Malformed("the buckets of a histogram do not ascend"));
        }
        bucket = bucket
            .checked_add(distance)
            .filter(|bucket| (*bucket as usize) < BUCKETS)
            .ok_or(Malformed("a histogram has a bucket that does not exist"))?;
        counts.buckets.push((bucket, cursor.u64()?));
    }
    counts.over_range = cursor.u64()?;
    counts.sum_ns = cursor.u128()?;
    counts.min_ns = cursor.u64()?.wrapping_sub(1);
    counts.max_ns = cursor.u64()?;
    Ok(counts)
}

/// The sum of all numbers in a record's intervals. If it does not overflow, no partial sum does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Counts, bytes and CPU times.
    counts: u64,
    /// Time integrals and sums of times, in nanoseconds.
    times: u128,
}

impl Sums {
    /// Adds an interval.
    ///
    /// # Errors
    /// A sum overflows.
    pub fn add(&mut self, interval: &Interval) -> Result<(), Malformed> {
        self.checked(interval).ok_or(Malformed("its numbers are too large to add up"))
    }

    fn checked(&mut self, interval: &Interval) -> Option<()> {
        self.count([interval.process_user_ns, interval.process_system_ns])?;
        self.count(interval.workers.iter().map(|worker| worker.cpu_ns))?;
        for entry in &interval.wire {
            self.count([entry.received_bytes, entry.sent_bytes])?;
        }
        if let Some(host) = &interval.host {
            self.count(host_state::numbers(host))?;
        }
        for connection in &interval.connections {
            for kind in &connection.kinds {
                self.count([kind.operations, kind.calls, kind.bytes])?;
            }
            let ConnectionInterval { reconnects, replays, retries, .. } = *connection;
            self.count([connection.outstanding_end, reconnects, replays, retries])?;
            let ConnectionInterval { rewritten_bytes, verifier_changes, down_ns, .. } = *connection;
            self.count([connection.span_ns, rewritten_bytes, verifier_changes, down_ns])?;
            self.time([connection.outstanding_time_ns])?;
            let tcp = connection.tcp.unwrap_or_default();
            self.count([tcp.rtt_ns, tcp.rtt_deviation_ns, tcp.retransmits])?;
        }
        let of_targets = interval.targets.iter().map(|one| &one.sums);
        for stream in interval.streams.iter().chain(of_targets) {
            self.count([stream.issued, stream.outstanding_start, stream.outstanding_end])?;
            self.count([stream.backlog_end])?;
            self.time([stream.outstanding_time_ns, stream.backlog_time_ns])?;
            if let Some(users) = &stream.users {
                let UsersInterval { started, completed, due, late, duration_us, delay } = &**users;
                self.count([*started, *completed, *due, *late])?;
                for counts in [duration_us, delay] {
                    self.count(counts.buckets.iter().map(|(_, count)| *count))?;
                    self.count([counts.over_range])?;
                    self.time([counts.sum_ns])?;
                }
            }
            for kind in &stream.kinds {
                self.count([kind.completed, kind.bytes])?;
                self.count(kind.failed)?;
                for counts in [&kind.service, &kind.response] {
                    self.count(counts.buckets.iter().map(|(_, count)| *count))?;
                    self.count([counts.over_range])?;
                    self.time([counts.sum_ns])?;
                }
            }
        }
        Some(())
    }

    fn count(&mut self, numbers: impl IntoIterator<Item = u64>) -> Option<()> {
        for number in numbers {
            self.counts = self.counts.checked_add(number)?;
        }
        Some(())
    }

    fn time(&mut self, numbers: impl IntoIterator<Item = u128>) -> Option<()> {
        for number in numbers {
            self.times = self.times.checked_add(number)?;
        }
        Some(())
    }
}
