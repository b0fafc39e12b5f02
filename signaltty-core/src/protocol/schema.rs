//! The schema of the protocol, printed from its types.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json, json};

use super::{ErrorCode, Event, PROTOCOL, PROTOCOL_MIN, method};

/// One JSON document: every method with parameters and result, every event, every error code.
pub fn document() -> Json {
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    let mut methods = Map::new();
    for (name, params, reply) in method::describe(&mut generator) {
        methods.insert(name.into(), json!({ "params": params, "result": reply }));
    }
    let events = generator.subschema_for::<Event>();
    let errors = generator.subschema_for::<ErrorCode>();
    let definitions = generator.take_definitions(true);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "SignalTTY host protocol",
        "protocol": PROTOCOL,
        "protocol_min": PROTOCOL_MIN,
        "methods": methods,
        "events": events,
        "errors": errors,
        "$defs": definitions,
    })
}
