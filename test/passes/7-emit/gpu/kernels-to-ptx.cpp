//===- kernels-to-ptx.cpp - the kernels of a dump, as PTX -----------------===//
//
//   kernels-to-ptx DUMP.mlir LIBDEVICE FOLDER KNOWN ARCH...
//
// DUMP is the dump of `pcc --dump-ir` after 6-schedule; an ARCH.ptx is written
// to FOLDER for each ARCH. Kernels whose hashes are listed in the file KNOWN,
// in any order, are left out, and so are repetitions. Prints a JSON object per
// remaining kernel on a line, in their order: `name`, `hash` of the
// computation, `reduces` (true if it is not element-wise; attention reduces,
// too), `blocks` and `threads`. Kernels that generate random weights come last,
// with `conversions` instead.
//
//===----------------------------------------------------------------------===//

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/7-emit/gpu/kernel/AttentionPlan.h"
#include "passes/7-emit/gpu/kernel/GpuPlan.h"
#include "passes/7-emit/gpu/kernel/Ptx.h"
#include "passes/7-emit/kernel/RandomWeights.h"
#include "passes/Pipeline.h"
#include "passes/Register.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace pcc;

/// Returns the hash of the kernel without its name.
static std::string hashOf(rank::KernelOp kernel) {
  OwningOpRef<rank::KernelOp> copy = kernel.clone();
  copy->setSymName("kernel");
  std::string text;
  llvm::raw_string_ostream(text) << **copy;
  return llvm::utohexstr(llvm::xxh3_64bits(text));
}

/// Prints the description of `kernel`, or erases it if it is known.
static void tell(rank::KernelOp kernel, llvm::StringSet<> &known) {
  const std::string hash = hashOf(kernel);
  if (!known.insert(hash).second)
    return kernel.erase();
  const emit::GpuPlan plan = emit::gpuPlanOf(kernel);
  const bool reduces = plan.loops.rows.has_value() || emit::attentionOf(kernel);
  llvm::outs() << llvm::json::Value(
                      llvm::json::Object{{"name", kernel.getSymName()},
                                         {"hash", hash},
                                         {"reduces", reduces},
                                         {"blocks", plan.blocks},
                                         {"threads", plan.threads}})
               << "\n";
}

static void tellRandom(ModuleOp module) {
  for (const auto &types : emit::randomKernelsOf(module))
    llvm::outs() << llvm::json::Value(llvm::json::Object{
                        {"name", "of random weights"},
                        {"reduces", false},
                        {"conversions", int64_t(types.size()) - 1}})
                 << "\n";
}

static bool writePtx(ModuleOp module, StringRef arch, StringRef libdevice,
                     StringRef folder) {
  FailureOr<std::string> ptx = emit::makePtx(module, arch, libdevice);
  if (failed(ptx))
    return false;
  std::error_code error;
  llvm::raw_fd_ostream out((folder + "/" + arch + ".ptx").str(), error);
  out << *ptx;
  return !error;
}

int main(int argc, char **argv) {
  auto known = argc > 5 ? llvm::MemoryBuffer::getFile(argv[4])
                        : std::make_error_code(std::errc::invalid_argument);
  if (!known) {
    llvm::errs() << "usage: kernels-to-ptx DUMP.mlir LIBDEVICE FOLDER KNOWN "
                    "ARCH...\n";
    return 2;
  }
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  PassManager manager(&context);
  addPhase(manager, Phase::Emit);
  if (!module || failed(manager.run(*module)))
    return 1;
  SmallVector<StringRef> hashes;
  llvm::SplitString((*known)->getBuffer(), hashes, "\n");
  llvm::StringSet<> seen;
  seen.insert(hashes.begin(), hashes.end());
  for (auto kernel :
       llvm::make_early_inc_range(module->getOps<rank::KernelOp>()))
    tell(kernel, seen);
  tellRandom(*module);
  return llvm::all_of(ArrayRef(argv + 5, argv + argc),
                      [&](StringRef arch) {
                        return writePtx(*module, arch, argv[2], argv[3]);
                      })
             ? 0
             : 1;
}
