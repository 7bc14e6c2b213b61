//===- RandomElements.h - random weights and inputs as tensors ------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_RANDOMELEMENTS_H
#define PCC_PASSES_INTERPRET_ELEMENTS_RANDOMELEMENTS_H

#include "dialects/graph/reference/HostTensor.h"
#include "runtime/tensor/RandomValues.h"

namespace pcc::interpret {

/// Returns a tensor of shape `shape` with random elements, equal for equal
/// arguments. A compiled executable generates the same elements for weights and
/// model inputs that have no file.
graph::HostTensor randomElements(const runtime::RandomTensor &random,
                                 llvm::ArrayRef<int64_t> shape);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_RANDOMELEMENTS_H
