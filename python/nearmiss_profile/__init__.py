# SPDX-License-Identifier: MIT
"""Reads the profiles of nearmiss: SQLite databases, whose views docs/format/profile.md describes.

A profile is opened for reading only. Names and columns of views stay; new columns come at the end, so rows are
dictionaries.
"""
from __future__ import annotations

import os
import pathlib
import sqlite3
import types
import typing

if typing.TYPE_CHECKING:
    import pandas

__all__ = ["Profile", "ProfileError", "Row"]

APPLICATION = 0x6E6D7066
VERSION = 1

Value = typing.Union[int, float, str, None]
Row = typing.Dict[str, Value]


class ProfileError(Exception):
    """A file that is no profile, or one of another version, or a view or statement that it does not take."""


class Profile:
    """A profile; usable in a `with` statement."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = pathlib.Path(path)
        if not self.path.is_file():
            raise ProfileError(f"{self.path}: no such file")
        self._data = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            application, version = (self._data.execute(f"PRAGMA {name}").fetchone()[0]
                                    for name in ("application_id", "user_version"))
        except sqlite3.DatabaseError:
            application, version = 0, 0
        if (application, version) != (APPLICATION, VERSION):
            self.close()
            raise ProfileError(f"{self.path}: " + (f"version {version}, not {VERSION}" if application == APPLICATION
                                                   else "not a profile of nearmiss"))

    def __enter__(self) -> Profile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: types.TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._data.close()

    @property
    def info(self) -> dict[str, str]:
        """The facts about the recording: the view `info`."""
        return dict(self._data.execute("SELECT key, value FROM info"))

    @property
    def views(self) -> list[str]:
        """The names of all views."""
        return [name for name, in self._data.execute("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY 1")]

    @property
    def levels(self) -> list[str]:
        """The names of the levels, the first one first."""
        return list(dict.fromkeys(name for name, in self._data.execute("SELECT level FROM levels")))

    def _query(self, what: str, values: typing.Sequence[Value]) -> sqlite3.Cursor:
        try:
            return self._data.execute(f"SELECT * FROM {what}" if what in self.views else what, values)
        except sqlite3.Error as error:
            raise ProfileError(f"{self.path}: {error}") from None

    def rows(self, what: str, values: typing.Sequence[Value] = ()) -> typing.Iterator[Row]:
        """The rows of a view, or of a statement with its values for `?`."""
        cursor = self._query(what, values)
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row)) for row in cursor)

    def frame(self, what: str, values: typing.Sequence[Value] = ()) -> pandas.DataFrame:
        """The same as a table of pandas."""
        import pandas  # pylint: disable=import-outside-toplevel # optional

        cursor = self._query(what, values)
        return pandas.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description])
