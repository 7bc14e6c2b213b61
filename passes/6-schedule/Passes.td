//===- Passes.td - passes of phase 6-schedule --------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def OutlineStages : Pass<"outline-stages", "::mlir::ModuleOp"> {
  let summary = "divides the model into one function per stage, joined by sends and receives";
  let description = [{
    - In: `@main` with `pipe.stage` on every op and `pipe.transfer` between stages.
    - Out: a function `@stage_K` per stage for one microbatch, which takes the inputs that the stage reads and returns the
      outputs that it makes; `@main` is erased. A transfer becomes a `pipe.send` at the end of one function and a
      `pipe.receive` in another, under one name. When training, every op gets the number of the function that it belongs to
      (`pipe.part`).

    The order of the model's inputs and outputs stays in `graph.inputs` and `graph.outputs`.
    [example: test/passes/6-schedule/outline-stages.mlir @main]
  }];
  let statistics = [Statistic<"numStages", "stages", "stage functions created">];
}

def HoistShared : Pass<"hoist-shared", "::mlir::ModuleOp"> {
  let summary = "moves ops that all microbatches share out of the microbatch loop";
  let description = [{
    - In: stage functions.
    - Out: per stage a function `@stage_K_shared` with `pipe.action = "UNSHARD"`, which runs once per step, and arguments with
      `pipe.held` that take its results. An op is shared if it depends on no input that microbatches cut and on no message.

    `plan/memory/Hoist` decides: the result of a shared collective is held, and so is a computed value that is at most as
    large as the operands of its op. Views, and values that are larger than the operands of their op, such as a mask, are
    computed in every microbatch. `pipe.max_held_bytes` bounds the held bytes of a stage. With one microbatch nothing changes.
    The typical case is the all_gather of a weight that is stored sharded (FSDP).
    [example: test/passes/6-schedule/hoist-shared.mlir @gathered_weight]
  }];
  let statistics = [Statistic<"heldBytes", "bytes", "bytes that all stages hold through a step">];
}

def OrderBackward : Pass<"order-backward", "::mlir::ModuleOp"> {
  let summary = "moves ops of the backward pass to where their operands or readers need them";
  let description = [{
    - In: stage functions with `pipe.part`, when training.
    - Out: the same ops in another order. An op of the backward pass that does not depend on the loss moves to its first
      reader, so that its result need not be kept. The ops from a gradient to its sum over microbatches move to where the
      gradient is made. A rank then keeps its shard of the gradient instead of all of it, and the reduction can run beside
      other ops.

    `recompute` must run afterwards, since that pass needs the order in which the backward pass reads values.
    [example: test/passes/6-schedule/order-backward.mlir @gradients]
  }];
}

def Recompute : Pass<"recompute", "::mlir::ModuleOp"> {
  let summary = "recomputes activations in the backward pass instead of keeping them";
  let description = [{
    Activation checkpointing (Chen et al. 2016).

    - In: stage functions with forward, backward and update parts, when training.
    - Out: clones of forward ops in front of the ops of the backward pass that first read them; forward ops that lose all
      their readers are erased. `pipe.recomputed_flops` records what each stage adds to a microbatch.

    `pipe.recompute` chooses which values are recomputed:

    - `none`: values that cost no floating-point operations, such as a transpose of a kept value;
    - `selective`: cheap ops where that keeps fewer bytes (Korthikanti et al. 2022);
    - `full`: all but the values that cross from one segment of the stage to another;
    - `auto`: the fewest floating-point operations with which each position needs at most its entry of
      `pipe.activation_bytes`, or as few bytes as possible without an entry.

    `plan/memory/Recompute` decides by minimum cuts. Collectives are repeated too with `full` and `auto`. The gather of a
    weight that must not stay whole (`pipe.max_held_bytes`) is repeated with every choice. The table of `pipe.schedule` gives
    the number of microbatches in flight.
    [example: test/passes/6-schedule/recompute.mlir @selective]
  }];
  let statistics = [Statistic<"keptBytes", "bytes", "bytes per microbatch that all stages keep for their backward pass">,
                    Statistic<"numRecomputed", "ops", "forward ops that run again">];
}

def SplitActions : Pass<"split-actions", "::mlir::ModuleOp"> {
  let summary = "divides each stage into one function per kind of action";
  let description = [{
    - In: stage functions with `pipe.part`.
    - Out: when training, `@stage_K` keeps the forward pass, and the backward pass becomes `@stage_K_backward` or, if the
      schedule splits it, `@stage_K_input_gradient` (what the stage sends depends on it) and `@stage_K_weight_gradient`. The
      update becomes `@stage_K_update_0`, and further functions if stages exchange values during the update, such as the
      gradient norm. `pipe.action` names the action that runs a function.

    A value that one function computes for another becomes a result, which the other function takes as an argument with
    `pipe.held`. A `graph.accumulate` with `sums` becomes an addition to the sum of the microbatches before. Parameters are
    written at the end of a function. The pass reads `pipe.schedule` and `pipe.table`.
    [example: test/passes/6-schedule/split-actions.mlir @stage_0]
  }];
  let dependentDialects = ["::pcc::pipe::PipeDialect", "::pcc::graph::GraphDialect"];
}

def BucketCollectives : Pass<"bucket-collectives", "::mlir::ModuleOp"> {
  let summary = "joins small collectives of one group into one call";
  let description = [{
    Gradient bucketing as in PyTorch DDP (Li et al. 2020), for any small collectives.

    - In: a function of the stage.
    - Out: one collective for several all_reduces, or all_gathers, over one group, in one element type and of one reduction.
      The collectives must be independent of each other. Their local pieces are packed into one buffer in front of the last
      collective and unpacked behind it; the same bytes are received.

    A bucket is formed only if packing takes at most half of the time of a call, at the prices of the cluster
    (`dist.cluster`). The joint collective has the node of its first part, the values of all parts and the causes of all
    parts. `hoist-shared` and `split-actions` must run before: a bucket must not join shared work with the work of a
    microbatch, nor two functions.
    [example: test/passes/6-schedule/bucket-collectives.mlir @two_gathers]
  }];
  let statistics = [Statistic<"savedCalls", "calls", "collective calls saved">];
  let dependentDialects = ["::pcc::dist::DistDialect", "::pcc::graph::GraphDialect"];
}

def ScheduleActions : Pass<"schedule-actions", "::mlir::ModuleOp"> {
  let summary = "writes the action table of every pipeline position";
  let description = [{
    - In: stage functions.
    - Out: one `pipe.actions` per position, with the order of the actions of one step. The table comes from the generator that
      `pipe.schedule` names (`forward` if absent) for `pipe.stages` stages, `pipe.virtual_stages` stages per position and
      `pipe.microbatches` microbatches, or from `pipe.table`, which a user wrote. A stage with an `UNSHARD` function runs it
      before its first microbatch; the parts of the update come last.
    [example: test/passes/6-schedule/schedule-actions.mlir @main]
  }];
  let statistics = [Statistic<"numActions", "actions", "actions of all positions">];
  let dependentDialects = ["::pcc::pipe::PipeDialect"];
}

def VerifyScheduled : Pass<"verify-scheduled", "::mlir::ModuleOp"> {
  let summary = "checks that the tables are complete and that no position waits forever";
  let description = [{
    Gate of `6-schedule`. The pass changes nothing and checks that

    - every stage and microbatch runs exactly once, in the order of its dependences, and the parts of the update last;
    - every action of a table has a function, and every function an action;
    - every `pipe.held` argument takes a result that exists, of the same type;
    - every `pipe.send` has its `pipe.receive`, of the same value, type and stages;
    - a replay of all positions under rendezvous terminates.

    A failure is a defect of pcc; the exit code is 1.
    [example: test/passes/6-schedule/verify-scheduled.mlir @main]
  }];
  let statistics = [Statistic<"numMessages", "messages", "transfers between stages">];
}
