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
  /// Starts to protect a memory mapping from SIGBUS. An access to an unreadable
  /// page of the mapping then gives zeros and does not end the process.
  ///
  /// - `data` is the address of the mapping, a multiple of the page size.
  /// - `size` is the size of the mapping in bytes.
  /// - `protection` is the protection that mmap() gave the mapping, such as
  ///   PROT_READ. The pages of zeros get the same protection.
  ///
  /// The constructor installs a SIGBUS handler for the whole process. If a
  /// SIGBUS is raised at an address outside every protected mapping, this
  /// handler calls the SIGBUS handler that was installed before.
  MappingGuard(const void *data, size_t size, int protection);
  MappingGuard(MappingGuard &&other) noexcept { *this = std::move(other); }
  /// Exchanges the mappings that the two objects protect from SIGBUS. For
  /// example, this object protects mapping A, and `other` protects mapping B.
  /// After the assignment this object protects mapping B, and `other` protects
  /// mapping A.
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

  /// Memory mapping of `size` bytes that a MappingGuard object protects from
  /// SIGBUS. `protection` is the access rights that mmap() gave the mapping,
  /// such as PROT_READ. `failed` is true if an access to a page has failed.
  /// `next` links all Range objects to a list.
  ///
  /// When the protection ends, `begin` becomes null, and the object may be used
  /// for another mapping. A Range object is never deallocated, because the
  /// SIGBUS handler reads the list without locking a mutex.
  struct Range {
    /// Address of the first byte of the mapping that this Range object
    /// describes. The address is null if this Range object describes no
    /// mapping.
    std::atomic<const std::byte *> begin{nullptr};
    std::atomic<size_t> size{0};
    std::atomic<int> protection{0};
    std::atomic<bool> failed{false};
    Range *next = nullptr;
  };

private:
  /// The Range object that holds the address and the size of the mapping that
  /// this MappingGuard object protects from SIGBUS. The pointer is null if this
  /// MappingGuard object protects no mapping.
  Range *range = nullptr;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_MAPPINGGUARD_H
