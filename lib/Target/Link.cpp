

#include "Link.h"
#include "lodestone/Target/Compile.h"

#include "llvm/Support/Alignment.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace lodestone;

std::string lodestone::findLinker(llvm::StringRef preferred) {
  if (!preferred.empty())
    return llvm::sys::fs::can_execute(preferred) ? preferred.str() : "";
  if (std::optional<std::string> set =
          llvm::sys::Process::GetEnv("LODESTONE_LLD"))
    return llvm::sys::fs::can_execute(*set) ? *set : "";
  // With the LLVM tools first; no paths at all mean $PATH.
  llvm::ErrorOr<std::string> found =
      llvm::sys::findProgramByName("ld.lld", {LODESTONE_LLVM_TOOLS_DIR});
  if (!found)
    found = llvm::sys::findProgramByName("ld.lld");
  return found ? *found : "";
}

static llvm::Error failure(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// A file that is gone when this is.
namespace {
struct TemporaryFile {
  llvm::SmallString<128> path;
  llvm::FileRemover remover;

  std::error_code create(llvm::StringRef suffix) {
    std::error_code error =
        llvm::sys::fs::createTemporaryFile("lodestone", suffix, path);
    if (!error)
      remover.setFile(path);
    return error;
  }
};
} // namespace

llvm::Expected<std::string> lodestone::linkCodeObject(llvm::StringRef object,
                                                      llvm::StringRef linker) {
  TemporaryFile input, output, log;
  for (auto [file, suffix] : {std::pair(&input, "o"), std::pair(&output, "so"),
                              std::pair(&log, "log")})
    if (std::error_code error = file->create(suffix))
      return failure("cannot create a temporary file for the linker: " +
                     error.message());
  {
    std::error_code error;
    llvm::raw_fd_ostream stream(input.path, error);
    stream << object;
    stream.close();
    if (error || stream.has_error()) {
      std::string why = (error ? error : stream.error()).message();
      stream.clear_error();
      return failure("cannot write " + input.path + ": " + why);
    }
  }

  llvm::StringRef arguments[] = {linker, "-shared", input.path, "-o",
                                 output.path};
  // Its standard input is empty, and what it says goes to the log.
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""),
                                                llvm::StringRef(log.path),
                                                llvm::StringRef(log.path)};
  std::string problem;
  int status = llvm::sys::ExecuteAndWait(linker, arguments, std::nullopt,
                                         redirects, 0, 0, &problem);
  if (status != 0) {
    std::string said;
    if (auto buffer = llvm::MemoryBuffer::getFile(log.path))
      said = (*buffer)->getBuffer().trim().str();
    return failure(linker + " failed with status " + llvm::Twine(status) +
                   (problem.empty() ? "" : ": " + problem) +
                   (said.empty() ? "" : ": " + said));
  }
  auto linked = llvm::MemoryBuffer::getFile(output.path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!linked)
    return failure("cannot read what " + linker +
                   " wrote: " + linked.getError().message());
  return (*linked)->getBuffer().str();
}

std::string lodestone::bundleCodeObject(llvm::StringRef codeObject,
                                        llvm::StringRef target) {
  // The format of clang-offload-bundler: a magic string, the number of entries,
  // (offset, size, length of the id, id) for each, then the contents. HIP's
  // loader wants an entry for the host, which is empty, and aligns contents to
  // pages.
  constexpr llvm::StringLiteral magic = "__CLANG_OFFLOAD_BUNDLE__";
  constexpr uint64_t pageBytes = 4096;
  std::string hostID = "host-x86_64-unknown-linux-gnu-";
  std::string deviceID = ("hipv4-amdgcn-amd-amdhsa--" + target).str();

  uint64_t headerBytes = magic.size() + sizeof(uint64_t);
  for (const std::string &id : {hostID, deviceID})
    headerBytes += 3 * sizeof(uint64_t) + id.size();
  uint64_t start = llvm::alignTo(headerBytes, pageBytes);

  std::string bundle = magic.str();
  auto number = [&](uint64_t value) {
    char bytes[sizeof(value)];
    llvm::support::endian::write64le(bytes, value);
    bundle.append(bytes, sizeof(value));
  };
  auto entry = [&](uint64_t size, const std::string &id) {
    number(start);
    number(size);
    number(id.size());
    bundle += id;
  };
  number(2);
  entry(0, hostID);
  entry(codeObject.size(), deviceID);
  bundle.resize(start, '\0');
  bundle += codeObject;
  return bundle;
}
