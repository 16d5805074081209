"""Where Neo4j is: GRAPH_URL taken apart, and refused where it cannot be right. Imports nothing of the desk."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
PORT = 7687
SHAPE = "GRAPH_URL must look like bolt://user:password@host:7687"


@dataclass(frozen=True)
class GraphAddress:
    """`uri` holds no credentials, so it may be shown; `database` None is the server's own default."""

    uri: str
    user: str | None = None
    password: str | None = None
    database: str | None = None

    def __repr__(self) -> str:
        return f"GraphAddress({self.uri!r})"

    @property
    def auth(self) -> tuple[str, str] | None:
        return None if self.user is None else (self.user, self.password or "")


def parse_graph_url(url: str) -> GraphAddress | None:
    """None for an empty setting. Raises ValueError, without the password in its text."""
    if not url.strip():
        return None
    try:
        parts = urlsplit(url.strip())
        port = parts.port or PORT
    except ValueError as error:
        raise ValueError(f"{SHAPE}: its host or port cannot be read") from error
    if parts.scheme not in SCHEMES:
        raise ValueError(f"{SHAPE}; its scheme must be one of {', '.join(SCHEMES)}")
    if not parts.hostname:
        raise ValueError(f"{SHAPE}: it names no host")
    if parts.query or parts.fragment:
        raise ValueError(f"{SHAPE}: it takes no ? and no #; write them in a password as %3F and %23")
    if (parts.username is None) != (parts.password is None) or parts.username == "":
        raise ValueError(f"{SHAPE}: it has a user or a password, not both")
    database = unquote(parts.path.strip("/")) or None
    if database is not None and not database.replace(".", "").replace("-", "").isalnum():
        raise ValueError(f"{SHAPE}/database: the name of its database cannot be right")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return GraphAddress(
        uri=f"{parts.scheme}://{host}:{port}",
        user=None if parts.username is None else unquote(parts.username),
        password=None if parts.password is None else unquote(parts.password),
        database=database,
    )
