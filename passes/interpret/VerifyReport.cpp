//===- VerifyReport.cpp - what verify tells -------------------------------===//

#include "passes/interpret/VerifyReport.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace pcc;
using namespace pcc::interpret;
namespace json = llvm::json;

std::string interpret::describe(const VerifiedValue &value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  const Difference &first = *value.comparison.firstDifference();
  stream << "output '" << value.name << "' differs at [";
  llvm::interleaveComma(first.index, stream);
  stream << "] on rank " << first.rank << ": expected "
         << llvm::format("%.17g", first.expected) << ", got "
         << llvm::format("%.17g", first.got) << " (relative error "
         << llvm::format("%.3g", value.comparison.maxError()) << ")";
  return text;
}

/// JSON has no word for NaN and infinities.
static json::Value number(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

static json::Value toJson(const VerifiedValue &value) {
  const Difference &first = *value.comparison.firstDifference();
  return json::Object{{"value", value.name},
                      {"node", value.node},
                      {"index", json::Array(first.index)},
                      {"expected", number(first.expected)},
                      {"got", number(first.got)},
                      {"rank", first.rank}};
}

std::string interpret::writeReport(const std::string &path,
                                   llvm::ArrayRef<VerifiedValue> values,
                                   graph::Numerics numerics) {
  if (path.empty())
    return {};
  bool equal = true;
  double maxError = 0;
  json::Array list;
  json::Value first = nullptr;
  for (const VerifiedValue &value : values) {
    double error = value.comparison.maxError();
    list.push_back(
        json::Object{{"name", value.name}, {"max_relative_error", error}});
    maxError = std::max(maxError, error);
    if (equal && !value.comparison.isEqual())
      first = toJson(value);
    equal &= value.comparison.isEqual();
  }
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (!error) {
    file << json::Value(json::Object{
                {"equal", equal},
                {"dtype", numerics == graph::Numerics::Exact ? "f64" : "model"},
                {"max_relative_error", maxError},
                {"values", std::move(list)},
                {"first_difference", std::move(first)}})
         << "\n";
    file.flush();
    error = file.error();
    file.clear_error();
  }
  return error ? "cannot write '" + path + "': " + error.message() : "";
}
