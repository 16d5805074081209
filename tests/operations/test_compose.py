"""deploy/compose.yaml: valid by the specification, true to the settings, and its commands and health checks work.

No container engine runs here: the services' own commands are run by hand against the servers of the tests.
"""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import jsonschema
import pymysql
import pytest
import yaml
from django.db import connection

from tests.e2e.real_desk import _free_port
from tests.test_settings_documented import variables_read

TOP = Path(__file__).resolve().parents[2]
DEPLOY = TOP / "deploy"
MOUNTED = "/run/secrets/"
OURS = ("setup", "web", "worker")
PLACEHOLDER = re.compile(r"\$\{(?P<name>[A-Z0-9_]+):-(?P<default>[^}]*)\}")


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


def test_it_is_valid_by_the_compose_specification(compose):
    # check-jsonschema carries the specification's own schema.
    schema = json.loads((files("check_jsonschema") / "builtin_schemas/vendor/compose-spec.json").read_text())
    jsonschema.validate(compose, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"services": {"web": {"comand": "x"}}}, schema)


def test_each_variable_is_a_setting_and_each_secret_is_mounted_and_made(compose, tmp_path):
    made = make_secrets(tmp_path / "secrets")
    for name in OURS:
        service = compose["services"][name]
        for variable, value in service["environment"].items():
            assert variable.removesuffix("_FILE") in variables_read(), variable
            if variable.endswith("_FILE"):
                assert value.removeprefix(MOUNTED) in service["secrets"]
    for name in ("mysql", "neo4j"):
        service = compose["services"][name]
        told = {
            str(value).removeprefix(MOUNTED)
            for value in service["environment"].values()
            if MOUNTED in str(value)
        }
        assert told == set(service["secrets"])
    assert set(compose["secrets"]) == {path.name for path in made.iterdir()}
    for name, secret in compose["secrets"].items():
        assert secret == {"file": f"./secrets/{name}"}


def test_secrets_are_made_once_and_fit_each_other(tmp_path):
    folder = make_secrets(tmp_path / "secrets")
    first = {path.name: path.read_text() for path in folder.iterdir()}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (folder / "metrics_token").unlink()
    make_secrets(folder)
    second = {path.name: path.read_text() for path in folder.iterdir()}
    changed = {name for name in first if first[name] != second[name]}
    assert changed == {"metrics_token"}
    assert f":{first['mysql_password'].strip()}@mysql:3306/" in first["database_url"]
    assert f"neo4j:{first['neo4j_auth'].strip().partition('/')[2]}@neo4j:" in first["graph_url"]


def test_services_wait_for_each_other_and_are_watched(compose):
    services = compose["services"]
    assert services["mysql"]["image"] == "mysql:9.7"  # what the suites run against
    assert services["neo4j"]["image"] == "neo4j:5-community"
    assert {name for name, service in services.items() if "healthcheck" in service} == {*services} - {"setup"}
    for name in ("web", "worker"):
        assert services[name]["depends_on"] == {"setup": {"condition": "service_completed_successfully"}}
        assert services[name]["read_only"] is True
    used = {volume.partition(":")[0] for service in services.values() for volume in service["volumes"]}
    assert used == set(compose["volumes"])


def test_the_image_is_not_roots_and_serves_as_compose_does(compose):
    text = (TOP / "Dockerfile").read_text(encoding="utf-8")
    last = text.rpartition("\nFROM ")[2]
    assert re.search(r"^USER desk$", last, re.MULTILINE)
    assert (
        json.loads(re.search(r"^CMD (.*)$", last, re.MULTILINE)[1]) == compose["services"]["web"]["command"]
    )
    ignored = (TOP / ".dockerignore").read_text().split()
    assert {".git", "var", "deploy/secrets"} <= set(ignored)
    for named in re.findall(r"[\w./-]+\.(?:py|txt)\b", text + json.dumps(compose["services"]["web"])):
        assert (TOP / named.removeprefix("/build/")).exists(), named


def make_secrets(folder: Path) -> Path:
    subprocess.run(
        [sys.executable, str(DEPLOY / "make_secrets"), str(folder)], check=True, capture_output=True
    )
    return folder


# --- Its commands, by hand ---------------------------------------------------------------------------------------
class Services:
    """The services' environment, with secrets in a folder of the test and servers of the tests for mysql and neo4j."""

    def __init__(self, compose, folder: Path, graph_url: str) -> None:
        self.services, self.port, self.folder = compose["services"], _free_port(), folder
        self.secrets = make_secrets(folder / "secrets")
        database = connection.settings_dict
        self.server = {
            "host": database["HOST"], "port": int(database["PORT"]), "user": database["USER"],
            "password": database["PASSWORD"],
        }  # fmt: skip
        self.database = f"{database['NAME']}_compose"
        self.sql(
            f"DROP DATABASE IF EXISTS {self.database}",
            f"CREATE DATABASE {self.database} CHARACTER SET utf8mb4",
        )
        url = "mysql://{user}:{password}@{host}:{port}/".format(**self.server) + self.database
        (self.secrets / "database_url").write_text(url)
        (self.secrets / "graph_url").write_text(graph_url)

    def sql(self, *statements: str, database: str | None = None) -> None:
        with (
            pymysql.connect(**self.server, database=database, autocommit=True) as client,
            client.cursor() as cursor,
        ):
            for statement in statements:
                cursor.execute(statement)

    def environment(self, name: str) -> dict[str, str]:
        given = {
            variable: PLACEHOLDER.sub(lambda found: found["default"], str(value)).replace(
                MOUNTED, f"{self.secrets}/"
            )
            for variable, value in self.services[name]["environment"].items()
        }
        outer = {key: os.environ[key] for key in ("HOME", "LANG") if key in os.environ}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        ours = {
            "PATH": path,
            "DATA_DIR": str(self.folder / "data"),
            "PORT": str(self.port),
            "SWEEP_SECONDS": "1",
        }
        return {**outer, **given, **ours}

    def run(self, name: str, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=TOP, env=self.environment(name), capture_output=True, text=True, timeout=300
        )

    @contextmanager
    def up(self, name: str):
        log = (self.folder / f"{name}.log").open("w")
        process = subprocess.Popen(
            self.services[name]["command"], cwd=TOP, env=self.environment(name), stdout=log, stderr=log
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=60)
            log.close()

    def is_healthy(self, name: str) -> bool:
        kind, *command = self.services[name]["healthcheck"]["test"]
        assert kind == "CMD"
        return not self.run(name, [part.replace(":8000/", f":{self.port}/") for part in command]).returncode

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()


def until(what, seconds=150):
    give_up_at = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < give_up_at, "not within time"
        time.sleep(1)
    return found


@pytest.mark.graph
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="the stack is one of MySQL and Neo4j")
@pytest.mark.usefixtures("clean_graph")
def test_the_commands_bring_up_a_desk_that_shows_a_plain_sql_row_in_the_graph(
    compose, tmp_path, graph_address
):
    from graph import cypher_schema

    desk = Services(compose, tmp_path, graph_address)
    try:
        assert not desk.is_healthy("web")
        done = desk.run("setup", compose["services"]["setup"]["command"])
        assert done.returncode == 0, done.stderr
        assert "Constraints and indexes are online." in done.stdout
        with desk.up("web") as web, desk.up("worker") as worker:
            until(lambda: desk.is_healthy("web"))
            until(lambda: desk.is_healthy("worker"))
            desk.sql(
                "INSERT INTO projects (name, slug, created_at) VALUES ('Shop', 'shop', UTC_TIMESTAMP(6))",
                "INSERT INTO architecture_decisions (project_id, title, decision) SELECT id, 'Use Redis', 'Cache.' FROM projects",
                database=desk.database,
            )
            until(lambda: cypher_schema.counts_by_kind() == {"decision": 1})
            assert (
                desk.run(
                    "web", ["python", "manage.py", "doctor", "--only", "graph", "--only", "worker"]
                ).returncode
                == 0
            )
        assert (web.returncode, worker.returncode) == (0, 0)
        assert not desk.is_healthy("web")
        assert not desk.is_healthy("worker")
        assert "Traceback" not in desk.log("web") + desk.log("worker")
    finally:
        desk.sql(f"DROP DATABASE {desk.database}")
