"""Finds what integers are of sizes from their values at a few points: polynomials of one or two terms.

    fit = Fit(symbols, points)
    fit.expression((70, 90, 110))      4 * s + 2, where s is 17, 22 and 27

zellige.sizes.Fit finds all polynomials, and needs a point for each coefficient. Traces of torch's graphs take time, and
their extents are products such as batch * tokens, or have two terms, such as cached + tokens.
"""

import itertools
from fractions import Fraction

import sympy

from ...sizes import Dim

_DEGREE, _POWER = 3, 2


class Fit:
    """The expressions of `symbols`. `points`: a dict with the value of each symbol for each point. names, ranges: of the sizes of a
    graph, in its JSON form, where `text` is asked for; `typical`: the values for which its programs are fast."""

    def __init__(self, symbols, points, dims=()):
        self.symbols, self._points, self.dims = symbols, points, list(dims)
        powers = [p for p in itertools.product(range(_POWER + 1), repeat=len(symbols)) if sum(p) <= _DEGREE]
        self._products = sorted(powers, key=lambda p: (sum(p) == 0, sum(p), [-power for power in p]))
        self._values = {p: [self._product(p, point) for point in points] for p in powers}
        self.points = [{d.name: int(point[s]) for d, s in zip(self.dims, symbols)} for point in points]

    @staticmethod
    def named(generators, points, ranges, hints):
        """Returns the fit of a graph in JSON form. `generators`: by expression, its name in the graph."""
        dims = [Dim(name, min=ranges[g][0], max=ranges[g][1], typical=[hints[g]]) for g, name in generators.items()]
        return Fit(list(generators), points, dims)

    def _product(self, powers, point) -> int:
        made = 1
        for power, s in zip(powers, self.symbols):
            made *= int(point[s]) ** power
        return made

    def terms(self, numbers):
        """Returns the factor of each product; None if it is no such polynomial."""
        for p in self._products:
            ratio, rest = divmod(numbers[0], self._values[p][0])
            if rest == 0 and all(ratio * v == n for v, n in zip(self._values[p], numbers)):
                return {p: ratio}
        best = None
        for p, q in itertools.combinations(self._products, 2):
            made = self._two(self._values[p], self._values[q], numbers)
            if made is not None and (best is None or sum(map(abs, made)) < sum(map(abs, best[1]))):
                best = (p, q), made
        return None if best is None else dict(zip(*best))

    @staticmethod
    def _two(p, q, numbers):
        """Returns the integers a and b with a p + b q = numbers; None if there are none."""
        determinant = p[0] * q[1] - p[1] * q[0]
        if determinant == 0:
            return None
        a, b = (Fraction(numbers[0] * q[1] - numbers[1] * q[0], determinant), Fraction(p[0] * numbers[1] - p[1] * numbers[0], determinant))
        if a.denominator != 1 or b.denominator != 1 or not a or not b:
            return None
        return (int(a), int(b)) if all(a * x + b * y == n for x, y, n in zip(p, q, numbers)) else None

    def expression(self, numbers):
        """Returns the expression of sympy's that has these values at the points; None if there is none."""
        found = self.terms(numbers)
        if found is None:
            return None
        return sympy.Add(*(sympy.Mul(factor, *(s**n for s, n in zip(self.symbols, p))) for p, factor in found.items()))

    def text(self, numbers):
        """Returns the expression as an entry of a graph in JSON form; None if there is none."""
        found = self.terms(numbers)
        if found is None:
            return None
        text = ""
        for powers, factor in found.items():
            names = [d.name for power, d in zip(powers, self.dims) for _ in range(power)]
            term = " * ".join([str(abs(factor))] * (abs(factor) != 1 or not names) + names)
            text += (f" {'-' if factor < 0 else '+'} " if text else "-" if factor < 0 else "") + term
        return text or "0"
