//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Uniqued.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallString.h"

using namespace lodestone::python;

// Numbers
// -----------------------------------------------------------------------

/// The Python integer as the bits of `type`; raises if it doesn't fit.
static mlir::IntegerAttr makeInteger(mlir::Type type, nb::int_ value) {
  unsigned width = 64;
  bool isSigned = true, isUnsigned = false;
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type)) {
    width = integer.getWidth();
    isSigned = integer.isSigned();
    isUnsigned = integer.isUnsigned();
  } else if (!mlir::isa<mlir::IndexType>(type)) {
    throw nb::value_error(
        "an integer attribute needs an integer or index type");
  }
  // Through hexadecimal digits: Python's integers have no bound, and CPython
  // bounds decimal text only.
  std::string digits = nb::cast<std::string>(
      nb::module_::import_("builtins").attr("hex")(value));
  llvm::StringRef text = digits;
  const bool negative = text.consume_front("-");
  text.consume_front("0x");
  auto tooWide = [&]() -> nb::builtin_exception {
    return nb::value_error(
        ("the value " + digits + " does not fit in the type").c_str());
  };
  if (text.size() * 4 > width + 8)
    throw tooWide();
  llvm::APInt magnitude(width + 16, text, 16);
  llvm::APInt bits = negative ? -magnitude : magnitude;
  // A signless type takes what fits in either reading.
  const bool fitsSigned = bits.isSignedIntN(std::max(width, 1u));
  const bool fitsUnsigned = !negative && bits.isIntN(width);
  if (width == 0 ? !bits.isZero()
                 : !((fitsSigned && !isUnsigned) ||
                     (fitsUnsigned && (!isSigned || fitsSigned))))
    throw tooWide();
  if (mlir::isa<mlir::IndexType>(type) && !fitsSigned)
    throw tooWide();
  return mlir::IntegerAttr::get(type, bits.trunc(width));
}

static nb::int_ toPythonInt(mlir::IntegerAttr attribute) {
  llvm::SmallString<32> digits;
  bool isSigned = !attribute.getType().isUnsignedInteger() &&
                  !attribute.getType().isInteger(1);
  attribute.getValue().toString(digits, 16, isSigned);
  return nb::int_(nb::module_::import_("builtins")
                      .attr("int")(nb::str(digits.data(), digits.size()), 16));
}

static void bindNumbers(nb::module_ &m) {
  using Integer = AttributeOf<mlir::IntegerAttr>;
  bindConcrete<mlir::IntegerAttr, Attribute>(m, "IntegerAttr",
                                             "An integer of a given type.")
      .def_static(
          "get",
          [](const Type &type, nb::int_ value) {
            return make<Integer>(type.context, makeInteger(type.value, value));
          },
          nb::arg("type"), nb::arg("value"))
      .def_prop_ro("type",
                   [](const Integer &self) {
                     return toPython(self.context, self.get().getType());
                   })
      .def_prop_ro("value",
                   [](const Integer &self) { return toPythonInt(self.get()); })
      .def("__int__",
           [](const Integer &self) { return toPythonInt(self.get()); });

  using Bool = AttributeOf<mlir::BoolAttr>;
  bindConcrete<mlir::BoolAttr, Attribute>(m, "BoolAttr", "A truth value.",
                                          /*downcast=*/false)
      .def_static(
          "get",
          [](bool value, ContextState *given) {
            ContextPtr context = contextOrCurrent(given);
            return make<Bool>(context,
                              mlir::BoolAttr::get(&context->context, value));
          },
          nb::arg("value"), nb::arg("context") = nb::none())
      .def_prop_ro("type",
                   [](const Bool &self) {
                     return toPython(
                         self.context,
                         mlir::cast<mlir::TypedAttr>(self.value).getType());
                   })
      .def_prop_ro("value",
                   [](const Bool &self) { return self.get().getValue(); })
      .def("__bool__", [](const Bool &self) { return self.get().getValue(); });
  registerDowncast(mlir::TypeID::get<mlir::IntegerAttr>(),
                   [](const ContextPtr &context, const void *opaque) {
                     auto attribute =
                         mlir::Attribute::getFromOpaquePointer(opaque);
                     return mlir::isa<mlir::BoolAttr>(attribute)
                                ? nb::cast(make<Bool>(context, attribute))
                                : nb::cast(make<Integer>(context, attribute));
                   });

  using Float = AttributeOf<mlir::FloatAttr>;
  nb::class_<Float, Attribute> cls = bindConcrete<mlir::FloatAttr, Attribute>(
      m, "FloatAttr", "A floating point number of a given type.");
  auto get = [](const Type &type, double value, const Location *) {
    if (!mlir::isa<mlir::FloatType>(type.value))
      throw nb::value_error("a float attribute needs a floating point type");
    return make<Float>(type.context, mlir::FloatAttr::get(type.value, value));
  };
  auto fixed = [](auto getType) {
    return [getType](double value, ContextState *given) {
      ContextPtr context = contextOrCurrent(given);
      return make<Float>(
          context, mlir::FloatAttr::get(getType(&context->context), value));
    };
  };
  cls.def_static("get", get, nb::arg("type"), nb::arg("value"),
                 nb::arg("loc") = nb::none())
      .def_static("get_f32", fixed([](mlir::MLIRContext *context) {
                    return mlir::Float32Type::get(context);
                  }),
                  nb::arg("value"), nb::arg("context") = nb::none())
      .def_static("get_f64", fixed([](mlir::MLIRContext *context) {
                    return mlir::Float64Type::get(context);
                  }),
                  nb::arg("value"), nb::arg("context") = nb::none())
      .def_prop_ro("type",
                   [](const Float &self) {
                     return toPython(self.context, self.get().getType());
                   })
      .def_prop_ro(
          "value",
          [](const Float &self) { return self.get().getValueAsDouble(); })
      .def("__float__",
           [](const Float &self) { return self.get().getValueAsDouble(); });
}

// Text, types, symbols
// ------------------------------------------------------------

static void bindText(nb::module_ &m) {
  using String = AttributeOf<mlir::StringAttr>;
  bindConcrete<mlir::StringAttr, Attribute>(m, "StringAttr", "A string.")
      .def_static(
          "get",
          [](const std::string &value, ContextState *given) {
            ContextPtr context = contextOrCurrent(given);
            return make<String>(
                context, mlir::StringAttr::get(&context->context, value));
          },
          nb::arg("value"), nb::arg("context") = nb::none())
      .def_static(
          "get_typed",
          [](const Type &type, const std::string &value) {
            return make<String>(type.context,
                                mlir::StringAttr::get(value, type.value));
          },
          nb::arg("type"), nb::arg("value"))
      .def_prop_ro("value", [](const String &self) { return self.get().str(); })
      .def_prop_ro("value_bytes", [](const String &self) {
        return nb::bytes(self.get().data(), self.get().size());
      });

  using TypeAttr = AttributeOf<mlir::TypeAttr>;
  bindConcrete<mlir::TypeAttr, Attribute>(m, "TypeAttr", "A type.")
      .def_static(
          "get",
          [](const Type &value, ContextState *) {
            return make<TypeAttr>(value.context,
                                  mlir::TypeAttr::get(value.value));
          },
          nb::arg("value"), nb::arg("context") = nb::none())
      .def_prop_ro("value", [](const TypeAttr &self) {
        return toPython(self.context, self.get().getValue());
      });

  using Unit = AttributeOf<mlir::UnitAttr>;
  bindConcrete<mlir::UnitAttr, Attribute>(m, "UnitAttr", "Presence alone.")
      .def_static(
          "get",
          [](ContextState *given) {
            ContextPtr context = contextOrCurrent(given);
            return make<Unit>(context, mlir::UnitAttr::get(&context->context));
          },
          nb::arg("context") = nb::none());

  using Symbol = AttributeOf<mlir::SymbolRefAttr>;
  bindConcrete<mlir::SymbolRefAttr, Attribute>(
      m, "SymbolRefAttr", "A symbol's name, nested: @a::@b.",
      /*downcast=*/false)
      .def_static(
          "get",
          [](const std::vector<std::string> &path, ContextState *given) {
            ContextPtr state = contextOrCurrent(given);
            mlir::MLIRContext *context = &state->context;
            if (path.empty())
              throw nb::value_error("a symbol reference needs a name");
            llvm::SmallVector<mlir::FlatSymbolRefAttr> nested;
            for (const std::string &name : llvm::drop_begin(path))
              nested.push_back(mlir::FlatSymbolRefAttr::get(context, name));
            return toPython(
                state, mlir::Attribute(mlir::SymbolRefAttr::get(
                           mlir::StringAttr::get(context, path[0]), nested)));
          },
          nb::arg("symbols"), nb::arg("context") = nb::none())
      .def_prop_ro("value", [](const Symbol &self) {
        std::vector<std::string> path{
            self.get().getRootReference().getValue().str()};
        for (mlir::FlatSymbolRefAttr part : self.get().getNestedReferences())
          path.push_back(part.getValue().str());
        return path;
      });
  using Flat = AttributeOf<mlir::FlatSymbolRefAttr>;
  bindConcrete<mlir::FlatSymbolRefAttr, Attribute>(
      m, "FlatSymbolRefAttr", "A symbol's name: @a.", /*downcast=*/false)
      .def_static(
          "get",
          [](const std::string &name, ContextState *given) {
            ContextPtr context = contextOrCurrent(given);
            return make<Flat>(
                context, mlir::FlatSymbolRefAttr::get(&context->context, name));
          },
          nb::arg("value"), nb::arg("context") = nb::none())
      .def_prop_ro("value", [](const Flat &self) {
        return self.get().getValue().str();
      });
  registerDowncast(mlir::TypeID::get<mlir::SymbolRefAttr>(),
                   [](const ContextPtr &context, const void *opaque) {
                     auto attribute =
                         mlir::Attribute::getFromOpaquePointer(opaque);
                     return mlir::isa<mlir::FlatSymbolRefAttr>(attribute)
                                ? nb::cast(make<Flat>(context, attribute))
                                : nb::cast(make<Symbol>(context, attribute));
                   });
}

void lodestone::python::bindAttributes(nb::module_ &m) {
  nb::class_<Attribute>(m, "Attribute", "An MLIR attribute.")
      .def(
          "__init__",
          [](Attribute *self, const Attribute &other) {
            new (self) Attribute(other);
          },
          nb::arg("cast_from_type"))
      .def_static(
          "parse",
          [](const std::string &text, ContextState *given) {
            ContextPtr context = contextOrCurrent(given);
            return toPython(
                context, capturing(context, "unable to parse attribute", [&] {
                  return mlir::parseAttribute(text, &context->context);
                }));
          },
          nb::arg("asm"), nb::arg("context") = nb::none(),
          "Parses an attribute; raises MLIRError.")
      .def_prop_ro("context",
                   [](const Attribute &self) { return self.context; })
      .def_prop_ro(
          "type",
          [](const Attribute &self) {
            mlir::Type type = mlir::NoneType::get(&self.context->context);
            if (auto typed = mlir::dyn_cast<mlir::TypedAttr>(self.value))
              type = typed.getType();
            return toPython(self.context, type);
          })
      .def("maybe_downcast",
           [](const Attribute &self) {
             return toPython(self.context, self.value);
           })
      .def(
          "__eq__",
          [](const Attribute &self, nb::handle other) {
            return nb::isinstance<Attribute>(other) &&
                   self == nb::cast<const Attribute &>(other);
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const Attribute &self) -> size_t {
             return hash_value(self.value);
           })
      .def("__str__", &printed<Attribute>)
      .def("__repr__", [](const Attribute &self) {
        return "Attribute(" + printed(self) + ")";
      });
  bindNumbers(m);
  bindText(m);
  bindArrayAttributes(m);
  bindElements(m);
}
