//! The messages as bytes and back.

use super::*;
use crate::limits::ID_MAX;
use proptest::prelude::*;

fn id() -> impl Strategy<Value = String> {
    "[A-Za-z0-9._:-]{1,128}"
}

fn strings() -> impl Strategy<Value = Vec<Vec<u8>>> {
    proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..10)
}

fn meta() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..200)
}

fn exit() -> impl Strategy<Value = Option<Exit>> {
    prop_oneof![
        Just(None),
        Just(Some(Exit::default())),
        (0..256).prop_map(|code| Some(Exit {
            code: Some(code),
            signal: None
        })),
        (1..65).prop_map(|signal| Some(Exit {
            code: None,
            signal: Some(signal)
        })),
    ]
}

fn request() -> impl Strategy<Value = Request> {
    let target = prop_oneof![Just(Target::Program), Just(Target::Foreground)];
    let spawn = (
        id(),
        (1_u16..=4_096, 1_u16..=4_096),
        meta(),
        strings(),
        strings(),
        meta(),
    )
        .prop_map(|(pane_id, size, cwd, argv, env, meta)| {
            Request::Spawn(SpawnRequest {
                pane_id,
                size,
                cwd,
                argv,
                env,
                meta,
            })
        });
    prop_oneof![
        (any::<u16>(), any::<u16>()).prop_map(|(oldest, newest)| Request::Hello { oldest, newest }),
        spawn,
        (id(), meta()).prop_map(|(pane_id, meta)| Request::SetMeta { pane_id, meta }),
        id().prop_map(|pane_id| Request::Forget { pane_id }),
        (id(), target, any::<i32>()).prop_map(|(pane_id, target, signal)| Request::Signal {
            pane_id,
            target,
            signal
        }),
        (id(), any::<u32>()).prop_map(|(pane_id, grace_ms)| Request::End { pane_id, grace_ms }),
        any::<u32>().prop_map(|grace_ms| Request::Shutdown { grace_ms }),
        Just(Request::Ping),
    ]
}

fn reply() -> impl Strategy<Value = Reply> {
    let reason = prop_oneof![
        Just(Refusal::NoLock),
        Just(Refusal::Version),
        Just(Refusal::Inside),
        Just(Refusal::User),
        Just(Refusal::Malformed)
    ];
    let stage = prop_oneof![
        Just(Stage::Setup),
        Just(Stage::Cwd),
        Just(Stage::Exec),
        Just(Stage::Request)
    ];
    prop_oneof![
        (any::<u16>(), any::<i32>()).prop_map(|(version, pid)| Reply::Welcome { version, pid }),
        reason.prop_map(|reason| Reply::Refused { reason }),
        (id(), any::<i32>(), exit(), meta()).prop_map(|(pane_id, pid, exit, meta)| {
            Reply::Pane {
                pane_id,
                pid,
                exit,
                meta,
            }
        }),
        Just(Reply::HandedOver),
        any::<i32>().prop_map(|pid| Reply::Spawned { pid }),
        (stage, any::<i32>()).prop_map(|(stage, errno)| Reply::SpawnFailed { stage, errno }),
        Just(Reply::Done),
        any::<i32>().prop_map(|errno| Reply::Failed { errno }),
        (id(), exit()).prop_map(|(pane_id, exit)| Reply::Exited {
            pane_id,
            exit: exit.unwrap_or_default()
        }),
        Just(Reply::NotKnown),
    ]
}

proptest! {
    #[test]
    fn a_request_is_read_as_it_was_written_also_with_more_behind_it(request in request(), more in meta()) {
        let mut frame = request.encode(7);
        frame.body.extend(more);
        prop_assert_eq!(Request::decode(frame.kind, &frame.body), Ok(request));
    }

    #[test]
    fn a_reply_is_read_as_it_was_written_also_with_more_behind_it(reply in reply(), more in meta()) {
        let mut frame = reply.encode(7, Vec::new());
        frame.body.extend(more);
        prop_assert_eq!(Reply::decode(frame.kind, &frame.body), Ok(reply));
    }

    #[test]
    fn a_request_that_is_cut_short_is_short(request in request(), cut in any::<proptest::sample::Index>()) {
        let frame = request.encode(7);
        prop_assume!(!frame.body.is_empty());
        let len = cut.index(frame.body.len());
        prop_assert_eq!(Request::decode(frame.kind, &frame.body[..len]), Err(Malformed::Short));
    }

    #[test]
    fn no_bytes_make_it_panic(kind in 0_u16..14, body in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Request::decode(kind, &body);
        let _ = Reply::decode(kind, &body);
        let _ = Header::read(&body, HELLO_MAX);
    }
}

#[test]
fn bounds_are_held() {
    let long = Request::Forget {
        pane_id: "p".repeat(ID_MAX + 1),
    }
    .encode(1);
    assert_eq!(
        Request::decode(long.kind, &long.body),
        Err(Malformed::Bounds("a length"))
    );
    let odd = Request::Forget {
        pane_id: "a b".to_owned(),
    }
    .encode(1);
    assert_eq!(
        Request::decode(odd.kind, &odd.body),
        Err(Malformed::Bounds("an id"))
    );
    let flat = Request::Spawn(SpawnRequest {
        pane_id: "p".into(),
        ..SpawnRequest::default()
    })
    .encode(1);
    assert_eq!(
        Request::decode(flat.kind, &flat.body),
        Err(Malformed::Bounds("a size"))
    );
    let mut many = Request::Spawn(SpawnRequest {
        pane_id: "p".into(),
        size: (1, 1),
        ..SpawnRequest::default()
    });
    if let Request::Spawn(spawn) = &mut many {
        spawn.argv = vec![Vec::new(); STRINGS_MAX + 1];
    }
    let many = many.encode(1);
    assert_eq!(
        Request::decode(many.kind, &many.body),
        Err(Malformed::Bounds("a number of strings"))
    );
    assert_eq!(Request::decode(999, &[]), Err(Malformed::Kind(999)));
}
