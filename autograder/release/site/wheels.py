"""Provides the packages of the site's Python: the kit as a wheel, and the lock from which Pyodide
loads all packages.

The lock contains every package with its digest, and all packages are loaded when Python starts. So
no package is resolved later or downloaded from elsewhere.
"""

import base64
import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name, parse_wheel_filename

from autograder.release.kit import ZIP_EPOCH, Contents

KIT_NAME = "adversarial_search_course"
LOCK = "pyodide-lock.json"
PACKAGES = ("common", "course", "sequence", "tictactoe")
PLOTTING = ("numpy", "matplotlib")  # compiled packages, available only from Pyodide's own server
OUTDATED_WHEELS = ("widgetsnbextension-3",)  # bundled with the kernel; a newer one is included


def kit_wheel(kit: Contents) -> tuple[str, bytes]:
    """Return the name and the bytes of a wheel with the kit's packages, without tests and studies.

    The wheel's version is derived from its contents, so that no browser uses an old wheel.
    """
    files = {name: data for name, data in kit.items() if _is_package(Path(name).parts)}
    records = [_record(name, data) for name, data in sorted(files.items())]
    version = f"0.{int(hashlib.sha256(repr(records).encode()).hexdigest()[:8], 16)}"
    info = f"{KIT_NAME}-{version}.dist-info"
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {KIT_NAME}\nVersion: {version}\n"
    ).encode()
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: autograder\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = f"{info}/RECORD"
    files[record] = (
        "\n".join([*map(_record, files, files.values()), f"{record},,"]) + "\n"
    ).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, ZIP_EPOCH), data, zipfile.ZIP_DEFLATED, 9)
    return f"{KIT_NAME}-{version}-py3-none-any.whl", packed.getvalue()


def _is_package(parts: tuple[str, ...]) -> bool:
    first, *rest = parts
    in_study = (
        first == "course" and rest[:1] and rest[0].startswith("study") and "_check" not in rest
    )
    return first in PACKAGES and bool(rest) and "tests" not in rest and not in_study


def _record(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def pyodide_server(pyodide: Path) -> str:
    """Return the address of the packages for this version of Pyodide."""
    version = json.loads((pyodide / "package.json").read_text("utf-8"))["version"]
    return f"https://cdn.jsdelivr.net/pyodide/v{version}/full"


def install_wheels(
    target: Path,
    pyodide: Path,
    wheels: Iterable[Path],
    kit: tuple[str, bytes],
    plotting_from: str | None = None,
) -> list[str]:
    """Install Pyodide, the wheels and their lock in `target`; return the packages to load.

    `plotting_from` is the server for numpy, matplotlib and their dependencies, if any.
    """
    lock = json.loads((pyodide / LOCK).read_text("utf-8"))
    for path in pyodide.glob("*"):
        if path.suffix in (".mjs", ".wasm", ".zip"):
            shutil.copy(path, target)
    for path in wheels:
        if not path.name.startswith(OUTDATED_WHEELS):
            shutil.copy(path, target)
    (target / kit[0]).write_bytes(kit[1])
    ours = dict(map(_entry, sorted(target.glob("*.whl"))))
    theirs = _plotting(lock["packages"], plotting_from, ours) if plotting_from else {}
    lock["packages"] = ours | theirs
    (target / LOCK).write_text(json.dumps(lock, indent=1) + "\n", "utf-8")
    return sorted(lock["packages"])


def _entry(wheel: Path) -> tuple[str, dict[str, Any]]:
    """Return the lock entry of a wheel, without dependencies, because all packages are loaded
    anyway.
    """
    name, version, _, _ = parse_wheel_filename(wheel.name)
    return name, {
        "name": name,
        "version": str(version),
        "file_name": wheel.name,
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "depends": [],
        "imports": [],
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
    }


def _plotting(
    known: Mapping[str, Any], server: str, ours: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the lock entries of numpy, matplotlib and their dependencies on a server."""
    entries: dict[str, dict[str, Any]] = {}
    waiting = list(PLOTTING)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name not in entries and name not in ours:
            entry = known[name]
            entries[name] = entry | {"file_name": f"{server}/{entry['file_name']}"}
            waiting += entry["depends"]
    return entries
