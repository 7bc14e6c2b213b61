//===- AccessLog.cpp - what has happened before what, on streams ----------===//

#include "test/runtime/fake/cuda/AccessLog.h"

namespace pcc::fake {

static bool isKnown(const TaskId &task, size_t stream, const Clock &known) {
  return task.stream == stream || task.number <= known.of(task.stream);
}

void AccessLog::cutAt(uintptr_t address) {
  auto next = pasts.upper_bound(address);
  if (next == pasts.begin())
    return;
  auto &[begin, past] = *std::prev(next);
  if (begin == address || past.end <= address)
    return;
  Past behind = past;
  past.end = address;
  pasts.emplace(address, std::move(behind));
}

std::optional<TaskId> AccessLog::note(const TaskId &task, const Clock &known,
                                      const Access &access) {
  if (access.bytes == 0)
    return std::nullopt;
  const uintptr_t end = access.begin + access.bytes;
  cutAt(access.begin);
  cutAt(end);
  std::optional<TaskId> missed;
  const auto look = [&](const TaskId &other) {
    if (!isKnown(other, task.stream, known))
      missed = other;
  };
  uintptr_t at = access.begin;
  while (at < end) {
    auto [it, isNew] = pasts.try_emplace(at, Past{end, {}, {}});
    if (isNew)
      if (auto next = std::next(it); next != pasts.end())
        it->second.end = std::min(end, next->first);
    Past &past = it->second;
    if (past.writer)
      look(*past.writer);
    if (access.writes) {
      for (const TaskId &reader : past.readers)
        look(reader);
      past.readers.clear();
      past.writer = task;
    } else {
      std::erase_if(past.readers, [&](const TaskId &reader) {
        return reader.stream == task.stream;
      });
      past.readers.push_back(task);
    }
    at = past.end;
  }
  return missed;
}

void AccessLog::forget(uintptr_t begin, size_t bytes) {
  cutAt(begin);
  cutAt(begin + bytes);
  pasts.erase(pasts.lower_bound(begin), pasts.lower_bound(begin + bytes));
}

} // namespace pcc::fake
