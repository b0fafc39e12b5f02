//! scratch
#[path = "support/harness.rs"]
mod harness;
#[test]
fn scratch() {
    let world = harness::World::new();
    println!("{:?}", harness::install::CLAUDE.program());
    println!("{:?}", harness::install::CODEX.program());
    let model = harness::model::Model::start(&world, "x");
    println!("{}", model.url);
    let mut desk = harness::Desk::start(&world, "scratch");
    println!("{}", desk.must("tree", serde_json::json!({})));
}
