"""Points of a server-drawn sparkline, and of a band around it."""

from collections.abc import Sequence

WIDTH, HEIGHT, MARGIN = 240, 40, 4


def sparkline(values: Sequence[float], low: float = 0.0, high: float = 1.0) -> list[tuple[float, float]]:
    """The values, scaled into WIDTH x HEIGHT with y down; a single value is drawn as a level line."""
    if not values:
        return []
    drawn = [*values, values[0]] if len(values) == 1 else list(values)
    step = (WIDTH - 2 * MARGIN) / (len(drawn) - 1)
    scale = (HEIGHT - 2 * MARGIN) / (high - low)
    return [
        (round(MARGIN + i * step, 1), round(HEIGHT - MARGIN - (v - low) * scale, 1))
        for i, v in enumerate(drawn)
    ]


def band(
    between: Sequence[tuple[float, float]], low: float = 0.0, high: float = 1.0
) -> list[tuple[float, float]]:
    """The outline of the area between two lines: along the lower one, and back along the upper."""
    return [
        *sparkline([lower for lower, _upper in between], low, high),
        *sparkline([upper for _lower, upper in between], low, high)[::-1],
    ]
