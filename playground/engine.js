/**
 * DuckDB in a worker, with the extension loaded.
 */
import { AsyncDuckDB, VoidLogger } from '@duckdb/duckdb-wasm';
import { asText, describe, errorText, isQuery, splitStatements, textRows } from './sql.js';

/* global MODULE_SIZE */ // bytes of duckdb.packed, set by the build

const here = (file) => new URL(file, document.baseURI).href;

/** How many bytes opening the engine loads, but for some kilobytes. */
export const SIZE = MODULE_SIZE;

// What WebAssembly ends with where a program would be ended by its system: a trap, or no stack left. Whatever the engine holds
// can't be relied on after it, though it may still answer.
const FATAL = ['RuntimeError', 'RangeError', 'InternalError'];

let moduleURL;

/** The packed engine, unpacked, as a URL; `progress` hears of the bytes loaded. It is packed by us, since few servers do. */
async function loadModule(progress) {
  const response = await fetch(here('duckdb.packed'));
  if (!response.ok) throw new Error(`duckdb.packed: the server answers ${response.status}`);
  let loaded = 0;
  const counter = new TransformStream({
    transform(chunk, controller) {
      loaded += chunk.byteLength;
      progress(loaded);
      controller.enqueue(chunk);
    },
  });
  const unpacked = response.body.pipeThrough(counter).pipeThrough(new DecompressionStream('gzip'));
  const bytes = await new Response(unpacked).arrayBuffer();
  return URL.createObjectURL(new Blob([bytes], { type: 'application/wasm' }));
}

/** One database, alive until `stop`, a crash or the end of the page; `ended` says which of the first two it was. */
export class Engine {
  static async open(progress) {
    moduleURL ??= await loadModule(progress);
    const engine = new Engine();
    engine.worker = new Worker(here('worker.js'));
    // A worker that dies answers no call: whoever waits is told so.
    engine.died = new Promise((_, reject) => {
      engine.end = (reason, crashed) => {
        engine.ended ??= crashed ? 'crashed' : 'stopped';
        engine.worker.terminate();
        reject(new Error(reason));
      };
    });
    engine.worker.addEventListener('error', (event) => engine.crash(event.message));
    engine.died.catch(() => {});
    const database = new AsyncDuckDB(new VoidLogger(), engine.worker);
    await engine.alive(database.instantiate(moduleURL));
    await engine.alive(database.open({ allowUnsignedExtensions: true }));
    engine.connection = await engine.alive(database.connect());
    for (const sql of [
      // Nothing is fetched from elsewhere.
      'SET autoinstall_known_extensions = false',
      'SET autoload_known_extensions = false',
      `LOAD '${here('time_bucket.duckdb_extension.wasm').replaceAll("'", "''")}'`,
    ]) await engine.execute(sql);
    const [[version]] = (await engine.run('SELECT version()')).rows;
    engine.version = version;
    return engine;
  }

  /** Ends the engine at the user's wish. */
  stop() {
    this.end('Stopped.', false);
  }

  /** Ends the engine for a fault of its own. */
  crash(reason) {
    this.end(`DuckDB crashed: ${reason}.\nWhat its memory held, such as tables that you created, is gone.`, true);
  }

  /** What the engine answers, unless it ends before. */
  async alive(promise) {
    try {
      return await Promise.race([promise, this.died]);
    } catch (error) {
      if (!FATAL.includes(error.name)) throw error;
      this.crash(error.message);
      return this.died;
    }
  }

  execute(sql) {
    return this.alive(this.connection.query(sql));
  }

  /** Runs all statements; the answer of the last as `columns`, each a name and a type, and `rows` of text or null. */
  async run(text) {
    const statements = splitStatements(text);
    if (!statements.length) return { columns: [], rows: [] };
    const last = statements.pop();
    for (const sql of statements) await this.execute(sql);
    if (!isQuery(last)) {
      const table = await this.execute(last);
      return { columns: table.schema.fields.map(({ name }) => ({ name, type: '' })), rows: textRows(table) };
    }
    try {
      const columns = textRows(await this.execute(describe(last))).map(([name, type]) => ({ name, type }));
      return { columns, rows: textRows(await this.execute(asText(last, columns.length))) };
    } catch (error) {
      throw this.ended ? error : new Error(errorText(error));
    }
  }
}
