//===- RankOps.td - kernels and their launches ---------------*- tablegen -*-===//

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
  let summary = "the program of one rank: kernels and their launches";
  let description = [{
    `7-emit` groups the ops of stage functions into `rank.kernel` symbols of the module and launches them where the ops
    were. What stays outside is products and convolutions, as `rank.library_call` where the library does more than them,
    zero-copy reshapes, collectives and exchanges.
  }];
  let useDefaultAttributePrinterParser = 1;
}

def Rank_OffsetAttr : AttrDef<Rank_Dialect, "Offset"> {
  let mnemonic = "offset";
  let summary = "where a rank's part of one factor begins";
  let description = [{
    The local size of factor `factor` of the only dim of `sharding`, times the position of the rank along the factor's
    axes: a number that the program computes from coordinates.
  }];
  let parameters = (ins "::mlir::Attribute":$sharding, "int64_t":$factor);
  let assemblyFormat = "`<` $sharding `,` $factor `>`";
}

def Rank_Tensor : StaticShapeTensorOf<[AnyType]>;

class Rank_Op<string mnemonic, list<Trait> traits = []> : Op<Rank_Dialect, mnemonic, traits>;

def Rank_KernelOp : Rank_Op<"kernel", [IsolatedFromAbove, SingleBlock, FunctionOpInterface]> {
  let summary = "a group of graph ops that runs as one loop nest";
  let description = [{
    Its body is graph ops on local tensors, and `dist.global_index`. It has `extent` independent outer iterations, of which
    `grain` are the fewest worth a thread, and takes `scalars`, one `#rank.offset` each, besides its tensors. Born in
    `7-emit`, where it becomes native code; equal groups share one kernel. One `in_parts` has numbers and then tiles, all of one
    length, which `rank.launch_parts` cuts tensors into; the last tile of a tensor may be shorter.
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
    /// What the kernel returns.
    YieldOp getYield();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Rank_LibraryCallOp : Rank_Op<"library_call", [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "runs a product or convolution and what surrounds it as one call of a library";
  let description = [{
    Its body is graph ops on local tensors: layout ops that say how the library reads an operand, one `graph.matmul`,
    `graph.conv` or `graph.conv_transpose`, and what happens to its result before that is stored. A second result is the
    sums of a product's factor over what is contracted. Born in `7-emit`, becomes an instruction of the program. [example: test/passes/7-emit/form-library-calls.mlir @a_bias_and_an_activation]
  }];
  let arguments = (ins Variadic<Rank_Tensor>:$inputs);
  let results = (outs Variadic<Rank_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// What the call returns.
    YieldOp getYield();
  }];
  let assemblyFormat = "`(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body";
  let hasVerifier = 1;
}

def Rank_YieldOp : Rank_Op<"yield", [Pure, Terminator, ParentOneOf<["KernelOp", "LibraryCallOp"]>]> {
  let summary = "ends a kernel or a library call with its results";
  let description = [{[example: test/passes/7-emit/form-kernels.mlir @a_chain_is_one_kernel]}];
  let arguments = (ins Variadic<Rank_Tensor>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Rank_LaunchOp : Rank_Op<"launch", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel";
  let description = [{
    Results are new buffers: none shares bytes with an operand. Born in `7-emit`, becomes an instruction of the program.
    [example: test/passes/7-emit/form-kernels.mlir @a_chain_is_one_kernel]
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Rank_Tensor>:$inputs);
  let results = (outs Variadic<Rank_Tensor>:$results);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
}

def Rank_LaunchPartsOp : Rank_Op<"launch_parts", [Pure, AttrSizedOperandSegments,
                                                  DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel over the tiles of many tensors";
  let description = [{
    Each part has a tensor for every argument of the kernel that is a tile, and for every result, all with as many elements;
    `shared` is what all parts read. Tensors stand by argument, then by part: with kernel (t, u) -> v and two parts, t0 t1 u0 u1
    make v0 v1. No part reads or replaces what another one does. Born in `7-emit` for GPUs, becomes an instruction of the
    program. [example: test/passes/7-emit/form-kernels.mlir @equal_updates_are_one_launch]
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Rank_Tensor>:$shared, Variadic<Rank_Tensor>:$inputs);
  let results = (outs Variadic<Rank_Tensor>:$results);
  let assemblyFormat = [{
    $kernel `shared` `(` ($shared^ `:` type($shared))? `)` `over` `(` ($inputs^ `:` type($inputs))? `)` attr-dict
    `->` type($results)
  }];
  let extraClassDeclaration = [{
    /// How many tensors there are for each result of the kernel.
    int64_t numParts(KernelOp kernel);
  }];
}

#endif
