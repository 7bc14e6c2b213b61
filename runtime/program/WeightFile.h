//===- WeightFile.h - identification of weight files ----------------------===//
//
// A bundle refers to the model's weight files by path. Weight files are large,
// so they are identified by size, modification time and the hashes of a few
// sampled pages.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_WEIGHTFILE_H
#define PCC_RUNTIME_PROGRAM_WEIGHTFILE_H

#include "runtime/program/Program_generated.h"
#include "status/Status.h"

#include <string>

namespace pcc::runtime {

/// Sets the size, the modification time and the page hashes of `file` to those
/// of the file at `path`. Reads at most 16 pages of 4096 bytes. Exit code 7 if
/// the file cannot be read.
Status describeWeightFile(const std::string &path, program::WeightFileT &file);

/// Checks that the file at `path` is the weight file that `file` describes.
/// Exit code 11, with the difference, if the file is missing or has changed.
/// Compares:
///
/// - the size;
/// - the modification time, unless the file is inside the bundle;
/// - the hashes of sampled pages;
/// - the hash of the whole file, if `everything` is true and `file` has one.
Status checkWeightFile(const std::string &path,
                       const program::WeightFileT &file, bool everything);

/// Computes the 64-bit xxh3 hash of the whole file at `path`. Returns exit code
/// 7 if the file cannot be read.
Status hashFile(const std::string &path, uint64_t &hash);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_WEIGHTFILE_H
