//! What the engine calls when the extension is loaded.

use super::contain::contain;
use super::fault;
use super::handles::{Connection, ScalarFunctionSet};
use super::scalar::{self, Scalar, Signature};
use super::table::{self, Parameters, Table};
use crate::error::LoadError;
use duckdb::vtab::VTab;
use libduckdb_sys as sys;
use std::ffi::CStr;

/// The version of the C API whose functions are used, as `package.metadata.duckdb` in Cargo.toml says too.
const C_API_VERSION: &str = "v1.5.6";

/// What the engine hands over during LOAD, and its functions for it.
pub(crate) use libduckdb_sys::{duckdb_extension_access as Access, duckdb_extension_info as Info};

/// Registers in the engine that loads the extension what `register` adds. Gives `false` when that failed, after the
/// reason was set.
///
/// # Safety
///
/// Both pointers come from the engine, during LOAD, and are alive until this returns.
pub(crate) unsafe fn load(
    info: Info,
    access: *const Access,
    register: impl FnOnce(&Registry) -> Result<(), LoadError>,
) -> bool {
    let mut loaded = false;
    let report = |text: &CStr| {
        // SAFETY: both pointers are alive during LOAD; the text is copied.
        if let Some(set_error) = unsafe { (*access).set_error } {
            // SAFETY: as above.
            unsafe { set_error(info, text.as_ptr()) };
        }
    };
    contain(c"time_bucket", report, || {
        fault::point("load");
        // SAFETY: both pointers are alive during LOAD.
        if let Some(registry) = unsafe { Registry::open(info, access) }? {
            register(&registry)?;
            loaded = true;
        }
        Ok::<_, LoadError>(())
    });
    loaded
}

/// Where functions are registered.
pub(crate) struct Registry {
    connection: Connection,
    database: sys::duckdb_database,
}

impl Registry {
    /// Gives `None` when the engine has refused and set the reason itself. The connection is closed when the registry
    /// is dropped, before LOAD returns.
    ///
    /// # Safety
    ///
    /// As for [`load`].
    unsafe fn open(info: Info, access: *const Access) -> Result<Option<Self>, LoadError> {
        // SAFETY: the pointers are alive during LOAD.
        let initialized = unsafe { sys::duckdb_rs_extension_api_init(info, access, C_API_VERSION) };
        if !initialized.map_err(|_| LoadError::Missing { what: "C API" })? {
            return Ok(None);
        }
        // SAFETY: the pointer is alive during LOAD.
        let get_database =
            unsafe { (*access).get_database }.ok_or(LoadError::Missing { what: "database" })?;
        // SAFETY: the engine's own function, with the info that it gave.
        let database = unsafe { get_database(info) };
        if database.is_null() {
            return Ok(None);
        }
        // SAFETY: the database is alive during LOAD.
        let database = unsafe { *database };
        // SAFETY: as above.
        let connection = unsafe { Connection::open(database) }?;
        Ok(Some(Self { connection, database }))
    }

    /// Adds overloads to the function that they name. An overload whose parameters the engine has already replaces it.
    pub(crate) fn scalars<S: Scalar>(
        &self,
        name: &'static CStr,
        overloads: impl IntoIterator<Item = (Signature, S)>,
    ) -> Result<(), LoadError> {
        let set = ScalarFunctionSet::new(name);
        fault::point("register");
        let refused = || LoadError::Registration { name: name.to_string_lossy().into_owned() };
        for (signature, overload) in overloads {
            let function = scalar::build(&signature, overload);
            // SAFETY: the set and the function are alive; the set keeps a copy, which shares the extra info.
            let state = unsafe { sys::duckdb_add_scalar_function_to_set(set.raw(), function.raw()) };
            (state == sys::DuckDBSuccess).then_some(()).ok_or_else(refused)?;
        }
        // SAFETY: the connection and the set are alive; the catalog keeps a copy of the set.
        let state = unsafe { sys::duckdb_register_scalar_function_set(self.connection.raw(), set.raw()) };
        (state == sys::DuckDBSuccess).then_some(()).ok_or_else(refused)
    }

    /// Adds a table function. The engine keeps the first one of a name, and drops others without a word.
    pub(crate) fn table<T: Table>(&self, parameters: &Parameters, table: T) -> Result<(), LoadError> {
        let name = table.name();
        let function = table::build(parameters, table);
        // SAFETY: the connection and the function are alive; the catalog keeps a copy, which shares the extra info.
        let state = unsafe { sys::duckdb_register_table_function(self.connection.raw(), function.raw()) };
        let refused = || LoadError::Registration { name: name.to_string_lossy().into_owned() };
        (state == sys::DuckDBSuccess).then_some(()).ok_or_else(refused)
    }

    /// Adds a table function that is written with the `duckdb` crate.
    pub(crate) fn vtab<T: VTab>(&self, name: &str) -> Result<(), LoadError> {
        let refused = |_| LoadError::Registration { name: name.to_owned() };
        // SAFETY: the database is alive during LOAD. The connection, which is closed when it is dropped here, does not
        // own it.
        let connection = unsafe { duckdb::Connection::open_from_raw(self.database) }.map_err(refused)?;
        connection.register_table_function::<T>(name).map_err(refused)
    }
}

#[cfg(test)]
mod tests {
    /// Cargo.toml is the one place for the version; the packaged file is stamped from there.
    #[test]
    fn the_c_api_version_is_that_of_the_manifest() {
        let manifest = include_str!("../../Cargo.toml");
        assert!(manifest.contains(&format!("capi = \"{}\"", super::C_API_VERSION)));
    }
}
