//===- RankFacts.h - facts that ranks report to rank 0 --------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_RANKFACTS_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_RANKFACTS_H

#include "runtime/base/Status.h"
#include "runtime/launch/rendezvous/Frame.h"

#include <optional>
#include <vector>

namespace pcc::runtime {

/// Identity of a rank, which it sends when it connects.
struct RankFacts {
  int rank = 0;
  int worldSize = 1;
  /// Text that is equal on all ranks of one bundle and one build of pcc.
  std::string bundle;
  std::string host;
  /// Process id on `host`.
  int pid = 0;

  /// Returns the facts of this process.
  static RankFacts of(int rank, int worldSize, std::string bundle);
  /// Returns the rank for messages: "rank 3 (process 1234 on node7)".
  std::string text() const;

  /// Converts the facts to the fields of a Hello frame.
  Fields toFields() const;
  /// Parses the fields of a Hello frame; empty if one is missing or malformed.
  static std::optional<RankFacts> fromFields(const Fields &fields);
};

/// Checks that a rank that has connected belongs to the job of `first`, rank 0.
/// Exit code 11 if its bundle differs, 12 if its world size differs or its rank
/// is out of range.
Status checkFacts(const RankFacts &first, const RankFacts &other);

/// Hardware and library versions of a rank, which it sends when its GPU is
/// open.
struct GpuFacts {
  /// Id of the machine: unique even where host names are not.
  std::string machine;
  /// Host name, for messages.
  std::string host;
  /// Address of the GPU on the PCI bus.
  std::string gpu;
  /// Versions of NCCL and of the CUDA driver.
  std::string nccl, driver;

  /// Returns the facts of this process, on this host.
  static GpuFacts of(std::string gpu, std::string nccl, std::string driver);
  /// Serializes the facts as the payload of a Data frame.
  std::string encode() const;
  /// Inverse of encode(); missing fields become empty.
  static GpuFacts decode(const std::string &payload);
};

/// Checks that ranks can run together; entry r of `ranks` is from rank r. Exit
/// code 11 if versions of NCCL differ, 13 if two ranks use one GPU without
/// `mayShare`.
Status checkGpus(const std::vector<GpuFacts> &ranks, bool mayShare);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_RANKFACTS_H
