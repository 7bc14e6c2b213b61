//===- LossExpression.cpp - parser of --loss expressions ------------------===//

#include "passes/2-prepare/training/LossExpression.h"
#include "llvm/ADT/SmallVector.h"

#include <cmath>

using namespace llvm;
using namespace pcc;
using namespace pcc::prepare;

/// Parses one argument of a loss function. Adds an argument such as
/// "ignore_index=-100" to `loss.settings`, and an argument such as "labels" to
/// `loss.values`. Returns an empty string on success, otherwise an error
/// message.
static std::string addArgument(StringRef text, LossExpression &loss) {
  auto [name, number] = text.split('=');
  name = name.trim();
  if (name.empty())
    return "an argument is empty";
  if (name.count('(') != name.count(')'))
    return "the parentheses of '" + name.str() + "' do not match";
  if (!text.contains('=')) {
    loss.values.push_back(name.str());
    return {};
  }
  double value = 0;
  if (number.trim().getAsDouble(value) || !std::isfinite(value))
    return "'" + number.trim().str() + "' is not a number for '" + name.str() +
           "'";
  if (!loss.settings.insert({name.str(), value}).second)
    return "'" + name.str() + "' is given twice";
  return {};
}

StatusOr<LossExpression> pcc::prepare::parseLossExpression(StringRef text) {
  text = text.trim();
  LossExpression loss;
  const size_t open = text.find('(');
  loss.name = text.take_front(open).trim().str();
  if (loss.name.empty() || (open != StringRef::npos && !text.ends_with(")")))
    return Status::error(
        WrongUsage,
        "it is neither NAME nor FUNCTION(VALUE, ..., SETTING=NUMBER, ...)");
  if (open == StringRef::npos)
    return loss;
  SmallVector<StringRef> arguments;
  text.drop_front(open + 1).drop_back().split(arguments, ',');
  for (StringRef argument : arguments)
    if (std::string error = addArgument(argument, loss); !error.empty())
      return Status::error(WrongUsage, error);
  return loss;
}
