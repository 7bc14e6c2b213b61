//===- MappingGuard.h - survives failures of mapped files -----------------===//
//
// A mapped page whose file has been cut short, or whose disk fails, raises
// SIGBUS when it is read. The guard handles this signal:
//
//   thread reads page p ── SIGBUS ──> handler: replaces the pages from p to the
//                                     end of the mapping by zeroed memory, and
//                                     marks the guard as failed
//   thread continues with zeros; its caller calls hasFailed(), and discards all
//   that was computed from the mapping
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_BASE_MAPPINGGUARD_H
#define PCC_RUNTIME_BASE_MAPPINGGUARD_H

#include <atomic>
#include <cstddef>
#include <utility>

namespace pcc::runtime {

/// Protects the readers of one mapped file from SIGBUS. A page may become
/// unreadable, for example because another process truncates the file:
///
///   without a guard   the read ends the process by SIGBUS
///   with a guard      the read gives zeros, and hasFailed() becomes true
///
/// The guard must end, by destruction or release(), before the mapping is
/// unmapped. Any number of threads may read the mapping.
class MappingGuard {
public:
  MappingGuard() = default;
  /// Guards the mapping of `size` bytes at `data`, the start of a page.
  /// `protection` is the mapping's protection (PROT_READ, PROT_WRITE). Installs
  /// a SIGBUS handler. The handler passes signals outside all guarded mappings
  /// to the previous handler.
  MappingGuard(const void *data, size_t size, int protection);
  MappingGuard(MappingGuard &&other) noexcept { *this = std::move(other); }
  /// Swaps the guarded mappings of the two objects.
  MappingGuard &operator=(MappingGuard &&other) noexcept {
    std::swap(range, other.range);
    return *this;
  }
  ~MappingGuard() { release(); }

  /// Ends the guarding.
  void release();

  /// Returns whether a page of the mapping could not be read or written. If so,
  /// bytes of the mapping may be zeros instead of the file's content.
  bool hasFailed() const;

  /// Address range of the mapping that one MappingGuard guards. After the
  /// guard's release(), the Range object is free, and a later guard may use the
  /// object for another mapping. A Range object is never deallocated. The
  /// SIGBUS handler can therefore read all Range objects without a lock.
  struct Range {
    /// First byte of the mapping; null while this range guards no mapping.
    std::atomic<const std::byte *> begin{nullptr};
    std::atomic<size_t> size{0};
    std::atomic<int> protection{0};
    std::atomic<bool> failed{false};
    Range *next = nullptr;
  };

private:
  /// Address range of the mapping that this object guards; null if it guards
  /// nothing.
  Range *range = nullptr;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_MAPPINGGUARD_H
