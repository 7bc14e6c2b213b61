//===- Modules.h - small modules after 6-schedule, as text ----------------===//

#ifndef PCC_TEST_PASSES_7_EMIT_PROGRAM_MODULES_H
#define PCC_TEST_PASSES_7_EMIT_PROGRAM_MODULES_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <string>

namespace pcc::test {

/// Two products on tp = 2 and two stages, in two microbatches: x · w1 is sent,
/// then multiplied by w2 and summed over tp.
inline constexpr const char *twoStages = R"mlir(
module attributes {
  dist.mesh = #dist.mesh<mb = 2, tp = 2>, pipe.stages = 2 : i64,
  pipe.microbatches = 2 : i64, pipe.schedule = "forward",
  rank.random_weights = 7 : i64,
  graph.inputs = [{graph.name = "x", dist.global = tensor<4x8xf32>,
                   dist.sharding = #dist.sharding<"[4@mb:2, -]">}],
  graph.outputs = [{graph.name = "y", dist.global = tensor<4x8xf32>,
                    dist.sharding = #dist.sharding<"[4@mb:2, -]">}]} {
  graph.parameter @w1 : tensor<8x16xf32>
  graph.parameter @w2 : tensor<16x8xf32>
  func.func @stage_0(%x: tensor<2x8xf32> {graph.name = "x"})
      attributes {pipe.stage = 0 : i64} {
    %w = graph.get_parameter @w1
        {dist.shardings = [#dist.sharding<"[-, 16@tp:2]">]} : tensor<8x8xf32>
    %h = graph.matmul %x, %w : tensor<2x8xf32>, tensor<8x8xf32> loc("fc1")
    pipe.send %h to 1 value "h" : tensor<2x8xf32>
    return
  }
  func.func @stage_1() -> (tensor<2x8xf32> {graph.name = "y"})
      attributes {pipe.stage = 1 : i64} {
    %h = pipe.receive from 0 value "h" : tensor<2x8xf32>
    %w = graph.get_parameter @w2
        {dist.shardings = [#dist.sharding<"[16@tp:2, -]">]} : tensor<8x8xf32>
    %p = graph.matmul %h, %w : tensor<2x8xf32>, tensor<8x8xf32> loc("fc2")
    %y = dist.collective all_reduce %p
        from <"[4@mb:2, -] partial sum(tp:2)"> to <"[4@mb:2, -]">
        shape [4, 8] received 64 value "fc2"
        : tensor<2x8xf32> to tensor<2x8xf32> loc("fc2")
    return %y : tensor<2x8xf32>
  }
  pipe.actions 0 stages [0] ["0F0", "0F1"]
  pipe.actions 1 stages [1] ["1F0", "1F1"]
})mlir";

/// Returns a model with one rank around `body`, the body of @stage_0, with an
/// input and an output of f32[4x8].
inline std::string oneRank(const std::string &body) {
  return R"mlir(
module attributes {
  graph.inputs = [{graph.name = "x", dist.global = tensor<4x8xf32>}],
  graph.outputs = [{graph.name = "y", dist.global = tensor<4x8xf32>}]} {
  func.func @stage_0(%x: tensor<4x8xf32> {graph.name = "x"})
      -> (tensor<4x8xf32> {graph.name = "y"}) attributes {pipe.stage = 0 : i64} {
)mlir" + body +
         R"mlir(
    return %y : tensor<4x8xf32>
  }
  pipe.actions 0 stages [0] ["0F0"]
})mlir";
}

/// Loads the dialects of which such modules consist.
inline void loadDialects(mlir::MLIRContext &context) {
  context.loadDialect<graph::GraphDialect, dist::DistDialect, pipe::PipeDialect,
                      rank::RankDialect, mlir::func::FuncDialect>();
}

} // namespace pcc::test

#endif // PCC_TEST_PASSES_7_EMIT_PROGRAM_MODULES_H
