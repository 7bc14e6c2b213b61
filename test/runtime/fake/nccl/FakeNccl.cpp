//===- FakeNccl.cpp - NCCL's functions, through files ---------------------===//
//
// Ranks are processes that share a folder. Programs on which NCCL would hang
// also hang here: a send ends after its receive was called, the calls of a
// communicator run one after another, and a call for which the GPU has no room
// waits until others end. Members must make the same calls, and two ranks must
// call the communicators that they share in the same order. Calls return before
// they end. A communicator rejects a new call until the host has seen the end
// of the last one.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/TreeReduce.h"
#include "test/runtime/fake/cuda/FakeGpu.h"
#include "test/runtime/fake/nccl/Mailbox.h"

#include <nccl.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <unistd.h>

using namespace pcc::fake;
using pcc::runtime::ElementType;

namespace {
/// A split that some members have not called yet.
struct Split {
  std::string name;
  int color;
  ncclComm_t *made; ///< null until it has ended
  int blocks;
};

/// A communicator of one rank.
struct Comm {
  std::shared_ptr<Mailbox> mailbox; ///< of the job
  std::string name;
  std::vector<int> members; ///< world ranks
  int self = 0;             ///< among them
  int blocks = 32;          ///< of a call: NCCL takes no more
  int64_t calls = 0, splits = 0;
  std::map<int, int64_t> sent, received; ///< by peer
  ncclResult_t state = ncclSuccess;
  int busy = 0; ///< how often it says so before it has taken a call
  std::optional<Split> split;
  bool isMeeting = false; ///< not all ranks of the world have come
  bool hasEnded = false;  ///< what it was given and has not done is left out
};

/// A piece of a point-to-point call.
struct Transfer {
  Comm *comm;
  const void *data;
  size_t bytes;
  int peer;
  bool isSend;
  Stream *stream;
  std::string name = {};
  bool isBegun = false, isDone = false;
};

/// A collective that one rank calls. All members must agree.
struct Collective {
  char kind[16] = "";
  uint64_t count = 0;
  int32_t type = 0, op = 0, root = 0;
  bool operator==(const Collective &) const = default;
};
} // namespace

/// State of the group of calls that is being made.
static thread_local int depth = 0;
static thread_local std::vector<Transfer> grouped;
static std::string lastError;

/// Returns the number of calls of every communicator so far. Ranks that share
/// two communicators must agree on them.
static std::map<std::string, int64_t> &launches() {
  static std::map<std::string, int64_t> made;
  return made;
}

static Comm &commOf(ncclComm_t comm) { return *reinterpret_cast<Comm *>(comm); }

static ncclResult_t refuse(Comm *comm, ncclResult_t result, std::string why) {
  lastError = std::move(why);
  if (comm)
    comm->state = result;
  return result;
}

static bool isBusy(const Comm &comm) {
  return comm.busy > 0 || comm.split || comm.isMeeting;
}

static ncclResult_t refuseBusy(Comm &comm) {
  return refuse(&comm, ncclInvalidArgument,
                comm.name + " is called before its last call has ended");
}

/// Returns like a call of a communicator that does not block.
static ncclResult_t begun(Comm &comm) {
  comm.busy = 2;
  return ncclInProgress;
}

/// Returns like begun(), for a call that needs peers, one of which may be gone.
static ncclResult_t begunWithPeers(Comm &comm) {
  static int64_t calls = 0;
  if (++calls == settings().remoteAt)
    refuse(&comm, ncclRemoteError, "a peer is gone");
  return begun(comm);
}

static ElementType elementOf(ncclDataType_t type) {
  switch (type) {
  case ncclInt8:
    return ElementType::I8;
  case ncclUint8:
    return ElementType::U8;
  case ncclInt32:
    return ElementType::I32;
  case ncclUint32:
    return ElementType::U32;
  case ncclInt64:
    return ElementType::I64;
  case ncclUint64:
    return ElementType::U64;
  case ncclFloat16:
    return ElementType::F16;
  case ncclBfloat16:
    return ElementType::BF16;
  case ncclFloat64:
    return ElementType::F64;
  default:
    return ElementType::F32;
  }
}

/// Returns whether a call begins only after all earlier calls of the host have
/// begun.
static bool isInHostsOrder() {
  const char *said = std::getenv("NCCL_LAUNCH_ORDER_IMPLICIT");
  return said && std::string_view(said) == "1";
}

/// Wraps a call so that it occupies one multiprocessor per block from its begin
/// to its end.
static std::function<bool()> inRoom(const Comm &comm,
                                    std::function<bool()> advance) {
  static int free = numMultiprocessors;
  static int64_t given = 0, numBegun = 0;
  return [blocks = comm.blocks, advance = std::move(advance),
          hasRoom = std::make_shared<bool>(false), number = given++] {
    if (!*hasRoom &&
        (free < blocks || (isInHostsOrder() && number != numBegun)))
      return false;
    if (!std::exchange(*hasRoom, true)) {
      free -= blocks;
      ++numBegun;
    }
    if (!advance())
      return false;
    free += blocks;
    return true;
  };
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

namespace {
/// One collective on one rank, from its begin to its result.
class Meeting {
public:
  Meeting(Comm &comm, Collective what, const void *in, size_t inBytes,
          std::function<void(const std::vector<std::string> &)> finish)
      : comm(comm), what(what), in(static_cast<const char *>(in)),
        inBytes(inBytes), finish(std::move(finish)), number(++comm.calls),
        order(launches()) {
    ++launches()[comm.name];
  }

  /// Makes progress. Returns true when the collective has ended.
  bool advance() {
    if (comm.hasEnded)
      return true;
    if (!isPosted)
      post();
    if (!hasAll())
      return false;
    std::vector<std::string> parts;
    for (size_t member = 0; member < comm.members.size(); ++member)
      if (!readPart(int(member), parts))
        return true;
    finish(parts);
    // All members that are here have ended the collective before.
    comm.mailbox->remove(nameOf(comm.self, number - 1));
    return true;
  }

private:
  std::string nameOf(int member, int64_t call) const {
    return comm.name + ".call" + std::to_string(call) + "." +
           std::to_string(member);
  }

  void post() {
    isPosted = true;
    std::string message(reinterpret_cast<const char *>(&what), sizeof what);
    std::string text;
    for (const auto &[name, count] : order)
      text += name + "=" + std::to_string(count) + ";";
    message += std::string(8, '\0');
    const uint64_t length = text.size();
    std::memcpy(message.data() + sizeof what, &length, sizeof length);
    message += text;
    message.append(in, inBytes);
    comm.mailbox->put(nameOf(comm.self, number), message);
  }

  bool hasAll() const {
    for (size_t member = 0; member < comm.members.size(); ++member)
      if (!comm.mailbox->has(nameOf(int(member), number)))
        return false;
    return true;
  }

  bool readPart(int member, std::vector<std::string> &parts) {
    const std::string message = comm.mailbox->read(nameOf(member, number));
    Collective theirs;
    std::memcpy(static_cast<void *>(&theirs), message.data(), sizeof theirs);
    uint64_t length = 0;
    std::memcpy(&length, message.data() + sizeof theirs, sizeof length);
    const size_t head = sizeof theirs + sizeof length;
    if (!(theirs == what)) {
      refuse(&comm, ncclInvalidUsage,
             std::string("members of ") + comm.name + " call " + what.kind +
                 " and " + theirs.kind + ", or of different sizes");
      return false;
    }
    if (!isInOrder(message.substr(head, length)))
      return false;
    parts.push_back(message.substr(head + length));
    return true;
  }

  /// Checks that both ranks have made equally many calls of every communicator
  /// that they share.
  bool isInOrder(const std::string &theirs) {
    std::istringstream list(theirs);
    for (std::string entry; std::getline(list, entry, ';');) {
      const size_t equals = entry.find('=');
      const auto mine = order.find(entry.substr(0, equals));
      if (mine == order.end() ||
          std::to_string(mine->second) == entry.substr(equals + 1))
        continue;
      refuse(&comm, ncclInvalidUsage,
             "ranks call " + comm.name + " and " + mine->first +
                 " in different orders");
      return false;
    }
    return true;
  }

  Comm &comm;
  const Collective what;
  const char *in;
  const size_t inBytes;
  const std::function<void(const std::vector<std::string> &)> finish;
  const int64_t number;
  const std::map<std::string, int64_t> order;
  bool isPosted = false;
};
} // namespace

static ncclResult_t
giveNow(ncclComm_t handle, cudaStream_t stream, Collective what, const void *in,
        size_t inBytes, void *out, size_t outBytes,
        const std::function<void(const std::vector<std::string> &)> &finish) {
  FakeGpu &gpu = FakeGpu::get();
  const std::lock_guard lock(gpu.mutex);
  Comm &comm = commOf(handle);
  const Access accesses[] = {
      {reinterpret_cast<uintptr_t>(in), inBytes, false},
      {reinterpret_cast<uintptr_t>(out), outBytes, true}};
  const MakeWork meet = [=, &comm] {
    auto meeting = std::make_shared<Meeting>(comm, what, in, inBytes, finish);
    return inRoom(comm, [meeting] { return meeting->advance(); });
  };
  const bool isOrdered =
      gpu.give(*reinterpret_cast<Stream *>(stream), what.kind, accesses, meet);
  return isOrdered ? ncclSuccess : refuse(&comm, ncclInvalidUsage, gpu.error);
}

/// A call that is to be swapped waits for the next one. Rank 1 lists the
/// communicators of its calls, so that tests find two to swap.
static ncclResult_t giveCollective(
    ncclComm_t handle, cudaStream_t stream, Collective what, const void *in,
    size_t inBytes, void *out, size_t outBytes,
    const std::function<void(const std::vector<std::string> &)> &finish) {
  static int64_t calls = 0;
  static std::function<ncclResult_t()> held;
  Comm &comm = commOf(handle);
  if (isBusy(comm))
    return refuseBusy(comm);
  const auto give = [=] {
    return giveNow(handle, stream, what, in, inBytes, out, outBytes, finish);
  };
  if (comm.members[size_t(comm.self)] == 1) {
    comm.mailbox->append("calls", comm.name + "\n");
    if (++calls == settings().swapAt) {
      held = give;
      return ncclSuccess;
    }
  }
  ncclResult_t result = give();
  if (result == ncclSuccess && held)
    result = std::exchange(held, {})();
  return result == ncclSuccess ? begunWithPeers(comm) : result;
}

static Collective describe(const char *kind, size_t count, ncclDataType_t type,
                           int op = 0, int root = 0) {
  Collective what;
  std::memset(static_cast<void *>(&what), 0, sizeof what);
  std::strncpy(what.kind, kind, sizeof what.kind - 1);
  what.count = count;
  what.type = type;
  what.op = op;
  what.root = root;
  return what;
}

/// Reduces the elements from `first` on of all parts, in the order of ranks.
static void reduce(const std::vector<std::string> &parts, size_t first,
                   size_t count, ncclDataType_t type, ncclRedOp_t op,
                   void *out) {
  static constexpr pcc::dist::ReductionKind kinds[] = {
      pcc::dist::ReductionKind::Sum, pcc::dist::ReductionKind::Prod,
      pcc::dist::ReductionKind::Max, pcc::dist::ReductionKind::Min};
  std::vector<const void *> inputs;
  for (const std::string &part : parts)
    inputs.push_back(part.data() +
                     first * pcc::runtime::sizeOf(elementOf(type)));
  void *const outputs[] = {out};
  pcc::runtime::reduceInTree(inputs, outputs, 0, count, elementOf(type),
                             kinds[op]);
}

//===----------------------------------------------------------------------===//
// Point to point
//===----------------------------------------------------------------------===//

/// Makes progress with one piece.
static void advance(Transfer &transfer) {
  Comm &comm = *transfer.comm;
  Mailbox &mailbox = *comm.mailbox;
  if (transfer.isSend) {
    if (!transfer.isBegun)
      mailbox.put(transfer.name,
                  std::string(static_cast<const char *>(transfer.data),
                              transfer.bytes));
    transfer.isBegun = true;
    transfer.isDone = !mailbox.has(transfer.name);
    return;
  }
  if (!mailbox.has(transfer.name))
    return;
  const std::string message = mailbox.read(transfer.name);
  if (message.size() != transfer.bytes)
    refuse(&comm, ncclInvalidUsage, "a receive of another size than its send");
  else
    std::memcpy(const_cast<void *>(transfer.data), message.data(),
                message.size());
  mailbox.remove(transfer.name);
  transfer.isDone = true;
}

static bool advanceAll(std::vector<Transfer> &transfers) {
  bool isDone = true;
  for (Transfer &transfer : transfers) {
    transfer.isDone |= transfer.comm->hasEnded;
    if (!transfer.isDone)
      advance(transfer);
    isDone &= transfer.isDone;
  }
  return isDone;
}

/// Returns the name of the next message: send number k of one rank matches
/// receive number k of the other.
static std::string nextName(const Transfer &transfer) {
  Comm &comm = *transfer.comm;
  auto &numbers = transfer.isSend ? comm.sent : comm.received;
  const int from = transfer.isSend ? comm.self : transfer.peer;
  const int to = transfer.isSend ? transfer.peer : comm.self;
  return comm.name + ".p" + std::to_string(from) + "-" + std::to_string(to) +
         "." + std::to_string(numbers[transfer.peer]++);
}

static ncclResult_t giveTransfers(std::vector<Transfer> transfers) {
  if (transfers.empty())
    return ncclSuccess;
  FakeGpu &gpu = FakeGpu::get();
  const std::lock_guard lock(gpu.mutex);
  std::vector<Access> accesses;
  for (const Transfer &transfer : transfers)
    accesses.push_back({reinterpret_cast<uintptr_t>(transfer.data),
                        transfer.bytes, !transfer.isSend});
  Comm *const first = transfers.front().comm;
  Stream &stream = *transfers.front().stream;
  const MakeWork travel = [transfers = std::move(transfers)] {
    auto all = std::make_shared<std::vector<Transfer>>(transfers);
    for (Transfer &transfer : *all)
      transfer.name = nextName(transfer);
    return inRoom(*all->front().comm, [all] { return advanceAll(*all); });
  };
  const bool isOrdered = gpu.give(stream, "a transfer", accesses, travel);
  return isOrdered ? ncclSuccess : refuse(first, ncclInvalidUsage, gpu.error);
}

static ncclResult_t giveGroup(std::vector<Transfer> transfers) {
  std::set<Comm *> comms;
  for (const Transfer &transfer : transfers)
    comms.insert(transfer.comm);
  const ncclResult_t result = giveTransfers(std::move(transfers));
  if (result != ncclSuccess || comms.empty() || settings().ungroup != 0)
    return result;
  for (Comm *comm : comms)
    begunWithPeers(*comm);
  return ncclInProgress;
}

static ncclResult_t addTransfer(Transfer transfer) {
  if (isBusy(*transfer.comm))
    return refuseBusy(*transfer.comm);
  if (depth == 0)
    return giveGroup({std::move(transfer)});
  grouped.push_back(std::move(transfer));
  return ncclSuccess;
}

//===----------------------------------------------------------------------===//
// NCCL
//===----------------------------------------------------------------------===//

/// Returns the GPU of this rank, and the name that NCCL takes for its host.
static std::string gpuOnHost() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const char *said = std::getenv("NCCL_HOSTID");
  return std::to_string(FakeGpu::get().bus) + " of " + (said ? said : host);
}

extern "C" {

ncclResult_t ncclGetVersion(int *version) {
  *version = int(settings().nccl);
  return ncclSuccess;
}
const char *ncclGetErrorString(ncclResult_t) { return lastError.c_str(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  const char *folder = std::getenv("TMPDIR");
  const std::string path =
      std::string(folder ? folder : "/tmp") + "/pcc-fake-nccl-XXXXXX";
  if (path.size() >= sizeof id->internal)
    return refuse(nullptr, ncclSystemError, "TMPDIR is too long");
  std::memset(id->internal, 0, sizeof id->internal);
  std::memcpy(id->internal, path.data(), path.size());
  return mkdtemp(id->internal) ? ncclSuccess
                               : refuse(nullptr, ncclSystemError, "no folder");
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *made, int size, ncclUniqueId id,
                                    int rank, ncclConfig_t *) {
  const std::lock_guard lock(FakeGpu::get().mutex);
  auto comm = std::make_unique<Comm>();
  comm->mailbox = std::make_shared<Mailbox>(id.internal);
  comm->name = "world";
  comm->self = rank;
  for (int member = 0; member < size; ++member)
    comm->members.push_back(member);
  comm->mailbox->put("gpu." + std::to_string(rank), gpuOnHost());
  comm->isMeeting = true;
  *made = reinterpret_cast<ncclComm_t>(comm.get());
  return begun(*comm.release());
}

/// Checks that a world has no GPU of a host twice.
static void endMeeting(Comm &world) {
  std::set<std::string> gpus;
  for (const int member : world.members) {
    const std::string name = "gpu." + std::to_string(member);
    if (!world.mailbox->has(name))
      return;
    gpus.insert(world.mailbox->read(name));
  }
  world.isMeeting = false;
  if (gpus.size() < world.members.size())
    refuse(&world, ncclInvalidUsage, "two ranks have one GPU");
}

/// Every rank writes its color and key. Like in NCCL, the call succeeds at once
/// without a communicator, which is written when it has been made.
ncclResult_t ncclCommSplit(ncclComm_t handle, int color, int key,
                           ncclComm_t *made, ncclConfig_t *config) {
  const std::lock_guard lock(FakeGpu::get().mutex);
  Comm &parent = commOf(handle);
  if (isBusy(parent))
    return refuseBusy(parent);
  const std::string name =
      parent.name + ".split" + std::to_string(parent.splits++);
  parent.mailbox->put(name + "." + std::to_string(parent.self),
                      std::to_string(color) + " " + std::to_string(key));
  *made = nullptr;
  parent.split = {name, color, made, config->maxCTAs};
  return ncclSuccess;
}

/// Makes the communicator of a split that all members have called.
static void endSplit(Comm &parent) {
  std::vector<std::pair<int, int>> chosen; ///< key, member of the parent
  const Split split = *parent.split;
  for (size_t member = 0; member < parent.members.size(); ++member) {
    const std::string theirs = split.name + "." + std::to_string(member);
    if (!parent.mailbox->has(theirs))
      return;
    int theirColor = 0, theirKey = 0;
    std::istringstream(parent.mailbox->read(theirs)) >> theirColor >> theirKey;
    if (theirColor == split.color)
      chosen.emplace_back(theirKey, int(member));
  }
  parent.split.reset();
  if (split.color == NCCL_SPLIT_NOCOLOR)
    return;
  std::sort(chosen.begin(), chosen.end());
  auto comm = std::make_unique<Comm>();
  comm->mailbox = parent.mailbox;
  comm->name = split.name + "." + std::to_string(split.color);
  if (split.blocks != NCCL_CONFIG_UNDEF_INT)
    comm->blocks = split.blocks;
  for (const auto &[theirKey, member] : chosen) {
    if (member == parent.self)
      comm->self = int(comm->members.size());
    comm->members.push_back(parent.members[size_t(member)]);
  }
  *split.made = reinterpret_cast<ncclComm_t>(comm.get());
  begun(*comm.release());
}

ncclResult_t ncclCommFinalize(ncclComm_t handle) {
  const std::lock_guard lock(FakeGpu::get().mutex);
  Comm &comm = commOf(handle);
  return isBusy(comm) ? refuseBusy(comm) : begun(comm);
}
ncclResult_t ncclCommDestroy(ncclComm_t handle) {
  const std::lock_guard lock(FakeGpu::get().mutex);
  // Its calls still refer to it.
  commOf(handle).hasEnded = true;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t handle) {
  while (settings().stuckAbort != 0)
    pause();
  return ncclCommDestroy(handle);
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t *state) {
  if (!handle)
    return ncclInvalidArgument;
  const std::lock_guard lock(FakeGpu::get().mutex);
  Comm &comm = commOf(handle);
  if (comm.isMeeting)
    endMeeting(comm);
  if (comm.split)
    endSplit(comm);
  const bool wasBusy = isBusy(comm);
  comm.busy = std::max(comm.busy - 1, 0);
  *state = comm.state == ncclSuccess && wasBusy ? ncclInProgress : comm.state;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  depth += settings().ungroup == 0;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (settings().ungroup != 0 || --depth > 0)
    return ncclSuccess;
  return giveGroup(std::exchange(grouped, {}));
}

ncclResult_t ncclSend(const void *data, size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t stream) {
  return addTransfer({&commOf(comm), data,
                      count * pcc::runtime::sizeOf(elementOf(type)), peer, true,
                      reinterpret_cast<Stream *>(stream)});
}
ncclResult_t ncclRecv(void *data, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return addTransfer({&commOf(comm), data,
                      count * pcc::runtime::sizeOf(elementOf(type)), peer,
                      false, reinterpret_cast<Stream *>(stream)});
}

ncclResult_t ncclAllReduce(const void *in, void *out, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  const size_t bytes = count * pcc::runtime::sizeOf(elementOf(type));
  return giveCollective(comm, stream, describe("all_reduce", count, type, op),
                        in, bytes, out, bytes, [=](const auto &parts) {
                          reduce(parts, 0, count, type, op, out);
                        });
}
ncclResult_t ncclReduceScatter(const void *in, void *out, size_t count,
                               ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  const size_t bytes = count * pcc::runtime::sizeOf(elementOf(type));
  const auto self = size_t(commOf(comm).self);
  return giveCollective(
      comm, stream, describe("reduce_scatter", count, type, op), in,
      bytes * commOf(comm).members.size(), out, bytes, [=](const auto &parts) {
        reduce(parts, self * count, count, type, op, out);
      });
}
ncclResult_t ncclAllGather(const void *in, void *out, size_t count,
                           ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  const size_t bytes = count * pcc::runtime::sizeOf(elementOf(type));
  return giveCollective(comm, stream, describe("all_gather", count, type), in,
                        bytes, out, bytes * commOf(comm).members.size(),
                        [=](const auto &parts) {
                          auto *place = static_cast<char *>(out);
                          for (const std::string &part : parts) {
                            std::memcpy(place, part.data(), bytes);
                            place += bytes;
                          }
                        });
}
ncclResult_t ncclBroadcast(const void *in, void *out, size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  const size_t bytes = count * pcc::runtime::sizeOf(elementOf(type));
  return giveCollective(comm, stream,
                        describe("broadcast", count, type, 0, root), in, bytes,
                        out, bytes, [=](const auto &parts) {
                          std::memcpy(out, parts[size_t(root)].data(), bytes);
                        });
}

} // extern "C"
