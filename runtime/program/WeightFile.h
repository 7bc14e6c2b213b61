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

/// Computes a description of the weight file at `path`, and stores the
/// description in `file`. The description consists of the size in bytes, the
/// modification time and the hashes of some pages. A page is a range of 4096
/// bytes of the weight file. The function hashes at most 16 pages. Returns an
/// error in these cases:
///
/// - exit code 7: the weight file cannot be opened;
/// - exit code 3: a page cannot be read, or the weight file changes during the
///   call.
Status describeWeightFile(const std::string &path, program::WeightFileT &file);

/// Checks that a weight file has not changed since the model was compiled.
/// `path` is the path of the weight file. `file` is the description of the
/// weight file that the compiler wrote. Returns an error with exit code 11 if
/// the weight file cannot be opened, differs from the description, or changes
/// during the check. The error message states the reason.
///
/// The function compares these properties of the weight file with the
/// description:
///
/// - the size in bytes;
/// - the modification time, if `file.in_bundle` is false;
/// - the hashes of some pages of 4096 bytes. The description contains the
///   hashes of at most 16 pages;
/// - the hash of the whole weight file, if `everything` is true and the
///   description contains this hash.
///
/// `file.in_bundle` is true if the weight file may be a copy of the file that
/// the compiler described. A copy has the same content, but may have another
/// modification time.
Status checkWeightFile(const std::string &path,
                       const program::WeightFileT &file, bool everything);

/// Computes the 64-bit xxh3 hash of the whole file at `path`. Returns exit code
/// 7 if the file cannot be read.
Status hashFile(const std::string &path, uint64_t &hash);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_WEIGHTFILE_H
