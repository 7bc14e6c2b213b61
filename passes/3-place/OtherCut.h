//===- OtherCut.h - another cut into stages, to compare with --------------===//

#ifndef PCC_PASSES_3_PLACE_OTHERCUT_H
#define PCC_PASSES_3_PLACE_OTHERCUT_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace pcc::place {

/// Returns a second cut of the model into the same number of stages, to compare
/// with the cut of the pass `cut-stages`. The result has one name for
/// --stage-at for each stage except the first: the node or value at which this
/// stage begins.
///
/// - If the user gives --stage-at, returns the cut that `cut-stages` would
///   choose without this option.
/// - Otherwise, returns a cut with fewer bytes between stages. In this cut, the
///   slowest stage may take up to 30 % longer than the least possible time.
///
/// Returns an empty list if there is no such cut. `module` has passed 2-prepare
/// and no later phase.
std::vector<std::string> findOtherCut(mlir::ModuleOp module);

} // namespace pcc::place

#endif // PCC_PASSES_3_PLACE_OTHERCUT_H
