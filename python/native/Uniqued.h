//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What the classes of types and attributes have in common.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_PYTHON_UNIQUED_H
#define LODESTONE_PYTHON_UNIQUED_H

#include "Diagnostics.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace lodestone::python {

/// The Python class of one C++ class of types or attributes.
template <typename T, typename Base> struct Concrete : Base {
  T get() const { return mlir::cast<T>(this->value); }
};
template <typename T> using TypeOf = Concrete<T, Type>;
template <typename T> using AttributeOf = Concrete<T, Attribute>;

/// Wraps a value in the Python class that was bound for its C++ class.
using Downcast = nb::object (*)(const ContextPtr &, const void *);
void registerDowncast(mlir::TypeID id, Downcast downcast);

template <typename Base> std::string printed(const Base &self) {
  std::string text;
  llvm::raw_string_ostream os(text);
  self.value.print(os);
  return text;
}

template <typename Self, typename Value>
Self make(const ContextPtr &context, Value value) {
  Self self;
  self.context = context;
  self.value = value;
  return self;
}

/// Binds the class `T` below the Python class of `Base`. With `downcast`, each
/// type or attribute of class `T` comes back to Python as this class.
template <typename T, typename Base>
nb::class_<Concrete<T, Base>, Base>
bindConcrete(nb::module_ &m, const char *name, const char *doc,
             bool downcast = true) {
  using Self = Concrete<T, Base>;
  using Root =
      std::conditional_t<std::is_base_of_v<Type, Base>, Type, Attribute>;
  nb::class_<Self, Base> cls(m, name, doc);
  cls.def(
      "__init__",
      [name](Self *self, const Root &other) {
        if (!mlir::isa<T>(other.value))
          throw nb::value_error(
              ("cannot cast " + printed(other) + " to " + name).c_str());
        new (self) Self(make<Self>(other.context, other.value));
      },
      nb::arg("cast_from"));
  cls.def_static(
      "isinstance", [](const Root &other) { return mlir::isa<T>(other.value); },
      nb::arg("other"));
  cls.def("__repr__", [name](const Self &self) {
    return std::string(name) + "(" + printed(self) + ")";
  });
  if (downcast)
    registerDowncast(mlir::TypeID::get<T>(), [](const ContextPtr &context,
                                                const void *opaque) {
      return nb::cast(make<Self>(
          context, decltype(Base::value)::getFromOpaquePointer(opaque)));
    });
  return cls;
}

/// The types' values, checked to be of one context.
inline llvm::SmallVector<mlir::Type> unwrap(const ContextPtr &context,
                                            const std::vector<Type> &types) {
  llvm::SmallVector<mlir::Type> result;
  for (const Type &type : types) {
    requireSameContext(context, type.context, "type");
    result.push_back(type.value);
  }
  return result;
}

/// `location`, or an unknown one: for constructors that only need it to say
/// where an error is.
inline mlir::Location locationOrUnknown(const ContextPtr &context,
                                        const Location *location) {
  if (!location)
    return mlir::UnknownLoc::get(&context->context);
  requireSameContext(context, location->context, "location");
  return location->value;
}

} // namespace lodestone::python

#endif // LODESTONE_PYTHON_UNIQUED_H
