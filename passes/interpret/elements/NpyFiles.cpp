//===- NpyFiles.cpp - tensors from and to .npy files ----------------------===//

#include "passes/interpret/elements/NpyFiles.h"
#include "passes/interpret/elements/FileElements.h"
#include "runtime/tensor/Npy.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace pcc;
using graph::HostTensor;
using runtime::ElementType;

/// Formats an element type and a shape, such as "f32 [2, 3]".
static std::string describe(ElementType type, ArrayRef<int64_t> shape) {
  return std::string(nameOf(type)) + " " + runtime::toString(shape.vec());
}

/// Sets `npyType` to the element type in which .npy files store `type`, such as
/// f32 for bf16. Returns an error if there is no such type.
static Status npyTypeOf(Type type, ElementType &npyType) {
  std::optional<ElementType> stored = interpret::fileTypeOf(type);
  if (!stored)
    return Status::error(Unsupported,
                         ".npy files cannot hold elements of this type");
  npyType = runtime::npyTypeOf(*stored);
  return Status::success();
}

Status interpret::readNpy(const std::string &path, RankedTensorType type,
                          HostTensor &tensor) {
  ElementType wanted;
  runtime::NpyFile file;
  PCC_RETURN_IF_ERROR(npyTypeOf(type.getElementType(), wanted));
  PCC_RETURN_IF_ERROR(runtime::NpyFile::open(path, file));
  if (file.type() != wanted || ArrayRef(file.shape()) != type.getShape())
    return Status::error(BadInput, "'" + path + "' holds " +
                                       describe(file.type(), file.shape()) +
                                       ", but this is " +
                                       describe(wanted, type.getShape()));
  tensor = readElements(file.shape(), file.type(), file.data());
  return file.checkRead();
}

Status interpret::writeNpy(const std::string &path, RankedTensorType type,
                           HostTensor tensor) {
  ElementType stored;
  PCC_RETURN_IF_ERROR(npyTypeOf(type.getElementType(), stored));
  graph::roundTo(type.getElementType(), tensor);
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error) {
    file << runtime::npyHeader(stored, type.getShape().vec())
         << writeElements(tensor, stored);
    file.flush();
    error = file.error();
    file.clear_error();
  }
  return error ? Status::error(InputOutput, "cannot write '" + path +
                                                "': " + error.message())
               : Status::success();
}
