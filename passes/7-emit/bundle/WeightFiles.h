//===- WeightFiles.h - identification and packing of weight files ---------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H
#define PCC_PASSES_7_EMIT_BUNDLE_WEIGHTFILES_H

#include "passes/7-emit/bundle/BundleFolder.h"
#include "passes/7-emit/program/ProgramWriter.h"

namespace pcc::emit {

/// Stores a description of each weight file in all programs that read the
/// weight file. A program contains the instructions that one or more ranks
/// execute. A run compares each weight file with its description, and reports
/// an error if the weight file has changed since the compilation. The
/// description contains these properties of the weight file:
///
///   - The size in bytes.
///   - The modification time.
///   - Hashes of at most 16 pages, one hash per page. A page has 4096 bytes.
///     The pages are spread evenly over the weight file.
///   - One hash of all bytes, if the weight file is not larger than 1 GiB.
///
/// Returns exit code 3 if a weight file cannot be read, or if a weight extends
/// beyond the end of its file.
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
