//===- SavedArrays.cpp - tensors of a checkpoint as .npy files ------------===//

#include "runtime/checkpoint/SavedArrays.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/checkpoint/FileChanges.h"
#include "runtime/tensor/ElementDispatch.h"
#include "runtime/tensor/Npy.h"

#include <span>

namespace pcc::runtime {

/// Reads all elements of `tensor` from `checkpoint`, and stores them in
/// `elements`. Converts elements of type bf16 to f32, because a .npy file
/// cannot contain bf16. Does not convert elements of other types.
static Status readWhole(CheckpointReader &checkpoint, const SavedTensor &tensor,
                        std::vector<std::byte> &elements) {
  const auto count = size_t(numElements(tensor.shape));
  std::vector<std::byte> stored(count * sizeOf(tensor.type));
  PCC_RETURN_IF_ERROR(checkpoint.read(
      tensor, localPart(wholeLayout(tensor.shape), {}, {}), stored.data()));
  const ElementType type = npyTypeOf(tensor.type);
  elements.resize(count * sizeOf(type));
  convertElements(tensor.type, stored.data(), int64_t(count), type,
                  elements.data());
  return Status::success();
}

/// Writes one .npy file.
static Status writeArray(const std::string &path, const SavedTensor &tensor,
                         std::span<const std::byte> elements) {
  const std::string header = npyHeader(npyTypeOf(tensor.type), tensor.shape);
  const FileChanges changes;
  NewFile file(changes);
  PCC_RETURN_IF_ERROR(file.create(path));
  PCC_RETURN_IF_ERROR(file.write(std::as_bytes(std::span(header))));
  PCC_RETURN_IF_ERROR(file.write(elements));
  return file.finish();
}

Status writeSavedArrays(const std::string &directory, const std::string &folder,
                        std::map<std::string, std::string> &files) {
  std::vector<std::string> checkpoints;
  PCC_RETURN_IF_ERROR(findCheckpoints(directory, checkpoints));
  CheckpointReader checkpoint;
  PCC_RETURN_IF_ERROR(CheckpointReader::open(checkpoints.front(), checkpoint));
  for (const SavedTensor &tensor : checkpoint.manifest().tensors) {
    const std::string path =
        folder + "/parameter-" + std::to_string(files.size()) + ".npy";
    std::vector<std::byte> elements;
    PCC_RETURN_IF_ERROR(readWhole(checkpoint, tensor, elements));
    PCC_RETURN_IF_ERROR(writeArray(path, tensor, elements));
    files[tensor.name] = path;
  }
  return Status::success();
}

} // namespace pcc::runtime
