//===- JsonNumbers.cpp - numbers of JSON files ----------------------------===//

#include "runtime/tensor/JsonNumbers.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace pcc::runtime {

/// Returns the double that is nearest to `number` with `digits` significant
/// digits. NaN and infinities are unchanged.
static double rounded(double number, int digits) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.*g", digits, number);
  return std::strtod(text.data(), nullptr);
}

/// Returns `number` with nine significant digits, or with fewer if its text in
/// JSON has more digits nevertheless. The JSON library writes one of some
/// hundred numbers with 17 digits, such as 1.8937422799999999.
static nlohmann::ordered_json shortened(double number) {
  constexpr int mostDigits = 9, leastDigits = 6;
  // Sign, point, "0.0000" or an exponent.
  constexpr size_t mostOther = 7;
  nlohmann::ordered_json json;
  for (int digits = mostDigits; digits >= leastDigits; --digits) {
    json = rounded(number, digits);
    if (json.dump().size() <= size_t(digits) + mostOther)
      break;
  }
  return json;
}

/// Returns whether numbers of the field `name` keep all digits.
static bool isExact(const std::string &name) {
  return name == "loss" || name == "grad_norm";
}

void roundNumbers(nlohmann::ordered_json &json) {
  if (json.is_number_float()) {
    const auto number = json.get<double>();
    if (number != std::trunc(number))
      json = shortened(number);
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
