//===- FakeGpu.h - a GPU that is not there --------------------------------===//
//
// Streams delay tasks and run them in an order that a seed chooses, as late as
// the host allows. Accesses that the program has not ordered are reported, and
// then run in the wrong order.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_TEST_RUNTIME_FAKE_CUDA_FAKEGPU_H
#define PCC_TEST_RUNTIME_FAKE_CUDA_FAKEGPU_H

#include "test/runtime/fake/cuda/AccessLog.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>

namespace pcc::fake {

/// Settings in PCC_FAKE_CUDA, such as "seed=3,count=2"; see README.md.
struct Settings {
  uint64_t seed = 1;
  int64_t count = 8;         ///< GPUs
  int64_t bus = 0;           ///< of the first one
  int64_t capability = 90;   ///< compute capability, times 10
  int64_t driver = 13000;    ///< version of the driver
  int64_t memory = 64 << 20; ///< KiB of a GPU
  int64_t failAt = 0;        ///< this launch fails; 0: none
  int64_t hangAt = 0;        ///< this launch never returns
  int64_t dropWait = 0;      ///< this wait for an event is left out
  int64_t lateCopy = 0;      ///< this copy from the host is done too late
  int64_t swapAt = 0;        ///< rank 1 makes this collective after the next
  int64_t ungroup = 0;       ///< not 0: groups of transfers are none
  int64_t blas = 130000;     ///< version of cuBLASLt
  int64_t sumless = 0;       ///< not 0: its products sum no factors
  int64_t dnn = 0;           ///< version of cuDNN; 0: there is none
  int64_t gradless = 0;      ///< not 0: it has no engine for gradients
  int64_t forgetful = 0;     ///< not 0: cuBLASLt cannot choose algorithms
  int64_t noMemoryAt = 0;    ///< this allocation of the GPU's memory fails
  int64_t frozenAt = 0;      ///< nothing is allocated from this replay on
  int64_t nccl = 22809;      ///< version of NCCL
  int64_t remoteAt = 0;      ///< a peer is gone when it is given this call
  int64_t stuckAbort = 0;    ///< not 0: it never comes back from an abort
  int64_t list = 0;          ///< not 0: all tasks are listed
};
const Settings &settings();

/// Number of multiprocessors of an A100.
inline constexpr int numMultiprocessors = 108;

/// The number of tasks of a stream at the moment when the event was recorded.
struct Event {
  bool isRecorded = false;
  size_t stream = 0;
  int64_t number = 0; ///< of the stream's last task then
  Clock clock;
  /// If the stream is captured: the place in the recording.
  std::optional<size_t> place = {};
};

/// Work of a task. Returns false while it waits for another rank; it is then
/// tried again.
using Work = std::function<bool()>;
/// Creates work that runs once, or once in every replay.
using MakeWork = std::function<Work()>;

struct Task {
  TaskId id;
  Work work;
  std::optional<Event> awaited; ///< runs nothing until then
};

struct Stream;

/// An entry of a captured stream: a task, an event, or a wait for an event.
struct Recorded {
  Stream *stream;
  std::string name = {};
  std::vector<Access> accesses = {};
  MakeWork make = {};
  std::optional<size_t> awaited = {}; ///< where that event is
};
using Recording = std::vector<Recorded>;

struct Stream {
  size_t index;
  std::deque<Task> tasks;
  int64_t given = 0, done = 0; ///< tasks
  Clock clock;                 ///< of its next task
};

/// All GPUs of the process. Every function of the fake libraries holds `mutex`.
class FakeGpu {
public:
  static FakeGpu &get();

  std::recursive_mutex mutex;

  Stream *createStream();
  void destroyStream(Stream *stream);

  /// Adds a task that reads and writes `accesses`. Returns false, with the
  /// reason in `error`, if it does not wait for a task for which it should.
  bool give(Stream &stream, std::string name, std::span<const Access> accesses,
            const MakeWork &make);
  void record(Event &event, Stream &stream);
  void await(Stream &stream, const Event &event);

  /// Begins to record the entries of `stream` and of the streams that wait for
  /// it.
  void beginCapture(Stream &stream);
  /// Ends the recording. Returns null, with the reason in `error`, if a stream
  /// has not joined `stream` again.
  std::unique_ptr<Recording> endCapture();
  bool isCaptured(const Stream &stream) const;
  bool replay(const Recording &recording, Stream &stream);

  /// Runs some tasks. Returns whether the stream has none left.
  bool isDone(Stream &stream);
  /// Runs tasks until the stream has none left.
  void finish(Stream &stream);

  void *allocate(size_t bytes);
  /// Frees memory. Returns false if `data` is no memory of the GPU.
  bool free(void *data);
  /// Returns whether the bytes are within one allocation of the GPU's memory.
  bool holds(const void *data, size_t bytes) const;
  /// Registers host memory that copies access without waiting.
  void pin(void *data, size_t bytes) { pinned[data] = bytes; }
  void unpin(void *data) { pinned.erase(data); }
  bool isPinned(const void *data, size_t bytes) const;
  /// Returns whether allocations are not allowed any more.
  bool isFrozen() const;
  bool hasReplayed() const { return replays > 0; }
  /// PCI bus id of the GPU that this process uses.
  int64_t bus = 0;

  /// Reason why the last call failed.
  std::string error;
  /// Error that occurred while a task ran; reported when the host asks.
  std::string fault;

private:
  void list(const TaskId &task, const Clock &clock) const;
  bool runOne();
  bool tryFirst(Stream &stream);
  void runSome(uint64_t most);
  /// Sets the access rights to the GPU's memory.
  void protect(int rights);
  bool canRun(const Stream &stream) const;

  std::mt19937_64 random{settings().seed};
  std::vector<std::unique_ptr<Stream>> streams;
  std::map<uintptr_t, size_t> memory; ///< bytes, by address
  std::map<const void *, size_t, std::greater<>> pinned;
  int64_t replays = 0;
  int memoryRights = 0; ///< none
  size_t allocated = 0;
  AccessLog accesses;
  std::unique_ptr<Recording> recording; ///< while streams are captured
  std::vector<const Stream *> captured; ///< the one that began first
  Clock host;                           ///< what the host knows to be done
  int64_t waits = 0;
};

} // namespace pcc::fake

#endif // PCC_TEST_RUNTIME_FAKE_CUDA_FAKEGPU_H
