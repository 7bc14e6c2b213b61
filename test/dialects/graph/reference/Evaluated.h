//===- Evaluated.h - ops given as text, results given as text -------------===//

#ifndef PCC_TEST_DIALECTS_GRAPH_REFERENCE_EVALUATED_H
#define PCC_TEST_DIALECTS_GRAPH_REFERENCE_EVALUATED_H

#include "dialects/graph/reference/Evaluator.h"
#include <string>

namespace pcc::graph {

/// Parses ops (constants and graph ops, in order) and evaluates each. Returns
/// the results of the last one with six digits as "2x3: 1 2 3 4 5 6", separated
/// by "; ". Returns "error: …" if an op fails.
std::string evaluated(llvm::StringRef ops, Numerics numerics = Numerics::Model);

/// Folds the last op, whose operands must be constants, by `Operation::fold`.
/// Returns its results as evaluated() does, or "not folded".
std::string folded(llvm::StringRef ops);

} // namespace pcc::graph

#endif // PCC_TEST_DIALECTS_GRAPH_REFERENCE_EVALUATED_H
