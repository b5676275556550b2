/** The examples of examples.sql, as the page and its test read them: blocks that begin with `-- # Title`, a note in comments, SQL. */
export function parseExamples(text) {
  return text.split(/^-- # /m).slice(1).map((block) => {
    const lines = block.trim().split('\n');
    const title = lines.shift();
    const comments = lines.findIndex((line) => !line.startsWith('-- '));
    return {
      title,
      slug: title.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
      note: lines.slice(0, comments).map((line) => line.slice(3)).join(' '),
      sql: lines.slice(comments).join('\n'),
    };
  });
}
