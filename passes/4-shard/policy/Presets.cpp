//===- Presets.cpp - sharding presets of the command line -----------------===//

#include "passes/4-shard/policy/Presets.h"
#include "dialects/dist/DistDialect.h"

#include <cassert>

using namespace mlir;
using namespace pcc;

bool pcc::shard::hasPreset(func::FuncOp function, ArrayRef<StringRef> names) {
  assert(function->getParentOfType<ModuleOp>() && "a function without module");
  auto presets =
      function->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(
          dist::presetsName);
  return presets &&
         llvm::any_of(presets.getAsRange<StringAttr>(), [&](StringAttr preset) {
           return llvm::is_contained(names, preset.getValue());
         });
}
