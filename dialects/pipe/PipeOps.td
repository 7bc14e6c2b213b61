//===- PipeOps.td - transfers and action tables ------------*- tablegen -*-===//

#ifndef PCC_DIALECTS_PIPE_PIPEOPS
#define PCC_DIALECTS_PIPE_PIPEOPS

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Pipe_Dialect : Dialect {
  let name = "pipe";
  let cppNamespace = "::pcc::pipe";
  let summary = "pipeline stages and their schedule";
  let description = [{
    Cuts a model into consecutive stages and orders the actions of the positions that run them. `3-place` gives every op a
    `pipe.stage` and joins stages by `pipe.transfer`. `6-schedule` makes one function per stage and kind of action, in which
    transfers become `pipe.send` and `pipe.receive`, and writes one `pipe.actions` per position.

    Discardable attributes of the module:

    - `pipe.stages`, `pipe.virtual_stages` (i64): the number of stages, and the number of stages per position.
    - `pipe.microbatches` (i64): the number of microbatches of a step.
    - `pipe.schedule` (string): the name of the schedule, `forward` for inference; `csv` if `pipe.table` holds the schedule.
    - `pipe.table` (string): the schedule that a user wrote, in the CSV form of PyTorch's pipeline schedules.
    - `pipe.stage_at` (list of strings): the nodes in front of which the model is cut.
    - `pipe.stage_of_nodes` (dictionary): the stages that annotations of the model give to nodes.
    - `pipe.max_held_bytes` (i64): the most bytes of values that a stage holds through a step; unlimited if absent.
    - `pipe.recompute` (string): the activations that are recomputed; `none`, `full`, `selective` or `auto`.
    - `pipe.activation_bytes` (list of i64): per position, the most bytes of activations with `pipe.recompute = "auto"`.
    - `pipe.recomputed_flops` (list of i64): per stage, the floating-point operations that recomputation adds to a microbatch.

    Discardable attributes of ops and functions:

    - `pipe.stage` (i64): the stage of an op after `3-place`, and of a function after `6-schedule`.
    - `pipe.part` (i64): on an op within `6-schedule`, the function of the stage that the op moves to.
    - `pipe.action` (string): on a function of a stage, the kind of action that runs it: `UNSHARD`, `B`, `I`, `W`, `U0`, `U1`,
      …; absent for the forward action `F`.
    - `pipe.held` (dictionary `by`, `result`): on an argument of a function, the function of the same stage whose result the
      argument takes. With the argument's own function, the argument takes the result for the microbatch before.
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// The attributes that PipeDiscardableAttrs.td declares.
    ::pcc::AttributeTable attributes;
  }];
}

def Pipe_Tensor : StaticShapeTensorOf<[AnyType]>;

class Pipe_Op<string mnemonic, list<Trait> traits = []> : Op<Pipe_Dialect, mnemonic, traits>;

def Pipe_TransferOp : Pipe_Op<"transfer", [Pure, SameOperandsAndResultType]> {
  let summary = "makes a value of one stage available on another stage";
  let description = [{
    Returns the operand, which stage `from` computes, on stage `to`. Each rank of `from` sends to the rank of `to` that has
    the same coordinates in the mesh. The verifier checks that the stages differ; values of the forward pass go to later
    stages only (`verify-placed`).

    - `from`, `to`: numbers of the stages.

    Sharding: every dim may be split, and partial sums pass; operand and result have the same sharding.

    Gradient: none, since transfers are created after differentiation.

    Lifespan: created by `cut-stages` of `3-place`. `5-localize` gives the op local types, and `outline-stages` of
    `6-schedule` removes it.
    [example: test/passes/3-place/cut-stages.mlir @two_stages]
  }];
  let arguments = (ins Pipe_Tensor:$input, I64Attr:$from, I64Attr:$to);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$input `from` $from `to` $to attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Pipe_SendOp : Pipe_Op<"send"> {
  let summary = "sends a value to another stage at the end of an action";
  let description = [{
    Sends the local tensor of the function that runs the action. The matching `pipe.receive` names the same `value` and this
    stage.

    - `to`: number of the receiving stage.
    - `value`: the name of the value, unique among the values that stages send.

    Lifespan: created by `outline-stages` of `6-schedule`. The op stays to the end of `7-emit`; the message becomes part of
    the pipeline of the program.
    [example: test/passes/6-schedule/outline-stages.mlir @main]
  }];
  let arguments = (ins Pipe_Tensor:$input, I64Attr:$to, StrAttr:$value);
  let assemblyFormat = "$input `to` $to `value` $value attr-dict `:` type($input)";
}

def Pipe_ReceiveOp : Pipe_Op<"receive"> {
  let summary = "receives a value of another stage";
  let description = [{
    The value has arrived when the action that runs the function begins. The result has the type of the sent value.

    - `from`: number of the sending stage.
    - `value`: the name of the value, unique among the values that stages send.

    Lifespan: created by `outline-stages` of `6-schedule`. The op stays to the end of `7-emit`; the message becomes part of
    the pipeline of the program.
    [example: test/passes/6-schedule/outline-stages.mlir @main]
  }];
  let arguments = (ins I64Attr:$from, StrAttr:$value);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "`from` $from `value` $value attr-dict `:` type($result)";
}

def Pipe_ActionsOp : Pipe_Op<"actions"> {
  let summary = "lists the actions that one position runs in one step, in order";
  let description = [{
    An action is written as in PyTorch's schedule files: stage, kind, microbatch (`0F3`). Kinds without a microbatch, such as
    `0UNSHARD`, run once per step.

    - `position`: number of the pipeline position.
    - `stages`: the stages that the position runs, in ascending order.
    - `table`: the actions.

    Lifespan: created by `schedule-actions` of `6-schedule`. The op stays to the end of `7-emit` and becomes the action table
    of the program.
    [example: test/passes/6-schedule/schedule-actions.mlir @main]
  }];
  let arguments = (ins I64Attr:$position, DenseI64ArrayAttr:$stages, StrArrayAttr:$table);
  let assemblyFormat = "$position `stages` $stages $table attr-dict";
}

#endif
