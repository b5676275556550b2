#!/usr/bin/env python3
"""Gathers what a release offers for download: each platform's file, the repository, the wheels, and the checksums of all.

    assets.py FOLDER FILE…      one extension file for each platform, each stamped with its own
"""

import hashlib
import shutil
import sys
import zipfile
from pathlib import Path

import repository
import wheel
from project import PLATFORMS, VERSION


def zipped(folder: Path, target: Path) -> None:
    """The folder as an archive that is the same for the same files."""
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.writestr(zipfile.ZipInfo(path.relative_to(folder).as_posix()), path.read_bytes())


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder, files = Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    installed = folder / "repository"
    for file in files:
        content = file.read_bytes()
        name = repository.platform(content)
        (folder / f"time_bucket-v{VERSION}-{name}.duckdb_extension").write_bytes(content)
        repository.write(installed, content)
        if "wheel" in PLATFORMS[name]:
            wheel.write(folder, file)
    zipped(installed, folder / f"time_bucket-v{VERSION}-repository.zip")
    shutil.rmtree(installed)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(folder.iterdir())]
    (folder / "SHA256SUMS").write_text("".join(sums))
    print("".join(sums), end="")


if __name__ == "__main__":
    main()
