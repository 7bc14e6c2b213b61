//===- FileClaims.h - files that a command reads and writes ---------------===//

#ifndef PCC_RUNTIME_BASE_CLAIM_FILECLAIMS_H
#define PCC_RUNTIME_BASE_CLAIM_FILECLAIMS_H

#include "status/Status.h"

#include <filesystem>
#include <string>
#include <vector>

namespace pcc::runtime {

/// The files that one command reads and writes. Finds outputs that would
/// replace an input or another output. Compares files, not texts: "a", "./a"
/// and links to the file "a" are the same file.
///
/// Some folders have fixed content: a bundle, a checkpoint, and a folder of
/// checkpoints. An output may lie in such a folder, unless its name is one that
/// pcc itself gives to files there, such as rank-000 or latest.
class FileClaims {
public:
  /// Adds a file or a folder of fixed content that must stay as it is. `reason`
  /// is a verb phrase such as "the run reads". The message of check() ends in
  /// this phrase and the path. Does nothing if `path` is empty.
  void keep(const std::string &reason, const std::string &path);
  /// Adds the existing files directly in `folder` whose names end in `ending`,
  /// such as ".npy".
  void keepFilesIn(const std::string &reason, const std::string &folder,
                   const std::string &ending);
  /// Adds an output file. `option` names the option that asks for it. Does
  /// nothing for a path that is empty or "-", a device or a pipe, as these are
  /// not replaced.
  void write(const std::string &option, const std::string &path);
  /// Adds a bundle as an output, which replaces a bundle at `path`. No other
  /// output may lie in it.
  void writeBundle(const std::string &option, const std::string &path);

  /// Returns an error with exit code 7 for the first output that is a folder,
  /// or would replace an input or another output. The message names the option
  /// and both paths.
  Status check() const;

private:
  /// A file or a folder that the command uses.
  struct ClaimedPath {
    /// Option of an output, or reason of an input.
    std::string why;
    /// The path as the user has written it.
    std::string path;
    /// The path without links and relative parts.
    std::filesystem::path resolved;
    /// Whether the command writes a bundle to the path.
    bool isBundle = false;
  };

  static ClaimedPath claimOf(const std::string &why, const std::string &path);
  static bool isReplacedBy(const ClaimedPath &kept, const ClaimedPath &output);
  Status checkOutput(size_t number) const;

  std::vector<ClaimedPath> inputs, outputs;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_CLAIM_FILECLAIMS_H
