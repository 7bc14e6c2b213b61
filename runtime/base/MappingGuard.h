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

/// Guards one mapping of a file against pages that cannot be read, because the
/// file was truncated or its disk failed. Without a guard, a read of such a
/// page ends the process by SIGBUS. With a guard, the read gives zeros, and
/// hasFailed() becomes true.
///
/// The guard begins at construction, and ends at destruction or release(). It
/// must end before the mapping is unmapped. Any number of threads may read the
/// mapping. A default-constructed object guards nothing. The class can be moved
/// but not copied.
class MappingGuard {
public:
  MappingGuard() = default;
  /// Guards the mapping of `size` bytes at `data`, which must begin at a page.
  /// `protection` is the protection of the mapping (PROT_READ, PROT_WRITE).
  ///
  /// Installs the SIGBUS handler of this class if it is not installed. A SIGBUS
  /// at an address outside all guarded mappings is passed to the handler that
  /// the process had before.
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

  /// Address range of one guarded mapping, as the SIGBUS handler reads it.
  /// After the mapping is released, the object is free, and is reused for
  /// another mapping. Its memory is never deallocated, so the handler can read
  /// it without a lock.
  struct Range {
    /// First byte of the mapping; null if the range is free.
    std::atomic<const std::byte *> begin{nullptr};
    std::atomic<size_t> size{0};
    std::atomic<int> protection{0};
    std::atomic<bool> failed{false};
    Range *next = nullptr;
  };

private:
  /// The entry for the mapping that this object guards; null if it guards
  /// nothing.
  Range *range = nullptr;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_MAPPINGGUARD_H
