//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/ScopeExit.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

using namespace lodestone::python;

namespace {
struct PassManager {
  ContextPtr context;
  std::unique_ptr<mlir::PassManager> manager;
  bool running = false;
  /// Each pass is followed by the verifier.
  bool verifies = true;

  mlir::PassManager &get() {
    if (running)
      throw std::runtime_error("the pass manager is running");
    return *manager;
  }
};
} // namespace

static std::string text(PassManager &self) {
  std::string result;
  llvm::raw_string_ostream os(result);
  self.get().printAsTextualPipeline(os);
  return result;
}

static void addPipeline(mlir::OpPassManager &manager,
                        const std::string &pipeline) {
  std::string errors;
  llvm::raw_string_ostream os(errors);
  if (failed(mlir::parsePassPipeline(pipeline, manager, os)))
    throw nb::value_error(llvm::StringRef(errors).rtrim().str().c_str());
}

static void run(PassManager &self, nb::object target) {
  OpPtr op;
  if (!nb::try_cast(nb::getattr(target, "operation", target), op) || !op)
    throw nb::type_error("a pass manager runs on an Operation or a Module");
  requireSameContext(self.context, op->context(), "operation");
  mlir::PassManager &manager = self.get();
  mlir::Operation *ir = op->get();
  // Passes rely on what the verifier checks, and change IR as they like:
  // nothing inside may be in use from somewhere they don't see.
  ensureVerified(*op, "the operation is invalid; no pass ran");
  if (op->tree->hasForeignUsers && isUsedOutside(op->tree->top))
    throw nb::value_error(
        "a detached operation uses values of this one; insert "
        "or erase it first");
  invalidateInside(op);
  op->tree->verified = false;
  self.running = true;
  llvm::scope_exit reset([&] { self.running = false; });
  {
    BusyScope busy(op->tree);
    capturing(self.context, "a pass failed", [&] { return manager.run(ir); });
  }
  // The verifier saw `ir` only.
  op->tree->verified = self.verifies && ir == op->tree->top;
}

void lodestone::python::bindPassManager(nb::module_ &m) {
  nb::class_<PassManager>(m, "PassManager",
                          "A pipeline of passes over one kind of operation.")
      .def(
          "__init__",
          [](PassManager *self, const std::string &anchor,
             ContextState *given) {
            ContextPtr context = contextOrCurrent(given);
            auto manager =
                std::make_unique<mlir::PassManager>(&context->context, anchor);
            new (self) PassManager{context, std::move(manager)};
          },
          nb::arg("anchor_op") = "any", nb::arg("context") = nb::none())
      .def_static(
          "parse",
          [](const std::string &pipeline, ContextState *given) {
            ContextPtr context = contextOrCurrent(given);
            std::string errors;
            llvm::raw_string_ostream os(errors);
            mlir::FailureOr<mlir::OpPassManager> parsed =
                mlir::parsePassPipeline(pipeline, os);
            if (failed(parsed))
              throw nb::value_error(
                  llvm::StringRef(errors).rtrim().str().c_str());
            auto manager = std::make_unique<mlir::PassManager>(
                &context->context, parsed->getOpAnchorName());
            static_cast<mlir::OpPassManager &>(*manager) = std::move(*parsed);
            return PassManager{context, std::move(manager)};
          },
          nb::arg("pipeline"), nb::arg("context") = nb::none(),
          "From text like `builtin.module(canonicalize)`; ValueError says what "
          "is "
          "wrong with it.")
      .def(
          "add",
          [](PassManager &self, const std::string &pipeline) {
            addPipeline(self.get(), pipeline);
          },
          nb::arg("pipeline"), "Appends passes: `canonicalize,cse`.")
      .def("run", &run, nb::arg("operation"),
           nb::sig("def run(self, operation: Operation | Module) -> None"),
           "Runs the passes without the GIL. Raises MLIRError if one fails. "
           "What "
           "Python held of the IR inside the operation is invalid afterwards.")
      .def(
          "enable_verifier",
          [](PassManager &self, bool enable) {
            self.get().enableVerifier(enable);
            self.verifies = enable;
          },
          nb::arg("enable"))
      .def("enable_timing",
           [](PassManager &self) { self.get().enableTiming(); })
      .def(
          "enable_ir_printing",
          [](PassManager &self, bool beforeAll, bool afterAll, bool moduleScope,
             bool afterChange, bool afterFailure,
             std::optional<int64_t> largeElements, bool debugInfo, bool generic,
             std::optional<std::string> directory) {
            if (moduleScope && self.context->context.isMultithreadingEnabled())
              throw nb::value_error(
                  "printing whole modules needs one thread: call "
                  "Context.enable_multithreading(False) first");
            mlir::OpPrintingFlags flags;
            if (largeElements)
              flags.elideLargeElementsAttrs(*largeElements);
            if (debugInfo)
              flags.enableDebugInfo(true, false);
            if (generic)
              flags.printGenericOpForm();
            auto before = [=](mlir::Pass *, mlir::Operation *) {
              return beforeAll;
            };
            auto after = [=](mlir::Pass *, mlir::Operation *) {
              return afterAll;
            };
            if (directory)
              self.get().enableIRPrintingToFileTree(before, after, moduleScope,
                                                    afterChange, afterFailure,
                                                    *directory, flags);
            else
              self.get().enableIRPrinting(before, after, moduleScope,
                                          afterChange, afterFailure,
                                          llvm::errs(), flags);
          },
          nb::arg("print_before_all") = false,
          nb::arg("print_after_all") = true,
          nb::arg("print_module_scope") = false,
          nb::arg("print_after_change") = false,
          nb::arg("print_after_failure") = false,
          nb::arg("large_elements_limit") = nb::none(),
          nb::arg("enable_debug_info") = false,
          nb::arg("print_generic_op_form") = false,
          nb::arg("tree_printing_dir_path") = nb::none(),
          "Prints IR to stderr, or to files below a folder, around each pass.")
      .def("__str__", &text)
      .def("__repr__",
           [](PassManager &self) { return "PassManager(" + text(self) + ")"; });
}
