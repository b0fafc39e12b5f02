-- Times are milliseconds since the Unix epoch.
CREATE TABLE panes (
    pane_id     TEXT PRIMARY KEY,
    program     TEXT NOT NULL,
    cwd         TEXT NOT NULL,
    agent       TEXT,
    session_id  TEXT,
    created_at  INTEGER NOT NULL,
    exit_code   INTEGER,
    exit_signal INTEGER,
    closed_at   INTEGER
) STRICT;
CREATE INDEX panes_closed ON panes (closed_at) WHERE closed_at IS NOT NULL;

CREATE TABLE decisions (
    seq           INTEGER PRIMARY KEY,
    decision_id   TEXT NOT NULL,
    pane_id       TEXT NOT NULL,
    agent         TEXT NOT NULL,
    session_id    TEXT,
    kind          TEXT NOT NULL,
    prompt        TEXT NOT NULL,
    subject       TEXT,
    asked_at      INTEGER NOT NULL,
    ended_at      INTEGER,
    reason        TEXT,
    applied       TEXT,
    applied_label TEXT,
    answered_by   TEXT,
    via           TEXT,
    latency_ms    INTEGER
) STRICT;
-- One that came back to the next host is one; an id that is used again much later is another.
CREATE UNIQUE INDEX decisions_open ON decisions (decision_id) WHERE ended_at IS NULL;
CREATE INDEX decisions_host_ended ON decisions (decision_id) WHERE reason = 'host_ended';
CREATE INDEX decisions_ended ON decisions (ended_at, seq) WHERE ended_at IS NOT NULL;
CREATE INDEX decisions_pane ON decisions (pane_id, ended_at, seq) WHERE ended_at IS NOT NULL;

CREATE TABLE layout (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    layout   TEXT NOT NULL
) STRICT;
