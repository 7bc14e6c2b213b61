//===- Remedy.h - options that change a plan, and what they cost ----------===//

#ifndef PCC_PASSES_EXPLAIN_REMEDY_H
#define PCC_PASSES_EXPLAIN_REMEDY_H

#include "passes/7-emit/bundle/PlanPrice.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pcc::explain {

/// Options that change a plan. They remove the cause of a lint, or they cut the
/// model into other pipeline stages.
struct Remedy {
  /// Values of --shard and of --stage-at.
  std::vector<std::string> shards = {}, stageAt = {};
  /// New sizes of the axes tp, pp, dp and cp.
  std::map<std::string, int64_t> axes = {};
  /// Option of the user to leave out, such as "--shard 'w=[-,-]'".
  std::string omitted = {};
  /// Price (time and memory) of the plan with these options; absent if the plan
  /// was not compiled.
  std::optional<emit::PlanPrice> price = {};

  bool operator==(const Remedy &) const = default;
};

/// Returns the options as one text, such as "--shard 'w=[tp,-]'" or "without
/// --shard 'w=[-,-]'".
std::string optionText(const Remedy &remedy);

/// Returns what `other` saves and costs in comparison with `own`, such as
/// "saves 62.5 KiB of memory a rank, costs 4.00 us a step"; empty if both cost
/// the same.
std::string differenceText(const emit::PlanPrice &own,
                           const emit::PlanPrice &other);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_REMEDY_H
