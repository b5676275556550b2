//! The last statement of a text, which DuckDB's C API does not tell.

/// What is left of `text` after its last statement but one, without a semicolon at the end.
pub fn last(text: &str) -> &str {
    let (mut start, mut end, mut closed) = (0, text.len(), false);
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (length, blank) = token(rest);
        if rest.starts_with(';') {
            if !closed {
                (end, closed) = (at, true);
            }
        } else if !blank {
            if closed {
                (start, closed) = (end + 1, false);
            }
            end = text.len();
        }
        at += length;
    }
    text[start..end].trim_start_matches([';', ' ', '\n'])
}

/// How many bytes the first token has, as far as a semicolon may stand in it, and whether it is a space or a comment.
fn token(text: &str) -> (usize, bool) {
    let until = |open: usize, close: &str| {
        text[open..].find(close).map_or(text.len(), |found| open + found + close.len())
    };
    let first = text.chars().next().map_or(0, char::len_utf8);
    match text.as_bytes() {
        // Two quotes in a row are two texts here, which ends at the same place.
        [b'\'', ..] => (until(1, "'"), false),
        [b'"', ..] => (until(1, "\""), false),
        [b'-', b'-', ..] => (until(2, "\n"), true),
        [b'/', b'*', ..] => (until(2, "*/"), true),
        [b'$', ..] => match text[1..].find('$') {
            Some(tag)
                if text[1..=tag].chars().all(|c| c.is_alphanumeric() || c == '_')
                    && !text[1..].starts_with(|c: char| c.is_ascii_digit()) =>
            {
                (until(tag + 2, &text[..tag + 2]), false)
            }
            _ => (first, false),
        },
        _ => (first, text.starts_with(char::is_whitespace)),
    }
}

#[cfg(test)]
mod tests {
    use super::last;

    #[test]
    fn the_last_statement_is_cut_at_its_own_semicolons() {
        for (text, expected) in [
            ("SELECT 1", "SELECT 1"),
            ("SELECT 1;", "SELECT 1"),
            ("SELECT 1; ;\n;", "SELECT 1"),
            ("SET x = 1; SELECT 2 ; -- the end; of it\n", "SELECT 2 "),
            ("SELECT ';'; FROM t WHERE \"a;b\" = 'it''s;'", "FROM t WHERE \"a;b\" = 'it''s;'"),
            ("SELECT 1 /* ; */ + 2;", "SELECT 1 /* ; */ + 2"),
            ("SELECT 1; SELECT $$;$$, $x$;$$;$x$;", "SELECT $$;$$, $x$;$$;$x$"),
            ("SELECT 1; SELECT $1, $2", "SELECT $1, $2"),
            ("SELECT 'é;'; SELECT 'ü'", "SELECT 'ü'"),
        ] {
            assert_eq!(last(text), expected, "{text}");
        }
    }
}
