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


def archive(target: Path, contents: dict[str, bytes]) -> None:
    """Files by name, as an archive that is the same for the same files."""
    with zipfile.ZipFile(target, "w") as into:
        for name, content in sorted(contents.items()):
            into.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    installed = folder / "repository"
    for file in map(Path, sys.argv[2:]):
        content = file.read_bytes()
        name = repository.platform(content)
        # In an archive, since LOAD wants the file's own name.
        archive(folder / f"time_bucket-v{VERSION}-{name}.zip", {repository.NAME: content})
        repository.write(installed, content)
        if "wheel" in PLATFORMS[name]:
            wheel.write(folder, file)
    files = {path.relative_to(installed).as_posix(): path.read_bytes() for path in installed.rglob("*") if path.is_file()}
    archive(folder / f"time_bucket-v{VERSION}-repository.zip", files)
    shutil.rmtree(installed)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(folder.iterdir())]
    (folder / "SHA256SUMS").write_text("".join(sums))
    print("".join(sums), end="")


if __name__ == "__main__":
    main()
