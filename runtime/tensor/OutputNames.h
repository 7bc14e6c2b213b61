//===- OutputNames.h - what files of outputs are called -------------------===//

#ifndef PCC_RUNTIME_TENSOR_OUTPUTNAMES_H
#define PCC_RUNTIME_TENSOR_OUTPUTNAMES_H

#include <string>
#include <vector>

namespace pcc::runtime {

/// File names of outputs: letters that could lead out of a directory replaced,
/// duplicates numbered.
std::vector<std::string>
outputFileNames(const std::vector<std::string> &outputs);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_OUTPUTNAMES_H
