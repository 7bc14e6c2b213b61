//===- OutputFiles.cpp - writes whole outputs from all ranks' parts -------===//

#include "runtime/engine/io/OutputFiles.h"
#include "runtime/base/FolderLock.h"
#include "runtime/base/Unfinished.h"
#include "runtime/comm/Agree.h"
#include "runtime/comm/BroadcastText.h"
#include "runtime/engine/io/OutputParts.h"
#include "runtime/tensor/Npy.h"
#include "runtime/tensor/OutputNames.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace pcc::runtime {

static Status cannotWrite(const std::string &path, int error) {
  return Status::error(InputOutput,
                       "cannot write '" + path + "': " + std::strerror(error));
}

namespace {
/// The .npy file of one output while it is being written.
struct OutputFile {
  /// Name of the file, such as "logits.npy".
  std::string name;
  /// Path that the file has in the end, such as "out/logits.npy". Here "out" is
  /// the output directory. While the ranks write the file, the file is in a
  /// temporary folder. Rank 0 then moves the file to this path.
  std::string path;
  /// Size in bytes of the .npy header, which precedes the elements.
  int64_t dataOffset;
  /// Size in bytes of all elements of the output.
  int64_t bytes;
  int descriptor = -1;
};

/// Writes elements of outputs to the output files. Several ranks can write to
/// one file at once, by pwrite().
class FileSink : public OutputSink {
public:
  explicit FileSink(std::vector<OutputFile> &files) : files(files) {}

  /// Writes `size` bytes from the address `data` to the .npy file of one
  /// output. `output` is the number of this output in the program. `offset` is
  /// the place in the file, in bytes after the start of the first element. The
  /// header of the file is before the first element, so a negative `offset` is
  /// a place in the header. For example, a header of 128 bytes begins at offset
  /// -128.
  Status write(size_t output, int64_t offset, const void *data,
               size_t size) override {
    OutputFile &file = files[output];
    const char *next = static_cast<const char *>(data);
    offset += file.dataOffset;
    while (size > 0) {
      const ssize_t written = pwrite(file.descriptor, next, size, offset);
      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0)
        return cannotWrite(file.path, errno);
      next += written;
      offset += written;
      size -= size_t(written);
    }
    return Status::success();
  }

private:
  std::vector<OutputFile> &files;
};

/// Collects elements of the model's outputs in one message, which this rank
/// later sends to rank 0. Each call of write() appends a range of the bytes of
/// one output. In the message, three int64 values come before the bytes:
///
/// - the number of the output in the program
/// - the offset of the range from the first element of this output, in bytes
/// - the size of the range in bytes
class MessageSink : public OutputSink {
public:
  Status write(size_t output, int64_t offset, const void *data,
               size_t size) override {
    const std::array<int64_t, 3> head = {int64_t(output), offset,
                                         int64_t(size)};
    append(head.data(), sizeof head);
    append(data, size);
    return Status::success();
  }

  std::vector<char> bytes;

private:
  void append(const void *data, size_t size) {
    const char *begin = static_cast<const char *>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  }
};

/// Writes the outputs to files, together with all other ranks. Rank 0 creates
/// the files. Then every rank writes its own elements to the files. If a rank
/// cannot open the files, all ranks send their elements to rank 0 instead, and
/// rank 0 writes all elements.
///
/// The ranks exchange their errors twice: after rank 0 has created the files,
/// and after all ranks have written their elements. If one rank has an error,
/// all ranks return an error and do not continue. Without this exchange, the
/// other ranks would wait for the rank that has the error.
class OutputWriter {
public:
  OutputWriter(const program::ProgramT &program, const Mesh &mesh,
               const Coordinates &at, const std::string &directory,
               HostBuffers &buffers, World &world)
      : program(program), directory(directory), world(world),
        parts(program, mesh, at, buffers) {
    std::vector<std::string> names;
    for (const auto &output : program.outputs)
      names.push_back(output->name);
    names = outputFileNames(names);
    for (size_t i = 0; i < names.size(); ++i) {
      const program::OutputT &output = *program.outputs[i];
      const ElementType type = npyTypeOf(typeOf(output.type));
      files.push_back({names[i], directory + "/" + names[i],
                       int64_t(npyHeader(type, output.shape).size()),
                       numElements(output.shape) * int64_t(sizeOf(type))});
    }
  }

  ~OutputWriter() {
    for (OutputFile &file : files)
      if (file.descriptor >= 0)
        close(file.descriptor);
  }

  /// Writes the outputs of the model. Each output becomes one .npy file in the
  /// output directory. First, rank 0 creates the files in a temporary folder.
  /// Then the ranks write the elements. In the end, rank 0 moves the files to
  /// the output directory. All ranks must call this function.
  Status run() {
    Status status = isRoot() ? createFiles() : Status::success();
    if (status = agree(status); status.failed())
      return finish(std::move(status));
    PCC_RETURN_IF_ERROR(shareFolder());
    bool collects = !isRoot() && !openFiles();
    if (status = anyOf(collects); status.failed())
      return finish(std::move(status));
    status = collects ? writeThroughRoot() : parts.write(toFiles);
    status = agree(closeFiles(std::move(status)));
    return finish(std::move(status));
  }

private:
  bool isRoot() const { return world.rank() == 0; }

  /// Returns an error on all ranks if `mine` is an error on any rank.
  Status agree(const Status &mine) {
    return runtime::agree(world, mine, action);
  }

  /// Sets `flag` to true on all ranks if `flag` is true on at least one rank.
  /// Otherwise `flag` remains false on all ranks. All ranks must call this
  /// function.
  Status anyOf(bool &flag) {
    int32_t value = flag;
    Status status = world.all().allReduce(&value, &value, 1, ElementType::I32,
                                          dist::ReductionKind::Max, action);
    flag = value != 0;
    return status;
  }

  /// Creates the output directory, if necessary, and a temporary folder in this
  /// directory. In the temporary folder, creates one .npy file per output, and
  /// writes the header of each file. Only rank 0 calls this function.
  ///
  /// Also reserves disk space for all elements of the outputs. If the disk has
  /// too little space, the function thus returns an error before the ranks
  /// write their elements.
  Status createFiles() {
    std::error_code error;
    madeDirectory = std::filesystem::create_directories(directory, error);
    if (error)
      return Status::error(InputOutput, "cannot create directory '" +
                                            directory +
                                            "': " + error.message());
    PCC_RETURN_IF_ERROR(unfinished.createFolder(directory + "/outputs"));
    for (size_t i = 0; i < files.size(); ++i) {
      OutputFile &file = files[i];
      file.descriptor = open((unfinished.path() + "/" + file.name).c_str(),
                             O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file.descriptor < 0)
        return cannotWrite(file.path, errno);
      const int failure =
          posix_fallocate(file.descriptor, 0, file.dataOffset + file.bytes);
      if (failure != 0)
        return cannotWrite(file.path, failure);
      const program::OutputT &output = *program.outputs[i];
      const std::string header =
          npyHeader(npyTypeOf(typeOf(output.type)), output.shape);
      PCC_RETURN_IF_ERROR(
          toFiles.write(i, -file.dataOffset, header.data(), header.size()));
    }
    return Status::success();
  }

  /// Sends the path of the folder with the unfinished files from rank 0 to all
  /// ranks.
  Status shareFolder() {
    folder = unfinished.path();
    return broadcastText(world, 0, folder, action);
  }

  /// Opens the files that rank 0 has created. Returns false if this rank cannot
  /// see them, for example on another file system.
  bool openFiles() {
    for (OutputFile &file : files) {
      file.descriptor =
          open((folder + "/" + file.name).c_str(), O_RDWR | O_CLOEXEC);
      struct stat info = {};
      if (file.descriptor < 0 || fstat(file.descriptor, &info) != 0 ||
          info.st_size != file.dataOffset + file.bytes)
        return false;
    }
    return true;
  }

  /// Closes all files. Returns `status` if it is an error, otherwise the first
  /// error of close(). close() may report an earlier failed write.
  Status closeFiles(Status status) {
    for (OutputFile &file : files) {
      const bool failed = file.descriptor >= 0 && close(file.descriptor) != 0;
      file.descriptor = -1;
      if (failed && status.ok())
        status = cannotWrite(file.path, errno);
    }
    return status;
  }

  /// Moves all files from the temporary folder to the output directory. Locks
  /// the directory during this time. Without the lock, two runs could move
  /// their files to the directory at the same time. The directory could then
  /// have the first output of one run and the second output of the other run.
  ///
  /// Returns an error if another process locks the directory for 10 seconds, or
  /// if a file cannot be moved.
  Status renameFiles() {
    const FolderLock lock(directory, /*tries=*/1000);
    if (lock.isBusy())
      return Status::error(InputOutput,
                           "cannot write outputs to '" + directory +
                               "': another process has locked it for 10 s");
    std::error_code ignored;
    for (const OutputFile &file : files)
      if (std::filesystem::is_directory(file.path, ignored))
        return cannotWrite(file.path, EISDIR);
    for (const OutputFile &file : files)
      if (rename((folder + "/" + file.name).c_str(), file.path.c_str()) != 0)
        return cannotWrite(file.path, errno);
    return Status::success();
  }

  /// Moves or deletes the output files, which rank 0 has created in a temporary
  /// folder:
  ///
  /// - If `status` is a success, all elements have been written to the files.
  ///   Rank 0 moves the files to the output directory.
  /// - If `status` is an error, at least one rank has failed. Rank 0 deletes
  ///   the files.
  ///
  /// All ranks must call this function. Each rank waits until rank 0 has moved
  /// or deleted the files.
  Status finish(Status status) {
    if (isRoot()) {
      if (status.ok())
        status = renameFiles();
      unfinished.abandon();
      if (status.failed() && madeDirectory)
        rmdir(directory.c_str());
    }
    // Wait until rank 0 has moved or deleted the output files. Without this
    // barrier, a rank with an error would return at once. The error of one rank
    // ends all ranks. Rank 0 could thus end before rank 0 has deleted the
    // files.
    Status left = world.all().barrier(action);
    return status.failed() ? status : left;
  }

  /// Sends the output elements of all ranks to rank 0, which writes them to the
  /// files. Every rank except rank 0 sends one message with all its elements.
  /// The ranks send their messages one after the other, so that rank 0 needs
  /// memory for only one received message.
  ///
  /// If rank 0 cannot write the elements of a message, rank 0 writes no more
  /// elements. However, rank 0 still receives the messages of the remaining
  /// ranks. Each of these ranks waits until rank 0 has received the message of
  /// the rank. If rank 0 did not receive the message, the rank would fail after
  /// a time limit.
  Status writeThroughRoot() {
    MessageSink sink;
    Status written = parts.write(sink);
    // If this rank has an error, it must not return yet. The other ranks would
    // wait for this rank in the call of allGather() below. This rank therefore
    // calls allGather(), too, and announces a message of 0 bytes. Rank 0
    // expects no message from a rank that announces 0 bytes.
    if (written.failed())
      sink.bytes.clear();
    const auto size = int64_t(sink.bytes.size());
    std::vector<int64_t> sizes(size_t(world.size()));
    PCC_RETURN_IF_ERROR(
        world.all().allGather(&size, sizes.data(), sizeof size, action));
    if (isRoot() && written.ok())
      written = unpack(sink.bytes);
    for (int rank = 1; rank < world.size(); ++rank)
      PCC_RETURN_IF_ERROR(
          moveToRoot(rank, sizes[size_t(rank)], sink.bytes, written));
    return written;
  }

  /// Moves one message from rank number `rank` to rank 0. The message has
  /// `size` bytes, and contains elements of the outputs. All ranks call this
  /// function:
  ///
  /// - Rank number `rank` sends the message, which is in `mine`.
  /// - Rank 0 receives the message, and writes the elements to the output
  ///   files. If the write fails, rank 0 stores the error in `written`. If
  ///   `written` already has an error, rank 0 receives the message, but writes
  ///   nothing.
  /// - Every other rank returns at once.
  Status moveToRoot(int rank, int64_t size, std::vector<char> &mine,
                    Status &written) {
    if (size == 0 || (!isRoot() && world.rank() != rank))
      return Status::success();
    if (!isRoot()) {
      const PeerBuffer piece{0, mine.data(), size_t(size)};
      return world.all().exchange({&piece, 1}, {}, action);
    }
    std::vector<char> theirs(static_cast<size_t>(size));
    const PeerBuffer piece{rank, theirs.data(), theirs.size()};
    Status status = world.all().exchange({}, {&piece, 1}, action);
    if (status.ok() && written.ok())
      written = unpack(theirs);
    return status;
  }

  /// Writes the elements in `message` to the output files. The message is a
  /// list of byte ranges. Each range has three int64 values before its bytes:
  ///
  /// - the number of the output in the program
  /// - the offset of the range from the first element of this output, in bytes
  /// - the size of the range in bytes
  Status unpack(const std::vector<char> &message) {
    for (size_t next = 0; next < message.size();) {
      std::array<int64_t, 3> head;
      std::memcpy(head.data(), message.data() + next, sizeof head);
      next += sizeof head;
      PCC_RETURN_IF_ERROR(toFiles.write(
          size_t(head[0]), head[1], message.data() + next, size_t(head[2])));
      next += size_t(head[2]);
    }
    return Status::success();
  }

  const program::ProgramT &program;
  const std::string &directory;
  World &world;
  OutputParts parts;
  std::vector<OutputFile> files;
  Unfinished unfinished; ///< folder for the files, on rank 0
  std::string folder;    ///< path of that folder, on all ranks
  FileSink toFiles{files};
  bool madeDirectory = false;
  const ActionId action{"write", "outputs"};
};
} // namespace

Status writeOutputs(const program::ProgramT &program, const Mesh &mesh,
                    const Coordinates &at, const std::string &directory,
                    HostBuffers &buffers, World &world) {
  return OutputWriter(program, mesh, at, directory, buffers, world).run();
}

} // namespace pcc::runtime
