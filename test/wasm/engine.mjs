#!/usr/bin/env node
/** Serves DuckDB-WASM to the test runner in the place of a Python: test/runner/engine.py has the protocol. */
import { createInterface } from 'node:readline';
import { asText, describe, errorText, isQuery, splitStatements, textRows } from '../../playground/sql.js';
import { database, load } from './database.mjs';

// No queries, but their answers are asked for.
const ANSWERS = /^\s*(EXPLAIN|INSERT|UPDATE|DELETE|COPY|MERGE)\b/i;

let connections = new Map();

const operations = {
  open({ path: file, read_only }) {
    for (const connection of connections.values()) connection.close();
    connections = new Map();
    database.reset();
    database.open({ path: file || ':memory:', accessMode: read_only ? 2 : 0, allowUnsignedExtensions: true });
    // What is missing is an error, never fetched.
    connection(0).query('SET autoinstall_known_extensions = false; SET autoload_known_extensions = false');
  },
  load({ file }) {
    load(connection(0), file);
  },
  sql({ con, sql }) {
    const statements = splitStatements(sql);
    const last = statements.pop();
    for (const statement of statements) connection(con).query(statement);
    if (!isQuery(last)) {
      const table = connection(con).query(last);
      return ANSWERS.test(last) ? { columns: table.numCols, rows: textRows(table) } : undefined;
    }
    const columns = connection(con).query(describe(last)).numRows;
    return { columns, rows: textRows(connection(con).query(asText(last, columns))) };
  },
};

function connection(number) {
  if (!connections.has(number)) connections.set(number, database.connect());
  return connections.get(number);
}

const text = (value) => (value === null ? 'NULL' : value === '' ? '(empty)' : value.replaceAll('\0', '\\0'));

function answer({ op, ...request }) {
  try {
    const { columns, rows } = operations[op](request) ?? { columns: 0, rows: [] };
    return { columns, rows: rows.map((row) => row.map(text)) };
  } catch (error) {
    // What the engine refuses has no class of its own; what it dies of is a WebAssembly.RuntimeError.
    return error instanceof WebAssembly.RuntimeError ? { driver: String(error.stack) } : { error: errorText(error) };
  }
}

const reply = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
reply({ version: database.getVersion().replace(/^v/, '') });
for await (const line of createInterface({ input: process.stdin })) reply(answer(JSON.parse(line)));
