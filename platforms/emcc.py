#!/usr/bin/env python3
"""Links the library for DuckDB-WASM: stands where rustc expects Emscripten's emcc, and calls LLVM's wasm-ld.

The library is a side module: what it does not define, it imports from DuckDB-WASM, which has Emscripten's runtime and libc,
the unwinder among them, in itself. So of emcc's work only the linking is left.
"""
import os
import pathlib
import sys

USR = pathlib.Path(__file__).resolve().parent.parent / "build" / "cross" / "lld" / "usr"
WASM_LD = USR / "lib" / "llvm-22" / "bin" / "wasm-ld"
OPTIONS = [
    "-shared", "--experimental-pic", "--no-entry", "--allow-undefined", "--gc-sections", "--strip-debug", "--no-export-dynamic",
    "--export=time_bucket_init_c_api",
    # Emscripten's loader calls these.
    "--export-if-defined=__wasm_apply_data_relocs", "--export-if-defined=__wasm_call_ctors",
]


def main():
    arguments = sys.argv[1:]
    output = arguments[arguments.index("-o") + 1]
    inputs = [argument for argument in arguments if argument.endswith((".o", ".rlib", ".a"))]
    environment = os.environ | {"LD_LIBRARY_PATH": str(USR / "lib" / "x86_64-linux-gnu")}
    os.execve(WASM_LD, [str(WASM_LD), *OPTIONS, "-o", output, *inputs], environment)


main()
