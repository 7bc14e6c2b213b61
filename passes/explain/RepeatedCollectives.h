//===- RepeatedCollectives.h - groups of equal collectives of blocks ------===//

#ifndef PCC_PASSES_EXPLAIN_REPEATEDCOLLECTIVES_H
#define PCC_PASSES_EXPLAIN_REPEATEDCOLLECTIVES_H

#include "passes/explain/Explanation.h"

namespace pcc::explain {

/// A group of collectives that differ only in numbers inside names. For
/// example, the all-reduces of all layers of a transformer ('h.0.w', 'h.1.w',
/// …) form one group.
struct RepeatedCollective {
  /// The collectives of the group in program order. The pointers point into the
  /// list that was passed to findRepeatedCollectives.
  std::vector<const ExplainedCollective *> all;
  /// Number of executions per microbatch, summed over the group.
  int64_t count = 0;
  /// Numbers of the pipeline stages that execute the collectives, as text,
  /// without duplicates.
  std::vector<std::string> stages;
};

/// Groups the collectives `all`. All collectives of a group have equal kind,
/// axes, bytes, shardings, cause and decisions. Only numbers inside quoted
/// names may differ. The groups are in the order of their first collectives and
/// contain pointers into `all`.
std::vector<RepeatedCollective>
findRepeatedCollectives(const std::vector<ExplainedCollective> &all);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_REPEATEDCOLLECTIVES_H
