//===- LowerForGpus.cpp - lowering of ops that have no GPU library call ---===//

#include "dialects/dist/DistDialect.h"
#include "passes/7-emit/Passes.h"
#include "passes/7-emit/gpu/lower/LowerExperts.h"
#include "passes/7-emit/gpu/lower/LowerScans.h"
#include "passes/7-emit/gpu/lower/LowerScatters.h"
#include "passes/7-emit/gpu/lower/LowerSorting.h"
#include "passes/7-emit/gpu/lower/LowerWindows.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "lower-for-gpus"

namespace pcc::emit {
#define GEN_PASS_DEF_LOWERFORGPUS
#include "passes/7-emit/Passes.h.inc"
} // namespace pcc::emit

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

namespace {
struct LowerForGpus : pcc::emit::impl::LowerForGpusBase<LowerForGpus> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto module = function->getParentOfType<ModuleOp>();
    if (function.isDeclaration() || dist::targetOf(module) != "cuda")
      return;
    // The order of the lowerings does not matter: no lowering creates an op
    // that another lowering replaces.
    for (auto *lower :
         {lowerWindows, lowerSorting, lowerScans, lowerScatters, lowerExperts})
      numLowered += lower(function);
    LDBG() << numLowered.getValue() << " ops became others";
  }
};
} // namespace
