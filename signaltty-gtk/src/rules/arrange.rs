//! The arrangement of panes in tabs and splits: what is shown of the host's layout, and how it is changed.

use signaltty_core::model::{Layout, LayoutNode, PaneId, SplitDirection, Tab};

/// The least and the greatest share of a split's first part.
const SHARE_MIN: f64 = 0.05;
const SHARE_MAX: f64 = 0.95;

/// The layout as it can be shown: without panes that are not there, and a tab of its own for each that the
/// layout does not name.
pub fn shown(layout: &Layout, panes: &[PaneId]) -> Layout {
    let mut seen: Vec<PaneId> = Vec::new();
    let mut tabs = Vec::new();
    for tab in &layout.tabs {
        if let Some(root) = kept(&tab.root, &mut |id| {
            let keep = panes.contains(id) && !seen.contains(id);
            if keep {
                seen.push(id.clone());
            }
            keep
        }) {
            tabs.push(Tab {
                title: tab.title.clone(),
                root,
            });
        }
    }
    for pane in panes.iter().filter(|pane| !seen.contains(pane)) {
        tabs.push(Tab {
            title: None,
            root: LayoutNode::Pane {
                pane_id: pane.clone(),
            },
        });
    }
    Layout { tabs }
}

/// The layout with a pane beside another: in the same tab, each with half of the room.
pub fn split(layout: &Layout, at: &PaneId, direction: SplitDirection, new: &PaneId) -> Layout {
    let mut layout = without(layout, new);
    for tab in &mut layout.tabs {
        if panes_of(&tab.root).contains(at) {
            tab.root = halved(&tab.root, at, direction, new);
        }
    }
    layout
}

/// The layout without a pane: its sibling takes its room.
pub fn without(layout: &Layout, gone: &PaneId) -> Layout {
    let tabs = layout.tabs.iter().filter_map(|tab| {
        kept(&tab.root, &mut |id| id != gone).map(|root| Tab {
            title: tab.title.clone(),
            root,
        })
    });
    Layout {
        tabs: tabs.collect(),
    }
}

/// The layout with another share for the split that holds both panes nearest to their common root.
pub fn resized(layout: &Layout, first: &PaneId, second: &PaneId, share: f64) -> Layout {
    let share = share.clamp(SHARE_MIN, SHARE_MAX);
    let tabs = layout.tabs.iter();
    Layout {
        tabs: tabs
            .map(|tab| Tab {
                title: tab.title.clone(),
                root: reshared(&tab.root, first, second, share),
            })
            .collect(),
    }
}

/// A split, by the first pane of each of its parts.
pub type Divider = (PaneId, PaneId);

/// Whether two parts of a layout differ in nothing but where their dividers are.
pub fn same_shape(one: &LayoutNode, other: &LayoutNode) -> bool {
    match (one, other) {
        (LayoutNode::Pane { pane_id: one }, LayoutNode::Pane { pane_id: other }) => one == other,
        (
            LayoutNode::Split {
                direction: one,
                first: first_one,
                second: second_one,
                ..
            },
            LayoutNode::Split {
                direction: other,
                first: first_other,
                second: second_other,
                ..
            },
        ) => {
            one == other
                && same_shape(first_one, first_other)
                && same_shape(second_one, second_other)
        }
        _ => false,
    }
}

/// Every split of a part of the layout with its share.
pub fn dividers(node: &LayoutNode) -> Vec<(Divider, f64)> {
    let LayoutNode::Split {
        share,
        first,
        second,
        ..
    } = node
    else {
        return Vec::new();
    };
    let own = divider(first, second).map(|divider| (divider, *share));
    own.into_iter()
        .chain(dividers(first))
        .chain(dividers(second))
        .collect()
}

/// The split between two parts.
pub fn divider(first: &LayoutNode, second: &LayoutNode) -> Option<Divider> {
    panes_of(first)
        .into_iter()
        .next()
        .zip(panes_of(second).into_iter().next())
}

/// The panes of a part of the layout, in reading order.
pub fn panes_of(node: &LayoutNode) -> Vec<PaneId> {
    match node {
        LayoutNode::Pane { pane_id } => vec![pane_id.clone()],
        LayoutNode::Split { first, second, .. } => {
            let mut panes = panes_of(first);
            panes.extend(panes_of(second));
            panes
        }
    }
}

fn kept(node: &LayoutNode, keep: &mut impl FnMut(&PaneId) -> bool) -> Option<LayoutNode> {
    match node {
        LayoutNode::Pane { pane_id } => keep(pane_id).then(|| node.clone()),
        LayoutNode::Split {
            direction,
            share,
            first,
            second,
        } => match (kept(first, keep), kept(second, keep)) {
            (Some(first), Some(second)) => Some(LayoutNode::Split {
                direction: *direction,
                share: *share,
                first: Box::new(first),
                second: Box::new(second),
            }),
            (one, other) => one.or(other),
        },
    }
}

fn halved(node: &LayoutNode, at: &PaneId, direction: SplitDirection, new: &PaneId) -> LayoutNode {
    match node {
        LayoutNode::Pane { pane_id } if pane_id == at => LayoutNode::Split {
            direction,
            share: 0.5,
            first: Box::new(node.clone()),
            second: Box::new(LayoutNode::Pane {
                pane_id: new.clone(),
            }),
        },
        LayoutNode::Pane { .. } => node.clone(),
        LayoutNode::Split {
            direction: own,
            share,
            first,
            second,
        } => LayoutNode::Split {
            direction: *own,
            share: *share,
            first: Box::new(halved(first, at, direction, new)),
            second: Box::new(halved(second, at, direction, new)),
        },
    }
}

fn reshared(node: &LayoutNode, one: &PaneId, other: &PaneId, new_share: f64) -> LayoutNode {
    let LayoutNode::Split {
        direction,
        share,
        first,
        second,
    } = node
    else {
        return node.clone();
    };
    let ours = panes_of(first).contains(one) && panes_of(second).contains(other);
    LayoutNode::Split {
        direction: *direction,
        share: if ours { new_share } else { *share },
        first: Box::new(reshared(first, one, other, new_share)),
        second: Box::new(reshared(second, one, other, new_share)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> PaneId {
        PaneId::from_trusted(text)
    }

    fn ids(texts: &[&str]) -> Vec<PaneId> {
        texts.iter().copied().map(id).collect()
    }

    fn pane(text: &str) -> LayoutNode {
        LayoutNode::Pane { pane_id: id(text) }
    }

    fn tabs(roots: Vec<LayoutNode>) -> Layout {
        Layout {
            tabs: roots
                .into_iter()
                .map(|root| Tab { title: None, root })
                .collect(),
        }
    }

    #[test]
    fn a_pane_that_the_layout_does_not_name_gets_a_tab() {
        assert_eq!(
            shown(&Layout::default(), &ids(&["a", "b"])),
            tabs(vec![pane("a"), pane("b")])
        );
    }

    #[test]
    fn a_split_halves_the_pane_and_keeps_its_tab() {
        let layout = split(
            &tabs(vec![pane("a"), pane("b")]),
            &id("a"),
            SplitDirection::Down,
            &id("c"),
        );
        assert_eq!(layout.tabs.len(), 2);
        assert_eq!(
            layout.tabs.first().map(|tab| panes_of(&tab.root)),
            Some(ids(&["a", "c"]))
        );
    }

    #[test]
    fn a_pane_that_goes_leaves_its_room_to_its_sibling() {
        let layout = split(
            &tabs(vec![pane("a")]),
            &id("a"),
            SplitDirection::Right,
            &id("b"),
        );
        assert_eq!(without(&layout, &id("a")), tabs(vec![pane("b")]));
        assert_eq!(shown(&layout, &ids(&["a"])), tabs(vec![pane("a")]));
        assert_eq!(without(&tabs(vec![pane("a")]), &id("a")), Layout::default());
    }

    #[test]
    fn moving_a_divider_changes_no_shape_and_another_split_does() {
        let layout = split(
            &tabs(vec![pane("a")]),
            &id("a"),
            SplitDirection::Right,
            &id("b"),
        );
        let moved = resized(&layout, &id("a"), &id("b"), 0.3);
        let (before, after) = (&layout.tabs[0].root, &moved.tabs[0].root);
        assert!(same_shape(before, after));
        assert_eq!(dividers(after), [((id("a"), id("b")), 0.3)]);
        let other = split(
            &tabs(vec![pane("a")]),
            &id("a"),
            SplitDirection::Down,
            &id("b"),
        );
        assert!(!same_shape(before, &other.tabs[0].root));
    }

    #[test]
    fn a_pane_named_twice_is_shown_once() {
        assert_eq!(
            shown(&tabs(vec![pane("a"), pane("a")]), &ids(&["a"])),
            tabs(vec![pane("a")])
        );
    }

    #[test]
    fn a_divider_moves_its_own_split_only_and_within_bounds() {
        let layout = split(
            &tabs(vec![pane("a")]),
            &id("a"),
            SplitDirection::Right,
            &id("b"),
        );
        let layout = split(&layout, &id("b"), SplitDirection::Down, &id("c"));
        let layout = resized(&layout, &id("b"), &id("c"), 2.0);
        let Some(LayoutNode::Split { share, second, .. }) =
            layout.tabs.first().map(|tab| tab.root.clone())
        else {
            panic!("the root is a split");
        };
        assert!((share - 0.5).abs() < f64::EPSILON);
        assert!(
            matches!(*second, LayoutNode::Split { share, .. } if (share - SHARE_MAX).abs() < f64::EPSILON)
        );
    }
}
