"""Tensor data mover of gfx1250: which warps copy, and the descriptor that they hand over."""

from lodestone.tdm.descriptor import Gather, Iteration, Padding, TDMDescriptor
from lodestone.tdm.picture import Picture, Row
from lodestone.tdm.warps import WarpSet, WarpSetError, legal_warp_sets

__all__ = [
    "Gather",
    "Iteration",
    "Padding",
    "Picture",
    "Row",
    "TDMDescriptor",
    "WarpSet",
    "WarpSetError",
    "legal_warp_sets",
]
