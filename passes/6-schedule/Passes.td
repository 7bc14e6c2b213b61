//===- Passes.td - passes of phase 6-schedule ----------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def OutlineStages : Pass<"outline-stages", "::mlir::ModuleOp"> {
  let summary = "makes one function per stage; transfers become sends and receives";
  let description = [{
    `@stage_K` computes stage K for one microbatch. It takes the model's inputs that the stage reads and returns the outputs that it
    makes; attributes of arguments and results are kept. [example: test/passes/6-schedule/outline-stages.mlir @main]
  }];
  let statistics = [Statistic<"numStages", "stages", "stage functions made">];
}

def HoistShared : Pass<"hoist-shared", "::mlir::ModuleOp"> {
  let summary = "lets a stage run once per step what all its microbatches share";
  let description = [{
    What depends on no input that is cut by microbatch and on no message moves to `@stage_K_shared`, which `schedule-actions` lets run
    before the first microbatch (`0UNSHARD`); its results are held through the step and arguments of `@stage_K`. What is worth holding is
    decided by `plan/Hoist`: all that was received, and what was computed if it is no larger than what it was computed from. With one
    microbatch nothing changes. `pipe.max_held_bytes` on the module bounds what each stage holds.
    [example: test/passes/6-schedule/hoist-shared.mlir @gathered_weight]
  }];
  let statistics = [Statistic<"heldBytes", "bytes", "bytes that are held through a step, of all stages">];
}

def OrderBackward : Pass<"order-backward", "::mlir::ModuleOp"> {
  let summary = "lets ops of the backward pass run when their operands or readers need it";
  let description = [{
    Ops of a stage's backward pass that do not depend on the loss stand among those of the forward pass: each goes to what first reads
    it, so that nothing has to be there before. What only leads from a gradient of a weight to its sum over microbatches, such as a
    reduce-scatter, goes to where the gradient is made: a rank then holds its part from there on, and not the gradient, and the
    reduction can run beside the rest of the backward pass. [example: test/passes/6-schedule/order-backward.mlir @gradients]
  }];
}

def Recompute : Pass<"recompute", "::mlir::ModuleOp"> {
  let summary = "makes activations again where they are needed, in place of keeping them";
  let description = [{
    Of the values that a stage's backward pass reads of its forward pass, `pipe.recompute` says which are kept: with `none` all but
    those that a copy of a kept one gives (a transpose, a cast, a slice); with `selective` what cheap ops make is made again if that
    leaves less to keep; with `full` only what crosses between segments of the stage is kept; with `auto` each position has the
    fewest floating-point operations more with which its activations take at most its entry of `pipe.activation_bytes`. Clones of
    ops, collectives among them with `full` and `auto`, stand right before what first needs them. The operations that they add to
    one microbatch are in `pipe.recomputed_flops`, by stage. [example: test/passes/6-schedule/recompute.mlir @selective]
  }];
  let statistics = [Statistic<"keptBytes", "bytes", "bytes that microbatches keep for their backward pass">,
                    Statistic<"numRecomputed", "ops", "ops that run again">];
}

def SplitActions : Pass<"split-actions", "::mlir::ModuleOp"> {
  let summary = "makes a function per kind of action of what a stage does when training";
  let description = [{
    `@stage_K` keeps the forward pass; the backward pass becomes `@stage_K_backward`, or, if `pipe.schedule` splits it,
    `@stage_K_input_gradient`, on which depends what the stage sends, and `@stage_K_weight_gradient`; the parts of the update
    `@stage_K_update_0` and so on. What one of them computes for another is a result that the other takes by `pipe.held`. Sums over
    microbatches (`graph.accumulate`) become an addition to what the microbatches before have given.
    [example: test/passes/6-schedule/split-actions.mlir @stage_0]
  }];
  let dependentDialects = ["::pcc::pipe::PipeDialect", "::pcc::graph::GraphDialect"];
}

def BucketCollectives : Pass<"bucket-collectives", "::mlir::ModuleOp"> {
  let summary = "makes one call of several small collectives of one kind";
  let description = [{
    All-reduces and all-gathers over one group, of one dtype and reduction, none of which is needed for another: their local pieces are
    packed into one buffer where the last of them stands, and unpacked behind it. The same bytes are received in fewer calls. The
    joint one has the node of the first, the values of all, and what needs any of them as its cause. Only where packing takes less than
    half of a call (`plan/Buckets`). [example: test/passes/6-schedule/bucket-collectives.mlir @two_gathers]
  }];
  let statistics = [Statistic<"savedCalls", "calls", "calls that are saved">];
  let dependentDialects = ["::pcc::dist::DistDialect", "::pcc::graph::GraphDialect"];
}

def ScheduleActions : Pass<"schedule-actions", "::mlir::ModuleOp"> {
  let summary = "writes the action table of every rank position";
  let description = [{
    Asks the generator that `pipe.schedule` names (`forward` by default) for `pipe.microbatches` microbatches, or takes the table of
    `pipe.table`, which a user wrote. Stages that hoist-shared has taken something out of run that before their first microbatch.
    [example: test/passes/6-schedule/schedule-actions.mlir @main]
  }];
  let statistics = [Statistic<"numActions", "actions", "actions of all positions">];
  let dependentDialects = ["::pcc::pipe::PipeDialect"];
}

def VerifyScheduled : Pass<"verify-scheduled", "::mlir::ModuleOp"> {
  let summary = "gate: tables are complete, sends match receives, and the replay of all positions under rendezvous terminates";
  let description = [{[example: test/passes/6-schedule/verify-scheduled.mlir @main]}];
  let statistics = [Statistic<"numMessages", "messages", "different messages of one microbatch">];
}
