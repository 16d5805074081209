"""A pattern's confidence: the mean of a Beta posterior around a stated prior, and 95 % of it (docs/confidence.md).

Source: Gelman et al., Bayesian Data Analysis (3rd ed.), 2.4: a Beta(a, b) prior, after s successes and f failures,
becomes Beta(a + s, b + f), of mean (a + s) / (a + b + s + f). Here a = mean x weight and b = (1 - mean) x weight.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p

TAIL = 0.025  # on either side: 95 % between
# Below so many votes in all nothing is left to fade: at a weight of 4 it moves a confidence by less than 0.01.
NOTHING_LEFT = 0.05
_TINY = 1e-300
_CLOSE = 1e-12


def posterior_mean(prior: float, weight: float, worked: float, failed: float) -> float:
    """Confidence in [0, 1] after `worked` and `failed` votes on a prior of `weight` pseudo-votes (> 0)."""
    return (prior * weight + worked) / (weight + worked + failed)


@lru_cache(maxsize=4096)
def interval_of(mean: float, votes: float) -> tuple[float, float]:
    """Between which two values the Beta distribution of this mean and of `votes` = a + b (> 0) holds its middle 95 %
    (its 0.025 and 0.975 quantiles)."""
    a, b = mean * votes, (1 - mean) * votes
    return beta_quantile(a, b, TAIL), beta_quantile(a, b, 1 - TAIL)


def beta_quantile(a: float, b: float, p: float) -> float:
    """The x in [0, 1] below which Beta(a, b) has the share p, to about 1e-9.

    Where a or b is 0 (a prior of 0 or 1, and no vote against it) all of it lies in one point: 0 or 1.
    """
    if a <= _CLOSE:
        return 0.0
    if b <= _CLOSE:
        return 1.0
    low, high, x = 0.0, 1.0, a / (a + b)
    scale = lgamma(a + b) - lgamma(a) - lgamma(b)
    for _step in range(100):
        over = beta_share(a, b, x) - p
        low, high = (low, x) if over > 0 else (x, high)
        slope = exp(scale + (a - 1) * log(x) + (b - 1) * log1p(-x))
        # Newton's step; halving where that leaves the bracket, or the density is nothing here.
        nearer = x - over / slope if slope > _TINY else -1.0
        nearer = nearer if low < nearer < high else (low + high) / 2
        if abs(nearer - x) < 1e-10 or nearer in (0.0, 1.0):
            return nearer
        x = nearer
    return x


def beta_share(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b): the share of Beta(a, b) below x.

    Source: DLMF 8.17.22, a continued fraction, worked off by Lentz's method as in Numerical Recipes (3rd ed.), 6.4.
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # where it converges fast for the other tail
        return 1 - beta_share(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            found *= c * d
        if abs(c * d - 1) < _CLOSE:
            break
    return front * found


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
