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

/// Returns the first bytes of a safetensors file: the 8-byte length field and
/// the JSON header. `entries` describes all tensors of the file. Blanks at the
/// end of the header pad the result to a multiple of 64 bytes. The caller must
/// write the bytes of the tensors after the result. For example, a tensor whose
/// entry has begin = 0 and end = 16 occupies the first 16 bytes after the
/// result.
std::string safetensorsHeader(const std::vector<SafetensorsEntry> &entries);

/// A safetensors file that is mapped read-only into memory. Spans that
/// bytesOf() returned must not outlive the object.
class SafetensorsFile {
public:
  /// Maps the file at `path` into memory, parses the header of the file, and
  /// assigns the result to `file`. On an error, `file` stays unchanged. An
  /// error has one of two exit codes:
  ///
  /// - 7: the file cannot be read.
  /// - 11: the file is not a valid safetensors file. For example, the header is
  ///   longer than the file or longer than 100 MB, two tensors overlap, there
  ///   is a gap between two tensors, or a tensor does not have the number of
  ///   bytes that its shape and element type require.
  static Status open(const std::string &path, SafetensorsFile &file);

  /// Returns the entries of all tensors, ascending by their offset in the file.
  const std::vector<SafetensorsEntry> &entries() const { return tensors; }
  /// Returns the header entry of the tensor `name`, or null if there is none.
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
  /// Checks that the file has not changed since open() mapped the file.
  /// After a change, bytes that were read from the file can be wrong. The
  /// function then returns an error with exit code 11. Call this function after
  /// reading tensors and before using results that depend on the tensors.
  Status checkUnchanged() const { return file.checkUnchanged(DamagedBundle); }
  /// Releases the physical memory of the pages that hold the tensor's bytes;
  /// see MappedFile::release().
  void release(const SafetensorsEntry &entry) const {
    file.release(dataOffset + entry.begin, entry.end - entry.begin);
  }

private:
  MappedFile file;
  std::vector<SafetensorsEntry> tensors;
  /// Index of the byte of the file at which the data of the tensors begins. A
  /// safetensors file consists of a length field of 8 bytes, a JSON header and
  /// the data. For example, if the JSON header has 120 bytes, `dataOffset` is 8
  /// + 120 = 128.
  uint64_t dataOffset = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_SAFETENSORS_H
