//===- TransformerSpec.cpp - sizes of a transformer without a file --------===//

#include "passes/1-import/transformer/TransformerSpec.h"
#include "status/Suggestions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <vector>

namespace pcc {

namespace {
struct SizeField {
  std::string_view name;
  int64_t TransformerSpec::*member;
  bool isRequired;
};

constexpr std::array<SizeField, 10> sizeFields = {{
    {"layers", &TransformerSpec::layers, true},
    {"hidden", &TransformerSpec::hidden, true},
    {"heads", &TransformerSpec::heads, true},
    {"kv_heads", &TransformerSpec::kvHeads, false},
    {"head_dim", &TransformerSpec::headDim, false},
    {"ffn", &TransformerSpec::ffn, true},
    {"vocab", &TransformerSpec::vocab, true},
    {"seq", &TransformerSpec::seq, true},
    {"experts", &TransformerSpec::experts, false},
    {"topk", &TransformerSpec::topk, false},
}};

/// Largest value of a size. Products of three sizes fit into 64 bits.
constexpr int64_t mostSize = int64_t(1) << 20;
/// Each layer is a part of the graph.
constexpr int64_t mostLayers = 10000;
} // namespace

static Status refuse(const std::string &why) {
  return Status::error(WrongUsage, why);
}

static std::vector<std::string> fieldNames() {
  std::vector<std::string> names;
  for (const SizeField &field : sizeFields)
    names.emplace_back(field.name);
  names.insert(names.end(), {"gated", "tied"});
  return names;
}

static Status readSize(TransformerSpec &spec, const std::string &name,
                       std::string_view text) {
  for (const SizeField &field : sizeFields) {
    if (field.name != name)
      continue;
    int64_t size = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), size);
    const int64_t most = name == "layers" ? mostLayers : mostSize;
    if (error != std::errc() || end != text.data() + text.size() || size < 1 ||
        size > most)
      return refuse("'" + name + "=" + std::string(text) +
                    "' is not a whole number from 1 to " +
                    std::to_string(most));
    spec.*field.member = size;
    return Status::success();
  }
  return refuse("there is no size '" + name + "'" +
                nearestOf(name, fieldNames()));
}

/// Reads the fields of `text`, which commas separate, into `spec`.
static Status readFields(std::string_view text, TransformerSpec &spec) {
  std::map<std::string, bool> given;
  while (!text.empty()) {
    const std::string_view field = text.substr(0, text.find(','));
    text.remove_prefix(std::min(field.size() + 1, text.size()));
    const size_t equals = field.find('=');
    const std::string name(field.substr(0, equals));
    if (!given.insert({name, true}).second)
      return refuse("'" + name + "' is given twice");
    if (name == "gated" || name == "tied") {
      if (equals != field.npos)
        return refuse("'" + name + "' has no value");
      (name == "gated" ? spec.isGated : spec.isTied) = true;
      continue;
    }
    PCC_RETURN_IF_ERROR(readSize(
        spec, name, equals == field.npos ? "" : field.substr(equals + 1)));
  }
  for (const SizeField &field : sizeFields)
    if (field.isRequired && !given.count(std::string(field.name)))
      return refuse("the size '" + std::string(field.name) + "' is missing")
          .addNote("for instance --transformer layers=2,hidden=64,heads=4,"
                   "ffn=256,vocab=500,seq=32");
  return Status::success();
}

/// Sets the sizes that follow from others, and checks that all fit.
static Status complete(TransformerSpec &spec) {
  const auto text = [](int64_t size) { return std::to_string(size); };
  if (spec.kvHeads == 0)
    spec.kvHeads = spec.heads;
  if (spec.heads % spec.kvHeads != 0)
    return refuse("heads=" + text(spec.heads) + " is not a multiple of " +
                  "kv_heads=" + text(spec.kvHeads));
  if (spec.headDim == 0 && spec.hidden % spec.heads != 0)
    return refuse("hidden=" + text(spec.hidden) + " is not a multiple of " +
                  "heads=" + text(spec.heads) + "; give head_dim");
  if (spec.headDim == 0)
    spec.headDim = spec.hidden / spec.heads;
  if (spec.isGated && spec.headDim % 2 != 0)
    return refuse("rotary positions (gated) need an even size of heads, not " +
                  text(spec.headDim));
  if (spec.topk > spec.experts)
    return refuse("topk=" + text(spec.topk) +
                  " chooses more than experts=" + text(spec.experts));
  if (spec.experts > 0 && spec.topk == 0)
    spec.topk = 1;
  return Status::success();
}

std::string describeTooLarge(const TransformerSpec &spec, int64_t batch) {
  struct Product {
    std::string_view what;
    std::vector<int64_t> sizes;
    double most;
  };
  constexpr double tensor = 0x1p48, pairs = 0x1p56;
  const int64_t width = spec.heads * spec.headDim,
                experts = std::max<int64_t>(spec.experts, 1);
  const Product products[] = {
      {"embedding", {spec.vocab, spec.hidden}, tensor},
      {"product of attention", {spec.hidden, width}, tensor},
      {"feed-forward network", {experts, spec.hidden, spec.ffn}, tensor},
      {"activation", {batch, spec.seq, spec.hidden}, tensor},
      {"activation of attention", {batch, spec.seq, width}, tensor},
      {"inner activation", {experts, batch, spec.seq, spec.ffn}, tensor},
      {"output", {batch, spec.seq, spec.vocab}, tensor},
      {"attention", {batch, spec.heads, spec.seq, spec.seq}, pairs}};
  for (const Product &product : products) {
    double size = 1;
    std::string factors;
    for (int64_t factor : product.sizes) {
      size *= static_cast<double>(factor);
      factors += (factors.empty() ? "" : " x ") + std::to_string(factor);
    }
    if (size > product.most)
      return "the " + std::string(product.what) + " has " + factors +
             (product.most == pairs ? " pairs, more than 2^56"
                                    : " elements, more than 2^48");
  }
  return "";
}

StatusOr<TransformerSpec> parseTransformer(std::string_view text) {
  TransformerSpec spec;
  PCC_RETURN_IF_ERROR(readFields(text, spec));
  PCC_RETURN_IF_ERROR(complete(spec));
  return spec;
}

} // namespace pcc
