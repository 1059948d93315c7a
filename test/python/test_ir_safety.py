"""No Python object crashes the process: outlived handles, mixed contexts, odd input."""

import gc
import io
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lodestone.ir import (
    Attribute,
    Block,
    Context,
    IndexType,
    InsertionPoint,
    IntegerType,
    Location,
    MLIRError,
    Module,
    Operation,
    StringAttr,
    Type,
    UnitAttr,
    WalkOrder,
)
from lodestone.passmanager import PassManager

NESTED = """
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}
"""


def test_objects_keep_their_ir_alive() -> None:
    """A value outlives every Python name of its module and context."""
    with Context(), Location.unknown():
        function = Module.parse(NESTED).body.operations[0]
        value = function.regions[0].blocks[0].operations[0].result
        del function
    gc.collect()
    assert str(value.type) == "i32" and "addi" in str(value)


def test_erased_objects_raise(context: Context) -> None:
    """Whatever was inside an erased operation is invalid, at any depth."""
    module = Module.parse(NESTED)
    function = module.body.operations[0]
    region = function.regions[0]
    block = region.blocks[0]
    add = block.operations[0]
    result, argument = add.result, block.arguments[0]
    function.erase()
    uses: list[Callable[[], object]] = [
        lambda: function.name,
        lambda: region.blocks[0],
        lambda: block.operations,
        lambda: add.operands[0],
        lambda: result.type,
        lambda: argument.type,
        lambda: str(block),
        lambda: add.attributes["x"],
        lambda: InsertionPoint(block),
        lambda: function.erase(),
    ]
    for use in uses:
        with pytest.raises(RuntimeError, match="invalidated"):
            use()
    assert repr(function) == "<invalidated operation>"


def test_used_operations_are_not_erased(context: Context) -> None:
    """Erasing what something still uses is refused, also across trees."""
    block = Module.parse(NESTED).body.operations[0].regions[0].blocks[0]
    with pytest.raises(ValueError, match="still used"):
        block.operations[0].erase()
    user = Operation.create("func.return", operands=[block.arguments[0]], ip=False)
    with pytest.raises(ValueError, match="still used"):
        block.owner.erase()
    with pytest.raises(ValueError, match="still used"):
        block.erase()
    user.erase()
    block.owner.erase()


def test_detached_operations_keep_what_they_use(context: Context) -> None:
    """A detached operation keeps the detached operation it uses alive."""
    constant = Operation.create("arith.constant", [IndexType.get()], ip=False)
    user = Operation.create(
        "arith.addi", [IndexType.get()], [constant.result, constant.result], ip=False
    )
    del constant
    gc.collect()
    assert user.operands[0].owner.name == "arith.constant"
    module = Module.create()
    module.body.append(user)
    gc.collect()
    assert "arith.constant" in str(user.operands[0])


def test_passes_invalidate_what_is_inside(context: Context) -> None:
    """After a pass, objects from before raise; the module itself stays good."""
    module = Module.parse(NESTED)
    add = module.body.operations[0].regions[0].blocks[0].operations[0]
    PassManager.parse("builtin.module(canonicalize)").run(module)
    with pytest.raises(RuntimeError, match="invalidated"):
        str(add)
    assert module.operation.verify()


def test_passes_refuse_shared_trees(context: Context) -> None:
    """No pass runs over IR that a detached operation uses, nor over invalid IR."""
    module = Module.parse(NESTED)
    block = module.body.operations[0].regions[0].blocks[0]
    manager = PassManager.parse("builtin.module(cse)")
    user = Operation.create("func.return", operands=[block.operations[0].result], ip=False)
    with pytest.raises(ValueError, match="detached"):
        manager.run(module)
    block.append(user)
    with pytest.raises(MLIRError, match="no pass ran"):
        manager.run(module)


def test_contexts_do_not_mix(context: Context) -> None:
    """Objects of two contexts are never put together."""
    with Context() as other, Location.unknown():
        foreign = Module.parse(NESTED)
        value = foreign.body.operations[0].regions[0].blocks[0].arguments[0]
        other_type, other_attr = IndexType.get(), UnitAttr.get()
    module = Module.create()
    for attempt in (
        lambda: Operation.create("func.return", operands=[value]),
        lambda: Operation.create("arith.constant", [other_type]),
        lambda: Operation.create("func.func", attributes={"x": other_attr}),
        lambda: Operation.create("func.return", ip=InsertionPoint(foreign.body)),
        lambda: module.body.append(foreign.body.operations[0]),
        lambda: module.operation.attributes.__setitem__("x", other_attr),
    ):
        with pytest.raises(ValueError, match="another context"):
            attempt()
    with pytest.raises(ValueError, match="another context"):
        PassManager("builtin.module", context=other).run(module)


def test_printing_invalid_ir(context: Context) -> None:
    """Invalid IR prints generically, whatever was promised, and isn't written."""
    module = Module.create()
    op = Operation.create("func.func", regions=1, ip=InsertionPoint(module.body))
    assert '"func.func"' in op.get_asm(assume_verified=True)
    assert '"func.func"' in str(module)
    with pytest.raises(MLIRError):
        module.operation.write_bytecode(io.BytesIO())
    with pytest.raises(MLIRError) as caught:
        module.operation.verify()
    assert caught.value.error_diagnostics[0].message.startswith("'func.func' op requires attribute")


def test_unregistered_operations(context: Context) -> None:
    """Unknown operations need leave."""
    with pytest.raises(MLIRError, match="not a registered operation"):
        Operation.create("some.thing")
    context.allow_unregistered_dialects = True
    assert str(Operation.create("some.thing", ip=False)).strip() == '"some.thing"() : () -> ()'
    for name in ("", ".", "thing", "a\0.b"):
        with pytest.raises((ValueError, MLIRError)):
            Operation.create(name)


NAMES = st.sampled_from(
    "func.func func.return arith.addi arith.constant scf.for scf.if scf.yield gpu.module "
    "gpu.func gpu.launch builtin.module builtin.unrealized_conversion_cast memref.alloc "
    "memref.load vector.load vector.extract vector.transfer_read llvm.func llvm.getelementptr "
    "llvm.mlir.global llvm.call llvm.switch cf.cond_br cf.switch rocdl.raw.ptr.buffer.load.lds "
    "amdgpu.gather_to_lds lds.region affine.for linalg.generic".split()
)
TYPES = ["i32", "index", "f32", "vector<4xf32>", "memref<4xf32>", "!llvm.ptr<3>", "() -> ()"]
ATTRIBUTES = [
    '"x"',
    "7 : i32",
    "unit",
    "[1, 2]",
    "@x",
    "i32",
    "array<i32: 1, 2>",
    "array<i32: -1, 2000000000>",
    "dense<1> : tensor<2xi32>",
    "affine_map<(d0) -> (d0)>",
    "() -> ()",
    "{a = 1 : i32}",
]
KEYS = st.sampled_from(
    "sym_name function_type value operandSegmentSizes callee predicate case_values x "
    "lowerBoundMap static_position elem_type rawConstantIndices".split()
)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_random_operations(data: st.DataObject) -> None:
    """Operations of random shape are built, printed, verified and dropped without a crash."""
    with Context(), Location.unknown():
        module = Module.create()
        types = [Type.parse(text) for text in TYPES]
        attributes = [Attribute.parse(text) for text in ATTRIBUTES]
        blocks: list[Block] = [module.body]
        for _ in range(data.draw(st.integers(1, 6))):
            values = [v for b in blocks for o in b.operations for v in o.results]
            values += [a for b in blocks for a in b.arguments]
            block = data.draw(st.sampled_from(blocks))
            try:
                op = Operation.create(
                    data.draw(NAMES),
                    data.draw(st.lists(st.sampled_from(types), max_size=3)),
                    data.draw(st.lists(st.sampled_from(values), max_size=3)) if values else [],
                    data.draw(st.dictionaries(KEYS, st.sampled_from(attributes), max_size=3)),
                    data.draw(st.lists(st.sampled_from(blocks), max_size=2)),
                    data.draw(st.integers(0, 2)),
                    ip=data.draw(st.sampled_from([False, InsertionPoint(block)])),
                )
            except (MLIRError, ValueError):
                continue
            for region in op.regions:
                blocks.append(region.blocks.append(*data.draw(st.lists(st.sampled_from(types)))))
        str(module)
        try:
            module.operation.verify()
            PassManager.parse("builtin.module(canonicalize)").run(module)
        except (MLIRError, ValueError):
            pass
        module.operation.clone(ip=False).walk(lambda op: None, WalkOrder.PRE_ORDER)


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.none(),
        st.integers(),
        st.text(),
        st.binary(),
        st.lists(st.text()),
        st.dictionaries(st.text(), st.integers()),
    )
)
def test_odd_arguments(thing: object) -> None:
    """Any object in any place: an exception of a known kind, or a result."""
    expected = (MLIRError, TypeError, ValueError, RuntimeError, KeyError, IndexError)
    with Context(), Location.unknown():
        attempts: list[Callable[[], object]] = [
            lambda: Operation.create(thing),  # type: ignore[arg-type]
            lambda: Operation.create("func.return", thing),  # type: ignore[arg-type]
            lambda: Operation.create("func.return", operands=thing),  # type: ignore[arg-type]
            lambda: Operation.create("func.return", attributes=thing),  # type: ignore[arg-type]
            lambda: Operation.create("func.return", successors=thing),  # type: ignore[arg-type]
            lambda: Operation.create("func.return", regions=thing),  # type: ignore[arg-type]
            lambda: Operation.create("func.return", ip=thing),  # type: ignore[arg-type]
            lambda: Module.parse(thing),  # type: ignore[arg-type]
            lambda: Module.from_foreign(thing),
            lambda: Operation.parse(thing),  # type: ignore[arg-type]
            lambda: Type.parse(thing),  # type: ignore[arg-type]
            lambda: Attribute.parse(thing),  # type: ignore[arg-type]
            lambda: StringAttr.get(thing),  # type: ignore[arg-type]
            lambda: IntegerType.get_signless(thing),  # type: ignore[arg-type]
            lambda: PassManager.parse(thing),  # type: ignore[arg-type]
            lambda: PassManager(thing).add(thing),  # type: ignore[arg-type]
        ]
        for attempt in attempts:
            try:
                attempt()
            except expected:
                pass


def test_a_missing_attribute_of_a_module_is_an_error_that_holds_its_object() -> None:
    """The lookup goes on to the operation's handle, which must live as long as the error."""
    with Context() as context:
        module = Module.parse("module {}", context=context)
        for _ in range(100):
            with pytest.raises(AttributeError) as error:
                _ = module.no_such_attribute
            assert error.value.obj.name == "builtin.module"
