//! How panes are arranged in tabs and splits. The host keeps it; clients draw it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PaneId;

/// Which way a split divides its space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SplitDirection {
    /// Side by side.
    Right,
    /// One above the other.
    Down,
}

/// A pane, or two parts with a divider between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum LayoutNode {
    /// One pane.
    Pane {
        /// Its id.
        pane_id: PaneId,
    },
    /// Two parts.
    Split {
        /// Which way.
        direction: SplitDirection,
        /// Share of the first part, 0.05 to 0.95.
        share: f64,
        /// Left or upper part.
        first: Box<LayoutNode>,
        /// Right or lower part.
        second: Box<LayoutNode>,
    },
}

/// One tab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tab {
    /// What a person named it; absent: the title of its focused pane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its panes.
    pub root: LayoutNode,
}

/// All tabs, in order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Layout {
    /// The tabs.
    pub tabs: Vec<Tab>,
}
