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

/// Copies the weights of the model into the bundle. Writes one file per
/// pipeline position. A position is a place in the pipeline. All ranks at one
/// position run the same pipeline stages and execute the same program. Example:
/// the file `weights/position-2.safetensors` holds all weights that the program
/// of position 2 reads.
///
/// `programs` has one program per position. Changes each program so that it
/// reads the new file. Each weight keeps the element type and the shape that it
/// has in the model's files. Must be called after describeWeightFiles(), which
/// stores the sizes and modification times of the model's files in `programs`.
Status packWeights(std::vector<PositionProgram> &programs,
                   BundleFolder &folder);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H
