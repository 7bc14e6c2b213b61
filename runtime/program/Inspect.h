//===- Inspect.h - what a bundle says about itself ------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_INSPECT_H
#define PCC_RUNTIME_PROGRAM_INSPECT_H

#include "runtime/base/Status.h"

#include <optional>
#include <string>

namespace pcc::runtime {

struct InspectOptions {
  std::string bundle;
  /// Only what concerns this rank.
  std::optional<int64_t> rank = {};
  bool json = false;
  /// Only the actions, in the form of PyTorch's schedule files, which
  /// `--schedule FILE.csv` takes.
  bool schedule = false;
};

/// Reads bundle.json, which describes programs, and writes to `text` what holds
/// for every rank: coordinates, and the runs of indices that it has of weights,
/// inputs and outputs. As JSON, or as a table for people. Exit code 11 if the
/// bundle cannot be read, 2 if it has no such rank.
Status inspectBundle(const InspectOptions &options, std::string &text);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_INSPECT_H
