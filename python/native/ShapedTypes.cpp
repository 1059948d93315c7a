//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Uniqued.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <nanobind/stl/pair.h>

using namespace lodestone::python;

namespace {
/// The abstract parent of the types with a shape.
struct ShapedType : Type {
  mlir::ShapedType get() const { return mlir::cast<mlir::ShapedType>(value); }
};
} // namespace

static mlir::Attribute unwrapOptional(const ContextPtr &context,
                                      const Attribute *attribute) {
  if (!attribute)
    return {};
  requireSameContext(context, attribute->context, "attribute");
  return attribute->value;
}

static std::vector<int64_t> shapeOf(const ShapedType &self) {
  if (!self.get().hasRank())
    throw nb::value_error("the type has no rank");
  return std::vector<int64_t>(self.get().getShape());
}

static void bindShaped(nb::module_ &m) {
  nb::class_<ShapedType, Type>(m, "ShapedType",
                               "A vector, tensor or memref type.")
      .def_prop_ro("element_type",
                   [](const ShapedType &self) {
                     return toPython(self.context, self.get().getElementType());
                   })
      .def_prop_ro("has_rank",
                   [](const ShapedType &self) { return self.get().hasRank(); })
      .def_prop_ro("rank",
                   [](const ShapedType &self) { return shapeOf(self).size(); })
      .def_prop_ro("shape", &shapeOf,
                   "The sizes; a dynamic one is ShapedType.get_dynamic_size().")
      .def_prop_ro(
          "has_static_shape",
          [](const ShapedType &self) { return self.get().hasStaticShape(); })
      .def(
          "is_dynamic_dim",
          [](const ShapedType &self, unsigned dim) {
            std::vector<int64_t> shape = shapeOf(self);
            if (dim >= shape.size())
              throw nb::index_error("dimension out of range");
            return mlir::ShapedType::isDynamic(shape[dim]);
          },
          nb::arg("dim"))
      .def_static("get_dynamic_size", [] { return mlir::ShapedType::kDynamic; })
      .def_static(
          "isinstance",
          [](const Type &type) {
            return mlir::isa<mlir::ShapedType>(type.value);
          },
          nb::arg("other"));
}

void lodestone::python::bindShapedTypes(nb::module_ &m) {
  bindShaped(m);

  using Vector = Concrete<mlir::VectorType, ShapedType>;
  using MemRef = Concrete<mlir::MemRefType, ShapedType>;
  using Tensor = Concrete<mlir::RankedTensorType, ShapedType>;
  using UnrankedMemRef = Concrete<mlir::UnrankedMemRefType, ShapedType>;
  using UnrankedTensor = Concrete<mlir::UnrankedTensorType, ShapedType>;

  bindConcrete<mlir::VectorType, ShapedType>(m, "VectorType", "A vector type.")
      .def_static(
          "get",
          [](const std::vector<int64_t> &shape, const Type &element,
             const Location *loc,
             const std::optional<std::vector<bool>> &scalable) {
            const ContextPtr &context = element.context;
            if (scalable && scalable->size() != shape.size())
              throw nb::value_error("scalable and shape differ in length");
            llvm::SmallVector<bool> flags;
            if (scalable)
              flags.assign(scalable->begin(), scalable->end());
            mlir::Location where = locationOrUnknown(context, loc);
            auto type = capturing(context, "invalid vector type", [&] {
              return mlir::VectorType::getChecked(where, shape, element.value,
                                                  flags);
            });
            return make<Vector>(context, type);
          },
          nb::arg("shape"), nb::arg("element_type"),
          nb::arg("loc") = nb::none(), nb::kw_only(),
          nb::arg("scalable") = nb::none())
      .def_prop_ro("scalable",
                   [](const Vector &self) { return self.get().isScalable(); });

  bindConcrete<mlir::RankedTensorType, ShapedType>(m, "RankedTensorType",
                                                   "A tensor type.")
      .def_static(
          "get",
          [](const std::vector<int64_t> &shape, const Type &element,
             const Attribute *encoding, const Location *loc) {
            const ContextPtr &context = element.context;
            mlir::Location where = locationOrUnknown(context, loc);
            mlir::Attribute inner = unwrapOptional(context, encoding);
            auto type = capturing(context, "invalid tensor type", [&] {
              return mlir::RankedTensorType::getChecked(where, shape,
                                                        element.value, inner);
            });
            return make<Tensor>(context, type);
          },
          nb::arg("shape"), nb::arg("element_type"),
          nb::arg("encoding") = nb::none(), nb::arg("loc") = nb::none());

  bindConcrete<mlir::MemRefType, ShapedType>(m, "MemRefType", "A memref type.")
      .def_static(
          "get",
          [](const std::vector<int64_t> &shape, const Type &element,
             const Attribute *layout, const Attribute *space,
             const Location *loc) {
            const ContextPtr &context = element.context;
            mlir::Location where = locationOrUnknown(context, loc);
            mlir::Attribute layoutAttr = unwrapOptional(context, layout);
            mlir::Attribute spaceAttr = unwrapOptional(context, space);
            mlir::MemRefLayoutAttrInterface map;
            if (layoutAttr) {
              map = mlir::dyn_cast<mlir::MemRefLayoutAttrInterface>(layoutAttr);
              if (!map)
                throw nb::value_error("the layout attribute is no layout");
            }
            auto type = capturing(context, "invalid memref type", [&] {
              return mlir::MemRefType::getChecked(where, shape, element.value,
                                                  map, spaceAttr);
            });
            return make<MemRef>(context, type);
          },
          nb::arg("shape"), nb::arg("element_type"),
          nb::arg("layout") = nb::none(), nb::arg("memory_space") = nb::none(),
          nb::arg("loc") = nb::none())
      .def_prop_ro("layout",
                   [](const MemRef &self) {
                     return toPython(self.context,
                                     mlir::Attribute(self.get().getLayout()));
                   })
      .def_prop_ro("memory_space",
                   [](const MemRef &self) {
                     return toPython(self.context, self.get().getMemorySpace());
                   })
      .def(
          "get_strides_and_offset",
          [](const MemRef &self) {
            llvm::SmallVector<int64_t> strides;
            int64_t offset;
            if (failed(self.get().getStridesAndOffset(strides, offset)))
              throw nb::value_error("the layout has no strides");
            return std::make_pair(
                std::vector<int64_t>(strides.begin(), strides.end()), offset);
          },
          "Strides and offset in elements.");

  bindConcrete<mlir::UnrankedTensorType, ShapedType>(m, "UnrankedTensorType",
                                                     "A tensor of any rank.")
      .def_static(
          "get",
          [](const Type &element) {
            auto type = capturing(element.context, "invalid tensor type", [&] {
              return mlir::UnrankedTensorType::getChecked(
                  mlir::UnknownLoc::get(&element.context->context),
                  element.value);
            });
            return make<UnrankedTensor>(element.context, type);
          },
          nb::arg("element_type"));
  bindConcrete<mlir::UnrankedMemRefType, ShapedType>(m, "UnrankedMemRefType",
                                                     "A memref of any rank.")
      .def_static(
          "get",
          [](const Type &element, const Attribute *space) {
            const ContextPtr &context = element.context;
            mlir::Attribute spaceAttr = unwrapOptional(context, space);
            auto type = capturing(context, "invalid memref type", [&] {
              return mlir::UnrankedMemRefType::getChecked(
                  mlir::UnknownLoc::get(&context->context), element.value,
                  spaceAttr);
            });
            return make<UnrankedMemRef>(context, type);
          },
          nb::arg("element_type"), nb::arg("memory_space") = nb::none());
}
