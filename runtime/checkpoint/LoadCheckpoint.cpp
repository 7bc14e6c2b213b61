//===- LoadCheckpoint.cpp - resuming a training run under any plan --------===//

#include "runtime/checkpoint/LoadCheckpoint.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/checkpoint/CheckpointReader.h"
#include "runtime/checkpoint/LowestPositions.h"
#include "runtime/comm/Agree.h"
#include "runtime/comm/BroadcastText.h"
#include "runtime/tensor/Npy.h"

namespace pcc::runtime {

namespace {
/// Tries one checkpoint after another, until all ranks have loaded the same
/// checkpoint. Starts with the checkpoint that the file `latest` names. The
/// other checkpoints follow, newest first.
///
/// Each rank gets an exit code from its attempt, where 0 means success. An
/// all-reduce computes the maximum of the exit codes of all ranks:
///
/// - The maximum is 0: All ranks have loaded the checkpoint.
/// - The maximum is 7 or 11: At least one rank cannot read the checkpoint, or
///   finds it damaged. All ranks try the next checkpoint. If there is no next
///   checkpoint, all ranks return an error.
/// - The maximum is any other value: All ranks return an error.
class Loader {
public:
  Loader(const std::string &directory, std::span<const StateTensor> tensors,
         const Mesh &mesh, const Coordinates &at, World &world,
         LoadedCheckpoint &loaded)
      : directory(directory), tensors(tensors), mesh(mesh), at(at),
        world(world), loaded(loaded) {}

  Status run() {
    PCC_RETURN_IF_ERROR(findLowestPositions(tensors, mesh, world, known));
    std::vector<std::string> folders;
    PCC_RETURN_IF_ERROR(findFolders(folders));
    std::vector<std::string> damages;
    for (const std::string &folder : folders) {
      Status status = load(folder);
      int32_t worst = status.code();
      PCC_RETURN_IF_ERROR(
          world.all().allReduce(&worst, &worst, 1, ElementType::I32,
                                dist::ReductionKind::Max, action));
      if (status.ok() && worst != Done)
        status = Status::error(ExitCode(worst),
                               "another rank cannot load its part of '" +
                                   folder + "'");
      const bool isDamaged = worst == DamagedBundle || worst == InputOutput;
      if (!isDamaged || folders.size() == 1)
        return end(std::move(status), damages);
      damages.push_back("checkpoint skipped: " + status.message());
    }
    return Status::error(DamagedBundle,
                         "no valid checkpoint in '" + directory + "'", damages);
  }

private:
  /// Sets `folders` to the paths of all checkpoints in the directory. All ranks
  /// get the same list: only rank 0 reads the directory, and then broadcasts
  /// the list. If each rank read the directory itself, the lists could differ.
  /// For example, another process could delete a checkpoint after rank 0 has
  /// read the directory, and before rank 1 reads the directory. If rank 0 finds
  /// no checkpoint, the function returns an error on all ranks.
  Status findFolders(std::vector<std::string> &folders) {
    std::string text;
    Status status = world.rank() == 0 ? listFolders(text) : Status::success();
    if (status = agree(world, status, action); status.failed())
      return status;
    status = broadcastText(world, 0, text, action);
    for (size_t begin = 0; status.ok() && begin < text.size();) {
      const size_t end = text.find('\0', begin);
      folders.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return status;
  }

  /// Searches `directory` for checkpoints, and sets `text` to their paths. A
  /// zero byte follows each path, because a path may have any other byte.
  Status listFolders(std::string &text) const {
    std::vector<std::string> found;
    PCC_RETURN_IF_ERROR(findCheckpoints(directory, found));
    for (const std::string &folder : found)
      text += folder + '\0';
    return Status::success();
  }

  /// Inserts `damages` at the front of `loaded.notes`, the messages for the
  /// user, and returns `status`. `damages` has one message for each checkpoint
  /// that was skipped because it was damaged or could not be read.
  /// `loaded.notes` has only messages about the last tried checkpoint, because
  /// load() clears the list. All messages are then in the order in which the
  /// checkpoints were tried.
  Status end(Status status, const std::vector<std::string> &damages) {
    loaded.notes.insert(loaded.notes.begin(), damages.begin(), damages.end());
    return status;
  }

  /// Loads this rank's shards of all tensors from the checkpoint at `folder`.
  Status load(const std::string &folder) {
    loaded.folder = folder;
    loaded.notes.clear();
    CheckpointReader saved;
    Status status = CheckpointReader::open(folder, saved);
    if (status.ok())
      status = checkExtra(saved.manifest());
    for (const StateTensor &tensor : tensors)
      if (status.ok())
        status = readTensor(saved, tensor);
    loaded.position = saved.manifest().position;
    return status;
  }

  /// Finds the tensors of a checkpoint that no rank of this run holds.
  /// `manifest` lists the tensors of the checkpoint.
  ///
  /// - If such a tensor is a trained parameter, the checkpoint belongs to
  ///   another model. The function returns an error with exit code 6.
  /// - Any other such tensor is ignored. The function adds one message about
  ///   all ignored tensors to `loaded.notes`, the messages for the user. For
  ///   example, the checkpoint contains moments of Adam, and this run trains
  ///   with SGD.
  Status checkExtra(const Manifest &manifest) {
    std::vector<std::string> unused;
    for (const SavedTensor &tensor : manifest.tensors) {
      if (known.count(tensor.name))
        continue;
      if (tensor.trained && !tensor.isState)
        return unfit("has trained parameter '" + tensor.name +
                     "', which this run does not have");
      unused.push_back(tensor.name);
    }
    if (!unused.empty())
      loaded.notes.push_back(
          "this run does not use tensor '" + unused[0] + "'" +
          (unused.size() == 1
               ? ""
               : " and " + std::to_string(unused.size() - 1) + " more") +
          " of checkpoint '" + loaded.folder + "'");
    return Status::success();
  }

  /// Reads this rank's shard of one tensor from the checkpoint `saved`.
  Status readTensor(CheckpointReader &saved, const StateTensor &tensor) const {
    const SavedTensor *found = saved.manifest().find(tensor.name);
    if (!found)
      return unfit("has no tensor '" + tensor.name + "'");
    if (found->shape != tensor.shape)
      return unfit("has tensor '" + tensor.name + "' of shape " +
                   toString(found->shape) + ", this run needs " +
                   toString(tensor.shape));
    if (found->type != tensor.type)
      return unfit("has tensor '" + tensor.name + "' of type " +
                   std::string(nameOf(found->type)) + ", this run needs " +
                   std::string(nameOf(tensor.type)));
    return saved.read(*found, localPart(tensor.layout, mesh, at), tensor.data);
  }

  /// Returns an error with exit code 6 for a checkpoint that belongs to another
  /// model than this run. `why` is the end of the message. For example, if
  /// `why` starts with "has no tensor", the message is:
  ///
  ///   checkpoint "out/step-00000008" has no tensor "w"
  Status unfit(const std::string &why) const {
    return Status::error(CannotMeet,
                         "checkpoint '" + loaded.folder + "' " + why);
  }

  const std::string &directory;
  const std::span<const StateTensor> tensors;
  const Mesh &mesh;
  const Coordinates &at;
  World &world;
  LoadedCheckpoint &loaded;
  const ActionId action{"checkpoint", "load"};
  /// Names of all tensors that any rank of this run holds. The names are the
  /// keys of a map that findLowestPositions() fills. The values of the map are
  /// pipeline coordinates, which this class does not use.
  LowestPositions known;
};
} // namespace

Status loadCheckpoint(const std::string &directory,
                      std::span<const StateTensor> tensors, const Mesh &mesh,
                      const Coordinates &at, World &world,
                      LoadedCheckpoint &loaded) {
  return Loader(directory, tensors, mesh, at, world, loaded).run();
}

} // namespace pcc::runtime
