//===- DistDiscardableAttrs.td - attributes of dialect dist --*- tablegen -*-===//

#ifndef PCC_DIALECTS_DIST_DISTDISCARDABLEATTRS
#define PCC_DIALECTS_DIST_DISTDISCARDABLEATTRS

include "dialects/attributes/DiscardableAttrs.td"

def MeshKind : AttrKind<"meshKind">;
def TargetKind : AttrKind<"targetKind">;
def ShardingKind : AttrKind<"shardingKind">;
def ShardingsKind : AttrKind<"shardingsKind">;
def SplitKind : AttrKind<"splitKind">;
def ThroughKind : AttrKind<"throughKind">;
def WindowsKind : AttrKind<"windowsKind">;
def TensorTypeKind : AttrKind<"tensorTypeKind">;

// The request.
def Dist_Mesh : DiscardableAttr<"dist.mesh", MeshKind, [OnModule], "1-import", "7-emit",
  "Mesh that all shardings refer to.">;
def Dist_Target : DiscardableAttr<"dist.target", TargetKind, [OnModule], "1-import", "7-emit",
  "Device that ranks drive, cuda or cpu; cpu if absent. It selects the default cluster profile, which prices compute and "
  "communication without `--cluster`, and the code that `7-emit` generates.">;
def Dist_Cluster : DiscardableAttr<"dist.cluster", StringKind, [OnModule], "1-import", "7-emit",
  "Text of the cluster file that prices the plan.">;
def Dist_Seeds : DiscardableAttr<"dist.seeds", StringsKind, [OnModule], "1-import", "7-emit",
  "Shardings that `--shard` requests, as VALUE=[DIM, ...].">;
def Dist_Presets : DiscardableAttr<"dist.presets", StringsKind, [OnModule], "1-import", "7-emit",
  "Names that `--preset` gives.">;
def Dist_Experts : DiscardableAttr<"dist.experts", PositiveKind, [OnModule], "1-import", "7-emit",
  "Number of ranks over which `--ep` divides the experts. Absent without `--ep`.">;
def Dist_Divided : DiscardableAttr<"dist.divided", StringsKind, [OnModule], "3-place", "7-emit",
  "Weights that must be stored divided so that the plan fits into memory. Absent if all fits without it.">;

// The shardings.
def Dist_Shardings : DiscardableAttr<"dist.shardings", ShardingsKind, [OnOp], "4-shard", "7-emit",
  "Sharding of each result of the op.">;
def Dist_Sharding : DiscardableAttr<"dist.sharding", ShardingKind, [OnArgument, OnResult], "1-import", "7-emit",
  "Sharding of an argument or result after `4-shard`. Before, also on parameters: the sharding that the model's annotations "
  "request; absent if they request none."> {
  let ops = ["graph.parameter"];
}
def Dist_Split : DiscardableAttr<"dist.split", SplitKind, [OnOp], "4-shard", "4-shard",
  "Axes that split each factor of the op's sharding rule: its dims are the factors, its partials the partial sums that pass "
  "through the op.">;
def Dist_Through : DiscardableAttr<"dist.through", ThroughKind, [OnOp], "4-shard", "4-shard",
  "Operand from which each partial sum of `dist.split` comes, or -1 if all operands are partial together. Absent if no "
  "partial sum passes.">;
def Dist_Windows : DiscardableAttr<"dist.windows", WindowsKind, [OnOp], "4-shard", "4-shard",
  "Indices of the windows of the op's sharding rule through which it reads (halo exchange). Absent if none.">;
def Dist_Global : DiscardableAttr<"dist.global", TensorTypeKind, [OnArgument, OnResult], "5-localize", "7-emit",
  "Global type of an argument or result whose own type has become local.">;
def Dist_Placement : DiscardableAttr<"dist.placement", ShardingKind, [], "5-localize", "7-emit",
  "Placement of the copy of the weight that is written. Without it, the copy that is whole."> {
  let ops = ["graph.set_parameter"];
}

// The search.
def Dist_Pinned : DiscardableAttr<"dist.pinned", StringKind, [OnOp, OnArgument, OnResult], "4-shard", "7-emit",
  "Origin of the pin of a value's sharding: `--shard 'y=[-,tp]'` or `the model: 'y=[-,tp]'`.">;
def Dist_OncePerStep : DiscardableAttr<"dist.once_per_step", UnitKind, [OnOp], "4-shard", "4-shard",
  "The op is a clone that sees the whole batch. Lives within one pass.">;
def Dist_Ordered : DiscardableAttr<"dist.ordered", UnitKind, [OnOp], "4-shard", "4-shard",
  "The op belongs to a sum whose order is fixed. Lives within one pass.">;
def Dist_Decisions : DiscardableAttr<"dist.decisions", MetadataKind, [InLocation], "4-shard", "7-emit",
  "Alternatives that the search priced for an op.">;
def Dist_Cause : DiscardableAttr<"dist.cause", MetadataKind, [InLocation], "4-shard", "7-emit",
  "Producer and consumers of the value of a reshard.">;

#endif
