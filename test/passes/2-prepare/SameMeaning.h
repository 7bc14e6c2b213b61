//===- SameMeaning.h - a graph before and after it is prepared ------------===//

#ifndef PCC_TEST_PASSES_2_PREPARE_SAMEMEANING_H
#define PCC_TEST_PASSES_2_PREPARE_SAMEMEANING_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace pcc::prepare {

/// Runs each function of the module in `file` in float64 on seeded inputs and
/// weights, before and after simplify-graph, recognise-composites and
/// simplify-graph. Integers are 0 or 1, so that they are valid indices of any
/// table. Returns the first result whose relative error is above 1e-12 (a few
/// thousand roundings); an empty string if there is none.
std::string findDifference(llvm::StringRef file);

} // namespace pcc::prepare

#endif // PCC_TEST_PASSES_2_PREPARE_SAMEMEANING_H
