//===- PipeOps.td - stages, transfers and action tables ------*- tablegen -*-===//

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
    `3-place` gives every op a `pipe.stage` and joins stages by `pipe.transfer`. `6-schedule` makes one function per
    stage, whose transfers have become `pipe.send` and `pipe.receive`, and a `pipe.actions` per rank position. What a stage
    computes once per step (`0UNSHARD`), and when training its backward pass and its update, are functions of their own that
    say so by `pipe.action`; arguments with `pipe.held` take results of these.
  }];
}

def Pipe_Tensor : StaticShapeTensorOf<[AnyType]>;

class Pipe_Op<string mnemonic, list<Trait> traits = []> : Op<Pipe_Dialect, mnemonic, traits>;

def Pipe_TransferOp : Pipe_Op<"transfer", [Pure, SameOperandsAndResultType]> {
  let summary = "makes a value of one stage available on another";
  let description = [{
    Born in `3-place`; its type becomes local in `5-localize`; gone after `6-schedule`. Ranks send to the rank with the
    same coordinates in the other stage. [example: test/passes/3-place/cut-stages.mlir @two_stages]
  }];
  let arguments = (ins Pipe_Tensor:$input, I64Attr:$from, I64Attr:$to);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$input `from` $from `to` $to attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Pipe_SendOp : Pipe_Op<"send"> {
  let summary = "hands a value to another stage at the end of a forward action";
  let description = [{Born in `6-schedule`, lives until `7-emit`. [example: test/passes/6-schedule/outline-stages.mlir @main]}];
  let arguments = (ins Pipe_Tensor:$input, I64Attr:$to, StrAttr:$value);
  let assemblyFormat = "$input `to` $to `value` $value attr-dict `:` type($input)";
}

def Pipe_ReceiveOp : Pipe_Op<"receive"> {
  let summary = "a value of another stage, there before the action begins";
  let description = [{Born in `6-schedule`, lives until `7-emit`. [example: test/passes/6-schedule/outline-stages.mlir @main]}];
  let arguments = (ins I64Attr:$from, StrAttr:$value);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "`from` $from `value` $value attr-dict `:` type($result)";
}

def Pipe_ActionsOp : Pipe_Op<"actions"> {
  let summary = "the actions of one rank position in one step, in order";
  let description = [{
    Written as in PyTorch's schedule files: stage, kind, microbatch (`0F3`). Born in `6-schedule`, lives until `7-emit`.
    [example: test/passes/6-schedule/schedule-actions.mlir @main]
  }];
  let arguments = (ins I64Attr:$position, DenseI64ArrayAttr:$stages, StrArrayAttr:$table);
  let assemblyFormat = "$position `stages` $stages $table attr-dict";
}

#endif
