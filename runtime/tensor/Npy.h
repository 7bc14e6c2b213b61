//===- Npy.h - reading and writing .npy files -----------------------------===//

#ifndef PCC_RUNTIME_TENSOR_NPY_H
#define PCC_RUNTIME_TENSOR_NPY_H

#include "runtime/base/MappedFile.h"
#include "runtime/tensor/ElementType.h"

#include <cstdint>
#include <vector>

namespace pcc::runtime {

/// A .npy file (versions 1 to 3, little-endian, C order), mapped.
class NpyFile {
public:
  /// Exit code 10 if there is no such file or it is malformed, of another order
  /// or of an unknown type; 7 if it cannot be read.
  static Status open(const std::string &path, NpyFile &file);

  ElementType type() const { return elementType; }
  const std::vector<int64_t> &shape() const { return dims; }
  const void *data() const { return file.bytes().data() + dataOffset; }

private:
  MappedFile file;
  ElementType elementType = ElementType::F32;
  std::vector<int64_t> dims;
  size_t dataOffset = 0;
};

/// The type that a tensor has in files: bf16, which NumPy lacks, becomes f32.
ElementType npyTypeOf(ElementType type);

/// The bytes that precede the elements, a multiple of 64. `type` is not bf16.
std::string npyHeader(ElementType type, const std::vector<int64_t> &shape);

/// "[2, 3]", for messages.
std::string toString(const std::vector<int64_t> &shape);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_NPY_H
