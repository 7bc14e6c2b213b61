//===- RandomElements.h - random weights and inputs as tensors ------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_RANDOMELEMENTS_H
#define PCC_PASSES_INTERPRET_ELEMENTS_RANDOMELEMENTS_H

#include "dialects/graph/reference/HostTensor.h"
#include "runtime/tensor/RandomValues.h"

namespace pcc::interpret {

/// Returns a tensor of shape `shape` with the elements that `random` generates.
/// Executables generate the same values for an absent weight or input.
graph::HostTensor randomElements(const runtime::RandomTensor &random,
                                 llvm::ArrayRef<int64_t> shape);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_RANDOMELEMENTS_H
