//! How fast the host's terminal reads, and what a pane costs: `cargo run --release --features host --example terminal_speed`.

use rustix::time::{ClockId, clock_gettime};
use signaltty_core::host::terminal::{Fed, Terminal};
use signaltty_core::model::Size;
use signaltty_core::protocol::params::Colors;

/// Bytes of one read of a PTY.
const READ: usize = 64 * 1024;
/// Bytes that are read for a figure.
const TOTAL: usize = 50 * 1024 * 1024;

fn main() {
    let plain: String = (0..20_000)
        .map(|n| {
            format!("{n} the quick brown fox jumps over the lazy dog and then some more of it\r\n")
        })
        .collect();
    let colored: String = (0..20_000)
        .map(|n| format!("\x1b[1;32m{n}\x1b[0m \x1b[38;5;{}mquick\x1b[0m brown \x1b[4mfox\x1b[24m jumps\x1b[K\r\n", n % 256))
        .collect();
    let wide: String = (0..20_000)
        .map(|n| format!("{n} │ 日本語のテキスト ─── é ✓ 한국어\r\n"))
        .collect();
    let redraw: String = (0..2_000)
        .map(|n| format!("\x1b[?2026h\x1b[5A\x1b[2K\rline {n}\n\x1b[2K\rtwo\n\x1b[2K\rthree\n\x1b[2K\r\x1b[1mfour\x1b[m\n\x1b[2K\rfive\n\x1b[?2026l"))
        .collect();
    let long: String = "x".repeat(1024 * 1024);
    for (name, text) in [
        ("plain", plain),
        ("coloured", colored),
        ("wide", wide),
        ("redraw", redraw),
        ("no newline", long),
    ] {
        let mut terminal = Terminal::new(
            Size {
                cols: 110,
                rows: 30,
            },
            &Colors::default(),
        );
        let mut fed = Fed::default();
        let start = seconds();
        let mut read = 0;
        while read < TOTAL {
            for chunk in text.as_bytes().chunks(READ) {
                fed.clear();
                terminal.feed(chunk, 0, &mut fed);
                read += chunk.len();
            }
        }
        let taken = seconds() - start;
        let start = seconds();
        let snapshot = terminal.checkpoint(usize::MAX);
        let millis = (seconds() - start) * 1e3;
        println!(
            "{name}: {:.0} MB/s; snapshot of {} KiB in {millis:.1} ms",
            read as f64 / taken / 1e6,
            snapshot.len() / 1024
        );
    }
    memory();
}

/// Processor time of this thread: other work on the machine does not count.
fn seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// What a hundred panes with 1,000 lines of 110 columns each take.
fn memory() {
    let before = resident();
    let line = format!(
        "{}\r\n",
        "the quick brown fox "
            .repeat(6)
            .get(..110)
            .unwrap_or_default()
    );
    let panes: Vec<Terminal> = (0..100)
        .map(|_| {
            let mut terminal = Terminal::new(
                Size {
                    cols: 110,
                    rows: 30,
                },
                &Colors::default(),
            );
            let mut fed = Fed::default();
            (0..1_000).for_each(|_| {
                fed.clear();
                terminal.feed(line.as_bytes(), 0, &mut fed);
            });
            terminal
        })
        .collect();
    let kib = resident().saturating_sub(before) / panes.len();
    println!("memory: {kib} KiB a pane with 1,000 lines of 110 columns");
}

/// Resident memory of this process, in KiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}
