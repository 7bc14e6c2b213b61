//===- Party.cpp - one end of the connections between ranks ---------------===//

#include "runtime/launch/rendezvous/Party.h"
#include "runtime/launch/rendezvous/Guest.h"
#include "runtime/launch/rendezvous/Host.h"

#include <charconv>

namespace pcc::runtime {

Status Party::open(const MeetingTerms &terms, std::unique_ptr<Party> &made) {
  if (terms.self.rank == 0) {
    auto host = std::make_unique<Host>(terms);
    Status status = host->listen();
    made = std::move(host);
    return status;
  }
  auto guest = std::make_unique<Guest>(terms);
  Status status = guest->resolve();
  made = std::move(guest);
  return status;
}

void Party::conclude(const Status &why, std::optional<int> lost) {
  if (ended.failed())
    return;
  ended = why;
  lostRank = lost;
}

void Party::end(const Status &why, std::optional<int> lost) {
  if (ended.failed())
    return;
  conclude(why, lost);
  tell(farewell());
}

Frame Party::farewell() const {
  constexpr size_t longest = 8192;
  return {FrameKind::Abort,
          encodeFields({{"code", std::to_string(int(ended.code()))},
                        {"reason", ended.message().substr(0, longest)},
                        {"lost", std::to_string(lostRank.value_or(-1))}})};
}

static int numberIn(const Fields &fields, const char *name, int otherwise) {
  const auto found = fields.find(name);
  if (found == fields.end())
    return otherwise;
  int number = otherwise;
  std::from_chars(found->second.data(),
                  found->second.data() + found->second.size(), number);
  return number;
}

Status Party::reasonIn(const Frame &frame, std::optional<int> &lost) {
  const Fields fields = decodeFields(frame.payload);
  const int code = numberIn(fields, "code", Defect);
  if (const int rank = numberIn(fields, "lost", -1); rank >= 0)
    lost = rank;
  const auto reason = fields.find("reason");
  return Status::error(
      code >= Defect && code <= ValuesDiffer ? ExitCode(code) : Defect,
      reason == fields.end() ? "another rank has ended" : reason->second);
}

} // namespace pcc::runtime
