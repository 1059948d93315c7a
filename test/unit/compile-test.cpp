
///
/// \file
/// What only a caller of the C++ API can bring about: a tag that gets lost,
/// faults inside LLVM, many threads. Prints one line per failed expectation.
///
//===----------------------------------------------------------------------===//

#include "lodestone/InitAll.h"
#include "lodestone/Target/Codegen.h"
#include "lodestone/Target/Compile.h"
#include "lodestone/Target/CrashGuard.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <csignal>
#include <thread>

using namespace mlir;
using namespace lodestone;

static std::atomic<unsigned> failures{0};

static void expect(bool condition, const char *what) {
  if (condition)
    return;
  ++failures;
  llvm::errs() << (std::string("not so: ") + what + "\n");
}

/// Two DMAs into two regions, then a read of each.
static const char *const kPipelined = R"mlir(
gpu.module @kernels {
  llvm.func @pipelined(%src: !llvm.ptr<8>, %out: !llvm.ptr<1>)
      attributes {rocdl.kernel, rocdl.flat_work_group_size = "64,64",
                  rocdl.reqd_work_group_size = array<i32: 64, 1, 1>} {
    %a = lds.region @A size(256) : !llvm.ptr<3>
    %b = lds.region @B size(256) : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c256 = llvm.mlir.constant(256 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %at = llvm.mul %t, %c4 : i32
    rocdl.raw.ptr.buffer.load.lds %src, %a, %c4, %at, %c0, %c0, %c0
    rocdl.raw.ptr.buffer.load.lds %src, %b, %c4, %at, %c256, %c0, %c0
    %pa = llvm.getelementptr %a[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %x = llvm.load %pa : !llvm.ptr<3> -> f32
    rocdl.sched.barrier 0
    %pb = llvm.getelementptr %b[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %y = llvm.load %pb : !llvm.ptr<3> -> f32
    %s = llvm.fadd %x, %y : f32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %s, %to : f32, !llvm.ptr<1>
    llvm.return
  }
}
)mlir";

/// LLVM 22 reports a fatal error for 16 bytes a lane on gfx942.
static const char *const kFatal = R"mlir(
gpu.module @kernels {
  llvm.func @fatal(%from: !llvm.ptr<8>, %to: !llvm.ptr<3>)
      attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    rocdl.raw.ptr.buffer.load.lds %from, %to, %c16, %c0, %c0, %c0, %c0
    llvm.return
  }
}
)mlir";

namespace {
/// A context whose diagnostics are counted and not printed.
struct Session {
  explicit Session(const DialectRegistry &registry)
      : context(registry, MLIRContext::Threading::DISABLED) {
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        ++errors;
      if (diagnostic.getSeverity() == DiagnosticSeverity::Warning)
        ++warnings;
    });
  }

  bool run(const char *source, const CompileOptions &options) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(source, &context);
    return module && succeeded(compile(*module, options, result));
  }

  MLIRContext context;
  CompileResult result;
  unsigned errors = 0;
  unsigned warnings = 0;
};
} // namespace

/// Takes the scopes off the DMAs of a module whose reads have some: what the
/// alias-scope pass must never do, and LLVM could.
static void dropDMATags(gpu::GPUModuleOp module) {
  module.walk([](ROCDL::RawPtrBufferLoadLdsOp dma) {
    dma.setAliasScopes(nullptr);
    dma.setNoAliasScopes(nullptr);
  });
}

/// With scopes the first read waits for its DMA alone, and the check agrees.
static void testScopes(const DialectRegistry &registry) {
  Session session(registry);
  CompileOptions options;
  options.chip = "gfx950";
  expect(session.run(kPipelined, options), "the kernel compiles");
  if (session.result.modules.empty())
    return;
  const CompiledModule &module = session.result.modules.front();
  expect(StringRef(module.isa).contains("vmcnt(1)"), "scopes save a wait");
  expect(module.check && module.check->clean(), "the check is clean");
  expect(!module.untaggedFallback, "there is no reason to fall back");
  expect(module.kernels.size() == 1 &&
             module.kernels.front().dynamicLDSBytes == 512,
         "two regions of 256 bytes");
  expect(module.codeObject.size() > 4 && StringRef(module.codeObject)
                                             .starts_with("\x7f"
                                                          "ELF"),
         "the code object is an ELF");
  expect(module.seconds.codegen > 0 && module.seconds.link > 0,
         "the time spent is told");
}

/// A tag that is lost on the way makes wrong code; the check sees it, and what
/// comes out is the code without tags.
static void testFallback(const DialectRegistry &registry) {
  CompileOptions options;
  options.chip = "gfx950";
  unsigned calls = 0;
  options.onLowered = [&](gpu::GPUModuleOp module) {
    ++calls;
    dropDMATags(module);
  };
  Session session(registry);
  expect(session.run(kPipelined, options), "a fallback is no failure");
  if (session.result.modules.empty())
    return;
  const CompiledModule &module = session.result.modules.front();
  expect(calls == 2, "compiled with scopes and without");
  expect(module.untaggedFallback, "the code without scopes came out");
  expect(module.taggedCheck && !module.taggedCheck->findings.empty(),
         "what was wrong is told");
  expect(module.check && module.check->clean(), "the fallback is checked");
  expect(StringRef(module.isa).contains("vmcnt(0)"), "the fallback waits");
  expect(session.warnings == 1, "a warning says so");

  Session strict(registry);
  options.strict = true;
  expect(!strict.run(kPipelined, options), "strict takes no fallback");
  expect(strict.result.failure == CompileFailure::strict, "and says why");
  expect(strict.errors == 1, "in one error");
}

/// Faults inside LLVM come back to the caller, on any thread.
static void testCrashGuard() {
  auto faults = [] {
    for (unsigned i = 0; i < 20; ++i) {
      std::string why;
      expect(!runGuarded([] { llvm::report_fatal_error("no way"); }, why),
             "a fatal error is caught");
      expect(StringRef(why).starts_with("no way"), "with its text");
      expect(!runGuarded([] { std::raise(SIGSEGV); }, why),
             "a crash is caught");
      expect(runGuarded([] {}, why), "what comes back, comes back");
    }
  };
  std::thread one(faults), two(faults), three(faults);
  one.join();
  two.join();
  three.join();
}

/// Good and bad kernels at once, each thread with a context of its own.
static void testThreads(const DialectRegistry &registry) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back([&registry, i] {
      for (unsigned repeat = 0; repeat < 5; ++repeat) {
        Session session(registry);
        CompileOptions options;
        options.format = OutputFormat::isa;
        options.chip = "gfx942";
        if (i % 2) {
          expect(session.run(kPipelined, options), "the good one compiles");
        } else {
          expect(!session.run(kFatal, options), "the bad one does not");
          expect(session.errors == 1, "for one reason");
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// LLVM IR: what is right compiles, and what is wrong is an error.
static void testLLVMIR(const DialectRegistry &registry) {
  struct {
    const char *text, *chip;
    bool good;
  } cases[] = {
      {"define amdgpu_kernel void @k() { ret void }", "gfx950", true},
      {"define amdgpu_kernel void @k() #0 { ret void }\n"
       "attributes #0 = {\"target-cpu\"=\"gfx942\"}",
       "", true},
      {"define amdgpu_kernel void @k() #0 { ret void }\n"
       "attributes #0 = {\"target-cpu\"=\"gfx942\"}",
       "gfx950", false},
      {"define amdgpu_kernel void @k() { ret void }", "", false},
      {"define amdgpu_kernel void @k() { ret void }", "gfx000", false},
      {"target triple = \"x86_64-linux-gnu\"", "gfx950", false},
      {"define nonsense", "gfx950", false},
      {"BC\xc0\xde", "gfx950", false},
      {"", "gfx950", false},
      {"declare void @f()", "gfx950", false},
  };
  for (const auto &test : cases) {
    Session session(registry);
    CompileOptions options;
    options.chip = test.chip;
    bool good =
        succeeded(compileLLVMIR(llvm::MemoryBufferRef(test.text, "case.ll"),
                                session.context, options, session.result));
    expect(good == test.good, test.text);
    expect((session.errors == 0) == test.good, "an error exactly on failure");
  }
}

int main() {
  DialectRegistry registry;
  registerEverything(registry);
  testScopes(registry);
  testFallback(registry);
  testCrashGuard();
  testThreads(registry);
  testLLVMIR(registry);
  llvm::outs() << failures << " expectations failed\n";
  return failures != 0;
}
