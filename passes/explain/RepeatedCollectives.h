//===- RepeatedCollectives.h - groups of equal collectives of blocks ------===//

#ifndef PCC_PASSES_EXPLAIN_REPEATEDCOLLECTIVES_H
#define PCC_PASSES_EXPLAIN_REPEATEDCOLLECTIVES_H

#include "passes/explain/Explanation.h"

namespace pcc::explain {

/// A group of collectives that differ only in numbers inside names. For
/// example, the all-reduces of all layers of a transformer ('h.0.w', 'h.1.w',
/// …) form one group.
struct RepeatedCollective {
  /// Collectives that differ only in numbers inside names, in program order.
  /// The pointers point into the argument of findRepeatedCollectives().
  std::vector<const ExplainedCollective *> all;
  /// Number of collectives in the group. An element of `all` describes several
  /// collectives if they are equal and belong to one ONNX node. Example: `all`
  /// has two elements, which describe 1 and 3 collectives. `count` is then 4.
  int64_t count = 0;
  /// Numbers of the pipeline stages that execute the collectives of a group, as
  /// text, without duplicates.
  std::vector<std::string> stages;
};

/// Groups the collectives `all`. Collectives of a group differ only in numbers
/// inside quoted names. The groups are in the order of their first collectives
/// and contain pointers into `all`.
std::vector<RepeatedCollective>
findRepeatedCollectives(const std::vector<ExplainedCollective> &all);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_REPEATEDCOLLECTIVES_H
