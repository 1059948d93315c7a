//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Warp sets and tensor descriptors. Python's data classes are in
/// lodestone/tdm; results go there as plain dictionaries and lists.
///
//===----------------------------------------------------------------------===//

#include "IR.h"

#include "lodestone/Support/TDMDescriptor.h"
#include "lodestone/Support/WarpSet.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace lodestone;
using namespace lodestone::python;

using Dict = nb::typed<nb::dict, nb::str, nb::any>;

// Warp sets. -----------------------------------------------------------------

/// What `set` or else `error` says.
static Dict toDict(const std::optional<WarpSet> &set,
                   const WarpSetError &error) {
  Dict dict;
  if (set) {
    dict["mask"] = set->mask();
    dict["free"] = set->free();
    dict["anchor"] = set->anchor();
    dict["text"] = set->str();
    return dict;
  }
  dict["rule"] = toString(error.rule).str();
  dict["message"] = error.message;
  dict["nearest"] = error.nearest ? nb::object(nb::int_(*error.nearest))
                                  : nb::object(nb::none());
  return dict;
}

static Dict decodeMask(uint32_t mask, uint64_t numWarps) {
  WarpSetError error;
  return toDict(WarpSet::fromMask(mask, numWarps, error), error);
}

static Dict decodePair(uint64_t free, uint64_t anchor, uint64_t numWarps) {
  WarpSetError error;
  return toDict(WarpSet::fromPair(free, anchor, numWarps, error), error);
}

static std::vector<uint32_t> legalMasks(uint64_t numWarps) {
  std::vector<uint32_t> masks;
  for (const WarpSet &set : legalWarpSets(numWarps))
    masks.push_back(set.mask());
  return masks;
}

// Descriptors. ---------------------------------------------------------------

template <typename T>
static T field(nb::handle object, const char *name, const char *wanted) {
  T value;
  nb::object given = nb::getattr(object, name);
  if (!nb::try_cast(given, value))
    throw nb::value_error((std::string(name) + " is " +
                           nb::cast<std::string>(nb::repr(given)) + ", not " +
                           wanted)
                              .c_str());
  return value;
}

static int64_t number(nb::handle object, const char *name) {
  return field<int64_t>(object, name, "an int of 64 bits");
}

static std::vector<int64_t> numbers(nb::handle object, const char *name) {
  return field<std::vector<int64_t>>(object, name, "ints of 64 bits");
}

static bool flag(nb::handle object, const char *name) {
  return field<bool>(object, name, "True or False");
}

static TDMDescriptor toDescriptor(nb::handle object) {
  TDMDescriptor result;
  result.enabled = flag(object, "enabled");
  result.ldsAddress = number(object, "lds_address");
  result.globalAddress = number(object, "global_address");
  result.elementBytes = number(object, "element_bytes");
  result.tensorDims = numbers(object, "tensor_dims");
  result.tileDims = numbers(object, "tile_dims");
  result.strides = numbers(object, "strides");
  result.workgroupMask = number(object, "workgroup_mask");
  result.earlyTimeout = flag(object, "early_timeout");
  if (!nb::getattr(object, "barrier_address").is_none())
    result.barrierAddress = number(object, "barrier_address");
  if (nb::object given = nb::getattr(object, "padding"); !given.is_none())
    result.padding = {number(given, "interval"), number(given, "amount")};
  if (nb::object given = nb::getattr(object, "iteration"); !given.is_none())
    result.iteration = {number(given, "count"), number(given, "lds_increment"),
                        number(given, "global_increment")};
  if (nb::object given = nb::getattr(object, "gather"); !given.is_none())
    result.gather = {flag(given, "wide"), numbers(given, "rows")};
  return result;
}

/// The fields that aren't empty.
static Dict toDict(const TDMDescriptor &descriptor) {
  Dict dict;
  dict["enabled"] = descriptor.enabled;
  dict["lds_address"] = descriptor.ldsAddress;
  dict["global_address"] = descriptor.globalAddress;
  dict["element_bytes"] = descriptor.elementBytes;
  dict["tensor_dims"] = nb::cast(descriptor.tensorDims);
  dict["tile_dims"] = nb::cast(descriptor.tileDims);
  dict["strides"] = nb::cast(descriptor.strides);
  dict["workgroup_mask"] = descriptor.workgroupMask;
  dict["early_timeout"] = descriptor.earlyTimeout;
  if (descriptor.barrierAddress)
    dict["barrier_address"] = *descriptor.barrierAddress;
  if (descriptor.padding)
    dict["padding"] = nb::make_tuple(descriptor.padding->interval,
                                     descriptor.padding->amount);
  if (descriptor.iteration)
    dict["iteration"] = nb::make_tuple(descriptor.iteration->count,
                                       descriptor.iteration->ldsIncrement,
                                       descriptor.iteration->globalIncrement);
  if (descriptor.gather)
    dict["gather"] = nb::make_tuple(descriptor.gather->wide,
                                    nb::cast(descriptor.gather->rows));
  return dict;
}

static std::vector<uint32_t> encode(nb::object descriptor) {
  std::string error;
  std::optional<TDMWords> words = toDescriptor(descriptor).encode(error);
  if (!words)
    throw nb::value_error(error.c_str());
  return {words->begin(), words->end()};
}

static Dict decode(const std::vector<uint32_t> &words) {
  std::string error;
  std::optional<TDMDescriptor> result = TDMDescriptor::decode(words, error);
  if (!result)
    throw nb::value_error(error.c_str());
  return toDict(*result);
}

void lodestone::python::bindTDM(nb::module_ &m) {
  m.def("decode_warp_mask", &decodeMask, nb::arg("mask"), nb::arg("num_warps"));
  m.def("decode_warp_pair", &decodePair, nb::arg("free"), nb::arg("anchor"),
        nb::arg("num_warps"));
  m.def("legal_warp_masks", &legalMasks, nb::arg("num_warps"));
  m.def("encode_tdm_descriptor", &encode, nb::arg("descriptor"));
  m.def("decode_tdm_descriptor", &decode, nb::arg("words"));
}
