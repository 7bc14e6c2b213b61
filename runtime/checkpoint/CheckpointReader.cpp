//===- CheckpointReader.cpp - reading a checkpoint under any sharding -----===//

#include "runtime/checkpoint/CheckpointReader.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "status/Counted.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <sys/stat.h>

namespace pcc::runtime {

Status CheckpointReader::damaged(const std::string &file,
                                 const std::string &why) const {
  return Status::error(DamagedBundle,
                       "checkpoint file '" + folder + "/" + file + "' " + why);
}

Status CheckpointReader::open(const std::string &folder,
                              CheckpointReader &checkpoint) {
  CheckpointReader opened;
  opened.folder = folder;
  struct stat info = {};
  const std::string path = folder + "/" + kManifestName;
  if (stat(path.c_str(), &info) != 0 && errno == ENOENT)
    return opened.damaged(kManifestName, "is missing");
  PCC_RETURN_IF_ERROR(readManifest(path, opened.contents));
  if (const std::string fault = findPiecesFault(opened.contents);
      !fault.empty())
    return opened.damaged(kManifestName, "is wrong: " + fault);
  PCC_RETURN_IF_ERROR(opened.checkFiles());
  checkpoint = std::move(opened);
  return Status::success();
}

Status CheckpointReader::checkFile(const SavedFile &file) const {
  struct stat info = {};
  if (file.name.empty() || file.name.find('/') != file.name.npos)
    return damaged(kManifestName, "names a file outside of its folder");
  if (stat((folder + "/" + file.name).c_str(), &info) != 0)
    return damaged(file.name, errno == ENOENT
                                  ? "is missing"
                                  : std::string("cannot be read: ") +
                                        std::strerror(errno));
  if (uint64_t(info.st_size) != file.size)
    return damaged(file.name, "has " + counted(info.st_size, "byte") +
                                  " instead of " + std::to_string(file.size));
  return Status::success();
}

Status CheckpointReader::checkFiles() const {
  std::map<std::string, uint64_t> sizes;
  for (const SavedFile &file : contents.files) {
    PCC_RETURN_IF_ERROR(checkFile(file));
    sizes[file.name] = file.size;
  }
  for (const SavedTensor &tensor : contents.tensors)
    for (const SavedPiece &piece : tensor.pieces) {
      const auto size = sizes.find(piece.file);
      if (size == sizes.end() || piece.offset > size->second ||
          piece.bytes > size->second - piece.offset)
        return damaged(kManifestName, "has a piece of tensor '" + tensor.name +
                                          "' outside of its file");
    }
  return Status::success();
}

Status CheckpointReader::openFile(const std::string &name,
                                  const SafetensorsFile *&file) {
  const auto [entry, isNew] = files.try_emplace(name);
  file = &entry->second;
  return isNew ? SafetensorsFile::open(folder + "/" + name, entry->second)
               : Status::success();
}

Status CheckpointReader::findPiece(const SavedTensor &tensor,
                                   const SavedPiece &piece,
                                   const SafetensorsFile *&file,
                                   const SafetensorsEntry *&entry) {
  PCC_RETURN_IF_ERROR(openFile(piece.file, file));
  entry = file->find(tensor.name);
  if (!entry || entry->type != tensor.type ||
      file->offsetOf(*entry) != piece.offset ||
      entry->end - entry->begin != piece.bytes)
    return damaged(piece.file, "does not have tensor '" + tensor.name +
                                   "' as the manifest says");
  return Status::success();
}

Status CheckpointReader::read(const SavedTensor &tensor,
                              const LocalPart &target, void *memory) {
  if (numElements(target.shape) == 0)
    return Status::success();
  const size_t size = sizeOf(tensor.type);
  std::memset(memory, 0, size_t(numElements(target.shape)) * size);
  for (const SavedPiece &piece : tensor.pieces) {
    const std::vector<StridedCopy> copies =
        intersect(packedPart(piece.runs), target);
    if (copies.empty())
      continue;
    const SafetensorsFile *file = nullptr;
    const SafetensorsEntry *entry = nullptr;
    PCC_RETURN_IF_ERROR(findPiece(tensor, piece, file, entry));
    const std::span<const std::byte> bytes = file->bytesOf(*entry);
    if (XXH3_64bits(bytes.data(), bytes.size()) != piece.checksum)
      return damaged(piece.file, "has changed: tensor '" + tensor.name +
                                     "' has another checksum");
    for (const StridedCopy &copy : copies)
      runCopy(copy, bytes.data(), memory, size);
    PCC_RETURN_IF_ERROR(file->checkUnchanged());
    file->release(*entry);
  }
  return Status::success();
}

} // namespace pcc::runtime
