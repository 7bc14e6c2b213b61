//===- WriteFile.cpp - writes one output file of a command ----------------===//

#include "passes/driver/WriteFile.h"
#include "runtime/base/AtomicFile.h"

#include <filesystem>

using namespace pcc;

/// Writes `text` to the device or pipe at `path`.
static Status writeInPlace(const std::string &path, const std::string &text) {
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error) {
    file << text;
    file.flush();
    if (file.has_error())
      error = file.error(), file.clear_error();
  }
  if (error)
    return Status::error(InputOutput,
                         "cannot write '" + path + "': " + error.message());
  return Status::success();
}

Status pcc::writeFile(const std::string &path,
                      llvm::function_ref<void(llvm::raw_ostream &)> print) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(stream);
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) &&
      !std::filesystem::is_regular_file(path, ignored))
    return writeInPlace(path, text);
  const bool isLink = std::filesystem::is_symlink(path, ignored);
  const std::string target =
      isLink ? std::filesystem::weakly_canonical(path, ignored).string() : path;
  return runtime::writeFileAtomically(target, text);
}
