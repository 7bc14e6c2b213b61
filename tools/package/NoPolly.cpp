//===- NoPolly.cpp - stands in for an optimizer that pcc does not use -----===//
//
// Link-time optimization in lld refers to Polly, which Debian has in an archive
// of its own. pcc links object files only, never bitcode.
//
//===----------------------------------------------------------------------===//

#include "llvm/Plugins/PassPlugin.h"

/// Returns a plugin that adds no pass.
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", "", [](llvm::PassBuilder &) {}};
}
