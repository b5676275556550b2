//! `time_bucket_macros`: the text of `sql/windows.sql`, so that the binary alone is enough.

use crate::error::Result;
use crate::ffi::Registry;
use duckdb::core::{DataChunkHandle, Inserter, LogicalTypeHandle, LogicalTypeId};
use duckdb::vtab::{BindInfo, InitInfo, TableFunctionInfo, VTab};
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};

/// The macros. Each is its comment lines and one CREATE MACRO statement that ends with `;` at the end of a line; a
/// blank line separates two macros, and what the file says before the first one.
const WINDOWS: &str = include_str!("../../sql/windows.sql");

/// Registers the function.
pub(super) fn register(registry: &Registry) -> Result<()> {
    registry.vtab::<Macros>("time_bucket_macros")
}

/// The name and the text of each macro in a file of such macros.
fn split(file: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = file;
    std::iter::from_fn(move || {
        let (text, after) = match rest.split_once(";\n\n") {
            Some((text, after)) => (&rest[..=text.len()], after),
            None => (rest.trim_end(), ""),
        };
        rest = after;
        (!text.is_empty()).then_some(text)
    })
    .filter_map(|text| {
        let (before, after) = text.split_once(CREATE)?;
        let header = before.rfind("\n\n").map_or(0, |end| end + 2);
        Some((after.split_once('(')?.0.trim(), &text[header..]))
    })
}

/// How each statement begins, so that loading the file twice is harmless.
const CREATE: &str = "CREATE OR REPLACE MACRO ";

/// The table function. Its one call needs no argument, so that the crate's trait serves.
struct Macros;

impl VTab for Macros {
    type InitData = AtomicBool;
    type BindData = ();

    fn bind(bind: &BindInfo) -> std::result::Result<(), Box<dyn Error>> {
        for name in ["name", "sql"] {
            bind.add_result_column(name, LogicalTypeHandle::from(LogicalTypeId::Varchar));
        }
        Ok(())
    }

    fn init(_: &InitInfo) -> std::result::Result<AtomicBool, Box<dyn Error>> {
        Ok(AtomicBool::new(false))
    }

    fn func(
        info: &TableFunctionInfo<Self>,
        output: &mut DataChunkHandle,
    ) -> std::result::Result<(), Box<dyn Error>> {
        let mut rows = 0;
        // All macros fit into one chunk.
        if !info.get_init_data().swap(true, Ordering::Relaxed) {
            let (names, texts) = (output.flat_vector(0), output.flat_vector(1));
            for (name, text) in split(WINDOWS) {
                names.insert(rows, name);
                texts.insert(rows, text);
                rows += 1;
            }
        }
        output.set_len(rows);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{CREATE, WINDOWS, split};

    #[test]
    fn a_file_is_split_at_its_statements() {
        let file = "-- About the file.\n\n-- One.\nCREATE OR REPLACE MACRO one(a) AS\n\na;\n\n-- Two.\n\
                    CREATE OR REPLACE MACRO two() AS TABLE SELECT 1;\n";
        let macros: Vec<_> = split(file).collect();
        assert_eq!(macros[0], ("one", "-- One.\nCREATE OR REPLACE MACRO one(a) AS\n\na;"));
        assert_eq!(macros[1], ("two", "-- Two.\nCREATE OR REPLACE MACRO two() AS TABLE SELECT 1;"));
        assert_eq!(macros.len(), 2);
    }

    #[test]
    fn every_macro_of_the_file_is_returned_whole() {
        let macros: Vec<_> = split(WINDOWS).collect();
        assert_eq!(macros.len(), WINDOWS.matches(CREATE).count());
        let texts: Vec<_> = macros.iter().map(|(_, text)| *text).collect();
        assert!(WINDOWS.ends_with(&format!("{}\n", texts.join("\n\n"))));
        for (name, text) in macros {
            assert!(text.starts_with("--") && text.ends_with(';'), "{text}");
            assert!(name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_'), "{name}");
        }
    }
}
