//===- WeightFile.h - recognising the files that weights lie in -----------===//

#ifndef PCC_RUNTIME_PROGRAM_WEIGHTFILE_H
#define PCC_RUNTIME_PROGRAM_WEIGHTFILE_H

#include "runtime/base/Status.h"
#include "runtime/program/Program_generated.h"

#include <string>

namespace pcc::runtime {

/// Fills size, modification time and the hashes of sampled pages of `path`;
/// reads a few pages whatever the size. Leaves `file.path` alone.
Status describeWeightFile(const std::string &path, program::WeightFileT &file);

/// Whether the file at `path` is still the one described; exit code 11 says
/// what differs. `everything` compares the hash of the whole file too, if
/// recorded.
Status checkWeightFile(const std::string &path,
                       const program::WeightFileT &file, bool everything);

/// xxh3 of the whole file.
Status hashFile(const std::string &path, uint64_t &hash);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_WEIGHTFILE_H
