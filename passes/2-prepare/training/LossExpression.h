//===- LossExpression.h - parser of --loss expressions --------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_LOSSEXPRESSION_H
#define PCC_PASSES_2_PREPARE_TRAINING_LOSSEXPRESSION_H

#include "status/StatusOr.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>
#include <vector>

namespace pcc::prepare {

/// Parsed text of `--loss`: a function of named values, with settings,
///
///   cross_entropy(logits, labels, ignore_index=-100)
///
/// or only a name, which is that of a model output that already is the loss.
/// The options `--lr-schedule` and `--loss-scale` have the same syntax.
struct LossExpression {
  /// Name of the function, or of the model output.
  std::string name;
  /// Names of the values in order, such as ["logits", "labels"].
  std::vector<std::string> values;
  /// Numbers by the name of the setting, such as {"ignore_index": -100}.
  std::map<std::string, double> settings;
};

/// Parses `text`. Returns an error if the syntax is wrong. The caller must
/// check whether the function, the values and the settings exist.
StatusOr<LossExpression> parseLossExpression(llvm::StringRef text);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LOSSEXPRESSION_H
