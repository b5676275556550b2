//! What the engine calls when the extension is loaded.

use super::aggregate::{self, Aggregate};
use super::contain::contain;
use super::fault;
use super::handles::{
    AggregateFunction, AggregateFunctionSet, Connection, ScalarFunction, ScalarFunctionSet,
};
use super::scalar::{self, Scalar, Signature};
use super::table::{self, Parameters, Table};
use crate::error::LoadError;
use duckdb::vtab::VTab;
use libduckdb_sys as sys;
use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The version of the C API whose functions are used, as `package.metadata.duckdb` in Cargo.toml says too.
const C_API_VERSION: &CStr = c"v1.5.6";

/// One function of the engine that this image of the library calls, as an address; 0 before the first LOAD.
///
/// `libduckdb-sys` keeps one table of the engine's functions for each image, and a system's loader gives the same file
/// the same image. So a second engine of the process must not be let in: it would be called by the first one's queries.
static ENGINE: AtomicUsize = AtomicUsize::new(0);

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
            registry.connection.run(c"COMMIT")?;
            loaded = true;
        }
        Ok::<_, LoadError>(())
    });
    loaded
}

/// Where functions are registered: all of them, in one transaction, or none.
pub(crate) struct Registry {
    connection: Connection,
    database: sys::duckdb_database,
}

impl Registry {
    /// Gives `None` when the engine has refused and set the reason itself. The connection is closed when the registry
    /// is dropped, before LOAD returns; what is not committed then is undone.
    ///
    /// # Safety
    ///
    /// As for [`load`].
    unsafe fn open(info: Info, access: *const Access) -> Result<Option<Self>, LoadError> {
        // SAFETY: the pointer is alive during LOAD.
        let get_api = unsafe { (*access).get_api }.ok_or(LoadError::Missing { what: "C API" })?;
        // SAFETY: the engine's own function, with the info that it gave and a C string.
        let api = unsafe { get_api(info, C_API_VERSION.as_ptr()) }.cast::<sys::duckdb_ext_api_v1>();
        if api.is_null() {
            return Ok(None);
        }
        // SAFETY: the table is alive during LOAD, and is one of the version that was asked for.
        let engine = unsafe { (*api).duckdb_connect }.map_or(0, |connect| connect as usize);
        if let Err(first) = ENGINE.compare_exchange(0, engine, Ordering::AcqRel, Ordering::Acquire)
            && first != engine
        {
            return Err(LoadError::SecondEngine);
        }
        let version = C_API_VERSION.to_str().unwrap_or_default();
        // SAFETY: the pointers are alive during LOAD.
        let initialized = unsafe { sys::duckdb_rs_extension_api_init(info, access, version) };
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
        connection.run(c"BEGIN")?;
        Ok(Some(Self { connection, database }))
    }

    /// Adds overloads to the function that they name. An overload whose parameters the engine has already replaces it.
    pub(crate) fn scalars<S: Scalar>(
        &self,
        name: &'static CStr,
        overloads: impl IntoIterator<Item = (Signature, S)>,
    ) -> Result<(), LoadError> {
        let overloads = overloads.into_iter();
        self.scalar_set(name, &mut overloads.map(|(signature, of)| scalar::build(name, &signature, of)))
    }

    // Compiled once, not for each kind of overload.
    fn scalar_set(
        &self,
        name: &'static CStr,
        overloads: &mut dyn Iterator<Item = ScalarFunction>,
    ) -> Result<(), LoadError> {
        let set = ScalarFunctionSet::new(name);
        fault::point(&name.to_string_lossy());
        let refused = || LoadError::Registration { name: name.to_string_lossy().into_owned() };
        for function in overloads {
            // SAFETY: the set and the function are alive; the set keeps a copy, which shares the extra info.
            let state = unsafe { sys::duckdb_add_scalar_function_to_set(set.raw(), function.raw()) };
            (state == sys::DuckDBSuccess).then_some(()).ok_or_else(refused)?;
        }
        // SAFETY: the connection and the set are alive; the catalog keeps a copy of the set.
        let state = unsafe { sys::duckdb_register_scalar_function_set(self.connection.raw(), set.raw()) };
        (state == sys::DuckDBSuccess).then_some(()).ok_or_else(refused)
    }

    /// An aggregate function of this name, to which overloads are to be added. The engine takes all of them at once.
    pub(crate) fn aggregate(&self, name: &'static CStr) -> AggregateOverloads<'_> {
        fault::point(&name.to_string_lossy());
        AggregateOverloads { registry: self, name, set: AggregateFunctionSet::new(name) }
    }

    /// Adds a table function. The engine keeps the first one of a name, and drops others without a word.
    pub(crate) fn table<T: Table>(
        &self,
        name: &'static CStr,
        parameters: &Parameters,
        table: T,
    ) -> Result<(), LoadError> {
        fault::point(&name.to_string_lossy());
        let function = table::build(name, parameters, table);
        // SAFETY: the connection and the function are alive; the catalog keeps a copy, which shares the extra info.
        let state = unsafe { sys::duckdb_register_table_function(self.connection.raw(), function.raw()) };
        let refused = || LoadError::Registration { name: name.to_string_lossy().into_owned() };
        (state == sys::DuckDBSuccess).then_some(()).ok_or_else(refused)
    }

    /// Adds a table function that is written with the `duckdb` crate. It has to be the last one: the crate registers it
    /// on a connection and in a transaction of its own, which is over before the one of all others is.
    pub(crate) fn vtab<T: VTab>(&self, name: &CStr) -> Result<(), LoadError> {
        let name = name.to_string_lossy();
        fault::point(&name);
        let refused = |_| LoadError::Registration { name: name.clone().into_owned() };
        // SAFETY: the database is alive during LOAD. The connection, which is closed when it is dropped here, does not
        // own it.
        let connection = unsafe { duckdb::Connection::open_from_raw(self.database) }.map_err(refused)?;
        connection.register_table_function::<T>(&name).map_err(refused)
    }
}

/// The overloads of an aggregate function.
pub(crate) struct AggregateOverloads<'a> {
    registry: &'a Registry,
    name: &'static CStr,
    set: AggregateFunctionSet,
}

impl AggregateOverloads<'_> {
    /// Adds an overload, unless the running engine lacks one of its types.
    pub(crate) fn with<A: Aggregate>(self, overload: Option<(Signature, A)>) -> Result<Self, LoadError> {
        if let Some((signature, aggregate)) = overload {
            self.add(&aggregate::build(self.name, &signature, aggregate))?;
        }
        Ok(self)
    }

    fn add(&self, function: &AggregateFunction) -> Result<(), LoadError> {
        // SAFETY: the set and the function are alive; the set keeps a copy, which shares the extra info.
        let state = unsafe { sys::duckdb_add_aggregate_function_to_set(self.set.raw(), function.raw()) };
        self.checked(state)
    }

    /// Adds the function.
    pub(crate) fn register(self) -> Result<(), LoadError> {
        let connection = self.registry.connection.raw();
        // SAFETY: the connection and the set are alive; the catalog keeps a copy of the set.
        self.checked(unsafe { sys::duckdb_register_aggregate_function_set(connection, self.set.raw()) })
    }

    fn checked(&self, state: sys::duckdb_state) -> Result<(), LoadError> {
        let refused = || LoadError::Registration { name: self.name.to_string_lossy().into_owned() };
        (state == sys::DuckDBSuccess).then_some(()).ok_or_else(refused)
    }
}

#[cfg(test)]
mod tests {
    /// Cargo.toml is the one place for the version; the packaged file is stamped from there.
    #[test]
    fn the_c_api_version_is_that_of_the_manifest() {
        let manifest = include_str!("../../Cargo.toml");
        assert!(manifest.contains(&format!("capi = \"{}\"", super::C_API_VERSION.to_str().unwrap())));
    }
}
