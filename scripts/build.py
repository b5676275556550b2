#!/usr/bin/env python3
"""Builds the extension and stamps it.

    build.py VARIANT FILE                   for this machine, as fast as it can be built
    build.py VARIANT FILE --platform NAME   for a platform of Cargo.toml, as it is released; may be another than this one
    build.py VARIANT FILE --expect NAME     for a platform, with the compiler and linker that this machine has
    build.py cargo SUBCOMMAND …             runs cargo on what a release is built from, so that neither compiles it twice

A variant that differs in flags has a target folder of its own; those that differ in features alone share one, so that the
dependencies are compiled once. The library is the one that cargo names, and is asked for the variant's mark, so that no build
can stamp what another left. The stamp's platform is read from the library. Paths of this machine are mapped, so that a commit
has one file, whoever builds it.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import binary
import package
from project import PLATFORMS, ROOT, host_target

CROSS = ROOT / "build" / "cross"
# What DuckDB calls in a file of this name.
ENTRY = "time_bucket_init_c_api"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()


@dataclass(frozen=True)
class Variant:
    """What cargo is told, the folder below TARGET, what rustc is told, whether both are the nightly ones, and what only
    this variant's library contains."""

    options: tuple[str, ...] = ()
    folder: str = "."
    flags: tuple[str, ...] = ()
    nightly: bool = False
    mark: bytes = b""


FRAMES = "-Cforce-frame-pointers=yes"
# Much smaller than with LLVM's own measure (48 KB less than with 100), and no query slower beyond noise: what the kernel's loops need
# inlined is so by attribute.
SMALL = "-Cllvm-args=-inline-threshold=40"
VARIANTS = {
    "debug": Variant(),
    "release": Variant(("--release",)),
    "identity": Variant(("--release", "--features", "identity"), mark=b"time_bucket_identity"),
    "faults": Variant(("--release", "--features", "fault-injection"), mark=b"TIME_BUCKET_FAULT"),
    "asan": Variant(("--target", host_target()), "asan", ("-Zsanitizer=address", FRAMES), nightly=True),
    "tsan": Variant(("--target", host_target(), "-Zbuild-std"), "tsan", ("-Zsanitizer=thread", FRAMES), nightly=True),
}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout


def sysroot_has(target):
    return any((Path(output("rustc", "--print", "sysroot").strip()) / "lib/rustlib" / target / "lib").glob("libstd-*"))


def tools(*sets):
    """What platforms/tools.py fetches, in place."""
    subprocess.run([sys.executable, ROOT / "platforms" / "tools.py", *sets], check=True)


class Cargo:
    """cargo for one platform: the command, its environment, and what its subcommand gets to know."""

    def __init__(self, platform=None, portable=True):
        self.environment = dict(os.environ)
        self.command = [os.environ.get("CARGO", "cargo")]
        self.arguments = []
        self.flags = self.environment.pop("RUSTFLAGS", "").split()
        # What only the library is linked with.
        self.linked = []
        self.folder = TARGET
        self.triple = host_target()
        if platform is None:
            return
        row = PLATFORMS[platform]
        self.triple = row["target"] if self.native(row["target"]) or not portable else row.get("cross", row["target"])
        if not sysroot_has(self.triple) and portable:
            self.fetched_compiler()
        # zig brings the libc that a release is linked with; Apple's and Microsoft's own tools are better where they are.
        own = "wasm" in self.triple or "msvc" in self.triple or ("apple" in self.triple and sys.platform == "darwin")
        with_zig = portable and not own and "apple" not in self.triple
        if with_zig:
            tools("zig")
            self.path(CROSS / "zig/bin")
            # zig would write into the user's home.
            self.environment["CARGO_ZIGBUILD_CACHE_DIR"] = str(CROSS / "zig-cache")
            self.environment["ZIG_GLOBAL_CACHE_DIR"] = str(CROSS / "zig-cache")
            self.command = ["cargo-zigbuild"]
        self.arguments += ["--target", self.triple + (f".{row['glibc']}" if with_zig and "glibc" in row else "")]
        if "musl" in self.triple:
            # A library that is loaded can't bring a libc of its own.
            self.flags.append("-Ctarget-feature=-crt-static")
        elif "msvc" in self.triple:
            # What DuckDB's own extensions do: no Visual C++ runtime is asked of the user.
            self.flags.append("-Ctarget-feature=+crt-static")
        elif "windows-gnu" in self.triple:
            # zig is not told rustc's own list, and exports everything.
            self.linked.append(f"-Clink-arg={ROOT / 'platforms/windows.def'}")
        elif "emscripten" in self.triple:
            # DuckDB-WASM has Emscripten's runtime in itself, so that no Emscripten is needed to link with.
            tools("lld")
            self.flags += [f"-Clinker={ROOT / 'platforms/emcc.py'}", "-Clink-self-contained=no"]
        elif "apple" in self.triple:
            self.environment.setdefault("MACOSX_DEPLOYMENT_TARGET", row["minimum"])
            # Its name in itself would be the path where it was built.
            name = "-install_name,@rpath/libtime_bucket.dylib"
            if portable and not own:
                self.flags += [f"-Clink-arg={part}" for part in name.split(",")]
                self.linker_of_macos()
            else:
                self.flags.append(f"-Clink-arg=-Wl,{name}")

    def native(self, target):
        """Whether the system's compiler and linker are the ones of `target`."""
        return target == host_target() or ("msvc" in target and os.name == "nt") or ("apple" in target and sys.platform == "darwin")

    def path(self, folder, variable="PATH"):
        """Has programs looked for in the folder first; libraries with LD_LIBRARY_PATH."""
        self.environment[variable] = os.pathsep.join(filter(None, (str(folder), self.environment.get(variable))))

    def linker_of_macos(self):
        """LLVM's, since zig's exports every symbol, with the names of what is in macOS: zig's list, and stubs of what is named but not used."""
        tools("lld", "zig")
        usr, names = CROSS / "lld/usr", CROSS / "macos"
        (system,) = (CROSS / "zig").glob("lib/python*/site-packages/ziglang/lib/libc/darwin/libSystem.tbd")
        # It has processors that this LLVM does not know, and the known one under its newer name alone.
        text = re.sub(r",\s*arm64e\.x1-\w+", "", system.read_text(encoding="utf-8")).replace("arm64e-", "arm64-")
        names.mkdir(exist_ok=True)
        # On macOS, too, the last two are other names of the first.
        for name in ("System", "c", "m"):
            (names / f"lib{name}.tbd").write_text(text, encoding="utf-8")
        self.path(usr / "lib/x86_64-linux-gnu", "LD_LIBRARY_PATH")
        stubs = ROOT / "platforms/macos"
        self.environment["SDKROOT"] = str(stubs)
        # It strips by itself what rustc would have another program strip.
        self.flags += [f"-Clinker={usr / 'lib/llvm-22/bin/ld64.lld'}", "-Clinker-flavor=ld64.lld", "-Cstrip=none",
                       *(f"-Clink-arg={part}" for part in ("-S", "-x", "-dead_strip_dylibs", f"-L{names}", f"-L{stubs}", f"-F{stubs}"))]

    def fetched_compiler(self):
        """A compiler that has its standard library as source, and builds it for any target."""
        tools("rust")
        usr = CROSS / "rust" / "usr"
        self.path(usr / "bin")
        self.path(usr / "lib/x86_64-linux-gnu", "LD_LIBRARY_PATH")
        self.environment |= {"RUSTC_BOOTSTRAP": "1", "RUSTC": str(usr / "bin/rustc")}
        self.arguments.append("-Zbuild-std")
        # Another compiler would build everything anew each time in a folder that two share.
        self.folder = TARGET / "fetched"

    def run(self, subcommand, *arguments, variant=Variant(), **options):
        """Runs a subcommand of cargo, with the paths mapped for a release."""
        target = (self.folder / variant.folder).resolve()
        flags = [*self.flags, *variant.flags]
        if "--release" in variant.options:
            home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")).absolute()
            # The last that fits is taken.
            flags += [SMALL, *(f"--remap-path-prefix={path}={name}" for path, name in ((ROOT, "."), (target, "./target"), (home, "cargo")))]
        environment = self.environment | {"CARGO_TARGET_DIR": str(target)}
        if flags:
            # Not RUSTFLAGS, which would be cut at the spaces of a path.
            environment["CARGO_ENCODED_RUSTFLAGS"] = "\x1f".join(flags)
        toolchain = [os.environ.get("NIGHTLY", "+nightly")] if variant.nightly else []
        command = [*self.command, *toolchain, subcommand, *self.arguments, *variant.options, *arguments]
        return subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, **options)


def artifacts(cargo, package, variant, *linked):
    """Builds a package of the workspace, a library with flags of its own; what cargo says of each target of its name."""
    subcommand, flags = ("rustc", ("--lib", "--", *linked)) if linked else ("build", ())
    done = cargo.run(subcommand, "--locked", "--package", package, "--message-format", "json-render-diagnostics", *flags,
                     variant=variant, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [message for message in messages if message["reason"] == "compiler-artifact" and message["target"]["name"] == package]


def library(cargo, variant):
    """Builds the library of a variant; its path."""
    made = [Path(file) for message in artifacts(cargo, "time_bucket", variant, *cargo.linked) if "cdylib" in message["target"]["crate_types"]
            for file in message["filenames"] if file.endswith((".so", ".dylib", ".dll", ".wasm"))]
    if len(made) != 1:
        sys.exit(f"build: cargo names {len(made)} libraries, not one: {made}")
    return made[0]


def program(platform, package):
    """Builds a program of the workspace for a platform, as a release is built; its path."""
    (made,) = {Path(message["executable"]) for message in artifacts(Cargo(platform), package, VARIANTS["release"]) if message["executable"]}
    return made


def check(found, platform, portable):
    """Ends the build of a library that is not what was asked for."""
    # A module of WebAssembly finds the addresses of its own functions by exporting them.
    promised = {ENTRY} | (found.exports if found.platform == "wasm_eh" else set())
    if portable and found.exports != promised:
        sys.exit(f"build: the library exports {len(found.exports)} names, as {', '.join(sorted(found.exports)[:3])}, where {ENTRY} alone is promised")
    if platform and found.platform != platform:
        sys.exit(f"build: the library is for {found.platform}, not for {platform}; a target of this name is needed, see platforms in Cargo.toml")
    row = PLATFORMS.get(platform, {})
    if portable and "glibc" in row and found.glibc() > tuple(map(int, row["glibc"].split("."))):
        sys.exit(f"build: the library needs glibc {'.'.join(map(str, found.glibc()))}, and {row['glibc']} is promised")
    if portable and "minimum" in row and found.minimum != row["minimum"]:
        sys.exit(f"build: the library needs macOS {found.minimum}, and {row['minimum']} is promised")


def main():
    if sys.argv[1:2] == ["cargo"]:
        sys.exit(Cargo().run(*sys.argv[2:], variant=VARIANTS["release"]).returncode)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variant", choices=VARIANTS)
    parser.add_argument("file", type=Path)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--platform", choices=PLATFORMS)
    which.add_argument("--expect", choices=PLATFORMS)
    arguments = parser.parse_args()
    name = arguments.platform or arguments.expect
    portable = arguments.platform is not None
    made = library(Cargo(name, portable), VARIANTS[arguments.variant])
    content = made.read_bytes()
    marks = {variant.mark for variant in VARIANTS.values() if variant.mark and variant.mark in content}
    if marks != {VARIANTS[arguments.variant].mark} - {b""}:
        sys.exit(f"build: {made} is not the {arguments.variant} variant: another build has just replaced it; build again")
    found = binary.read(content)
    check(found, name, portable)
    package.write(made, arguments.file, found.platform)


if __name__ == "__main__":
    main()
