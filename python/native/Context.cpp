//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Contexts, and the stack of what `with` put around the caller.
///
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "lodestone/InitAll.h"

#include "mlir/IR/DialectRegistry.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

using namespace lodestone::python;

static const mlir::DialectRegistry &everything() {
  // Never destroyed: contexts may outlive static destructors.
  static const mlir::DialectRegistry *registry = [] {
    auto *result = new mlir::DialectRegistry;
    lodestone::registerEverything(*result);
    return result;
  }();
  return *registry;
}

ContextState::ContextState() : context(everything()) {
  // The whole operation in each diagnostic hides what the diagnostic says.
  context.printOpOnDiagnostic(false);
}

// The stack
// -----------------------------------------------------------------------

namespace {
struct Frame {
  enum Kind { Context, Location, InsertionPoint } kind;
  ContextPtr context;
  std::optional<lodestone::python::Location> location;
  InsertionPointPtr insertionPoint;
};
} // namespace

static std::vector<Frame> &frames() {
  // Leaked on purpose: a thread may end without the GIL, which frames need.
  static thread_local auto *stack = new std::vector<Frame>;
  return *stack;
}

/// Pushes a frame; what it does not set is inherited from the frame around it
/// if that is of the same context.
static void push(Frame frame) {
  std::vector<Frame> &stack = frames();
  if (!stack.empty() && stack.back().context == frame.context) {
    if (!frame.location)
      frame.location = stack.back().location;
    if (!frame.insertionPoint)
      frame.insertionPoint = stack.back().insertionPoint;
  }
  stack.push_back(std::move(frame));
}

static void pop(Frame::Kind kind, const ContextPtr &context) {
  std::vector<Frame> &stack = frames();
  if (stack.empty() || stack.back().kind != kind ||
      stack.back().context != context)
    throw std::runtime_error("unbalanced enter and exit of a context, location "
                             "or insertion point");
  stack.pop_back();
}

ContextPtr lodestone::python::contextOrCurrent(ContextState *given) {
  if (given)
    return given->shared_from_this();
  if (frames().empty())
    throw std::runtime_error(
        "a context is needed: pass context= or work inside "
        "`with Context():`");
  return frames().back().context;
}

Location lodestone::python::locationOrCurrent(const Location *given) {
  if (given)
    return *given;
  if (frames().empty() || !frames().back().location)
    throw std::runtime_error("a location is needed: pass loc= or work inside "
                             "`with Location.unknown():`");
  return *frames().back().location;
}

InsertionPointPtr lodestone::python::currentInsertionPoint() {
  return frames().empty() ? nullptr : frames().back().insertionPoint;
}

void lodestone::python::requireSameContext(const ContextPtr &expected,
                                           const ContextPtr &actual,
                                           const char *what) {
  if (expected != actual)
    throw nb::value_error(
        (llvm::Twine("the ") + what + " belongs to another context")
            .str()
            .c_str());
}

// Bindings
// ------------------------------------------------------------------------

template <typename Class> static void defExit(Class &cls, Frame::Kind kind) {
  using T = typename Class::Type;
  cls.def(
      "__exit__",
      [kind](const T &self, nb::object, nb::object, nb::object) {
        if constexpr (std::is_same_v<T, lodestone::python::InsertionPoint>)
          pop(kind, self.block->context());
        else if constexpr (std::is_same_v<T, lodestone::python::Location>)
          pop(kind, self.context);
        else
          pop(kind, const_cast<T &>(self).shared_from_this());
      },
      nb::arg("exc_type").none(), nb::arg("exc_value").none(),
      nb::arg("traceback").none());
}

void lodestone::python::bindContext(nb::module_ &m) {
  nb::class_<ContextState> context(
      m, "Context",
      "An MLIR context with all dialects of upstream and of Lodestone. Use one "
      "a thread.");
  context.def(nb::new_([] { return std::make_shared<ContextState>(); }))
      .def("__enter__",
           [](const ContextPtr &self) {
             push({Frame::Context, self, std::nullopt, nullptr});
             return self;
           })
      .def_prop_ro_static(
          "current",
          [](nb::handle) -> ContextPtr {
            return frames().empty() ? nullptr : frames().back().context;
          },
          nb::for_getter(nb::sig("def current(cls, /) -> Context | None")),
          "The context of the innermost `with`, or None.")
      .def_prop_rw(
          "allow_unregistered_dialects",
          [](ContextState &self) {
            return self.context.allowsUnregisteredDialects();
          },
          [](ContextState &self, bool allow) {
            if (self.running)
              throw std::runtime_error("a pass is running in the context");
            self.context.allowUnregisteredDialects(allow);
          })
      .def(
          "enable_multithreading",
          [](ContextState &self, bool enable) {
            if (self.running)
              throw std::runtime_error("a pass is running in the context");
            self.context.disableMultithreading(!enable);
          },
          nb::arg("enable"),
          "Lets passes work on several functions at a time (the default).")
      .def(
          "is_registered_operation",
          [](ContextState &self, const std::string &name) {
            llvm::StringRef dialect = llvm::StringRef(name).split('.').first;
            if (!self.running)
              self.context.getOrLoadDialect(dialect);
            return mlir::RegisteredOperationName::lookup(name, &self.context)
                .has_value();
          },
          nb::arg("operation_name"))
      .def(
          "attach_diagnostic_handler",
          [m](nb::handle self,
              nb::typed<nb::callable, bool(DiagnosticInfo)> callback) {
            return m.attr("attach_diagnostic_handler")(self, callback);
          },
          nb::sig("def attach_diagnostic_handler(self, callback: "
                  "collections.abc.Callable[[DiagnosticInfo], bool]) -> "
                  "DiagnosticHandler"),
          nb::arg("callback"),
          "Calls `callback` with each warning, remark and error that is not "
          "raised, latest handler first, until one returns true.");
  defExit(context, Frame::Context);

  auto location = nb::borrow<nb::class_<Location>>(m.attr("Location"));
  location.def("__enter__", [](const Location &self) {
    push({Frame::Location, self.context, self, nullptr});
    return self;
  });
  location.def_prop_ro_static(
      "current",
      [](nb::handle) -> std::optional<Location> {
        return frames().empty() ? std::nullopt : frames().back().location;
      },
      nb::for_getter(nb::sig("def current(cls, /) -> Location | None")),
      "The location of the innermost `with`, or None.");
  defExit(location, Frame::Location);

  auto ip = nb::borrow<nb::class_<InsertionPoint>>(m.attr("InsertionPoint"));
  ip.def("__enter__", [](const InsertionPointPtr &self) {
    push({Frame::InsertionPoint, self->block->context(), std::nullopt, self});
    return self;
  });
  ip.def_prop_ro_static(
      "current",
      [](nb::handle) -> InsertionPointPtr {
        if (InsertionPointPtr current = currentInsertionPoint())
          return current;
        throw nb::value_error("no current insertion point");
      },
      "The insertion point of the innermost `with`.");
  defExit(ip, Frame::InsertionPoint);
}
