//! The storage on real files.

use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc;

use serde_json::json;
use tempfile::TempDir;

use super::database::Database;
use super::write::Write;
use super::*;
use crate::model::{DecisionId, Pane, PaneId};
use crate::protocol::params::HistoryReason;

const DAY: i64 = 24 * 3_600 * 1_000;
/// "Now" in these tests: so late that a writer, which prunes by the real clock, takes nothing for old.
const NOW: i64 = 40_000 * DAY;

fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("state/signaltty/history.db")
}

fn asked(id: &str, pane: &str, at: i64) -> Event {
    serde_json::from_value(json!({ "event": "decision.created", "data": { "decision": {
        "id": id, "pane_id": pane, "kind": "permission", "prompt": format!("May I {id}?"), "detail": "SECRET-DETAIL",
        "subject": "Shell", "text": "none", "answerable": true, "asked_at": at, "agent": "tester",
        "source": { "origin": "hook", "session_id": "s-1" } } } }))
    .unwrap()
}

fn answered(id: &str) -> Event {
    serde_json::from_value(json!({ "event": "decision.cleared", "data": {
        "pane_id": "p", "decision_id": id, "reason": "answered", "applied": { "option_id": "yes" },
        "applied_label": "Yes", "by": "desk", "via": "window", "latency_ms": 1200 } }))
    .unwrap()
}

fn pane(id: &str) -> Pane {
    serde_json::from_value(json!({ "id": id, "title": "SECRET-TITLE", "argv": ["agent", "SECRET-KEY"], "cwd": "/w",
        "lifecycle": "idle", "size": { "cols": 80, "rows": 24 }, "attention": [], "queued": 0, "created_at": 5,
        "agent": "tester", "session_id": "s-1" }))
    .unwrap()
}

fn writes(events: &[(Event, i64)]) -> Vec<Write> {
    events
        .iter()
        .flat_map(|(event, at)| write::of_event(event, *at))
        .flatten()
        .collect()
}

/// So many decisions, one a second, the last one now.
fn ended(count: i64, first: i64) -> Vec<Write> {
    let events: Vec<_> = (0..count)
        .flat_map(|n| {
            let (id, at) = (format!("d{n}"), first + n * 1_000);
            [(asked(&id, "p", at), at), (answered(&id), at)]
        })
        .collect();
    writes(&events)
}

fn list(database: &Database, wanted: serde_json::Value) -> Vec<String> {
    let wanted = serde_json::from_value(wanted).unwrap();
    let reply = database.list(&wanted).unwrap();
    reply
        .entries
        .into_iter()
        .map(|entry| entry.decision_id.to_string())
        .collect()
}

/// A storage with its writer on that file, and the warnings that it gives.
fn running(file: &Path) -> (Storage, mpsc::Receiver<String>) {
    let (warn, warnings) = mpsc::channel();
    let storage = Storage::default();
    storage.start(Some(file), move |message| drop(warn.send(message)));
    (storage, warnings)
}

async fn all(storage: &Storage) -> HistoryReply {
    storage.list(HistoryListParams::default()).await.unwrap()
}

#[tokio::test]
async fn what_is_recorded_can_be_listed_and_outlives_the_storage() {
    let folder = TempDir::new().unwrap();
    let (storage, warnings) = running(&file(&folder));
    storage.record(&Event::PaneCreated { pane: pane("p") }, 10);
    storage.record(&asked("d", "p", NOW), NOW);
    assert_eq!(all(&storage).await.entries, [], "it has not ended");
    storage.record(&answered("d"), NOW + 1_200);
    let entries = all(&storage).await.entries;
    assert_eq!(
        serde_json::to_value(&entries).unwrap(),
        json!([{ "decision_id": "d", "pane_id": "p", "agent": "tester", "session_id": "s-1", "kind": "permission",
            "prompt": "May I d?", "subject": "Shell", "asked_at": NOW, "ended_at": NOW + 1_200, "reason": "answered",
            "applied": { "option_id": "yes" }, "applied_label": "Yes", "by": "desk", "via": "window",
            "latency_ms": 1200 }])
    );
    storage.close();
    let (again, _) = running(&file(&folder));
    assert_eq!(all(&again).await.entries, entries);
    again.close();
    assert_eq!(warnings.try_iter().count(), 0);
}

#[tokio::test]
async fn only_the_user_can_read_it_and_it_holds_nothing_that_must_not_be_kept() {
    let folder = TempDir::new().unwrap();
    let file = file(&folder);
    let (storage, _) = running(&file);
    storage.record(&Event::PaneCreated { pane: pane("p") }, 10);
    storage.record(&asked("d", "p", NOW), NOW);
    all(&storage).await;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(file.parent().unwrap()), 0o700);
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(file.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        bytes.extend(std::fs::read(path).unwrap());
    }
    let holds = |text: &str| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    assert!(holds("May I d?") && holds("s-1"));
    assert!(!holds("SECRET"), "a detail, a title or arguments were kept");
}

#[test]
fn a_superseded_decision_ends_with_its_successor() {
    let folder = TempDir::new().unwrap();
    let mut database = Database::open(&file(&folder)).unwrap();
    let Event::DecisionCreated(mut second) = asked("b", "p", NOW) else {
        unreachable!()
    };
    second.prev = Some(DecisionId::from_trusted("a"));
    database
        .write(&writes(&[
            (asked("a", "p", NOW), NOW),
            (Event::DecisionCreated(second), NOW + 5),
        ]))
        .unwrap();
    let entries = database
        .list(&HistoryListParams::default())
        .unwrap()
        .entries;
    assert_eq!(entries.len(), 1);
    assert_eq!(
        (entries[0].reason, entries[0].ended_at),
        (HistoryReason::Superseded, NOW + 5)
    );
}

#[test]
fn a_question_that_comes_back_to_the_next_host_is_one_entry() {
    let folder = TempDir::new().unwrap();
    let mut database = Database::open(&file(&folder)).unwrap();
    let left = [
        (asked("back", "p", NOW), NOW),
        (asked("gone", "q", NOW), NOW),
    ];
    database.write(&writes(&left)).unwrap();
    drop(database);
    let mut database = Database::open(&file(&folder)).unwrap();
    database.end_left_open(NOW + 9).unwrap();
    let back = [
        (asked("back", "p", NOW + 10), NOW + 10),
        (answered("back"), NOW + 20),
    ];
    database.write(&writes(&back)).unwrap();
    let entries = database
        .list(&HistoryListParams::default())
        .unwrap()
        .entries;
    let told: Vec<_> = entries
        .iter()
        .map(|entry| {
            (
                entry.decision_id.as_str(),
                entry.asked_at,
                entry.ended_at,
                entry.reason,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("back", NOW, NOW + 20, HistoryReason::Answered),
            ("gone", NOW, NOW + 9, HistoryReason::HostEnded)
        ]
    );
}

#[test]
fn conditions_and_pages() {
    let folder = TempDir::new().unwrap();
    let mut database = Database::open(&file(&folder)).unwrap();
    database.write(&ended(5, NOW)).unwrap();
    let other = [
        (asked("q", "other", NOW), NOW),
        (answered("q"), NOW + 4_000),
    ];
    database.write(&writes(&other)).unwrap();
    assert_eq!(
        list(&database, json!({})),
        ["q", "d4", "d3", "d2", "d1", "d0"]
    );
    assert_eq!(list(&database, json!({ "pane_id": "other" })), ["q"]);
    assert_eq!(list(&database, json!({ "agent": "nobody" })), [""; 0]);
    let two = json!({ "since": NOW + 1_000, "before": NOW + 3_000 });
    assert_eq!(list(&database, two), ["d2", "d1"]);
    // q and d4 ended at one time and are not torn apart by the end of a page.
    let newest = [(asked("z", "p", NOW), NOW), (answered("z"), NOW + 5_000)];
    database.write(&writes(&newest)).unwrap();
    let mut pages = Vec::new();
    let mut wanted = HistoryListParams {
        limit: Some(2),
        ..HistoryListParams::default()
    };
    loop {
        let page = database.list(&wanted).unwrap();
        wanted.before = page.entries.last().map(|entry| entry.ended_at);
        pages.extend(
            page.entries
                .into_iter()
                .map(|entry| entry.decision_id.to_string()),
        );
        if !page.more {
            break;
        }
    }
    assert_eq!(pages, ["z", "q", "d4", "d3", "d2", "d1", "d0"]);
}

#[test]
fn a_reply_fits_into_a_line() {
    let folder = TempDir::new().unwrap();
    let mut database = Database::open(&file(&folder)).unwrap();
    let long = |n: i64| {
        let Event::DecisionCreated(mut created) = asked(&format!("d{n}"), "p", NOW) else {
            unreachable!()
        };
        created.decision.prompt = "\u{1}".repeat(16 * 1024);
        [
            (Event::DecisionCreated(created), NOW),
            (answered(&format!("d{n}")), NOW + n),
        ]
    };
    database
        .write(&writes(&(0..400).flat_map(long).collect::<Vec<_>>()))
        .unwrap();
    let reply = database.list(&HistoryListParams::default()).unwrap();
    assert!(reply.more && !reply.entries.is_empty());
    assert!(serde_json::to_vec(&reply).unwrap().len() < crate::limits::LINE_MAX);
}

#[test]
fn the_old_and_the_many_are_pruned_in_batches_and_the_open_ones_never() {
    let folder = TempDir::new().unwrap();
    let mut database = Database::open(&file(&folder)).unwrap();
    let batch = i64::try_from(PRUNE_BATCH).unwrap();
    database.write(&ended(batch + 10, NOW - 200 * DAY)).unwrap();
    database
        .write(&writes(&[
            (asked("open", "p", NOW - 300 * DAY), NOW - 300 * DAY),
            (asked("new", "p", NOW), NOW),
            (answered("new"), NOW),
        ]))
        .unwrap();
    let count = |database: &Database| -> i64 {
        let count = "SELECT count(*) FROM decisions";
        database
            .connection
            .query_row(count, [], |row| row.get(0))
            .unwrap()
    };
    assert!(database.prune(NOW).unwrap(), "one batch is not all");
    assert_eq!(count(&database), 12);
    assert!(!database.prune(NOW).unwrap());
    assert_eq!(list(&database, json!({})), ["new"]);
    assert_eq!(count(&database), 2, "the open one is gone");

    database
        .connection
        .execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
             INSERT INTO decisions (decision_id, pane_id, agent, kind, prompt, asked_at, ended_at, reason)
             SELECT 'm' || i, 'p', 'a', 'input', '?', ?2, ?2 + i, 'expired' FROM n",
            rusqlite::params![DECISIONS_MAX, NOW],
        )
        .unwrap();
    while database.prune(NOW).unwrap() {}
    assert_eq!(count(&database), i64::try_from(DECISIONS_MAX).unwrap() + 1);
    assert_eq!(
        list(&database, json!({ "before": NOW + 1 })),
        [""; 0],
        "not the oldest went"
    );
}

#[test]
fn a_file_that_grew_too_big_gives_way_to_the_new() {
    let folder = TempDir::new().unwrap();
    let mut database = Database::open(&file(&folder)).unwrap();
    let grow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
         INSERT INTO decisions (decision_id, pane_id, agent, kind, prompt, asked_at, ended_at, reason)
         SELECT 'm' || i, 'p', 'a', 'input', hex(zeroblob(16384)), ?2, ?2 + i, 'expired' FROM n";
    let rows = FILE_MAX / 32_768 + 600;
    database
        .connection
        .execute(grow, rusqlite::params![rows, NOW])
        .unwrap();
    while database.prune(NOW).unwrap() {}
    let used: i64 = database
        .connection
        .query_row(
            "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert!((1..=FILE_MAX).contains(&used), "{used}");
    assert_eq!(list(&database, json!({ "limit": 1 })), [format!("m{rows}")]);
}

#[test]
fn a_torn_log_loses_its_last_batch_alone() {
    let folder = TempDir::new().unwrap();
    let file = file(&folder);
    let mut database = Database::open(&file).unwrap();
    database.write(&ended(3, NOW)).unwrap();
    let log = |file: &Path| file.with_file_name("history.db-wal");
    let whole = std::fs::metadata(log(&file)).unwrap().len();
    database
        .write(&writes(&[
            (asked("torn", "p", NOW), NOW),
            (answered("torn"), NOW),
        ]))
        .unwrap();
    // What a crash leaves: the files as they are, the log cut within the last transaction.
    let crashed = folder.path().join("crashed/history.db");
    std::fs::create_dir(crashed.parent().unwrap()).unwrap();
    std::fs::copy(&file, &crashed).unwrap();
    let bytes = std::fs::read(log(&file)).unwrap();
    assert!(bytes.len() as u64 > whole + 100);
    std::fs::write(
        log(&crashed),
        &bytes[..usize::try_from(whole).unwrap() + 100],
    )
    .unwrap();
    let mut again = Database::open(&crashed).unwrap();
    assert_eq!(list(&again, json!({})), ["d2", "d1", "d0"]);
    again.write(&ended(1, NOW + DAY)).unwrap();
    let check: String = again
        .connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
}

#[tokio::test]
async fn forgetting_takes_what_was_said_off_the_disk() {
    let folder = TempDir::new().unwrap();
    let file = file(&folder);
    let (storage, _) = running(&file);
    for (id, pane, at) in [("a", "p", NOW), ("b", "q", NOW), ("c", "p", NOW + 50)] {
        storage.record(&asked(id, pane, at), at);
        storage.record(&answered(id), at);
    }
    storage.record(&asked("pending", "p", NOW), NOW);
    let forget = |what: serde_json::Value| storage.forget(serde_json::from_value(what).unwrap());
    let some = json!({ "pane_id": "p", "before": NOW + 50 });
    assert_eq!(forget(some).await.unwrap().decisions, 1);
    let left = all(&storage).await.entries;
    assert_eq!(
        left.iter()
            .map(|e| e.decision_id.as_str())
            .collect::<Vec<_>>(),
        ["c", "b"]
    );
    let holds = |text: &str| {
        let folder = std::fs::read_dir(file.parent().unwrap()).unwrap();
        folder.flatten().any(|entry| {
            let bytes = std::fs::read(entry.path()).unwrap();
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        })
    };
    assert!(!holds("May I a?") && holds("May I b?"));
    assert_eq!(forget(json!({})).await.unwrap().decisions, 2);
    assert_eq!(all(&storage).await.entries, []);
    storage.record(&answered("pending"), NOW + 60);
    assert_eq!(
        all(&storage).await.entries.len(),
        1,
        "what is pending was forgotten"
    );
}

#[tokio::test]
async fn the_layout_comes_back() {
    let folder = TempDir::new().unwrap();
    let (storage, _) = running(&file(&folder));
    assert_eq!(storage.layout().await, None);
    let layout: Layout = serde_json::from_value(
        json!({ "tabs": [{ "title": "work", "root": { "type": "pane", "pane_id": "p" } }] }),
    )
    .unwrap();
    storage.record(
        &Event::LayoutChanged {
            layout: layout.clone(),
        },
        NOW,
    );
    storage.close();
    let (again, _) = running(&file(&folder));
    assert_eq!(again.layout().await, Some(layout));
}

/// The storage cannot use its file: it says so once, takes everything, and asking is answered.
async fn goes_on_without(file: &Path) -> String {
    let (storage, warnings) = running(file);
    for round in 0..3 {
        storage.record(&asked(&format!("d{round}"), "p", NOW), NOW);
        let refused = storage
            .list(HistoryListParams::default())
            .await
            .unwrap_err();
        assert_eq!(refused.code, ErrorCode::Internal);
        assert_eq!(storage.layout().await, None);
    }
    storage.close();
    let warnings: Vec<_> = warnings.try_iter().collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    warnings[0].clone()
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_one_warning() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("state"), "no folder").unwrap();
    let warning = goes_on_without(&file(&folder)).await;
    assert!(warning.contains("history.db"), "{warning}");
}

#[test]
fn trouble_that_lasts_is_told_once() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("state"), "no folder").unwrap();
    let (warn, warnings) = mpsc::channel();
    let warn = move |message| drop(warn.send(message));
    let queue = Arc::new(Queue::default());
    let mut writer = Writer::new(queue.clone(), file(&folder), Box::new(warn));
    for _ in 0..3 {
        ended(1, NOW)
            .into_iter()
            .for_each(|write| queue.push(write));
        assert!(writer.turn());
        writer.retry_now();
    }
    assert_eq!(warnings.try_iter().count(), 1);
}

#[tokio::test]
async fn a_read_only_folder_is_one_warning() {
    if rustix::process::getuid().is_root() {
        eprintln!("skipped: root may write everywhere");
        return;
    }
    let folder = TempDir::new().unwrap();
    let state = folder.path().join("state");
    std::fs::create_dir(&state).unwrap();
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o500)).unwrap();
    goes_on_without(&file(&folder)).await;
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_as_it_is() {
    let folder = TempDir::new().unwrap();
    let file = file(&folder);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let bytes = vec![b'x'; 8_192];
    std::fs::write(&file, &bytes).unwrap();
    goes_on_without(&file).await;
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_left_as_it_is() {
    let folder = TempDir::new().unwrap();
    let file = file(&folder);
    let mut database = Database::open(&file).unwrap();
    database.write(&ended(1, NOW)).unwrap();
    database
        .connection
        .pragma_update(None, "user_version", 99)
        .unwrap();
    drop(database);
    let before = std::fs::read(&file).unwrap();
    let warning = goes_on_without(&file).await;
    assert!(warning.contains("version 99"), "{warning}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn a_full_disk_is_one_warning_and_keeps_what_was_written() {
    let folder = TempDir::new().unwrap();
    let file = file(&folder);
    let (warn, warnings) = mpsc::channel();
    let queue = Arc::new(Queue::default());
    let warn = move |message| drop(warn.send(message));
    let mut writer = Writer::new(queue.clone(), file.clone(), Box::new(warn));
    ended(1, NOW)
        .into_iter()
        .for_each(|write| queue.push(write));
    assert!(writer.turn());
    writer.limit_pages();
    for _ in 0..3 {
        ended(2_000, NOW + DAY)
            .into_iter()
            .for_each(|write| queue.push(write));
        assert!(writer.turn());
    }
    let warnings: Vec<_> = warnings.try_iter().collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("full"), "{warnings:?}");
    drop(writer);
    assert_eq!(list(&Database::open(&file).unwrap(), json!({})), ["d0"]);
}

#[test]
fn once_the_disk_has_room_again_what_was_asked_before_is_still_open() {
    let folder = TempDir::new().unwrap();
    let file = file(&folder);
    let queue = Arc::new(Queue::default());
    let mut writer = Writer::new(queue.clone(), file.clone(), Box::new(drop));
    let turn = |writer: &mut Writer, writes: Vec<Write>| {
        writes.into_iter().for_each(|write| queue.push(write));
        assert!(writer.turn());
    };
    turn(&mut writer, writes(&[(asked("open", "p", NOW), NOW)]));
    writer.limit_pages();
    turn(&mut writer, ended(2_000, NOW));
    writer.retry_now();
    turn(&mut writer, writes(&[(answered("open"), NOW + 5)]));
    drop(writer);
    let database = Database::open(&file).unwrap();
    let entries = database
        .list(&HistoryListParams::default())
        .unwrap()
        .entries;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].reason, HistoryReason::Answered);
}

#[test]
fn where_the_disk_does_not_keep_up_the_oldest_go_and_are_counted() {
    let queue = Queue::default();
    let closed = |n: usize| Write::PaneClosed {
        pane_id: PaneId::from_trusted(format!("p{n}")),
        at: NOW,
    };
    (0..WRITES_MAX + 3).for_each(|n| queue.push(closed(n)));
    let batch = queue.next(Duration::ZERO, Duration::ZERO);
    assert_eq!((batch.writes.len(), batch.dropped), (WRITES_MAX, 3));
    assert_eq!(batch.writes.first(), Some(&closed(3)));
    assert_eq!(batch.writes.last(), Some(&closed(WRITES_MAX + 2)));
    queue.push(closed(0));
    assert_eq!(queue.next(Duration::ZERO, Duration::ZERO).dropped, 0);
}

#[test]
fn what_of_a_pane_is_not_kept_is_no_write() {
    let queue = Queue::default();
    let told = |pane: Pane| {
        let writes = write::of_event(&Event::PaneUpdated { pane }, NOW);
        writes
            .into_iter()
            .flatten()
            .for_each(|write| queue.push(write));
        queue.next(Duration::ZERO, Duration::ZERO).writes.len()
    };
    let (mut titled, mut moved) = (pane("p"), pane("p"));
    titled.title = "another".into();
    moved.session_id = Some("s-2".into());
    assert_eq!(
        [told(pane("p")), told(titled), told(moved.clone())],
        [1, 0, 1]
    );
    queue.write_panes_again();
    assert_eq!(told(moved), 1);
}

#[test]
fn every_host_has_a_file_of_its_own() {
    let at = |env: &[(&str, &str)], socket: &str, default| {
        let sockets = HostPaths::of_host_socket(Path::new(socket), default).unwrap();
        let look = |name: &str| {
            env.iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value.into())
        };
        schema::path(look, &sockets).map(|path| path.to_str().unwrap().to_owned())
    };
    let home = [("HOME", "/h")];
    let usual = at(&home, "/run/s/host.sock", true);
    assert_eq!(
        usual.as_deref(),
        Some("/h/.local/state/signaltty/history.db")
    );
    let state = [("HOME", "/h"), ("XDG_STATE_HOME", "/s")];
    assert_eq!(
        at(&state, "/run/s/host.sock", true).as_deref(),
        Some("/s/signaltty/history.db")
    );
    let relative = [("HOME", "/h"), ("XDG_STATE_HOME", "s")];
    assert_eq!(at(&relative, "/run/s/host.sock", true), usual);
    assert_eq!(at(&[], "/run/s/host.sock", true), None);
    let (one, two) = (
        at(&state, "/a/host.sock", false),
        at(&state, "/b/host.sock", false),
    );
    assert_eq!(
        one.as_deref(),
        Some("/s/signaltty/history-0e160d4d1dfdaf02.db")
    );
    assert_ne!(one, two);
}
