//! Which pane a word means (specs/020 §2): an id, the beginning of exactly one, or the title of exactly one.

use signaltty_core::client::Client;
use signaltty_core::model::{Pane, PaneId};
use signaltty_core::protocol::method::{Nothing, PaneList};

use super::failure::Failure;
use super::show;

/// The pane that `word` names, as the host has it now.
pub(super) async fn pane(client: &Client, word: &str) -> Result<Pane, Failure> {
    let panes = client.call::<PaneList>(Nothing {}).await?.panes;
    named(panes, word)
}

/// The id of the pane that `word` names; where the host has none of that name, the word is the id of one that
/// is gone.
pub(super) async fn pane_or_gone(client: &Client, word: &str) -> Result<PaneId, Failure> {
    let panes = client.call::<PaneList>(Nothing {}).await?.panes;
    let known = |pane: &Pane| pane.id.as_str().starts_with(word) || pane.title == word;
    match PaneId::new(word) {
        Ok(id) if !panes.iter().any(known) => Ok(id),
        _ => named(panes, word).map(|pane| pane.id),
    }
}

fn named(mut panes: Vec<Pane>, word: &str) -> Result<Pane, Failure> {
    // In this order, so that no program takes over another pane's name by setting a title.
    let rules: [fn(&Pane, &str) -> bool; 3] = [
        |pane, word| pane.id.as_str() == word,
        |pane, word| !word.is_empty() && pane.id.as_str().starts_with(word),
        |pane, word| pane.title == word,
    ];
    for rule in rules {
        let found: Vec<usize> = panes
            .iter()
            .enumerate()
            .filter(|(_, pane)| rule(pane, word))
            .map(|(index, _)| index)
            .collect();
        match found.as_slice() {
            [] => {}
            [only] => return Ok(panes.swap_remove(*only)),
            several => {
                let names: Vec<String> = several
                    .iter()
                    .filter_map(|index| panes.get(*index))
                    .map(|pane| format!("{} ({})", pane.id, show::title(pane)))
                    .collect();
                return Err(Failure::missing(format!(
                    "{word:?} could be {}",
                    names.join(", ")
                )));
            }
        }
    }
    Err(Failure::missing(format!(
        "no pane {word:?}; `signaltty ls` lists them"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn panes(names: &[(&str, &str)]) -> Vec<Pane> {
        let pane = |(id, title): &(&str, &str)| {
            serde_json::from_value(json!({ "id": id, "title": title, "argv": [], "cwd": "/", "lifecycle": "idle",
                "size": { "cols": 80, "rows": 24 }, "attention": [], "queued": 0, "created_at": 0 }))
            .expect("a pane")
        };
        names.iter().map(pane).collect()
    }

    fn find(word: &str) -> Result<String, u8> {
        let all = panes(&[
            ("ab1", "shell"),
            ("ab2", "ab1"),
            ("cd3", "build"),
            ("cd", "ab"),
            ("e", "build"),
        ]);
        named(all, word)
            .map(|pane| pane.id.to_string())
            .map_err(|failure| failure.code)
    }

    #[test]
    fn a_pane_is_named_by_id_beginning_or_title() {
        assert_eq!(find("ab1"), Ok("ab1".into()));
        assert_eq!(find("ab2"), Ok("ab2".into()));
        assert_eq!(find("cd3"), Ok("cd3".into()));
        assert_eq!(find("shell"), Ok("ab1".into()));
    }

    #[test]
    fn an_id_goes_before_the_beginning_of_another() {
        assert_eq!(find("cd"), Ok("cd".into()));
    }

    #[test]
    fn a_title_never_takes_the_name_of_another_pane() {
        assert_eq!(
            find("ab1"),
            Ok("ab1".into()),
            "another pane has this as its title"
        );
        assert_eq!(find("ab"), Err(3), "the beginning of two");
    }

    #[test]
    fn what_names_several_or_none_is_refused() {
        for word in ["build", "ab", "nothing", ""] {
            assert_eq!(find(word), Err(3), "{word:?}");
        }
    }
}
