//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// MLIR's optimization remarks, collected for Python.
///
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include "mlir/IR/Remarks.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>

using namespace lodestone::python;

namespace {
/// A remark, copied out of MLIR's engine.
struct RemarkRecord {
  std::string kind, category, name, function, message;
  std::vector<std::pair<std::string, std::string>> args;
  std::optional<std::string> file;
  unsigned line = 0, column = 0;
};

/// What passes on several threads have remarked.
struct RemarkStore {
  std::mutex mutex;
  std::vector<RemarkRecord> records;
};

class Streamer : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Streamer(std::shared_ptr<RemarkStore> store)
      : store(std::move(store)) {}

  void streamOptimizationRemark(
      const mlir::remark::detail::Remark &remark) override {
    RemarkRecord record;
    switch (remark.getRemarkType()) {
    case llvm::remarks::Type::Passed:
      record.kind = "passed";
      break;
    case llvm::remarks::Type::Missed:
      record.kind = "missed";
      break;
    case llvm::remarks::Type::Analysis:
      record.kind = "analysis";
      break;
    default:
      record.kind = "failure";
    }
    record.category = remark.getCombinedCategoryName().str();
    record.name = remark.getRemarkName().str();
    record.function = remark.getFunction().str();
    record.message = remark.getMsg();
    for (const auto &arg : remark.getArgs())
      record.args.emplace_back(arg.key, arg.val);
    if (auto file = findFileLocation(remark.getLocation())) {
      record.file = file.getFilename().str();
      record.line = file.getLine();
      record.column = file.getColumn();
    }
    std::lock_guard<std::mutex> lock(store->mutex);
    store->records.push_back(std::move(record));
  }

private:
  std::shared_ptr<RemarkStore> store;
};

class RemarkCollector {
public:
  RemarkCollector(ContextPtr context, const std::string &filter)
      : context(std::move(context)), filter(filter),
        store(std::make_shared<RemarkStore>()) {
    std::string error;
    if (!llvm::Regex(filter).isValid(error))
      throw nb::value_error(("invalid remark filter: " + error).c_str());
  }
  ~RemarkCollector() {
    if (active && !context->running)
      context->context.setRemarkEngine(nullptr);
  }

  void start() {
    requireIdle();
    if (context->context.getRemarkEngine())
      throw std::runtime_error(
          "the remarks of this context are being collected already");
    mlir::remark::RemarkCategories categories;
    // `all` alone enables nothing: it only widens those that are given.
    categories.passed = categories.missed = categories.analysis =
        categories.failed = filter;
    if (failed(mlir::remark::enableOptimizationRemarks(
            context->context, std::make_unique<Streamer>(store),
            std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(),
            categories)))
      throw std::runtime_error("remarks cannot be collected");
    active = true;
  }

  void stop() {
    requireIdle();
    if (active)
      context->context.setRemarkEngine(nullptr);
    active = false;
  }

  std::vector<RemarkRecord> records() {
    std::lock_guard<std::mutex> lock(store->mutex);
    return store->records;
  }

private:
  void requireIdle() const {
    if (context->running)
      throw std::runtime_error("a pass is running in the context");
  }

  ContextPtr context;
  std::string filter;
  std::shared_ptr<RemarkStore> store;
  bool active = false;
};
} // namespace

void lodestone::python::bindRemarks(nb::module_ &m) {
  nb::class_<RemarkRecord>(m, "RemarkRecord")
      .def_ro("kind", &RemarkRecord::kind)
      .def_ro("category", &RemarkRecord::category)
      .def_ro("name", &RemarkRecord::name)
      .def_ro("function", &RemarkRecord::function)
      .def_ro("message", &RemarkRecord::message)
      .def_ro("args", &RemarkRecord::args)
      .def_ro("file", &RemarkRecord::file)
      .def_ro("line", &RemarkRecord::line)
      .def_ro("column", &RemarkRecord::column);
  nb::class_<RemarkCollector>(m, "RemarkCollector")
      .def(
          "__init__",
          [](RemarkCollector *self, ContextState *context,
             const std::string &filter) {
            new (self) RemarkCollector(contextOrCurrent(context), filter);
          },
          nb::arg("context") = nb::none(), nb::arg("filter") = ".*")
      .def("start", &RemarkCollector::start)
      .def("stop", &RemarkCollector::stop)
      .def_prop_ro("records", &RemarkCollector::records);
}
