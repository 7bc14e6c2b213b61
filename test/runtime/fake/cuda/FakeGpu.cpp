//===- FakeGpu.cpp - a GPU that is not there ------------------------------===//

#include "test/runtime/fake/cuda/FakeGpu.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace pcc::fake {

static Settings readSettings() {
  Settings made;
  const std::map<std::string, int64_t *> numbers = {
      {"count", &made.count},
      {"bus", &made.bus},
      {"capability", &made.capability},
      {"driver", &made.driver},
      {"memory", &made.memory},
      {"fail-at", &made.failAt},
      {"hang-at", &made.hangAt},
      {"drop-wait", &made.dropWait},
      {"late-copy", &made.lateCopy},
      {"swap-at", &made.swapAt},
      {"ungroup", &made.ungroup},
      {"blas", &made.blas},
      {"sumless", &made.sumless},
      {"dnn", &made.dnn},
      {"gradless", &made.gradless},
      {"forgetful", &made.forgetful},
      {"no-memory-at", &made.noMemoryAt},
      {"frozen-at", &made.frozenAt},
      {"nccl", &made.nccl},
      {"remote-at", &made.remoteAt},
      {"stuck-abort", &made.stuckAbort},
      {"list", &made.list}};
  const char *given = std::getenv("PCC_FAKE_CUDA");
  std::istringstream list(given ? given : "");
  for (std::string entry; std::getline(list, entry, ',');) {
    const size_t equals = entry.find('=');
    const std::string name = entry.substr(0, equals);
    const int64_t number = std::stoll(entry.substr(equals + 1));
    if (name == "seed")
      made.seed = uint64_t(number);
    else if (numbers.contains(name))
      *numbers.at(name) = number;
    else
      std::abort();
  }
  return made;
}

const Settings &settings() {
  static const Settings read = readSettings();
  return read;
}

static size_t wholePages(size_t bytes) {
  constexpr size_t page = 4096;
  return (bytes + page - 1) / page * page;
}

FakeGpu &FakeGpu::get() {
  // The object is never destroyed: some ranks may leave while others still use
  // it.
  static auto *gpu = new FakeGpu;
  return *gpu;
}

Stream *FakeGpu::createStream() {
  streams.push_back(std::make_unique<Stream>());
  streams.back()->index = streams.size() - 1;
  return streams.back().get();
}

/// Tasks that cannot run any more are dropped.
void FakeGpu::destroyStream(Stream *stream) {
  finish(*stream);
  stream->tasks.clear();
  stream->done = stream->given;
}

/// Writes a line per task: the replay, its stream and number, its name, and for
/// every stream the number of tasks that have ended before.
void FakeGpu::list(const TaskId &task, const Clock &clock) const {
  static std::ofstream file(std::string(std::getenv("TMPDIR")) + "/tasks." +
                            std::to_string(getpid()));
  file << replays << '\t' << task.stream << '\t' << task.number << '\t'
       << task.name;
  for (const auto &stream : streams)
    file << '\t' << clock.of(stream->index);
  file << '\n' << std::flush;
}

bool FakeGpu::give(Stream &stream, std::string name,
                   std::span<const Access> touched, const MakeWork &make) {
  if (isCaptured(stream)) {
    recording->push_back(
        {&stream, std::move(name), {touched.begin(), touched.end()}, make});
    return true;
  }
  stream.clock.join(host);
  const TaskId id{stream.index, ++stream.given, std::move(name)};
  stream.clock.set(stream.index, id.number);
  if (settings().list != 0)
    list(id, stream.clock);
  bool isOrdered = true;
  for (const Access &access : touched)
    if (const auto missed = accesses.note(id, stream.clock, access)) {
      error = id.name + " on stream " + std::to_string(id.stream) +
              (access.writes ? " writes" : " reads") + " what " + missed->name +
              " on stream " + std::to_string(missed->stream) +
              " uses, and does not wait for it";
      isOrdered = false;
    }
  stream.tasks.push_back({id, make(), {}});
  return isOrdered;
}

void FakeGpu::record(Event &event, Stream &stream) {
  if (isCaptured(stream)) {
    event.place = recording->size();
    recording->push_back({&stream});
    return;
  }
  stream.clock.join(host);
  event = {true, stream.index, stream.given, stream.clock};
}

void FakeGpu::await(Stream &stream, const Event &event) {
  if (event.place && recording) {
    if (!isCaptured(stream))
      captured.push_back(&stream);
    recording->push_back({&stream, "", {}, {}, event.place});
    return;
  }
  if (!event.isRecorded || ++waits == settings().dropWait)
    return;
  stream.clock.join(event.clock);
  stream.tasks.push_back(
      {{stream.index, ++stream.given, "a wait"}, nullptr, event});
  stream.clock.set(stream.index, stream.given);
}

bool FakeGpu::isCaptured(const Stream &stream) const {
  return std::find(captured.begin(), captured.end(), &stream) != captured.end();
}

void FakeGpu::beginCapture(Stream &stream) {
  recording = std::make_unique<Recording>();
  captured = {&stream};
}

/// Returns how many entries of each stream the first stream waits for, and the
/// number of all entries.
static void countEntries(const Recording &recording,
                         std::map<const Stream *, Clock> &clocks) {
  std::vector<Clock> events(recording.size());
  for (size_t i = 0; i < recording.size(); ++i) {
    const Recorded &entry = recording[i];
    Clock &clock = clocks[entry.stream];
    if (entry.awaited)
      clock.join(events[*entry.awaited]);
    if (entry.make)
      clock.set(entry.stream->index, clock.of(entry.stream->index) + 1);
    events[i] = clock;
  }
}

std::unique_ptr<Recording> FakeGpu::endCapture() {
  std::map<const Stream *, Clock> clocks;
  countEntries(*recording, clocks);
  const Clock &first = clocks[captured.front()];
  for (const Stream *stream : captured)
    if (first.of(stream->index) < clocks[stream].of(stream->index)) {
      error = "stream " + std::to_string(stream->index) +
              " has not come back when the capture ends";
      recording.reset();
    }
  captured.clear();
  return std::exchange(recording, nullptr);
}

bool FakeGpu::replay(const Recording &entries, Stream &stream) {
  ++replays;
  Event start;
  record(start, stream);
  std::vector<Event> events(entries.size());
  std::vector<const Stream *> started = {&stream};
  for (size_t i = 0; i < entries.size(); ++i) {
    const Recorded &entry = entries[i];
    if (std::find(started.begin(), started.end(), entry.stream) ==
        started.end()) {
      started.push_back(entry.stream);
      await(*entry.stream, start);
    }
    if (entry.awaited)
      await(*entry.stream, events[*entry.awaited]);
    else if (!entry.make)
      record(events[i], *entry.stream);
    else if (!give(*entry.stream, entry.name, entry.accesses, entry.make))
      return false;
  }
  return true;
}

bool FakeGpu::canRun(const Stream &stream) const {
  if (stream.tasks.empty())
    return false;
  const auto &awaited = stream.tasks.front().awaited;
  return !awaited || streams[awaited->stream]->done >= awaited->number;
}

bool FakeGpu::tryFirst(Stream &stream) {
  // A task may add others.
  const Task task = stream.tasks.front();
  if (task.work) {
    // The host must not access the GPU's memory.
    protect(PROT_READ | PROT_WRITE);
    if (!task.work())
      return false;
  }
  stream.tasks.pop_front();
  ++stream.done;
  return true;
}

/// Runs one task of a stream that the seed chooses. Returns false if none can
/// run.
bool FakeGpu::runOne() {
  std::vector<Stream *> ready;
  for (const auto &stream : streams)
    if (canRun(*stream))
      ready.push_back(stream.get());
  std::shuffle(ready.begin(), ready.end(), random);
  return std::any_of(ready.begin(), ready.end(),
                     [&](Stream *stream) { return tryFirst(*stream); });
}

void FakeGpu::protect(int rights) {
  if (rights == memoryRights)
    return;
  memoryRights = rights;
  for (const auto &[begin, bytes] : memory)
    mprotect(reinterpret_cast<void *>(begin), wholePages(bytes), rights);
}

void FakeGpu::runSome(uint64_t most) {
  while (most > 0 && runOne())
    --most;
  protect(PROT_NONE);
}

bool FakeGpu::isDone(Stream &stream) {
  // The host asks repeatedly: sometimes no task has run since.
  runSome(random() % 64);
  const bool done = stream.tasks.empty();
  if (done)
    host.join(stream.clock);
  return done;
}

void FakeGpu::finish(Stream &stream) {
  while (!stream.tasks.empty() && runOne()) {
  }
  protect(PROT_NONE);
  host.join(stream.clock);
}

void *FakeGpu::allocate(size_t bytes) {
  if (allocated + bytes > size_t(settings().memory) * 1024)
    return nullptr;
  void *data = mmap(nullptr, wholePages(bytes), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return nullptr;
  // Memory that was never written is NaN.
  std::memset(data, 0xff, bytes);
  mprotect(data, wholePages(bytes), memoryRights);
  allocated += bytes;
  memory[reinterpret_cast<uintptr_t>(data)] = bytes;
  return data;
}

bool FakeGpu::free(void *data) {
  const auto found = memory.find(reinterpret_cast<uintptr_t>(data));
  if (found == memory.end())
    return false;
  while (runOne()) {
  }
  protect(PROT_NONE);
  const size_t bytes = found->second;
  allocated -= bytes;
  accesses.forget(found->first, bytes);
  memory.erase(found);
  munmap(data, wholePages(bytes));
  return true;
}

bool FakeGpu::holds(const void *data, size_t bytes) const {
  const auto address = reinterpret_cast<uintptr_t>(data);
  auto next = memory.upper_bound(address);
  if (next == memory.begin())
    return false;
  const auto &[begin, size] = *std::prev(next);
  return address + bytes <= begin + size;
}

bool FakeGpu::isPinned(const void *data, size_t bytes) const {
  const auto found = pinned.lower_bound(data);
  return found != pinned.end() &&
         static_cast<const char *>(data) + bytes <=
             static_cast<const char *>(found->first) + found->second;
}

bool FakeGpu::isFrozen() const {
  return settings().frozenAt > 0 && replays >= settings().frozenAt;
}

} // namespace pcc::fake
