//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Dense elements, to and from NumPy.
///
//===----------------------------------------------------------------------===//

#include "Uniqued.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace lodestone::python;

namespace {
/// One element type as MLIR and as NumPy (with ml_dtypes) name it.
struct ElementName {
  const char *numpy;
  mlir::Type (*get)(mlir::MLIRContext *);
};
} // namespace

template <unsigned width>
static mlir::Type integerType(mlir::MLIRContext *context) {
  return mlir::IntegerType::get(context, width);
}
template <typename T> static mlir::Type floatType(mlir::MLIRContext *context) {
  return T::get(context);
}

// The first row of an MLIR type is what it becomes in NumPy.
static const ElementName elementNames[] = {
    {"bool", integerType<1>},
    {"int8", integerType<8>},
    {"uint8", integerType<8>},
    {"int16", integerType<16>},
    {"uint16", integerType<16>},
    {"int32", integerType<32>},
    {"uint32", integerType<32>},
    {"int64", integerType<64>},
    {"uint64", integerType<64>},
    {"float16", floatType<mlir::Float16Type>},
    {"float32", floatType<mlir::Float32Type>},
    {"float64", floatType<mlir::Float64Type>},
    {"bfloat16", floatType<mlir::BFloat16Type>},
    {"float4_e2m1fn", floatType<mlir::Float4E2M1FNType>},
    {"float6_e2m3fn", floatType<mlir::Float6E2M3FNType>},
    {"float6_e3m2fn", floatType<mlir::Float6E3M2FNType>},
    {"float8_e3m4", floatType<mlir::Float8E3M4Type>},
    {"float8_e4m3", floatType<mlir::Float8E4M3Type>},
    {"float8_e4m3fn", floatType<mlir::Float8E4M3FNType>},
    {"float8_e4m3fnuz", floatType<mlir::Float8E4M3FNUZType>},
    {"float8_e4m3b11fnuz", floatType<mlir::Float8E4M3B11FNUZType>},
    {"float8_e5m2", floatType<mlir::Float8E5M2Type>},
    {"float8_e5m2fnuz", floatType<mlir::Float8E5M2FNUZType>},
    {"float8_e8m0fnu", floatType<mlir::Float8E8M0FNUType>},
};

static nb::object numpyType(mlir::Type type) {
  if (mlir::isa<mlir::IndexType>(type))
    type = mlir::IntegerType::get(type.getContext(), 64);
  const bool isUnsigned = type.isUnsignedInteger();
  mlir::Type key = type;
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type))
    key = mlir::IntegerType::get(type.getContext(), integer.getWidth());
  for (const ElementName &entry : elementNames) {
    if (entry.get(type.getContext()) != key)
      continue;
    std::string name = (isUnsigned && !type.isInteger(1) ? "u" : "") +
                       std::string(entry.numpy);
    // NumPy knows its own names only; ml_dtypes has classes for the rest.
    nb::object numpy = nb::module_::import_("numpy");
    if (nb::hasattr(numpy, name.c_str()))
      return numpy.attr("dtype")(name);
    return numpy.attr("dtype")(
        nb::module_::import_("ml_dtypes").attr(name.c_str()));
  }
  throw nb::value_error("the element type has no counterpart in NumPy");
}

static nb::object toNumpy(mlir::DenseElementsAttr elements) {
  nb::object numpy = nb::module_::import_("numpy");
  nb::object dtype = numpyType(elements.getElementType());
  llvm::ArrayRef<int64_t> shape = elements.getType().getShape();
  nb::list sizes;
  for (int64_t size : shape)
    sizes.append(size);
  nb::tuple tuple = nb::tuple(sizes);
  if (elements.getElementType().isInteger(1)) {
    // MLIR packs them into bits.
    nb::list values;
    for (bool value : elements.getValues<bool>())
      values.append(value);
    return numpy.attr("array")(values, dtype).attr("reshape")(tuple);
  }
  llvm::ArrayRef<char> raw = elements.getRawData();
  nb::object flat =
      numpy.attr("frombuffer")(nb::bytes(raw.data(), raw.size()), dtype);
  if (elements.isSplat())
    return numpy
        .attr("broadcast_to")(flat.attr("reshape")(nb::make_tuple()), tuple)
        .attr("copy")();
  return flat.attr("reshape")(tuple).attr("copy")();
}

static mlir::DenseElementsAttr fromNumpy(const ContextPtr &context,
                                         nb::object array, const Type *given) {
  nb::object numpy = nb::module_::import_("numpy");
  array = numpy.attr("ascontiguousarray")(array).attr("reshape")(
      numpy.attr("shape")(array));
  std::string name = nb::cast<std::string>(array.attr("dtype").attr("name"));
  const ElementName *entry = llvm::find_if(
      elementNames, [&](const ElementName &e) { return name == e.numpy; });
  if (entry == std::end(elementNames))
    throw nb::type_error(
        ("arrays of " + name + " cannot become dense elements").c_str());

  mlir::Type element = entry->get(&context->context);
  auto shape = nb::cast<std::vector<int64_t>>(array.attr("shape"));
  mlir::ShapedType type = mlir::RankedTensorType::get(shape, element);
  if (given) {
    // Either the whole type, or that of the elements.
    requireSameContext(context, given->context, "type");
    mlir::Type wanted = given->value;
    if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(given->value)) {
      if (!mlir::isa<mlir::RankedTensorType, mlir::VectorType>(shaped) ||
          !shaped.hasStaticShape() ||
          shaped.getShape() != llvm::ArrayRef(shape))
        throw nb::value_error("the type's shape is not that of the array");
      wanted = shaped.getElementType();
      type = shaped;
    } else {
      if (!mlir::isa<mlir::IntegerType, mlir::IndexType, mlir::FloatType>(
              wanted))
        throw nb::value_error("no such element type in dense elements");
      type = mlir::RankedTensorType::get(shape, wanted);
    }
    const bool same =
        wanted == element || (mlir::isa<mlir::IntegerType>(element) &&
                              (mlir::isa<mlir::IndexType>(wanted)
                                   ? element.isInteger(64)
                                   : mlir::isa<mlir::IntegerType>(wanted) &&
                                         wanted.getIntOrFloatBitWidth() ==
                                             element.getIntOrFloatBitWidth()));
    if (!same)
      throw nb::value_error("the element type is not that of the array");
  }
  nb::bytes data = nb::cast<nb::bytes>(array.attr("tobytes")());
  llvm::ArrayRef<char> raw(data.c_str(), data.size());
  if (element.isInteger(1)) {
    llvm::SmallVector<bool> bits;
    for (char byte : raw)
      bits.push_back(byte != 0);
    return mlir::DenseElementsAttr::get(type, bits);
  }
  bool splat = false;
  if (!raw.empty() &&
      !mlir::DenseElementsAttr::isValidRawBuffer(type, raw, splat))
    throw nb::value_error("the array does not fill the type");
  return mlir::DenseElementsAttr::getFromRawBuffer(type, raw);
}

void lodestone::python::bindElements(nb::module_ &m) {
  using Elements = AttributeOf<mlir::DenseElementsAttr>;
  nb::class_<Elements, Attribute>(m, "DenseElementsAttr",
                                  "A tensor or vector of numbers, dense<...>.")
      .def_static(
          "get",
          [](nb::object array, const Type *type, ContextState *given) {
            ContextPtr context = type ? type->context : contextOrCurrent(given);
            return toPython(context,
                            mlir::Attribute(fromNumpy(context, array, type)));
          },
          nb::arg("array"), nb::kw_only(), nb::arg("type") = nb::none(),
          nb::arg("context") = nb::none(),
          "From anything NumPy takes. `type` is the whole type, or the "
          "elements' "
          "(then a tensor of the array's shape).")
      .def_static(
          "get_splat",
          [](const Type &type, const Attribute &element) {
            requireSameContext(type.context, element.context, "element");
            auto shaped = mlir::dyn_cast<mlir::ShapedType>(type.value);
            auto typed = mlir::dyn_cast<mlir::TypedAttr>(element.value);
            if (!mlir::isa<mlir::RankedTensorType, mlir::VectorType>(
                    type.value) ||
                !shaped.hasStaticShape())
              throw nb::value_error("a splat needs a static tensor or vector");
            if (!mlir::isa<mlir::IntegerAttr, mlir::FloatAttr>(element.value) ||
                typed.getType() != shaped.getElementType())
              throw nb::value_error("the element is not of the element type");
            return toPython(type.context,
                            mlir::Attribute(mlir::DenseElementsAttr::get(
                                shaped, element.value)));
          },
          nb::arg("shaped_type"), nb::arg("element_attr"))
      .def_static(
          "isinstance",
          [](const Attribute &other) {
            return mlir::isa<mlir::DenseElementsAttr>(other.value);
          },
          nb::arg("other"))
      .def_prop_ro("is_splat",
                   [](const Elements &self) { return self.get().isSplat(); })
      .def("__len__",
           [](const Elements &self) { return self.get().getNumElements(); })
      .def(
          "__array__",
          [](const Elements &self, nb::object dtype, nb::object) -> nb::object {
            nb::object array = toNumpy(self.get());
            return dtype.is_none() ? array : array.attr("astype")(dtype);
          },
          nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
          "The numbers as a new NumPy array: `numpy.array(attribute)`.");

  using Int = Concrete<mlir::DenseIntElementsAttr, Elements>;
  using FP = Concrete<mlir::DenseFPElementsAttr, Elements>;
  bindConcrete<mlir::DenseIntElementsAttr, Elements>(
      m, "DenseIntElementsAttr", "Dense integers.", /*downcast=*/false);
  bindConcrete<mlir::DenseFPElementsAttr, Elements>(
      m, "DenseFPElementsAttr", "Dense floating point numbers.",
      /*downcast=*/false);
  registerDowncast(mlir::TypeID::get<mlir::DenseIntOrFPElementsAttr>(),
                   [](const ContextPtr &context, const void *opaque) {
                     auto attribute =
                         mlir::Attribute::getFromOpaquePointer(opaque);
                     if (mlir::isa<mlir::DenseIntElementsAttr>(attribute))
                       return nb::cast(make<Int>(context, attribute));
                     if (mlir::isa<mlir::DenseFPElementsAttr>(attribute))
                       return nb::cast(make<FP>(context, attribute));
                     return nb::cast(make<Elements>(context, attribute));
                   });
}
