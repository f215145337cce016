//! Connections: whole ones, broken ones, those that push, and those that do nothing.

use crate::harness::{Connected, pattern, read, service};

#[test]
fn a_file_is_made_written_and_read_back() {
    let running = service("4500MiB/s", "");
    let mut client = Connected::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let file = client.filled(&root, "file", 300_000);
    let reply = client.call(read(&file, 1000, 200_000));
    assert_eq!(reply.data(), pattern(300_000)[1000..201_000]);
    let last = running.stop().unwrap();
    assert_eq!((last.connections, last.held), (1, 0));
}
