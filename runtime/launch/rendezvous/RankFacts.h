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
  /// that the compiler writes. All ranks of a job must have the same text. An
  /// example of a text:
  ///
  ///   of build pcc-9C41D07B25E8F316 with plan 5f2089ab41c6d703
  ///
  /// - 9C41D07B25E8F316 is a hash of pcc's runtime only.
  /// - 5f2089ab41c6d703 is a hash of pcc's runtime, and of the programs and the
  ///   kernels of all ranks.
  std::string bundle;
  std::string host;
  /// Id of the rank's process on `host`.
  int pid = 0;

  /// Creates an object that identifies this process. `rank` is the rank number
  /// of this process, `worldSize` is the number of ranks of the job, and
  /// `bundle` is a text that identifies the bundle of this process. The
  /// function itself finds the host name and the process id.
  static RankFacts of(int rank, int worldSize, std::string bundle);
  /// Returns the identity as text for messages: "rank 3 (process 1234 on
  /// node7)".
  std::string text() const;

  /// Returns the members as the lines of a message. The message is the first
  /// encrypted message of this rank to rank 0. Each line has the form
  /// "name=value", such as "rank=3" or "host=node7". The result maps each name
  /// to its value.
  Fields toFields() const;
  /// Reads the identity of another rank from its first encrypted message to
  /// rank 0. `fields` contains the lines of this message, as toFields() returns
  /// them. Returns std::nullopt in these cases:
  ///
  /// - The rank, the world size, or the process id is missing or is not a
  ///   number of at least 0.
  /// - The text that identifies the bundle is missing or empty.
  static std::optional<RankFacts> fromFields(const Fields &fields);
};

/// Checks whether a rank belongs to the job of rank 0. `first` describes rank
/// 0, and `other` describes the rank. Returns an error in these cases:
///
/// - The two ranks have different world sizes. The world size is the number of
///   ranks of the job. The exit code is 12.
/// - `other.rank` is not a number from 1 to the world size minus 1. The exit
///   code is 12.
/// - The two ranks have different bundles: `first.bundle` and `other.bundle`
///   are different texts. The exit code is 11.
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

  /// Creates an object that describes the GPU of this process. `gpu` is the
  /// address of the GPU on the PCI bus, `nccl` is the version of NCCL, and
  /// `driver` is the version of the CUDA driver. The function itself finds the
  /// id of the machine and the host name.
  static GpuFacts of(std::string gpu, std::string nccl, std::string driver);
  /// Returns the members as the content of a message to rank 0. The content
  /// consists of five lines "name=value". For example, the line "host=node7"
  /// contains the member `host`.
  std::string encode() const;
  /// Converts the content of a received message to GpuFacts. encode() creates
  /// this content, which consists of lines such as "host=node7". If the line
  /// for a member is missing, the member becomes empty.
  static GpuFacts decode(const std::string &payload);
};

/// Checks that all ranks of a job can run together. `ranks[r]` contains the
/// facts that rank r has sent to rank 0: its machine, its GPU, and its version
/// of NCCL. Returns an error in these cases:
///
/// - Two ranks have different versions of NCCL. The exit code is 11.
/// - Two ranks use the same GPU, and `mayShare` is false. The exit code is 13.
///   `mayShare` is true if the user has passed the option --share-gpu.
Status checkGpus(const std::vector<GpuFacts> &ranks, bool mayShare);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_RANKFACTS_H
