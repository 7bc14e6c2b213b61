//===- AccessLog.h - what has happened before what, on streams ------------===//

#ifndef PCC_TEST_RUNTIME_FAKE_CUDA_ACCESSLOG_H
#define PCC_TEST_RUNTIME_FAKE_CUDA_ACCESSLOG_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pcc::fake {

/// Vector clock: how many tasks of each stream are known to have ended.
class Clock {
public:
  int64_t of(size_t stream) const {
    return stream < counts.size() ? counts[stream] : 0;
  }
  void set(size_t stream, int64_t count) {
    counts.resize(std::max(counts.size(), stream + 1));
    counts[stream] = count;
  }
  void join(const Clock &other) {
    for (size_t stream = 0; stream < other.counts.size(); ++stream)
      set(stream, std::max(of(stream), other.counts[stream]));
  }

private:
  std::vector<int64_t> counts;
};

/// Bytes that a task reads or writes.
struct Access {
  uintptr_t begin;
  size_t bytes;
  bool writes;
};

/// Identifies task number `number`, counted from 1, of a stream.
struct TaskId {
  size_t stream;
  int64_t number;
  std::string name;
};

/// Finds accesses that no wait orders. Records for every byte the last write
/// and the last reads.
class AccessLog {
public:
  /// Records the accesses of `task`, which knows that the tasks in `known` have
  /// ended. Returns the task for which it should have waited, if there is one.
  std::optional<TaskId> note(const TaskId &task, const Clock &known,
                             const Access &access);
  /// Removes all records of freed memory.
  void forget(uintptr_t begin, size_t bytes);

private:
  struct Past {
    uintptr_t end;
    std::optional<TaskId> writer;
    std::vector<TaskId> readers; ///< since then, one per stream
  };
  void cutAt(uintptr_t address);

  std::map<uintptr_t, Past> pasts; ///< by their first byte
};

} // namespace pcc::fake

#endif // PCC_TEST_RUNTIME_FAKE_CUDA_ACCESSLOG_H
