//===- Peers.cpp - one end of the connections between ranks ---------------===//

#include "runtime/launch/rendezvous/Peers.h"
#include "runtime/launch/rendezvous/RendezvousClient.h"
#include "runtime/launch/rendezvous/RendezvousServer.h"

#include <algorithm>
#include <charconv>

namespace pcc::runtime {

Status Peers::open(const JoinTerms &terms, std::unique_ptr<Peers> &made) {
  if (terms.self.rank == 0) {
    auto host = std::make_unique<RendezvousServer>(terms);
    Status status = host->listen();
    made = std::move(host);
    return status;
  }
  auto guest = std::make_unique<RendezvousClient>(terms);
  Status status = guest->resolve();
  made = std::move(guest);
  return status;
}

void Peers::conclude(const Status &why, std::optional<int> lost) {
  if (ended.failed())
    return;
  ended = why;
  lostRank = lost;
}

void Peers::end(const Status &why, std::optional<int> lost) {
  if (ended.failed())
    return;
  conclude(why, lost);
  tell(farewell());
}

/// Returns the name of the frame field that contains one note (additional line)
/// of an error: "note0" for `index` 0.
static std::string noteField(size_t index) {
  return "note" + std::to_string(index);
}

/// Returns the fields of a frame that carries the error `why`.
static Fields fieldsOf(const Status &why) {
  constexpr size_t longest = 8192;
  constexpr size_t mostNotes = 6;
  Fields fields = {{"code", std::to_string(int(why.code()))},
                   {"reason", why.message().substr(0, longest)}};
  for (size_t i = 0; i < std::min(why.notes().size(), mostNotes); ++i)
    fields[noteField(i)] = why.notes()[i].substr(0, longest);
  return fields;
}

Frame Peers::farewell() const {
  Fields fields = fieldsOf(ended);
  fields["lost"] = std::to_string(lostRank.value_or(-1));
  return {FrameKind::Abort, encodeFields(fields)};
}

Frame Peers::refusal(const Status &why) {
  return {FrameKind::Refusal, encodeFields(fieldsOf(why))};
}

/// Returns the number in the field `name`, or `otherwise` if the field is
/// missing or malformed.
static int numberIn(const Fields &fields, const char *name, int otherwise) {
  const auto found = fields.find(name);
  if (found == fields.end())
    return otherwise;
  int number = otherwise;
  std::from_chars(found->second.data(),
                  found->second.data() + found->second.size(), number);
  return number;
}

/// Reads these fields from the payload of `frame`:
///
/// - "code": the exit code of the error. If this field is missing or is not an
///   exit code of pcc, the returned error has exit code 1 (internal error).
/// - "reason": the text of the error.
/// - "note0", "note1" and so on: additional lines of text.
/// - "lost": the number of the rank whose failed connection is the reason for
///   the error. If this field is missing or negative, there is no such rank,
///   and the parameter `lost` is not changed.
Status Peers::reasonIn(const Frame &frame, std::optional<int> &lost) {
  const Fields fields = decodeFields(frame.payload);
  const int code = numberIn(fields, "code", Defect);
  if (const int rank = numberIn(fields, "lost", -1); rank >= 0)
    lost = rank;
  const auto reason = fields.find("reason");
  Status status = Status::error(
      code >= Defect && code <= ValuesDiffer ? ExitCode(code) : Defect,
      reason == fields.end() ? "another rank has ended" : reason->second);
  for (size_t i = 0; fields.contains(noteField(i)); ++i)
    status.addNote(fields.at(noteField(i)));
  return status;
}

} // namespace pcc::runtime
