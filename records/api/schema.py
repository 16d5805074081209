"""What the OpenAPI description says of the methods that every kind's resource has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework import serializers

from records.api.serializers import Act, Review, StrictSerializer

Class = type[serializers.Serializer[Any]]


def record_schema(
    plural: Any,
    read: Class,
    written: Class,
    new: type[StrictSerializer],
    changes: type[StrictSerializer],
    *examples: OpenApiExample,
    listed: Class | None = None,
) -> Callable[[type[Any]], type[Any]]:
    """Class decorator: serializers and summaries of list, read, create, change, review, archive and restore."""
    named = str(plural).lower()
    one = f"{named.removesuffix('ies')}y" if named.endswith("ies") else named.removesuffix("s")
    return extend_schema_view(
        list=extend_schema(
            summary=f"List {named}",
            description="Active records only, newest first, unless the filters say otherwise.",
            responses=(listed or read)(many=True),
        ),
        retrieve=extend_schema(summary=f"Read one {one}, active or not", responses=read),
        create=extend_schema(
            summary=f"Write a new {one}",
            description="It arrives unreviewed: a person has yet to look at it.",
            request=new,
            responses={201: written},
            examples=list(examples),
        ),
        partial_update=extend_schema(
            summary=f"Change some fields of one {one}", request=changes, responses=written
        ),
        review=extend_schema(
            summary=f"Approve, reject or quarantine one {one}",
            description="Needs the scope review; a rejection needs a reason.",
            request=Review,
            responses=written,
        ),
        archive=extend_schema(summary=f"Put one {one} away", request=Act, responses=written),
        restore=extend_schema(summary=f"Bring one {one} back", request=Act, responses=written),
    )
