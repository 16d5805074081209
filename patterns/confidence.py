"""A pattern's confidence: the mean of a Beta posterior around a stated prior.

Source: Gelman et al., Bayesian Data Analysis (3rd ed.), 2.4: a Beta(a, b) prior, after s successes and f failures,
becomes Beta(a + s, b + f), of mean (a + s) / (a + b + s + f). Here a = mean x weight and b = (1 - mean) x weight.
"""

from math import sqrt


def posterior_mean(prior: float, weight: float, worked: int, failed: int) -> float:
    """Confidence in [0, 1] after `worked` and `failed` votes on a prior of `weight` pseudo-votes (> 0)."""
    return (prior * weight + worked) / (weight + worked + failed)


def posterior_interval(prior: float, weight: float, worked: int, failed: int) -> tuple[float, float]:
    """About 95 % of the posterior (normal approximation), inside [0, 1]."""
    total = weight + worked + failed
    mean = posterior_mean(prior, weight, worked, failed)
    spread = 1.96 * sqrt(mean * (1 - mean) / (total + 1))
    return max(0.0, mean - spread), min(1.0, mean + spread)
