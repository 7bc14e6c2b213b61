//===- FlightRecorder.cpp - crash-proof log of a rank's latest activities -===//

#include "runtime/comm/flight/FlightRecorder.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace pcc::runtime {

std::string flightFile(const std::string &folder, int rank) {
  return folder + "/flight." + std::to_string(rank);
}

/// Creates a file of `bytes` bytes, and returns its descriptor; -1 on failure.
/// Allocates all disk blocks at once. Otherwise writing to the mapped file
/// could raise SIGBUS on a full disk.
static int makeFile(const std::string &path, size_t bytes) {
  if (path.empty())
    return -1;
  const int file =
      open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file >= 0 && posix_fallocate(file, 0, off_t(bytes)) != 0) {
    close(file);
    unlink(path.c_str());
    return -1;
  }
  return file;
}

/// Creates the file `path`, and maps the file into memory. Allocates memory
/// instead if `path` is empty, or if the file cannot be created or mapped.
///
/// The file begins with a header. Other processes may read the file while this
/// constructor writes the header. The header's field `capacity` stays 0 until
/// all other fields are set. A reader ignores a file whose `capacity` is 0.
FlightRecorder::FlightRecorder(int rank, const std::string &path)
    : bytes(sizeof(FlightHeader) + kCapacity * sizeof(FlightEntry)) {
  const int file = makeFile(path, bytes);
  const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind, file, 0);
  if (file >= 0)
    close(file);
  if (memory == MAP_FAILED)
    memory = std::calloc(1, bytes), bytes = 0;
  else if (file >= 0)
    guard = MappingGuard(memory, bytes, PROT_READ | PROT_WRITE);
  header = new (memory) FlightHeader;
  header->rank = rank;
  header->moved = now();
  ring = reinterpret_cast<FlightEntry *>(header + 1);
  header->capacity = kCapacity;
}

FlightRecorder::~FlightRecorder() {
  guard.release();
  if (bytes > 0)
    munmap(memory, bytes);
  else
    std::free(memory);
}

double FlightRecorder::now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void FlightRecorder::beginStep(int64_t step) {
  header->step.store(step, std::memory_order_relaxed);
}

/// Copies `text` to `to`, a text field of an entry, and appends a NUL. If
/// `text` is too long for the field, copies only the last part that fits,
/// because the end of a tensor's name is the most specific part of the name.
/// For example, "layer.7.mlp" in a field of 6 bytes becomes "7.mlp".
template <size_t size>
static void copyText(char (&to)[size], std::string_view text) {
  const size_t length = std::min(text.size(), size - 1);
  text.substr(text.size() - length).copy(to, length);
  to[length] = '\0';
}

/// Writes the new entry to the ring buffer. Then increments the header's field
/// `count`, the number of entries begun so far. This store has release order. A
/// process that reads the new `count` therefore sees all fields of the new
/// entry.
///
/// If the ring buffer is full, the new entry overwrites the oldest entry. A
/// process that reads the oldest entry at this moment may read some fields of
/// the oldest entry and some of the new entry.
FlightRecorder::Entry FlightRecorder::add(FlightKind kind,
                                          std::string_view call,
                                          std::string_view action,
                                          std::string_view value) {
  const Entry number = header->count.load(std::memory_order_relaxed);
  FlightEntry &entry = ring[number % kCapacity];
  entry.begin = now();
  entry.end = 0;
  entry.step = header->step.load(std::memory_order_relaxed);
  entry.kind = kind;
  entry.numPeers = 0;
  copyText(entry.call, call);
  copyText(entry.action, action);
  copyText(entry.value, value);
  header->moved.store(entry.begin, std::memory_order_relaxed);
  header->count.store(number + 1, std::memory_order_release);
  return number;
}

FlightRecorder::Entry FlightRecorder::begin(FlightKind kind,
                                            std::string_view call,
                                            const ActionId &action) {
  return add(kind, call, action.action, action.value);
}

FlightRecorder::Entry FlightRecorder::beginAction(std::string_view name) {
  return add(FlightKind::Action, {}, name, {});
}

FlightEntry *FlightRecorder::find(Entry entry) {
  const uint64_t count = header->count.load(std::memory_order_relaxed);
  return count - entry <= kCapacity ? &ring[entry % kCapacity] : nullptr;
}

void FlightRecorder::end(Entry number) {
  const double time = now();
  if (FlightEntry *entry = find(number))
    std::atomic_ref(entry->end).store(time, std::memory_order_relaxed);
  header->moved.store(time, std::memory_order_relaxed);
}

void FlightRecorder::clearPeers(Entry number) {
  if (FlightEntry *entry = find(number))
    entry->numPeers = 0;
}

void FlightRecorder::addPeer(Entry number, int rank) {
  FlightEntry *entry = find(number);
  if (!entry)
    return;
  const int kept = std::min<int>(int(entry->numPeers), FlightEntry::kMostPeers);
  if (std::find(entry->peers, entry->peers + kept, rank) != entry->peers + kept)
    return;
  if (kept < FlightEntry::kMostPeers)
    entry->peers[kept] = rank;
  ++entry->numPeers;
}

void FlightRecorder::heartbeat() {
  header->moved.store(now(), std::memory_order_relaxed);
}

void FlightRecorder::leave() { header->hasLeft = true; }

FlightLog FlightRecorder::log() const { return FlightLog::of(*header, ring); }

} // namespace pcc::runtime
