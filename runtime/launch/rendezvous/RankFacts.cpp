//===- RankFacts.cpp - facts that ranks report to rank 0 ------------------===//

#include "runtime/launch/rendezvous/RankFacts.h"
#include "status/Counted.h"

#include <charconv>
#include <fstream>
#include <unistd.h>

namespace pcc::runtime {

static std::string hostName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

RankFacts RankFacts::of(int rank, int worldSize, std::string bundle) {
  return {rank, worldSize, std::move(bundle), hostName(), int(getpid())};
}

std::string RankFacts::text() const {
  return "rank " + std::to_string(rank) + " (process " + std::to_string(pid) +
         " on " + host + ")";
}

Fields RankFacts::toFields() const {
  return {{"rank", std::to_string(rank)},
          {"world", std::to_string(worldSize)},
          {"bundle", bundle},
          {"host", host},
          {"pid", std::to_string(pid)}};
}

/// Reads the number that a received message contains under the name `name`, and
/// stores it in `number`. `fields` contains the lines of the message, which
/// have the form "name=value". For example, if `name` is "pid" and the message
/// contains the line "pid=1234", sets `number` to 1234. Returns false if the
/// message has no line with this name, if the value is not a decimal number, or
/// if the number is negative.
static bool readNumber(const Fields &fields, const char *name, int &number) {
  const auto found = fields.find(name);
  if (found == fields.end())
    return false;
  const char *end = found->second.data() + found->second.size();
  const auto [stop, problem] =
      std::from_chars(found->second.data(), end, number);
  return problem == std::errc() && stop == end && number >= 0;
}

/// Returns the value that a received message contains under the name `name`.
/// `fields` contains the lines of the message, which have the form
/// "name=value". For example, if `name` is "host" and the message contains the
/// line "host=node7", returns "node7". Returns an empty string if the message
/// has no line with this name.
static std::string textIn(const Fields &fields, const char *name) {
  const auto found = fields.find(name);
  return found == fields.end() ? "" : found->second;
}

std::optional<RankFacts> RankFacts::fromFields(const Fields &fields) {
  RankFacts facts;
  const bool isComplete = readNumber(fields, "rank", facts.rank) &&
                          readNumber(fields, "world", facts.worldSize) &&
                          readNumber(fields, "pid", facts.pid);
  facts.bundle = textIn(fields, "bundle");
  facts.host = textIn(fields, "host");
  return isComplete && !facts.bundle.empty() ? std::optional(facts)
                                             : std::nullopt;
}

Status checkFacts(const RankFacts &first, const RankFacts &other) {
  if (other.worldSize != first.worldSize || other.rank < 1 ||
      other.rank >= first.worldSize)
    return Status::error(WrongWorld, other.text() + " is one of " +
                                         counted(other.worldSize, "rank") +
                                         ", " + first.text() + " one of " +
                                         std::to_string(first.worldSize));
  if (other.bundle != first.bundle)
    return Status::error(DamagedBundle,
                         other.text() + " has the bundle " + other.bundle +
                             ", " + first.text() + " has " + first.bundle,
                         {"copy one bundle to all hosts"});
  return Status::success();
}

/// Returns the kernel's boot id, which is equal in all containers on one
/// machine, unlike the host name.
static std::string machineId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id.empty() ? hostName() : id;
}

GpuFacts GpuFacts::of(std::string gpu, std::string nccl, std::string driver) {
  return {machineId(), hostName(), std::move(gpu), std::move(nccl),
          std::move(driver)};
}

std::string GpuFacts::encode() const {
  return encodeFields({{"machine", machine},
                       {"host", host},
                       {"gpu", gpu},
                       {"nccl", nccl},
                       {"driver", driver}});
}

GpuFacts GpuFacts::decode(const std::string &payload) {
  const Fields fields = decodeFields(payload);
  return {textIn(fields, "machine"), textIn(fields, "host"),
          textIn(fields, "gpu"), textIn(fields, "nccl"),
          textIn(fields, "driver")};
}

static std::string versionsOf(const GpuFacts &facts) {
  return "NCCL " + facts.nccl + " for CUDA " + facts.driver;
}

/// Returns an error if a rank has another version of NCCL than rank 0. Also
/// returns an error if two ranks use the same GPU, unless `mayShare` is true.
/// `ranks[r]` contains the facts about rank r. Two ranks use the same GPU if
/// they have the same machine id, and their GPUs have the same address on the
/// PCI bus.
Status checkGpus(const std::vector<GpuFacts> &ranks, bool mayShare) {
  std::map<std::pair<std::string, std::string>, size_t> taken;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const GpuFacts &mine = ranks[rank];
    if (mine.nccl != ranks[0].nccl)
      return Status::error(DamagedBundle,
                           "rank " + std::to_string(rank) + " has " +
                               versionsOf(mine) + ", rank 0 has " +
                               versionsOf(ranks[0]),
                           {"all ranks need the same version of NCCL"});
    const auto [entry, isFree] =
        taken.emplace(std::pair(mine.machine, mine.gpu), rank);
    if (!isFree && !mayShare)
      return Status::error(
          NoDevice, "ranks " + std::to_string(entry->second) + " and " +
                        std::to_string(rank) + " both have GPU " + mine.gpu +
                        " of " + mine.host +
                        "; --share-gpu allows this, for tests with fewer GPUs");
  }
  return Status::success();
}

} // namespace pcc::runtime
