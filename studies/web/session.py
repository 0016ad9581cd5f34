"""Session with a browser: a code that works once is exchanged for a cookie.

The code is in the fragment of the printed address, which is not part of any request or log. The cookie is sent only to
the session's folder, whose name is random: a browser sends cookies to every port of a machine, and another program
that listens on a port cannot know the folder.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence

COOKIE = "sdc-explorer"
_MOST_CODES = 8  # most codes that were printed and not used yet


class Session:
    """Codes that were not used yet, and the cookie of browsers that used one.

    Attributes
    ----------
    folder
        Path below which everything is served, with a slash at both ends.

    Examples
    --------
    >>> session = Session()
    >>> code = session.code()
    >>> session.redeem(code) is None, session.redeem(code) is None
    (False, True)
    """

    def __init__(self) -> None:
        self.folder = f"/{secrets.token_urlsafe(12)}/"
        self._key = secrets.token_urlsafe(32)
        self._codes: list[bytes] = []

    def code(self) -> str:
        """A new code."""
        code = secrets.token_urlsafe(24)
        self._codes = [*self._codes, code.encode()][-_MOST_CODES:]
        return code

    def redeem(self, code: str) -> str | None:
        """Redeem a code: return the value of the Set-Cookie header, or None if the code is unknown or used."""
        given = code.encode("utf-8", "replace")
        for known in self._codes:
            if hmac.compare_digest(given, known):
                self._codes.remove(known)
                return f"{COOKIE}={self._key}; Path={self.folder}; HttpOnly; SameSite=Strict"
        return None

    def holds(self, cookies: Sequence[bytes]) -> bool:
        """Whether Cookie headers contain the session's cookie."""
        given = [part.strip().partition(b"=") for header in cookies for part in header.split(b";")]
        wanted = self._key.encode()
        return any(name == COOKIE.encode() and hmac.compare_digest(value, wanted) for name, _, value in given)
