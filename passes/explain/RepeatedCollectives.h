//===- RepeatedCollectives.h - what repeated blocks communicate alike -----===//

#ifndef PCC_PASSES_EXPLAIN_REPEATEDCOLLECTIVES_H
#define PCC_PASSES_EXPLAIN_REPEATEDCOLLECTIVES_H

#include "passes/explain/Explanation.h"

namespace pcc::explain {

/// Entries that are alike but for the numbers in names.
struct RepeatedCollective {
  std::vector<const ExplainedCollective *> all; ///< in program order
  int64_t count = 0;                            ///< executions of all of them
  std::vector<std::string> stages;              ///< each once
};

std::vector<RepeatedCollective>
findRepeatedCollectives(const std::vector<ExplainedCollective> &all);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_REPEATEDCOLLECTIVES_H
