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
/// of the file at `path`. Reads at most 16 pages of 4096 bytes. Returns an
/// error with exit code 7 if the file cannot be opened, 3 if it changes or a
/// page cannot be read.
Status describeWeightFile(const std::string &path, program::WeightFileT &file);

/// Checks that a weight file has not changed since the model was compiled.
/// `path` is the path of the weight file. `file` is the description of the
/// weight file that the compiler wrote. Returns an error with exit code 11 if
/// the weight file cannot be opened, differs from the description, or changes
/// during the check. The error message states the reason.
///
/// The function compares these properties with the description:
///
/// - the size in bytes;
/// - the modification time, unless `file.in_bundle` is true, because the weight
///   file may then be a copy with another modification time;
/// - the hashes of at most 16 pages of 4096 bytes, which describeWeightFile()
///   computed;
/// - the hash of the whole weight file, if `everything` is true and the
///   description contains this hash.
Status checkWeightFile(const std::string &path,
                       const program::WeightFileT &file, bool everything);

/// Computes the 64-bit xxh3 hash of the whole file at `path`. Returns exit code
/// 7 if the file cannot be read.
Status hashFile(const std::string &path, uint64_t &hash);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_WEIGHTFILE_H
