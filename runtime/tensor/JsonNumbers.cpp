//===- JsonNumbers.cpp - numbers of JSON files ----------------------------===//

#include "runtime/tensor/JsonNumbers.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace pcc::runtime {

/// Returns the double that is nearest to `number` with nine significant digits.
/// Its shortest text has at most nine digits. NaN and infinities are unchanged.
static double rounded(double number) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.9g", number);
  return std::strtod(text.data(), nullptr);
}

/// Returns whether numbers of the field `name` keep all digits.
static bool isExact(const std::string &name) {
  return name == "loss" || name == "grad_norm";
}

void roundNumbers(nlohmann::ordered_json &json) {
  if (json.is_number_float()) {
    const auto number = json.get<double>();
    if (number != std::trunc(number))
      json = rounded(number);
    return;
  }
  if (json.is_array())
    for (nlohmann::ordered_json &element : json)
      roundNumbers(element);
  if (json.is_object())
    for (auto &[name, value] : json.items())
      if (!isExact(name))
        roundNumbers(value);
}

nlohmann::ordered_json withRoundNumbers(nlohmann::ordered_json json) {
  roundNumbers(json);
  return json;
}

} // namespace pcc::runtime
