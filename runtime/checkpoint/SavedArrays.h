//===- SavedArrays.h - tensors of a checkpoint as .npy files --------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_SAVEDARRAYS_H
#define PCC_RUNTIME_CHECKPOINT_SAVEDARRAYS_H

#include "runtime/checkpoint/CheckpointReader.h"

#include <map>
#include <string>

namespace pcc::runtime {

/// Writes each tensor of the newest checkpoint in `directory`, a parameter or
/// optimizer state, as a .npy file in the existing folder `folder`. Adds the
/// paths of the files to `files`, by the tensor's name. Elements of bf16 are
/// written as f32. Returns exit code 7 if a file cannot be written; further
/// errors are those of findCheckpoints() and CheckpointReader.
Status writeSavedArrays(const std::string &directory, const std::string &folder,
                        std::map<std::string, std::string> &files);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_SAVEDARRAYS_H
