//===- WeightFiles.h - identification and packing of weight files ---------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H
#define PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H

#include "passes/7-emit/bundle/BundleFolder.h"
#include "passes/7-emit/program/ProgramWriter.h"

namespace pcc::emit {

/// Stores size, modification time and hashes of each weight file in the
/// programs that read it. A run compares them to detect a changed file. Hashes
/// sampled pages of each file. Also hashes all bytes of files up to 1 GiB.
/// Returns exit code 3 if a file is unreadable, or if a weight extends beyond
/// the end of its file.
Status describeWeightFiles(std::vector<PositionProgram> &programs);

/// Copies the weights of each position (virtual pipeline rank) to one file of
/// the bundle. Position 2 gets `weights/position-2.safetensors`. Makes the
/// programs read the new files. Keeps the types and shapes that the weights
/// have in the model's files. Must be called after describeWeightFiles().
Status packWeights(std::vector<PositionProgram> &programs,
                   BundleFolder &folder);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H
