//===- AttentionTest.cpp - the gradients of attention ---------------------===//

#include "test/dialects/graph/gradients/Cases.h"
#include <gtest/gtest.h>

using namespace pcc::graph;

namespace {
struct Shapes {
  std::string query = "2x2x3x4", key = "2x2x3x4", value = "2x2x3x5";
};
} // namespace

/// Returns a case of attention. `mask` is the type of its mask ("" for none),
/// which is an argument unless it is among `constants`.
static GradientCase attention(const std::string &name,
                              const std::string &attributes,
                              const Shapes &shapes = {},
                              const std::string &mask = "",
                              const std::string &constants = "") {
  std::string q = "tensor<" + shapes.query + "xf64>",
              k = "tensor<" + shapes.key + "xf64>",
              v = "tensor<" + shapes.value + "xf64>",
              m = "tensor<" + mask + ">";
  std::string arguments = "%q: " + q + ", %k: " + k + ", %v: " + v;
  if (!mask.empty() && constants.empty())
    arguments += ", %m: " + m;
  return {name, arguments,
          constants + "\n%y = graph.attention %q, %k, %v " +
              (mask.empty() ? "" : "mask %m : " + m + ", ") + "{" + attributes +
              "} : " + q + ", " + k + ", " + v};
}

static std::vector<GradientCase> plainCases() {
  const std::string scale = "scale = 0.5 : f64";
  const Shapes shared{"1x4x3x2", "1x2x3x2", "1x2x3x2"};
  const Shapes longer{"1x2x2x3", "1x2x4x3", "1x2x4x3"};
  const Shapes shorter{"1x1x4x3", "1x1x2x3", "1x1x2x3"};
  const char *hidden = R"(%m = graph.constant dense<[[true, false, true],
      [false, false, false], [true, true, false]]> : tensor<3x3xi1>)";
  const char *infinite = R"(%m = graph.constant dense<[[0.0, 0xFFF0000000000000,
      1.0], [-1.0, 0xFFF0000000000000, 0.0]]> : tensor<2x3xf64>
      )";
  return {attention("attention", scale),
          attention("attention_causal", scale + ", causal"),
          attention("attention_softcap", scale + ", softcap = 0.7 : f64"),
          attention("attention_shared_keys", scale, shared),
          attention("attention_shared_keys_causal", scale + ", causal", shared),
          attention("attention_of_one_key_head", scale,
                    {"2x3x2x2", "2x1x2x2", "2x1x2x3"}),
          attention("attention_more_keys", scale + ", causal", longer),
          attention("attention_more_queries", scale + ", causal", shorter),
          attention("attention_mask", scale, {}, "2x1x3x3xf64"),
          attention("attention_mask_per_head", scale, shared, "4x1x3xf64"),
          attention("attention_mask_of_keys", scale + ", causal", {}, "3xf64"),
          attention("attention_mask_softcap", scale + ", softcap = 2.0 : f64",
                    shared, "3x3xf64"),
          attention("attention_hidden_rows", scale, {}, "3x3xi1", hidden),
          attention("attention_infinite_mask", scale,
                    {"1x1x2x2", "1x1x3x2", "1x1x3x2"}, "2x3xf64", infinite)};
}

/// If no mask is trained, each case is repeated with its gradients as ops.
std::vector<GradientCase> pcc::graph::attentionCases() {
  std::vector<GradientCase> cases = plainCases();
  for (GradientCase c : plainCases()) {
    c.name += "_whole";
    c.staysWhole = true;
    cases.push_back(c);
  }
  return cases;
}

TEST(AttentionGradients, AreTwoOps) {
  GradientCase c = attention("", "scale = 1.0 : f64");
  c.staysWhole = true;
  EXPECT_EQ(opsBuilt(c, {0}), "graph.attention_query_gradient "
                              "graph.attention_key_gradient");
}

TEST(AttentionGradients, OnlyTheValueNeedsOnlyTheWeights) {
  GradientCase c = attention("", "scale = 1.0 : f64");
  EXPECT_EQ(opsBuilt(c, {2}), "graph.matmul graph.constant graph.mul "
                              "graph.softmax graph.matmul");
}
