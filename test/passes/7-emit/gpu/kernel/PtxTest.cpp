//===- PtxTest.cpp - what PTX kernels become ------------------------------===//
//
// The tests in kernel-*-test.cpp check its results.
//
//===----------------------------------------------------------------------===//

#include "passes/7-emit/gpu/kernel/Ptx.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace pcc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

static std::string ptxOf(const std::string &kernel,
                         const std::string &arch = "sm_90") {
  mlir::MLIRContext context;
  context
      .loadDialect<graph::GraphDialect, dist::DistDialect, rank::RankDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kernel, &context);
  if (!module)
    return "does not parse";
  auto ptx = emit::makePtx(*module, arch, PCC_LIBDEVICE);
  return failed(ptx) ? "no PTX" : *ptx;
}

/// Returns gelu(a + b), both [1024, 768].
static std::string elementWise(const std::string &type) {
  const std::string tensor = "tensor<1024x768x" + type + ">";
  return "rank.kernel @k(%a: " + tensor + ", %b: " + tensor + ") -> " + tensor +
         " {\n%0 = graph.add %a, %b : " + tensor + ", " + tensor +
         "\n%r = graph.gelu %0 : " + tensor + "\nrank.yield %r : " + tensor +
         "\n}\n";
}

static std::string softmax(const std::string &columns) {
  const std::string tensor = "tensor<64x" + columns + "xf32>";
  return "rank.kernel @k(%a: " + tensor + ") -> " + tensor +
         " {\n%r = graph.softmax %a over 1 : " + tensor +
         "\nrank.yield %r : " + tensor + "\n}\n";
}

TEST(Ptx, ElementWiseKernelsReadAndWriteSixteenBytes) {
  for (std::string arch : {"sm_80", "sm_90"})
    for (std::string type : {"f32", "bf16", "f16"})
      EXPECT_THAT(
          ptxOf(elementWise(type), arch),
          AllOf(HasSubstr(".target " + arch),
                HasSubstr(".visible .entry pcc_k_0"),
                HasSubstr("ld.global.v4.b32"), HasSubstr("st.global.v4.b32"),
                Not(HasSubstr("ld.global.b")), Not(HasSubstr("st.global.b"))))
          << arch << type;
}

TEST(Ptx, SquareRootsAndDivisionsAreExact) {
  EXPECT_THAT(ptxOf("rank.kernel @k(%a: tensor<64xf32>) -> tensor<64xf32> {\n"
                    "%0 = graph.sqrt %a : tensor<64xf32>\n"
                    "%r = graph.reciprocal %0 : tensor<64xf32>\n"
                    "rank.yield %r : tensor<64xf32>\n}\n"),
              AllOf(HasSubstr("sqrt.rn.f32"), HasSubstr("rcp.rn.f32"),
                    Not(HasSubstr("approx"))));
}

TEST(Ptx, NothingIsInLocalMemoryAndNothingIsCalled) {
  for (const std::string &kernel : {elementWise("f32"), softmax("768")})
    EXPECT_THAT(ptxOf(kernel),
                AllOf(Not(HasSubstr(".local")), Not(HasSubstr("call"))));
}

TEST(Ptx, AddressesAreComputedIn32BitsWhereTheyFit) {
  EXPECT_THAT(ptxOf("rank.kernel @k(%a: tensor<30x50x70xf32>) -> "
                    "tensor<70x30x50xf32> {\n"
                    "%r = graph.transpose %a [2, 0, 1] : tensor<30x50x70xf32>\n"
                    "rank.yield %r : tensor<70x30x50xf32>\n}\n"),
              AllOf(Not(HasSubstr("div.u64")), Not(HasSubstr("div.s64")),
                    Not(HasSubstr("mul.hi.s64")),
                    Not(HasSubstr("mul.hi.u64"))));
}

TEST(Ptx, TransposesGoThroughSharedMemory) {
  const auto transpose = [](const std::string &size) {
    return "rank.kernel @k(%a: tensor<" + size + "x4xf32>) -> tensor<4x" +
           size + "xf32> {\n%r = graph.transpose %a [2, 0, 1] : tensor<" +
           size + "x4xf32>\nrank.yield %r : tensor<4x" + size + "xf32>\n}\n";
  };
  EXPECT_THAT(ptxOf("rank.kernel @k(%a: tensor<64x96xf32>) -> "
                    "tensor<96x64xf32> {\n"
                    "%r = graph.transpose %a [1, 0] : tensor<64x96xf32>\n"
                    "rank.yield %r : tensor<96x64xf32>\n}\n"),
              AllOf(HasSubstr("bar.sync"), HasSubstr("st.shared"),
                    HasSubstr("ld.shared"), Not(HasSubstr("setp"))));
  // Four neighbouring elements are no square tile.
  EXPECT_THAT(ptxOf(transpose("64x96")), Not(HasSubstr("shared")));
}

/// A block has room for twelve tiles of f32.
TEST(Ptx, TooManyTransposesAreReadAcross) {
  const auto sum = [](int count) {
    std::string arguments, sums = "%0 = graph.transpose %x0 [1, 0] : "
                                  "tensor<64x96xf32>\n";
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      arguments += (i ? ", %x" : "%x") + number + ": tensor<64x96xf32>";
      if (i > 0)
        sums += "%t" + number + " = graph.transpose %x" + number +
                " [1, 0] : tensor<64x96xf32>\n%" + number + " = graph.add %" +
                std::to_string(i - 1) + ", %t" + number +
                " : tensor<96x64xf32>, tensor<96x64xf32>\n";
    }
    return ptxOf("rank.kernel @k(" + arguments + ") -> tensor<96x64xf32> {\n" +
                 sums + "rank.yield %" + std::to_string(count - 1) +
                 " : tensor<96x64xf32>\n}");
  };
  EXPECT_THAT(sum(11), HasSubstr(".shared"));
  EXPECT_THAT(sum(13), AllOf(HasSubstr(".entry"), Not(HasSubstr(".shared"))));
}

TEST(Ptx, ARowIsAWarpsOrABlocks) {
  EXPECT_THAT(ptxOf(softmax("768")),
              AllOf(HasSubstr("shfl.sync.bfly"), Not(HasSubstr("bar.sync"))));
  EXPECT_THAT(ptxOf(softmax("50257")),
              AllOf(HasSubstr("shfl.sync.bfly"), HasSubstr("bar.sync"),
                    HasSubstr(".shared")));
}

TEST(Ptx, EqualModulesGiveEqualText) {
  EXPECT_EQ(ptxOf(softmax("768")), ptxOf(softmax("768")));
}
