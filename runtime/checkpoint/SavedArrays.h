//===- SavedArrays.h - tensors of a checkpoint as .npy files --------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_SAVEDARRAYS_H
#define PCC_RUNTIME_CHECKPOINT_SAVEDARRAYS_H

#include "runtime/checkpoint/CheckpointReader.h"

#include <map>
#include <string>

namespace pcc::runtime {

/// Writes the tensors of the newest checkpoint in `directory` as .npy files,
/// one file per tensor. The tensors are parameters of the model and state of
/// the optimizer. The files are created in the folder `folder`, which must
/// exist. Adds one entry per tensor to the map `files`: the key is the name of
/// the tensor, and the value is the path of its file. Elements of type bf16 are
/// converted to f32, because NumPy has no bf16.
///
/// Returns exit code 7 if a file cannot be written. Other errors come from
/// findCheckpoints() and CheckpointReader, which read the checkpoint.
Status writeSavedArrays(const std::string &directory, const std::string &folder,
                        std::map<std::string, std::string> &files);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_SAVEDARRAYS_H
