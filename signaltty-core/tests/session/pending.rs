//! What a decision is: one pending a pane, ids, superseding, the line (`specs/010 §1.1` to `§1.4`).

use super::harness::*;

#[test]
fn an_answered_decision_is_delivered_once_and_cleared() {
    let mut world = World::new();
    let asked = world.held(card("make"), 1);
    let outcome = world.answer(&asked, by_option("allow"));
    assert_eq!(deliveries(&outcome).len(), 1);
    let outcome = world.run(signaltty_core::session::Command::Delivered {
        decision_id: asked.clone(),
    });
    assert_eq!(story(&outcome), [format!("cleared {asked} answered")]);
    assert!(released(&outcome).is_empty());
    assert_eq!(world.pending(), None);
}
