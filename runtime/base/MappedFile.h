//===- MappedFile.h - read-only memory mapping of a file ------------------===//

#ifndef PCC_RUNTIME_BASE_MAPPEDFILE_H
#define PCC_RUNTIME_BASE_MAPPEDFILE_H

#include "status/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace pcc::runtime {

/// A file that is mapped read-only into the address space. The mapping is owned
/// by the object and ends with it, so spans from bytes() must not outlive the
/// object. The class can be moved but not copied. A default-constructed object
/// maps an empty file.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept { *this = std::move(other); }
  /// Swaps the mappings of the two objects. The previous mapping of this object
  /// is released when `other` is destroyed.
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  /// Maps the whole regular file at `path` and assigns it to `file`. An empty
  /// file has an empty span of bytes. Returns exit code 7, with the reason, if
  /// the file cannot be opened or is not a regular file; `file` is unchanged
  /// then.
  static Status open(const std::string &path, MappedFile &file);

  /// Returns the content of the file. Pages are read from disk when they are
  /// first touched.
  std::span<const std::byte> bytes() const { return {data, size}; }
  /// Returns the file's modification time when it was opened, in nanoseconds
  /// since the Unix epoch.
  int64_t modifiedNanoseconds() const { return modified; }

  /// Releases the physical memory of the pages that lie completely in bytes
  /// [offset, offset + length). The mapping stays valid: a later access reads
  /// the page from disk again. Call this after a single pass over a large file
  /// to keep the resident size small.
  void release(size_t offset, size_t length) const;

private:
  const std::byte *data = nullptr;
  size_t size = 0;
  int64_t modified = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_MAPPEDFILE_H
