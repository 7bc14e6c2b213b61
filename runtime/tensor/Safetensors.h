//===- Safetensors.h - reading and writing safetensors files --------------===//
//
// Layout of a file; offsets of tensors count from the end of the header:
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

/// Header entry of one tensor. The tensor's bytes are [begin, end), as byte
/// offsets from the end of the header.
struct SafetensorsEntry {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape = {};
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// Returns the beginning of a safetensors file: the length field and the JSON
/// header, padded to a multiple of 64 bytes. The tensors' bytes must follow,
/// each at the byte offsets of its entry in `entries`.
std::string safetensorsHeader(const std::vector<SafetensorsEntry> &entries);

/// A safetensors file that is mapped read-only into memory. Spans that
/// bytesOf() returned must not outlive the object.
class SafetensorsFile {
public:
  /// Maps the file at `path` and parses its header. `file` is unchanged after
  /// an error. Exit code 7 if the file cannot be read. Exit code 11 if it is
  /// malformed, for example:
  ///
  /// - the header is longer than the file or than 100 MB;
  /// - tensors overlap, leave gaps, or do not have the size of their shape.
  static Status open(const std::string &path, SafetensorsFile &file);

  /// Returns the entries of all tensors, ascending by their offset in the file.
  const std::vector<SafetensorsEntry> &entries() const { return tensors; }
  /// Returns the entry of the tensor `name`, or null if there is none.
  const SafetensorsEntry *find(const std::string &name) const;
  /// Returns the bytes of a tensor in the mapped file, possibly unaligned.
  std::span<const std::byte> bytesOf(const SafetensorsEntry &entry) const {
    return file.bytes().subspan(dataOffset + entry.begin,
                                entry.end - entry.begin);
  }
  /// Returns the byte offset of a tensor from the beginning of the file.
  uint64_t offsetOf(const SafetensorsEntry &entry) const {
    return dataOffset + entry.begin;
  }
  /// Returns exit code 11 if the file changed while it was mapped. Bytes that
  /// were read from it may then be wrong.
  Status checkUnchanged() const { return file.checkUnchanged(DamagedBundle); }
  /// Releases the physical memory of the pages that hold the tensor's bytes;
  /// see MappedFile::release().
  void release(const SafetensorsEntry &entry) const {
    file.release(dataOffset + entry.begin, entry.end - entry.begin);
  }

private:
  MappedFile file;
  std::vector<SafetensorsEntry> tensors;
  /// Byte offset of the tensors' data from the beginning of the file: the
  /// length of the header with its 8-byte length field.
  uint64_t dataOffset = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_SAFETENSORS_H
