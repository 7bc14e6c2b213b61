//===- SharedMemory.cpp - shared memory and barriers of a block -----------===//

#include "passes/7-emit/gpu/kernel/SharedMemory.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace pcc::emit;

/// Address space of shared memory in LLVM's NVPTX target.
static constexpr unsigned shared = 3;

Value pcc::emit::allocateShared(KernelWriter &w, Type element, int64_t count) {
  auto module =
      w.builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  OpBuilder outside(module.getBodyRegion());
  auto array = LLVM::LLVMArrayType::get(storageType(element), unsigned(count));
  const auto number = llvm::range_size(module.getOps<LLVM::GlobalOp>());
  auto global = LLVM::GlobalOp::create(
      outside, w.loc, array, /*isConstant=*/false, LLVM::Linkage::Internal,
      "pcc_shared_" + std::to_string(number), Attribute(), /*alignment=*/16,
      shared);
  return LLVM::AddressOfOp::create(w.builder, w.loc, global);
}

void pcc::emit::syncThreads(KernelWriter &w) {
  NVVM::BarrierOp::create(w.builder, w.loc);
}
