//===- RandomElements.h - random weights and inputs as tensors ------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_RANDOMELEMENTS_H
#define PCC_PASSES_INTERPRET_ELEMENTS_RANDOMELEMENTS_H

#include "dialects/graph/reference/HostTensor.h"
#include "runtime/tensor/RandomValues.h"

namespace pcc::interpret {

/// Returns all elements of `random` as a tensor of `shape`. Executables
/// generate the same values when a weight or input is absent.
graph::HostTensor randomElements(const runtime::RandomTensor &random,
                                 llvm::ArrayRef<int64_t> shape);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_RANDOMELEMENTS_H
