//===- Register.cpp - registration of all dialects and passes -------------===//

#include "passes/Register.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/Fold.h"
#include "dialects/pcc/PccDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"
#include "passes/1-import/Passes.h"
#include "passes/2-prepare/Passes.h"
#include "passes/3-place/Passes.h"
#include "passes/4-shard/Passes.h"
#include "passes/5-localize/Passes.h"
#include "passes/6-schedule/Passes.h"
#include "passes/7-emit/Passes.h"

using namespace mlir;

void pcc::registerDialects(DialectRegistry &registry) {
  registry.insert<func::FuncDialect, graph::GraphDialect, dist::DistDialect,
                  PccDialect, pipe::PipeDialect, rank::RankDialect>();
  graph::registerConstantFolding(registry);
}

void pcc::registerPasses() {
  mlir::registerTransformsPasses();
  registerImportPasses();
  prepare::registerPreparePasses();
  shard::registerShardPasses();
  schedule::registerSchedulePasses();
  localize::registerLocalizePasses();
  place::registerPlacePasses();
  emit::registerEmitPasses();
}
