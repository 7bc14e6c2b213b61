//===- RandomElements.h - stand-ins for weights and inputs ----------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_RANDOMELEMENTS_H
#define PCC_PASSES_INTERPRET_ELEMENTS_RANDOMELEMENTS_H

#include "dialects/graph/reference/HostTensor.h"
#include "runtime/tensor/RandomValues.h"

namespace pcc::interpret {

/// All elements of `random` as a tensor of `shape`: what executables would make
/// in its place.
graph::HostTensor randomElements(const runtime::RandomTensor &random,
                                 llvm::ArrayRef<int64_t> shape);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_RANDOMELEMENTS_H
