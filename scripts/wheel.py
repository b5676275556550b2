#!/usr/bin/env python3
"""Makes the wheels of python/, one for each extension file.

    wheel.py FOLDER FILE…
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from project import ROOT


def write(folder: Path, file: Path) -> None:
    """Adds the wheel that carries the file to the folder."""
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", folder,
                    ROOT / "python"], check=True, env=os.environ | {"TIME_BUCKET_EXTENSION": str(file.absolute())})


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    for file in sys.argv[2:]:
        write(folder, Path(file))
    print("\n".join(str(path) for path in sorted(folder.iterdir())))


if __name__ == "__main__":
    main()
