//===- Pins.cpp - scope guard that marks values named by seeds ------------===//

#include "passes/2-prepare/match/Pins.h"
#include "dialects/dist/DistDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::prepare;

/// Returns whether the seed "NAME=[…]" (a --shard option) applies to the value
/// `name`. NAME may be a glob pattern. A malformed pattern only matches the
/// same text; phase 4-shard reports the error.
static bool names(StringRef seed, StringRef name) {
  StringRef pattern = seed.rsplit('=').first;
  if (pattern == name)
    return true;
  auto glob = llvm::GlobPattern::create(pattern);
  if (!glob) {
    llvm::consumeError(glob.takeError());
    return false;
  }
  return glob->match(name);
}

Pins::Pins(func::FuncOp function) : function(function) {
  auto module = function->getParentOfType<ModuleOp>();
  auto seeds =
      module ? module->getAttrOfType<ArrayAttr>(dist::seedsName) : ArrayAttr();
  if (!seeds)
    return;
  for (Operation &op : function.front())
    if (auto name = op.getAttrOfType<StringAttr>(graph::nameName))
      if (llvm::any_of(seeds.getAsRange<StringAttr>(), [&](StringAttr seed) {
            return names(seed.getValue(), name.getValue());
          }))
        op.setAttr(graph::pinnedName, UnitAttr::get(op.getContext()));
}

Pins::~Pins() {
  for (Operation &op : function.front())
    op.removeAttr(graph::pinnedName);
}
