//===- WeightFiles.h - the files that parameters point into ---------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H
#define PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H

#include "passes/7-emit/bundle/BundleFolder.h"
#include "passes/7-emit/program/ProgramWriter.h"

namespace pcc::emit {

/// Records in every program by what its weight files are recognised: size, time
/// and hashes of a few pages; nothing else of them is read. Exit code 3 for a
/// file that cannot be.
runtime::Status describeWeightFiles(std::vector<PositionProgram> &programs);

/// Copies what each position reads to `weights/position-N.safetensors` of the
/// bundle, a tensor per weight as it is stored in the model, and lets the
/// programs point there.
runtime::Status packWeights(std::vector<PositionProgram> &programs,
                            BundleFolder &folder);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H
