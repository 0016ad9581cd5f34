"""Catalogue of instances: ours in a folder with an index, those of other packages by entry points."""

from __future__ import annotations

import functools
import json
import shlex
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sdc_problems._files import resolved
from sdc_problems._plugins import entries, loaded
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.suite._instance import Instance

GROUP = "sdc_problems.instances"
"""Entry point group of other packages' instances; each entry leads to an `InstanceFolder` of its name."""

INDEX = "index.json"
SCHEMA = "sdc.instances/1"
FOLDER = Path(__file__).parent

_OWN: dict[str, tuple[Path, str]] = {}
"""File and digest of the instances that the user named by their files, by id."""


@dataclass(frozen=True)
class InstanceFolder:
    """Folder of instances of another package, for the entry point group ``sdc_problems.instances``.

    Attributes
    ----------
    name
        Name of the entry point.
    path
        Folder with the files of the instances and the ``index.json`` that `freeze` writes.
    """

    name: str
    path: Path


def instance(name: str) -> Instance:
    """Find an instance by its id; without ``@`` and a version, the newest.

    Parameters
    ----------
    name
        Such as ``"pbg-people-k-glm@1"``.

    Examples
    --------
    >>> instance("pbg-people-k-glm").id
    'pbg-people-k-glm@1'
    >>> instance("pbg-people-k-gml@1")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    sdc_problems.errors.SDCError: unknown instance 'pbg-people-k-gml@1'; did you mean 'pbg-people-k-glm@1'?...
    """
    known = {**_known(), **_OWN}
    versions = [key for key in known if key.rpartition("@")[0] == name]
    key = max(versions, key=_version) if versions else name
    if key not in known:
        hint = did_you_mean(str(name), [*known, *{key.rpartition("@")[0] for key in known}])
        raise SDCError(
            f"unknown instance {name!r}{hint}; sdc_problems.suite.instances() lists all {len(known)}. Name a frozen"
            " instance of your own by its file, or those of a folder by the folder (--instance own/mine@1.toml, in"
            f" Python Instance('own/mine@1.toml')). The entry point {GROUP!r} of an installed package makes it known by"
            " its id"
        )
    return _read(*known[key])


def known_ids(name: str) -> list[str]:
    """Ids for what a user names: an id as it is; of a file or a folder of the user's own, the ids of its instances.

    `instance` knows these from then on, also in the processes that `own_files` is handed to.

    Parameters
    ----------
    name
        An id, the TOML file of a frozen instance, or a folder whose ``index.json`` lists some.
    """
    place = Path(name)
    if not (name.endswith(".toml") or place.name != name or (place.is_dir() and name not in _known())):
        return [name]
    if place.is_dir():
        files = [place / path for path in read_index(place)]
        if not files:
            raise SDCError(
                f"the folder {name!r} has no frozen instance (no {INDEX}): freeze one by sdc benchmark freeze"
                f" {shlex.quote(str(place / '<id>.toml'))}"
            )
    elif place.is_file():
        files = [place]
    else:
        near = [path.name for path in place.parent.glob("*.toml")] if place.parent.is_dir() else []
        raise SDCError(
            f"there is no file {name!r}{did_you_mean(place.name, near)}; name the TOML file of a frozen instance, the"
            " folder of several, or an id of `sdc benchmark list`"
        )
    return [_made_known(file) for file in files]


def own_files() -> tuple[Path, ...]:
    """Files that `known_ids` has made known, to make them known in other processes."""
    return tuple(path for path, _ in _OWN.values())


def _made_known(file: Path) -> str:
    file = resolved(file)
    found = Instance(file)
    listed = read_index(file.parent).get(file.name, found.digest)
    if listed != found.digest:
        raise SDCError(
            f"{file.name} was changed after it was frozen: freeze it again (sdc benchmark freeze), with the next"
            " version in its id if it was published"
        )
    _, digest = {**_known(), **_OWN}.get(found.id, (file, found.digest))
    if digest != found.digest:
        raise SDCError(
            f"{file.name}: another instance has the id {found.id!r}; choose another id, rename the file to it, and"
            " freeze it again"
        )
    _OWN[found.id] = file, found.digest
    return found.id


def instances(suite: str | None = None, *, newest: bool = True) -> list[Instance]:
    """List the instances of a suite, or of all.

    Parameters
    ----------
    suite
        ``"core"`` needs no download, ``"public"`` files of others; other packages may have suites of their own.
    newest
        Whether an older version of an instance is left out.

    Examples
    --------
    >>> {found.suite for found in instances("core")}
    {'core'}
    """
    found = [_read(*place) for place in _known().values()]
    if suite is not None:
        names = suites(found)
        if suite not in names:
            raise SDCError(f"unknown suite {suite!r}{did_you_mean(suite, names)}; there are: {', '.join(names)}")
        found = [one for one in found if one.suite == suite]
    if newest:
        last = {one.id.rpartition("@")[0]: one.id for one in sorted(found, key=lambda one: _version(one.id))}
        found = [one for one in found if one.id in last.values()]
    return found


def suites(of: Iterable[Instance] | None = None) -> tuple[str, ...]:
    """Names of all suites.

    Parameters
    ----------
    of
        Instances; all if not given.
    """
    return tuple(dict.fromkeys(one.suite for one in (instances(newest=False) if of is None else of)))


def read_index(folder: Path) -> dict[str, str]:
    """Path of each instance's file, relative to the folder, and its SHA-256, as an index lists them."""
    try:
        said = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise SDCError(f"{INDEX} of {folder.name} is not a JSON file: {error}") from error
    if not isinstance(said, dict) or said.get("schema") != SCHEMA:
        raise SDCError(f"{INDEX} of {folder.name} is not an index of instances ({SCHEMA})")
    return dict(said["instances"])


def write_index(folder: Path, files: dict[str, str]) -> None:
    """Write an index: path and SHA-256 of each instance's file."""
    text = json.dumps({"schema": SCHEMA, "instances": dict(sorted(files.items()))}, indent=1) + "\n"
    (folder / INDEX).write_text(text, encoding="utf-8", newline="\n")


def forget() -> None:
    """Forget the files that were read, because they have changed."""
    _OWN.clear()
    _known.cache_clear()
    _read.cache_clear()


@functools.cache
def _known() -> dict[str, tuple[Path, str]]:
    """File and digest of each instance by id, those of other packages last."""
    found = {Path(path).name.removesuffix(".toml"): (FOLDER / path, digest) for path, digest in _ours()}
    for entry in entries(GROUP, ("core", "public")).values():
        try:
            folder = loaded(entry, InstanceFolder)
            theirs = read_index(Path(folder.path))
        except SDCError as error:
            warnings.warn(str(error), stacklevel=2)
            continue
        for path, digest in theirs.items():
            found.setdefault(Path(path).name.removesuffix(".toml"), (Path(folder.path) / path, digest))
    return found


def _ours() -> Iterable[tuple[str, str]]:
    return read_index(FOLDER).items()


@functools.cache
def _read(path: Path, digest: str) -> Instance:
    found = Instance(path)
    if found.digest != digest:
        raise SDCError(f"{path.name} is not the file that the index lists: its SHA-256 differs")
    return found


def _version(key: str) -> int:
    version = key.rpartition("@")[2]
    return int(version) if version.isdigit() else 0
