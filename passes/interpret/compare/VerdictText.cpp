//===- VerdictText.cpp - a verification without a difference, in words ----===//

#include "passes/interpret/compare/VerdictText.h"
#include "runtime/base/QuantityText.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace pcc;
using namespace pcc::interpret;

/// Returns a text such as "relative error 1e-15 in 'logits', 2 outputs", about
/// the entry of `values` with the largest error and the number of entries,
/// which `noun` names.
static std::string worstText(llvm::ArrayRef<VerifiedValue> values,
                             const char *noun) {
  if (values.empty())
    return "nothing to compare";
  const VerifiedValue &worst = *std::max_element(
      values.begin(), values.end(),
      [](const VerifiedValue &a, const VerifiedValue &b) {
        return a.comparison.maxError() < b.comparison.maxError();
      });
  std::string text;
  llvm::raw_string_ostream(text)
      << "relative error " << llvm::format("%.2g", worst.comparison.maxError())
      << " in '" << worst.name << "', "
      << runtime::countText(int64_t(values.size()), noun);
  return text;
}

/// Returns a text about the first of `values` that has some `elements`, and the
/// number of others that have some; empty if none has. `claim` tells which
/// elements they are. Example:
///
///   2 of 8 elements of 'y', first at [0, 3], and elements of 1 other value are
///   NaN, on one rank as well
static std::string elementsText(llvm::ArrayRef<const VerifiedValue *> values,
                                const Elements &(Comparison::*elements)() const,
                                const char *claim) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  int64_t others = -1;
  for (const VerifiedValue *value : values) {
    const Comparison &comparison = value->comparison;
    const Elements &found = (comparison.*elements)();
    if (found.count == 0 || ++others > 0)
      continue;
    stream << found.count << " of "
           << runtime::countText(comparison.whole().numElements(), "element")
           << " of '" << value->name << "'";
    if (found.first.empty())
      continue;
    stream << ", first at [";
    llvm::interleaveComma(found.first, stream);
    stream << "],";
  }
  if (others > 0)
    stream << " and elements of " << runtime::countText(others, "other value");
  if (others >= 0)
    stream << " " << claim;
  return text;
}

/// Returns the relative errors of those of `values` with correct digits, as in
/// " (relative errors 1e-07 and 9e-08)". Names the first of the others behind
/// it.
static std::string errorsText(llvm::ArrayRef<AccurateValue> values) {
  double ofRanks = 0, ofOneRank = 0;
  std::vector<llvm::StringRef> lost;
  for (const AccurateValue &value : values) {
    if (!hasDigits(value.errorOfOneRank)) {
      lost.push_back(value.ranks.name);
      continue;
    }
    ofRanks = std::max(ofRanks, value.ranks.comparison.maxError());
    ofOneRank = std::max(ofOneRank, value.errorOfOneRank);
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (lost.size() < values.size())
    stream << " (relative errors " << llvm::format("%.2g", ofRanks) << " and "
           << llvm::format("%.2g", ofOneRank) << ")";
  if (lost.empty())
    return text;
  stream << "; '" << lost.front() << "'";
  if (lost.size() > 1)
    stream << " and "
           << runtime::countText(int64_t(lost.size()) - 1, "other value");
  stream << (lost.size() > 1 ? " have" : " has")
         << " no correct digit, on one rank as well";
  return text;
}

/// Writes to `stream` how accurate the model is in its own types, on the ranks
/// and on one rank. Elements that are NaN, which `hasNans` tells, or overflow
/// say nothing about that.
static void describeAccuracy(llvm::ArrayRef<AccurateValue> values, bool hasNans,
                             llvm::raw_ostream &stream) {
  std::vector<const VerifiedValue *> ranks;
  for (const AccurateValue &value : values)
    ranks.push_back(&value.ranks);
  const std::string overflow =
      elementsText(ranks, &Comparison::overflows,
                   "overflow in the model's types, on one rank as well");
  if (!overflow.empty())
    stream << (hasNans ? "; " : ", but ") << overflow;
  if (llvm::none_of(ranks, [](const VerifiedValue *value) {
        return value->comparison.hasNumbers();
      }))
    return;
  stream << (hasNans || !overflow.empty() ? "; all others are" : " and")
         << " as accurate as one rank in the model's types"
         << errorsText(values);
}

std::string interpret::describeErrors(const Findings &findings) {
  std::vector<const VerifiedValue *> outputs;
  for (const VerifiedValue &value : findings.outputs)
    outputs.push_back(&value);
  const std::string nans =
      elementsText(outputs, &Comparison::nans, "are NaN, on one rank as well");
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "equal in "
         << (findings.numerics == graph::Numerics::Exact ? "f64"
                                                         : "the model's types")
         << " (" << worstText(findings.outputs, "output") << ")";
  if (!nans.empty())
    stream << ", but " << nans;
  describeAccuracy(findings.ownTypes, !nans.empty(), stream);
  if (!findings.executed.empty())
    stream << "; the executables are equal, too ("
           << worstText(findings.executed, "value") << ")";
  return text;
}

std::string interpret::describeFirst(const VerifiedValue &value) {
  const std::string by =
      value.op + (value.place.empty() ? "" : " ") + value.place;
  const std::string difference = describe(value.comparison);
  std::string text = "the first value that differs is ";
  if (value.name.empty())
    return text + "the result of " + by +
           ": from the closest value there, it " + difference;
  const std::string maker = value.op.empty() ? "' of node '" + value.node + "'"
                                             : "', written by " + by;
  return text + "'" + value.name + maker + ": it " + difference;
}
