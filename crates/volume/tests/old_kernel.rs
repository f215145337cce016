//! The service on kernels without `epoll_pwait2` (before Linux 5.11). A separate test program,
//! because the switch applies to the process.

use std::time::{Duration, Instant};

#[expect(dead_code, reason = "the tests of the shell use more of it")]
#[path = "shell/harness.rs"]
mod harness;

use harness::{Connection, pattern, read, service, wait_until};

#[test]
fn on_an_old_kernel_replies_are_sent_after_their_delay_and_an_idle_service_takes_no_turns() {
    uring::waiting::wait_as_before_linux_5_11();
    let delay = Duration::from_micros(300);
    let running = service("3000MiB/s", "[delay]\nread = \"300us\"\n");
    let mut client = Connection::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let file = client.filled(&root, "file", 1000);
    for _ in 0..200 {
        let start = Instant::now();
        assert_eq!(client.call(read(&file, 0, 1000)).data(), pattern(1000));
        assert!(start.elapsed() >= delay);
    }
    let before = wait_until(&running, |now| now.deferred == 0);
    std::thread::sleep(Duration::from_millis(50));
    let after = running.snapshot().expect("the service is running");
    assert_eq!(after.turns - before.turns, 1, "the turn of this snapshot");
    running.stop().expect("the service is running");
}
