//===----------------------------------------------------------------------===//
//
// Part of the Lodestone project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lodestone/Analysis/TDMInFlight.h"
#include "lodestone/Analysis/Kernels.h"
#include "lodestone/Analysis/LDSPlace.h"
#include "lodestone/Analysis/MemoryAccess.h"
#include "lodestone/Dialect/LDS/IR/LDSDialect.h"
#include "lodestone/Dialect/TDM/IR/TDMCopy.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace lodestone;
using namespace lodestone::tdm;

using Phase = CopyPhases::Phase;

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

ChangeResult InFlight::join(const dataflow::AbstractDenseLattice &lattice) {
  const auto &other = static_cast<const InFlight &>(lattice);
  if (!other.isReached)
    return ChangeResult::NoChange;
  if (!isReached) {
    isReached = true;
    instructions = other.instructions;
    copies = other.copies;
    return ChangeResult::Change;
  }
  bool hasChanged = false;
  for (auto [mine, theirs] :
       llvm::zip_equal(instructions, other.instructions)) {
    hasChanged |= theirs < mine;
    mine = std::min(mine, theirs);
  }
  hasChanged |= copies.join(other.copies);
  return hasChanged ? ChangeResult::Change : ChangeResult::NoChange;
}

void InFlight::print(llvm::raw_ostream &os) const {
  os << copies.size() << " copies";
}

bool tdm::isCopy(Operation *op) {
  return isa<FusedLoadOp>(op) ||
         (isa<CopyOpInterface>(op) && !isa<FusedLoadOp>(op->getParentOp()));
}

namespace {

/// Runs the copies through a function.
class Flow : public dataflow::DenseForwardDataFlowAnalysis<InFlight> {
public:
  Flow(DataFlowSolver &solver, unsigned tracked, bool isOneWarp,
       llvm::function_ref<unsigned(Operation *)> count)
      : DenseForwardDataFlowAnalysis(solver), tracked(tracked),
        isOneWarp(isOneWarp), count(count) {}

  LogicalResult visitOperation(Operation *op, const InFlight &before,
                               InFlight *after) override;
  void visitCallControlFlowTransfer(CallOpInterface call,
                                    dataflow::CallControlFlowAction action,
                                    const InFlight &before,
                                    InFlight *after) override;
  void setToEntryState(InFlight *lattice) override;

private:
  struct State {
    SmallVector<unsigned> instructions;
    CopyPhases copies;
  };
  void transfer(Operation *op, State &state);
  void start(Operation *copy, State &state);
  void finish(unsigned inFlight, State &state);
  void forgetHistory(State &state);
  void store(const State &state, InFlight *after);

  /// The copies back from a point that are counted.
  unsigned tracked;
  /// A workgroup of one warp needs no barriers.
  bool isOneWarp;
  llvm::function_ref<unsigned(Operation *)> count;
};

} // namespace

/// Other copies may have been started, but each took one instruction at least.
void Flow::forgetHistory(State &state) {
  for (auto [k, instructions] : llvm::enumerate(state.instructions))
    instructions = std::min<unsigned>(instructions, k);
}

void Flow::start(Operation *copy, State &state) {
  for (unsigned k = tracked; k > 0; --k) {
    unsigned before = state.instructions[k - 1];
    state.instructions[k] =
        before == InFlight::kFewer ? before : before + count(copy);
  }
  state.copies.start(copy);
  state.copies.closeGroup(tracked);
}

/// This warp has `inFlight` copies at most in flight. No more copies than are
/// tracked ever are: the counter has room for no more.
void Flow::finish(unsigned inFlight, State &state) {
  state.copies.wait(std::min(inFlight, tracked));
  if (isOneWarp)
    state.copies.dropWaited();
}

void Flow::transfer(Operation *op, State &state) {
  if (isCopy(op))
    return start(op, state);
  if (auto wait = dyn_cast<WaitOp>(op))
    return finish(wait.getCount(), state);
  // Each copy that may stay takes one instruction at least.
  if (auto wait = dyn_cast<ROCDL::WaitTensorcntOp>(op))
    return finish(wait.getCount(), state);

  state.copies.meetAt(op);
  // An operation of which nobody knows how it runs its regions.
  if (op->getNumRegions() && !op->hasTrait<OpTrait::IsIsolatedFromAbove>()) {
    op->walk([&](Operation *nested) {
      if (isCopy(nested))
        start(nested, state);
    });
    forgetHistory(state);
  }
}

void Flow::store(const State &state, InFlight *after) {
  InFlight result(after->getAnchor());
  result.isReached = true;
  result.instructions = state.instructions;
  result.copies = state.copies;
  propagateIfChanged(after, after->join(result));
}

LogicalResult Flow::visitOperation(Operation *op, const InFlight &before,
                                   InFlight *after) {
  if (!before.isReached)
    return success();
  State state{before.instructions, before.copies};
  transfer(op, state);
  store(state, after);
  return success();
}

void Flow::visitCallControlFlowTransfer(CallOpInterface call,
                                        dataflow::CallControlFlowAction,
                                        const InFlight &before,
                                        InFlight *after) {
  if (!before.isReached)
    return;
  State state{before.instructions, before.copies};
  forgetHistory(state);
  store(state, after);
}

bool tdm::isLaunched(Operation *function) {
  return isKernel(function) || isa<gpu::LaunchOp>(function);
}

static bool isKernelEntry(Block *block) {
  return block && block->isEntryBlock() && isLaunched(block->getParentOp());
}

void Flow::setToEntryState(InFlight *lattice) {
  State state;
  state.instructions.assign(tracked + 1, InFlight::kFewer);
  state.instructions[0] = 0;
  auto *point = dyn_cast<ProgramPoint *>(lattice->getAnchor());
  if (!point || !isKernelEntry(point->getBlock()))
    forgetHistory(state);
  store(state, lattice);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {
/// A memref in LDS that an operation reads or writes.
struct Access {
  Value memref;
  bool isWrite;
};
} // namespace

static SmallVector<Access> getAccesses(Operation *op) {
  SmallVector<Access> accesses;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return accesses;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    bool isWrite = isa<MemoryEffects::Write>(effect.getEffect());
    if ((isWrite || isa<MemoryEffects::Read>(effect.getEffect())) &&
        effect.getValue() && isLDS(effect.getValue()))
      accesses.push_back({effect.getValue(), isWrite});
  }
  return accesses;
}

/// Calls `callback` for each copy that `copy` is: itself, or its members.
static void forEachMember(Operation *copy,
                          llvm::function_ref<void(CopyOpInterface)> callback) {
  if (auto fused = dyn_cast<FusedLoadOp>(copy)) {
    for (LoadOp load : fused.getLoads())
      callback(load);
    return;
  }
  callback(cast<CopyOpInterface>(copy));
}

/// How the bytes of `access` and those of `copy` in LDS go together.
static Overlap compareWith(const LDSPlace &access, Operation *copy) {
  Overlap result = Overlap::no;
  forEachMember(copy, [&](CopyOpInterface member) {
    for (Value piece : member.getLds())
      result = std::max(result, compare(access, LDSPlace::of(piece)));
  });
  return result;
}

static bool isLoadCopy(Operation *copy) {
  auto member = dyn_cast<CopyOpInterface>(copy);
  return !member || member.isLoad();
}

/// Checks one access against one copy that isn't done. Fails if it is an error.
static LogicalResult checkAccess(Operation *op, const Access &access,
                                 Operation *copy, Phase phase) {
  bool isLoad = isLoadCopy(copy);
  if (!isLoad && !access.isWrite)
    return success();
  // Copies finish in the order in which they start; those of loads into the
  // same place may be predicated so that one moves data.
  auto accessing = dyn_cast<CopyOpInterface>(op);
  if (accessing && accessing.isLoad() && isLoad)
    return success();
  Overlap overlap = compareWith(LDSPlace::of(access.memref), copy);
  if (overlap == Overlap::no)
    return success();
  StringRef what = access.isWrite ? "writes" : "reads";
  StringRef why =
      phase == Phase::running
          ? "can be reached without a tdm.wait for it"
          : "can be reached without a barrier after the tdm.wait for it";
  if (overlap == Overlap::within) {
    BarrierReach paths(op->getParentOfType<FunctionOpInterface>());
    bool isCertain = !maySynchronize(paths, copy, op);
    InFlightDiagnostic diag = reportAccess(op, isCertain);
    diag << what << " LDS that a copy " << (isLoad ? "writes" : "reads")
         << ", but " << why;
    diag.attachNote(copy->getLoc()) << "the copy is here";
    return success(!isCertain);
  }
  remark::missed(op->getLoc(), remark::RemarkOpts::name("unproven-wait")
                                   .category("convert-tdm-to-rocdl"))
      << remark::reason("{0} LDS at a place that isn't constant, which may be "
                        "that of the copy '{1}', and {2}",
                        what.str(), copy->getName().getStringRef().str(),
                        why.str());
  return success();
}

/// Runs the analysis of `function`, looking back as far as its waits do, but no
/// further than `most` copies.
static LogicalResult
solve(Operation *function, unsigned most,
      llvm::function_ref<unsigned(Operation *)> instructions,
      DataFlowSolver &solver) {
  unsigned tracked = 1;
  function->walk([&](Operation *op) {
    if (auto wait = dyn_cast<WaitOp>(op))
      tracked = std::max(tracked, std::min(wait.getCount(), most));
    if (auto wait = dyn_cast<ROCDL::WaitTensorcntOp>(op))
      tracked = std::max<unsigned>(tracked,
                                   std::min<unsigned>(wait.getCount(), most));
  });
  solver.load<dataflow::DeadCodeAnalysis>();
  solver.load<dataflow::SparseConstantPropagation>();
  Block &entry = function->getRegion(0).front();
  std::optional<uint64_t> size =
      entry.empty() ? std::nullopt : getWorkgroupSize(&entry.front());
  bool isOneWarp = size && *size <= kWarpLanes;
  solver.load<Flow>(tracked, isOneWarp, instructions);
  return solver.initializeAndRun(function);
}

/// What is known before `op`, or null if nothing leads there.
static const InFlight *stateBefore(Operation *op, DataFlowSolver &solver) {
  const auto *state =
      solver.lookupState<InFlight>(solver.getProgramPointBefore(op));
  return state && state->isReached ? state : nullptr;
}

FailureOr<llvm::MapVector<WaitOp, std::optional<unsigned>>>
tdm::weighWaits(Operation *function, unsigned most,
                llvm::function_ref<unsigned(Operation *)> weight) {
  DataFlowSolver solver(DataFlowConfig().setInterprocedural(false));
  if (failed(solve(function, most, weight, solver)))
    return failure();
  llvm::MapVector<WaitOp, std::optional<unsigned>> weights;
  function->walk([&](WaitOp wait) {
    const InFlight *state = stateBefore(wait, solver);
    unsigned sum = state ? state->instructions[std::min(wait.getCount(), most)]
                         : InFlight::kFewer;
    weights[wait] = sum == InFlight::kFewer ? std::nullopt : std::optional(sum);
  });
  return weights;
}

FailureOr<FlowResult>
tdm::followCopies(Operation *function, unsigned maxTensorcnt,
                  llvm::function_ref<unsigned(Operation *)> instructions) {
  bool hasCopies = false;
  function->walk([&](Operation *op) { hasCopies |= isCopy(op); });
  FlowResult result;
  if (!hasCopies) {
    // Copies of callers, if any, took one instruction at least.
    function->walk([&](WaitOp wait) {
      result.tensorcnt[wait] = std::min(wait.getCount(), maxTensorcnt);
    });
    return result;
  }

  DataFlowSolver solver(DataFlowConfig().setInterprocedural(false));
  if (failed(solve(function, maxTensorcnt, instructions, solver)))
    return failure();

  bool hasFailed = false;
  function->walk([&](Operation *op) {
    const InFlight *state = stateBefore(op, solver);
    if (auto wait = dyn_cast<WaitOp>(op)) {
      unsigned count = std::min(wait.getCount(), maxTensorcnt);
      if (state)
        count = std::min(state->instructions[count], maxTensorcnt);
      result.tensorcnt[wait] = count;
    }
    if (!state || isa<FusedLoadOp>(op->getParentOp()))
      return;
    for (const Access &access : getAccesses(op))
      for (const auto &[copy, entry] : state->copies)
        if (failed(checkAccess(op, access, copy, entry.phase))) {
          hasFailed = true;
          return;
        }
  });
  if (hasFailed)
    return failure();
  return result;
}
