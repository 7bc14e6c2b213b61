//===- RankDiscardableAttrs.td - attributes of dialect rank --*- tablegen -*-===//

#ifndef PCC_DIALECTS_RANK_RANKDISCARDABLEATTRS
#define PCC_DIALECTS_RANK_RANKDISCARDABLEATTRS

include "dialects/attributes/DiscardableAttrs.td"

def Rank_MemoryLimit : DiscardableAttr<"rank.memory_limit", CountKind, [OnModule], "1-import", "7-emit",
  "Most bytes that the weights and the arena of a rank may take; unlimited if absent. Memory that libraries allocate is not "
  "counted.">;
def Rank_Cpus : DiscardableAttr<"rank.cpus", StringsKind, [OnModule], "1-import", "7-emit",
  "Instruction sets that kernels are compiled for.">;
def Rank_GpuArch : DiscardableAttr<"rank.gpu_arch", StringKind, [OnModule], "1-import", "7-emit",
  "Oldest GPU architecture that kernels have to run on, in LLVM's spelling; sm_90 if absent.">;
def Rank_Tf32 : DiscardableAttr<"rank.tf32", UnitKind, [OnModule], "1-import", "7-emit",
  "Products of f32 may round their factors to tf32, with ten bits of mantissa, which GPUs multiply faster.">;
def Rank_RandomWeights : DiscardableAttr<"rank.random_weights", NumberKind, [OnModule], "1-import", "7-emit",
  "Seed of the weights that `--random-weights` makes.">;

#endif
