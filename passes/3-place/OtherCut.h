//===- OtherCut.h - another cut into stages, to compare with --------------===//

#ifndef PCC_PASSES_3_PLACE_OTHERCUT_H
#define PCC_PASSES_3_PLACE_OTHERCUT_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace pcc::place {

/// Returns names for --stage-at that cut the model into its number of stages
/// otherwise than `cut-stages` does: with fewer bytes between stages, although
/// the slowest stage takes up to 30 % longer than it has to. If the user chose
/// the cuts, returns those that `cut-stages` would take. Empty if there is no
/// other cut. `module` has passed 2-prepare and no later phase.
std::vector<std::string> findOtherCut(mlir::ModuleOp module);

} // namespace pcc::place

#endif // PCC_PASSES_3_PLACE_OTHERCUT_H
