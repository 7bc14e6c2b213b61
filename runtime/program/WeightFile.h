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
/// - exit codes 7 and 13: as for MappedFile::open();
/// - exit code 3: the weight file does not exist, a page cannot be read, or the
///   weight file changes during the call.
Status describeWeightFile(const std::string &path, program::WeightFileT &file);

/// Checks that the weight file at `path` matches `file`, the description that
/// the compiler wrote. Compares the size, the hashes of at most 16 pages of
/// 4096 bytes, and the modification time if `file.in_bundle` is false. A weight
/// file in the bundle may be a copy with another modification time. If
/// `everything` is true, also compares the hash of the whole weight file, if
/// `file` contains this hash. Returns an error with exit code 11 if the weight
/// file does not exist, differs from `file`, or changes during the check. Any
/// other error has an exit code of MappedFile::open().
Status checkWeightFile(const std::string &path,
                       const program::WeightFileT &file, bool everything);

/// Returns whether `path` is relative and has no component "..", so that it
/// stays inside the directory of the weight files.
bool isInsideRoot(const std::string &path);

/// Computes the 64-bit xxh3 hash of the whole file at `path`. Returns exit code
/// 7 if the file cannot be read.
Status hashFile(const std::string &path, uint64_t &hash);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_WEIGHTFILE_H
