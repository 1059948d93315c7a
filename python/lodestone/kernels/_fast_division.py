"""Division of 31-bit numbers by a number known at launch: one multiplication and a shift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class FastDivisor:
    """A divisor, ready to divide by.

    With s = ceil(log2 d) and magic m = ceil(2^(31+s) / d), n // d is (2n * m) >> 32 >> s for
    all n < 2^31: m d exceeds 2^(31+s) by less than d <= 2^s, so n m / 2^(31+s) exceeds n / d
    by less than 1 / d. The high half of the product is `v_mul_hi_u32`. (Granlund and
    Montgomery, Division by Invariant Integers using Multiplication, theorem 4.2.)

    Attributes:
        divisor: 1 to 2^30.
        magic: below 2^32.
        shift: 0 to 30.
    """

    DIVIDEND_FACTOR: ClassVar[int] = 2

    divisor: int

    def __post_init__(self) -> None:
        """Raise ValueError, with the rule and the value."""
        if not 1 <= self.divisor <= 1 << 30:
            raise ValueError(f"a divisor must be in 1..{1 << 30}, got {self.divisor}")

    @property
    def shift(self) -> int:
        """The shift of the high half of the product."""
        return (self.divisor - 1).bit_length()

    @property
    def magic(self) -> int:
        """The multiplier."""
        return -(-(1 << (31 + self.shift)) // self.divisor)

    def divide(self, dividend: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return `dividend` // `divisor` in the way of the kernel; uint32 below 2^31."""
        doubled = dividend.astype(np.uint64) * np.uint64(self.DIVIDEND_FACTOR)
        high = (doubled * np.uint64(self.magic)) >> np.uint64(32)
        return (high >> np.uint64(self.shift)).astype(np.uint32)
