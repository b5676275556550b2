//! `time_bucket_macros`: the texts in `sql/macros`, so that the binary alone is enough.

use crate::error::LoadError;
use crate::ffi::{Registry, contained, fault_point};
use duckdb::core::{DataChunkHandle, Inserter, LogicalTypeHandle, LogicalTypeId};
use duckdb::vtab::{BindInfo, InitInfo, TableFunctionInfo, VTab};
use std::error::Error;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

const NAME: &CStr = c"time_bucket_macros";

/// The names and the texts of the macros that have a file of their name.
macro_rules! files {
    ($($name:literal)*) => { &[$(($name, include_str!(concat!("../../sql/macros/", $name, ".sql")))),*] };
}

/// The macros, in the order in which people need them. A text is comment lines and one statement.
const MACROS: &[(&str, &str)] = files![
    "tumble"
    "hop"
    "cumulate"
    "sessions"
    "gapfill"
    "pane_rows"
    "panes_live"
    "rolling_panes"
    "window_at"
    "merge_panes"
    "window_candidates"
];

/// Registers the function.
pub(super) fn register(registry: &Registry) -> Result<(), LoadError> {
    registry.vtab::<Macros>(NAME)
}

/// The table function. Its one call needs no argument, so that the crate's trait serves.
struct Macros;

impl VTab for Macros {
    type InitData = AtomicBool;
    type BindData = ();

    fn bind(bind: &BindInfo) -> Result<(), Box<dyn Error>> {
        contained(NAME, || {
            fault_point("macros bind");
            for name in ["name", "sql"] {
                bind.add_result_column(name, LogicalTypeHandle::from(LogicalTypeId::Varchar));
            }
        })
    }

    fn init(_: &InitInfo) -> Result<AtomicBool, Box<dyn Error>> {
        contained(NAME, || {
            fault_point("macros init");
            AtomicBool::new(false)
        })
    }

    fn func(info: &TableFunctionInfo<Self>, output: &mut DataChunkHandle) -> Result<(), Box<dyn Error>> {
        contained(NAME, || {
            fault_point("macros produce");
            let mut rows = 0;
            // All macros fit into one chunk.
            if !info.get_init_data().swap(true, Ordering::Relaxed) {
                let (names, texts) = (output.flat_vector(0), output.flat_vector(1));
                for (row, (name, text)) in MACROS.iter().enumerate() {
                    names.insert(row, *name);
                    texts.insert(row, text.trim_end());
                }
                rows = MACROS.len();
            }
            output.set_len(rows);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::MACROS;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_file_is_a_macro_of_its_name() {
        for (name, text) in MACROS {
            let mut statements = text.lines().filter(|line| !line.starts_with("--"));
            let create = format!("CREATE OR REPLACE MACRO {name}(");
            assert!(statements.next().is_some_and(|line| line.starts_with(&create)), "{name}");
            assert_eq!(text.matches("CREATE OR REPLACE MACRO").count(), 1, "{name}");
            assert!(text.starts_with("-- ") && text.ends_with(";\n"), "{name}");
        }
    }

    #[test]
    fn no_file_is_left_out() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql/macros");
        let files = std::fs::read_dir(folder)
            .expect("the folder is there")
            .map(|file| file.expect("a file").file_name());
        let files: BTreeSet<_> = files.map(|file| file.to_string_lossy().into_owned()).collect();
        assert_eq!(files, MACROS.iter().map(|(name, _)| format!("{name}.sql")).collect());
    }
}
