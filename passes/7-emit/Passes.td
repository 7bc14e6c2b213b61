//===- Passes.td - passes of phase 7-emit ------------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def LowerForGpus : Pass<"lower-for-gpus", "::mlir::func::FuncOp"> {
  let summary = "replaces ops without a GPU library by matmuls and ops of kernels";
  let description = [{
    Does nothing unless `dist.target` is `cuda`.

    - In: a function on local shapes.
    - Out: the same function with ops that GPUs can run:

    - a convolution becomes a matmul of filters and gathered columns (im2col), a pool a reduction of windows;
    - a top-k becomes a rank sort, a cumsum reductions of pairs, a scatter a reduction over the updates of one element;
    - the rows of experts become prefix sums and batched matmuls.

    A kernel evaluates such pairs without storing them. The pass runs first in `7-emit`, since the matmuls can become library
    calls with the ops behind them.
    [example: test/passes/7-emit/lower-for-gpus.mlir @a_convolution_is_a_product]
  }];
  let statistics = [Statistic<"numLowered", "ops", "ops replaced">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def FormLibraryCalls : Pass<"form-library-calls", "::mlir::func::FuncOp"> {
  let summary = "moves ops around contractions into calls of a library";
  let description = [{
    - In: a function on local shapes.
    - Out: a `rank.library_call` in place of a contraction and the ops that the library can do along with it (epilogue
      fusion).

    These ops are layout ops of the operands, a bias, an activation, a residual or a sum over microbatches, the order of dims
    of the result, and the gradient of a bias. oneDNN and cuBLASLt have different abilities (fuse/LibraryCalls.h).

    ```
    %m = graph.matmul %x, %w
    %s = graph.add %m, %b                 becomes     %g = rank.library_call(%x, %w, %b)
    %g = graph.gelu %s
    ```

    Before that, attention becomes two matmuls and a softmax, unless a fused GPU kernel supports it, and an einsum becomes
    matmuls. A library call computes the same as its ops up to rounding, except that relu of NaN gives 0. The pass also
    replaces each `graph.loss_gradient` by a constant 1.
    [example: test/passes/7-emit/form-library-calls.mlir @a_bias_and_an_activation]
  }];
  let statistics = [Statistic<"numCalls", "calls", "library calls that do more than a contraction">,
                    Statistic<"numOps", "ops", "ops that became part of a library call">];
  let dependentDialects = ["::pcc::graph::GraphDialect", "::pcc::rank::RankDialect"];
}

def FormKernels : Pass<"form-kernels", "::mlir::ModuleOp"> {
  let summary = "groups element-wise, layout, indexing and reducing ops into kernels";
  let description = [{
    - In: stage functions.
    - Out: `rank.kernel` symbols in the module and a `rank.launch` in place of each group of ops. Equal groups share one
      kernel, so that the number of kernels does not grow with layers.

    ```
    %0 = graph.add %x, %b
    %1 = graph.gelu %0                    becomes     %1 = rank.launch @kernel(%x, %b)
    ```

    Going backwards, an op joins the group of a reader if the group keeps one iteration space and repeats no expensive work. A
    reduction determines the rows of its group. Constants and indices are copied into each kernel. A `graph.reshape` at the
    border of a group stays outside, since it is free there. An attention op becomes a kernel of its own, together with the
    layout ops of its operands and its result. Resizes are lowered first, and, for GPUs, long reductions are split into two.

    Kernels that differ in scalar constants only and have more than 128 ops together become one, which takes the scalars as
    operands: machine code takes 2 to 5 ms for each op, and quantized models have a scale in each layer.

    For GPUs, functions that run once per step also join launches of equal kernels over different tensors into one
    `rank.launch_parts`. Contractions, library calls, pools, scans, sorts, scatters, collectives, sends and receives stay as
    they are.
    [example: test/passes/7-emit/form-kernels.mlir @a_chain_is_one_kernel]
  }];
  let statistics = [Statistic<"numKernels", "kernels", "different kernels">,
                    Statistic<"numLaunches", "launches", "launches of kernels">,
                    Statistic<"numJoined", "joined", "launches saved by joint launches">,
                    Statistic<"numOps", "ops", "ops that became part of a kernel">];
  let dependentDialects = ["::pcc::graph::GraphDialect", "::pcc::rank::RankDialect"];
}

def VerifyEmitted : Pass<"verify-emitted", "::mlir::ModuleOp"> {
  let summary = "checks that the loader accepts the program of every position";
  let description = [{
    Gate of `7-emit`. The pass changes nothing and checks that

    - the verifier of the loader accepts the program of every position, which the pass writes as the bundle will have it,
      without the sizes of weight files;
    - ranks create and call communicators in orders in which none can wait forever.

    A program that the device cannot run is left to the error of the bundle writer. A failure is a defect of pcc; the exit
    code is 1.
    [example: test/passes/7-emit/verify-emitted.mlir @stage_0]
  }];
  let statistics = [Statistic<"numInstructions", "instructions", "instructions of all positions">,
                    Statistic<"arenaBytes", "bytes", "arena bytes of all positions">];
}
