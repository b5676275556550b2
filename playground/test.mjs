/**
 * Loads the page in Chromium, runs every example, and compares what it shows with what the command line answers.
 *
 *   node test.mjs TOOLS PAGE CLI EXTENSION [SCREENSHOTS]
 *
 * TOOLS is where playwright-core is installed, PAGE the built folder; CHROMIUM names the browser, if it is not `chromium`.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { parseExamples } from './examples.js';
import { parseTime } from './picture.js';
import { isQuery, splitStatements } from './sql.js';

const [tools, page, cli, extension, screenshots] = process.argv.slice(2).map((name) => path.resolve(name));
const { chromium } = createRequire(path.join(tools, 'package.json'))('playwright-core');
const examples = parseExamples(readFileSync(new URL('examples.sql', import.meta.url), 'utf8'));
const TYPES = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.wasm': 'application/wasm' };

let server, browser, origin, tab;
const elsewhere = []; // requests to another origin
const failures = []; // what the page's console and its requests complain of

async function openTab(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const opened = await context.newPage();
  context.on('request', (request) => {
    if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(origin)) elsewhere.push(request.url());
  });
  opened.on('console', (message) => message.type() === 'error' && failures.push(message.text()));
  opened.on('pageerror', (error) => failures.push(String(error)));
  return opened;
}

const ready = (opened) => opened.waitForFunction(
  () => !document.getElementById('run').disabled && document.getElementById('run').textContent === 'Run', null, { timeout: 120_000 });

async function runExample(opened, { slug }) {
  await opened.click(`a[href="#${slug}"]`);
  await opened.waitForFunction((wanted) => document.querySelector('[aria-current]')?.hash === `#${wanted}`, slug);
  await ready(opened);
}

/** What the page shows, as text. */
const shown = (opened) => opened.evaluate(() => ({
  error: document.getElementById('error').textContent,
  names: [...document.querySelectorAll('thead th')].map((cell) => cell.firstChild.textContent),
  rows: [...document.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent)),
  bars: document.querySelectorAll('#picture rect').length,
  dots: document.querySelectorAll('#picture .row').length,
}));

/** The command line's answer to the same SQL. */
function answer(sql) {
  const columns = ['-unsigned', '-list', '-separator', '\t', '-nullvalue', 'NULL', '-cmd', "SET TimeZone = 'UTC'", '-cmd', `LOAD '${extension}'`];
  const done = spawnSync(cli, [...columns, '-c', sql], { encoding: 'utf8' });
  if (done.error) throw done.error;
  const [names, ...rows] = done.stdout.trimEnd().split('\n').map((line) => line.split('\t'));
  return { error: done.stderr.trimEnd(), names: done.stdout ? names : [], rows };
}

before(async () => {
  server = createServer(async (request, response) => {
    const file = path.join(page, path.normalize(new URL(request.url, 'http://page').pathname).replace(/\/$/, '/index.html'));
    try {
      const content = await readFile(file);
      response.writeHead(200, { 'Content-Type': TYPES[path.extname(file)] ?? 'application/octet-stream' }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${server.address().port}/`;
  const executablePath = process.env.CHROMIUM || spawnSync('sh', ['-c', 'command -v chromium chromium-browser google-chrome | head -1'], { encoding: 'utf8' }).stdout.trim();
  assert.ok(executablePath, 'no Chromium: install it (Debian: apt-get install chromium), or name it with CHROMIUM=');
  browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
  tab = await openTab();
  await tab.goto(origin);
  await ready(tab);
});

after(async () => {
  await browser?.close();
  server?.close();
});

for (const example of examples) {
  test(example.title, async () => {
    await runExample(tab, example);
    const [got, wanted] = [await shown(tab), answer(example.sql)];
    assert.deepEqual({ ...got, bars: 0, dots: 0 }, { ...wanted, bars: 0, dots: 0 });
    assert.ok(got.error || got.rows.length, 'nothing is shown');
    if (screenshots) {
      mkdirSync(screenshots, { recursive: true });
      await tab.screenshot({ path: path.join(screenshots, `${example.slug}.png`), fullPage: true });
    }
  });
}

test('SQL is cut at its own semicolons', () => {
  const cuts = [
    ["SELECT ';'; FROM t;", ["SELECT ';'", ' FROM t']],
    ["SELECT 'it''s;' -- a;b\n/* ; */;;\n", ["SELECT 'it''s;' -- a;b\n/* ; */"]],
    ['SELECT $$a;$$, $x$;$$;$x$, ";"', ['SELECT $$a;$$, $x$;$$;$x$, ";"']],
    ['-- nothing; at all\n ; ', []],
  ];
  for (const [text, statements] of cuts) assert.deepEqual(splitStatements(text), statements);
  for (const query of ['-- c\n(SELECT 1)', 'from t', '/* x */ WITH a AS (SELECT 1) FROM a']) assert.ok(isQuery(query), query);
  for (const other of ['CREATE TABLE t AS SELECT 1', 'SET x = 1', 'FROMAGE']) assert.ok(!isQuery(other), other);
});

test('times are read to the nanosecond', () => {
  assert.equal(parseTime('1970-01-01 00:00:00.000000001'), 1n);
  assert.equal(parseTime('1969-12-31 23:59:59.999'), -1_000_000n);
  assert.equal(parseTime('1970-01-02'), 86_400_000_000_000n);
  assert.equal(parseTime('1970-01-01 01:30:00+01:30'), 0n);
  assert.equal(parseTime('1969-12-31 20:30:00-03:30'), 0n);
  for (const none of ['infinity', null, '294247-01-10 04:00:00']) assert.equal(parseTime(none), null);
});

test('the engine is the one that the command line is', async () => {
  const [version] = spawnSync(cli, ['--version'], { encoding: 'utf8' }).stdout.split(' ');
  assert.match(await tab.textContent('#status'), new RegExp(`DuckDB ${version.replaceAll('.', '\\.')}`));
});

test('the picture has a bar for each window and a dot for each row', async () => {
  await runExample(tab, examples[0]);
  const { rows, bars, dots } = await shown(tab);
  assert.equal(dots, new Set(rows.map(([ts]) => ts)).size);
  assert.equal(bars, new Set(rows.map(([, starts]) => starts)).size);
  const inside = await tab.evaluate(() => [...document.querySelectorAll('#picture .window')].every((window) => {
    const box = window.querySelector('rect').getBBox();
    return [...window.querySelectorAll('circle')].every(({ cx }) => cx.baseVal.value >= box.x - 1 && cx.baseVal.value <= box.x + box.width + 1);
  }));
  assert.ok(inside, 'a dot lies outside of its window');
});

test('heights are the numbers', async () => {
  await runExample(tab, examples.find(({ title }) => title === 'Count by bucket'));
  const { rows } = await shown(tab);
  const heights = await tab.evaluate(() => [...document.querySelectorAll('#picture rect')].map((bar) => bar.height.baseVal.value));
  const scale = Math.max(...heights) / Math.max(...rows.map((row) => Number(row[2])));
  assert.equal(heights.length, rows.length);
  rows.forEach((row, index) => assert.ok(Math.abs(heights[index] - Number(row[2]) * scale) < 0.01));
});

test('the keyboard is enough', async () => {
  await tab.focus('.cm-content');
  await tab.keyboard.press('Control+A');
  await tab.keyboard.type('CREATE TABLE typed AS SELECT \'a;b\' AS x; -- ;\nFROM typed;');
  await tab.keyboard.press('Control+Enter');
  await tab.waitForFunction(() => document.querySelector('tbody td')?.textContent === 'a;b');
  // Tab leaves the editor, for the button.
  await tab.keyboard.press('Tab');
  assert.equal(await tab.evaluate(() => document.activeElement.id), 'run');
  await tab.keyboard.press('Enter');
  await tab.waitForFunction(() => document.getElementById('error').textContent.includes('already exists'));
});

test('a query that takes too long is stopped, and the page goes on', async () => {
  await tab.fill('.cm-content', 'SELECT count(*) FROM range(100000000) a, range(100000000) b');
  await tab.keyboard.press('Control+Enter');
  await tab.waitForFunction(() => document.getElementById('run').textContent === 'Stop');
  await tab.click('#run');
  await tab.waitForFunction(() => document.getElementById('error').textContent === 'Stopped.');
  await ready(tab);
  await runExample(tab, examples[0]);
  assert.ok((await shown(tab)).rows.length);
});

test('a crash is said, and a button starts the engine again', async () => {
  await tab.fill('.cm-content', `CREATE TABLE kept AS SELECT 1; SET max_expression_depth = 1000000; SELECT 1${'+1'.repeat(30_000)}`);
  await tab.keyboard.press('Control+Enter');
  await tab.waitForFunction(() => document.getElementById('run').textContent === 'Start again');
  assert.match((await shown(tab)).error, /^DuckDB crashed: .+\nWhat its memory held, such as tables that you created, is gone\.$/);
  assert.equal(await tab.textContent('#status'), 'DuckDB is not running.');
  // Another example is shown, but does not run.
  await tab.click(`a[href="#${examples[1].slug}"]`);
  await tab.waitForFunction((wanted) => document.getElementById('title').textContent === wanted, examples[1].title);
  assert.deepEqual((await shown(tab)).rows, []);
  if (screenshots) await tab.screenshot({ path: path.join(screenshots, 'crashed.png'), fullPage: true });
  await tab.click('#run');
  await ready(tab);
  await tab.fill('.cm-content', 'FROM kept');
  await tab.keyboard.press('Control+Enter');
  await tab.waitForFunction(() => document.getElementById('error').textContent.includes('kept does not exist'));
  await runExample(tab, examples[0]);
  assert.ok((await shown(tab)).rows.length);
});

test('a narrow screen shows all without scrolling sideways, in the dark too', async () => {
  const narrow = await openTab({ viewport: { width: 360, height: 740 }, colorScheme: 'dark', hasTouch: true });
  await narrow.goto(origin);
  await ready(narrow);
  for (const example of examples) {
    await runExample(narrow, example);
    const wide = await narrow.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0, example.title);
    if (screenshots) await narrow.screenshot({ path: path.join(screenshots, `narrow-${example.slug}.png`), fullPage: true });
  }
  await narrow.context().close();
});

test('what is missing on the server is said', async () => {
  const broken = await openTab();
  await broken.route('**/duckdb.packed', (route) => route.fulfill({ status: 404 }));
  await broken.goto(origin);
  await broken.waitForFunction(() => document.getElementById('error').textContent.includes('duckdb.packed: the server answers 404'));
  // Once it is there, the button is enough.
  await broken.unroute('**/duckdb.packed');
  await broken.click('text=Start again');
  await ready(broken);
  await broken.context().close();
  // Chromium itself writes that into its console.
  failures.splice(0, failures.length, ...failures.filter((text) => !text.includes('404')));
});

test('nothing comes from another origin, and nothing is complained of', () => {
  assert.deepEqual(elsewhere, []);
  assert.deepEqual(failures, []);
});
