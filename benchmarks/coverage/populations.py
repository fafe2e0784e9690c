"""Populations: where samples are drawn from. Each is a frozen value, so that its text identifies a simulation.

`draw(rng, units)` gives a sample of so many rows, or of so many groups where the population has groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.signal import lfilter
from scipy.special import expit

Floats = NDArray[np.float64]
Random = np.random.Generator


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """Rows of a population. `mean` is E[y | x] where the squared loss is better computed from it than from y."""

    X: Floats
    y: NDArray[Any]
    groups: NDArray[np.intp] | None = None
    time: NDArray[np.intp] | None = None
    mean: Floats | None = None
    noise_variance: float = np.nan  # of y around `mean`


class Population(Protocol):
    """Anything that draws samples."""

    def draw(self, rng: Random, units: int) -> Sample:
        """A sample of so many rows, or groups."""
        ...


def draw_columns(rng: Random, n: int, p: int, kind: str) -> Floats:
    """Columns of mean 0 and variance 1: "normal", "uniform", or "correlated" (neighbours by .8)."""
    if kind == "uniform":
        return rng.uniform(-np.sqrt(3), np.sqrt(3), (n, p))
    X = rng.standard_normal((n, p))
    if kind == "correlated":
        for place in range(1, p):
            X[:, place] = 0.8 * X[:, place - 1] + 0.6 * X[:, place]
    return X


def draw_noise(rng: Random, n: int, kind: str) -> Floats:
    """Noise of mean 0 and variance 1, by name."""
    if kind == "t3":
        return rng.standard_t(3, n) / np.sqrt(3)
    if kind == "t5":
        return rng.standard_t(5, n) / np.sqrt(5 / 3)
    if kind == "lognormal":
        return (rng.lognormal(size=n) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)
    if kind == "laplace":
        return rng.laplace(size=n) / np.sqrt(2)
    if kind == "uniform":
        return rng.uniform(-np.sqrt(3), np.sqrt(3), n)
    assert kind == "normal"
    return rng.standard_normal(n)


@dataclass(frozen=True, kw_only=True)
class Classes:
    """Two classes with known log odds. `share` of the rows are positive; a `signal` of 0 leaves coin labels."""

    p: int = 5
    signal: float  # the standard deviation of the log odds, for "linear"
    share: float
    shape: str = "linear"  # or "disc", "xor"
    columns: str = "normal"

    def draw(self, rng: Random, units: int) -> Sample:
        X = draw_columns(rng, units, self.p, self.columns)
        odds = self.odds(X) + intercept(self)
        return Sample(X=X, y=(rng.random(units) < expit(odds)).astype(np.int64))

    def odds(self, X: Floats) -> Floats:
        """Log odds up to the intercept."""
        if self.shape == "disc":
            return np.asarray(-self.signal * (X[:, 0] ** 2 + X[:, 1] ** 2))
        if self.shape == "xor":
            return np.asarray(self.signal * np.sign(X[:, 0] * X[:, 1]))
        slopes = np.array([1.0, -0.7, 0.5, *np.zeros(self.p - 3)])
        return np.asarray(X @ (self.signal * slopes / np.linalg.norm(slopes)))


@cache
def intercept(population: Classes) -> float:
    """The intercept that gives the share of positive rows."""
    rng = np.random.default_rng(7)
    odds = population.odds(draw_columns(rng, 100_000, population.p, population.columns))
    return float(brentq(lambda at: np.mean(expit(odds + at)) - population.share, -30, 30))


@dataclass(frozen=True, kw_only=True)
class Gaussians:
    """Normal classes, the centre of class k `apart` along column k, wider from class to class by `wider`."""

    p: int = 5
    apart: float
    shares: tuple[float, ...]
    wider: float = 0.0

    def draw(self, rng: Random, units: int) -> Sample:
        y = rng.choice(len(self.shares), size=units, p=self.shares)
        X = rng.standard_normal((units, self.p)) * (1 + self.wider * y)[:, None]
        X[np.arange(units), y] += self.apart
        return Sample(X=X, y=y)


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """A number to predict: "spread" (all columns matter a little), "sparse" (three do) or "friedman" (a curve)."""

    p: int = 5
    signal: float = 1.0  # the standard deviation of the mean, for "spread" and "sparse"
    noise: str = "normal"
    shape: str = "spread"
    columns: str = "normal"
    fan: bool = False  # whether the noise grows with the first column

    def draw(self, rng: Random, units: int) -> Sample:
        X = draw_columns(rng, units, self.p, self.columns)
        mean, noise = self.mean(X), draw_noise(rng, units, self.noise)
        if self.fan:
            return Sample(X=X, y=mean + noise * (0.3 + np.abs(X[:, 0])))
        return Sample(X=X, y=mean + noise, mean=mean, noise_variance=1.0)

    def mean(self, X: Floats) -> Floats:
        """E[y | x]."""
        if self.shape == "friedman":
            U = 0.5 + X / (2 * np.sqrt(3))  # the unit cube, for uniform columns
            curve = 10 * np.sin(np.pi * U[:, 0] * U[:, 1]) + 20 * (U[:, 2] - 0.5) ** 2 + 10 * U[:, 3] + 5 * U[:, 4]
            return np.asarray(curve)
        count = 3 if self.shape == "sparse" else self.p
        return np.asarray(X[:, :count].sum(axis=1) * self.signal / np.sqrt(count))


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Counts with a log-linear mean, or positive amounts ("gamma"). "negative binomial" has twice the variance."""

    p: int = 4
    signal: float = 0.5
    kind: str = "poisson"

    def draw(self, rng: Random, units: int) -> Sample:
        X = rng.standard_normal((units, self.p))
        mean = np.exp(0.5 + X.sum(axis=1) * self.signal / np.sqrt(self.p))
        if self.kind == "gamma":
            return Sample(X=X, y=rng.gamma(2.0, mean / 2.0))
        if self.kind == "negative binomial":
            return Sample(X=X, y=rng.negative_binomial(mean, 0.5).astype(np.float64))
        return Sample(X=X, y=rng.poisson(mean).astype(np.float64))


@dataclass(frozen=True, kw_only=True)
class Grouped:
    """Groups of 1 to 60 rows, about 8, each with its own intercept and its own place. Units are groups."""

    p: int = 5
    signal: float = 1.0
    effect: float = 1.0  # the standard deviation of the groups' intercepts
    share: float | None = None  # of positive rows, near enough; None: a number to predict

    def draw(self, rng: Random, units: int) -> Sample:
        sizes = np.clip(np.round(rng.lognormal(np.log(6), 0.8, units)), 1, 60).astype(np.intp)
        groups = np.repeat(np.arange(units), sizes)
        place, own = 0.5 * rng.standard_normal((units, self.p)), self.effect * rng.standard_normal(units)
        X = place[groups] + rng.standard_normal((len(groups), self.p))
        line = X.sum(axis=1) * self.signal / np.sqrt(self.p) + own[groups]
        if self.share is None:
            return Sample(X=X, y=line + rng.standard_normal(len(groups)), groups=groups)
        spread = 1 + (1.25 * self.signal**2 + self.effect**2) / 2.9  # of a logistic with a normal on top
        at = np.log(self.share / (1 - self.share)) * np.sqrt(spread)
        return Sample(X=X, y=(rng.random(len(groups)) < expit(at + line)).astype(np.int64), groups=groups)


@dataclass(frozen=True, kw_only=True)
class Series:
    """A line in time: columns and noise are autoregressive, the noise with coefficient `rho`."""

    p: int = 3
    rho: float

    def draw(self, rng: Random, units: int) -> Sample:
        X = lfilter([np.sqrt(1 - 0.5**2)], [1, -0.5], rng.standard_normal((units + 100, self.p)), axis=0)[100:]
        noise = lfilter([np.sqrt(1 - self.rho**2)], [1, -self.rho], rng.standard_normal(units + 100))[100:]
        return Sample(X=X, y=X.sum(axis=1) / np.sqrt(self.p) + noise, time=np.arange(units))
