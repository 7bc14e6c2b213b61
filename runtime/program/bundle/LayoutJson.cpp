//===- LayoutJson.cpp - mesh and layouts in bundle.json -------------------===//

#include "runtime/program/bundle/LayoutJson.h"

#include <nlohmann/json.hpp>

namespace pcc::runtime {

using Json = nlohmann::ordered_json;

Mesh meshOf(const Json &bundle) {
  Mesh mesh;
  for (const auto &[name, size] : bundle.at("mesh").items())
    mesh.axes.push_back({name, size.get<int64_t>()});
  mesh.axes.push_back(
      {std::string(dist::timeAxis), bundle.at("microbatches").get<int64_t>()});
  return mesh;
}

/// Returns a whole number of at least 0, or nothing.
static std::optional<int64_t> parseSize(const Json &stored) {
  if (!stored.is_number_integer())
    return std::nullopt;
  // A number from 2^63 to 2^64 - 1 becomes negative.
  const auto size = stored.get<int64_t>();
  return size < 0 ? std::nullopt : std::optional(size);
}

static std::optional<SubAxis> parseSubAxis(const Json &stored) {
  if (!stored.is_array() || stored.size() != 3 || !stored[0].is_string())
    return std::nullopt;
  const auto pre = parseSize(stored[1]), size = parseSize(stored[2]);
  if (!pre || !size)
    return std::nullopt;
  return SubAxis{stored[0].get<std::string>(), *pre, *size};
}

static std::optional<Factor> parseFactor(const Json &stored) {
  if (!stored.is_array() || stored.empty())
    return std::nullopt;
  const auto size = parseSize(stored[0]);
  if (!size)
    return std::nullopt;
  Factor factor{*size, {}};
  for (size_t i = 1; i < stored.size(); ++i) {
    auto axis = parseSubAxis(stored[i]);
    if (!axis)
      return std::nullopt;
    factor.axes.push_back(std::move(*axis));
  }
  return factor;
}

std::optional<Layout> parseLayout(const Json &stored) {
  Layout layout;
  if (!stored.is_array())
    return std::nullopt;
  for (const Json &dim : stored) {
    if (!dim.is_array())
      return std::nullopt;
    DimSharding &parsed = layout.dims.emplace_back();
    for (const Json &entry : dim) {
      auto factor = parseFactor(entry);
      if (!factor)
        return std::nullopt;
      parsed.factors.push_back(std::move(*factor));
    }
  }
  return layout;
}

} // namespace pcc::runtime
