//===- Signature.cpp - arguments of a kernel's function -------------------===//

#include "passes/7-emit/kernel/Signature.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cassert>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Returns the number of operands of `kernel` plus the number of its results.
/// Example: a kernel that adds two tensors has 2 operands and 1 result, and the
/// function returns 3.
static size_t numBuffersOf(rank::KernelOp kernel) {
  return kernel.getArgumentTypes().size() + kernel.getResultTypes().size();
}

SmallVector<Type> pcc::emit::signatureOf(rank::KernelOp kernel) {
  assert(!kernel.getInParts() && "a multi-tensor kernel");
  MLIRContext *context = kernel.getContext();
  SmallVector<Type> types(numBuffersOf(kernel),
                          LLVM::LLVMPointerType::get(context));
  for (Operation &op : kernel.getBody().front())
    types.append(offsetsOf(&op).size(), IntegerType::get(context, 64));
  return types;
}

ValueRange pcc::emit::sharedArgumentsOf(rank::KernelOp kernel) {
  auto arguments = kernel.getBody().getArguments();
  auto isTile = [](Value argument) {
    return graph::tensorType(argument).getRank() > 0;
  };
  return ValueRange(arguments).take_front(
      size_t(llvm::find_if(arguments, isTile) - arguments.begin()));
}

int64_t pcc::emit::numPartTensorsOf(rank::KernelOp kernel) {
  return int64_t(numBuffersOf(kernel) - sharedArgumentsOf(kernel).size());
}

SmallVector<Value> pcc::emit::bindArguments(KernelWriter &w,
                                            rank::KernelOp kernel,
                                            ValueRange arguments) {
  const size_t numInputs = kernel.getArgumentTypes().size(),
               numBuffers = numBuffersOf(kernel);
  for (auto [tensor, buffer] : llvm::zip_equal(kernel.getBody().getArguments(),
                                               arguments.take_front(numInputs)))
    w.bind(tensor, buffer);
  ValueRange scalars = arguments.drop_front(numBuffers);
  for (Operation &op : kernel.getBody().front()) {
    const size_t count = offsetsOf(&op).size();
    if (count > 0)
      w.scalars[&op] = SmallVector<Value>(scalars.take_front(count));
    scalars = scalars.drop_front(count);
  }
  return SmallVector<Value>(arguments.slice(numInputs, numBuffers - numInputs));
}
