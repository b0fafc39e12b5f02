//! Who is inside: processes of panes, started in every way that is known to leave a parent behind.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::Trial;
use signaltty_core::host::ancestry::{Ancestry, PaneProcess, pane_of, resolve};
use signaltty_core::host::keeper::wire::Refusal;
use signaltty_core::host::keeper::{Keeper, KeeperError};
use signaltty_core::host::lock::HostLock;
use signaltty_core::host::paths::{HostPaths, bind_socket};
use signaltty_core::model::PaneId;

use super::bench::{
    Bench, Host, LONG, OtherHost, eventually, is_ready_within, is_running, line_after, pane,
    program, run, trial,
};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_process_of_ours_is_outside", outside),
        trial("every_descendant_of_a_pane_is_inside", inside),
        trial(
            "a_descendant_whose_pane_has_ended_is_still_inside",
            after_the_end,
        ),
        trial(
            "the_line_of_descent_names_every_program_up_to_the_pane",
            the_line,
        ),
        trial("a_peer_that_is_gone_counts_as_inside", gone),
        trial("no_process_of_a_pane_becomes_the_keeper", no_keeper_inside),
        trial(
            "no_process_of_a_pane_becomes_the_host_even_with_the_lock",
            no_host_inside,
        ),
    ]
}

/// The `probe` role. `probe SOCKET` connects and stays until the other end closes; `probe SOCKET host` tries
/// to become the host, `probe SOCKET keeper` puts a keeper of its own in the place of the real one.
pub fn run_probe() -> ExitCode {
    let socket = std::env::args().nth(2).unwrap();
    match std::env::args().nth(3).as_deref() {
        Some("host") => return try_to_be_host(Path::new(&socket)),
        Some("keeper") => return try_to_be_keeper(Path::new(&socket)),
        _ => {}
    }
    let mut socket = UnixStream::connect(socket).unwrap();
    socket.write_all(b"x").unwrap();
    let _ = socket.read_to_end(&mut Vec::new());
    ExitCode::SUCCESS
}

fn try_to_be_keeper(socket: &Path) -> ExitCode {
    let paths = HostPaths::of_host_socket(socket, false).unwrap();
    let listener = bind_socket(&paths.keeper).unwrap();
    let error = Command::new(program()).arg("keeper").stdin(listener).exec();
    panic!("{error}");
}

fn try_to_be_host(socket: &Path) -> ExitCode {
    let paths = HostPaths::of_host_socket(socket, false).unwrap();
    let lock = HostLock::take(&paths.lock, Some(LONG)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let tried = runtime.block_on(Keeper::connect_or_start(&paths, &lock, &program()));
    match tried {
        Err(KeeperError::Refused(Refusal::Inside)) => println!("mark inside"),
        Err(other) => println!("mark {other}"),
        Ok(_) => println!("mark let in"),
    }
    ExitCode::SUCCESS
}

/// A socket that probes connect to.
struct Door {
    listener: UnixListener,
    probe: String,
}

impl Door {
    fn new(bench: &Bench) -> Self {
        let path = bench.dir().join("door");
        let listener = UnixListener::bind(&path).unwrap();
        let probe = format!("{} probe {}", program().display(), path.display());
        Self { listener, probe }
    }

    /// The next probe, with its byte read, so that it is known to wait.
    fn next(&self) -> UnixStream {
        assert!(is_ready_within(&self.listener, LONG), "no probe came");
        let (mut socket, _) = self.listener.accept().unwrap();
        socket.set_read_timeout(Some(LONG)).unwrap();
        socket.read_exact(&mut [0]).unwrap();
        socket
    }
}

fn outside() {
    let bench = Bench::new();
    let door = Door::new(&bench);
    run(async {
        let host = bench.host().await;
        for script in ["PROBE", "setsid -f PROBE", "(PROBE &)", "env -i PROBE"] {
            let script = script.replace("PROBE", &door.probe);
            let mut child = Command::new("sh")
                .args(["-c", &script])
                .stdin(Stdio::null())
                .spawn()
                .unwrap();
            let peer = door.next();
            assert_eq!(
                resolve(&peer, host.keeper.pid()).unwrap(),
                Ancestry::Outside,
                "{script}"
            );
            drop(peer);
            child.wait().unwrap();
        }
    });
}

async fn open(host: &Host, id: &str, script: &str) -> PaneProcess {
    // The terminal stays open for as long as the keeper holds it.
    let spawned = host.spawn(id, &["sh", "-c", script]).await;
    PaneProcess {
        pane_id: pane(id),
        pid: spawned.pid,
    }
}

fn inside() {
    let bench = Bench::new();
    let door = Door::new(&bench);
    let copy = bench.dir().join("copied");
    std::fs::copy(program(), &copy).unwrap();
    let (_, place) = door.probe.split_once(" probe ").unwrap();
    let copied = format!("{} probe {place}", copy.display());
    // The script, and whether the session still tells the pane. The shell stays until its terminal ends.
    let cases = [
        ("PROBE; read x", true),
        ("sh -c 'PROBE; true'; read x", true),
        ("nohup PROBE >/dev/null 2>&1 & read x", true),
        ("(nohup PROBE >/dev/null 2>&1 &); read x", true),
        ("((PROBE &) &); read x", true),
        ("env -i PROBE & read x", true),
        ("setsid -w PROBE; read x", true),
        ("sh -c 'setsid PROBE; true'; read x", true),
        ("(COPIED &); read x", true),
        ("setsid -f PROBE; read x", false),
        ("(setsid sh -c '(PROBE &)' &); read x", false),
        (
            "env -i $(command -v setsid) -f nohup PROBE >/dev/null 2>&1; read x",
            false,
        ),
    ];
    run(async {
        let host = bench.host().await;
        let mut panes = vec![open(&host, "other", "read x").await];
        for (number, (script, known)) in cases.into_iter().enumerate() {
            let script = script
                .replace("PROBE", &door.probe)
                .replace("COPIED", &copied);
            let id = format!("p{number}");
            panes.push(open(&host, &id, &script).await);
            let peer = door.next();
            // A shell in between may just be ending; then the line is read anew.
            let ancestry = resolve(&peer, host.keeper.pid()).unwrap();
            assert!(
                matches!(ancestry, Ancestry::Inside { .. }),
                "{script}: {ancestry:?}"
            );
            let found = pane_of(ancestry.chain(), &panes).map(PaneId::as_str);
            assert_eq!(
                found,
                known.then_some(id.as_str()),
                "{script}: {ancestry:?}"
            );
        }
    });
}

fn after_the_end() {
    let bench = Bench::new();
    let door = Door::new(&bench);
    run(async {
        let mut host = bench.host().await;
        let script = format!("trap '' HUP; setsid -f {}; exit 0", door.probe);
        let pid = open(&host, "p", &script).await.pid;
        host.exit("p").await;
        host.keeper.forget(&pane("p")).await.unwrap();
        eventually("the pane's program is gone", || !is_running(pid));
        let peer = door.next();
        let ancestry = resolve(&peer, host.keeper.pid()).unwrap();
        assert!(
            matches!(&ancestry, Ancestry::Inside { chain } if chain.len() == 1),
            "{ancestry:?}"
        );
        assert_eq!(pane_of(ancestry.chain(), &[]), None);
    });
}

fn the_line() {
    let bench = Bench::new();
    let door = Door::new(&bench);
    run(async {
        let host = bench.host().await;
        let script = format!("sh -c '{}; true' between; read x", door.probe);
        let opened = open(&host, "p", &script).await;
        let peer = door.next();
        let ancestry = resolve(&peer, host.keeper.pid()).unwrap();
        let lines: Vec<_> = ancestry
            .chain()
            .iter()
            .map(|process| process.cmdline.join(" "))
            .collect();
        let probe = door.probe.clone();
        assert_eq!(
            lines,
            [
                probe.clone(),
                format!("sh -c {probe}; true between"),
                format!("sh -c {script}")
            ]
        );
        let last = ancestry.chain().last().unwrap();
        assert_eq!(
            (last.stat.pid, last.stat.parent),
            (opened.pid, host.keeper.pid())
        );
    });
}

fn gone() {
    let bench = Bench::new();
    let door = Door::new(&bench);
    let mut words = door.probe.split(' ');
    let mut child = Command::new(words.next().unwrap())
        .args(words)
        .spawn()
        .unwrap();
    let peer = door.next();
    child.kill().unwrap();
    child.wait().unwrap();
    let ancestry = resolve(&peer, i32::MAX).unwrap();
    assert_eq!(ancestry, Ancestry::Unknown);
    assert!(ancestry.is_inside());
}

fn no_host_inside() {
    let bench = Bench::new();
    let host_socket = bench.paths.host.display().to_string();
    run(async {
        let host = bench.host().await;
        for (id, way) in [("p", ""), ("q", "setsid -w "), ("r", "env -i ")] {
            let script = format!(
                "read x; {way}{} probe {host_socket} host; read x",
                program().display()
            );
            host.spawn(id, &["sh", "-c", &script]).await;
        }
        // The panes may have the lock, and nothing comes of it.
        drop(host);
        for index in 0..3 {
            let host = bench.host().await;
            let master = host.held[index].master.try_clone().unwrap();
            drop(host);
            rustix::io::write(&master, b"go\n").unwrap();
            assert_eq!(line_after(&master, "mark "), "inside");
        }
    });
}

fn no_keeper_inside() {
    let bench = Bench::new();
    let mut first = OtherHost::start(&bench);
    let probe = format!(
        "{} probe {} keeper",
        program().display(),
        bench.paths.host.display()
    );
    let pid: i32 = first
        .ask(&format!(
            "spawn p {probe}; echo $? >{}/tried; read x",
            bench.dir().display()
        ))
        .parse()
        .unwrap();
    let tried = bench.dir().join("tried");
    eventually("the impostor is ready", || {
        std::fs::read_to_string(&tried).is_ok_and(|text| text == "0\n")
    });
    first.kill();
    run(async {
        match bench.try_host().await {
            Err(KeeperError::Impostor { pid: Some(found) }) => assert_ne!(found, pid),
            other => panic!("{:?}", other.map(|host| host.keeper.pid())),
        }
    });
}
