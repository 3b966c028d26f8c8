"""Where things are kept: paths and addresses told apart, artifacts in folders of this machine, network file systems."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlparse

from hypar_exp.errors import UserError

SHARED_FILE_SYSTEMS = re.compile(
    r"nfs\d*|cifs|smb\w*|9p|afs|afpfs|ceph|lustre|gpfs|beegfs\w*|gluster\w*|glusterfs|ocfs2|gfs2|pvfs2|orangefs|panfs|"
    r"virtiofs|vboxsf|prl_fs|ncpfs|coda|webdav|davfs|juicefs|wekafs|"
    r"fuse\.(?!fuseblk|portal|gvfsd|ntfs|exfat|encfs|gocryptfs|cryfs|lxcfs|snapfuse|mergerfs|fuse-overlayfs)\S*"
)
"""Types of file systems that several machines can have at once, as Linux names them."""
SQLITE_ADDRESS = "sqlite:///"
"""What an address of a SQLite database begins with; its path follows."""
PLAIN_PATH = re.compile(r"[\w/. +-]+", re.ASCII)
"""Paths that mean the same in an address, however that is taken apart."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_local(location: str) -> bool:
    """Whether an artifact location (a URI, or a path) is a folder of this machine."""
    return urlparse(location).scheme in ("", "file")


def local_folder(location: str) -> Path:
    """The folder of a local artifact location."""
    return (
        Path(os.fsdecode(unquote_to_bytes(urlparse(location).path))) if location.startswith("file:") else Path(location)
    )


def write_files(folder: Path, artifacts: Mapping[str, str | bytes]) -> None:
    """Write contents by file name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in artifacts.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def local_path(key: str, value: str, elsewhere: str) -> Path:
    """The absolute path that a key gives as a path or as a `file:` address.

    Raises:
        UserError: it is an address of something else; `elsewhere` says what takes such.
    """
    if not value:
        raise UserError(f"{key} must be a path (got '')")
    if value.startswith("file:"):
        return local_folder(value).absolute()
    if address := _ADDRESS.match(value):
        shown = address[0] + value[address.end() :].rpartition("@")[2]  # without a password
        raise UserError(f"{key} must be a path on this machine (got {shown!r}); {elsewhere}")
    return Path(value).absolute()


def shared_file_system(path: Path) -> str | None:
    """The type of the file system that holds a path if several machines may have it (nfs4, cifs, lustre, ...).

    None for one of this machine alone, and where the system does not say (it has no /proc).
    """
    try:
        mounts = Path("/proc/self/mountinfo").read_bytes()
    except OSError:
        return None
    kind = file_system_of(path, os.fsdecode(mounts))
    return kind if SHARED_FILE_SYSTEMS.fullmatch(kind) else None


def file_system_of(path: Path, mounts: str) -> str:
    """The type of the file system that holds a path, '' where none is mounted above it.

    Args:
        path: absolute; it need not exist.
        mounts: as /proc/self/mountinfo has it (proc(5)); of two mounts on one folder the later holds.
    """
    existing = path
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    resolved = existing.resolve()
    longest, kind = -1, ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        mounted = Path(re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), fields[4]))
        if len(mounted.parts) >= longest and resolved.is_relative_to(mounted):
            longest, kind = len(mounted.parts), fields[fields.index("-") + 1]
    return kind
