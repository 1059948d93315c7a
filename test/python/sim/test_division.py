"""The division sequence that LLVM emits is exactly rounded for all kinds of operands."""

from __future__ import annotations

import numpy as np
from lodestone.sim import snippet

# Numerator v1, denominator v2, quotient v0, as LLVM lowers `fdiv float`.
SEQUENCE = """v_div_scale_f32 v3, s[0:1], v2, v2, v1
v_rcp_f32_e32 v4, v3
v_fma_f32 v5, -v3, v4, 1.0
v_fmac_f32_e32 v4, v5, v4
v_div_scale_f32 v5, vcc, v1, v2, v1
v_mul_f32_e32 v6, v5, v4
v_fma_f32 v7, -v3, v6, v5
v_fmac_f32_e32 v6, v7, v4
v_fma_f32 v3, -v3, v6, v5
v_div_fmas_f32 v3, v3, v4, v6
v_div_fixup_f32 v0, v3, v2, v1"""


# Random bit patterns, near-equal magnitudes, denormals, zeros, infinities and NaNs.
def test_division_is_exactly_rounded():
    rng = np.random.default_rng(1)
    code = snippet.instructions(SEQUENCE)
    wave = snippet.new_wave()
    specials = np.array(
        [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38, -3e38, 1.2e-38, 2e-38, 3],
        np.float32,
    )
    pairs = [(a, b) for a in specials for b in specials]
    bits = rng.integers(0, 1 << 32, (2, 64 * 60), dtype=np.uint64).astype(np.uint32)
    exponents = rng.integers(-149, 128, 64 * 20)
    small = np.ldexp(rng.random(64 * 20) + 1, exponents).astype(np.float32)
    numerators = np.concatenate(
        [[a for a, _ in pairs], bits[0].view(np.float32), small, small[::-1]]
    )
    denominators = np.concatenate(
        [[b for _, b in pairs], bits[1].view(np.float32), np.roll(small, 1), small]
    )
    for start in range(0, len(numerators) - 63, 64):
        wave.F[1][:] = numerators[start : start + 64]
        wave.F[2][:] = denominators[start : start + 64]
        snippet.execute(code, wave)
        with np.errstate(all="ignore"):
            want = wave.F[1] / wave.F[2]
        same = (wave.F[0].view(np.uint32) == want.view(np.uint32)) | (
            np.isnan(wave.F[0]) & np.isnan(want)
        )
        worst = [(float(wave.F[1][i]), float(wave.F[2][i]), float(wave.F[0][i]), float(want[i]))
                 for i in np.flatnonzero(~same)]  # fmt: skip
        assert not worst, worst
