//===- LossExpression.h - what the user calls the loss --------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_LOSSEXPRESSION_H
#define PCC_PASSES_2_PREPARE_TRAINING_LOSSEXPRESSION_H

#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pcc::prepare {

/// `cross_entropy(logits, labels, ignore_index=-100)`: a function of named
/// values with settings; or a name alone, which has no arguments.
struct LossExpression {
  std::string name;
  std::vector<std::string> values;
  std::map<std::string, double> settings;
};

/// Nothing, and `error` says why, if `text` has another form.
std::optional<LossExpression> parseLossExpression(llvm::StringRef text,
                                                  std::string &error);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LOSSEXPRESSION_H
