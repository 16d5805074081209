"""What an adoption did: counts before and after, and each thing that could not be taken over as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from records.arrivals import said_of_secrets
from transfer.adopt.cells import Problem

COLUMNS = ("there", "before", "adopted", "already", "left out", "after")


@dataclass
class Line:
    """Of one table: rows there, records here before and after, and what became of the rows."""

    there: int = 0
    before: int = 0
    adopted: int = 0
    already: int = 0
    left_out: int = 0
    after: int = 0
    renamed: int = 0
    changed_there: int = 0

    def values(self) -> list[int]:
        return [self.there, self.before, self.adopted, self.already, self.left_out, self.after]


@dataclass
class Report:
    """Problems are handed on as they are met, since there may be any number of them."""

    say_problem: Callable[[Problem], None] = lambda problem: None
    lines: dict[str, Line] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: Counter[str] = field(default_factory=Counter)
    secrets: set[str] = field(default_factory=set)
    seconds: float = 0.0

    def line(self, table: str) -> Line:
        return self.lines.setdefault(table, Line())

    def tell(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            self.problems[problem.table] += 1
            self.say_problem(problem)

    @property
    def adopted(self) -> int:
        return sum(line.adopted for line in self.lines.values())

    @property
    def is_complete(self) -> bool:
        return not any(line.left_out for line in self.lines.values())

    def as_text(self) -> Iterator[str]:
        yield f"{'':24}" + "".join(f"{name:>10}" for name in COLUMNS)
        for table, line in self.lines.items():
            yield f"{table:24}" + "".join(f"{value:10,}" for value in line.values())
        totals = [
            sum(column) for column in zip(*(line.values() for line in self.lines.values()), strict=True)
        ]
        if totals:
            yield f"{'total':24}" + "".join(f"{value:10,}" for value in totals)
        for table, line in self.lines.items():
            if line.renamed:
                yield f"{table}: {line.renamed:,} have another id here, since theirs was taken (listed above)."
            if line.changed_there:
                yield f"{table}: {line.changed_there:,} changed there since they were adopted; here they are as adopted."
        yield from self.notes
        yield from said_of_secrets(self.secrets)
        told = ", ".join(f"{count:,} of {table}" for table, count in self.problems.items())
        yield f"Not taken over as it is (listed above): {told or 'nothing'}."
        rate = f", {self.adopted / self.seconds:,.0f} a second" if self.adopted and self.seconds else ""
        yield f"Adopted {self.adopted:,} in {self.seconds:.1f} s{rate}."
