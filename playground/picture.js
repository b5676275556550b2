/**
 * Rows in their buckets or windows, drawn from an answer as SVG. Two time columns whose names say start and end are the
 * windows; another time column is the row that a window holds, shown as a dot in it; without one, the first
 * number after them is the height of a bar.
 */

const SVG = 'http://www.w3.org/2000/svg';
const ROW = 30; // from one lane to the next
const BAR = 22; // its height
const CHART = 150; // the highest bar
const MARGIN = 20;
const AXIS = 44;
const MOST = 1500; // rows drawn

const isTime = (type) => /^(TIMESTAMP|DATE)/.test(type);
const isNumber = (type) => /INT|DOUBLE|FLOAT|DECIMAL/.test(type);

/** Nanoseconds since 1970 of a time as DuckDB writes it; null for NULL, infinity and years that JavaScript's Date lacks. */
export function parseTime(text) {
  const parts = /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?)?(?:([+-]\d\d)(?::?(\d\d))?)?$/.exec(text ?? '');
  if (!parts) return null;
  const [, day, clock = '00:00:00', fraction = '', zone, minutes = '0'] = parts;
  const seconds = Date.parse(`${day}T${clock}Z`) / 1000;
  const offset = zone ? Number(zone) * 3600 + Number(`${zone[0]}${minutes}`) * 60 : 0;
  return BigInt(seconds - offset) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
}

/** What there is to draw: `windows`, each with its times and number, and `dots`; or null. */
export function readAnswer({ columns, rows }) {
  const find = (wanted) => columns.findIndex(wanted);
  const start = find(({ name, type }) => isTime(type) && /start/i.test(name));
  const end = find(({ name, type }) => isTime(type) && /end/i.test(name));
  if (start < 0 || end < 0) return null;
  const event = find(({ type }, index) => isTime(type) && index !== start && index !== end);
  const number = event < 0 ? find(({ type }, index) => index > end && isNumber(type)) : -1;
  const windows = new Map();
  let drawn = 0;
  for (const row of rows) {
    const from = parseTime(row[start]);
    const until = parseTime(row[end]);
    if (from === null || until === null || from >= until || drawn++ >= MOST) continue;
    const key = `${from} ${until}${event < 0 ? ` ${drawn}` : ''}`;
    if (!windows.has(key)) {
      const value = number < 0 ? null : Number(row[number]);
      windows.set(key, { from, until, value, text: row[number], names: [row[start], row[end]], times: [] });
    }
    const time = event < 0 ? null : parseTime(row[event]);
    if (time !== null) windows.get(key).times.push(time);
  }
  if (!windows.size) return null;
  const all = [...windows.values()].sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
  return { windows: all, dots: event >= 0, label: number < 0 ? null : columns[number].name };
}

/** Puts each window into the first lane that is free when it starts; how many lanes that takes. */
function assignLanes(windows) {
  const ends = [];
  for (const window of windows) {
    const free = ends.findIndex((end) => end <= window.from);
    window.lane = free < 0 ? ends.length : free;
    ends[window.lane] = window.until;
  }
  return ends.length;
}

const SECOND = 1_000_000_000n;
const STEPS = [
  ...[1n, 10n, 100n, 1000n, 10_000n, 100_000n, 1_000_000n, 10_000_000n, 100_000_000n].flatMap((n) => [n, 2n * n, 5n * n]),
  ...[1n, 2n, 5n, 10n, 15n, 30n, 60n, 120n, 300n, 600n, 900n, 1800n, 3600n, 7200n, 10_800n, 21_600n, 43_200n].map((n) => n * SECOND),
  ...[1n, 2n, 7n, 14n, 28n, 91n, 182n, 365n, 730n, 1826n, 3652n, 36_524n, 365_242n].map((n) => n * 86_400n * SECOND),
];

/** Points of a round step, at most `most` of them, and how to write each; days are counted from the window at `origin`. */
function ticks(from, until, origin, most) {
  const step = STEPS.find((size) => (until - from) / size < BigInt(most)) ?? STEPS.at(-1);
  const grid = step > 86_400n * SECOND ? origin : 0n;
  const remainder = (((from - grid) % step) + step) % step;
  const points = [];
  for (let at = remainder ? from - remainder + step : from; at <= until; at += step) points.push(at);
  const write = (at) => {
    const below = ((at % SECOND) + SECOND) % SECOND;
    const iso = new Date(Number((at - below) / SECOND) * 1000).toISOString();
    const [day, clock] = [iso.slice(0, 10), iso.slice(11, 19)];
    if (step >= 86_400n * SECOND) return [day, ''];
    const fraction = String(below).padStart(9, '0').replace(/0+$/, '');
    const short = fraction ? `${clock.slice(6)}.${fraction}` : step < 60n * SECOND ? clock : clock.slice(0, 5);
    return [short, at === points[0] || clock === '00:00:00' ? day : ''];
  };
  return points.map((at) => [at, ...write(at)]);
}

function element(name, attributes, parent, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

/** The picture of an answer, `width` pixels wide; null if it has nothing to draw. */
export function drawAnswer(answer, width) {
  const read = readAnswer(answer);
  if (!read) return null;
  const { windows, dots, label } = read;
  const lanes = assignLanes(windows);
  const times = windows.flatMap((window) => window.times);
  const from = [...times, ...windows.map((window) => window.from)].reduce((a, b) => (a < b ? a : b));
  const until = [...times, ...windows.map((window) => window.until)].reduce((a, b) => (a > b ? a : b));
  const x = (at) => MARGIN + (Number(at - from) / Number(until - from)) * (width - 2 * MARGIN);
  // Numbers are heights where there is one row of windows, else they are written into them.
  const chart = label !== null && lanes === 1 && windows.every(({ value }) => value >= 0);
  const top = (dots ? ROW : 0) + 8;
  const bottom = top + (chart ? CHART + 20 : lanes * ROW);
  const height = bottom + AXIS;
  const svg = element('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img' });

  const write = (at, y, text) => {
    const half = text.length * 3.6; // of its width
    element('text', { x: Math.min(Math.max(x(at), half), width - half), y, class: 'tick' }, svg, text);
  };
  for (const [at, clock, day] of ticks(from, until, windows[0].from, Math.max(2, Math.floor(width / 95)))) {
    element('path', { d: `M${x(at)} ${dots ? 8 + ROW / 2 : 8}V${bottom + 4}`, class: 'grid' }, svg);
    write(at, bottom + 20, clock);
    if (day) write(at, bottom + 36, day);
  }

  const highest = Math.max(...windows.map(({ value }) => value), 0) || 1;
  for (const [index, window] of windows.entries()) {
    const [left, right] = [x(window.from), x(window.until)];
    const size = chart ? Math.max((window.value / highest) * CHART, 1) : BAR;
    const y = chart ? bottom - size : top + window.lane * ROW + (ROW - BAR) / 2;
    const bar = element('g', { class: `window ${index % 2 ? 'odd' : 'even'}` }, svg);
    const count = dots ? `, ${window.times.length} rows` : label ? `, ${label} ${window.text ?? 'NULL'}` : '';
    element('title', {}, bar, `${window.names[0]} to ${window.names[1]}${count}`);
    element('rect', { x: left + 0.75, y, width: Math.max(right - left - 1.5, 1), height: size, rx: chart ? 2 : 4 }, bar);
    for (const time of window.times) element('circle', { cx: x(time), cy: y + BAR / 2, r: 3 }, bar);
    const text = label && (window.text ?? 'NULL');
    if (text && right - left > text.length * 8) {
      element('text', { x: (left + right) / 2, y: chart ? y - 5 : y + 16, class: chart ? 'above' : 'in' }, bar, text);
    }
  }

  if (dots) {
    element('path', { d: `M${MARGIN} ${8 + ROW / 2}H${width - MARGIN}`, class: 'line' }, svg);
    const seen = new Set(times);
    for (const time of seen) element('circle', { cx: x(time), cy: 8 + ROW / 2, r: 4.5, class: 'row' }, svg);
  }
  if (label !== null) svg.dataset.label = label;
  const rows = dots ? `${new Set(times).size} times in ` : '';
  svg.setAttribute('aria-label', `${rows}${windows.length} windows${chart ? `, with ${label} as their height` : ''}`);
  return svg;
}
