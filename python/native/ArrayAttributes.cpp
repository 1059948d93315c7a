//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sequence.h"
#include "Uniqued.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <nanobind/stl/pair.h>

using namespace lodestone::python;

/// `DenseI32ArrayAttr` and its like.
template <typename T, typename Element>
static void bindDenseArray(nb::module_ &m, const char *name) {
  using Self = AttributeOf<T>;
  bindConcrete<T, Attribute>(m, name, "An array of numbers.",
                             /*downcast=*/false)
      .def_static(
          "get",
          [](const std::vector<Element> &values, ContextState *given) {
            ContextPtr context = contextOrCurrent(given);
            llvm::SmallVector<Element> copy(values.begin(), values.end());
            return make<Self>(context, T::get(&context->context, copy));
          },
          nb::arg("values"), nb::arg("context") = nb::none())
      .def("__len__", [](const Self &self) { return self.get().size(); })
      .def("__getitem__",
           [](const Self &self, int64_t index) -> Element {
             return self.get()[position(index, self.get().size())];
           })
      .def_prop_ro("values", [](const Self &self) {
        llvm::ArrayRef<Element> values = self.get().asArrayRef();
        return std::vector<Element>(values.begin(), values.end());
      });
}

template <typename T>
static nb::object asDenseArray(const ContextPtr &context,
                               mlir::Attribute attribute) {
  return mlir::isa<T>(attribute)
             ? nb::cast(make<AttributeOf<T>>(context, attribute))
             : nb::object();
}

void lodestone::python::bindArrayAttributes(nb::module_ &m) {
  using Array = AttributeOf<mlir::ArrayAttr>;
  bindConcrete<mlir::ArrayAttr, Attribute>(m, "ArrayAttr",
                                           "A list of attributes.")
      .def_static(
          "get",
          [](const std::vector<Attribute> &elements, ContextState *given) {
            ContextPtr context = elements.empty() ? contextOrCurrent(given)
                                                  : elements[0].context;
            llvm::SmallVector<mlir::Attribute> values;
            for (const Attribute &element : elements) {
              requireSameContext(context, element.context, "attribute");
              values.push_back(element.value);
            }
            return make<Array>(context,
                               mlir::ArrayAttr::get(&context->context, values));
          },
          nb::arg("attributes"), nb::arg("context") = nb::none())
      .def("__len__", [](const Array &self) { return self.get().size(); })
      .def("__getitem__",
           [](const Array &self, int64_t index) {
             return toPython(self.context,
                             self.get()[position(index, self.get().size())]);
           })
      .def("__iter__", [](const Array &self) {
        nb::typed<nb::list, Attribute> values;
        for (mlir::Attribute value : self.get())
          values.append(toPython(self.context, value));
        return nb::typed<nb::iterator, Attribute>(nb::iter(values));
      });

  using Dict = AttributeOf<mlir::DictionaryAttr>;
  bindConcrete<mlir::DictionaryAttr, Attribute>(m, "DictAttr",
                                                "Attributes by name.")
      .def_static(
          "get",
          [](nb::typed<nb::dict, nb::str, Attribute> value,
             ContextState *given) {
            ContextPtr context;
            llvm::SmallVector<mlir::NamedAttribute> entries;
            for (auto [key, item] : value) {
              auto &attribute = nb::cast<const Attribute &>(item);
              if (!context)
                context = attribute.context;
              requireSameContext(context, attribute.context, "attribute");
              entries.emplace_back(
                  mlir::StringAttr::get(&context->context,
                                        nb::cast<std::string>(key)),
                  attribute.value);
            }
            if (!context)
              context = contextOrCurrent(given);
            return make<Dict>(
                context, mlir::DictionaryAttr::get(&context->context, entries));
          },
          nb::arg("value") = nb::dict(), nb::arg("context") = nb::none())
      .def("__len__", [](const Dict &self) { return self.get().size(); })
      .def("__contains__",
           [](const Dict &self, const std::string &name) {
             return static_cast<bool>(self.get().get(name));
           })
      .def("__getitem__",
           [](const Dict &self, const std::string &name) {
             if (mlir::Attribute value = self.get().get(name))
               return toPython(self.context, value);
             throw nb::key_error(name.c_str());
           })
      .def("keys",
           [](const Dict &self) {
             std::vector<std::string> keys;
             for (mlir::NamedAttribute entry : self.get())
               keys.push_back(entry.getName().str());
             return keys;
           })
      .def("items", [](const Dict &self) {
        std::vector<std::pair<std::string, PyAttribute>> items;
        for (mlir::NamedAttribute entry : self.get())
          items.emplace_back(entry.getName().str(),
                             toPython(self.context, entry.getValue()));
        return items;
      });

  bindDenseArray<mlir::DenseBoolArrayAttr, bool>(m, "DenseBoolArrayAttr");
  bindDenseArray<mlir::DenseI8ArrayAttr, int8_t>(m, "DenseI8ArrayAttr");
  bindDenseArray<mlir::DenseI16ArrayAttr, int16_t>(m, "DenseI16ArrayAttr");
  bindDenseArray<mlir::DenseI32ArrayAttr, int32_t>(m, "DenseI32ArrayAttr");
  bindDenseArray<mlir::DenseI64ArrayAttr, int64_t>(m, "DenseI64ArrayAttr");
  bindDenseArray<mlir::DenseF32ArrayAttr, float>(m, "DenseF32ArrayAttr");
  bindDenseArray<mlir::DenseF64ArrayAttr, double>(m, "DenseF64ArrayAttr");
  registerDowncast(
      mlir::TypeID::get<mlir::DenseArrayAttr>(),
      [](const ContextPtr &context, const void *opaque) {
        auto attribute = mlir::Attribute::getFromOpaquePointer(opaque);
        for (auto candidate : {asDenseArray<mlir::DenseBoolArrayAttr>,
                               asDenseArray<mlir::DenseI8ArrayAttr>,
                               asDenseArray<mlir::DenseI16ArrayAttr>,
                               asDenseArray<mlir::DenseI32ArrayAttr>,
                               asDenseArray<mlir::DenseI64ArrayAttr>,
                               asDenseArray<mlir::DenseF32ArrayAttr>,
                               asDenseArray<mlir::DenseF64ArrayAttr>})
          if (nb::object result = candidate(context, attribute))
            return result;
        return nb::cast(Attribute{context, attribute});
      });
}
