//===- WriteFile.cpp - writes one output file of a command ----------------===//

#include "passes/driver/WriteFile.h"

using namespace pcc;

Status pcc::writeFile(const std::string &path,
                      llvm::function_ref<void(llvm::raw_ostream &)> print) {
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error) {
    print(file);
    file.flush();
    if (file.has_error())
      error = file.error(), file.clear_error();
  }
  if (error)
    return Status::error(InputOutput,
                         "cannot write '" + path + "': " + error.message());
  return Status::success();
}
