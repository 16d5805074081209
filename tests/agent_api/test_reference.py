"""The reference page holds every operation, with a command that would work."""

import json

import pytest
from jsonschema import Draft202012Validator

from agent_api.openapi import description
from agent_api.reference import operations_by_tag

pytestmark = pytest.mark.django_db


def test_every_operation_is_there_with_a_command(client, viewer_user):
    client.force_login(viewer_user)
    answer = client.get("/api/")
    page = answer.content.decode()
    document = json.loads(description())
    operations = [
        (path, method, said["operationId"])
        for path, methods in document["paths"].items()
        for method, said in methods.items()
    ]
    assert len(operations) > 60
    for path, method, name in operations:
        assert (
            f'<details class="operation" id="{name}"><summary><strong>{method.upper()}</strong> <code>{path}</code>'
            in page
        )
    assert page.count("curl -sS") == len(operations)
    assert "http://testserver/api/v1/decisions" in page
    assert " style=" not in page
    assert "{node_id}" not in "".join(
        operation.curl("http://desk") for group in operations_by_tag().values() for operation in group
    )


def test_every_write_has_an_example_that_its_schema_takes():
    document = json.loads(description())
    checked = 0
    for path, methods in document["paths"].items():
        for method, said in methods.items():
            content = said.get("requestBody", {}).get("content", {}).get("application/json")
            if content is None:
                continue
            assert content["examples"], (method, path)
            schema = {**content["schema"], "components": document["components"]}
            for example in content["examples"].values():
                Draft202012Validator(schema).validate(example["value"])
                checked += 1
    assert checked > 50


def test_it_is_for_those_who_signed_in(client):
    assert client.get("/api/").status_code == 302
