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
/// mapping, so spans from bytes() must not outlive the object. The class can be
/// moved but not copied. A default-constructed object maps an empty file.
///
/// The file may change while it is mapped. If the file becomes shorter, the
/// bytes that are missing read as zeros (MappingGuard). checkUnchanged()
/// reports any change, so a reader takes these steps:
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

  /// Maps the whole regular file at `path` and assigns it to `file`. An empty
  /// file has an empty span of bytes. On an error `file` is unchanged. The exit
  /// code is 7 if the system refuses access, memory or another resource. It is
  /// `unusable` if there is no such file, or if it is not a regular file but,
  /// for example, a named pipe, a device, a socket or a directory. Never waits
  /// for the writer of a named pipe.
  static Status open(const std::string &path, MappedFile &file,
                     ExitCode unusable = InputOutput);

  /// Returns the content of the file. Pages are read from disk when they are
  /// first touched.
  std::span<const std::byte> bytes() const { return {data, size}; }
  /// Returns the content of the file as text.
  std::string_view text() const {
    return {reinterpret_cast<const char *>(data), size};
  }
  /// Sets `part` to the `length` bytes at byte `offset` of the file. Returns an
  /// error with exit code `code` if the file is shorter.
  Status slice(uint64_t offset, uint64_t length, ExitCode code,
               std::span<const std::byte> &part) const;
  /// Returns the file's modification time when it was opened, in nanoseconds
  /// since the Unix epoch.
  int64_t modifiedNanoseconds() const { return modified; }

  /// Checks that the file did not change while it was mapped. Call this after
  /// reading and before the result is used. Returns an error with exit code
  /// `code` in these cases:
  ///
  /// - A page could not be read.
  /// - The file's size or modification time is not that of open().
  ///
  /// Replacing the file by a rename is no error, because the mapping keeps the
  /// old content.
  Status checkUnchanged(ExitCode code) const;
  /// Checks only that every page could be read. Returns an error with exit code
  /// `code` if one could not. Use this for a file to which other processes may
  /// append, because checkUnchanged() reports appended bytes as a change.
  Status checkRead(ExitCode code) const;

  /// Releases the physical memory of the pages that lie completely in bytes
  /// [offset, offset + length). The mapping stays valid: a later access reads
  /// the page from disk again. Call this after a single pass over a large file
  /// to keep the resident size small.
  void release(size_t offset, size_t length) const;

private:
  /// Maps the file `name`, which is open as `descriptor`, into this empty
  /// object. `unusable` is the exit code if it is not a regular file.
  Status map(const std::string &name, int descriptor, ExitCode unusable);
  /// Returns the error with exit code `code` that the file has changed; `how`
  /// describes the change in words.
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

/// Reads the whole regular file at `path` into `text`. Returns exit code
/// `unusable` if there is no such file, if it is not a regular file, if it has
/// more than `mostBytes` bytes, or if it changes meanwhile; 7 if the system
/// refuses access. Never waits for the writer of a named pipe.
Status readTextFile(const std::string &path, size_t mostBytes,
                    std::string &text, ExitCode unusable = InputOutput);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_MAPPEDFILE_H
