//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/InitAll.h"

#include <nanobind/nanobind.h>

NB_MODULE(_native, m) { m.doc() = "Lodestone's native module"; }
