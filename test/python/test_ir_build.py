"""Building IR by hand: creation, attributes, types, values, structure."""

import ml_dtypes
import numpy as np
import pytest
from lodestone.ir import (
    ArrayAttr,
    Attribute,
    BF16Type,
    Block,
    BoolAttr,
    Context,
    DenseElementsAttr,
    DenseI64ArrayAttr,
    DictAttr,
    F32Type,
    FlatSymbolRefAttr,
    Float8E4M3FNType,
    FloatAttr,
    FunctionType,
    IndexType,
    InsertionPoint,
    IntegerAttr,
    IntegerType,
    Location,
    MemRefType,
    MLIRError,
    Module,
    Operation,
    StringAttr,
    SymbolRefAttr,
    SymbolTable,
    Type,
    TypeAttr,
    UnitAttr,
    VectorType,
    WalkOrder,
    WalkResult,
)

ADD = """
func.func @f(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %0, %0 : i32
  return %1 : i32
}
"""


def build_function() -> tuple[Module, Block]:
    """A module with `func @f(i32) -> i32` whose body is empty."""
    module = Module.create()
    i32 = IntegerType.get_signless(32)
    function = Operation.create(
        "func.func",
        attributes={
            "sym_name": StringAttr.get("f"),
            "function_type": TypeAttr.get(FunctionType.get([i32], [i32])),
        },
        regions=1,
        ip=InsertionPoint(module.body),
    )
    return module, function.regions[0].blocks.append(i32)


def test_builds_what_text_says(context: Context) -> None:
    """A module built operation by operation prints as the one that was parsed."""
    module, body = build_function()
    i32 = IntegerType.get_signless(32)
    with InsertionPoint(body):
        value = {"value": IntegerAttr.get(i32, -3)}
        three = Operation.create("arith.constant", [i32], attributes=value)
        add = Operation.create("arith.addi", [i32], [body.arguments[0], three.result])
        Operation.create("func.return", operands=add.results)
    assert module.operation.verify()
    text = "func.func @f(%x: i32) -> i32 { %c = arith.constant -3 : i32\n"
    text += "%0 = arith.addi %x, %c : i32\nreturn %0 : i32 }"
    assert str(module) == str(Module.parse(text))


def test_attributes_are_a_mapping(context: Context) -> None:
    """Attributes are read, set and deleted by name; a wrong type is refused, not dropped."""
    op = Module.parse(ADD).body.operations[0]
    op.attributes["note"] = UnitAttr.get()
    assert "note" in op.attributes and set(op.attributes) == {"note", "sym_name", "function_type"}
    del op.attributes["note"]
    assert op.attributes.get("note") is None
    with pytest.raises(KeyError):
        op.attributes["note"]
    with pytest.raises(KeyError):
        del op.attributes["note"]
    with pytest.raises(MLIRError, match="sym_name"):
        op.attributes["sym_name"] = UnitAttr.get()
    assert StringAttr(op.attributes["sym_name"]).value == "f"
    with pytest.raises(TypeError):
        op.attributes["note"] = 3  # type: ignore[assignment]


def test_types_come_back_as_their_class(context: Context) -> None:
    """Parsed and nested types have the class that their constructor has."""
    vector = Type.parse("vector<4x[8]xf8E4M3FN>")
    assert isinstance(vector, VectorType)
    assert vector.shape == [4, 8] and vector.scalable
    assert isinstance(vector.element_type, Float8E4M3FNType)
    memref = MemRefType.get(
        [2, 3], F32Type.get(), memory_space=Attribute.parse("#gpu.address_space<workgroup>")
    )
    assert memref == Type.parse("memref<2x3xf32, #gpu.address_space<workgroup>>")
    assert memref.get_strides_and_offset() == ([3, 1], 0)
    assert repr(IntegerType.get_signless(7)) == "IntegerType(i7)"
    assert hash(BF16Type.get()) == hash(Type.parse("bf16")) and BF16Type.get() != F32Type.get()
    with pytest.raises(MLIRError):
        VectorType.get([-1], F32Type.get())
    with pytest.raises(MLIRError):
        MemRefType.get([2], FunctionType.get([], []))
    with pytest.raises(MLIRError):
        IntegerType.get_signless(1 << 30)
    with pytest.raises(ValueError):
        VectorType(F32Type.get())


@pytest.mark.parametrize(
    ("text", "value", "fits"),
    [
        ("i8", 255, True),
        ("i8", -128, True),
        ("i8", 256, False),
        ("i8", -129, False),
        ("si8", 128, False),
        ("ui8", -1, False),
        ("ui8", 200, True),
        ("i1", 1, True),
        ("i128", -(1 << 127), True),
        ("i128", 1 << 128, False),
        ("index", -5, True),
        ("index", 1 << 63, False),
        ("i0", 1, False),
        ("f32", 1, False),
    ],
)
def test_integers_must_fit(context: Context, text: str, value: int, fits: bool) -> None:
    """An integer that the type can't hold is refused instead of cut off."""
    type_ = Type.parse(text)
    if not fits:
        with pytest.raises(ValueError):
            IntegerAttr.get(type_, value)
        return
    got = int(IntegerAttr.get(type_, value)) if text != "i1" else 1
    width = 64 if text == "index" else IntegerType(type_).width
    assert (got - value) % (1 << width) == 0


def test_attribute_classes(context: Context) -> None:
    """Each attribute class gives back what it was made of."""
    assert isinstance(Attribute.parse("true"), BoolAttr)
    assert FloatAttr.get(BF16Type.get(), 1.5).value == 1.5
    with pytest.raises(ValueError):
        FloatAttr.get(IndexType.get(), 1.0)
    assert [int(IntegerAttr(a)) for a in ArrayAttr(Attribute.parse("[1, 2]"))] == [1, 2]
    assert DictAttr.get({"a": UnitAttr.get()}).keys() == ["a"]
    assert DenseI64ArrayAttr.get([1, -2]) == Attribute.parse("array<i64: 1, -2>")
    assert FlatSymbolRefAttr.get("x") == SymbolRefAttr.get(["x"])
    assert SymbolRefAttr(Attribute.parse("@a::@b")).value == ["a", "b"]
    assert isinstance(Attribute.parse("@a"), FlatSymbolRefAttr)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int64", "float16", "float64", "bfloat16", "float8_e4m3fn"]
)
def test_dense_elements_and_numpy(context: Context, dtype: str) -> None:
    """NumPy arrays survive the way into dense elements and back."""
    kind = getattr(ml_dtypes, dtype, None) or np.dtype(dtype)
    for array in (np.array([[0, 1, 1], [1, 0, 1]]), np.ones((2, 2)), np.zeros((0, 3))):
        array = array.astype(kind)
        back = np.array(DenseElementsAttr.get(array))
        assert back.dtype == array.dtype and back.shape == array.shape
        assert (back == array).all()


def test_dense_elements_of_a_given_type(context: Context) -> None:
    """The type may be given whole or by its elements, and must fit the array."""
    array = np.arange(4, dtype=np.int32)
    vector = VectorType.get([4], IntegerType.get_signless(32))
    assert str(DenseElementsAttr.get(array, type=vector).type) == "vector<4xi32>"
    with pytest.raises(ValueError):
        DenseElementsAttr.get(array, type=VectorType.get([5], IntegerType.get_signless(32)))
    with pytest.raises(ValueError):
        DenseElementsAttr.get(array, type=F32Type.get())
    with pytest.raises(TypeError):
        DenseElementsAttr.get(np.array(["a"]))


def test_walk_survives_changes(context: Context) -> None:
    """A walk goes in order, stops and skips as told, and outlives erased operations."""
    module = Module.parse(ADD)
    names: list[str] = []
    module.operation.walk(lambda op: names.append(op.name), WalkOrder.PRE_ORDER)
    assert names[:2] == ["builtin.module", "func.func"] and len(names) == 5
    seen: list[str] = []

    def stop(op: Operation) -> WalkResult:
        seen.append(op.name)
        return WalkResult.SKIP if op.name == "func.func" else WalkResult.ADVANCE

    module.operation.walk(stop, WalkOrder.PRE_ORDER)
    assert seen == ["builtin.module", "func.func"]

    def erase(op: Operation) -> WalkResult | None:
        if op.name == "func.func":
            op.erase()
        return None

    module.operation.walk(erase, WalkOrder.PRE_ORDER)
    assert len(module.body.operations) == 0


def test_uses_are_replaced(context: Context) -> None:
    """Uses are listed and redirected; the types must agree."""
    function = Module.parse(ADD).body.operations[0]
    block = function.regions[0].blocks[0]
    add = block.operations[0]
    assert [use.operand_number for use in add.result.uses] in ([0, 1], [1, 0])
    add.result.replace_all_uses_with(block.arguments[0])
    assert list(add.result.uses) == []
    second = block.operations[1]
    assert second.operands[0] == block.arguments[0] == second.operands[1]
    second.operands[1] = block.arguments[1]
    assert second.operands[1].get_name() == "%arg1"
    add.erase()
    assert function.verify()
    other = Operation.create("arith.constant", [IndexType.get()], ip=False)
    with pytest.raises(ValueError, match="another type"):
        second.result.replace_all_uses_with(other.result)


def test_operations_move(context: Context) -> None:
    """Operations move between blocks and modules; never into themselves."""
    first, second = Module.parse(ADD), Module.create()
    function = first.body.operations[0]
    second.body.append(function)
    assert len(first.body.operations) == 0 and function.parent is second.operation
    with pytest.raises(ValueError, match="into itself"):
        function.regions[0].blocks[0].append(function)
    copy = function.clone(ip=InsertionPoint.at_block_begin(second.body))
    assert second.body.operations[0] is copy
    function.move_before(copy)
    assert list(second.body.operations) == [function, copy]
    assert function.is_before_in_block(copy)
    function.detach_from_parent()
    assert function.parent is None and second.operation.verify()


def test_symbol_table(context: Context) -> None:
    """Symbols are found by name; a name that is taken gets a number."""
    module = Module.parse(ADD)
    table = SymbolTable(module.operation)
    function = table["f"]
    assert "g" not in table
    name = table.insert(function.clone(ip=False))
    assert name == StringAttr.get("f_0") and "f_0" in table
    table.erase(function)
    assert "f" not in table
    with pytest.raises(ValueError):
        SymbolTable(table["f_0"].regions[0].blocks[0].operations[0])


def test_current_objects(context: Context) -> None:
    """`with` sets what is current, per thread and nested."""
    assert Context.current is context
    _module, body = build_function()
    with Location.file("a.py", 3, 4), InsertionPoint(body) as point:
        assert InsertionPoint.current is point
        op = Operation.create("arith.constant", [IndexType.get()])
        assert op.location == Location.file("a.py", 3, 4) and op.location.start_line == 3
        assert not Operation.create("arith.constant", [IndexType.get()], ip=False).attached
    with pytest.raises(ValueError):
        InsertionPoint.current  # noqa: B018
    with Context() as other, pytest.raises(RuntimeError, match="location"):
        Operation.create("arith.constant", context and [IndexType.get(other)])
