//! The part of DuckDB's C API that it takes to run SQL, out of a library that is opened by path.
//!
//! Each handle closes itself, and borrows what it needs to live. This is the crate's only file with `unsafe`; it rests on the
//! signatures of `duckdb.h`, which are the same in every version that has the functions.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::marker::PhantomData;
use std::ptr::null_mut;

use libloading::Library;

type Handle = *mut c_void;
type Text = *const c_char;
type State = u32;

/// `duckdb_result`.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawResult {
    deprecated: [Handle; 5],
    internal: Handle,
}

macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of the library, by their names without `duckdb_`.
        #[derive(Clone, Copy)]
        struct Functions { $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)* }

        impl Functions {
            fn of(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    // SAFETY: `duckdb.h` declares the function of this name with these types.
                    $($name: *unsafe { library.get(concat!("duckdb_", stringify!($name)).as_bytes())? },)*
                })
            }
        }
    };
}

functions! {
    library_version() -> Text;
    create_config(*mut Handle) -> State;
    set_config(Handle, Text, Text) -> State;
    destroy_config(*mut Handle);
    open_ext(Text, *mut Handle, Handle, *mut *mut c_char) -> State;
    close(*mut Handle);
    connect(Handle, *mut Handle) -> State;
    disconnect(*mut Handle);
    free(*mut c_void);
    query(Handle, Text, *mut RawResult) -> State;
    result_error(*mut RawResult) -> Text;
    destroy_result(*mut RawResult);
    column_count(*mut RawResult) -> u64;
    column_type(*mut RawResult, u64) -> u32;
    column_logical_type(*mut RawResult, u64) -> Handle;
    destroy_logical_type(*mut Handle);
    fetch_chunk(RawResult) -> Handle;
    destroy_data_chunk(*mut Handle);
    data_chunk_get_size(Handle) -> u64;
    data_chunk_get_vector(Handle, u64) -> Handle;
    vector_get_data(Handle) -> *mut c_void;
    vector_get_validity(Handle) -> *mut u64;
    extract_statements(Handle, Text, *mut Handle) -> u64;
    extract_statements_error(Handle) -> Text;
    destroy_extracted(*mut Handle);
    prepare_extracted_statement(Handle, Handle, u64, *mut Handle) -> State;
    prepare_error(Handle) -> Text;
    prepared_statement_type(Handle) -> u32;
    prepared_statement_column_count(Handle) -> u64;
    execute_prepared(Handle, *mut RawResult) -> State;
    destroy_prepare(*mut Handle);
    appender_create_query(Handle, Text, u64, *mut Handle, Text, *const Text, *mut Handle) -> State;
    append_data_chunk(Handle, Handle) -> State;
    appender_close(Handle) -> State;
    appender_error(Handle) -> Text;
    appender_destroy(*mut Handle) -> State;
}

/// Why there is no answer: what a user of the engine sees, or a fault of this program.
pub enum Error {
    Sql(String),
    Driver(String),
}

/// The rows of one statement, as text.
#[derive(Default)]
pub struct Answer {
    pub columns: usize,
    pub rows: Vec<Vec<String>>,
}

/// What a statement is, as far as its answer has to be had in another way.
#[derive(PartialEq, Eq)]
pub enum Kind {
    Select,
    Create,
    Other,
}

// Of `duckdb_type`.
const BOOLEAN: u32 = 1;
const BIGINT: u32 = 5;
const VARCHAR: u32 = 17;

fn c_text(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::Driver("a NUL in a text".into()))
}

/// # Safety
///
/// `text` is null or ends in a NUL.
unsafe fn owned(text: Text) -> String {
    if text.is_null() {
        return "an error without a text".into();
    }
    // SAFETY: the caller's.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A library of DuckDB.
pub struct Engine {
    functions: Functions,
    // In this order: an engine's threads may run its code until the end.
    _library: std::mem::ManuallyDrop<Library>,
}

impl Engine {
    /// Opens the library, after one that has the names that it needs and nothing else has.
    pub fn load(library: &OsStr, names: Option<&OsStr>) -> Result<Self, Box<dyn std::error::Error>> {
        if let Some(names) = names {
            std::mem::forget(open(names)?);
        }
        let library = open(library)?;
        Ok(Self { functions: Functions::of(&library)?, _library: std::mem::ManuallyDrop::new(library) })
    }

    pub fn version(&self) -> String {
        // SAFETY: a text of the library's own.
        unsafe { owned((self.functions.library_version)()) }.trim_start_matches('v').to_owned()
    }

    /// Opens a database; an empty path is one in memory.
    pub fn open<'a>(
        &self,
        path: &str,
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Database<'_>, Error> {
        let f = &self.functions;
        let path = c_text(path)?;
        let (mut config, mut database, mut error) = (null_mut(), null_mut(), null_mut());
        // SAFETY: handles of the library's own, each destroyed once; the texts live until the calls return.
        let state = unsafe {
            (f.create_config)(&mut config);
            for (name, value) in settings {
                (f.set_config)(config, c_text(name)?.as_ptr(), c_text(value)?.as_ptr());
            }
            let state = (f.open_ext)(path.as_ptr(), &mut database, config, &mut error);
            (f.destroy_config)(&mut config);
            state
        };
        if state == 0 {
            return Ok(Database { functions: f, handle: database });
        }
        // SAFETY: the engine's text, which is freed once.
        unsafe {
            let text = owned(error);
            (f.free)(error.cast());
            Err(Error::Sql(text))
        }
    }
}

#[cfg(unix)]
fn open(path: &OsStr) -> Result<Library, libloading::Error> {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY};
    // SAFETY: DuckDB's library, whose initialisers are those that every program that uses it runs; lazily, so that a function that
    // nobody calls need not be there, and for all, so that the next library finds the names.
    unsafe { Library::open(Some(path), RTLD_LAZY | RTLD_GLOBAL) }.map(Into::into)
}

#[cfg(windows)]
fn open(path: &OsStr) -> Result<Library, libloading::Error> {
    // SAFETY: as above.
    unsafe { Library::new(path) }
}

/// An open database.
pub struct Database<'a> {
    functions: &'a Functions,
    handle: Handle,
}

impl<'a> Database<'a> {
    pub fn connect(&self) -> Result<Connection<'a>, Error> {
        let mut handle = null_mut();
        // SAFETY: an open database, which a connection keeps open.
        if unsafe { (self.functions.connect)(self.handle, &mut handle) } != 0 {
            return Err(Error::Driver("no connection".into()));
        }
        Ok(Connection { functions: self.functions, handle })
    }
}

impl Drop for Database<'_> {
    fn drop(&mut self) {
        // SAFETY: closed once.
        unsafe { (self.functions.close)(&mut self.handle) };
    }
}

/// A connection, with its transaction, settings and temporary tables.
pub struct Connection<'a> {
    functions: &'a Functions,
    handle: Handle,
}

impl<'a> Connection<'a> {
    /// Runs one statement or several; the rows of the last.
    pub fn run(&self, sql: &str) -> Result<Rows<'a>, Error> {
        let sql = c_text(sql)?;
        // SAFETY: an open connection, and a text that lives until the call returns.
        Rows::of(self.functions, |raw| unsafe { (self.functions.query)(self.handle, sql.as_ptr(), raw) })
    }

    pub fn extract(&self, sql: &str) -> Result<Statements<'_>, Error> {
        let (f, sql) = (self.functions, c_text(sql)?);
        let mut handle = null_mut();
        // SAFETY: as in `run`.
        let count = unsafe { (f.extract_statements)(self.handle, sql.as_ptr(), &mut handle) };
        let statements = Statements { connection: self, handle, count };
        // SAFETY: an open handle; the text is its own.
        let error = unsafe { (f.extract_statements_error)(handle) };
        if error.is_null() {
            return Ok(statements);
        }
        // SAFETY: the same text.
        Err(Error::Sql(unsafe { owned(error) }))
    }

    /// Runs `sql`, in which `appended_data` has the rows.
    pub fn append(&self, sql: &str, rows: &mut Rows<'_>) -> Result<(), Error> {
        let (f, sql) = (self.functions, c_text(sql)?);
        // SAFETY: types and chunks of an open result, destroyed once each, and an appender that lives as long as it is used.
        unsafe {
            let mut types: Vec<Handle> = (0..rows.columns())
                .map(|column| (f.column_logical_type)(&mut rows.raw, column as u64))
                .collect();
            let mut appender = null_mut();
            let mut state = (f.appender_create_query)(
                self.handle,
                sql.as_ptr(),
                types.len() as u64,
                types.as_mut_ptr(),
                std::ptr::null(),
                std::ptr::null(),
                &mut appender,
            );
            while state == 0 {
                let mut chunk = (f.fetch_chunk)(rows.raw);
                if chunk.is_null() {
                    state = (f.appender_close)(appender);
                    break;
                }
                state = (f.append_data_chunk)(appender, chunk);
                (f.destroy_data_chunk)(&mut chunk);
            }
            let error = (state != 0).then(|| owned((f.appender_error)(appender)));
            (f.appender_destroy)(&mut appender);
            types.iter_mut().for_each(|kind| (f.destroy_logical_type)(kind));
            error.map_or(Ok(()), |error| Err(Error::Driver(error)))
        }
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        // SAFETY: closed once.
        unsafe { (self.functions.disconnect)(&mut self.handle) };
    }
}

/// The statements of a text.
pub struct Statements<'a> {
    connection: &'a Connection<'a>,
    handle: Handle,
    count: u64,
}

impl Statements<'_> {
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Binds one of them, which those before it may have made possible.
    pub fn prepare(&self, index: u64) -> Result<Prepared<'_>, Error> {
        let f = self.connection.functions;
        let mut handle = null_mut();
        // SAFETY: open handles, and an index that the engine checks.
        let state = unsafe {
            (f.prepare_extracted_statement)(self.connection.handle, self.handle, index, &mut handle)
        };
        let prepared = Prepared { functions: f, handle, lives: PhantomData };
        if state == 0 {
            return Ok(prepared);
        }
        // SAFETY: a handle is there after a failure too, to ask for its text.
        Err(Error::Sql(unsafe { owned((f.prepare_error)(handle)) }))
    }
}

impl Drop for Statements<'_> {
    fn drop(&mut self) {
        // SAFETY: destroyed once.
        unsafe { (self.connection.functions.destroy_extracted)(&mut self.handle) };
    }
}

/// A bound statement.
pub struct Prepared<'a> {
    functions: &'a Functions,
    handle: Handle,
    lives: PhantomData<&'a ()>,
}

impl<'a> Prepared<'a> {
    pub fn kind(&self) -> Kind {
        // SAFETY: an open handle.
        match unsafe { (self.functions.prepared_statement_type)(self.handle) } {
            1 => Kind::Select,
            7 => Kind::Create,
            _ => Kind::Other,
        }
    }

    pub fn columns(&self) -> u64 {
        // SAFETY: an open handle.
        unsafe { (self.functions.prepared_statement_column_count)(self.handle) }
    }

    pub fn execute(&self) -> Result<Rows<'a>, Error> {
        // SAFETY: an open handle.
        Rows::of(self.functions, |raw| unsafe { (self.functions.execute_prepared)(self.handle, raw) })
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        // SAFETY: destroyed once.
        unsafe { (self.functions.destroy_prepare)(&mut self.handle) };
    }
}

/// A result, whose rows can be had once.
pub struct Rows<'a> {
    functions: &'a Functions,
    raw: RawResult,
}

impl<'a> Rows<'a> {
    fn of(functions: &'a Functions, run: impl FnOnce(*mut RawResult) -> State) -> Result<Self, Error> {
        let mut rows =
            Self { functions, raw: RawResult { deprecated: [null_mut(); 5], internal: null_mut() } };
        if run(&mut rows.raw) == 0 {
            return Ok(rows);
        }
        // SAFETY: the result that `run` has just filled.
        Err(Error::Sql(unsafe { owned((functions.result_error)(&mut rows.raw)) }))
    }

    pub fn columns(&mut self) -> usize {
        // SAFETY: an open result.
        unsafe { (self.functions.column_count)(&mut self.raw) as usize }
    }

    fn types(&mut self) -> Vec<u32> {
        // SAFETY: an open result, and one of its columns.
        (0..self.columns())
            .map(|column| unsafe { (self.functions.column_type)(&mut self.raw, column as u64) })
            .collect()
    }

    /// Whether `text` can read all columns.
    pub fn is_text(&mut self) -> bool {
        self.types().iter().all(|kind| matches!(*kind, BOOLEAN | BIGINT | VARCHAR))
    }

    /// The rows, of columns whose text is no question of the engine's.
    pub fn text(mut self) -> Result<Answer, Error> {
        let types = self.types();
        let f = self.functions;
        let mut rows = Vec::new();
        loop {
            // SAFETY: an open result.
            let mut chunk = unsafe { (f.fetch_chunk)(self.raw) };
            if chunk.is_null() {
                return Ok(Answer { columns: types.len(), rows });
            }
            // SAFETY: an open chunk, which has a vector of `size` rows for each column of the type that is asked for.
            unsafe {
                for row in 0..(f.data_chunk_get_size)(chunk) as usize {
                    rows.push(
                        types
                            .iter()
                            .enumerate()
                            .map(|(column, kind)| {
                                cell((f.data_chunk_get_vector)(chunk, column as u64), f, *kind, row)
                            })
                            .collect(),
                    );
                }
                (f.destroy_data_chunk)(&mut chunk);
            }
        }
    }
}

impl Drop for Rows<'_> {
    fn drop(&mut self) {
        // SAFETY: destroyed once.
        unsafe { (self.functions.destroy_result)(&mut self.raw) };
    }
}

/// # Safety
///
/// `vector` is an open vector of type `kind`, one of those that `Rows::is_text` names, and has a row `row`.
unsafe fn cell(vector: Handle, f: &Functions, kind: u32, row: usize) -> String {
    // SAFETY: the caller's; a vector without NULLs has no validity.
    unsafe {
        let validity = (f.vector_get_validity)(vector);
        if !validity.is_null() && *validity.add(row / 64) >> (row % 64) & 1 == 0 {
            return "NULL".into();
        }
        let data = (f.vector_get_data)(vector);
        match kind {
            BOOLEAN => (*data.cast::<u8>().add(row) != 0).to_string(),
            BIGINT => data.cast::<i64>().add(row).read().to_string(),
            _ => {
                // `duckdb_string_t`: a length, then the bytes if they are 12 at most, else four of them and where all are.
                let text = data.cast::<u8>().add(row * 16);
                let length = text.cast::<u32>().read() as usize;
                let bytes = if length <= 12 { text.add(4) } else { text.add(8).cast::<*mut u8>().read() };
                let text = String::from_utf8_lossy(std::slice::from_raw_parts(bytes, length));
                if text.is_empty() { "(empty)".into() } else { text.replace('\0', "\\0") }
            }
        }
    }
}
