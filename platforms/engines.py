#!/usr/bin/env python3
"""Makes build/cross/PLATFORM-ENGINE/engine: DuckDB of a version for another platform, for the runner of test/sql to talk to.

    engines.py PLATFORM ENGINE…

The engine is the one of DuckDB's own wheel, which exports the C API: test/native serves it without a Python. What it runs in
is qemu's processor or Wine's Windows, both as tools.py unpacked them, with configurations of their own.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
import build  # noqa: E402

CROSS = build.CROSS
PIP = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--python-version", "3.12"]
# The engines that npm has for musl, by the version of the package.
MUSL = {"1.5.6": "1.5.6-r.1"}
MUSL_LIBC = CROSS / "musl/usr/lib/x86_64-linux-musl/libc.so"
QEMU = [str(CROSS / "qemu/usr/bin/qemu-aarch64-static"), "-L", str(CROSS / "arm64")]


def module(platform, engine, folder):
    """The engine's library, from DuckDB's wheel."""
    subprocess.run([*PIP, *(part for tag in platform.wheels for part in ("--platform", tag)), "--dest", folder, f"duckdb=={engine}"], check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if re.fullmatch(r"_duckdb\.[\w.-]+", name))
        archive.extract(name, folder)
    wheel.unlink()
    return folder / name


def musl_module(platform, engine, folder):
    """The engine's library from npm, since there is no wheel for musl; beside it the run-time of C++, which numpy's brings along."""
    if engine not in MUSL:
        sys.exit(f"engines: nobody has published DuckDB {engine} for musl, only {', '.join(MUSL)}")
    subprocess.run(["npm", "pack", "--silent", f"@duckdb/node-bindings-linux-x64-musl@{MUSL[engine]}"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as packed, open(folder / "_duckdb.so", "wb") as library:
        shutil.copyfileobj(packed.extractfile("package/libduckdb.so"), library)
    archive.unlink()
    subprocess.run([*PIP, "--platform", "musllinux_1_2_x86_64", "--dest", folder, "numpy==2.4.6"], check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        for path in packed.namelist():
            found = re.search(r"(lib(?:stdc\+\+|gcc_s))-\w+(\.so\.\d+)[\d.]*$", path)
            if found:
                (folder / Path(path).name).write_bytes(packed.read(path))
                (folder / f"{found[1]}{found[2]}").symlink_to(Path(path).name)
    wheel.unlink()
    (folder / "libc.musl-x86_64.so.1").symlink_to(MUSL_LIBC)
    return folder / "_duckdb.so"


def names(platform, library, folder):
    """A library that has each name of Python's that `library` may ask for. They lead nowhere: whoever calls one dies."""
    content = library.read_bytes()
    found = {name.decode() for name in re.findall(rb"_?Py[A-Z_]\w*(?=\0)", content)}
    # One name may be the tail of another in the file.
    found |= {name.lstrip("_") for name in found}
    python = re.search(rb"python3\d*(?=\.dll\0)", content)
    source, made = folder / "names.c", folder / platform.names.format(python=python[0].decode() if python else "")
    # On Windows what is to be found has to be said, and a library has a function that it starts with.
    export, start = ("__declspec(dllexport) ", "int DllMainCRTStartup(void) { return 1; }\n") if "windows" in platform.target else ("", "")
    source.write_text(start + "".join(f"{export}char {name}[512] = {{0}};\n" for name in sorted(found)))
    build.tools("zig")
    command = [CROSS / "zig/bin/python", "-m", "ziglang", "cc", "-target", platform.target, "-shared", "-nostdlib", "-o", made, source]
    subprocess.run(command, check=True, env=os.environ | {"ZIG_GLOBAL_CACHE_DIR": str(CROSS / "zig-cache")})
    return made


def musl(folder):
    """How programs of musl are run, by its own loader."""
    return {}, [MUSL_LIBC, "--library-path", folder]


def wine(_):
    """How programs for Windows are run."""
    folder, libraries = CROSS / "windows", CROSS / "wine/usr/lib"
    # Two things that Debian's packages look for by a path of the installed system.
    for path, target in ((libraries / "wine/wineserver", "wineserver64"),
                         (libraries / "x86_64-linux-gnu/wine/x86_64-windows/zlib1.dll", CROSS / "wine/usr/x86_64-w64-mingw32/lib/zlib1.dll")):
        if not path.is_symlink():
            path.unlink(missing_ok=True)
            path.symlink_to(target)
    folder.mkdir(exist_ok=True)
    variables = {"WINEDEBUG": "-all", "WINEPREFIX": folder / "prefix", "LD_LIBRARY_PATH": libraries / "x86_64-linux-gnu"}
    return variables, [libraries / "wine/wine64"]


@dataclass(frozen=True)
class Platform:
    """The wheels that DuckDB has for it, zig's name, the library that has Python's names; to run a program, the sets of tools, and for
    the engine's folder the variables for the shell and the command that it follows; and where the engine's library comes from."""

    wheels: tuple[str, ...]
    target: str
    names: str
    tools: tuple[str, ...] = ()
    run: Callable[[Path], tuple[dict, list]] = lambda _: ({}, [])
    module: Callable[..., Path] = module


PLATFORMS = {
    "linux_amd64": Platform(("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_26_x86_64"), "x86_64-linux-gnu", "libpython.so"),
    "linux_arm64": Platform(("manylinux_2_28_aarch64", "manylinux_2_26_aarch64"), "aarch64-linux-gnu", "libpython.so", ("qemu", "arm64"), lambda _: ({}, QEMU)),
    "linux_amd64_musl": Platform((), "x86_64-linux-musl", "libpython.so", ("musl",), musl, musl_module),
    "windows_amd64": Platform(("win_amd64",), "x86_64-windows-gnu", "{python}.dll", ("wine",), wine),
}


def write(script, variables, command, *arguments):
    """Writes a program that runs the command, with the arguments that it gets after those here."""
    exports = "".join(f"export {name}='{value}'\n" for name, value in variables.items())
    words = " ".join(f"'{part}'" for part in (*command, *arguments))
    script.write_text(f"#!/bin/sh\n{exports}exec {words} \"$@\"\n")
    script.chmod(0o755)


def engine(name, version):
    platform, folder = PLATFORMS[name], CROSS / f"{name}-{version}"
    if not (folder / "engine").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        names(platform, platform.module(platform, version, folder), folder)
    (library,) = folder.glob("_duckdb.*")
    (python,) = (path for pattern in ("libpython.so", "python*.dll") for path in folder.glob(pattern))
    # Beside the libraries, where Windows looks for them.
    program = Path(shutil.copy(build.program(name, "sqlengine"), folder))
    write(folder / "engine", *platform.run(folder), program, library, python)
    # Wine's first start makes its configuration, and says so.
    done = subprocess.run([folder / "engine"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if f'"version":"{version}"' not in done.stdout:
        sys.exit(f"engines: {folder / 'engine'} does not answer as DuckDB {version}: {done.stdout}")


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in PLATFORMS:
        sys.exit(f"{__doc__}\nPlatforms: {', '.join(PLATFORMS)}")
    build.tools(*PLATFORMS[sys.argv[1]].tools or ["zig"])
    for version in sys.argv[2:]:
        engine(sys.argv[1], version)


if __name__ == "__main__":
    main()
