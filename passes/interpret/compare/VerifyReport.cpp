//===- VerifyReport.cpp - findings of a verification as JSON --------------===//

#include "passes/interpret/compare/VerifyReport.h"
#include "runtime/base/AtomicFile.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace pcc;
using namespace pcc::interpret;
namespace json = llvm::json;

/// Returns the first of `values` that differs from its expected tensor; null if
/// there is none.
static const VerifiedValue *
firstDifferent(llvm::ArrayRef<VerifiedValue> values) {
  const VerifiedValue *found = llvm::find_if(
      values, [](const VerifiedValue &v) { return !v.comparison.isEqual(); });
  return found == values.end() ? nullptr : found;
}

const VerifiedValue *Findings::simulatedDifference() const {
  return firstDifferent(outputs);
}

const VerifiedValue *Findings::executedDifference() const {
  return firstDifferent(executed);
}

const AccurateValue *Findings::accuracyLoss() const {
  const auto found = llvm::find_if(ownTypes, [](const AccurateValue &value) {
    return !value.ranks.comparison.isEqual();
  });
  return found == ownTypes.end() ? nullptr : &*found;
}

bool Findings::differsInOverflows() const {
  const auto differs = [](const VerifiedValue &value) {
    return value.comparison.differsInOverflows();
  };
  return llvm::any_of(outputs, differs) || llvm::any_of(executed, differs) ||
         llvm::any_of(ownTypes, [&](const AccurateValue &value) {
           return differs(value.ranks);
         });
}

/// Returns `value` as a JSON number. NaN and infinities, which JSON lacks,
/// become strings.
static json::Value number(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/// Returns the first wrong element of `value` as JSON; null if `value` is null.
/// Otherwise, `value` must have a wrong element. The key "rank" has the value
/// null if the rank is not known.
static json::Value toJson(const VerifiedValue *value) {
  if (!value)
    return nullptr;
  const Difference &first = *value->comparison.firstDifference();
  return json::Object{
      {"value", value->name},
      {"node", value->node},
      {"op", value->op},
      {"place", value->place},
      {"index", json::Array(first.index)},
      {"expected", number(first.expected)},
      {"got", number(first.got)},
      {"rank", first.rank ? json::Value(*first.rank) : json::Value(nullptr)}};
}

/// Returns the largest relative error of each of `values` as JSON, and the
/// largest of these errors.
static json::Object errorsOf(llvm::ArrayRef<VerifiedValue> values) {
  double maxError = 0;
  json::Array list;
  for (const VerifiedValue &value : values) {
    double error = value.comparison.maxError();
    list.push_back(
        json::Object{{"name", value.name},
                     {"max_relative_error", error},
                     {"nan_elements", value.comparison.nans().count}});
    maxError = std::max(maxError, error);
  }
  return json::Object{{"max_relative_error", maxError},
                      {"values", std::move(list)}};
}

/// Returns the errors of `values` against f64 as JSON, for the simulated ranks
/// and for one rank. Op results are rounded to the element types of the model,
/// such as bf16. The object also has the largest errors of all values.
static json::Object accuracyOf(llvm::ArrayRef<AccurateValue> values) {
  double ofRanks = 0, ofOneRank = 0;
  json::Array list;
  for (const AccurateValue &value : values) {
    const double error = value.ranks.comparison.maxError();
    list.push_back(json::Object{
        {"name", value.ranks.name},
        {"max_relative_error", error},
        {"nan_elements", value.ranks.comparison.nans().count},
        {"overflowed_elements", value.ranks.comparison.overflows().count},
        {"one_rank_max_relative_error", value.errorOfOneRank}});
    ofRanks = std::max(ofRanks, error);
    ofOneRank = std::max(ofOneRank, value.errorOfOneRank);
  }
  return json::Object{{"max_relative_error", ofRanks},
                      {"one_rank_max_relative_error", ofOneRank},
                      {"values", std::move(list)}};
}

/// Returns all findings as a JSON object. The entry "first_difference" is the
/// first wrong tensor, or null if no tensor is wrong. The lists are searched in
/// this order: op results on the simulated ranks, model outputs on the
/// simulated ranks, tensors in the model's own types (`ownTypes`), outputs of
/// the executables.
static json::Object toJson(const Findings &findings) {
  const VerifiedValue *simulated = findings.simulatedDifference();
  const VerifiedValue *executed = findings.executedDifference();
  if (findings.first)
    simulated = &*findings.first;
  json::Object object = errorsOf(findings.outputs);
  const AccurateValue *loss = findings.accuracyLoss();
  if (!simulated && loss)
    simulated = &loss->ranks;
  object["equal"] = !simulated && !executed;
  object["dtype"] =
      findings.numerics == graph::Numerics::Exact ? "f64" : "model";
  object["first_difference"] = toJson(simulated ? simulated : executed);
  if (!findings.ownTypes.empty()) {
    json::Object own = accuracyOf(findings.ownTypes);
    own["equal"] = !loss;
    object["own_types"] = std::move(own);
  }
  if (!findings.executed.empty()) {
    json::Object run = errorsOf(findings.executed);
    run["equal"] = !executed;
    object["run"] = std::move(run);
  }
  return object;
}

Status interpret::writeReport(const std::string &path,
                              const Findings &findings) {
  if (path.empty())
    return Status::success();
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(toJson(findings)) << "\n";
  return runtime::writeFileAtomically(path, text);
}
