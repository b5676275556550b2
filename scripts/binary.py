"""What a library is, read from the library itself: DuckDB's name of its platform, what it needs, and what it exports.

The stamp of an extension comes from here, so that a file built for another platform can't bear the name of this one.
"""

import struct
from dataclasses import dataclass, field

ELF_MACHINES = {62: "amd64", 183: "arm64"}
MACH_O_MACHINES = {0x01000007: "amd64", 0x0100000C: "arm64"}
PE_MACHINES = {0x8664: "amd64", 0xAA64: "arm64"}
PT_LOAD, PT_DYNAMIC = 1, 2
DT_NEEDED, DT_STRTAB, DT_VERNEED, DT_VERNEEDNUM = 1, 5, 0x6FFFFFFE, 0x6FFFFFFF
SHT_DYNSYM, STB_LOCAL = 11, 0
LC_SYMTAB, LC_LOAD_DYLIB, LC_ID_DYLIB, LC_BUILD_VERSION = 0x2, 0xC, 0xD, 0x32
N_EXT, N_TYPE, N_PEXT = 0x01, 0x0E, 0x10
WASM_EXPORTS = 7


class Unknown(ValueError):
    """The file is no library of a platform that DuckDB has."""


@dataclass
class Binary:
    """A library: its platform, the names it exports, the libraries it needs and, for each, the versions of symbols; on macOS its
    oldest version and the library's install name."""

    platform: str
    exports: set[str] = field(default_factory=set)
    needed: list[str] = field(default_factory=list)
    versions: set[str] = field(default_factory=set)
    minimum: str | None = None
    name: str | None = None

    def glibc(self) -> tuple[int, ...]:
        """The oldest glibc that has every symbol that the library needs; (0,) if it needs none."""
        found = [version.removeprefix("GLIBC_") for version in self.versions if version.startswith("GLIBC_")]
        return max((tuple(map(int, version.split("."))) for version in found if version[0].isdigit()), default=(0,))


def _text(data, at):
    return data[at : data.index(b"\0", at)].decode()


def _machine(machines, number, what):
    if number not in machines:
        raise Unknown(f"{what} for a processor of number {number}, which the extension is not built for")
    return machines[number]


def _elf(data):
    if data[4:6] != b"\x02\x01":
        raise Unknown("an ELF file that is not 64-bit little-endian")
    machine = _machine(ELF_MACHINES, struct.unpack_from("<H", data, 18)[0], "an ELF file")
    (headers,), (size, count) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQQQ", data, headers + size * n) for n in range(count)]
    loads = [(address, offset, length) for kind, _, offset, address, _, length, *_ in segments if kind == PT_LOAD]

    def offset_of(address):
        return next(offset + address - start for start, offset, length in loads if start <= address < start + length)

    dynamic = []
    for kind, _, offset, _, _, length, *_ in segments:
        if kind == PT_DYNAMIC:
            dynamic = [struct.unpack_from("<QQ", data, at) for at in range(offset, offset + length, 16)]
    values = dict(dynamic)
    strings = offset_of(values[DT_STRTAB])

    needed = [_text(data, strings + value) for tag, value in dynamic if tag == DT_NEEDED]
    versions, at = set(), offset_of(values[DT_VERNEED]) if DT_VERNEED in values else 0
    for _ in range(values.get(DT_VERNEEDNUM, 0)):
        _, entries, _, first, following = struct.unpack_from("<HHIII", data, at)
        entry = at + first
        for _ in range(entries):
            _, _, _, name, step = struct.unpack_from("<IHHII", data, entry)
            versions.add(_text(data, strings + name))
            entry += step
        at += following
    (headers,), (size, count) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<HH", data, 58)
    exports = set()
    for n in range(count):
        kind, _, _, at, length = struct.unpack_from("<IQQQQ", data, headers + size * n + 4)
        for symbol in range(at, at + length, 24) if kind == SHT_DYNSYM else ():
            name, info, _, section = struct.unpack_from("<IBBH", data, symbol)
            if section and info >> 4 != STB_LOCAL:
                exports.add(_text(data, strings + name))
    # musl's libc has no versions, and its name is not glibc's `libc.so.6`.
    musl = any(name == "libc.so" or name.startswith("libc.musl-") for name in needed)
    return Binary(f"linux_{machine}{'_musl' if musl else ''}", exports, needed, versions)


def _mach_o(data):
    machine = _machine(MACH_O_MACHINES, struct.unpack_from("<I", data, 4)[0], "a Mach-O file")
    found = Binary(f"osx_{machine}")
    at = 32

    def library():
        return _text(data, at + struct.unpack_from("<I", data, at + 8)[0])

    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        command, size = struct.unpack_from("<II", data, at)
        if command == LC_ID_DYLIB:
            found.name = library()
        elif command == LC_LOAD_DYLIB:
            found.needed.append(library())
        elif command == LC_SYMTAB:
            symbols, length, strings = struct.unpack_from("<III", data, at + 8)
            for symbol in range(symbols, symbols + 16 * length, 16):
                name, kind = struct.unpack_from("<IB", data, symbol)
                if kind & N_EXT and kind & N_TYPE and not kind & N_PEXT:
                    # C's names have an underscore more there.
                    found.exports.add(_text(data, strings + name).removeprefix("_"))
        elif command == LC_BUILD_VERSION:
            (version,) = struct.unpack_from("<I", data, at + 12)
            found.minimum = f"{version >> 16}.{version >> 8 & 255}"
        at += size
    return found


def _pe(data):
    (header,) = struct.unpack_from("<I", data, 60)
    if data[header : header + 4] != b"PE\0\0":
        raise Unknown("an MS-DOS program")
    machine, sections = struct.unpack_from("<HH", data, header + 4)
    found = Binary(f"windows_{_machine(PE_MACHINES, machine, 'a PE file')}")
    (length,) = struct.unpack_from("<H", data, header + 20)
    table = [struct.unpack_from("<IIII", data, header + 24 + length + 40 * n + 8) for n in range(sections)]

    def offset_of(address):
        return next(offset + address - start for size, start, _, offset in table if start <= address < start + size)

    (exports,) = struct.unpack_from("<I", data, header + 24 + 112)
    if exports:
        count, _, names = struct.unpack_from("<III", data, offset_of(exports) + 24)
        found.exports = {_text(data, offset_of(at)) for at in struct.unpack_from(f"<{count}I", data, offset_of(names))}
    return found


def _wasm(data):
    # The extension's WebAssembly is built with exceptions, DuckDB's `eh`; the file does not say so.
    found, at = Binary("wasm_eh"), 8

    def number():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return value

    while at < len(data):
        kind, at = data[at], at + 1
        length = number()
        end = at + length
        for _ in range(number()) if kind == WASM_EXPORTS else ():
            length = number()
            found.exports.add(data[at : at + length].decode())
            at += length + 1
            number()
        at = end
    return found


#  the first bytes, and who reads the rest
FORMATS = {
    b"\x7fELF": _elf,
    b"\xcf\xfa\xed\xfe": _mach_o,
    b"MZ": _pe,
    b"\0asm": _wasm,
}


def read(data: bytes) -> Binary:
    """What the library with this content is; Unknown if it is none that an engine could load."""
    for magic, reader in FORMATS.items():
        if data.startswith(magic):
            try:
                return reader(data)
            except (struct.error, StopIteration, LookupError, ValueError) as error:
                if isinstance(error, Unknown):
                    raise
                raise Unknown(f"a damaged library: {error!r}") from error
    raise Unknown(f"no library of Linux, macOS, Windows or WebAssembly: it begins with {data[:4]!r}")
