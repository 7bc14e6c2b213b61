//===- CheckpointFolder.h - the names in a folder of checkpoints ----------===//

#ifndef PCC_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
#define PCC_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pcc::runtime {

inline constexpr char kManifestName[] = "manifest.json";
inline constexpr char kLatestName[] = "latest";

/// "step-00000008"
std::string stepName(int64_t step);
/// The name of what has been that step's checkpoint while another takes its
/// place; a checkpoint still: "step-00000008.replaced".
std::string replacedName(const std::string &step);
/// What a job's save is called while it is unfinished.
std::string unfinishedName(const std::string &step, const std::string &job);

/// "rank-003.safetensors"; "rank-003.json"; "rank-003.failed"
std::string rankFileName(int rank, const char *ending);

/// Names of the checkpoints in `directory`, whole or damaged, the one to try
/// first in front: what `latest` names, then by step, the last first. Exit code
/// 10 if the directory is absent, 7 if it cannot be read.
Status listCheckpoints(const std::string &directory,
                       std::vector<std::string> &names);

/// The paths of those in which a loader may look: all of `directory`, or that
/// alone if it is a checkpoint itself. Exit code 10 if there are none.
Status findCheckpoints(const std::string &directory,
                       std::vector<std::string> &folders);

/// Names of what saves that have died left in `directory`.
std::vector<std::string> listUnfinished(const std::string &directory);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
