"""What scripts/build.py asks of cargo, and which libraries it stamps. The cargo here gives a library that the test chose."""

import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import binary  # noqa: E402
import build as builder  # noqa: E402
import project  # noqa: E402

# Writes down how it was called, and names the library LIBRARY as what it built.
CARGO = """#!{python}
import json, os, sys
json.dump([sys.argv[1:], dict(os.environ)], open({record!r}, "w"))
print("text that is no message")
print(json.dumps({{"reason": "compiler-artifact", "target": {{"name": "serde", "crate_types": ["cdylib"]}}, "filenames": ["/x.so"]}}))
for _ in range(int(os.environ.get("TIMES", "1"))):
    print(json.dumps({{"reason": "compiler-artifact", "target": {{"name": "time_bucket", "crate_types": ["cdylib"]}},
                      "filenames": [os.environ["LIBRARY"], "/x.rlib"]}}))
"""


def mach_o(machine, minimum, symbols=()):
    """The header of a library of macOS, the oldest version that it is for, and symbols, each with the bits of its kind."""
    strings, table, at = b"\0", b"", 32 + 24 + 24
    for name, kind in symbols:
        table += struct.pack("<IBBHQ", len(strings), kind, 1, 0, 0)
        strings += name.encode() + b"\0"
    commands = struct.pack("<IIIIII", 0x32, 24, 1, minimum << 16, 0, 0)
    commands += struct.pack("<IIIIII", 2, 24, at, len(symbols), at + len(table), len(strings))
    return struct.pack("<IIIIIIII", 0xFEEDFACF, machine, 0, 6, 2, len(commands), 0, 0) + commands + table + strings


def pe(machine, names=()):
    """A library of Windows whose one section, 4096 bytes further in memory, holds the names that it exports."""
    header, start = 64, 64 + 24 + 240 + 40
    at = 4096 + start
    addresses, strings = b"", b""
    for name in names:
        addresses += struct.pack("<I", at + 40 + 4 * len(names) + len(strings))
        strings += name.encode() + b"\0"
    content = bytes(24) + struct.pack("<IIII", len(names), 0, at + 40, 0) + addresses + strings
    optional = struct.pack("<H", 0x20B).ljust(112, b"\0") + struct.pack("<I", at if names else 0)
    section = b".edata\0\0" + struct.pack("<IIII", len(content), at, len(content), start)
    coff = struct.pack("<HHIIIHH", machine, 1, 0, 0, 0, 240, 0)
    return b"MZ".ljust(60, b"\0") + struct.pack("<I", header) + b"PE\0\0" + coff + optional.ljust(240, b"\0") + section.ljust(40, b"\0") + content


def wasm(names=()):
    """A module with a section of types before that of the names that it exports, and the stamp's kind of section after it."""
    exports = bytes([len(names)]) + b"".join(bytes([len(name)]) + name.encode() + b"\0\x81\1" for name in names)
    return b"\0asm\1\0\0\0" + b"\1\x81\0\0" + b"\7" + bytes([len(exports) | 128, 0]) + exports + b"\0\3\2ab"


def elf(machine, libc, versions=()):
    """A library of Linux that needs a libc and versions of its symbols."""
    strings, offsets = b"\0", {}
    for text in (libc, *versions):
        offsets[text] = len(strings)
        strings += text.encode() + b"\0"
    start, entries = 64 + 2 * 56, len(versions)
    need = struct.pack("<HHIII", 1, entries, offsets[libc], 16, 0)
    for n, version in enumerate(versions):
        need += struct.pack("<IHHII", 0, 0, 2, offsets[version], 16 if n + 1 < entries else 0)
    dynamic = [(1, offsets[libc]), (5, start), (0x6FFFFFFE, start + len(strings)), (0x6FFFFFFF, 1 if versions else 0), (0, 0)]
    table = b"".join(struct.pack("<QQ", *row) for row in dynamic)
    at, size = start + len(strings) + len(need), start + len(strings) + len(need) + len(table)
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    segments = struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, size, size, 4096) + struct.pack("<IIQQQQQQ", 2, 4, at, at, 0, len(table), len(table), 8)
    return header + segments + strings + need + table


LIBRARIES = {
    "linux_amd64": elf(62, "libc.so.6", ["GLIBC_2.2.5", "GLIBC_2.17", "GCC_3.0"]),
    "linux_arm64": elf(183, "libc.so.6", ["GLIBC_2.17"]),
    "linux_amd64_musl": elf(62, "libc.so"),
    "osx_amd64": mach_o(0x01000007, 11),
    "osx_arm64": mach_o(0x0100000C, 11),
    "windows_amd64": pe(0x8664),
    "wasm_eh": wasm(),
}
HERE = project.host()


@pytest.fixture
def build(tmp_path):
    """build(library, *arguments, **environment): how it ended, the call of cargo, and the file if one was written."""
    record, cargo = tmp_path / "record", tmp_path / "cargo"
    cargo.write_text(CARGO.format(python=sys.executable, record=str(record)))
    cargo.chmod(0o755)

    def build(library, *arguments, variant="release", **environment):
        path = tmp_path / "library.so"
        path.write_bytes(library)
        out = tmp_path / "out" / "time_bucket.duckdb_extension"
        clean = {name: value for name, value in os.environ.items() if name not in ("RUSTFLAGS", "CARGO_TARGET_DIR", "CARGO_HOME")}
        done = subprocess.run([sys.executable, ROOT / "scripts/build.py", variant, out, *arguments], capture_output=True, text=True,
                              env=clean | {"CARGO": str(cargo), "LIBRARY": str(path)} | environment)
        call, seen = json.loads(record.read_text()) if record.exists() else (None, None)
        return done, call, seen, out.read_bytes() if out.exists() else None

    return build


def stamp(content):
    return content[-512 + 6 * 32 :][:32].rstrip(b"\0").decode()


@pytest.mark.parametrize("platform", LIBRARIES)
def test_the_stamp_is_the_librarys(build, platform):
    done, _, _, content = build(LIBRARIES[platform])
    assert done.returncode == 0, done.stderr
    assert stamp(content) == platform
    assert content[:-534] == LIBRARIES[platform]


def test_every_released_platform_is_known_here():
    assert set(LIBRARIES) == set(project.PLATFORMS)


@pytest.mark.parametrize("library", [name for name in LIBRARIES if name != HERE])
def test_a_library_for_another_platform_is_refused(build, library):
    done, *_, content = build(LIBRARIES[library], "--expect", HERE)
    assert done.returncode != 0 and content is None
    assert f"the library is for {library}, not for {HERE}" in done.stderr


@pytest.mark.parametrize("content", [b"", b"text", b"\x7fELF", LIBRARIES["linux_amd64"][:100], pe(0x1C0), mach_o(7, 11), elf(40, "libc.so.6"), b"MZ"])
def test_what_is_no_library_is_refused(content):
    with pytest.raises(binary.Unknown):
        binary.read(content)


def test_the_versions_of_symbols_are_read():
    assert binary.read(elf(62, "libc.so.6", ["GLIBC_2.2.5", "GLIBC_2.34", "GLIBC_2.9", "GLIBC_PRIVATE"])).glibc() == (2, 34)
    assert binary.read(elf(62, "libc.so.6")).glibc() == (0,)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads this system's own libraries")
def test_agrees_with_objdump(tmp_path):
    library = subprocess.run(["gcc", "-print-file-name=libstdc++.so.6"], capture_output=True, text=True, check=True).stdout.strip()
    said = subprocess.run(["objdump", "-T", library], capture_output=True, text=True, check=True).stdout
    undefined = {word.strip("()") for line in said.splitlines() if "*UND*" in line for word in line.split() if "GLIBC_" in word}
    defined = {line.split()[-1] for line in said.splitlines() if re.match(r"[0-9a-f]{16}", line) and "*UND*" not in line}
    found = binary.read(Path(library).read_bytes())
    assert undefined == {version for version in found.versions if version.startswith("GLIBC_")}
    assert len(defined) > 1000 and defined == found.exports


#  names of Mach-O: exported, undefined, local, hidden
EXPORTS = {"osx": mach_o(0x0100000C, 11, [("_one", 0x0F), ("_two", 0x03), ("_asked", 0x01), ("_own", 0x0E), ("_hidden", 0x1F)]),
           "windows": pe(0x8664, ["one", "two"]), "wasm": wasm(["one", "two"])}


@pytest.mark.parametrize("system", EXPORTS)
def test_the_exports_are_read(system):
    assert binary.read(EXPORTS[system]).exports == {"one", "two"}


@pytest.mark.parametrize("exports", [{"time_bucket_init_c_api", "rust_eh_personality"}, {"another"}, set()])
def test_a_release_exports_its_entry_alone(exports):
    with pytest.raises(SystemExit, match=f"exports {len(exports)} names"):
        builder.check(binary.Binary("windows_amd64", exports), "windows_amd64", True)
    builder.check(binary.Binary("windows_amd64", {"time_bucket_init_c_api"}), "windows_amd64", True)


def test_a_module_of_webassembly_exports_its_entry_too():
    builder.check(binary.Binary("wasm_eh", {"time_bucket_init_c_api", "rust_eh_personality"}), "wasm_eh", True)
    with pytest.raises(SystemExit, match="exports 1 names"):
        builder.check(binary.Binary("wasm_eh", {"rust_eh_personality"}), "wasm_eh", True)


MARKS = {"release": b"", "debug": b"", "identity": b"time_bucket_identity", "faults": b"TIME_BUCKET_FAULT"}


@pytest.mark.parametrize("variant", MARKS)
@pytest.mark.parametrize("found", MARKS)
def test_no_variant_is_stamped_as_another(build, variant, found):
    done, call, _, content = build(LIBRARIES[HERE] + MARKS[found], variant=variant)
    assert ("--features" in call) == (MARKS[variant] != b"")
    if MARKS[variant] == MARKS[found]:
        assert done.returncode == 0 and content is not None
    else:
        assert done.returncode != 0 and content is None and f"is not the {variant} variant" in done.stderr


def test_a_target_folder_of_the_users(build, tmp_path):
    _, _, seen, _ = build(LIBRARIES[HERE], CARGO_TARGET_DIR=str(tmp_path / "my target"))
    assert seen["CARGO_TARGET_DIR"] == str(tmp_path / "my target")
    assert f"--remap-path-prefix={tmp_path}/my target=./target" in seen["CARGO_ENCODED_RUSTFLAGS"].split("\x1f")


def test_flags_and_paths_with_spaces_arrive_whole(build):
    _, _, seen, _ = build(LIBRARIES[HERE], RUSTFLAGS="-Ctarget-cpu=native -Copt-level=2", CARGO_HOME="/a home")
    flags = seen["CARGO_ENCODED_RUSTFLAGS"].split("\x1f")
    assert flags[:2] == ["-Ctarget-cpu=native", "-Copt-level=2"]
    assert f"--remap-path-prefix={ROOT}=." in flags and "--remap-path-prefix=/a home=cargo" in flags
    assert "RUSTFLAGS" not in seen


def test_no_library_and_two_are_refused(build):
    for times in ("0", "2"):
        done, *_, content = build(LIBRARIES[HERE], TIMES=times)
        assert done.returncode != 0 and content is None and f"cargo names {times} libraries" in done.stderr


def test_a_failing_cargo_fails(build, tmp_path):
    done, *_, content = build(LIBRARIES[HERE], CARGO="false")
    assert done.returncode != 0 and content is None


def test_expected_platforms_get_their_target(build):
    _, call, _, _ = build(LIBRARIES["osx_amd64"], "--expect", "osx_amd64")
    assert call[call.index("--target") + 1] == "x86_64-apple-darwin"
    _, call, seen, _ = build(LIBRARIES["linux_amd64_musl"], "--expect", "linux_amd64_musl")
    assert "-Ctarget-feature=-crt-static" in seen["CARGO_ENCODED_RUSTFLAGS"].split("\x1f")
    _, _, seen, _ = build(LIBRARIES["windows_amd64"], "--expect", "windows_amd64")
    assert "-Ctarget-feature=+crt-static" in seen["CARGO_ENCODED_RUSTFLAGS"].split("\x1f")
