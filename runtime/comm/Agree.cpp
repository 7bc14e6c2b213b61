//===- Agree.cpp - collective agreement on success or failure -------------===//

#include "runtime/comm/Agree.h"

#include "runtime/comm/BroadcastText.h"

#include <string>
#include <vector>

namespace pcc::runtime {

/// Returns the exit code, the message and the notes of `status` as one text for
/// broadcastText(). Each of them ends with a zero byte. A message or note
/// contains no zero byte itself.
static std::string packed(const Status &status) {
  std::string text = std::to_string(status.code()) + '\0';
  text += status.message() + '\0';
  for (const std::string &note : status.notes())
    text += note + '\0';
  return text;
}

/// Returns the error from which packed() has made `text`.
static Status unpacked(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\0', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return Status::error(ExitCode(std::stoi(lines.at(0))), lines.at(1),
                       {lines.begin() + 2, lines.end()});
}

/// Sends the error `mine` of rank `root` to all ranks, and returns the error.
static Status share(World &world, const Status &mine, int root,
                    const ActionId &action) {
  std::string text = world.rank() == root ? packed(mine) : std::string();
  PCC_RETURN_IF_ERROR(broadcastText(world, root, text, action));
  return unpacked(text);
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
