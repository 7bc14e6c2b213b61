//===- OtherCut.h - another cut into stages, to compare with --------------===//

#ifndef PCC_PASSES_3_PLACE_OTHERCUT_H
#define PCC_PASSES_3_PLACE_OTHERCUT_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace pcc::place {

/// Returns another cut of the model into the same number of stages, as names
/// for --stage-at. If the user gives --stage-at, returns the cut that the pass
/// `cut-stages` would choose without it. Otherwise returns a cut with fewer
/// bytes between stages than the one that `cut-stages` chooses, in which the
/// slowest stage may take up to 30 % longer than necessary. Returns an empty
/// list if there is no other cut. `module` has passed 2-prepare and no later
/// phase.
std::vector<std::string> findOtherCut(mlir::ModuleOp module);

} // namespace pcc::place

#endif // PCC_PASSES_3_PLACE_OTHERCUT_H
