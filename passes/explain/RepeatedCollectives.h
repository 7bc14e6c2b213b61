//===- RepeatedCollectives.h - groups of equal collectives of blocks ------===//

#ifndef PCC_PASSES_EXPLAIN_REPEATEDCOLLECTIVES_H
#define PCC_PASSES_EXPLAIN_REPEATEDCOLLECTIVES_H

#include "passes/explain/Explanation.h"

namespace pcc::explain {

/// A group of collectives that are equal except for numbers in names, such as
/// those of all layers of a transformer.
struct RepeatedCollective {
  /// The collectives, in program order; borrowed.
  std::vector<const ExplainedCollective *> all;
  /// Number of executions of the whole group per microbatch.
  int64_t count = 0;
  /// Stages of the collectives as text, without duplicates.
  std::vector<std::string> stages;
};

/// Groups `all` by kind, axes, bytes, shardings, cause and decisions, with the
/// numbers in quoted names ignored. The groups are in the order of their first
/// collectives and borrow from `all`.
std::vector<RepeatedCollective>
findRepeatedCollectives(const std::vector<ExplainedCollective> &all);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_REPEATEDCOLLECTIVES_H
