/**
 * The page: examples, an editor, and the answer as a picture and a table. engine.js runs the SQL, picture.js draws.
 */
import { PostgreSQL, sql } from '@codemirror/lang-sql';
import { Prec } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';
import { minimalSetup } from 'codemirror';
import { Engine, SIZE } from './engine.js';
import { parseExamples } from './examples.js';
import text from './examples.sql';
import { drawAnswer } from './picture.js';

const SHOWN = 500; // rows of the table
const $ = (id) => document.getElementById(id);
const examples = parseExamples(text);
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

let engine = null;
let running = false;
let answer = null;

function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  Object.assign(made, attributes);
  made.append(...children);
  return made;
}

const editor = new EditorView({
  parent: $('editor'),
  extensions: [
    Prec.highest(keymap.of([{ key: 'Mod-Enter', run: () => (run(), true) }])),
    minimalSetup,
    lineNumbers(),
    sql({ dialect: PostgreSQL }),
    syntaxHighlighting(HighlightStyle.define([
      { tag: [tags.keyword, tags.typeName], color: 'var(--keyword)' },
      { tag: tags.string, color: 'var(--string)' },
      { tag: tags.number, color: 'var(--accent)' },
      { tag: tags.comment, color: 'var(--muted)' },
    ])),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': 'SQL' }),
  ],
});

function showExample() {
  const slug = decodeURIComponent(location.hash.slice(1));
  const example = examples.find((one) => one.slug === slug) ?? examples[0];
  for (const link of $('examples').querySelectorAll('a')) {
    if (link.hash === `#${example.slug}`) {
      link.setAttribute('aria-current', 'true');
      link.scrollIntoView({ block: 'nearest', inline: 'center' });
    } else link.removeAttribute('aria-current');
  }
  $('title').textContent = example.title;
  $('note').textContent = example.note;
  editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: example.sql } });
  showAnswer(null);
  if (engine && !running) run();
}

function showAnswer(result, error) {
  answer = result;
  $('error').hidden = !error;
  $('error').textContent = error ?? '';
  $('table').hidden = !result?.columns.length;
  $('table').replaceChildren(...(result?.columns.length ? [makeTable(result)] : []));
  const rows = result?.rows.length ?? 0;
  const left = rows > SHOWN ? `, the first ${SHOWN} of them above` : '';
  $('summary').textContent = result ? `${rows} ${rows === 1 ? 'row' : 'rows'}${left}` : '';
  showPicture();
}

function showPicture() {
  const svg = answer && drawAnswer(answer, Math.floor($('answer').clientWidth));
  $('picture').hidden = !svg;
  if (!svg) return;
  const mark = (className, text) => make('span', {}, make('i', { className }), text);
  const windows = svg.dataset.label ? `${svg.dataset.label} of each bucket or window` : 'buckets or windows';
  const rows = svg.querySelector('.row') ? [mark('dot', 'rows')] : [];
  $('picture').replaceChildren(svg, make('figcaption', {}, ...rows, mark('bar', windows)));
}

function makeTable({ columns, rows }) {
  const kind = ({ type }) => (/INT|DOUBLE|FLOAT|DECIMAL/.test(type) && type !== 'INTERVAL' ? 'number' : '');
  const head = columns.map((column) => {
    const type = make('span', {}, column.type);
    return make('th', { scope: 'col', className: kind(column) }, column.name, type);
  });
  const body = rows.slice(0, SHOWN).map((row) => make('tr', {}, ...row.map((value, index) =>
    make('td', { className: value === null ? 'null' : kind(columns[index]) }, value ?? 'NULL'))));
  return make('table', {}, make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...body));
}

/** Runs the editor's SQL, or stops what runs, or starts the engine where there is none. */
async function run() {
  if ($('run').disabled) return;
  if (running) return engine.stop();
  if (!engine) return open();
  setRunning(true);
  const began = performance.now();
  try {
    showAnswer(await engine.run(editor.state.doc.toString()));
    $('status').textContent = `DuckDB ${engine.version}, ${Math.round(performance.now() - began)} ms`;
  } catch (error) {
    showAnswer(null, error.message);
    $('status').textContent = `DuckDB ${engine.version}`;
    if (engine.ended === 'stopped') await open();
    else if (engine.ended) close('DuckDB is not running.');
  } finally {
    setRunning(false);
  }
}

/** Leaves the page without an engine, and says so; the button starts one. */
function close(reason) {
  engine = null;
  $('status').textContent = reason;
}

function setRunning(value) {
  running = value;
  $('run').textContent = value ? 'Stop' : engine ? 'Run' : 'Start again';
  $('answer').setAttribute('aria-busy', value);
}

async function open() {
  engine = null;
  $('run').disabled = true;
  $('progress').hidden = false;
  $('progress').max = SIZE;
  const say = (loaded) => {
    $('progress').value = loaded;
    $('status').textContent = `Loading DuckDB: ${megabytes(loaded)} of ${megabytes(SIZE)} MB`;
  };
  try {
    say(0);
    engine = await Engine.open(say);
    $('status').textContent = `DuckDB ${engine.version}`;
  } catch (error) {
    close('DuckDB could not be loaded.');
    const advice = location.protocol === 'file:' ? '\nA browser gives a page no files: open it from a web server, as python3 -m http.server is one.' : '';
    showAnswer(null, error.message + advice);
  } finally {
    $('progress').hidden = true;
    $('run').disabled = false;
    setRunning(false);
  }
}

$('examples').append(...examples.map(({ title, slug }) => make('li', {}, make('a', { href: `#${slug}` }, title))));
$('run').addEventListener('click', run);
addEventListener('hashchange', showExample);
new ResizeObserver(showPicture).observe($('answer'));
showExample();
await open();
if (engine) await run();
