//===- WeightFiles.cpp - identification and packing of weight files -------===//

#include "passes/7-emit/bundle/WeightFiles.h"
#include "runtime/base/MappedFile.h"
#include "runtime/program/Program.h"
#include "runtime/program/WeightFile.h"
#include "runtime/tensor/Safetensors.h"
#include "status/Counted.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <tuple>

using namespace pcc;
using namespace pcc::emit;

/// Returns the path of the weight file `file` of the model. If the string
/// `program.weights_root` is not empty, it is a folder, and `file.path` is a
/// path within this folder. Example: the folder "/models/gpt" and the file path
/// "a.safetensors" give "/models/gpt/a.safetensors". If the string is empty,
/// returns `file.path` unchanged.
static std::string pathOf(const program::ProgramT &program,
                          const program::WeightFileT &file) {
  return program.weights_root.empty() ? file.path
                                      : program.weights_root + "/" + file.path;
}

/// Largest size, in bytes, of a weight file for which the compiler computes a
/// hash of all bytes. For a larger weight file, the compiler computes only the
/// hashes of 16 pages. A page has 4096 bytes. A run uses the hashes to find out
/// whether the weight file has changed.
static constexpr uint64_t wholeHashLimit = uint64_t(1) << 30;

/// Maps the weight file at `path` into memory, and stores the mapping in
/// `mapped`. The struct `file` describes the same weight file. The compiler
/// wrote the size and the modification time of the weight file to `file` when
/// the compiler first read the weight file. Returns exit code 3 if the weight
/// file is missing, or if the weight file now has another size or another
/// modification time.
static Status openUnchanged(const std::string &path,
                            const program::WeightFileT &file,
                            runtime::MappedFile &mapped) {
  PCC_RETURN_IF_ERROR(runtime::MappedFile::open(path, mapped, CannotRead));
  if (mapped.bytes().size() == file.size &&
      mapped.modifiedNanoseconds() == file.modified_ns)
    return Status::success();
  return Status::error(CannotRead,
                       "weight file '" + path +
                           "' changed while the model was compiled");
}

/// Sets `hash` to the xxh3 hash of all bytes of `file`. Uses little memory.
/// Returns exit code 3 if the file changes meanwhile.
static Status hashInPieces(const runtime::MappedFile &file, uint64_t &hash) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t *)> state(
      XXH3_createState(), &XXH3_freeState);
  XXH3_64bits_reset(state.get());
  constexpr size_t piece = 1 << 20;
  const auto bytes = file.bytes();
  for (size_t done = 0; done < bytes.size(); done += piece) {
    const auto part = bytes.subspan(done, std::min(piece, bytes.size() - done));
    XXH3_64bits_update(state.get(), part.data(), part.size());
    file.release(done, part.size());
  }
  hash = XXH3_64bits_digest(state.get());
  return file.checkUnchanged(CannotRead);
}

/// Stores in `file` the size, the modification time and the hashes of the
/// weight file at `path`. Returns the exit codes of describeWeightFile().
static Status describe(const std::string &path, program::WeightFileT &file) {
  PCC_RETURN_IF_ERROR(runtime::describeWeightFile(path, file));
  if (file.size > wholeHashLimit)
    return Status::success();
  runtime::MappedFile mapped;
  PCC_RETURN_IF_ERROR(openUnchanged(path, file, mapped));
  return hashInPieces(mapped, file.full_hash);
}

/// Checks that no weight of `program` extends beyond the end of its weight
/// file. Returns exit code 3 otherwise. The file may have changed since the
/// model was imported.
static Status checkRanges(const program::ProgramT &program) {
  for (const auto &parameter : program.parameters) {
    if (parameter->file < 0)
      continue;
    const program::WeightFileT &file = *program.files[parameter->file];
    if (parameter->offset > file.size ||
        parameter->length > file.size - parameter->offset)
      return Status::error(CannotRead,
                           "weight file '" + pathOf(program, file) + "' has " +
                               counted(file.size, "byte") + ", but weight '" +
                               parameter->name + "' has " +
                               counted(parameter->length, "byte") +
                               " at byte " + std::to_string(parameter->offset));
  }
  return Status::success();
}

/// Stores the size, modification time and hashes of each weight file in all
/// programs that read the file. Hashes each file only once, even if several
/// programs read the file.
Status emit::describeWeightFiles(std::vector<PositionProgram> &programs) {
  std::map<std::string, program::WeightFileT> known;
  for (PositionProgram &program : programs)
    for (auto &file : program.tables.files) {
      auto [entry, isNew] = known.try_emplace(file->path);
      if (isNew)
        PCC_RETURN_IF_ERROR(
            describe(pathOf(program.tables, *file), entry->second));
      file->size = entry->second.size;
      file->modified_ns = entry->second.modified_ns;
      file->pages = entry->second.pages;
      file->full_hash = entry->second.full_hash;
    }
  for (const PositionProgram &program : programs)
    PCC_RETURN_IF_ERROR(checkRanges(program.tables));
  return Status::success();
}

namespace {
/// Copies all weights that one program reads into one new safetensors file in
/// the bundle. Then makes the program read the new file. If several parameters
/// of the program read the same bytes of the model's files, copies these bytes
/// only once.
class WeightPacker {
public:
  WeightPacker(program::ProgramT &program, BundleFolder &folder,
               std::string name)
      : program(program), folder(folder), name(std::move(name)) {}

  Status run() {
    collect();
    if (pieces.empty())
      return Status::success();
    PCC_RETURN_IF_ERROR(writeFile());
    return redirect();
  }

private:
  /// Range of bytes that is copied from a weight file of the model to the
  /// weight file of the bundle. The range begins at byte `offset` of the
  /// model's weight file, and has `length` bytes. Example: `offset` = 100 and
  /// `length` = 8 stand for the bytes 100 to 107.
  struct PackedRange {
    /// Index of a weight file of the model. The bytes of this PackedRange are
    /// copied from this weight file. The list `program.files` contains all
    /// weight files of the model that the program reads. Example: if `file` is
    /// 2, the bytes are copied from the weight file `program.files[2]`.
    int32_t file;
    uint64_t offset, length;
    /// Byte offset in the bundle's weight file. The bytes of this PackedRange
    /// are copied to this offset. Offset 0 is the first byte after the header
    /// of the bundle's weight file.
    uint64_t target = 0;
    auto operator<=>(const PackedRange &other) const {
      return std::tie(file, offset, length) <=>
             std::tie(other.file, other.offset, other.length);
    }
  };

  /// Lists in `pieces` the byte ranges to copy to the bundle's weight file, and
  /// in `entries` the tensors for its header. Copies no bytes. Parameters with
  /// the same range share one copy, under the name of the first parameter.
  void collect() {
    uint64_t end = 0;
    for (const auto &parameter : program.parameters) {
      if (parameter->file < 0)
        continue;
      PackedRange piece{parameter->file, parameter->offset, parameter->length};
      if (!known.try_emplace({piece.file, piece.offset, piece.length}, end)
               .second)
        continue;
      piece.target = end;
      pieces.push_back(piece);
      entries.push_back({parameter->name,
                         runtime::typeOf(parameter->stored_type),
                         parameter->stored_shape, end, end + piece.length});
      end += piece.length;
    }
  }

  /// Writes the bundle's weight file. First writes the header of the file. Then
  /// copies bytes from the model's weight files. The list `pieces` contains the
  /// ranges of bytes to copy.
  Status writeFile() {
    const std::string head = runtime::safetensorsHeader(entries);
    dataAt = head.size();
    PCC_RETURN_IF_ERROR(folder.write(name, head));
    std::FILE *out = std::fopen(folder.path(name).c_str(), "ab");
    Status status = Status::success();
    for (const PackedRange &piece : pieces)
      if (status.ok())
        status = append(piece, out);
    const bool closed = out && std::fclose(out) == 0;
    return status.ok() && !closed ? cannotWrite() : status;
  }

  Status cannotWrite() const {
    return Status::error(InputOutput,
                         "cannot write '" + name +
                             "' of the bundle: " + std::strerror(errno));
  }

  /// Appends `piece`, a range of bytes of a weight file of the model, to `out`.
  /// Copies in chunks of 16 MiB to save memory.
  Status append(const PackedRange &piece, std::FILE *out) const {
    runtime::MappedFile source;
    const program::WeightFileT &file = *program.files[piece.file];
    PCC_RETURN_IF_ERROR(openUnchanged(pathOf(program, file), file, source));
    constexpr uint64_t chunk = 16 << 20;
    for (uint64_t done = 0; done < piece.length; done += chunk) {
      const uint64_t size = std::min(chunk, piece.length - done);
      if (!out || std::fwrite(source.bytes().data() + piece.offset + done, 1,
                              size, out) != size) {
        Status failure = cannotWrite();
        // The system cannot write bytes that the source has lost meanwhile.
        PCC_RETURN_IF_ERROR(source.checkUnchanged(CannotRead));
        return failure;
      }
      source.release(piece.offset + done, size);
    }
    return source.checkUnchanged(CannotRead);
  }

  /// Makes the program read its weights from the bundle's weight file. Stores
  /// the size and the hashes of this file in the program.
  Status redirect() {
    auto file = std::make_unique<program::WeightFileT>();
    PCC_RETURN_IF_ERROR(describe(folder.path(name), *file));
    file->path = name;
    // A run must not check the modification time: it changes when a user copies
    // the bundle.
    file->in_bundle = true;
    file->modified_ns = 0;
    for (auto &parameter : program.parameters) {
      if (parameter->file < 0)
        continue;
      parameter->offset = dataAt + known.at({parameter->file, parameter->offset,
                                             parameter->length});
      parameter->file = 0;
    }
    program.files.clear();
    program.files.push_back(std::move(file));
    return Status::success();
  }

  program::ProgramT &program;
  BundleFolder &folder;
  std::string name;
  /// Names, types and shapes of the tensors of the bundle's weight file.
  std::vector<runtime::SafetensorsEntry> entries;
  std::vector<PackedRange> pieces;
  /// Byte offset of each copied range of bytes in the bundle's weight file,
  /// counted from the end of the header. The key is the range in the model's
  /// weight file: index of the file, byte offset, length.
  std::map<std::tuple<int32_t, uint64_t, uint64_t>, uint64_t> known;
  /// Size of the header of the bundle's weight file, in bytes.
  uint64_t dataAt = 0;
};
} // namespace

Status emit::packWeights(std::vector<PositionProgram> &programs,
                         BundleFolder &folder) {
  PCC_RETURN_IF_ERROR(folder.makeFolder("weights"));
  for (PositionProgram &program : programs)
    PCC_RETURN_IF_ERROR(
        WeightPacker(program.tables, folder,
                     "weights/position-" +
                         std::to_string(program.tables.position) +
                         ".safetensors")
            .run());
  return Status::success();
}
