//===- Agree.cpp - collective agreement on success or failure -------------===//

#include "runtime/comm/Agree.h"

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Returns the message and the notes of `status`, each behind its size, as one
/// text for broadcast().
static std::string packed(const Status &status) {
  std::string text;
  auto append = [&](const std::string &line) {
    const auto size = uint64_t(line.size());
    text.append(reinterpret_cast<const char *>(&size), sizeof size);
    text += line;
  };
  append(status.message());
  for (const std::string &note : status.notes())
    append(note);
  return text;
}

/// Returns the error whose message and notes are in `text`, in the form of
/// packed().
static Status unpacked(ExitCode code, const std::string &text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    uint64_t size = 0;
    std::memcpy(&size, text.data() + at, sizeof size);
    lines.push_back(text.substr(at + sizeof size, size));
    at += sizeof size + size;
  }
  return Status::error(code, lines.front(), {lines.begin() + 1, lines.end()});
}

/// Sends the error `mine` of rank `root` to all ranks, and returns the error.
static Status share(World &world, const Status &mine, int root,
                    const ActionId &action) {
  std::string text = world.rank() == root ? packed(mine) : std::string();
  std::array<uint64_t, 2> head = {uint64_t(mine.code()), text.size()};
  PCC_RETURN_IF_ERROR(
      world.all().broadcast(head.data(), sizeof head, root, action));
  text.resize(head[1]);
  PCC_RETURN_IF_ERROR(
      world.all().broadcast(text.data(), text.size(), root, action));
  return unpacked(ExitCode(head[0]), text);
}

Status agree(World &world, const Status &mine, const ActionId &action) {
  int32_t root = mine.failed() ? world.rank() : world.size();
  Status status = world.all().allReduce(&root, &root, 1, ElementType::I32,
                                        dist::ReductionKind::Min, action);
  if (status.ok() && root < world.size())
    status = share(world, mine, root, action);
  return mine.failed() && status.code() == PeerLost ? mine : status;
}

} // namespace pcc::runtime
