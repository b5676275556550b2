// The extension in DuckDB's Node client: LOAD, each type kept, errors as exceptions.
// TIME_BUCKET_EXTENSION=FILE node --test test.mjs

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';

const extension = process.env.TIME_BUCKET_EXTENSION;

async function connect(load = true) {
  const instance = await DuckDBInstance.create(':memory:', { allow_unsigned_extensions: 'true' });
  const connection = await instance.connect();
  if (load) await connection.run(`LOAD '${extension}'`);
  return connection;
}

const TYPES = [
  ['TIMESTAMP_S', 'TIMESTAMP_S', 1704067200n],
  ['TIMESTAMP_MS', 'TIMESTAMP_MS', 1704067200000n],
  ['TIMESTAMP', 'TIMESTAMP', 1704067200000000n],
  ['TIMESTAMP_NS', 'TIMESTAMP_NS', 1704067200000000000n],
  ['TIMESTAMPTZ', 'TIMESTAMP WITH TIME ZONE', 1704067200000000n],
];

for (const [type, name, ticks] of TYPES) {
  test(`${type} comes back as itself`, async () => {
    const connection = await connect();
    await connection.run("SET TimeZone = 'UTC'");
    const reader = await connection.runAndReadAll(
      `SELECT time_bucket(INTERVAL '1 day', x::${type}) AS b, time_bucket_end(INTERVAL '1 day', x::${type}) AS e
       FROM (VALUES ('2024-01-01 12:34:56'), (NULL)) v(x)`);
    assert.deepEqual(reader.columnTypes().map(String), [name, name]);
    const [[start, end], nulls] = reader.getRows();
    const value = (x) => Object.values(x).find((field) => typeof field === 'bigint');
    assert.equal(value(start), ticks);
    assert.equal(value(end), ticks + ticks / 1704067200n * 86400n);
    assert.deepEqual(nulls, [null, null]);
  });
}

test('a refusal is an exception, and the connection serves on', async () => {
  const connection = await connect();
  await assert.rejects(connection.run("SELECT time_bucket(INTERVAL '1 month', TIMESTAMP '2024-01-01')"),
    /Binder Error: time_bucket: width .* is calendar/);
  const reader = await connection.runAndReadAll('SELECT 42');
  assert.deepEqual(reader.getRows(), [[42]]);
});

test('a prepared width is checked at each execution', async () => {
  const connection = await connect();
  const prepared = await connection.prepare("SELECT time_bucket(to_seconds($1), TIMESTAMP '2024-01-01 00:01:30')::VARCHAR");
  for (const [seconds, expected] of [[60, '2024-01-01 00:01:00'], [7, '2024-01-01 00:01:28'], [0, null], [60, '2024-01-01 00:01:00']]) {
    prepared.bindInteger(1, seconds);
    if (expected === null) await assert.rejects(prepared.runAndReadAll(), /width must be positive/);
    else assert.deepEqual((await prepared.runAndReadAll()).getRows(), [[expected]]);
  }
});
