//===- WeightFiles.h - identification and packing of weight files ---------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H
#define PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H

#include "passes/7-emit/bundle/BundleFolder.h"
#include "passes/7-emit/program/ProgramWriter.h"

namespace pcc::emit {

/// Stores in every program the data by which a run recognizes the weight files
/// that the program lists. For each file these are the size, the modification
/// time, and hashes of sampled pages. Files of up to 1 GiB also get a hash of
/// all bytes. Returns exit code 3 for a file that cannot be read, or that is
/// too short for a weight.
Status describeWeightFiles(std::vector<PositionProgram> &programs);

/// Copies the weights that pipeline position N reads to the new file
/// `weights/position-N.safetensors` of the bundle, and changes the position's
/// program to read that file. Each weight has the type and shape in which the
/// model's file stores it. Must be called after describeWeightFiles().
Status packWeights(std::vector<PositionProgram> &programs,
                   BundleFolder &folder);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H
