/**
 * Just enough of SQL's surface to ask for an answer as text: by the engine's own cast, since JavaScript's types hold neither
 * nanoseconds nor infinite times.
 */

// What a semicolon may stand in without ending a statement, else one character.
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|[\s\S]/g;

/** The statements of a text, without their semicolons; what is nothing but space and comments is left out. */
export function splitStatements(text) {
  const statements = [''];
  let empty = true;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === ';') {
      if (empty) statements.pop();
      statements.push('');
      empty = true;
    } else {
      statements[statements.length - 1] += token;
      empty &&= /^(\s|--|\/\*)/.test(token);
    }
  }
  if (empty) statements.pop();
  return statements;
}

/** Whether a statement's answer can be asked for as a table. */
export const isQuery = (sql) =>
  /^(\s|--[^\n]*\n|\/\*[\s\S]*?\*\/|\()*(SELECT|FROM|WITH|VALUES|TABLE|PIVOT|UNPIVOT|DESCRIBE|SHOW|SUMMARIZE)\b/i.test(sql);

/** A query for the names and types of a query's columns. */
export const describe = (sql) => `DESCRIBE\n${sql}`;

/** A query for the same rows with each of its `count` columns as text. By position, since names may be empty or repeated. */
export function asText(sql, count) {
  const casts = Array.from({ length: count }, (_, index) => `#${index + 1}::VARCHAR`);
  return `SELECT ${casts.join(', ')} FROM (\n${sql}\n)`;
}

/** An error about one of these queries, with the line of the query that it was made from. */
export const errorText = (error) => error.message.replace(/^LINE (\d+):/m, (_, line) => `LINE ${line - 1}:`);

/** The rows of an Arrow table of text. */
export const textRows = (table) => table.toArray().map((row) => row.toArray().map((value) => (value === null ? null : String(value))));
