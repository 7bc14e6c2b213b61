//===- Safetensors.h - reading and writing safetensors files --------------===//
//
//   | length of the header | header: JSON       | tensors, contiguous |
//   | 8 bytes              | padded with blanks |                     |
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_TENSOR_SAFETENSORS_H
#define PCC_RUNTIME_TENSOR_SAFETENSORS_H

#include "runtime/base/MappedFile.h"
#include "runtime/tensor/ElementType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pcc::runtime {

/// One tensor; its bytes are [begin, end) behind the header.
struct SafetensorsEntry {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape = {};
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// The bytes that precede the tensors, a multiple of 64.
std::string safetensorsHeader(const std::vector<SafetensorsEntry> &entries);

/// A safetensors file, mapped.
class SafetensorsFile {
public:
  /// Exit code 11 if the file is malformed: a header that is longer than the
  /// file or than 100 MB, tensors that overlap, leave holes or do not have the
  /// size of their shape; 7 if it cannot be read.
  static Status open(const std::string &path, SafetensorsFile &file);

  /// In the order in which they lie in the file.
  const std::vector<SafetensorsEntry> &entries() const { return tensors; }
  /// Or null.
  const SafetensorsEntry *find(const std::string &name) const;
  std::span<const std::byte> bytesOf(const SafetensorsEntry &entry) const {
    return file.bytes().subspan(dataOffset + entry.begin,
                                entry.end - entry.begin);
  }
  /// Where `entry` begins in the file.
  uint64_t offsetOf(const SafetensorsEntry &entry) const {
    return dataOffset + entry.begin;
  }
  /// Lets the pages of a tensor go from this process' memory.
  void release(const SafetensorsEntry &entry) const {
    file.release(dataOffset + entry.begin, entry.end - entry.begin);
  }

private:
  MappedFile file;
  std::vector<SafetensorsEntry> tensors;
  uint64_t dataOffset = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_SAFETENSORS_H
