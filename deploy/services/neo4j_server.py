"""Neo4j Community: the real kernel with Bolt, from Maven, without the HTTP server and the login.

What the product asks of Neo4j (Bolt, Cypher, constraints, full-text and vector indexes) lives in
the kernel; users run the ordinary server.
"""

import os
import shutil
import socket
from pathlib import Path

import machine
from service import Server

SOURCE = Path(__file__).parent / "neo4j"
HOME = machine.STATE / "neo4j"

# A Bolt client opens with a magic number and four proposals of a protocol version (here 5.0 to 5.8).
BOLT_HANDSHAKE = bytes.fromhex("6060b017 00080805 00000000 00000000 00000000")


class Neo4j(Server):
    """One server of the install: the usual one, or a further instance with data and port of its own."""

    installs_beside_apt = False

    def __init__(self, instance: str = "") -> None:
        machine.check_instance(instance)
        self.instance = instance
        self.name = f"neo4j-{instance}" if instance else "neo4j"
        self.port_variable = f"NEO4J_{instance.upper()}_PORT" if instance else "NEO4J_PORT"
        self.port = int(os.environ.get(self.port_variable) or (7688 if instance else 7687))
        self.heap = os.environ.get("NEO4J_HEAP") or "1g"
        self.jars = HOME / "lib"
        self.classes = HOME / "classes"

    def missing_packages(self) -> list[str]:
        # javac, not only java: the launcher is compiled here. Maven is for the jars alone.
        missing = [] if machine.executable("javac") else ["default-jdk-headless"]
        return missing if self.jars.exists() or machine.executable("mvn") else [*missing, "maven"]

    def is_installed(self) -> bool:
        return self.jars.exists() and self.classes.exists() and machine.executable("java") is not None

    def install(self) -> str:
        partial = HOME / "lib.partial"
        build = HOME / "build"
        for folder in (partial, build):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(SOURCE, build)
        if not self.jars.exists():
            machine.say("neo4j: fetching its jars with Maven")
            fetch = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={partial}"]
            machine.run("neo4j-install", fetch, cwd=build)
            partial.rename(self.jars)
        javac = machine.executable("javac") or "javac"
        compiled = HOME / "classes.partial"
        machine.run(
            "neo4j-compile",
            [javac, "-cp", f"{self.jars}/*", "-d", str(compiled), str(build / "GraphServer.java")],
        )
        shutil.rmtree(self.classes, ignore_errors=True)
        compiled.rename(self.classes)
        shutil.rmtree(build)
        return "installed"

    def command(self) -> list[str]:
        return [
            machine.executable("java") or "java",
            f"-Xmx{self.heap}",
            "-XX:+UseSerialGC",  # less memory and fewer threads than the default; pauses do not matter to tests
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
            "-cp",
            f"{self.classes}:{self.jars}/*",
            "GraphServer",
            str(HOME / (f"home-{self.instance}" if self.instance else "home")),
            str(os.environ.get("NEO4J_CONF") or SOURCE / "neo4j.conf"),
            str(self.port),
        ]

    def answers(self) -> bool:
        """Bolt shakes hands, after the launcher has seen its database available."""
        if "database available" not in machine.tail(self.log, 50):
            return False
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
                connection.sendall(BOLT_HANDSHAKE)
                return len(connection.recv(4)) == 4
        except OSError:
            return False

    def environment(self) -> dict[str, str]:
        if not self.is_installed():
            return {}
        if running := self.running():
            self.port = running.port
        variable = f"TEST_NEO4J_{self.instance.upper()}_URL" if self.instance else "TEST_NEO4J_URL"
        return {variable: f"bolt://127.0.0.1:{self.port}"}
