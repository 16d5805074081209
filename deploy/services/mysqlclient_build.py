"""What it takes to build mysqlclient, Django's driver for MySQL: it comes as source only."""

import sysconfig
from pathlib import Path

import machine
from service import Service


class MySQLClientBuild(Service):
    name = "mysqlclient"

    def missing_packages(self) -> list[str]:
        missing = [package for program, package in {"gcc": "gcc", "pkg-config": "pkg-config"}.items()
                   if not machine.executable(program)]  # fmt: skip
        if not machine.executable("mariadb_config") and not machine.executable("mysql_config"):
            missing.append("default-libmysqlclient-dev")
        if not Path(sysconfig.get_path("include"), "Python.h").exists():
            missing.append("python3-dev")
        return missing
