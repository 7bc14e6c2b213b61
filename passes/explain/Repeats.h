//===- Repeats.h - what repeated blocks communicate alike -----------------===//

#ifndef PCC_PASSES_EXPLAIN_REPEATS_H
#define PCC_PASSES_EXPLAIN_REPEATS_H

#include "passes/explain/Explanation.h"

namespace pcc::explain {

/// Entries that are alike but for the numbers in names.
struct Repeated {
  std::vector<const Communication *> all; ///< in program order
  int64_t count = 0;                      ///< executions of all of them
  std::vector<std::string> stages;        ///< each once
};

std::vector<Repeated> findRepeats(const std::vector<Communication> &all);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_REPEATS_H
