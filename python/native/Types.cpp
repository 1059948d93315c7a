//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Uniqued.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace lodestone::python;

static llvm::DenseMap<mlir::TypeID, Downcast> &downcasts() {
  static auto *map = new llvm::DenseMap<mlir::TypeID, Downcast>;
  return *map;
}

void lodestone::python::registerDowncast(mlir::TypeID id, Downcast downcast) {
  downcasts()[id] = downcast;
}

PyType lodestone::python::toPython(const ContextPtr &context, mlir::Type type) {
  if (!type)
    return PyType(nb::none());
  if (Downcast downcast = downcasts().lookup(type.getTypeID()))
    return PyType(downcast(context, type.getAsOpaquePointer()));
  return PyType(nb::cast(Type{context, type}));
}

PyAttribute lodestone::python::toPython(const ContextPtr &context,
                                        mlir::Attribute attribute) {
  if (!attribute)
    return PyAttribute(nb::none());
  if (Downcast downcast = downcasts().lookup(attribute.getTypeID()))
    return PyAttribute(downcast(context, attribute.getAsOpaquePointer()));
  return PyAttribute(nb::cast(Attribute{context, attribute}));
}

/// Types without parameters.
template <typename T>
static void bindSimple(nb::module_ &m, const char *name, const char *doc) {
  bindConcrete<T, Type>(m, name, doc)
      .def_static(
          "get",
          [](ContextState *given) {
            ContextPtr context = contextOrCurrent(given);
            return make<TypeOf<T>>(context, T::get(&context->context));
          },
          nb::arg("context") = nb::none());
}

template <typename T> static void bindFloat(nb::module_ &m, const char *name) {
  bindSimple<T>(m, name, "A floating point type.");
  nb::borrow<nb::class_<TypeOf<T>>>(m.attr(name))
      .def_prop_ro("width", [](const TypeOf<T> &self) {
        return mlir::cast<mlir::FloatType>(self.value).getWidth();
      });
}

static void bindInteger(nb::module_ &m) {
  using Self = TypeOf<mlir::IntegerType>;
  using Signedness = mlir::IntegerType::SignednessSemantics;
  nb::class_<Self, Type> cls = bindConcrete<mlir::IntegerType, Type>(
      m, "IntegerType", "An integer type.");
  auto getter = [](Signedness signedness) {
    return [signedness](unsigned width, ContextState *given) {
      ContextPtr context = contextOrCurrent(given);
      auto type = capturing(context, "invalid integer type", [&] {
        return mlir::IntegerType::getChecked(
            mlir::detail::getDefaultDiagnosticEmitFn(
                mlir::UnknownLoc::get(&context->context)),
            &context->context, width, signedness);
      });
      return make<Self>(context, type);
    };
  };
  cls.def_static("get_signless", getter(Signedness::Signless), nb::arg("width"),
                 nb::arg("context") = nb::none())
      .def_static("get_signed", getter(Signedness::Signed), nb::arg("width"),
                  nb::arg("context") = nb::none())
      .def_static("get_unsigned", getter(Signedness::Unsigned),
                  nb::arg("width"), nb::arg("context") = nb::none())
      .def_prop_ro("width",
                   [](const Self &self) { return self.get().getWidth(); })
      .def_prop_ro("is_signless",
                   [](const Self &self) { return self.get().isSignless(); })
      .def_prop_ro("is_signed",
                   [](const Self &self) { return self.get().isSigned(); })
      .def_prop_ro("is_unsigned",
                   [](const Self &self) { return self.get().isUnsigned(); });
}

template <typename Range>
static std::vector<PyType> wrapAll(const ContextPtr &context, Range &&types) {
  std::vector<PyType> result;
  for (mlir::Type type : types)
    result.push_back(toPython(context, type));
  return result;
}

static void bindComposite(nb::module_ &m) {
  using Function = TypeOf<mlir::FunctionType>;
  bindConcrete<mlir::FunctionType, Type>(m, "FunctionType", "A function type.")
      .def_static(
          "get",
          [](const std::vector<Type> &inputs, const std::vector<Type> &results,
             ContextState *given) {
            ContextPtr context = !inputs.empty()    ? inputs[0].context
                                 : !results.empty() ? results[0].context
                                                    : contextOrCurrent(given);
            return make<Function>(
                context, mlir::FunctionType::get(&context->context,
                                                 unwrap(context, inputs),
                                                 unwrap(context, results)));
          },
          nb::arg("inputs"), nb::arg("results"),
          nb::arg("context") = nb::none())
      .def_prop_ro("inputs",
                   [](const Function &self) {
                     return wrapAll(self.context, self.get().getInputs());
                   })
      .def_prop_ro("results", [](const Function &self) {
        return wrapAll(self.context, self.get().getResults());
      });

  using Tuple = TypeOf<mlir::TupleType>;
  bindConcrete<mlir::TupleType, Type>(m, "TupleType", "A tuple type.")
      .def_static(
          "get_tuple",
          [](const std::vector<Type> &elements, ContextState *given) {
            ContextPtr context = elements.empty() ? contextOrCurrent(given)
                                                  : elements[0].context;
            return make<Tuple>(context,
                               mlir::TupleType::get(&context->context,
                                                    unwrap(context, elements)));
          },
          nb::arg("elements"), nb::arg("context") = nb::none())
      .def_prop_ro("types", [](const Tuple &self) {
        return wrapAll(self.context, self.get().getTypes());
      });

  using Complex = TypeOf<mlir::ComplexType>;
  bindConcrete<mlir::ComplexType, Type>(m, "ComplexType", "A complex type.")
      .def_static(
          "get",
          [](const Type &element) {
            auto type = capturing(element.context, "invalid complex type", [&] {
              return mlir::ComplexType::getChecked(
                  mlir::UnknownLoc::get(&element.context->context),
                  element.value);
            });
            return make<Complex>(element.context, type);
          },
          nb::arg("element_type"))
      .def_prop_ro("element_type", [](const Complex &self) {
        return toPython(self.context, self.get().getElementType());
      });
}

void lodestone::python::bindTypes(nb::module_ &m) {
  nb::class_<Type>(m, "Type", "An MLIR type.")
      .def(
          "__init__",
          [](Type *self, const Type &other) { new (self) Type(other); },
          nb::arg("cast_from_type"))
      .def_static(
          "parse",
          [](const std::string &text, ContextState *given) {
            ContextPtr context = contextOrCurrent(given);
            return toPython(context,
                            capturing(context, "unable to parse type", [&] {
                              return mlir::parseType(text, &context->context);
                            }));
          },
          nb::arg("asm"), nb::arg("context") = nb::none(),
          "Parses a type; raises MLIRError.")
      .def_prop_ro("context", [](const Type &self) { return self.context; })
      .def("maybe_downcast",
           [](const Type &self) { return toPython(self.context, self.value); })
      .def(
          "__eq__",
          [](const Type &self, nb::handle other) {
            return nb::isinstance<Type>(other) &&
                   self == nb::cast<const Type &>(other);
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const Type &self) -> size_t { return hash_value(self.value); })
      .def("__str__", &printed<Type>)
      .def("__repr__",
           [](const Type &self) { return "Type(" + printed(self) + ")"; });

  bindInteger(m);
  bindSimple<mlir::IndexType>(m, "IndexType", "The index type.");
  bindSimple<mlir::NoneType>(m, "NoneType", "The none type.");
  bindFloat<mlir::Float4E2M1FNType>(m, "Float4E2M1FNType");
  bindFloat<mlir::Float6E2M3FNType>(m, "Float6E2M3FNType");
  bindFloat<mlir::Float6E3M2FNType>(m, "Float6E3M2FNType");
  bindFloat<mlir::Float8E3M4Type>(m, "Float8E3M4Type");
  bindFloat<mlir::Float8E4M3Type>(m, "Float8E4M3Type");
  bindFloat<mlir::Float8E4M3FNType>(m, "Float8E4M3FNType");
  bindFloat<mlir::Float8E5M2Type>(m, "Float8E5M2Type");
  bindFloat<mlir::Float8E4M3FNUZType>(m, "Float8E4M3FNUZType");
  bindFloat<mlir::Float8E4M3B11FNUZType>(m, "Float8E4M3B11FNUZType");
  bindFloat<mlir::Float8E5M2FNUZType>(m, "Float8E5M2FNUZType");
  bindFloat<mlir::Float8E8M0FNUType>(m, "Float8E8M0FNUType");
  bindFloat<mlir::BFloat16Type>(m, "BF16Type");
  bindFloat<mlir::Float16Type>(m, "F16Type");
  bindFloat<mlir::FloatTF32Type>(m, "FloatTF32Type");
  bindFloat<mlir::Float32Type>(m, "F32Type");
  bindFloat<mlir::Float64Type>(m, "F64Type");
  bindComposite(m);
  bindShapedTypes(m);
}
