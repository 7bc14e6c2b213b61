//===- DumpSeal.cpp - recognizes dumps that nobody has edited -------------===//

#include "passes/driver/DumpSeal.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace pcc;

/// Returns a comment line with the SHA-256 of `text`.
static std::string sealOf(llvm::StringRef text) {
  const auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return "// pcc: sha256 " + llvm::toHex(hash, /*LowerCase=*/true) + "\n";
}

std::string pcc::sealDump(std::string text) {
  if (!text.empty() && text.back() != '\n')
    text += '\n';
  return text + sealOf(text);
}

bool pcc::isSealedDump(std::string_view text) {
  static const size_t length = sealOf("").size();
  return text.size() >= length &&
         text.substr(text.size() - length) ==
             sealOf(text.substr(0, text.size() - length));
}
