/**
 * DuckDB in a worker, with the extension loaded.
 */
import { AsyncDuckDB, VoidLogger } from '@duckdb/duckdb-wasm';
import { asText, describe, errorText, isQuery, splitStatements, textRows } from './sql.js';

/* global MODULE_SIZE */ // bytes of duckdb.packed, set by the build

const here = (file) => new URL(file, document.baseURI).href;

/** How many bytes opening the engine loads, but for some kilobytes. */
export const SIZE = MODULE_SIZE;

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

/** One database, alive until `stop` or the end of the page. */
export class Engine {
  static async open(progress) {
    moduleURL ??= await loadModule(progress);
    const engine = new Engine();
    engine.worker = new Worker(here('worker.js'));
    // A worker that dies answers no call: whoever waits is told so.
    engine.died = new Promise((_, reject) => {
      const end = (reason) => {
        engine.ended = true;
        engine.worker.terminate();
        reject(new Error(reason));
      };
      engine.stop = () => end('Stopped.');
      engine.worker.addEventListener('error', (event) => end(`The engine ended: ${event.message}`));
    });
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

  alive(promise) {
    return Promise.race([promise, this.died]);
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
      throw new Error(errorText(error));
    }
  }
}
