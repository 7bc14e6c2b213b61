//===- FusedAttentionTest.cpp - attention in one kernel -------------------===//

#include "test/passes/7-emit/KernelRun.h"
#include <gtest/gtest.h>

using namespace pcc::emit;

namespace {
struct Shape {
  int64_t batch = 2, heads = 2, keyHeads = 2, queries = 20, keys = 20,
          depth = 16, width = 16;
};
} // namespace

static std::string tensor(std::initializer_list<int64_t> sizes,
                          const std::string &type) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + type + ">";
}

/// Compares `body`, compiled for GPUs, with the reference evaluator.
static std::string forGpus(const std::string &arguments,
                           const std::string &results, const std::string &body,
                           const Inputs &inputs) {
  return functionDifference(
      "module attributes {dist.target = \"cuda\"} {\nfunc.func @main(" +
          arguments + ") -> (" + results + ") {\n" + body + "\n}\n}\n",
      inputs, 1e-5);
}

/// Compares attention and its gradients. `mask` is the type of the mask, if
/// any, and `options` are attributes. The gradients of keys and values read the
/// row statistics that the gradient of queries returns.
static std::string difference(const Shape &shape, const std::string &type,
                              const std::string &options = "",
                              const std::string &mask = "",
                              const Inputs &inputs = {.low = -1, .high = 1}) {
  const std::string
      query =
          tensor({shape.batch, shape.heads, shape.queries, shape.depth}, type),
      key =
          tensor({shape.batch, shape.keyHeads, shape.keys, shape.depth}, type),
      value =
          tensor({shape.batch, shape.keyHeads, shape.keys, shape.width}, type),
      result =
          tensor({shape.batch, shape.heads, shape.queries, shape.width}, type),
      rows = tensor({shape.batch, shape.heads, shape.queries}, "f32");
  const std::string operands = query + ", " + key + ", " + value,
                    attributes =
                        (mask.empty() ? "" : "mask %m : " + mask + ", ") +
                        "{scale = 0.25 : f64" + options + "} : " + operands;
  const std::string arguments = "%q: " + query + ", %k: " + key +
                                ", %v: " + value + ", %g: " + result +
                                (mask.empty() ? "" : ", %m: " + mask);
  const std::string attention =
      forGpus(arguments, result,
              "%r = graph.attention %q, %k, %v " + attributes +
                  "\nreturn %r : " + result,
              inputs);
  if (!attention.empty())
    return "attention: " + attention;
  const std::string results = query + ", " + rows + ", " + rows + ", " + rows +
                              ", " + key + ", " + value;
  const std::string gradients = forGpus(
      arguments, results,
      "%dq, %l, %p, %n = graph.attention_query_gradient %q, %k, %v of %g " +
          attributes + ", " + result +
          "\n%dk, %dv = graph.attention_key_gradient %q, %k, %v of %g with "
          "%l, %p, %n " +
          attributes + ", " + result + ", " + rows + ", " + rows + ", " + rows +
          "\nreturn %dq, %l, %p, %n, %dk, %dv : " + results,
      inputs);
  return gradients.empty() ? "" : "gradients: " + gradients;
}

TEST(FusedAttention, Types) {
  for (std::string type : {"f32", "bf16", "f16"})
    EXPECT_EQ(difference({}, type), "") << type;
}

/// More and fewer rows than warps and tiles have, and dims that no vector
/// divides.
TEST(FusedAttention, Sizes) {
  const Shape shapes[] = {{.queries = 1, .keys = 1, .depth = 1, .width = 1},
                          {.queries = 1, .keys = 100, .depth = 8, .width = 24},
                          {.queries = 70, .keys = 35, .depth = 21, .width = 5},
                          {.batch = 1,
                           .heads = 1,
                           .keyHeads = 1,
                           .queries = 18,
                           .keys = 34,
                           .depth = 128,
                           .width = 128}};
  for (const Shape &shape : shapes)
    EXPECT_EQ(difference(shape, "f32"), "") << shape.queries;
  EXPECT_EQ(difference({.batch = 1,
                        .heads = 1,
                        .keyHeads = 1,
                        .queries = 65,
                        .keys = 129,
                        .depth = 64,
                        .width = 64},
                       "bf16"),
            "");
  EXPECT_EQ(difference({.batch = 1,
                        .heads = 1,
                        .keyHeads = 1,
                        .queries = 40,
                        .keys = 66,
                        .depth = 24,
                        .width = 40},
                       "f16"),
            "");
}

/// With many positive values, repeated truncation of sums in f32 would show.
TEST(FusedAttention, LongSums) {
  EXPECT_EQ(difference({.batch = 1,
                        .heads = 1,
                        .keyHeads = 1,
                        .queries = 2,
                        .keys = 700,
                        .depth = 8,
                        .width = 8},
                       "f32", "", "", {.low = 0, .high = 1}),
            "");
}

TEST(FusedAttention, HeadsShareKeys) {
  for (std::string options : {"", ", causal"})
    EXPECT_EQ(
        difference({.heads = 6, .queries = 19, .keys = 33}, "f32", options),
        "");
}

/// Equally many keys and queries, more keys, and fewer keys: some queries then
/// see no key.
TEST(FusedAttention, Causal) {
  for (int64_t keys : {70, 90, 50})
    for (std::string type : {"f32", "bf16"})
      EXPECT_EQ(difference({.batch = 1, .queries = 70, .keys = keys}, type,
                           ", causal"),
                "")
          << keys << type;
}

TEST(FusedAttention, Softcap) {
  EXPECT_EQ(difference({}, "f32", ", softcap = 0.5 : f64", "",
                       {.low = -3, .high = 3}),
            "");
}

TEST(FusedAttention, Masks) {
  for (std::string mask :
       {"tensor<2x2x20x20xi1>", "tensor<20x20xf32>", "tensor<2x1x1x20xi1>",
        "tensor<1x2x1x1xf32>", "tensor<20x1xi1>"})
    for (std::string options : {"", ", causal"})
      EXPECT_EQ(difference({}, "f32", options, mask), "") << mask << options;
  EXPECT_EQ(difference({}, "bf16", "", "tensor<20x20xbf16>"), "");
}

/// The parts of a fused projection are read in place, and heads are stored one
/// after another.
TEST(FusedAttention, Orders) {
  EXPECT_EQ(functionDifference(R"(
module attributes {dist.target = "cuda"} {
func.func @main(%x: tensor<2x20x48xf32>, %o: tensor<16x5xf32>)
    -> tensor<2x20x5xf32> {
  %a = graph.slice %x starts [0, 0, 0] sizes [2, 20, 16] steps [1, 1, 1] : tensor<2x20x48xf32>
  %b = graph.slice %x starts [0, 0, 16] sizes [2, 20, 16] steps [1, 1, 1] : tensor<2x20x48xf32>
  %c = graph.slice %x starts [0, 0, 32] sizes [2, 20, 16] steps [1, 1, 1] : tensor<2x20x48xf32>
  %a1 = graph.reshape %a : tensor<2x20x16xf32> to tensor<2x20x2x8xf32>
  %b1 = graph.reshape %b : tensor<2x20x16xf32> to tensor<2x20x2x8xf32>
  %c1 = graph.reshape %c : tensor<2x20x16xf32> to tensor<2x20x2x8xf32>
  %q = graph.transpose %a1 [0, 2, 1, 3] : tensor<2x20x2x8xf32>
  %k = graph.transpose %b1 [0, 2, 1, 3] : tensor<2x20x2x8xf32>
  %v = graph.transpose %c1 [0, 2, 1, 3] : tensor<2x20x2x8xf32>
  %y = graph.attention %q, %k, %v {scale = 0.5 : f64, causal}
      : tensor<2x2x20x8xf32>, tensor<2x2x20x8xf32>, tensor<2x2x20x8xf32>
  %t = graph.transpose %y [0, 2, 1, 3] : tensor<2x2x20x8xf32>
  %j = graph.reshape %t : tensor<2x20x2x8xf32> to tensor<2x20x16xf32>
  %r = graph.matmul %j, %o : tensor<2x20x16xf32>, tensor<16x5xf32>
  return %r : tensor<2x20x5xf32>
}
})"),
            "");
}
