//===- RankFacts.h - what ranks tell rank 0 about themselves --------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_RANKFACTS_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_RANKFACTS_H

#include "runtime/base/Status.h"
#include "runtime/launch/rendezvous/Frame.h"

#include <optional>
#include <vector>

namespace pcc::runtime {

/// Who a rank is: said when it comes.
struct RankFacts {
  int rank = 0;
  int worldSize = 1;
  std::string bundle; ///< the same in all programs of a bundle, of a build
  std::string host;
  int pid = 0;

  /// Of this process.
  static RankFacts of(int rank, int worldSize, std::string bundle);
  /// "rank 3 (process 1234 on node7)".
  std::string text() const;

  Fields toFields() const;
  /// Nothing if what came is not complete.
  static std::optional<RankFacts> fromFields(const Fields &fields);
};

/// Whether a rank that has come belongs to the job of `first`, rank 0: exit
/// code 11 if it has another bundle, 12 if it knows another world.
Status checkFacts(const RankFacts &first, const RankFacts &other);

/// What a rank runs on: said when its GPU is open.
struct GpuFacts {
  std::string machine; ///< other hosts have others, whatever they are called
  std::string host;
  std::string gpu;          ///< its place on the PCI bus
  std::string nccl, driver; ///< versions

  /// Of this host.
  static GpuFacts of(std::string gpu, std::string nccl, std::string driver);
  std::string encode() const;
  static GpuFacts decode(const std::string &payload);
};

/// Whether ranks, by number, can run together: exit code 11 if they have other
/// versions of NCCL, 13 if two have one GPU and must not.
Status checkGpus(const std::vector<GpuFacts> &ranks, bool mayShare);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_RANKFACTS_H
