//===- RankOps.td - kernels and their launches -------------*- tablegen -*-===//

#ifndef PCC_DIALECTS_RANK_RANKOPS
#define PCC_DIALECTS_RANK_RANKOPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rank_Dialect : Dialect {
  let name = "rank";
  let cppNamespace = "::pcc::rank";
  let summary = "program of one rank: kernels, library calls and their launches";
  let description = [{
    `7-emit` groups the ops of stage functions into `rank.kernel` symbols of the module and launches them where the ops were.
    Contractions stay outside of kernels, in a `rank.library_call` if the library does more than the contraction alone.
    Collectives, ops that devices run by name (sorts, scans, scatters, pools) and ops without an instruction (parameter reads,
    reshapes, sends, receives) stay as well. `7-emit` then writes the program of each position from these ops, outside the IR.

    Discardable attributes of the module:

    - `rank.memory_limit` (i64): the most bytes of weights and arena that a rank may use; unlimited if absent.
    - `rank.random_weights` (i64): the seed of weights that no file holds.
    - `rank.cpus` (list of strings): the instruction sets that CPU kernels are compiled for.
    - `rank.gpu_arch` (string): the oldest GPU architecture that kernels must run on; `sm_90` if absent.
    - `rank.tf32` (unit): products of f32 may round their factors to tf32.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// The attributes that RankDiscardableAttrs.td declares.
    ::pcc::AttributeTable attributes;
  }];
}

def Rank_OffsetAttr : AttrDef<Rank_Dialect, "Offset"> {
  let mnemonic = "offset";
  let summary = "index at which the part of a rank of one factor begins";
  let description = [{
    The program computes the index from the coordinates of the rank. `sharding` has one dim. The index is the local size of
    factor number `factor` of that dim, times the position of the rank along the axes of the factor.
  }];
  let parameters = (ins "::mlir::Attribute":$sharding, "int64_t":$factor);
  let assemblyFormat = "`<` $sharding `,` $factor `>`";
}

def Rank_Tensor : StaticShapeTensorOf<[AnyType]>;

class Rank_Op<string mnemonic, list<Trait> traits = []> : Op<Rank_Dialect, mnemonic, traits>;

def Rank_KernelOp : Rank_Op<"kernel", [IsolatedFromAbove, SingleBlock, FunctionOpInterface]> {
  let summary = "holds a group of graph ops that run as one loop nest";
  let description = [{
    The body takes the tensors of the launch and yields the results. The ops of the body are graph ops and `dist.global_index`
    on local tensors. Equal bodies share one kernel, so the number of kernels does not grow with the number of layers.

    - `extent`: number of independent outer iterations; 1 by default.
    - `grain`: smallest number of outer iterations that is worth a thread; at least 1, which is the default.
    - `scalars`: list of `#rank.offset`, whose values the kernel takes besides its tensors.
    - `in_parts`: marks a kernel over tiles for `rank.launch_parts`. Its arguments are numbers, then tiles of equally many
      elements. The last tile of a tensor may be shorter.

    Lifespan: created by `form-kernels` of `7-emit`; compiled to native code or PTX when the bundle is written.
    [example: test/passes/7-emit/form-kernels.mlir @a_chain_is_one_kernel]
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       DefaultValuedAttr<I64Attr, "1">:$extent, DefaultValuedAttr<I64Attr, "1">:$grain,
                       OptionalAttr<ArrayAttr>:$scalars, UnitAttr:$in_parts, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// Returns the terminator of the body, whose operands are the results of the kernel.
    YieldOp getYield();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Rank_LibraryCallOp : Rank_Op<"library_call", [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "runs a contraction with the ops around it as one call of a library";
  let description = [{
    The body takes the operands of the call and yields its results. The ops of the body are

    - layout ops that say how the library reads an operand;
    - one contraction: `graph.matmul`, `graph.conv` or `graph.conv_transpose`;
    - the steps behind the contraction: bias, activation, residual or sum over microbatches, order of dims.

    A second result is the gradient of a bias: the sums of a factor of a product over the contracted dim.

    Lifespan: created by `form-library-calls` of `7-emit`; becomes one instruction of the program.
    [example: test/passes/7-emit/form-library-calls.mlir @a_bias_and_an_activation]
  }];
  let arguments = (ins Variadic<Rank_Tensor>:$inputs);
  let results = (outs Variadic<Rank_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// Returns the terminator of the body, whose operands are the results of the call.
    YieldOp getYield();
  }];
  let assemblyFormat = "`(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body";
  let hasVerifier = 1;
}

def Rank_YieldOp : Rank_Op<"yield", [Pure, Terminator, ParentOneOf<["KernelOp", "LibraryCallOp"]>]> {
  let summary = "ends the body of a kernel or a library call with its results";
  let description = [{
    The operands have the result types of the enclosing `rank.kernel` or `rank.library_call`.

    Lifespan: created with the enclosing op by `7-emit`.
    [example: test/passes/7-emit/form-kernels.mlir @a_chain_is_one_kernel]
  }];
  let arguments = (ins Variadic<Rank_Tensor>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Rank_LaunchOp : Rank_Op<"launch", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel on tensors of the rank";
  let description = [{
    The operand and result types are those of the kernel. Results are new buffers that share no bytes with an operand, unless
    the buffer plan lets an updated weight overwrite the old one.

    - `kernel`: the symbol of the `rank.kernel`.

    Lifespan: created by `form-kernels` of `7-emit`, one per group of ops; becomes one instruction of the program.
    [example: test/passes/7-emit/form-kernels.mlir @a_chain_is_one_kernel]
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Rank_Tensor>:$inputs);
  let results = (outs Variadic<Rank_Tensor>:$results);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
}

def Rank_LaunchPartsOp : Rank_Op<"launch_parts", [Pure, AttrSizedOperandSegments,
                                                  DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel over the tiles of many tensors (multi-tensor apply)";
  let description = [{
    Runs the same kernel over several parts at once, as the optimizers of NVIDIA Apex do with many small weights. Each part
    has one tensor for every tile argument of the kernel and for every result. All tensors of one part have equally many
    elements. Tensors are listed by argument, then by part: a kernel (t, u) -> v with two parts takes t0 t1 u0 u1 and gives v0
    v1. No part reads or replaces what another part writes.

    - `shared`: the operands that all parts read, such as the learning rate.
    - `kernel`: the symbol of a `rank.kernel` with `in_parts`.

    Lifespan: created by `form-kernels` of `7-emit` for GPUs; becomes one instruction of the program.
    [example: test/passes/7-emit/form-kernels.mlir @equal_updates_are_one_launch]
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Rank_Tensor>:$shared, Variadic<Rank_Tensor>:$inputs);
  let results = (outs Variadic<Rank_Tensor>:$results);
  let assemblyFormat = [{
    $kernel `shared` `(` ($shared^ `:` type($shared))? `)` `over` `(` ($inputs^ `:` type($inputs))? `)` attr-dict
    `->` type($results)
  }];
  let extraClassDeclaration = [{
    /// Returns the number of parts, which is the number of tensors per result of the kernel.
    int64_t numParts(KernelOp kernel);
  }];
}

#endif
