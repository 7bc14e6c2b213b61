//===- kernels-to-ptx.cpp - the kernels of a dump, as PTX -----------------===//
//
//   kernels-to-ptx DUMP.mlir ARCH LIBDEVICE OUT.ptx
//
// DUMP is what `pcc --dump-ir` writes behind 7-emit. A line of stdout is an
// object per kernel, in their order: `name`, `reduces` (whether it is not
// element-wise; attention reduces too), `blocks` and `threads`. Those that make
// random weights come last, with `conversions` instead.
//
//===----------------------------------------------------------------------===//

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "passes/7-emit/RandomWeights.h"
#include "passes/7-emit/gpu/AttentionPlan.h"
#include "passes/7-emit/gpu/GpuPlan.h"
#include "passes/7-emit/gpu/Ptx.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace pcc;

int main(int argc, char **argv) {
  if (argc != 5) {
    llvm::errs() << "usage: kernels-to-ptx DUMP.mlir ARCH LIBDEVICE OUT.ptx\n";
    return 2;
  }
  MLIRContext context;
  context.loadDialect<graph::GraphDialect, dist::DistDialect, pipe::PipeDialect,
                      rank::RankDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  for (auto kernel : module->getOps<rank::KernelOp>()) {
    const emit::GpuPlan plan = emit::gpuPlanOf(kernel);
    const bool reduces =
        plan.loops.rows.has_value() || emit::attentionOf(kernel);
    llvm::outs() << llvm::json::Value(
                        llvm::json::Object{{"name", kernel.getSymName()},
                                           {"reduces", reduces},
                                           {"blocks", plan.blocks},
                                           {"threads", plan.threads}})
                 << "\n";
  }
  for (const auto &types : emit::randomKernelsOf(*module))
    llvm::outs() << llvm::json::Value(llvm::json::Object{
                        {"name", "of random weights"},
                        {"reduces", false},
                        {"conversions", int64_t(types.size()) - 1}})
                 << "\n";
  FailureOr<std::string> ptx = emit::makePtx(*module, argv[2], argv[3]);
  if (failed(ptx))
    return 1;
  std::error_code error;
  llvm::raw_fd_ostream out(argv[4], error);
  out << *ptx;
  return error ? 1 : 0;
}
