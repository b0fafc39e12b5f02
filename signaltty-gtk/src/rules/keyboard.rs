//! Where the keyboard goes when another pane comes to be shown.
//!
//! A terminal takes whatever is typed on, and the Enter after it, for an answer to what its program asks. So the
//! keyboard goes into one only where a person chose that very pane (specs/030).

/// Why a pane is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// A person chose it: by its row, its tab, its notification, by jumping to it or by opening it.
    Chosen,
    /// A person moves along the list of panes, and the keyboard is in that list.
    Browsed,
    /// A process called for it. Any may, an agent's too.
    Called,
    /// A person closed the one before it, here.
    ClosedHere,
    /// The one before it is gone: with its question, or closed elsewhere.
    Vanished,
    /// The arrangement is another one.
    Moved,
}

/// Where the keyboard goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyboard {
    /// Into the pane's terminal.
    Terminal,
    /// To the pane's strip, where keys do nothing.
    Strip,
    /// Nowhere: it stays where it is.
    Stays,
}

/// Where the keyboard goes with a pane that is shown. `adrift`: it was in what is no longer there, or nowhere.
pub fn goes(why: Shown, adrift: bool) -> Keyboard {
    match why {
        Shown::Chosen => Keyboard::Terminal,
        Shown::Called => Keyboard::Strip,
        Shown::Browsed => Keyboard::Stays,
        Shown::ClosedHere if adrift => Keyboard::Terminal,
        Shown::Vanished | Shown::Moved if adrift => Keyboard::Strip,
        Shown::ClosedHere | Shown::Vanished | Shown::Moved => Keyboard::Stays,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_sentence_goes_into_no_terminal_when_its_pane_goes() {
        assert_eq!(goes(Shown::Vanished, true), Keyboard::Strip);
        assert_eq!(goes(Shown::Moved, true), Keyboard::Strip);
    }

    #[test]
    fn a_person_who_is_elsewhere_is_not_fetched() {
        for why in [Shown::Vanished, Shown::Moved, Shown::ClosedHere] {
            assert_eq!(goes(why, false), Keyboard::Stays, "{why:?}");
        }
    }

    #[test]
    fn looking_along_the_list_moves_no_keyboard() {
        assert_eq!(goes(Shown::Browsed, false), Keyboard::Stays);
        assert_eq!(goes(Shown::Browsed, true), Keyboard::Stays);
    }

    #[test]
    fn a_process_that_calls_for_a_pane_gets_no_keyboard_into_its_terminal() {
        assert_eq!(goes(Shown::Called, false), Keyboard::Strip);
    }

    #[test]
    fn whoever_chooses_or_closes_a_pane_types_on_in_a_terminal() {
        assert_eq!(goes(Shown::Chosen, false), Keyboard::Terminal);
        assert_eq!(goes(Shown::ClosedHere, true), Keyboard::Terminal);
    }
}
