//===- WeightFiles.h - identification and packing of weight files ---------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H
#define PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H

#include "passes/7-emit/bundle/BundleFolder.h"
#include "passes/7-emit/program/ProgramWriter.h"

namespace pcc::emit {

/// Records in every program how a run recognizes its weight files: by size,
/// modification time and hashes of sampled pages. Files up to 1 GiB are also
/// hashed as a whole. Returns exit code 3 for a file that cannot be read.
runtime::Status describeWeightFiles(std::vector<PositionProgram> &programs);

/// Copies the weights that each position reads to
/// `weights/position-N.safetensors` of the bundle, and changes the programs to
/// read them there. Every weight is one tensor in the model's stored type and
/// shape. Must come after describeWeightFiles().
runtime::Status packWeights(std::vector<PositionProgram> &programs,
                            BundleFolder &folder);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H
