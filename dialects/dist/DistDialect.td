//===- DistDialect.td - how tensors lie on a mesh ------------*- tablegen -*-===//

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
    A module carries its mesh in `dist.mesh`; after `4-shard` every graph op carries `dist.shardings`, one per result, and
    every function argument `dist.sharding`. Before that, what the model's annotations ask for stands in `dist.sharding` of
    arguments, results and parameters, and in `dist.pin` ops. `4-shard` creates `dist.reshard` where a use needs another sharding;
    `5-localize` replaces it by `dist.collective` ops on local shapes.
  }];
  let useDefaultAttributePrinterParser = 1;
}

class Dist_Attr<string name, string attrMnemonic>
    : AttrDef<Dist_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def Dist_MeshAttr : Dist_Attr<"Mesh", "mesh"> {
  let summary =
      "named axes, major to minor: `#dist.mesh<dp=2, tp=4>`; `mb` lies in time";
  let parameters = (ins AttrParameter<"::pcc::dist::Mesh", "the axes">:$mesh);
}

def Dist_ShardingAttr : Dist_Attr<"Sharding", "sharding"> {
  let summary = "how one tensor lies on the mesh";
  let description = [{
    `#dist.sharding<[3|64@tp:2, -]>`: per dim the factors and the axes that split them, `-` for a whole dim, then what is
    partial. The text is that of dialects/dist/ShardingText.h.
  }];
  let parameters =
      (ins AttrParameter<"::pcc::dist::Sharding", "the placement">:$sharding);
}

#endif
