/**
 * What becomes of a panic in DuckDB-WASM: of a build whose callbacks panic on demand, under Node.
 *
 *   TIME_BUCKET_WEB=FOLDER node --test test/wasm/panics.mjs     with TIME_BUCKET_FAULTS, the build's file
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../playground/sql.js';
import { database, load, setVariable } from './database.mjs';

const file = process.env.TIME_BUCKET_FAULTS;
const QUERY = "SELECT sum(epoch_us(time_bucket(INTERVAL '7 seconds', make_timestamp(i * 1000000)))) AS x FROM range(10000) r(i)";

const setFault = (name) => setVariable('TIME_BUCKET_FAULT', name);

function open() {
  database.reset();
  database.open({ path: ':memory:', allowUnsignedExtensions: true });
  return database.connect();
}

const value = (connection, sql) => String(connection.query(sql).toArray()[0].toArray()[0]);

function refusal(run) {
  try {
    run();
  } catch (error) {
    return errorText(error);
  }
  return 'no error';
}

const FAULTS = [
  ['bind', 'time_bucket', QUERY],
  ['execute', 'time_bucket', QUERY],
  ...['bind', 'init', 'produce'].map((callback) => [`table ${callback}`, 'time_bucket_series',
    "SELECT count(*) FROM time_bucket_series(INTERVAL '1 second', TIMESTAMP '2024-01-01', TIMESTAMP '2024-01-02')"]),
  ...['update', 'finalize'].map((callback) => [`aggregate ${callback}`, 'time_bucket_moments',
    'SELECT time_bucket_moments(i)::VARCHAR FROM range(10000) r(i)']),
];

for (const [fault, name, sql] of FAULTS) {
  test(`a panic in ${fault} is an error, and the engine serves on`, () => {
    const connection = open();
    load(connection, file);
    const right = value(connection, sql);
    connection.query('CREATE TABLE kept AS SELECT 42 AS x');
    for (let round = 0; round < 3; round++) {
      setFault(fault);
      assert.match(refusal(() => connection.query(sql)), new RegExp(`${name}: unexpected panic: fault injected into ${fault};`));
      setFault('');
      assert.equal(value(connection, sql), right);
      assert.equal(value(connection, 'FROM kept'), '42');
    }
    connection.close();
  });
}

test('a panic in LOAD is its reason, and a second LOAD works', () => {
  const connection = open();
  setFault('load');
  assert.match(refusal(() => load(connection, file)), /fault injected into load/);
  setFault('');
  load(connection, file);
  assert.equal(value(connection, QUERY), String(Array.from({ length: 10_000 }, (_, i) => Math.floor(i / 7) * 7_000_000).reduce((a, b) => a + b)));
  connection.close();
});
