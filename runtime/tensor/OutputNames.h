//===- OutputNames.h - file names of a model's outputs --------------------===//

#ifndef PCC_RUNTIME_TENSOR_OUTPUTNAMES_H
#define PCC_RUNTIME_TENSOR_OUTPUTNAMES_H

#include <string>
#include <vector>

namespace pcc::runtime {

/// Returns one .npy file name for each model output, in the order of `outputs`.
/// All names differ and are safe file names:
///
/// - at most 200 bytes of the output's name are used;
/// - every character except letters, digits and `_-.+@=` becomes `_`;
/// - `_` is put before an empty name and before a leading dot;
/// - duplicates get a number: "logits", "logits_2", "logits_3".
std::vector<std::string>
outputFileNames(const std::vector<std::string> &outputs);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_OUTPUTNAMES_H
