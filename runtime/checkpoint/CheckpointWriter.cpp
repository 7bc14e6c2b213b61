//===- CheckpointWriter.cpp - sharded checkpoints of a training run -------===//

#include "runtime/checkpoint/CheckpointWriter.h"
#include "runtime/base/ScopedFolder.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/checkpoint/FileChanges.h"
#include "runtime/checkpoint/OwnedPieces.h"
#include "runtime/checkpoint/PublishCheckpoint.h"
#include "runtime/checkpoint/RankFile.h"
#include "runtime/comm/Agree.h"
#include "status/Counted.h"

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
    removeEmptyDirectory();
  }

  Status open(const CheckpointOptions &wanted,
              std::span<const StateTensor> held, const Mesh &mesh,
              const Coordinates &at, World &world) {
    options = wanted;
    this->world = &world;
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
    Status status = finish();
    if (!options.inBackground)
      return status.failed() ? status : write(position);
    // The previous save may have failed on rank 0 only. Rank 0 would then not
    // take part in this save, and could not delete the files that the other
    // ranks write for this checkpoint. Return the error on all ranks.
    status = agree(*world, status, action);
    if (status.failed())
      return status;
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
  /// Checks the tensors that the run saves. Returns an error with exit code 1,
  /// which means a defect of pcc, in each of these cases:
  ///
  /// - Two tensors have the same name.
  /// - The layout of a tensor is invalid. The layout defines which elements of
  ///   the tensor each rank holds. For example, a layout is invalid if it
  ///   splits two dims over the same mesh axis.
  Status checkTensors(const Mesh &mesh) const {
    std::set<std::string> names;
    for (const StateTensor &tensor : tensors) {
      const char *fault = findLayoutFault(tensor.layout, mesh, tensor.shape);
      if (!fault && !names.insert(tensor.name).second)
        fault = "is listed twice";
      if (fault)
        return Status::error(Defect, "the state of training has tensor '" +
                                         tensor.name + "', which " + fault);
    }
    return Status::success();
  }

  //===--------------------------------------------------------------------===//
  // Agreement on the directory
  //===--------------------------------------------------------------------===//

  /// Returns the path of the file or folder `name` in the directory of
  /// checkpoints.
  std::string path(const std::string &name) const {
    return options.directory + "/" + name;
  }

  /// Prepares the directory of checkpoints. All ranks must call this function.
  /// Sets `job` to the same random number on all ranks. Rank 0 creates and
  /// locks the directory, and creates an empty file in the directory. Each rank
  /// then checks that it sees this file. The path may mean another directory on
  /// a rank, for example on a local disk.
  ///
  /// Returns an error on all ranks if rank 0 cannot prepare the directory, or
  /// if a rank does not see the file.
  Status meet(World &world) {
    std::random_device random;
    uint64_t number = uint64_t(random()) << 32 | random();
    PCC_RETURN_IF_ERROR(
        world.all().broadcast(&number, sizeof number, 0, action));
    job = std::to_string(number);
    const std::string mark = path(unfinishedName(stepName(0), job));
    Status status = rank == 0 ? makeDirectory(mark) : Status::success();
    status = agree(world, status, action);
    if (status.failed())
      return status;
    if (access(mark.c_str(), F_OK) != 0)
      status = Status::error(
          InputOutput, "rank " + std::to_string(rank) +
                           " does not see the files that rank 0 writes to '" +
                           options.directory +
                           "'; checkpoints need a folder that all ranks share");
    status = agree(world, status, action);
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
    madeDirectory =
        std::filesystem::create_directories(options.directory, error);
    if (error)
      return Status::error(InputOutput, "cannot create directory '" +
                                            options.directory +
                                            "': " + error.message());
    lock =
        ::open(options.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // EWOULDBLOCK means that another run holds the lock. Any other error means
    // that the file system has no locks; this run then saves without a lock.
    if (flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      return Status::error(InputOutput, "another run saves checkpoints to '" +
                                            options.directory + "'");
    return changes.replaceFile(mark, "");
  }

  //===--------------------------------------------------------------------===//
  // Saving
  //===--------------------------------------------------------------------===//

  /// Copies the sub-tensors that this rank saves, so that training may change
  /// the tensors while the save is in progress.
  Status takeSnapshot() {
    snapshot.clear();
    for (const OwnedPiece &piece : pieces) {
      snapshot.emplace_back(new (std::nothrow) std::byte[piece.bytes]);
      if (!snapshot.back())
        return Status::error(NoDevice, "out of memory: no " +
                                           counted(piece.bytes, "byte") +
                                           " to save '" + piece.tensor->name +
                                           "' in the background");
      pack(piece, snapshot.back().get());
    }
    return Status::success();
  }

  /// Saves a checkpoint. `position` contains the number of the training step.
  /// Each rank writes its file to a folder with a temporary name, which all
  /// ranks share. Rank 0 then takes these steps:
  ///
  /// 1. Rank 0 waits for the files of all ranks.
  /// 2. Rank 0 writes the manifest and gives the folder its final name, such as
  ///    "step-00000008". A loader finds only folders with a final name.
  /// 3. Rank 0 deletes old checkpoints.
  Status write(const TrainingPosition &position) {
    const std::string name = stepName(position.step);
    const std::string folder =
        path(unfinishedName(name, job + "-" + std::to_string(numSaves++)));
    ScopedFolder guard, failedGuard;
    if (rank == 0) {
      guard.take(folder);
      failedGuard.take(failedName(folder));
    }
    PCC_RETURN_IF_ERROR(changes.makeFolder(folder));
    Status status = writeRankFile(changes, folder, rank, pieces, snapshot);
    snapshot.clear();
    if (status.failed() && rank != 0)
      noteFailure(folder, rank, status);
    if (rank != 0)
      return status;
    Manifest manifest{position, numRanks, options.model, options.weightsRoot,
                      options.planHash};
    // Wait for the other ranks even if `status` is an error: the destructor of
    // `guard` deletes `folder`, to which another rank may still write.
    Status collected = collectRanks(changes, folder, options.timeout, isGivenUp,
                                    manifest, status.failed() ? 1 : 0);
    if (status.failed() || collected.failed()) {
      guard.remove();
      failedGuard.remove();
      removeEmptyDirectory();
      return status.failed() ? status : collected;
    }
    status = publish(changes, options.directory, folder, name, manifest);
    if (status.ok()) {
      guard.keep();
      removeOldCheckpoints(changes, options.directory, name, job, options.keep);
    }
    return status;
  }

  /// Removes the directory of checkpoints if it is empty and this rank has
  /// created it.
  void removeEmptyDirectory() {
    if (madeDirectory)
      rmdir(options.directory.c_str());
  }

  const ActionId action{"checkpoint", "folder"};
  CheckpointOptions options;
  FileChanges changes;
  std::vector<StateTensor> tensors;
  std::vector<OwnedPiece> pieces;
  /// Copies of the sub-tensors that this rank saves. Entry i is a copy of the
  /// elements of the sub-tensor that `pieces[i]` describes.
  ///
  /// If `options.inBackground` is true, the thread `writer` writes the file of
  /// this rank while training continues and changes the tensors. The thread
  /// `writer` therefore writes the copies to the file, and not the tensors.
  /// When the file is complete, the thread `writer` deletes the copies.
  ///
  /// If `options.inBackground` is false, training waits until this rank has
  /// written its file. No copies are needed, and this list is empty.
  std::vector<std::unique_ptr<std::byte[]>> snapshot;
  World *world = nullptr;
  int rank = 0, numRanks = 1;
  /// Whether this rank has created the directory of checkpoints.
  bool madeDirectory = false;
  /// Random number in decimal digits; equal on all ranks of this run. The ranks
  /// write a checkpoint to a folder whose temporary name contains this number.
  /// For example, `job` is "5172". The temporary name of the first checkpoint
  /// of the run is then "step-00000008.tmp-5172-0", and the temporary name of
  /// the second checkpoint is "step-00000016.tmp-5172-1". Another run has
  /// another random number. Two runs therefore write to different folders.
  std::string job;
  int numSaves = 0;
  /// File descriptor of the directory of checkpoints. It holds the lock of the
  /// directory, if the file system has locks. It is -1 before the directory is
  /// opened.
  int lock = -1;
  /// Whether the destructor of this object has begun. During a save, rank 0
  /// waits until each rank has written its file to the folder of the
  /// checkpoint. If this flag becomes true during the wait, rank 0 stops
  /// waiting, and the save fails. The destructor would otherwise block until
  /// all ranks have written their files.
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
