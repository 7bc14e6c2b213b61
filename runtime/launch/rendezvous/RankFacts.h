//===- RankFacts.h - facts that ranks report to rank 0 --------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_RANKFACTS_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_RANKFACTS_H

#include "runtime/launch/rendezvous/Frame.h"
#include "status/Status.h"

#include <optional>
#include <vector>

namespace pcc::runtime {

/// Identity of a rank, which the rank sends to rank 0 when it connects.
struct RankFacts {
  int rank = 0;
  int worldSize = 1;
  /// Text that identifies the bundle of the rank. A bundle is the directory
  /// that the compiler writes. All ranks of a job must have the same text. The
  /// text contains two hashes: one of pcc's runtime, and one of the runtime,
  /// the programs and the kernels of all ranks. Example: "of build
  /// 9C41D07B25E8F316 with plan 5f2089ab41c6d703".
  std::string bundle;
  std::string host;
  /// Id of the rank's process on `host`.
  int pid = 0;

  /// Returns the identity of this process, with the given rank, world size and
  /// bundle.
  static RankFacts of(int rank, int worldSize, std::string bundle);
  /// Returns the identity as text for messages: "rank 3 (process 1234 on
  /// node7)".
  std::string text() const;

  /// Returns the identity as the fields of a Hello frame.
  Fields toFields() const;
  /// Parses the fields of a Hello frame; std::nullopt if one is missing or
  /// malformed.
  static std::optional<RankFacts> fromFields(const Fields &fields);
};

/// Checks that a rank belongs to the job of rank 0. `first` contains the facts
/// of rank 0. `other` contains the facts of the rank. Returns exit code 12 if
/// the world sizes (numbers of ranks) differ, or if `other.rank` is not one of
/// the numbers from 1 to the world size minus 1. Returns exit code 11 if the
/// bundles differ.
Status checkFacts(const RankFacts &first, const RankFacts &other);

/// Facts about a rank: its machine, its GPU, and its versions of NCCL and of
/// the CUDA driver. The rank sends these facts to rank 0 after the rank has
/// initialized its GPU.
struct GpuFacts {
  /// Id of the machine; unique even if two machines have the same host name.
  std::string machine;
  /// Host name, for messages.
  std::string host;
  /// Address of the GPU on the PCI bus.
  std::string gpu;
  /// `nccl`: version of NCCL. `driver`: version of the CUDA driver.
  std::string nccl, driver;

  /// Returns the facts of this process, with the given GPU address and
  /// versions.
  static GpuFacts of(std::string gpu, std::string nccl, std::string driver);
  /// Returns the facts as the payload of a Data frame.
  std::string encode() const;
  /// Parses a payload that encode() returned; missing fields become empty.
  static GpuFacts decode(const std::string &payload);
};

/// Checks that all ranks can run together; entry r of `ranks` is from rank r.
/// Exit code 11 if the versions of NCCL differ. Exit code 13 if two ranks use
/// one GPU, unless `mayShare` is true.
Status checkGpus(const std::vector<GpuFacts> &ranks, bool mayShare);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_RANKFACTS_H
