//! The layout: checked when it is set, pruned when a pane goes.

use super::error::SessionError;
use super::{Session, Step};
use crate::limits::{PANES_MAX, TITLE_MAX};
use crate::model::{Layout, LayoutNode, PaneId};
use crate::protocol::Event;
use crate::sanitise::cut;

/// Splits within splits, at most.
const DEPTH_MAX: usize = 32;

impl Session {
    pub(super) fn set_layout(
        &mut self,
        step: &mut Step<'_>,
        mut layout: Layout,
    ) -> Result<(), SessionError> {
        let bad = |problem: &str| SessionError::BadDecision {
            path: "layout".into(),
            problem: problem.into(),
        };
        if layout.tabs.len() > PANES_MAX {
            return Err(SessionError::Limit {
                what: "tabs",
                limit: PANES_MAX,
            });
        }
        let mut placed = Vec::new();
        for tab in &mut layout.tabs {
            if let Some(title) = &tab.title {
                tab.title =
                    Some(cut(title, TITLE_MAX).into_owned()).filter(|title| !title.is_empty());
            }
            if !tidy(&mut tab.root, DEPTH_MAX, &mut placed) {
                return Err(bad("splits are nested too deep"));
            }
        }
        for (index, pane_id) in placed.iter().enumerate() {
            self.at(pane_id)?;
            if placed[..index].contains(pane_id) {
                return Err(bad(&format!("pane {pane_id} is there twice")));
            }
        }
        if layout != self.layout {
            self.layout = layout;
            step.tell(Event::LayoutChanged {
                layout: self.layout.clone(),
            });
        }
        Ok(())
    }
}

/// Brings shares into their bounds and collects the panes. False if it is too deep.
fn tidy(node: &mut LayoutNode, depth: usize, placed: &mut Vec<PaneId>) -> bool {
    match node {
        LayoutNode::Pane { pane_id } => {
            placed.push(pane_id.clone());
            true
        }
        LayoutNode::Split {
            share,
            first,
            second,
            ..
        } => {
            *share = if share.is_finite() {
                share.clamp(0.05, 0.95)
            } else {
                0.5
            };
            depth > 0 && tidy(first, depth - 1, placed) && tidy(second, depth - 1, placed)
        }
    }
}

/// Takes a pane out; its sibling takes its place, an empty tab goes. True if it was there.
pub(super) fn prune(layout: &mut Layout, pane_id: &PaneId) -> bool {
    let before = layout.clone();
    layout
        .tabs
        .retain_mut(|tab| match without(tab.root.clone(), pane_id) {
            Some(root) => {
                tab.root = root;
                true
            }
            None => false,
        });
    before != *layout
}

/// Takes out the panes that are gone, for a layout that an earlier host left.
#[cfg_attr(
    not(feature = "host"),
    allow(dead_code, reason = "only a host has earlier ones")
)]
pub(crate) fn keep(layout: &mut Layout, exists: impl Fn(&PaneId) -> bool) {
    let mut placed = Vec::new();
    layout
        .tabs
        .retain_mut(|tab| tidy(&mut tab.root, DEPTH_MAX, &mut placed));
    for pane_id in placed.iter().filter(|pane_id| !exists(pane_id)) {
        prune(layout, pane_id);
    }
}

fn without(node: LayoutNode, pane_id: &PaneId) -> Option<LayoutNode> {
    match node {
        LayoutNode::Pane { pane_id: id } if id == *pane_id => None,
        LayoutNode::Pane { .. } => Some(node),
        LayoutNode::Split {
            direction,
            share,
            first,
            second,
        } => match (without(*first, pane_id), without(*second, pane_id)) {
            (Some(first), Some(second)) => Some(LayoutNode::Split {
                direction,
                share,
                first: Box::new(first),
                second: Box::new(second),
            }),
            (one, other) => one.or(other),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn of_a_layout_that_an_earlier_host_left_the_panes_that_are_there_stay() {
        let leaf = |id: &str| json!({ "type": "pane", "pane_id": id });
        let split = |first, second| json!({ "type": "split", "direction": "down", "share": 0.5, "first": first, "second": second });
        let mut layout: Layout = serde_json::from_value(json!({ "tabs": [
            { "title": "mixed", "root": split(leaf("a"), split(leaf("gone"), leaf("b"))) },
            { "root": split(leaf("gone too"), leaf("gone also")) },
            { "root": leaf("c") },
        ] }))
        .unwrap();
        keep(&mut layout, |pane_id| pane_id.as_str().len() == 1);
        let expected = json!({ "tabs": [
            { "title": "mixed", "root": split(leaf("a"), leaf("b")) },
            { "root": leaf("c") },
        ] });
        assert_eq!(serde_json::to_value(&layout).unwrap(), expected);
    }
}
