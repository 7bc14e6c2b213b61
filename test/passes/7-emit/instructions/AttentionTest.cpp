//===- AttentionTest.cpp - attention that a library may know --------------===//

#include "passes/7-emit/program/ProgramWriter.h"
#include "runtime/program/VerifyProgram.h"
#include "test/passes/7-emit/program/Modules.h"

#include <gtest/gtest.h>

#include <regex>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::test;

/// Queries, keys and values are parts of one projection.
static constexpr const char *forward = R"mlir(
    %y = rank.launch @attend(%x) : (tensor<2x16x48xbf16>)
        -> tensor<2x16x2x8xbf16>
    return %y : tensor<2x16x2x8xbf16>
  }
  rank.kernel @attend(%x: tensor<2x16x48xbf16>) -> tensor<2x16x2x8xbf16> {
    %a = graph.slice %x starts [0, 0, 0] sizes [2, 16, 16] steps [1, 1, 1]
        : tensor<2x16x48xbf16>
    %b = graph.slice %x starts [0, 0, 16] sizes [2, 16, 16] steps [1, 1, 1]
        : tensor<2x16x48xbf16>
    %a1 = graph.reshape %a : tensor<2x16x16xbf16> to tensor<2x16x2x8xbf16>
    %b1 = graph.reshape %b : tensor<2x16x16xbf16> to tensor<2x16x2x8xbf16>
    %q = graph.transpose %a1 [0, 2, 1, 3] : tensor<2x16x2x8xbf16>
    %k = graph.transpose %b1 [0, 2, 1, 3] : tensor<2x16x2x8xbf16>
    %y = graph.attention %q, %k, %k {scale = 0.5 : f64, causal}
        : tensor<2x2x16x8xbf16>, tensor<2x2x16x8xbf16>, tensor<2x2x16x8xbf16>
    %t = graph.transpose %y [0, 2, 1, 3] : tensor<2x2x16x8xbf16>
    rank.yield %t : tensor<2x16x2x8xbf16>
  })mlir";

/// Returns a module with attention gradients. `between` may read %dq before the
/// gradient of its keys is computed.
static std::string gradients(const std::string &between) {
  return R"mlir(
    %dq, %top, %share, %mean = rank.launch @query(%x)
        : (tensor<2x2x16x8xbf16>) -> (tensor<2x2x16x8xbf16>,
           tensor<2x2x16xf32>, tensor<2x2x16xf32>, tensor<2x2x16xf32>)
)mlir" + between +
         R"mlir(
    %dk, %dv = rank.launch @key(%x, %top, %share, %mean)
        : (tensor<2x2x16x8xbf16>, tensor<2x2x16xf32>, tensor<2x2x16xf32>,
           tensor<2x2x16xf32>) -> (tensor<2x2x16x8xbf16>,
           tensor<2x2x16x8xbf16>)
    %e = rank.launch @sum(%dq, %dk)
        : (tensor<2x2x16x8xbf16>, tensor<2x2x16x8xbf16>)
        -> tensor<2x2x16x8xbf16>
    %y = rank.launch @sum(%e, %dv)
        : (tensor<2x2x16x8xbf16>, tensor<2x2x16x8xbf16>)
        -> tensor<2x2x16x8xbf16>
    return %y : tensor<2x2x16x8xbf16>
  }
  rank.kernel @sum(%a: tensor<2x2x16x8xbf16>, %b: tensor<2x2x16x8xbf16>)
      -> tensor<2x2x16x8xbf16> {
    %c = graph.add %a, %b : tensor<2x2x16x8xbf16>, tensor<2x2x16x8xbf16>
    rank.yield %c : tensor<2x2x16x8xbf16>
  }
  rank.kernel @query(%x: tensor<2x2x16x8xbf16>)
      -> (tensor<2x2x16x8xbf16>, tensor<2x2x16xf32>, tensor<2x2x16xf32>,
          tensor<2x2x16xf32>) {
    %dq, %top, %share, %mean = graph.attention_query_gradient %x, %x, %x of %x
        {scale = 0.5 : f64} : tensor<2x2x16x8xbf16>, tensor<2x2x16x8xbf16>,
        tensor<2x2x16x8xbf16>, tensor<2x2x16x8xbf16>
    rank.yield %dq, %top, %share, %mean : tensor<2x2x16x8xbf16>,
        tensor<2x2x16xf32>, tensor<2x2x16xf32>, tensor<2x2x16xf32>
  }
  rank.kernel @key(%x: tensor<2x2x16x8xbf16>, %top: tensor<2x2x16xf32>,
                   %share: tensor<2x2x16xf32>, %mean: tensor<2x2x16xf32>)
      -> (tensor<2x2x16x8xbf16>, tensor<2x2x16x8xbf16>) {
    %dk, %dv = graph.attention_key_gradient %x, %x, %x of %x
        with %top, %share, %mean {scale = 0.5 : f64}
        : tensor<2x2x16x8xbf16>, tensor<2x2x16x8xbf16>, tensor<2x2x16x8xbf16>,
        tensor<2x2x16x8xbf16>, tensor<2x2x16xf32>, tensor<2x2x16xf32>,
        tensor<2x2x16xf32>
    rank.yield %dk, %dv : tensor<2x2x16x8xbf16>, tensor<2x2x16x8xbf16>
  })mlir";
}

namespace {
class AttentionTest : public testing::Test {
protected:
  AttentionTest() { loadDialects(context); }

  /// Returns the attention descriptions of the kernels in a GPU's program, in
  /// order; null for a kernel without one. `x` and `y` are the types of its
  /// input and output.
  std::vector<const program::AttentionT *>
  write(const std::string &body, const std::string &x, const std::string &y) {
    const std::string text =
        "module attributes { dist.target = \"cuda\", graph.inputs = "
        "[{graph.name = \"x\", dist.global = " +
        x + "}], graph.outputs = [{graph.name = \"y\", dist.global = " + y +
        "}]} {\nfunc.func @stage_0(%x: " + x + " {graph.name = \"x\"}) -> (" +
        y + " {graph.name = \"y\"}) attributes {pipe.stage = 0 : i64} {" +
        body + "\npipe.actions 0 stages [0] [\"0F0\"]\n}";
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    auto read = readFacts(*module);
    EXPECT_TRUE(read) << read.status().message();
    facts = std::move(*read);
    written = PositionProgram();
    Status status = writeProgram(*facts, 0, written);
    EXPECT_TRUE(status.ok()) << status.message();
    status = runtime::verifyProgram(
        written.tables, static_cast<int64_t>(written.constants.size()));
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<const program::AttentionT *> found;
    for (const auto &instruction :
         written.tables.functions.front()->instructions)
      found.push_back(instruction->body.AsKernel()->attention.get());
    return found;
  }

  const program::AttentionT *writeForward(const std::string &body) {
    const auto found =
        write(body, "tensor<2x16x48xbf16>", "tensor<2x16x2x8xbf16>");
    return found.front();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::optional<ModelFacts> facts;
  PositionProgram written;
};
} // namespace

static std::string replaced(const std::string &text, const std::string &from,
                            const std::string &to) {
  return std::regex_replace(text, std::regex(from), to);
}

static std::vector<int64_t> stridesOf(const program::AttentionOperand &tensor) {
  return {tensor.strides()->begin(), tensor.strides()->end()};
}

TEST_F(AttentionTest, SaysWhereItsTensorsLie) {
  const program::AttentionT *found = writeForward(forward);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->part, program::AttentionPart::Result);
  EXPECT_EQ(found->batch, 2);
  EXPECT_EQ(found->heads, 2);
  EXPECT_EQ(found->queries, 16);
  EXPECT_EQ(found->depth, 8);
  EXPECT_EQ(found->scale, 0.5);
  EXPECT_TRUE(found->causal);
  const std::vector<int64_t> ofInput = {768, 8, 48, 1},
                             ofResult = {256, 8, 16, 1};
  EXPECT_EQ(stridesOf(*found->query), ofInput);
  EXPECT_EQ(found->query->offset(), 0);
  EXPECT_EQ(stridesOf(*found->key), ofInput);
  EXPECT_EQ(found->key->offset(), 16);
  EXPECT_EQ(stridesOf(*found->result), ofResult);
}

TEST_F(AttentionTest, WhatLibrariesDoNotHaveSaysNothing) {
  EXPECT_FALSE(
      writeForward(replaced(forward, "causal", "softcap = 30.0 : f64")));
  EXPECT_FALSE(write(replaced(forward, "bf16", "f32"), "tensor<2x16x48xf32>",
                     "tensor<2x16x2x8xf32>")
                   .front());
}

TEST_F(AttentionTest, GradientsAreMadeTogether) {
  const std::string type = "tensor<2x2x16x8xbf16>";
  const auto found = write(gradients(""), type, type);
  ASSERT_EQ(found.size(), 4u);
  ASSERT_TRUE(found[0] && found[1]);
  EXPECT_FALSE(found[2] || found[3]);
  EXPECT_EQ(found[0]->part, program::AttentionPart::QueryGradient);
  EXPECT_EQ(found[1]->part, program::AttentionPart::KeyGradients);
  const auto &instructions = written.tables.functions.front()->instructions;
  const program::KernelT &query = *instructions[0]->body.AsKernel();
  for (size_t i : {0, 1}) {
    EXPECT_EQ(found[i]->query_gradient->buffer(),
              query.buffers[query.buffers.size() - 4]);
    EXPECT_EQ(found[i]->key_gradient->buffer(),
              *(instructions[1]->body.AsKernel()->buffers.end() - 2));
  }
}

TEST_F(AttentionTest, WhatIsNeededBeforeIsNotMadeLater) {
  const std::string type = "tensor<2x2x16x8xbf16>";
  const auto found = write(gradients(R"mlir(
    %early = rank.launch @sum(%dq, %x)
        : (tensor<2x2x16x8xbf16>, tensor<2x2x16x8xbf16>)
        -> tensor<2x2x16x8xbf16>)mlir"),
                           type, type);
  for (const program::AttentionT *attention : found)
    EXPECT_FALSE(attention);
}

TEST_F(AttentionTest, LoadersRefuseWhatCannotBe) {
  writeForward(forward);
  program::AttentionT &attention = *written.tables.functions.front()
                                        ->instructions.front()
                                        ->body.AsKernel()
                                        ->attention;
  const auto fault = [&] {
    return runtime::verifyProgram(
               written.tables, static_cast<int64_t>(written.constants.size()))
        .message();
  };
  attention.batch = 3;
  EXPECT_NE(fault().find("attention with an operand in no buffer"),
            std::string::npos);
  attention.batch = 2;
  EXPECT_EQ(fault(), "");
  attention.result = nullptr;
  EXPECT_NE(fault().find("attention with an operand in no buffer"),
            std::string::npos);
  attention.key_heads = 3;
  EXPECT_NE(fault().find("impossible attention"), std::string::npos);
}
