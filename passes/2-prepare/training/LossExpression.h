//===- LossExpression.h - parser of --loss expressions --------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_LOSSEXPRESSION_H
#define PCC_PASSES_2_PREPARE_TRAINING_LOSSEXPRESSION_H

#include "status/StatusOr.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>
#include <vector>

namespace pcc::prepare {

/// Parsed text of the option `--loss`: the name of a model output that is the
/// loss, or a call such as cross_entropy(logits, labels, ignore_index=-100).
/// The options `--lr-schedule` and `--loss-scale` have the same syntax.
struct LossExpression {
  /// Name at the start of the parsed text. If the text is a call such as
  /// "cross_entropy(logits, labels)", this is the name of a loss function:
  /// "cross_entropy". If the text is only a name such as "loss", this is the
  /// name of a model output: "loss".
  std::string name;
  /// Names of the tensors to which the loss function is applied. For the text
  /// "cross_entropy(logits, labels, ignore_index=-100)", the names are
  /// ["logits", "labels"]. If the text is only a name, the list is empty.
  std::vector<std::string> values;
  /// Maps the name of each setting in the parsed text to the number that the
  /// user gives. A setting is an argument of the form NAME=NUMBER. For the text
  /// "cross_entropy(logits, labels, ignore_index=-100)", the map is
  /// {"ignore_index": -100}.
  std::map<std::string, double> settings;
};

/// Bound 2^53 for the absolute values of settings that must be whole numbers.
/// Settings are stored as double, which represents every integer up to this
/// bound exactly.
inline constexpr double largestWhole = 9007199254740992;

/// Parses a name, such as "loss", or a call, such as "cross_entropy(logits,
/// labels, ignore_index=-100)". Returns an error with exit code 2 if the syntax
/// is wrong or if a setting occurs twice. Does not check that the names exist.
StatusOr<LossExpression> parseLossExpression(llvm::StringRef text);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LOSSEXPRESSION_H
