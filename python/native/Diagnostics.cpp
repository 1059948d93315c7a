//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Diagnostics: records, MLIRError, handlers written in Python.
///
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace lodestone::python;

mlir::FileLineColLoc
lodestone::python::findFileLocation(mlir::LocationAttr location) {
  mlir::FileLineColLoc found;
  if (location)
    location.walk([&](mlir::Location inner) {
      found = mlir::dyn_cast<mlir::FileLineColLoc>(inner);
      return found ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
    });
  return found;
}

DiagnosticInfo::DiagnosticInfo(const ContextPtr &context,
                               mlir::Diagnostic &diagnostic)
    : severity(diagnostic.getSeverity()), message(diagnostic.str()),
      location{context, diagnostic.getLocation()} {
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    notes.emplace_back(context, note);
}

static llvm::StringRef severityName(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Note:
    return "note";
  case mlir::DiagnosticSeverity::Warning:
    return "warning";
  case mlir::DiagnosticSeverity::Error:
    return "error";
  case mlir::DiagnosticSeverity::Remark:
    return "remark";
  }
  return "diagnostic";
}

std::string DiagnosticInfo::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (mlir::FileLineColLoc file = findFileLocation(location.value))
    os << file.getFilename().getValue() << ":" << file.getLine() << ":"
       << file.getColumn() << ": ";
  os << severityName(severity) << ": " << message;
  for (const DiagnosticInfo &note : notes)
    os << "\n" << note.str();
  return text;
}

void lodestone::python::raiseMLIRError(
    const std::string &message, const std::vector<DiagnosticInfo> &errors) {
  nb::object type = nb::module_::import_("lodestone._errors").attr("MLIRError");
  nb::object error = type(nb::cast(message), nb::cast(errors));
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

ErrorCapture::ErrorCapture(const ContextPtr &context)
    : handler(&context->context,
              [this, context, thread = llvm::get_threadid()](
                  mlir::Diagnostic &diagnostic) -> llvm::LogicalResult {
                if (diagnostic.getSeverity() !=
                        mlir::DiagnosticSeverity::Error ||
                    llvm::get_threadid() != thread)
                  return mlir::failure();
                errors.emplace_back(context, diagnostic);
                return mlir::success();
              }) {}

// Handlers written in Python
// ----------------------------------------------------

namespace lodestone::python {
/// A callable that MLIR's engine calls with each diagnostic, until detached.
class PyDiagnosticHandler
    : public std::enable_shared_from_this<PyDiagnosticHandler> {
public:
  PyDiagnosticHandler(const ContextPtr &context, nb::callable callback)
      : context(context), callback(std::move(callback)) {}

  void attach() {
    ContextPtr owner = context.lock();
    id = owner->context.getDiagEngine().registerHandler(
        [this](mlir::Diagnostic &diagnostic) { return handle(diagnostic); });
    attached = true;
  }

  void detach() {
    if (!attached)
      return;
    attached = false;
    ContextPtr owner = context.lock();
    if (!owner)
      return;
    {
      // Another thread may be in a handler, which waits for the GIL.
      nb::gil_scoped_release release;
      owner->context.getDiagEngine().eraseHandler(id);
    }
    // Frees the callback, and with it a cycle through what it refers to.
    callback = nb::callable();
    llvm::erase_if(owner->handlers,
                   [&](const auto &h) { return h.get() == this; });
  }

  bool attached = false, hadError = false;

private:
  mlir::LogicalResult handle(mlir::Diagnostic &diagnostic) {
    nb::gil_scoped_acquire acquire;
    ContextPtr owner = context.lock();
    if (!owner || !attached)
      return mlir::failure();
    try {
      nb::object result = callback(nb::cast(DiagnosticInfo(owner, diagnostic)));
      return mlir::success(nb::cast<bool>(nb::bool_(result)));
    } catch (nb::python_error &error) {
      // MLIR has no exceptions to carry this one through.
      error.discard_as_unraisable("Lodestone's diagnostic handler");
      hadError = true;
      return mlir::failure();
    }
  }

  std::weak_ptr<ContextState> context;
  nb::callable callback;
  mlir::DiagnosticEngine::HandlerID id = 0;
};
} // namespace lodestone::python

void lodestone::python::bindDiagnostics(nb::module_ &m) {
  nb::enum_<mlir::DiagnosticSeverity>(m, "DiagnosticSeverity",
                                      "How bad a diagnostic is.")
      .value("NOTE", mlir::DiagnosticSeverity::Note)
      .value("WARNING", mlir::DiagnosticSeverity::Warning)
      .value("ERROR", mlir::DiagnosticSeverity::Error)
      .value("REMARK", mlir::DiagnosticSeverity::Remark);

  auto fileLocation = [](const DiagnosticInfo &self) {
    return findFileLocation(self.location.value);
  };
  nb::class_<DiagnosticInfo>(m, "DiagnosticInfo",
                             "A diagnostic with its notes.")
      .def_ro("severity", &DiagnosticInfo::severity)
      .def_ro("message", &DiagnosticInfo::message)
      .def_ro("location", &DiagnosticInfo::location)
      .def_ro("notes", &DiagnosticInfo::notes)
      .def_prop_ro(
          "file",
          [=](const DiagnosticInfo &self) -> std::optional<std::string> {
            if (auto file = fileLocation(self))
              return file.getFilename().str();
            return std::nullopt;
          },
          "The file that the location names, None if it names none.")
      .def_prop_ro(
          "line",
          [=](const DiagnosticInfo &self) -> std::optional<unsigned> {
            if (auto file = fileLocation(self))
              return file.getLine();
            return std::nullopt;
          },
          "The line, from 1, None if the location names no file.")
      .def_prop_ro(
          "column",
          [=](const DiagnosticInfo &self) -> std::optional<unsigned> {
            if (auto file = fileLocation(self))
              return file.getColumn();
            return std::nullopt;
          },
          "The column, from 1, None if the location names no file.")
      .def("__str__", &DiagnosticInfo::str)
      .def("__repr__", [](const DiagnosticInfo &self) {
        return "DiagnosticInfo(" + self.str() + ")";
      });

  nb::class_<PyDiagnosticHandler>(m, "DiagnosticHandler",
                                  "A callable attached to a context's "
                                  "diagnostics; detaches on `with` exit.")
      .def("detach", &PyDiagnosticHandler::detach)
      .def_ro("attached", &PyDiagnosticHandler::attached)
      .def_ro("had_error", &PyDiagnosticHandler::hadError,
              "Whether the callable raised.")
      .def("__enter__",
           [](std::shared_ptr<PyDiagnosticHandler> self) { return self; })
      .def(
          "__exit__",
          [](PyDiagnosticHandler &self, nb::object, nb::object, nb::object) {
            self.detach();
          },
          nb::arg("exc_type").none(), nb::arg("exc_value").none(),
          nb::arg("traceback").none());

  m.def(
      "attach_diagnostic_handler",
      [](const ContextPtr &context,
         nb::typed<nb::callable, bool(DiagnosticInfo)> callback) {
        auto handler = std::make_shared<PyDiagnosticHandler>(context, callback);
        context->handlers.push_back(handler);
        handler->attach();
        return handler;
      },
      nb::arg("context"), nb::arg("callback"));
}

ContextState::~ContextState() {
  for (const std::shared_ptr<PyDiagnosticHandler> &handler : handlers)
    handler->attached = false;
}
