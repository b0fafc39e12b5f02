//! Hosts that end and hosts that come.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use libtest_mimic::Trial;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use signaltty_core::host::keeper::wire::{HEADER_LEN, Header, Refusal, Reply, Request};
use signaltty_core::host::keeper::{Keeper, KeeperError, KeeperEvent, META_MAX, TAIL_MAX};
use signaltty_core::host::lock::{HostLock, LockError};
use signaltty_core::model::Exit;

use super::bench::{
    Bench, LONG, OtherHost, code, eventually, is_running, line_after, pane, program, run, spec,
    trial,
};

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a_killed_host_loses_no_program_and_the_next_gets_everything_back",
            killed_host,
        ),
        trial("an_exit_that_no_host_saw_is_told_to_the_next", unseen_exit),
        trial(
            "records_and_panes_come_back_in_order_however_many_and_large",
            many_and_large,
        ),
        trial(
            "memory_is_whole_wherever_its_host_was_killed",
            killed_in_the_middle,
        ),
        trial(
            "a_host_killed_while_it_spawns_leaves_whole_panes_only",
            killed_while_spawning,
        ),
        trial("only_one_process_is_the_host", one_host),
        trial("a_host_without_the_lock_is_refused", no_lock),
        trial(
            "a_new_host_with_the_lock_takes_over_from_one_that_still_listens",
            take_over,
        ),
        trial(
            "what_is_no_message_is_refused_and_the_keeper_goes_on",
            garbage,
        ),
        trial(
            "a_peer_that_says_nothing_does_not_keep_the_host_away",
            silent_peers,
        ),
        trial("the_keeper_belongs_to_no_process_of_ours", detached),
    ]
}

fn killed_host() {
    let bench = Bench::new();
    let mut first = OtherHost::start(&bench);
    let script = "while read line; do echo mark $line; done";
    let pid: i32 = first.ask(&format!("spawn p {script}")).parse().unwrap();
    assert_eq!(first.ask("append p before the snapshot"), "ok");
    assert_eq!(first.ask("snapshot p the screen"), "ok");
    assert_eq!(first.ask("append p after it"), "ok");
    first.kill();
    assert!(is_running(pid));
    run(async {
        let mut host = bench.host().await;
        assert_eq!(host.held.len(), 1);
        let held = host.held.remove(0);
        assert_eq!((held.pane_id, held.pid, held.exit), (pane("p"), pid, None));
        assert_eq!(held.meta, b"record of p");
        let restored = held.memory.restore().unwrap();
        assert_eq!(restored.snapshot, b"the screen");
        assert_eq!(restored.tail, b"after it");
        assert!(!restored.gap);
        // The terminal works as before.
        rustix::io::write(&held.master, b"again\n").unwrap();
        assert_eq!(line_after(&held.master, "mark "), "again");
        rustix::io::write(&held.master, b"\x04").unwrap();
        assert_eq!(host.exit("p").await, code(0));
    });
}

fn unseen_exit() {
    let bench = Bench::new();
    let mut first = OtherHost::start(&bench);
    let pid: i32 = first
        .ask("spawn p read x; echo last words; exit 5")
        .parse()
        .unwrap();
    let lives: i32 = first.ask("spawn q read x").parse().unwrap();
    first.kill();
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid).unwrap(),
        rustix::process::Signal::TERM,
    )
    .unwrap();
    eventually("the program ended", || !is_running(pid));
    let ended = Some(Exit {
        code: None,
        signal: Some(libc::SIGTERM),
    });
    run(async {
        // Told to every host until one forgets the pane, and as an event to none.
        for _ in 0..2 {
            let mut host = bench.host().await;
            let found: Vec<_> = host.held.iter().map(|held| (held.pid, held.exit)).collect();
            assert_eq!(found, [(pid, ended), (lives, None)]);
            host.keeper.ping().await.unwrap();
            assert!(host.events.try_recv().is_err());
            let late = host
                .keeper
                .set_meta(&pane("p"), b"read by the next".to_vec())
                .await;
            late.unwrap();
        }
        let host = bench.host().await;
        assert_eq!(host.held[0].meta, b"read by the next");
        host.keeper.forget(&pane("p")).await.unwrap();
        drop(host);
        assert_eq!(bench.host().await.held.len(), 1);
    });
}

fn many_and_large() {
    let bench = Bench::new();
    run(async {
        let host = bench.host().await;
        for n in 0..40_u8 {
            let mut spec = spec(&format!("p{n}"), &["sleep", "1000"]);
            spec.meta = vec![n; META_MAX];
            host.keeper.spawn(spec).await.unwrap();
        }
        drop(host);
        let host = bench.host().await;
        assert_eq!(host.held.len(), 40);
        for (n, held) in (0..).zip(&host.held) {
            assert_eq!(held.pane_id, pane(&format!("p{n}")));
            assert_eq!(held.meta, vec![n; META_MAX]);
        }
    });
}

fn killed_in_the_middle() {
    let bench = Bench::new();
    for round in 0..12_u64 {
        let mut host = OtherHost::start(&bench);
        let id = format!("p{round}");
        host.ask(&format!("spawn {id} sleep 1000"));
        host.tell(&format!("flood {id}"));
        // Not a wait for anything: each round is killed somewhere else in its writing.
        std::thread::sleep(Duration::from_millis(3 + 7 * round));
        host.kill();
        run(async {
            let mut host = bench.host().await;
            let held = host.held.pop().unwrap();
            assert_eq!(held.pane_id, pane(&id));
            let restored = held.memory.restore().unwrap();
            assert!(!restored.gap && restored.tail.len() <= TAIL_MAX);
            // The tail goes on exactly where the snapshot ended, and ends at the end of a write.
            let next: u64 = match std::str::from_utf8(&restored.snapshot).unwrap() {
                "" => 0,
                text => {
                    text.strip_prefix("snapshot to ")
                        .unwrap()
                        .parse::<u64>()
                        .unwrap()
                        + 1
                }
            };
            let tail = String::from_utf8(restored.tail).unwrap();
            assert!(tail.is_empty() || tail.ends_with('\n'));
            for (number, line) in (next..).zip(tail.lines()) {
                assert_eq!(line, format!("line {number}"));
            }
        });
    }
}

fn killed_while_spawning() {
    let bench = Bench::new();
    for round in 0..8_u64 {
        let mut host = OtherHost::start(&bench);
        for n in 0..20 {
            host.tell(&format!("spawn r{round}n{n} read x"));
        }
        std::thread::sleep(Duration::from_millis(2 * round));
        host.kill();
        run(async {
            let host = bench.host().await;
            let expected: Vec<_> = (0..host.held.len())
                .map(|n| pane(&format!("r{round}n{n}")))
                .collect();
            let found: Vec<_> = host.held.iter().map(|held| held.pane_id.clone()).collect();
            assert_eq!(found, expected);
            for held in &host.held {
                assert!(is_running(held.pid) && held.exit.is_none());
                host.keeper.forget(&held.pane_id).await.unwrap();
            }
        });
    }
}

fn one_host() {
    let bench = Bench::new();
    let host = OtherHost::start(&bench);
    assert!(matches!(
        HostLock::take(&bench.paths.lock, None),
        Err(LockError::Held { .. })
    ));
    host.kill();
    HostLock::take(&bench.paths.lock, Some(LONG)).unwrap();
}

/// Says hello with these descriptors and returns the first answer, if there is one.
fn hello(bench: &Bench, fds: &[BorrowedFd<'_>]) -> Option<Reply> {
    let socket = UnixStream::connect(&bench.paths.keeper).unwrap();
    let mut bytes = Request::Hello {
        oldest: 1,
        newest: 1,
    }
    .encode(1)
    .bytes();
    bytes[6] = fds.len() as u8;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        assert!(control.push(SendAncillaryMessage::ScmRights(fds)));
    }
    rustix::net::sendmsg(
        &socket,
        &[IoSlice::new(&bytes)],
        &mut control,
        SendFlags::empty(),
    )
    .unwrap();
    first_reply(&socket)
}

fn first_reply(mut socket: &UnixStream) -> Option<Reply> {
    use std::io::Read;
    socket.set_read_timeout(Some(LONG)).unwrap();
    let mut header = [0; HEADER_LEN];
    socket.read_exact(&mut header).ok()?;
    let header = Header::read(&header, 1_000_000).unwrap().unwrap();
    let mut body = vec![0; header.len];
    socket.read_exact(&mut body).ok()?;
    Some(Reply::decode(header.kind, &body).unwrap())
}

fn no_lock() {
    let bench = Bench::new();
    let other = OtherHost::start(&bench);
    let refused = Some(Reply::Refused {
        reason: Refusal::NoLock,
    });
    let unlocked = std::fs::File::open(&bench.paths.lock).unwrap();
    let elsewhere = HostLock::take(&bench.dir().join("elsewhere.lock"), None).unwrap();
    let null: OwnedFd = std::fs::File::open("/dev/null").unwrap().into();
    for fds in [
        &[][..],
        &[unlocked.as_fd()],
        &[elsewhere.as_fd()],
        &[null.as_fd()],
        &[unlocked.as_fd(); 2],
    ] {
        assert_eq!(hello(&bench, fds), refused);
    }
    run(async {
        let tried = Keeper::connect_or_start(&bench.paths, &elsewhere, &program()).await;
        assert!(
            matches!(tried, Err(KeeperError::Refused(Refusal::NoLock))),
            "{tried:?}"
        );
    });
    // None of this disturbed the host, nor did it leave the lock to anyone.
    let mut other = other;
    assert!(other.ask("spawn p sleep 1000").parse::<i32>().is_ok());
    other.kill();
    HostLock::take(&bench.paths.lock, Some(LONG)).unwrap();
}

fn take_over() {
    let bench = Bench::new();
    run(async {
        let first = bench.host().await;
        let spawned = first.spawn("p", &["sleep", "1000"]).await;
        let (old, mut events) = (first.keeper.clone(), first.events);
        drop(first.lock);
        let second = bench.host().await;
        assert_eq!(second.held[0].pid, spawned.pid);
        assert_eq!(
            tokio::time::timeout(LONG, events.recv()).await.unwrap(),
            Some(KeeperEvent::Lost)
        );
        assert!(matches!(old.ping().await, Err(KeeperError::Lost)));
        second.keeper.ping().await.unwrap();
    });
}

fn garbage() {
    use std::io::Write;
    let bench = Bench::new();
    let mut host = OtherHost::start(&bench);
    let malformed = Some(Reply::Refused {
        reason: Refusal::Malformed,
    });
    let frame = |len: u32, kind: u16, body: &[u8]| {
        let head = [
            &len.to_le_bytes()[..],
            &kind.to_le_bytes(),
            &[0, 0, 1, 0, 0, 0],
        ]
        .concat();
        [&head, body].concat()
    };
    let cases = [
        frame(u32::MAX, 1, b""),
        frame(65, 1, b""),
        frame(0, 8, b""),
        frame(3, 1, b"abc"),
        frame(0, 999, b""),
    ];
    for bytes in cases {
        let mut socket = UnixStream::connect(&bench.paths.keeper).unwrap();
        socket.write_all(&bytes).unwrap();
        assert_eq!(first_reply(&socket), malformed, "{bytes:?}");
    }
    let lock = HostLock::take(&bench.dir().join("x.lock"), None).unwrap();
    let newer = frame(4, 1, &[2, 0, 3, 0]);
    let mut socket = UnixStream::connect(&bench.paths.keeper).unwrap();
    socket.write_all(&newer).unwrap();
    assert_eq!(
        first_reply(&socket),
        Some(Reply::Refused {
            reason: Refusal::Version
        })
    );
    drop(lock);
    assert!(host.ask("spawn p sleep 1000").parse::<i32>().is_ok());
}

fn silent_peers() {
    let bench = Bench::new();
    let first = OtherHost::start(&bench);
    let silent: Vec<_> = (0..20)
        .map(|_| UnixStream::connect(&bench.paths.keeper).unwrap())
        .collect();
    first.kill();
    run(async {
        bench.host().await.keeper.ping().await.unwrap();
    });
    drop(silent);
}

fn detached() {
    let bench = Bench::new();
    run(async {
        let host = bench.host().await;
        let _pane = host.spawn("p", &["sleep", "1000"]).await;
        let stat = signaltty_core::host::ancestry::read_stat(host.keeper.pid()).unwrap();
        assert_ne!(stat.parent, std::process::id() as i32);
        assert_eq!(stat.session, stat.pid);
        // Only root may look further into a process that is not dumpable.
        let link = |name: &str| std::fs::read_link(format!("/proc/{}/{name}", host.keeper.pid()));
        if rustix::process::geteuid().is_root() {
            assert_eq!(link("cwd").unwrap().to_str(), Some("/"));
            for fd in 0..3 {
                assert_eq!(
                    link(&format!("fd/{fd}")).unwrap().to_str(),
                    Some("/dev/null")
                );
            }
        } else {
            assert!(link("cwd").is_err());
        }
    });
}
