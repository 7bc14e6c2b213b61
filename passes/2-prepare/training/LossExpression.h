//===- LossExpression.h - parser of --loss expressions --------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_LOSSEXPRESSION_H
#define PCC_PASSES_2_PREPARE_TRAINING_LOSSEXPRESSION_H

#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pcc::prepare {

/// Parsed text of `--loss`: a function of named values with settings,
///
///   cross_entropy(logits, labels, ignore_index=-100)
///
/// or a name alone, which is that of a model output that is the loss already.
/// `--lr-schedule` and `--loss-scale` have the same syntax and are parsed by
/// the same function.
struct LossExpression {
  /// Name of the function, or of the output.
  std::string name;
  /// Names of the arguments in order: ["logits", "labels"].
  std::vector<std::string> values;
  /// Numbers by name: {"ignore_index": -100}.
  std::map<std::string, double> settings;
};

/// Parses `text`. Returns nullopt and sets `error` to the reason if the syntax
/// is wrong. Whether the function, its values and its settings exist is up to
/// the caller.
std::optional<LossExpression> parseLossExpression(llvm::StringRef text,
                                                  std::string &error);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LOSSEXPRESSION_H
