//===- WriteFile.cpp - writes one output file of a command ----------------===//

#include "passes/driver/WriteFile.h"
#include "runtime/base/AtomicFile.h"

using namespace pcc;

Status pcc::writeFile(const std::string &path,
                      llvm::function_ref<void(llvm::raw_ostream &)> print) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(stream);
  return runtime::writeFileAtomically(path, text);
}
