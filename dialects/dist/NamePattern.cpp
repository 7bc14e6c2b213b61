//===- NamePattern.cpp - patterns of value names in requests --------------===//

#include "dialects/dist/NamePattern.h"
#include "llvm/Support/GlobPattern.h"

bool pcc::dist::matchesName(llvm::StringRef pattern, llvm::StringRef name) {
  if (name.empty())
    return false;
  if (pattern == name)
    return true;
  auto glob = llvm::GlobPattern::create(pattern);
  if (glob)
    return glob->match(name);
  llvm::consumeError(glob.takeError());
  return false;
}
