//===- LossExpression.h - parser of --loss expressions --------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_LOSSEXPRESSION_H
#define PCC_PASSES_2_PREPARE_TRAINING_LOSSEXPRESSION_H

#include "status/StatusOr.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>
#include <vector>

namespace pcc::prepare {

/// Parsed text of the option `--loss`. The text is either the name of a model
/// output that already is the loss, or a call of a loss function. The arguments
/// of a call are names of tensors, and settings:
///
///   cross_entropy(logits, labels, ignore_index=-100)
///
/// The options `--lr-schedule` and `--loss-scale` have the same syntax.
struct LossExpression {
  /// Text before the parenthesis, such as "cross_entropy". Without a
  /// parenthesis it is the name of a model output.
  std::string name;
  /// Arguments of the call that are names, such as ["logits", "labels"].
  std::vector<std::string> values;
  /// Arguments of the call that are settings, such as {"ignore_index": -100}.
  std::map<std::string, double> settings;
};

/// Parses a text such as "cross_entropy(logits, labels)". Returns an error if
/// the syntax is wrong. Does not check whether the names in the text exist.
StatusOr<LossExpression> parseLossExpression(llvm::StringRef text);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LOSSEXPRESSION_H
