"""What the Python tests share."""

from collections.abc import Iterator

import pytest
from lodestone.ir import Context, Location


@pytest.fixture
def context() -> Iterator[Context]:
    """A context with an unknown location, both current."""
    with Context() as ctx, Location.unknown():
        yield ctx
