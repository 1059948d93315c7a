//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace lodestone::python;

static std::string printed(mlir::LocationAttr location) {
  std::string text;
  llvm::raw_string_ostream os(text);
  location.print(os);
  return text;
}

/// The location as `Loc`; raises if it is of another kind.
template <typename Loc> static Loc as(const Location &self, const char *kind) {
  if (auto result = mlir::dyn_cast<Loc>(self.value))
    return result;
  throw nb::value_error(
      (llvm::Twine("the location is no ") + kind).str().c_str());
}

template <typename Loc> static bool is(const Location &self) {
  return mlir::isa<Loc>(self.value);
}

static void bindConstructors(nb::class_<Location> &cls) {
  cls.def_static(
         "unknown",
         [](ContextState *given) {
           ContextPtr context = contextOrCurrent(given);
           return Location{context, mlir::UnknownLoc::get(&context->context)};
         },
         nb::arg("context") = nb::none())
      .def_static(
          "file",
          [](const std::string &name, unsigned line, unsigned column,
             ContextState *given) {
            ContextPtr context = contextOrCurrent(given);
            return Location{context,
                            mlir::FileLineColLoc::get(&context->context, name,
                                                      line, column)};
          },
          nb::arg("filename"), nb::arg("line"), nb::arg("col"),
          nb::arg("context") = nb::none())
      .def_static(
          "name",
          [](const std::string &name, const Location *child,
             ContextState *given) {
            ContextPtr context =
                child ? child->context : contextOrCurrent(given);
            auto text = mlir::StringAttr::get(&context->context, name);
            return Location{context,
                            child ? mlir::NameLoc::get(text, child->value)
                                  : mlir::NameLoc::get(text)};
          },
          nb::arg("name"), nb::arg("childLoc") = nb::none(),
          nb::arg("context") = nb::none())
      .def_static(
          "callsite",
          [](const Location &callee, const std::vector<Location> &frames,
             ContextState *) {
            if (frames.empty())
              throw nb::value_error("a call site needs at least one frame");
            mlir::LocationAttr caller = frames.back().value;
            for (const Location &frame : frames)
              requireSameContext(callee.context, frame.context, "frame");
            for (size_t i = frames.size() - 1; i-- > 0;)
              caller = mlir::CallSiteLoc::get(frames[i].value, caller);
            return Location{callee.context,
                            mlir::CallSiteLoc::get(callee.value, caller)};
          },
          nb::arg("callee"), nb::arg("frames"), nb::arg("context") = nb::none())
      .def_static(
          "fused",
          [](const std::vector<Location> &locations, const Attribute *metadata,
             ContextState *given) {
            ContextPtr context = locations.empty() ? contextOrCurrent(given)
                                                   : locations[0].context;
            llvm::SmallVector<mlir::Location> parts;
            for (const Location &part : locations) {
              requireSameContext(context, part.context, "location");
              parts.push_back(part.value);
            }
            if (metadata)
              requireSameContext(context, metadata->context, "metadata");
            return Location{context,
                            mlir::FusedLoc::get(parts,
                                                metadata ? metadata->value
                                                         : mlir::Attribute(),
                                                &context->context)};
          },
          nb::arg("locations"), nb::arg("metadata") = nb::none(),
          nb::arg("context") = nb::none())
      .def_static(
          "from_attr",
          [](const Attribute &attribute, ContextState *) {
            if (auto loc = mlir::dyn_cast<mlir::LocationAttr>(attribute.value))
              return Location{attribute.context, loc};
            throw nb::value_error("the attribute is no location");
          },
          nb::arg("attribute"), nb::arg("context") = nb::none());
}

void lodestone::python::bindLocation(nb::module_ &m) {
  nb::class_<Location> cls(m, "Location",
                           "Where an operation comes from: a file, a name, a "
                           "call, several places, or unknown.");
  bindConstructors(cls);
  cls.def_prop_ro("context", [](const Location &self) { return self.context; })
      .def_prop_ro("attr",
                   [](const Location &self) {
                     return toPython(self.context, mlir::Attribute(self.value));
                   })
      .def("is_a_file", &is<mlir::FileLineColLoc>)
      .def("is_a_name", &is<mlir::NameLoc>)
      .def("is_a_callsite", &is<mlir::CallSiteLoc>)
      .def("is_a_fused", &is<mlir::FusedLoc>)
      .def_prop_ro("filename",
                   [](const Location &self) {
                     return as<mlir::FileLineColLoc>(self, "file location")
                         .getFilename()
                         .str();
                   })
      .def_prop_ro(
          "start_line",
          [](const Location &self) {
            return as<mlir::FileLineColLoc>(self, "file location").getLine();
          })
      .def_prop_ro(
          "start_col",
          [](const Location &self) {
            return as<mlir::FileLineColLoc>(self, "file location").getColumn();
          })
      .def_prop_ro("name_str",
                   [](const Location &self) {
                     return as<mlir::NameLoc>(self, "name").getName().str();
                   })
      .def_prop_ro("child_loc",
                   [](const Location &self) {
                     return Location{
                         self.context,
                         as<mlir::NameLoc>(self, "name").getChildLoc()};
                   })
      .def_prop_ro("callee",
                   [](const Location &self) {
                     return Location{
                         self.context,
                         as<mlir::CallSiteLoc>(self, "call").getCallee()};
                   })
      .def_prop_ro("caller",
                   [](const Location &self) {
                     return Location{
                         self.context,
                         as<mlir::CallSiteLoc>(self, "call").getCaller()};
                   })
      .def_prop_ro("locations",
                   [](const Location &self) {
                     std::vector<Location> parts;
                     auto fused =
                         as<mlir::FusedLoc>(self, "group of locations");
                     for (mlir::Location part : fused.getLocations())
                       parts.push_back({self.context, part});
                     return parts;
                   })
      .def(
          "emit_error",
          [](const Location &self, const std::string &message) {
            nb::gil_scoped_release release;
            mlir::emitError(self.value, message);
          },
          nb::arg("message"), "Reports an error here to the handlers.")
      .def(
          "__eq__",
          [](const Location &self, nb::handle other) {
            return nb::isinstance<Location>(other) &&
                   self == nb::cast<const Location &>(other);
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const Location &self) -> size_t {
             return mlir::hash_value(mlir::Attribute(self.value));
           })
      .def("__str__", [](const Location &self) { return printed(self.value); })
      .def("__repr__",
           [](const Location &self) { return printed(self.value); });
}
