//===- CheckpointWriter.cpp - sharded checkpoints of a training run -------===//

#include "runtime/checkpoint/CheckpointWriter.h"
#include "runtime/base/ScopedFolder.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/checkpoint/FileChanges.h"
#include "runtime/checkpoint/OwnedPieces.h"
#include "runtime/checkpoint/PublishCheckpoint.h"
#include "runtime/checkpoint/RankFile.h"
#include "runtime/comm/Agree.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <set>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace pcc::runtime {

class CheckpointWriter::Implementation {
public:
  ~Implementation() {
    isGivenUp = true;
    if (writer.joinable())
      writer.join();
    if (lock >= 0)
      close(lock);
  }

  Status open(const CheckpointOptions &wanted,
              std::span<const StateTensor> held, const Mesh &mesh,
              const Coordinates &at, World &world) {
    options = wanted;
    changes = FileChanges(options.onChange);
    tensors.assign(held.begin(), held.end());
    rank = world.rank();
    numRanks = world.size();
    LowestPositions lowest;
    Status status = checkTensors(mesh);
    if (status.ok())
      status = findLowestPositions(tensors, mesh, world, lowest);
    if (status.failed())
      return status;
    pieces = ownedPieces(tensors, mesh, at, lowest);
    return meet(world);
  }

  Status save(const TrainingPosition &position) {
    PCC_RETURN_IF_ERROR(finish());
    if (!options.inBackground)
      return write(position);
    PCC_RETURN_IF_ERROR(takeSnapshot());
    hasEnded = false;
    writer = std::thread([this, position] {
      last = write(position);
      hasEnded = true;
    });
    return Status::success();
  }

  Status check() {
    return writer.joinable() && hasEnded ? finish() : Status::success();
  }

  Status finish() {
    if (writer.joinable())
      writer.join();
    return std::exchange(last, Status::success());
  }

private:
  /// Checks that the layouts of all tensors are valid and that their names are
  /// unique. Otherwise returns an internal error (Defect).
  Status checkTensors(const Mesh &mesh) const {
    std::set<std::string> names;
    for (const StateTensor &tensor : tensors) {
      const char *fault = findLayoutFault(tensor.layout, mesh, tensor.shape);
      if (!fault && !names.insert(tensor.name).second)
        fault = "is listed twice";
      if (fault)
        return Status::error(Defect, "the state of training has tensor \"" +
                                         tensor.name + "\", which " + fault);
    }
    return Status::success();
  }

  //===--------------------------------------------------------------------===//
  // Agreement on the directory
  //===--------------------------------------------------------------------===//

  /// Returns the path of the entry `name` in the directory of checkpoints.
  std::string path(const std::string &name) const {
    return options.directory + "/" + name;
  }

  /// Creates the directory of checkpoints, and checks that all ranks share it:
  /// rank 0 creates a file there, and every other rank must see the file. Sets
  /// `job` to a random number that is equal on all ranks.
  Status meet(World &world) {
    std::random_device random;
    uint64_t number = uint64_t(random()) << 32 | random();
    PCC_RETURN_IF_ERROR(
        world.all().broadcast(&number, sizeof number, 0, action));
    job = std::to_string(number);
    const std::string mark = path(unfinishedName(stepName(0), job));
    Status status = rank == 0 ? makeDirectory(mark) : Status::success();
    status = agree(world, status, action,
                   "rank 0 cannot save checkpoints to \"" + options.directory +
                       "\"");
    if (status.failed())
      return status;
    if (access(mark.c_str(), F_OK) != 0)
      status = Status::error(
          InputOutput,
          "rank " + std::to_string(rank) +
              " does not see the files that rank 0 writes to \"" +
              options.directory +
              "\"; checkpoints need a folder that all ranks share");
    status =
        agree(world, status, action,
              "not all ranks share the folder \"" + options.directory + "\"");
    Status removed = rank == 0 ? changes.remove(mark) : Status::success();
    return status.failed() ? status : removed;
  }

  /// Creates the directory of checkpoints if it does not exist, and locks the
  /// directory with flock(). The lock prevents two training runs from saving to
  /// the same directory. Returns an error with exit code 7 if another training
  /// run holds the lock. If the file system has no locks, the function
  /// continues without a lock.
  ///
  /// Then creates an empty file in the directory. `mark` is the path of this
  /// file. Only rank 0 calls this function. Each other rank later checks that
  /// the file exists. If a rank does not find the file, the rank sees another
  /// directory than rank 0.
  Status makeDirectory(const std::string &mark) {
    std::error_code error;
    std::filesystem::create_directories(options.directory, error);
    if (error)
      return Status::error(InputOutput, "cannot create directory \"" +
                                            options.directory +
                                            "\": " + error.message());
    lock =
        ::open(options.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // EWOULDBLOCK means that another run holds the lock. Any other error means
    // that the file system has no locks; this run then saves without a lock.
    if (flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      return Status::error(InputOutput, "another run saves checkpoints to \"" +
                                            options.directory + "\"");
    return changes.replaceFile(mark, "");
  }

  //===--------------------------------------------------------------------===//
  // Saving
  //===--------------------------------------------------------------------===//

  /// Copies the tensor pieces (sub-tensors) that this rank saves, so that
  /// training may change the tensors while the save is in progress.
  Status takeSnapshot() {
    snapshot.clear();
    for (const OwnedPiece &piece : pieces) {
      snapshot.emplace_back(new (std::nothrow) std::byte[piece.bytes]);
      if (!snapshot.back())
        return Status::error(
            NoDevice, "out of memory: no " + std::to_string(piece.bytes) +
                          " bytes to save \"" + piece.tensor->name +
                          "\" in the background");
      pack(piece, snapshot.back().get());
    }
    return Status::success();
  }

  /// Writes this rank's file of a checkpoint. Rank 0 then waits for the files
  /// of all ranks, publishes the checkpoint, and deletes old checkpoints.
  Status write(const TrainingPosition &position) {
    const std::string name = stepName(position.step);
    const std::string folder =
        path(unfinishedName(name, job + "-" + std::to_string(numSaves++)));
    ScopedFolder guard;
    PCC_RETURN_IF_ERROR(changes.makeFolder(folder));
    if (rank == 0)
      guard.take(folder);
    Status status = writeRankFile(changes, folder, rank, pieces, snapshot);
    snapshot.clear();
    if (status.failed())
      noteFailure(folder, rank, status);
    if (rank != 0)
      return status;
    // At this point, `status` is an error if rank 0 could not write its own
    // file. Rank 0 continues even then, and waits in collectRanks() for the
    // files of all ranks. The reason is that the destructor of `guard` deletes
    // `folder` when this function returns an error. Rank 0 must not delete
    // `folder` while other ranks still write to it. collectRanks() also fills
    // `manifest`, which is the list of all saved tensors.
    Manifest manifest{position, numRanks, options.model, options.weightsRoot,
                      options.planHash};
    Status collected =
        collectRanks(changes, folder, options.timeout, isGivenUp, manifest);
    if (status.failed() || collected.failed())
      return status.failed() ? status : collected;
    status = publish(changes, options.directory, folder, name, manifest);
    if (status.ok()) {
      guard.keep();
      removeOldCheckpoints(changes, options.directory, name, job, options.keep);
    }
    return status;
  }

  const ActionId action{"checkpoint", "folder"};
  CheckpointOptions options;
  FileChanges changes;
  std::vector<StateTensor> tensors;
  std::vector<OwnedPiece> pieces;
  /// Copies of the tensor pieces (sub-tensors) that this rank saves; empty in a
  /// save without a background thread.
  std::vector<std::unique_ptr<std::byte[]>> snapshot;
  int rank = 0, numRanks = 1;
  /// Random number in the folder names of this run's unfinished saves; equal on
  /// all ranks.
  std::string job;
  int numSaves = 0;
  /// File descriptor that holds the lock of the directory of checkpoints; -1 if
  /// the directory is not locked.
  int lock = -1;
  /// Set to true by the destructor; rank 0 then stops waiting for the files of
  /// other ranks.
  std::atomic<bool> isGivenUp = false;
  /// Whether the background thread `writer` has finished its save.
  std::atomic<bool> hasEnded = false;
  std::thread writer;
  /// Result of the last background save.
  Status last = Status::success();
};

CheckpointWriter::CheckpointWriter()
    : implementation(std::make_unique<Implementation>()) {}
CheckpointWriter::~CheckpointWriter() = default;

Status CheckpointWriter::open(const CheckpointOptions &options,
                              std::span<const StateTensor> tensors,
                              const Mesh &mesh, const Coordinates &at,
                              World &world) {
  return implementation->open(options, tensors, mesh, at, world);
}

Status CheckpointWriter::save(const TrainingPosition &position) {
  return implementation->save(position);
}

Status CheckpointWriter::check() { return implementation->check(); }

Status CheckpointWriter::finish() { return implementation->finish(); }

} // namespace pcc::runtime
