"""Number of shapes of optimal k-partitions, and probability of finding one by chance."""

from __future__ import annotations

from fractions import Fraction
from math import factorial, prod

from sdc_problems._validation import whole
from sdc_problems.methods.partition._attributes import smallest_group


def representatives(n: int, k: int) -> int:
    """Number of ways to write n as a sum of group sizes from k to 2k − 1, in any order.

    Parameters
    ----------
    n, k
        Number of records, and size of the smallest group.

    Notes
    -----
    ``a(n, k)`` of Solanas et al. (2006), Eq. 4 and Table I: an optimal group has k to 2k − 1 records, and a
    representative is a multiset of such sizes. Counted size by size, O(nk).

    Examples
    --------
    >>> [representatives(n, 3) for n in (10, 20, 30, 1000)]
    [2, 6, 11, 8434]
    """
    n = whole(n, "n", least=0)
    k = whole(k, "k", least=1)
    ways = [1] + [0] * n
    for size in range(k, 2 * k):
        for total in range(size, n + 1):
            ways[total] += ways[total - size]
    return ways[n]


def chance_bound(n: int, k: int) -> Fraction:
    """Upper bound on the probability that random labels form a partition into groups of k to 2k − 1 records.

    Parameters
    ----------
    n, k
        Number of records, and size of the smallest group.

    Notes
    -----
    ``a(n, k) · μ / Gⁿ`` with G = ⌊n/k⌋ labels and μ the number of partitions into the most groups of even sizes
    (Solanas et al. 2006, Eq. 5 and 6). Their Example 1 prints 3¹⁰ where (3!)¹⁰ is meant and computed.

    Examples
    --------
    >>> f"{float(chance_bound(30, 3)):.6e}"
    '1.329772e-11'
    """
    k = smallest_group(k, whole(n, "n", least=0))
    groups = n // k
    sizes = [n // groups + (g < n % groups) for g in range(groups)]
    mu = Fraction(factorial(n), prod(factorial(size) for size in sizes) * factorial(groups))
    bound: Fraction = representatives(n, k) * mu / groups**n
    return bound
