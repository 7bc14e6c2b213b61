//===- MappedFile.h - a file, mapped for reading --------------------------===//

#ifndef PCC_RUNTIME_BASE_MAPPEDFILE_H
#define PCC_RUNTIME_BASE_MAPPEDFILE_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace pcc::runtime {

/// Unmapped when destroyed. Movable.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept { *this = std::move(other); }
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  /// Maps the regular file at `path`; exit code 7 says what failed.
  static Status open(const std::string &path, MappedFile &file);

  std::span<const std::byte> bytes() const { return {data, size}; }
  int64_t modifiedNanoseconds() const { return modified; }

  /// Lets the pages of a range go from this process' memory; they are read
  /// again when touched.
  void release(size_t offset, size_t length) const;

private:
  const std::byte *data = nullptr;
  size_t size = 0;
  int64_t modified = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_MAPPEDFILE_H
