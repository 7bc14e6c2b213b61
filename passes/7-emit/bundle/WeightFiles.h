//===- WeightFiles.h - identification and packing of weight files ---------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H
#define PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H

#include "passes/7-emit/bundle/BundleFolder.h"
#include "passes/7-emit/program/ProgramWriter.h"

namespace pcc::emit {

/// Stores a description of each weight file in all programs that read the file:
/// size in bytes, modification time, hashes of at most 16 pages of 4096 bytes,
/// and a hash of all bytes if the file has at most 1 GiB. A run reports an
/// error if a weight file no longer matches its description. Returns exit code
/// 3 if a weight file cannot be read, or if a weight extends beyond the end of
/// its file.
Status describeWeightFiles(std::vector<PositionProgram> &programs);

/// Copies all weights into the bundle, and makes the programs read the copies.
/// Writes one file per index along the pipeline axis of the mesh, such as
/// `weights/position-2.safetensors`. Keeps element types and shapes. Call
/// describeWeightFiles() on `programs` before this function.
Status packWeights(std::vector<PositionProgram> &programs,
                   BundleFolder &folder);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H
