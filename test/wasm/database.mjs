/** DuckDB-WASM under Node, as the tests use it. TIME_BUCKET_WEB names the folder where @duckdb/duckdb-wasm is installed. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const require = createRequire(path.resolve(process.env.TIME_BUCKET_WEB, 'package.json'));
const duckdb = require('@duckdb/duckdb-wasm/dist/duckdb-node-blocking.cjs');
const folder = path.dirname(require.resolve('@duckdb/duckdb-wasm/dist/duckdb-node-blocking.cjs'));
// It takes either engine, and names both.
const bundle = (name) => ({ mainModule: path.join(folder, `duckdb-${name}.wasm`), mainWorker: '' });

// DuckDB-WASM hands out neither its libc nor its memory.
let libc, memory;
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (module, imports) => {
  const made = await instantiate(module, imports);
  const { exports } = made.instance ?? made;
  if (exports.setenv) [libc, memory] = [exports, imports.env.memory];
  return made;
};

export const database = await duckdb.createDuckDB({ mvp: bundle('mvp'), eh: bundle('eh') }, new duckdb.VoidLogger(), duckdb.NODE_RUNTIME);
await database.instantiate(() => {});

// Under Node, LOAD reads a file from where a browser's would have been kept, by the last four names of its address.
process.env.HOME = mkdtempSync(path.join(os.tmpdir(), 'time_bucket-'));
process.on('exit', () => rmSync(process.env.HOME, { recursive: true }));
const KEPT = 'test/wasm/kept';
const kept = path.join(process.env.HOME, '.duckdb/extensions', KEPT);
mkdirSync(kept, { recursive: true });

/** LOADs an extension's file into the open database. */
export function load(connection, file) {
  const name = 'time_bucket.duckdb_extension.wasm';
  copyFileSync(file, path.join(kept, name));
  connection.query(`LOAD '/${KEPT}/${name}'`);
}

/** Sets a variable of the engine's environment, which an extension's code shares. */
export function setVariable(name, value) {
  const texts = [name, value].map((text) => {
    const bytes = new TextEncoder().encode(`${text}\0`);
    const at = libc.malloc(bytes.length);
    new Uint8Array(memory.buffer).set(bytes, at);
    return at;
  });
  libc.setenv(...texts, 1);
  texts.forEach((at) => libc.free(at));
}
