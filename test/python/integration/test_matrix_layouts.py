"""The simulator's matrix layouts against a second source: those that IREE's compiler uses.

Operands are packed and results unpacked by IREE's description alone; what the simulator makes of
them must be the matrix product.
"""

import ml_dtypes
import numpy as np
import pytest

pytestmark = pytest.mark.integration

# IREE's name of a type of A and B -> the instruction's, and NumPy's.
TYPES = {
    "F16": ("f16", np.float16), "BF16": ("bf16", ml_dtypes.bfloat16), "F32": ("f32", np.float32),
    "I8": ("i8", np.int8), "F8E4M3FN": ("fp8_fp8", ml_dtypes.float8_e4m3fn),
    "F8E4M3FNUZ": ("fp8_fp8", ml_dtypes.float8_e4m3fnuz),
    "F8E5M2FNUZ": ("bf8_bf8", ml_dtypes.float8_e5m2fnuz),
}  # fmt: skip
SHAPES = {
    "gfx942": "F32_16x16x16_F16 F32_32x32x8_F16 F32_16x16x16_BF16 F32_32x32x8_BF16 F32_16x16x4_F32 "
    "I32_16x16x32_I8 I32_32x32x16_I8 F32_16x16x32_F8E4M3FNUZ F32_32x32x16_F8E5M2FNUZ",
    "gfx950": "F32_16x16x32_F16 F32_32x32x16_F16 F32_16x16x32_BF16 F32_32x32x16_BF16 "
    "I32_16x16x64_I8 I32_32x32x32_I8 F32_16x16x32_F8E4M3FN F32_16x16x128_F8E4M3FN "
    "F32_32x32x64_F8E4M3FN",
}


def case(chip: str, name: str) -> tuple[str, str, str, type]:
    """IREE's name, the instruction, the chip, and the type of A and B."""
    result, shape, element = name.split("_")
    suffix, kind = TYPES[element]
    if shape in ("16x16x128", "32x32x64"):
        suffix = "f8f6f4"
    return f"MFMA_{name}", f"v_mfma_{result.lower()}_{shape}_{suffix}", chip, kind


CASES = [case(chip, name) for chip, names in SHAPES.items() for name in names.split()]


def places(layout: object) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of each item of each lane, [64, items], by IREE's description.

    A dimension is split into `outer` tiles of `thread` lanes of `element` items; `tstrides` tells
    which bits of the lane number choose the lane.
    """
    outer, thread = layout.outer, layout.thread  # type: ignore[attr-defined]
    strides, element = layout.tstrides, layout.element  # type: ignore[attr-defined]
    lane = np.arange(64)[:, None]
    shape = (*outer, *element)
    parts = np.unravel_index(np.arange(int(np.prod(shape))), shape)
    result = []
    for d in (0, 1):
        at = lane // max(strides[d], 1) % thread[d]
        result.append((parts[d][None] * thread[d] + at) * element[d] + parts[2 + d][None])
    return result[0], result[1]


@pytest.mark.parametrize(("name", "mnemonic", "chip", "kind"), CASES, ids=lambda x: str(x))
def test_layout(name: str, mnemonic: str, chip: str, kind: type) -> None:
    """A B + 0, packed and unpacked by IREE's layouts."""
    ir = pytest.importorskip("iree.compiler.ir")
    gpu = pytest.importorskip("iree.compiler.dialects.iree_gpu")
    from lodestone.sim import snippet

    m, n, k = (int(size) for size in name.split("_")[2].split("x"))
    with ir.Context():
        intrinsic = gpu.MMAIntrinsicAttr.get(getattr(gpu.MMAIntrinsic, name))
        layouts = [places(gpu.get_single_subgroup_layout(intrinsic, i)) for i in range(3)]
    rng = np.random.default_rng(0)
    a, b = (
        rng.integers(-100, 100, shape).astype(kind)
        if kind is np.int8
        else rng.standard_normal(shape).astype(kind)
        for shape in ((m, k), (k, n))
    )
    wave = snippet.new_wave(chip)
    spans = []
    for first, values, (rows, columns) in ((20, a, layouts[0]), (40, b, layouts[1])):
        packed = np.ascontiguousarray(values[rows, columns]).view(np.uint32).T
        wave.V[first : first + len(packed)] = packed
        last = first + len(packed) - 1
        spans.append(f"v[{first}:{last}]" if last > first else f"v{first}")
    count = m * n // 64
    snippet.execute(f"{mnemonic} v[100:{99 + count}], {spans[0]}, {spans[1]}, 0", wave)
    got = np.zeros((m, n), np.int32 if kind is np.int8 else np.float32)
    got[layouts[2]] = wave.V[100 : 100 + count].T.view(got.dtype)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(got, exact.astype(got.dtype))
