//===- InternalError.cpp - errors for defects of pcc, with reproducer -----===//

#include "passes/driver/InternalError.h"
#include "passes/driver/CrashGuard.h"
#include "passes/driver/DumpSeal.h"
#include "passes/driver/DumpText.h"
#include "passes/driver/WriteFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace pcc;

Status pcc::writeModule(ModuleOp module, const std::string &path, bool isOwn) {
  return writeFile(path, [&](llvm::raw_ostream &file) {
    const std::string text = dumpText(module);
    file << (isOwn ? sealDump(text) : text);
  });
}

/// Writes `before`, the module at the start of `phase`, to a new temporary
/// file. Returns the path of the file; empty on failure. Catches a crash of the
/// printer, because `before` may be corrupted.
static std::string writeReproducer(Phase phase, ModuleOp before) {
  SmallString<128> path;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
  llvm::sys::path::append(path,
                          "pcc-" + std::string(folderOf(phase)) + "-%%%%.mlir");
  SmallString<128> unique;
  if (llvm::sys::fs::createUniqueFile(path, unique))
    return "";
  Status written;
  std::string why;
  const GuardedEnd end = runsWithoutCrash(
      [&] {
        written = writeModule(before, unique.str().str(), /*isOwn=*/true);
      },
      why);
  return end == GuardedEnd::Returned && written.ok() ? unique.str().str() : "";
}

/// Returns the user's command line with the options --dim, such as "pcc m.onnx
/// --dim 'batch=8'". `options.command` does not contain these options.
static std::string wholeCommand(const CompileOptions &options) {
  std::string command = options.command;
  for (auto &[name, size] : options.dims)
    command += " --dim '" + name + "=" + std::to_string(size) + "'";
  return command;
}

Status pcc::reportInternalError(Phase phase, const std::string &what,
                                const CompileOptions &options,
                                ModuleOp before) {
  std::string reproducer = before ? writeReproducer(phase, before) : "";
  std::string name(folderOf(phase));
  const bool namesPhase = what.find("'" + name + "'") != std::string::npos;
  Status status = Status::error(
      Defect, "a defect of pcc" +
                  (namesPhase ? "" : " in phase '" + name + "'") + ": " + what +
                  "; please report this with '" +
                  (reproducer.empty() ? options.model : reproducer) + "'");
  if (!reproducer.empty())
    status.addNote("to see it again: pcc " + reproducer + " --start-at " +
                   name);
  else
    status.addNote("to see it again: " + wholeCommand(options));
  return status;
}

Status pcc::reportUnfitText(Phase phase, const std::string &what,
                            const CompileOptions &options, bool hasCrashed) {
  Status status = Status::error(
      CannotRead,
      "'" + options.model + "' is edited or written by hand, and phase '" +
          std::string(folderOf(phase)) + "' cannot process it: " + what);
  if (hasCrashed)
    status.addNote("please report this with '" + options.model +
                   "' if the program in it is valid");
  return status;
}
