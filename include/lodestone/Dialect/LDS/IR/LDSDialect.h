//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The `lds` dialect: named regions of a kernel's local data share.
///
//===----------------------------------------------------------------------===//

#ifndef LODESTONE_DIALECT_LDS_IR_LDSDIALECT_H
#define LODESTONE_DIALECT_LDS_IR_LDSDIALECT_H

#include "lodestone/Support/Swizzle.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cstdint>
#include <optional>

namespace lodestone::lds {
/// From logical to physical offsets, or back.
enum class SwizzleDirection { forward, inverse };
} // namespace lodestone::lds

#include "lodestone/Dialect/LDS/IR/LDSInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "lodestone/Dialect/LDS/IR/LDSAttrs.h.inc"

#include "lodestone/Dialect/LDS/IR/LDSDialect.h.inc"

namespace lodestone::lds {

/// What `lds.region` allocates from: the layout of a kernel's LDS, not its
/// bytes.
struct LayoutResource final
    : mlir::SideEffects::Resource::Base<LayoutResource> {
  llvm::StringRef getName() override { return "LDSLayout"; }
};

/// The largest byte offset that can follow a region: LDS addresses have 32
/// bits, and constant indices of `llvm.getelementptr` are signed.
inline constexpr uint64_t kMaxRegionEnd = 0x7fffffff;

/// The address space of LDS in LLVM's AMDGPU backend.
inline constexpr unsigned kLDSAddressSpace = 3;

/// True for the memory spaces that mean LDS: `#gpu.address_space<workgroup>`
/// and the integer 3. Null is the default space and isn't LDS.
bool isWorkgroupSpace(mlir::Attribute memorySpace);

/// Bytes of one `type` element in memory, if that is the same for every data
/// layout and without padding bits: integers and floats of 1, 2, 4, 8 or 16
/// bytes, complex numbers of these, and vectors of these whose innermost
/// dimension takes a power of two of bytes.
std::optional<uint64_t> getElementBytes(mlir::Type type);

/// Bytes of a memref of static shape and identity layout; nothing for other
/// memrefs, for elements without a byte size, and when the product overflows.
std::optional<uint64_t> getMemRefBytes(mlir::MemRefType type);

/// The `lds.extent` of `op`, or null: the region whose address `op` is (an
/// `llvm.getelementptr` or an `llvm.mlir.global` that was an `lds.region`).
ExtentAttr getExtent(mlir::Operation *op);

/// The `lds.dynamic_size` of `kernel`: bytes of dynamic LDS that its launch
/// must pass. Nothing if its regions are not lowered or it has none.
std::optional<uint64_t> getDynamicSize(mlir::Operation *kernel);

} // namespace lodestone::lds

#define GET_OP_CLASSES
#include "lodestone/Dialect/LDS/IR/LDSOps.h.inc"

#endif // LODESTONE_DIALECT_LDS_IR_LDSDIALECT_H
