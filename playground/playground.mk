# The page that runs the extension in the browser, and what is tested of WebAssembly. Part of the Makefile.

PLAYGROUND := build/playground
# What npm brings: DuckDB-WASM, the editor, the bundler, and what drives a browser.
WEB := build/web
DUCKDB_WASM := $(WEB)/node_modules/@duckdb/duckdb-wasm/dist
WASM := build/platforms/wasm_eh/time_bucket.duckdb_extension

$(WEB)/node_modules: playground/package.json playground/package-lock.json
	mkdir -p $(@D)
	cp $^ $(@D)
	cd $(@D) && npm ci --silent --no-audit --no-fund
	touch $@

$(PLAYGROUND)/duckdb.packed: $(WEB)/node_modules
	mkdir -p $(@D)
	gzip -9 -n -c $(DUCKDB_WASM)/duckdb-eh.wasm > $@

## playground: build/playground, a page that runs the extension in the browser (npm)
.PHONY: playground
playground: $(PLAYGROUND)/duckdb.packed $(WASM)
	cp playground/index.html playground/style.css $(PLAYGROUND)
	cp $(DUCKDB_WASM)/duckdb-browser-eh.worker.js $(PLAYGROUND)/worker.js
	cp $(WASM) $(PLAYGROUND)/time_bucket.duckdb_extension.wasm
	NODE_PATH=$(WEB)/node_modules $(WEB)/node_modules/.bin/esbuild playground/main.js --bundle --format=esm --target=es2022 --minify \
	  --loader:.sql=text --define:MODULE_SIZE=$$(wc -c < $<) --outfile=$(PLAYGROUND)/main.js --log-level=warning
	@echo "$(PYTHON) -m http.server --bind 127.0.0.1 --directory $(PLAYGROUND)    shows it at http://127.0.0.1:8000"

## test-playground: the page in Chromium, each answer against the command line's; screenshots in build/screenshots (npm, chromium)
.PHONY: test-playground
test-playground: playground $(EXT) build/tools/duckdb
	node playground/test.mjs $(WEB) $(PLAYGROUND) build/tools/duckdb $(EXT) build/screenshots

# ICU, JSON and Parquet are no part of DuckDB-WASM, which would fetch them; under Node it has no files of its own, and its answer to
# EXECUTE can't be asked for as text.
WASM_TESTS = $(shell grep -L -E '^(require (icu|json|parquet)|load|restart)|ATTACH|EXECUTE|TimeZone' test/sql/*.test)

WASM_FAULTS := build/faults-wasm_eh/time_bucket.duckdb_extension

$(WASM_FAULTS): $(SOURCES) platforms/tools.py platforms/tools.toml | $(WASM)
	$(call build,faults) --platform wasm_eh

## test-wasm: what of test/sql needs neither ICU nor files, in DuckDB-WASM under Node, and what becomes of a panic there (npm)
.PHONY: test-wasm
test-wasm: $(WASM) $(WASM_FAULTS) $(SQLTEST) $(WEB)/node_modules
	TIME_BUCKET_WEB=$(WEB) $(SQLTEST) --python test/wasm/engine.mjs --extension $(WASM) $(WASM_TESTS)
	TIME_BUCKET_WEB=$(WEB) TIME_BUCKET_FAULTS=$(abspath $(WASM_FAULTS)) node --test test/wasm/panics.mjs
