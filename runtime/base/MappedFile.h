//===- MappedFile.h - read-only memory mapping of a file ------------------===//

#ifndef PCC_RUNTIME_BASE_MAPPEDFILE_H
#define PCC_RUNTIME_BASE_MAPPEDFILE_H

#include "runtime/base/MappingGuard.h"
#include "status/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace pcc::runtime {

/// A file that is mapped read-only into the address space. The object owns the
/// mapping. A span that bytes() returned must not be used after the object is
/// destroyed.
///
/// Another process may write to the file or truncate the file while it is
/// mapped. After a truncation, the bytes that were removed from the file read
/// as zeros instead of raising SIGBUS (class MappingGuard). A reader must
/// therefore check the file before it uses a result:
///
///   open ── read bytes() ── checkUnchanged() ── use the result
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept { *this = std::move(other); }
  /// Swaps the mappings of the two objects. The previous mapping of this object
  /// is released when `other` is destroyed.
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  /// Maps the whole regular file at `path` into memory, and assigns the mapping
  /// to `file`. On an error `file` is unchanged. Exit codes:
  ///
  /// - 7: the system denies access to the file, cannot read the file, or has no
  ///   file descriptor left
  /// - 13: the system has no memory left
  /// - `unusable`: there is no file at `path`, or it is not a regular file
  ///
  /// If `path` is a named pipe, the function returns the exit code `unusable`
  /// at once. The function does not wait until a process opens the pipe for
  /// writing.
  static Status open(const std::string &path, MappedFile &file,
                     ExitCode unusable = InputOutput);

  /// Returns the content of the file. Pages are read from disk when they are
  /// first touched.
  std::span<const std::byte> bytes() const { return {data, size}; }
  /// Returns the content of the file as text.
  std::string_view text() const {
    return {reinterpret_cast<const char *>(data), size};
  }
  /// Makes the span `part` refer to the bytes [offset, offset + length) of the
  /// file. The bytes are not copied. For example, an offset of 4 and a length
  /// of 2 give the bytes 4 and 5. If the file has fewer than offset + length
  /// bytes, returns an error with exit code `code` and leaves `part` unchanged.
  Status slice(uint64_t offset, uint64_t length, ExitCode code,
               std::span<const std::byte> &part) const;
  /// Returns the modification time that the file had when open() was called.
  /// The time is in nanoseconds since the Unix epoch.
  int64_t modifiedNanoseconds() const { return modified; }

  /// Returns an error with exit code `code` if an access to bytes() could not
  /// read a page of the file, or if the size or the modification time of the
  /// file has changed since open(). Call this function after reading bytes()
  /// and before using a result that was computed from the bytes.
  ///
  /// If another process has renamed a new file to the path, the function
  /// returns no error, because the mapping keeps the content of the old file.
  Status checkUnchanged(ExitCode code) const;
  /// Returns an error with exit code `code` if an earlier access to bytes()
  /// could not read a page of the file. For example, another process has
  /// truncated the file. Unlike checkUnchanged(), this function does not
  /// compare the size and the modification time of the file. Use this function
  /// for a file to which other processes may append data while the file is
  /// mapped.
  Status checkRead(ExitCode code) const;

  /// Releases the physical memory of some pages of the mapping. These are the
  /// pages that lie completely in the bytes [offset, offset + length) of the
  /// file. For example, a page has 4096 bytes. release(1000, 8000) covers the
  /// bytes 1000 to 8999, and releases only the page with the bytes 4096 to
  /// 8191.
  ///
  /// The mapping stays valid. A later access to a released page reads the page
  /// from disk again. Call this function after a single pass over a large file.
  void release(size_t offset, size_t length) const;

private:
  /// Maps a file into this object, which must not hold a mapping yet. `name` is
  /// the path of the file, and `descriptor` is its open file descriptor. If the
  /// file is not a regular file, returns an error with exit code `unusable`.
  Status map(const std::string &name, int descriptor, ExitCode unusable);
  /// Returns an error with exit code `code`. The message of the error says that
  /// this file changed while it was read. `how` is the end of the message, such
  /// as "it was written to".
  Status changed(ExitCode code, const std::string &how) const;

  std::string path;
  /// Device number and inode number, which identify the file even after it was
  /// renamed.
  uint64_t device = 0, inode = 0;
  const std::byte *data = nullptr;
  size_t size = 0;
  int64_t modified = 0;
  MappingGuard guard;
};

/// Reads the whole regular file at `path` into `text`. Exit codes:
///
/// - 7: the system refuses access
/// - `unusable`: there is no file at `path`, it is not a regular file, it has
///   more than `mostBytes` bytes, or it changes meanwhile
Status readTextFile(const std::string &path, size_t mostBytes,
                    std::string &text, ExitCode unusable = InputOutput);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_MAPPEDFILE_H
