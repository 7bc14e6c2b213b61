//===- Pins.cpp - scope guard that marks values named by seeds ------------===//

#include "passes/2-prepare/match/Pins.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/dist/NamePattern.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/2-prepare/match/RewriteFunctions.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::prepare;

Pins::Pins(func::FuncOp function) : function(function) {
  auto module = function->getParentOfType<ModuleOp>();
  auto seeds =
      module ? module->getAttrOfType<ArrayAttr>(dist::seedsName) : ArrayAttr();
  if (!seeds)
    return;
  for (Operation &op : function.front())
    if (auto name = op.getAttrOfType<StringAttr>(graph::nameName))
      if (llvm::any_of(seeds.getAsRange<StringAttr>(), [&](StringAttr seed) {
            // `seed` is the text of one option --shard, such as "h.*.w=[tp,-]".
            // The text before the last '=' is a name or a glob pattern. For
            // example, the pattern h.*.w matches the name h.3.w.
            return dist::matchesName(seed.getValue().rsplit('=').first,
                                     name.getValue());
          }))
        op.setAttr(graph::pinnedName, UnitAttr::get(op.getContext()));
}

Pins::~Pins() {
  for (Operation &op : function.front())
    op.removeAttr(graph::pinnedName);
}
