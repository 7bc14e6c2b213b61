//===- OtherCut.h - other cuts into stages, to compare with ---------------===//

#ifndef PCC_PASSES_3_PLACE_OTHERCUT_H
#define PCC_PASSES_3_PLACE_OTHERCUT_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace pcc::place {

/// Another place at which one stage can begin.
struct OtherPlace {
  /// Names for --stage-at, one for each stage except the first, with which only
  /// this stage begins elsewhere. Empty if there is no other place.
  std::vector<std::string> names = {};
  /// Why there is no other place; empty if there is one.
  std::string reason = {};
};

/// Other cuts of a model into the same number of stages, to compare with the
/// cut of the pass `cut-stages`.
struct OtherCuts {
  /// Names for --stage-at, one for each stage except the first: the node or
  /// value at which the stage begins. Empty if there is no such cut.
  ///
  /// - If the user gives --stage-at, this is the cut that `cut-stages` would
  ///   choose without this option.
  /// - Otherwise, it is a cut with fewer bytes between stages. The slowest
  ///   stage may take up to 30 % longer than the least possible time.
  /// - If that has no names, and a stage of the model begins at an op without a
  ///   name of its own, such as one of several ops of the loss, it is a cut into
  ///   stages of about equal time that all begin at names.
  std::vector<std::string> whole = {};
  /// For each stage except the first: the best other place at which it can
  /// begin if the other stages begin where they do. The best place sends no
  /// more bytes, if possible, and balances the two stages beside it.
  std::vector<OtherPlace> places = {};
};

/// Finds other cuts of the model. `module` has passed 2-prepare and no later
/// phase. The result is empty for a model of one stage.
OtherCuts findOtherCuts(mlir::ModuleOp module);

} // namespace pcc::place

#endif // PCC_PASSES_3_PLACE_OTHERCUT_H
