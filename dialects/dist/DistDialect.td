//===- DistDialect.td - dist dialect: meshes and shardings -*- tablegen -*-===//

#ifndef PCC_DIALECTS_DIST_DISTDIALECT
#define PCC_DIALECTS_DIST_DISTDIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::pcc::dist";
  let summary = "meshes, shardings, reshards and collectives";
  let description = [{
    Distributes a model over the ranks of a mesh. Before `4-shard` the IR holds requests only: `dist.sharding` attributes and
    `dist.pin` ops of the model's annotations, and `dist.seeds` of the user. `decide-shardings` gives a sharding to every
    value. `insert-reshards` adds a `dist.reshard` wherever a use needs another sharding than the producer of the value gives.
    `5-localize` replaces reshards by `dist.collective` ops on local shapes.

    Discardable attributes of the module:

    - `dist.mesh` (`#dist.mesh`): the mesh that all shardings refer to.
    - `dist.seeds` (list of strings `NAME=[…]`): the shardings that the user requests (`--shard`).
    - `dist.presets` (list of strings): the presets that the user gives (`--preset`).
    - `dist.experts` (i64): the number of ranks over which experts are divided (`--ep`).
    - `dist.divided` (list of strings): the weights that are stored divided so that the plan fits into memory.
    - `dist.cluster` (string): the text of the cluster file that prices the plan.
    - `dist.target` (string): the device, `cpu` or `cuda`; `cpu` if absent.

    Discardable attributes of values and ops:

    - `dist.sharding` (`#dist.sharding`): on arguments and results, the sharding of the value after `4-shard`. Before that,
      and on parameters, it is the sharding that annotations of the model request.
    - `dist.shardings` (list of `#dist.sharding`): one per result of an op, after `4-shard`.
    - `dist.split` (`#dist.sharding`): the axes that split each factor of the sharding rule of an op, and the partial sums
      that pass; from `decide-shardings` to `localize-shapes`.
    - `dist.through` (list of i64): for each partial axis of `dist.split`, the operand that the partial sum comes from; -1 if
      all operands are partial together.
    - `dist.windows` (list of i64): the windows of the sharding rule through which an op reads halos.
    - `dist.pinned` (string): the request that fixes the sharding of a value.
    - `dist.placement` (`#dist.sharding`): on a `graph.set_parameter` after `5-localize`, the copy of the weight that is
      written.
    - `dist.global` (type): on arguments and results after `5-localize`, the global type.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// The attributes that DistDiscardableAttrs.td declares.
    ::pcc::AttributeTable attributes;
    /// Fills `attributes`.
    void declareAttributes();
  }];
}

/// Base class of the attributes of the dialect, which print and parse themselves.
class Dist_Attr<string name, string attrMnemonic>
    : AttrDef<Dist_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def Dist_MeshAttr : Dist_Attr<"Mesh", "mesh"> {
  let summary = "mesh: named axes over ranks";
  let description = [{
    Lists the axes of a mesh with their sizes, major to minor: `#dist.mesh<dp = 2, tp = 4>`. Ranks are numbered in row-major
    order. The axis `mb` lies in time: its coordinates are microbatches rather than ranks. In dumps, the first axis is `pp`,
    whose coordinates are the positions of the pipeline; shardings do not use it, because they divide the tensors of a stage.
  }];
  let parameters = (ins AttrParameter<"::pcc::dist::Mesh", "the axes">:$mesh);
}

def Dist_ShardingAttr : Dist_Attr<"Sharding", "sharding"> {
  let summary = "sharding of a tensor over a mesh";
  let description = [{
    Lists for each dim the factors that it consists of and the axes that split each factor, then the axes over which the value
    is partial. The grammar is that of sharding/ShardingText.h. Dumps show the spelling of `--shard`, and behind it the sizes of
    the dims that are split and the mesh. Without a mesh, every axis carries its size:

    ```
    #dist.sharding<"[-, tp]" of ?x8 on #mesh>         dim 0 whole, dim 1 split over tp
    #dist.sharding<"[-, 8@tp:2]">                     the same, if tp has two ranks
    #dist.sharding<"[3|64@tp:2]">                     a half of each third (fused QKV)
    #dist.sharding<"[-, -] partial sum(tp:2)">        to be summed over tp
    #dist.sharding<"[4@tp:4|6 view(4x6 by 4 of 16: 0..6 from -1)]">   a halo (GSPMD, Xu et al. 2021)
    ```

    The printer emits shardings as aliases: in dumps by their content, such as `#whole_tp` for `[-, tp]`; without a mesh as
    `#split`, `#whole` and `#partial`.
  }];
  let parameters =
      (ins AttrParameter<"::pcc::dist::Sharding", "the placement">:$sharding,
           AttrParameter<"::mlir::Attribute", "the mesh by which it is printed; null but while a dump is written">:$mesh);
  let builders = [AttrBuilder<(ins "::pcc::dist::Sharding":$sharding),
                              [{ return $_get($_ctxt, sharding, ::mlir::Attribute()); }]>];
}

#endif
