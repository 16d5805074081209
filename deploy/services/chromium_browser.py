"""Chromium from Debian: Playwright's own download of a browser is out of reach on many machines."""

import machine
from service import Service


class Chromium(Service):
    name = "chromium"

    def program(self) -> str | None:
        return machine.executable("chromium") or machine.executable("chromium-browser")

    def missing_packages(self) -> list[str]:
        # A page without any font renders as nothing; a machine that has a browser has its fonts.
        return [] if self.program() else ["chromium", "fonts-dejavu-core", "fonts-liberation"]

    def environment(self) -> dict[str, str]:
        program = self.program()
        return {"CHROMIUM": program} if program else {}
