//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The swizzle algebra for lodestone.swizzle, which makes it vectorised and
/// readable.
///
//===----------------------------------------------------------------------===//

#include "IR.h"

#include "Uniqued.h"

#include "lodestone/Dialect/LDS/IR/LDSSwizzle.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace lodestone;
using namespace lodestone::python;

namespace {
/// Offsets in and out: one-dimensional, the caller's memory.
using Offsets =
    nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
/// A step's name and numbers, in the order of the constructor in Python.
using Step = std::pair<std::string, std::vector<int64_t>>;

struct ToStep {
  Step operator()(const XorStep &s) const {
    return {"xor", {s.bits, s.base, s.shift}};
  }
  Step operator()(const RowXorStep &s) const {
    return {"row_xor", numbers({s.rowBytes / s.cellBytes, s.phases,
                                s.rowsPerPhase, s.cellBytes})};
  }
  Step operator()(const RotateStep &s) const {
    return {"rotate", numbers({s.rowBytes, s.cellBytes, s.step})};
  }
  Step operator()(const RestrideStep &s) const {
    return {"restride", numbers({s.rowBytes, s.stride})};
  }

  static std::vector<int64_t> numbers(llvm::ArrayRef<uint64_t> values) {
    return {values.begin(), values.end()};
  }
};
} // namespace

static Swizzle orThrow(llvm::Expected<Swizzle> swizzle) {
  if (!swizzle)
    throw nb::value_error(llvm::toString(swizzle.takeError()).c_str());
  return *swizzle;
}

/// Calls `map` on each offset; throws if one is negative or `map` gives
/// nothing.
template <typename Map>
static void mapOffsets(Offsets in, Offsets out, Map map) {
  if (in.size() != out.size())
    throw nb::value_error("in and out differ in size");
  for (size_t i = 0; i < in.size(); ++i) {
    int64_t offset = in(i);
    std::optional<uint64_t> image;
    if (offset >= 0)
      image = map(static_cast<uint64_t>(offset));
    if (!image)
      throw nb::value_error(
          ("offset " + std::to_string(offset) +
           (offset < 0 ? " is negative" : " is in the padding"))
              .c_str());
    out(i) = *image;
  }
}

void lodestone::python::bindSwizzle(nb::module_ &m) {
  nb::class_<Swizzle>(m, "SwizzleMap",
                      "The map of a swizzle; use lodestone.swizzle.")
      .def(nb::init<>())
      .def_static("xor",
                  [](uint64_t bits, uint64_t base, int64_t shift) {
                    return orThrow(Swizzle::makeXor(bits, base, shift));
                  })
      .def_static("coord_xor",
                  [](uint64_t bits, uint64_t baseRow, uint64_t baseCol,
                     uint64_t rowBytes) {
                    return orThrow(Swizzle::makeCoordXor(bits, baseRow, baseCol,
                                                         rowBytes));
                  })
      .def_static("row_xor",
                  [](uint64_t cellBytes, uint64_t cells, uint64_t phases,
                     uint64_t rowsPerPhase) {
                    return orThrow(Swizzle::makeRowXor(cellBytes, cells, phases,
                                                       rowsPerPhase));
                  })
      .def_static("rotate",
                  [](uint64_t cellBytes, uint64_t rowBytes, uint64_t step) {
                    return orThrow(
                        Swizzle::makeRotate(cellBytes, rowBytes, step));
                  })
      .def_static("padded",
                  [](uint64_t rowBytes, uint64_t padBytes) {
                    return orThrow(Swizzle::makePadded(rowBytes, padBytes));
                  })
      .def("then", [](const Swizzle &self,
                      const Swizzle &next) { return orThrow(self.then(next)); })
      .def("inverse", &Swizzle::inverse)
      .def("apply",
           [](const Swizzle &self, Offsets in, Offsets out) {
             mapOffsets(in, out, [&](uint64_t q) -> std::optional<uint64_t> {
               return self.apply(q);
             });
           })
      .def("invert",
           [](const Swizzle &self, Offsets in, Offsets out) {
             Swizzle undo = self.inverse();
             mapOffsets(in, out, [&](uint64_t p) { return undo.tryApply(p); });
           })
      .def_prop_ro("granule", &Swizzle::getGranule)
      .def_prop_ro("period", &Swizzle::getPeriod)
      .def_prop_ro("image_period", &Swizzle::getImagePeriod)
      .def_prop_ro("is_involution", &Swizzle::isInvolution)
      .def_prop_ro("is_identity", &Swizzle::isIdentity)
      .def("check_tile", &Swizzle::checkTile)
      .def("image_bytes", &Swizzle::getImageBytes)
      .def_static("of_attribute",
                  [](const Attribute &attribute) {
                    std::optional<Swizzle> swizzle =
                        lds::getSwizzle(attribute.value);
                    if (!swizzle)
                      throw nb::value_error("not a swizzle of the lds dialect");
                    return *swizzle;
                  })
      .def(
          "to_attribute",
          [](const Swizzle &self, ContextState *given) -> nb::object {
            ContextPtr context = contextOrCurrent(given);
            context->context.getOrLoadDialect<lds::LDSDialect>();
            mlir::Attribute attribute =
                lds::getSwizzleAttr(&context->context, self);
            return attribute ? nb::object(toPython(context, attribute))
                             : nb::none();
          },
          nb::arg("context") = nb::none())
      .def_prop_ro("steps",
                   [](const Swizzle &self) {
                     std::vector<Step> steps;
                     for (const SwizzleStep &step : self.getSteps())
                       steps.push_back(std::visit(ToStep(), step));
                     return steps;
                   })
      .def("__eq__", [](const Swizzle &a, const Swizzle &b) { return a == b; });
  m.attr("MAX_SWIZZLED_BYTES") = kMaxSwizzledBytes;
}
