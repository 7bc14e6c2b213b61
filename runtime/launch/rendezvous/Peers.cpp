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

/// Returns the name under which a message between ranks contains one note of an
/// error. A note is an additional line of the error text. The message consists
/// of lines "name=value". For example, the line "note0=raise the limit"
/// contains the note "raise the limit". `index` is the number of the note: 0
/// gives the name "note0", and 1 gives the name "note1".
static std::string noteField(size_t index) {
  return "note" + std::to_string(index);
}

/// Converts the error `why` to the lines of a message to another rank. Each
/// line has the form "name=value". The line "code" contains the exit code, and
/// the line "reason" contains the text of the error. The lines "note0" to
/// "note5" contain the notes. A note is an additional line of the error text.
/// Cuts each text after 8192 bytes. Ignores all notes after the sixth note.
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

/// Returns the number that a received message contains under the name `name`.
/// `fields` contains the lines of the message, which have the form
/// "name=value". For example, if `name` is "code" and the message contains the
/// line "code=12", returns 12. Returns `otherwise` if the message has no line
/// with this name, or if the value does not begin with a number.
static int numberIn(const Fields &fields, const char *name, int otherwise) {
  const auto found = fields.find(name);
  if (found == fields.end())
    return otherwise;
  int number = otherwise;
  std::from_chars(found->second.data(),
                  found->second.data() + found->second.size(), number);
  return number;
}

/// Converts `frame`, the message of another rank, to an error. The message
/// consists of lines "name=value":
///
/// - "code": the exit code; 1 (internal error) if missing or invalid
/// - "reason": the text; "another rank has ended" if missing
/// - "note0", "note1" and so on: additional lines of the text
/// - "lost": the rank whose failed connection is the reason for the error.
///   Stored in `lost`. If the line is missing or negative, `lost` is unchanged.
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
