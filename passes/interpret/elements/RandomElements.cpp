//===- RandomElements.cpp - random weights and inputs as tensors ----------===//

#include "passes/interpret/elements/RandomElements.h"
#include "passes/interpret/elements/FileElements.h"

using namespace pcc;

graph::HostTensor interpret::randomElements(const runtime::RandomTensor &random,
                                            llvm::ArrayRef<int64_t> shape) {
  int64_t count = mlir::ShapedType::getNumElements(shape);
  std::string bytes(count * runtime::sizeOf(random.type), '\0');
  runtime::fillRandom(random, 0, 1, count, bytes.data());
  return readElements(shape, random.type, bytes.data());
}
