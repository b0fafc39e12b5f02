//! A terminal from both of its ends.

use super::*;
use crate::limits::INPUT_MAX;
use std::fs::File;
use std::io::{Read, Write};
use std::sync::mpsc;

use rustix::pty::OpenptFlags;
use rustix::termios::OptionalActions;

const LONG: Duration = Duration::from_secs(30);

/// A terminal and the program's end of it, which passes bytes as they are.
fn terminal() -> (Pty, File) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = rustix::pty::openpt(flags).unwrap();
    rustix::pty::grantpt(&master).unwrap();
    rustix::pty::unlockpt(&master).unwrap();
    let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags).unwrap();
    let mut modes = rustix::termios::tcgetattr(&slave).unwrap();
    modes.make_raw();
    rustix::termios::tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
    (Pty::new(master).unwrap(), slave.into())
}

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { tokio::time::timeout(2 * LONG, test).await.unwrap() })
}

/// What a reader brings, and a receiver of how it ended.
fn reader(pty: &Pty) -> (PtyReader, mpsc::Receiver<Result<Vec<u8>, String>>) {
    let (told, heard) = mpsc::channel();
    let reader = pty
        .read("a pane", move |output| {
            let _ = told.send(match output {
                Output::Bytes(bytes) => Ok(bytes.to_vec()),
                Output::End(end) => Err(format!("{end:?}")),
            });
        })
        .unwrap();
    (reader, heard)
}

fn until_end(heard: &mpsc::Receiver<Result<Vec<u8>, String>>) -> (Vec<u8>, String) {
    let mut all = Vec::new();
    loop {
        match heard.recv_timeout(LONG).unwrap() {
            Ok(bytes) => {
                assert!((1..=CHUNK).contains(&bytes.len()));
                all.extend(bytes);
            }
            Err(end) => return (all, end),
        }
    }
}

#[test]
fn all_output_comes_in_order_and_then_the_hang_up() {
    let (pty, mut slave) = terminal();
    let (_reader, heard) = reader(&pty);
    let output: Vec<u8> = (0..3_000_000_u32).map(|n| (n / 7) as u8).collect();
    let writing = std::thread::spawn({
        let output = output.clone();
        move || slave.write_all(&output).unwrap()
    });
    let (all, end) = until_end(&heard);
    writing.join().unwrap();
    assert!(all == output);
    assert_eq!(end, "HungUp");
}

#[test]
fn finishing_reads_what_is_there_though_the_terminal_stays_open() {
    let (pty, mut slave) = terminal();
    slave.write_all(b"last words").unwrap();
    let (reader, heard) = reader(&pty);
    reader.finish();
    assert_eq!(
        until_end(&heard),
        (b"last words".to_vec(), "Stopped".to_owned())
    );
}

#[test]
fn finishing_is_bounded_though_the_terminal_is_flooded() {
    let (pty, mut slave) = terminal();
    let (reader, heard) = reader(&pty);
    let flood = std::thread::spawn(move || while slave.write_all(&[b'x'; 4_096]).is_ok() {});
    heard.recv_timeout(LONG).unwrap().unwrap();
    reader.finish();
    let (_, end) = until_end(&heard);
    assert_eq!(end, "Stopped");
    drop((reader, pty));
    flood.join().unwrap();
}

#[test]
fn stopping_ends_a_reader_that_waits() {
    let (pty, _slave) = terminal();
    let (reader, heard) = reader(&pty);
    reader.stop();
    assert_eq!(heard.try_recv().unwrap(), Err("Stopped".to_owned()));
}

#[test]
fn input_arrives_whole_and_in_order_however_slowly_it_is_read() {
    let (pty, mut slave) = terminal();
    let input: Vec<u8> = (0..200_000_u32).map(|n| (n / 3) as u8).collect();
    let reading = std::thread::spawn(move || {
        let mut all = vec![0; 200_010];
        slave.read_exact(&mut all).map(|()| all).unwrap()
    });
    run(async {
        let first = pty.write(&input, LONG);
        let second = pty.write(b"and then..", LONG);
        let (first, second) = tokio::join!(first, second);
        first.unwrap();
        second.unwrap();
    });
    let all = reading.join().unwrap();
    assert!(all[..200_000] == input);
    assert_eq!(&all[200_000..], b"and then..");
}

#[test]
fn what_a_program_does_not_take_is_withdrawn_and_counted() {
    let (pty, mut slave) = terminal();
    let written = run(async {
        match pty
            .write(&[b'x'; INPUT_MAX], Duration::from_millis(200))
            .await
        {
            Err(InputError::Stalled { written }) => written,
            other => panic!("{other:?}"),
        }
    });
    assert!(written > 0 && written < INPUT_MAX, "{written}");
    let reading = std::thread::spawn(move || {
        let mut all = Vec::new();
        while !all.ends_with(b"!") {
            let mut chunk = [0; 4_096];
            let read = slave.read(&mut chunk).unwrap();
            all.extend(&chunk[..read]);
        }
        all
    });
    run(async { pty.write(b"!", LONG).await.unwrap() });
    assert_eq!(reading.join().unwrap().len(), written + 1);
}

#[test]
fn more_input_than_may_wait_is_refused_at_once() {
    let (pty, _slave) = terminal();
    run(async {
        let half = [b'x'; INPUT_MAX / 2 + 1];
        let first = pty.write(&half, LONG);
        let second = async {
            // After the first has begun: the branches are polled in order.
            let refused = pty.write(&half, LONG).await.unwrap_err();
            assert_eq!(refused.written(), 0);
            assert!(
                matches!(refused, InputError::Full { waiting } if waiting == half.len()),
                "{refused}"
            );
        };
        tokio::select! { biased; first = first => panic!("{first:?}"), () = second => {} }
        // The first was dropped, and its room is free again.
        let third = pty
            .write(&half, Duration::from_millis(50))
            .await
            .unwrap_err();
        assert!(matches!(third, InputError::Stalled { .. }), "{third}");
    });
}

#[test]
fn input_to_a_terminal_that_is_gone_says_so() {
    let (pty, slave) = terminal();
    drop(slave);
    // With nobody at the other end the kernel takes what it has room for, then nothing more.
    let error = run(async { pty.write(&[b'x'; INPUT_MAX], LONG).await.unwrap_err() });
    assert!(
        matches!(error, InputError::Gone { written, .. } if written < INPUT_MAX),
        "{error}"
    );
}

#[test]
fn the_size_is_what_was_set_within_its_bounds() {
    let (pty, _slave) = terminal();
    pty.resize(Size {
        cols: 0,
        rows: u16::MAX,
    })
    .unwrap();
    assert_eq!(
        pty.size().unwrap(),
        Size {
            cols: 1,
            rows: Size::MAX
        }
    );
    assert_eq!(pty.foreground(), None);
}
