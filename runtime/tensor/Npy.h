//===- Npy.h - reading and writing NumPy .npy files -----------------------===//

#ifndef PCC_RUNTIME_TENSOR_NPY_H
#define PCC_RUNTIME_TENSOR_NPY_H

#include "runtime/base/MappedFile.h"
#include "runtime/tensor/ElementType.h"

#include <cstdint>
#include <vector>

namespace pcc::runtime {

/// A mapped .npy file of format version 1, 2 or 3, little-endian and in C order
/// (row-major).
class NpyFile {
public:
  /// Maps the file at `path` and parses its header. `file` is unchanged after
  /// an error. Returns an error with exit code 7 if the file cannot be read.
  /// Returns an error with exit code 10 if the file
  ///
  /// - does not exist, or is malformed;
  /// - holds fewer or more bytes than its type and shape need;
  /// - is in Fortran order or has an unsupported type.
  static Status open(const std::string &path, NpyFile &file);

  /// Returns the type of the elements. The type is never BF16, because a .npy
  /// file cannot contain bf16 elements.
  ElementType type() const { return elementType; }
  /// Returns the shape of the array: the size of each dim.
  const std::vector<int64_t> &shape() const { return dims; }
  /// Returns the address of the elements, dense and row-major, possibly
  /// unaligned. The memory belongs to this object.
  const void *data() const { return file.bytes().data() + dataOffset; }
  /// Returns an error with exit code 7 if an earlier access to the elements
  /// could not read a page of the file from disk. For example, another process
  /// has truncated the file. Some elements may then have been read as zeros.
  /// Call this function after all elements have been read.
  Status checkRead() const { return file.checkRead(InputOutput); }

private:
  MappedFile file;
  ElementType elementType = ElementType::F32;
  std::vector<int64_t> dims;
  /// Byte offset of the first element from the beginning of the file.
  size_t dataOffset = 0;
};

/// Returns the element type that a .npy file uses for a tensor. `type` is the
/// element type of the tensor. Returns F32 if `type` is BF16, because NumPy has
/// no bf16. Returns `type` for all other types.
ElementType npyTypeOf(ElementType type);

/// Returns the header of a .npy file of version 1. The elements of the array
/// follow the header in the file. The length of the header is a multiple of 64
/// bytes, so the first element is aligned to 64 bytes. `type` is the element
/// type of the array, and must not be BF16. `shape` is the shape of the array.
std::string npyHeader(ElementType type, const std::vector<int64_t> &shape);

/// Returns a shape as error messages spell it, such as "[2, 3]".
std::string toString(const std::vector<int64_t> &shape);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_NPY_H
