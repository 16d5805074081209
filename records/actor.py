"""Who acts, through which door. Stamped by the server on every history row; never taken from the caller's text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.db.models import TextChoices
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from projects.access import OPERATOR, Access, Capability, access_of_token
from projects.models import AgentToken, User
from records.errors import NotAllowed


class Channel(TextChoices):
    WEB = "web", _("web")
    API = "api", _("API")
    MCP = "mcp", _("MCP")
    ADMIN = "admin", _("admin")
    IMPORT = "import", _("import")
    SQL = "sql", _("SQL")
    COMMAND = "command", _("command")


class SourceKind(TextChoices):
    PERSON = "person", _("person")
    AGENT = "agent", _("agent")
    IMPORT = "import", _("import")
    SQL = "sql", _("SQL")
    DOCUMENT = "document", _("external document")


TRUST = {
    SourceKind.PERSON: 1.0,
    SourceKind.DOCUMENT: 0.8,
    SourceKind.IMPORT: 0.6,
    SourceKind.AGENT: 0.5,
    SourceKind.SQL: 0.5,
}


RUN_ID = re.compile(
    r"(?:run_)?([0-9a-f]{8})(-?)([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{12})", re.I | re.A
)


def run_named(said: str) -> str:
    """The node id of a run that an agent names by it, or by its bare id, or as a UUID is written; else what it said."""
    match = RUN_ID.fullmatch(said)
    return f"run_{''.join(match.group(1, 3, 4, 5, 6)).lower()}" if match else said


@dataclass(frozen=True, kw_only=True)
class Actor:
    """A person, an agent's token or a command, with the session and run it says it works in."""

    channel: Channel
    name: str
    access: Access
    source_kind: SourceKind
    trust: float
    user: User | None = None
    token: AgentToken | None = None
    session: str = ""
    run: str = ""
    request_id: str = ""

    @classmethod
    def person(cls, request: HttpRequest, channel: Channel = Channel.WEB) -> Actor:
        user = request.user
        assert isinstance(user, User)
        return cls(
            channel=channel,
            name=user.get_username(),
            access=request.access,  # type: ignore[attr-defined]
            source_kind=SourceKind.PERSON,
            trust=TRUST[SourceKind.PERSON],
            user=user,
            request_id=getattr(request, "request_id", ""),
        )

    @classmethod
    def agent(
        cls,
        token: AgentToken,
        *,
        channel: Channel = Channel.API,
        session: str = "",
        run: str = "",
        request_id: str = "",
    ) -> Actor:
        return cls(
            channel=channel,
            name=token.agent_name,
            access=access_of_token(token),
            source_kind=SourceKind.AGENT,
            trust=token.trust,
            token=token,
            session=session,
            run=run_named(run),
            request_id=request_id,
        )

    @classmethod
    def command(
        cls,
        name: str,
        *,
        channel: Channel = Channel.COMMAND,
        source_kind: SourceKind = SourceKind.IMPORT,
        user: User | None = None,
    ) -> Actor:
        """A management command, run by an operator on the machine; `name` is kept as the record's source."""
        return cls(
            channel=channel,
            name=name,
            access=OPERATOR,
            source_kind=source_kind,
            trust=TRUST[source_kind],
            user=user,
        )

    def require(self, project_id: int | None, capability: Capability) -> None:
        if not self.access.may(project_id, capability):
            raise NotAllowed(f"{self.name} may not {capability} in this project.")


SQL_WRITER = Actor(
    channel=Channel.SQL, name="sql", access=OPERATOR, source_kind=SourceKind.SQL, trust=TRUST[SourceKind.SQL]
)
