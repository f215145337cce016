//! The service where the kernel has no wait for events in nanoseconds (before Linux 5.11): a test
//! program of its own, for the switch is the process's.

use std::time::{Duration, Instant};

#[expect(dead_code, reason = "the tests of the shell use more of it")]
#[path = "shell/harness.rs"]
mod harness;

use harness::{Connected, pattern, read, service, settled};

#[test]
fn on_an_old_kernel_replies_leave_after_their_delay_and_an_idle_service_takes_no_turns() {
    uring::waiting::wait_as_before_linux_5_11();
    let delay = Duration::from_micros(300);
    let running = service("3000MiB/s", "[delay]\nread = \"300us\"\n");
    let mut client = Connected::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let file = client.filled(&root, "file", 1000);
    for _ in 0..200 {
        let begun = Instant::now();
        assert_eq!(client.call(read(&file, 0, 1000)).data(), pattern(1000));
        assert!(begun.elapsed() >= delay);
    }
    let before = settled(&running, |now| now.held == 0);
    std::thread::sleep(Duration::from_millis(50));
    let after = running.snapshot().expect("the service runs");
    assert_eq!(after.turns - before.turns, 1, "the one that this question took");
    running.stop().expect("the service is alive");
}
