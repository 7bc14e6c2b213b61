//===- VerifyReport.cpp - findings of a verification as JSON --------------===//

#include "passes/interpret/compare/VerifyReport.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

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

/// Returns `value` as a JSON number. NaN and infinities, which JSON lacks,
/// become strings.
static json::Value number(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/// Returns a JSON object that describes the first wrong element of `value`.
/// Returns a JSON null if `value` is null. If `value` is not null, it must have
/// a wrong element. Example:
///
///   {"value": "logits", "node": "node_matmul_3", "index": [0, 3],
///    "expected": 0.5, "got": 0.25, "rank": 1}
///
/// In this example, the ONNX node "node_matmul_3" computes the tensor "logits".
/// Rank 1 has computed 0.25 for the element [0, 3]. The unpartitioned model has
/// computed 0.5. The entry "rank" is null if the rank is not known.
static json::Value toJson(const VerifiedValue *value) {
  if (!value)
    return nullptr;
  const Difference &first = *value->comparison.firstDifference();
  return json::Object{
      {"value", value->name},
      {"node", value->node},
      {"index", json::Array(first.index)},
      {"expected", number(first.expected)},
      {"got", number(first.got)},
      {"rank", first.rank ? json::Value(*first.rank) : json::Value(nullptr)}};
}

/// Returns the errors of `values` as a JSON object. The error of a value is the
/// largest relative error of an element. Example for two values, "loss" and
/// "logits":
///
///   {"max_relative_error": 2e-07,
///    "values": [{"name": "loss", "max_relative_error": 1e-07},
///               {"name": "logits", "max_relative_error": 2e-07}]}
///
/// The number outside of the list "values" is the largest error in the list.
static json::Object errorsOf(llvm::ArrayRef<VerifiedValue> values) {
  double maxError = 0;
  json::Array list;
  for (const VerifiedValue &value : values) {
    double error = value.comparison.maxError();
    list.push_back(
        json::Object{{"name", value.name}, {"max_relative_error", error}});
    maxError = std::max(maxError, error);
  }
  return json::Object{{"max_relative_error", maxError},
                      {"values", std::move(list)}};
}

/// Returns the errors of model outputs and trained parameters as a JSON object.
/// Op results are rounded to the element types of the model, such as bf16. An
/// error is the largest relative difference from the unpartitioned model in
/// f64. Example of an output with the error 0.02 on the simulated ranks and
/// 0.01 on one rank:
///
///   {"max_relative_error": 0.02, "one_rank_max_relative_error": 0.01,
///    "values": [{"name": "logits", "max_relative_error": 0.02,
///                "one_rank_max_relative_error": 0.01}]}
static json::Object accuracyOf(llvm::ArrayRef<AccurateValue> values) {
  double ofRanks = 0, ofOneRank = 0;
  json::Array list;
  for (const AccurateValue &value : values) {
    const double error = value.ranks.comparison.maxError();
    list.push_back(
        json::Object{{"name", value.ranks.name},
                     {"max_relative_error", error},
                     {"one_rank_max_relative_error", value.errorOfOneRank}});
    ofRanks = std::max(ofRanks, error);
    ofOneRank = std::max(ofOneRank, value.errorOfOneRank);
  }
  return json::Object{{"max_relative_error", ofRanks},
                      {"one_rank_max_relative_error", ofOneRank},
                      {"values", std::move(list)}};
}

/// Returns all findings as a JSON object. The entry "first_difference"
/// describes the first wrong tensor, or is null. The function searches in this
/// order: op results inside the model on the simulated ranks, model outputs on
/// the simulated ranks, `ownTypes`, and outputs of the compiled executables. In
/// `ownTypes`, op results are rounded to their element types, and a tensor is
/// wrong if its error is much larger on the simulated ranks than on one rank.
/// All other tensors are wrong if the difference from the unpartitioned model
/// exceeds a tolerance.
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

std::string interpret::describeErrors(const Findings &findings) {
  double error = 0, ofRanks = 0, ofOneRank = 0;
  for (const VerifiedValue &value : findings.outputs)
    error = std::max(error, value.comparison.maxError());
  for (const AccurateValue &value : findings.ownTypes) {
    ofRanks = std::max(ofRanks, value.ranks.comparison.maxError());
    ofOneRank = std::max(ofOneRank, value.errorOfOneRank);
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "equal in "
         << (findings.numerics == graph::Numerics::Exact ? "f64"
                                                         : "the model's types")
         << " (relative error " << llvm::format("%.2g", error) << ")";
  if (!findings.ownTypes.empty())
    stream << " and as accurate as one rank in the model's types (relative "
              "errors "
           << llvm::format("%.2g", ofRanks) << " and "
           << llvm::format("%.2g", ofOneRank) << ")";
  return text;
}

Status interpret::writeReport(const std::string &path,
                              const Findings &findings) {
  if (path.empty())
    return Status::success();
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error) {
    file << json::Value(toJson(findings)) << "\n";
    file.flush();
    error = file.error();
    file.clear_error();
  }
  return error ? Status::error(InputOutput, "cannot write '" + path +
                                                "': " + error.message())
               : Status::success();
}
