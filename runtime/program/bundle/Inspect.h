//===- Inspect.h - the bundle description of `pcc inspect` ----------------===//

#ifndef PCC_RUNTIME_PROGRAM_BUNDLE_INSPECT_H
#define PCC_RUNTIME_PROGRAM_BUNDLE_INSPECT_H

#include "status/Status.h"

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace pcc::runtime {

/// Options of `pcc inspect`.
struct InspectOptions {
  /// Path of the bundle.
  std::string bundle;
  /// Number of the only rank to describe; all ranks are described if absent.
  std::optional<int64_t> rank = {};
  /// Whether to print JSON instead of a readable page.
  bool json = false;
  /// Whether to print only the pipeline schedule, in the CSV format of
  /// PyTorch's pipeline schedules. The text has one line per coordinate on the
  /// pipeline axis, such as "0F0,0F1,0B0,0B1". The line lists the computations
  /// of every rank with this coordinate. Each entry is a computation of one
  /// stage for one microbatch. For example, "0F1" is the forward pass of stage
  /// 0 for microbatch 1, and "0B1" is the backward pass.
  bool schedule = false;
  /// Whether a page about all ranks lists each collective, transfer and action.
  bool isVerbose = false;
  /// Name or glob of weights, inputs and outputs, such as "*.c_attn.weight". If
  /// it is not empty, the page consists only of pictures of the tensors with
  /// matching names. A picture shows which part of the tensor each rank holds.
  std::string shards = {};
};

/// Sets `text` to the description of a bundle. The description contains the
/// index ranges that ranks hold of weights, inputs and outputs if it is in
/// JSON, or if it is about one rank only. Reads only bundle.json. Returns an
/// error with exit code 11 if bundle.json cannot be read. The exit code is 2 if
/// there is no rank `options.rank`, or if no tensor has a name that matches
/// `options.shards`.
Status inspectBundle(const InspectOptions &options, std::string &text);

/// Calls `use` once per described rank of the bundle in the directory `bundle`,
/// in order of the rank numbers. The argument is the rank's entry of the list
/// "ranks" in the output of `pcc inspect --json`. If several ranks run one
/// program, only the first `mostOfProgram` of them are described. Sets `head`
/// to the description of the bundle without ranks. Returns an error with exit
/// code 11 if bundle.json cannot be read.
Status inspectRanks(
    const std::string &bundle, int64_t mostOfProgram,
    nlohmann::ordered_json &head,
    const std::function<void(const nlohmann::ordered_json &rank)> &use);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_BUNDLE_INSPECT_H
