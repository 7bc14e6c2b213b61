//===- FlightEntry.h - what one rank did, as it lies in memory ------------===//
//
// A ring of the latest entries behind a header. Both have one size, hold no
// pointers and are read by other processes while the rank writes, or when it is
// gone: a reader believes no number and no text without a look.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_FLIGHTENTRY_H
#define PCC_RUNTIME_COMM_FLIGHT_FLIGHTENTRY_H

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pcc::runtime {

enum class FlightKind : uint32_t {
  Action, ///< of the step: 0F3; also "load" and "save"
  Wait,   ///< for peers, in a collective or for messages
  Post,   ///< a message that travels, from its post until it was waited for
};

struct FlightEntry {
  static constexpr int kMostPeers = 8;

  double begin = 0; ///< seconds of the host's steady clock
  double end = 0;   ///< 0: under way
  int64_t step = 0; ///< from 1; 0 before the first
  FlightKind kind = FlightKind::Action;
  uint32_t numPeers = 0;
  /// World ranks, of a wait those that had not come when it was last looked at;
  /// the first of them if they are more.
  int32_t peers[kMostPeers] = {};
  char call[16] = {}; ///< "all_reduce", "send"
  char action[32] = {};
  char value[96] = {}; ///< the end of the tensor's name
};

struct FlightHeader {
  static constexpr uint64_t kMagic = 0x31544847494c4650; // "PFLIGHT1"

  uint64_t magic = kMagic;
  int32_t rank = 0;
  uint32_t capacity = 0; ///< entries of the ring
  std::atomic<uint64_t> count{0};
  std::atomic<int64_t> step{0};
  /// When the rank last began something, or looked whether what it waits for
  /// has come.
  std::atomic<double> moved{0};
  /// All that it had to do is done.
  std::atomic<bool> hasLeft{false};
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_FLIGHTENTRY_H
