//===- RandomElements.h - random weights and inputs as tensors ------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_RANDOMELEMENTS_H
#define PCC_PASSES_INTERPRET_ELEMENTS_RANDOMELEMENTS_H

#include "dialects/graph/reference/HostTensor.h"
#include "runtime/tensor/RandomValues.h"

namespace pcc::interpret {

/// Returns a tensor of shape `shape` with random elements. `random` has the
/// parameters of the random generator: a key, an element type, and a bound for
/// the elements. Two calls with equal arguments return equal elements.
///
/// A compiled executable uses the same random generator for weights and model
/// inputs that have no file. With the same parameters, the executable generates
/// the same elements as this function.
graph::HostTensor randomElements(const runtime::RandomTensor &random,
                                 llvm::ArrayRef<int64_t> shape);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_RANDOMELEMENTS_H
