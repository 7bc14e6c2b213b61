//===- Passes.td - passes of phase 2-prepare ---------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def SimplifyGraph : Pass<"simplify-graph", "::mlir::func::FuncOp"> {
  let summary = "folds constants, cancels ops without effect and merges equal ops";
  let description = [{
    - In: a function of graph ops.
    - Out: a function that computes the same results with fewer ops. Rewrites and the merging of equal ops alternate until
      nothing changes:

    - ops on constants are evaluated, except broadcasts that enlarge a mask and casts to narrower floats;
    - neutral operands (x + 0), double negations, pairs of casts and selects with a known condition are dropped;
    - reshapes, transposes, broadcasts and slices are composed and cancelled;
    - transposes and broadcasts move into the matmul or the element-wise op that reads them;
    - gathers whose indices spell out the row of the batch get a batch dim, so that the batch can be split;
    - equal ops are merged, whatever their names.

    Values that a seed of the user names (`dist.seeds`) stay, and nothing is simplified across them.

    ```
    %t = graph.transpose %w [1, 0]
    %y = graph.matmul %x, %t          becomes     %y = graph.matmul %x, %w {transpose_rhs}
    ```

    The pass runs twice: before `recognise-composites`, since reshapes that cancel hide composites, and after it, since
    composites leave dead ops behind.
    [example: test/passes/2-prepare/simplify-graph.mlir @weights_are_used_as_stored]
  }];
  let statistics = [Statistic<"numRemoved", "removed", "ops removed">,
                    Statistic<"numMerged", "merged", "ops merged with an equal op">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def RecogniseComposites : Pass<"recognise-composites", "::mlir::func::FuncOp"> {
  let summary = "replaces decomposed norms, GELU, softmax, rotary embedding and attention by their ops";
  let description = [{
    - In: a simplified function.
    - Out: `graph.layer_norm`, `graph.rms_norm`, `graph.gelu`, `graph.softmax`, `graph.log_softmax`, `graph.rotary` and
      `graph.attention` in place of the ops that exporters write for them. Attention whose mask hides all later keys gets the
      flag `causal`. An einsum or a sum that adds up few experts per token gets the attribute `graph.chosen`.

    Operands of commutative ops may stand in either order, and constants may be scalars or splats. A composite replaces its
    parts only if it computes the same function, up to rounding and the assumptions that its source file states. Attention
    gives zeros for a row without visible keys, where a softmax gives NaN; a mask must therefore be proven to keep a key of
    each row. Values that `dist.seeds` names stay. The attention patterns read softmaxes that this pass has recognised.
    [example: test/passes/2-prepare/recognise-composites/attention.mlir @masked]
  }];
  let statistics = [Statistic<"numRecognised", "recognised", "composites recognised">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def JoinSlices : Pass<"join-slices", "::mlir::func::FuncOp"> {
  let summary = "replaces a concatenation of slices of one value by a gather";
  let description = [{
    - In: a `graph.concat` whose operands are slices of one value along the joined dim, or all of that value.
    - Out: one `graph.gather` with constant indices, which `4-shard` prices and moves at once. The indices are limited to
      2^20. Values that `dist.seeds` names stay. `5-localize` makes slices of the gather again where nothing moves.

    ```
    concat(x[1:], x[:1])     becomes     gather(x, [1, 2, …, n - 1, 0])
    ```
    [example: test/passes/2-prepare/join-slices.mlir @roll]
  }];
  let statistics = [Statistic<"numJoined", "joined", "concatenations replaced by a gather">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def AddLoss : Pass<"add-loss", "::mlir::ModuleOp"> {
  let summary = "makes the loss the only result of the model";
  let description = [{
    Does nothing unless the module has `graph.training`.

    - In: the imported model.
    - Out: `@main` returns the loss, a float of rank 0 with the name `loss`, and no other output.

    The entry `loss` of `graph.training` is a function of an output and labels, such as `cross_entropy(logits, labels)`, or
    the name of an output that is the loss already. Labels become an input with the attribute `graph.labels`, unless the model
    has an input of that name already. A model that brings its training along (ONNX TrainingInfo) returns its loss; then the
    entry may be empty. The pass fails if there is no such function, output or setting.

    The pass runs first in `2-prepare`: outputs that the loss does not need, and the ops behind them, are removed before other
    passes spend time on them.
    [example: test/passes/2-prepare/add-loss.mlir @main]
  }];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def SetPrecision : Pass<"set-precision", "::mlir::ModuleOp"> {
  let summary = "computes contractions and the ops between them in a chosen float type";
  let description = [{
    Does nothing unless the module has `graph.precision` (`f32`, `bf16` or `f16`).

    - In: `@main` in the types of the model.
    - Out: `@main` with casts. Only types and casts change, and thus only the rounding of numbers.

    ```
    gather of a table by ids      type of the model
    layer_norm                    type of the model
    matmul                        bf16, with casts of both operands
    gelu, add, softmax            bf16
    exp, sum, log                 f32, and all ops that depend on them alone
    matmul                        bf16
    loss                          f32
    ```

    Contractions take and give the chosen type, and so do ops that read their results. Ops that lose digits or leave the
    range, sums over many terms, and ops that no contraction follows, such as a loss, are computed in f32. Positions, masks
    and buffers keep their type until they meet a value in the chosen type. Weights that train are kept in f32 at least and
    cast at each use. Other weights are converted as they are loaded; a weight of one dim only if all its uses want the chosen
    type. Inputs and outputs keep their types. Values that `dist.seeds` names stay.

    The pass must run after `recognise-composites`, since a composite can compute in a narrow type where its parts could not,
    and before `differentiate`, so that gradients match the ops that run.
    [example: test/passes/2-prepare/set-precision.mlir @main]
  }];
  let statistics = [Statistic<"numNarrow", "narrow", "values in the chosen type">,
                    Statistic<"numWide", "wide", "values computed in f32">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def Differentiate : Pass<"differentiate", "::mlir::ModuleOp"> {
  let summary = "builds the gradients of the loss with respect to the weights that train";
  let description = [{
    Does nothing unless the module has `graph.training`.

    - In: `@main`, whose only result is the loss.
    - Out: the backward pass in the same block, and one further result per use of a weight that trains: its gradient, with the
      attribute `graph.gradient_of`. Weights with a gradient get `trained`.

    The entries `train_only` and `freeze` of `graph.training` choose the weights that train. Each use of a weight gets a read
    of its own, since uses may end up on different stages. Each backward op names its forward op in `graph.mirrors`. Attention
    becomes `graph.attention_query_gradient` and `graph.attention_key_gradient` if the target has kernels for them. A loss
    scale (`loss_scale`) multiplies the gradient of the loss.

    The pass fails if an op on a path of floats from a weight to the loss has no gradient, and if the loss depends on no
    weight that trains.
    [example: test/passes/2-prepare/differentiate.mlir @main]
  }];
  let statistics = [Statistic<"numTrained", "trained", "weights that train">,
                    Statistic<"numOps", "ops", "ops of the backward pass">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def ApplyOptimizer : Pass<"apply-optimizer", "::mlir::ModuleOp"> {
  let summary = "builds the update of all weights from their gradients";
  let description = [{
    Does nothing unless the module has `graph.training`.

    - In: `@main` with a gradient per use of a weight.
    - Out: ops that accumulate the gradients of all uses, clip them by their global norm if `clip_norm` is given, and write
      the weights, the optimizer states and the step counter. `@main` returns loss, gradient norm and learning rate, and the
      loss scale if there is one.

    The entries `optimizer`, `lr`, `lr_schedule`, `clip_norm`, `weight_decay` and `loss_scale` of `graph.training` give the
    algorithm. An optimizer state is a parameter with `fill` and `state_of`. Ops of one weight name it in `graph.updates`; ops
    without the attribute concern all weights. A step with a gradient that is not finite changes no weight and no state, if
    there is a loss scale. With `graph.reproducible` the squares of the gradient norm are rounded so that their order does not
    matter.

    For a model that brings its own update (ONNX TrainingInfo), the pass connects that update with the gradients instead.
    [example: test/passes/2-prepare/apply-optimizer.mlir @main]
  }];
  let statistics = [Statistic<"numUpdated", "updated", "weights that the step updates">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def MarkBatch : Pass<"mark-batch", "::mlir::ModuleOp"> {
  let summary = "marks the batch dim and the sequence dim of every input";
  let description = [{
    - In: a function whose arguments have symbols per dim (`graph.dims`).
    - Out: `graph.batch_dim` and `graph.sequence_dim` on the arguments that have these dims.

    The batch is the first dim of the first input, and every dim with the same symbol; without symbols, dim 0 of every input
    of the same size. The module attribute `graph.batch_dims` (`NAME=K`) overrides that for the named inputs. The sequence is
    dim 1 of the first input, if it has a symbol or if the input holds integers, and every dim like it.

    The pass fails if two inputs have batches of different sizes, and if `pipe.microbatches` does not divide the batch. The
    pass runs last in `2-prepare`, since no later pass adds inputs.
    [example: test/passes/2-prepare/mark-batch.mlir @symbols]
  }];
  let statistics = [Statistic<"numMarked", "marked", "inputs with a batch dim">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def VerifyPrepared : Pass<"verify-prepared", "::mlir::ModuleOp"> {
  let summary = "checks that the graph is simplified and that batch dims agree";
  let description = [{
    Gate of `2-prepare`. The pass changes nothing and checks that

    - no op has constants for all its operands if `simplify-graph` folds such ops;
    - all marked batch dims exist and have one size;
    - `pipe.microbatches` divides the batch.

    A failure is a defect of pcc; the exit code is 1.
    [example: test/passes/2-prepare/verify-prepared.mlir @prepared]
  }];
  let statistics = [Statistic<"numOps", "ops", "ops checked">];
}
