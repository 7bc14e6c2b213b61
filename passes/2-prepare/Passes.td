//===- Passes.td - passes of phase 2-prepare -----------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def SimplifyGraph : Pass<"simplify-graph", "::mlir::func::FuncOp"> {
  let summary = "computes what is known, removes what does nothing and merges what is equal";
  let description = [{
    Ops on constants are evaluated; layout ops are composed, cancelled or absorbed (a transpose into a matmul's flags, a broadcast into
    element-wise ops, which broadcast by themselves); ops that equal an operand are dropped; equal ops are merged whatever their names.
    A value that a seed of the user's (`dist.seeds`) names stays, and nothing is simplified across it.
    [example: test/passes/2-prepare/simplify-graph.mlir @weights_are_used_as_stored]
  }];
  let statistics = [Statistic<"numRemoved", "removed", "ops fewer than before">,
                    Statistic<"numMerged", "merged", "ops merged with an equal one">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def RecogniseComposites : Pass<"recognise-composites", "::mlir::func::FuncOp"> {
  let summary = "finds layer_norm, rms_norm, gelu, softmax, rotary, attention and sums of few experts in their decomposed forms";
  let description = [{
    One file per composite, Composite*.cpp; operands of commutative ops may have either order, constants may be scalars or splats. A
    composite replaces its parts only if it means exactly the same, whatever the inputs: attention gives zeros to a row without visible
    key, where softmax alone gives NaN. [example: test/passes/2-prepare/recognise-composites/attention.mlir @masked]
  }];
  let statistics = [Statistic<"numRecognised", "recognised", "composites recognised">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def JoinSlices : Pass<"join-slices", "::mlir::func::FuncOp"> {
  let summary = "makes one lookup of a concatenation of slices of one value";
  let description = [{
    A roll, a short prefix before all of a value, a reversal of halves: `graph.gather` of constant indices says in one op what moves, so
    that the sharding engine prices and moves it at once. [example: test/passes/2-prepare/join-slices.mlir @roll]
  }];
  let statistics = [Statistic<"numJoined", "joined", "concatenations replaced">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def AddLoss : Pass<"add-loss", "::mlir::ModuleOp"> {
  let summary = "makes the loss what the model returns";
  let description = [{
    If the module has `graph.training`, builds its `loss`, a function of an output and labels, or takes the output of that name. Labels
    become an input unless the model has one of that name. The model's own outputs are not returned any more.
    [example: test/passes/2-prepare/add-loss.mlir @main]
  }];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def SetPrecision : Pass<"set-precision", "::mlir::ModuleOp"> {
  let summary = "computes in the float type that is asked for";
  let description = [{
    If the module has `graph.precision` = f32, bf16 or f16: contractions take and give that type, and what meets their results has it
    too. Functions that lose digits or leave the range, sums, and what no contraction follows (a loss, the end of a model) are
    computed in f32; masks, positions and the like stay as they are until they meet what is narrow. Weights that train stay in f32,
    cast where they are used; others are cast as they are read. Inputs and outputs keep their types. Nothing but the rounding of
    numbers changes. [example: test/passes/2-prepare/set-precision.mlir @main]
  }];
  let statistics = [Statistic<"numNarrow", "narrow", "values in the asked type">,
                    Statistic<"numWide", "wide", "values that are computed in f32 among them">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def Differentiate : Pass<"differentiate", "::mlir::ModuleOp"> {
  let summary = "returns the gradient of the loss by every weight that trains";
  let description = [{
    If the module has `graph.training`: the first result of @main is the loss. Marks the weights that train and adds a result with
    `graph.gradient_of` for each use of one. Ops of the backward pass say by `graph.mirrors` which op's gradient they are part of.
    [example: test/passes/2-prepare/differentiate.mlir @main]
  }];
  let statistics = [Statistic<"numTrained", "trained", "weights that train">,
                    Statistic<"numOps", "ops", "ops of the backward pass">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def ApplyOptimizer : Pass<"apply-optimizer", "::mlir::ModuleOp"> {
  let summary = "makes new weights of their gradients";
  let description = [{
    If the module has `graph.training`: accumulates every gradient over the step, clips them by their global norm, and writes weights,
    the state that the optimizer keeps, and the number of the step. Returns loss, norm of the gradients and learning rate. Ops that are
    of one weight name it in `graph.updates`. [example: test/passes/2-prepare/apply-optimizer.mlir @main]
  }];
  let statistics = [Statistic<"numUpdated", "updated", "weights that are written">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def MarkBatch : Pass<"mark-batch", "::mlir::ModuleOp"> {
  let summary = "marks the batch dim and the sequence dim of every input";
  let description = [{
    The batch is the first dim of the first input and every dim with its symbol (`graph.dims`); without symbols, dim 0 of every input if
    it has that size. `graph.batch_dims = ["NAME=K"]` on the module overrides. The sequence is dim 1 of the first input if it has a
    symbol or the input holds integers, and every dim like it. Sets `graph.batch_dim` and `graph.sequence_dim` on arguments and checks
    that `pipe.microbatches` divides the batch. [example: test/passes/2-prepare/mark-batch.mlir @symbols]
  }];
  let statistics = [Statistic<"numMarked", "marked", "inputs with a batch dim">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def VerifyPrepared : Pass<"verify-prepared", "::mlir::ModuleOp"> {
  let summary = "gate: nothing is left to compute from constants, and the marked batch dims agree";
  let description = [{[example: test/passes/2-prepare/verify-prepared.mlir @prepared]}];
  let statistics = [Statistic<"numOps", "ops", "ops checked">];
}
