//===- PipeDiscardableAttrs.td - attributes of dialect pipe --*- tablegen -*-===//

#ifndef PCC_DIALECTS_PIPE_PIPEDISCARDABLEATTRS
#define PCC_DIALECTS_PIPE_PIPEDISCARDABLEATTRS

include "dialects/attributes/DiscardableAttrs.td"

def VirtualStagesKind : AttrKind<"virtualStagesKind">;
def StageKind : AttrKind<"stageKind">;
def ActionKind : AttrKind<"actionKind">;
def HeldKind : AttrKind<"heldKind">;
def RecomputeKind : AttrKind<"recomputeKind">;

// The request.
def Pipe_Stages : DiscardableAttr<"pipe.stages", PositiveKind, [OnModule], "1-import", "7-emit",
  "Number of stages.">;
def Pipe_VirtualStages : DiscardableAttr<"pipe.virtual_stages", VirtualStagesKind, [OnModule], "1-import", "7-emit",
  "Number of stages that one pipeline position runs.">;
def Pipe_Microbatches : DiscardableAttr<"pipe.microbatches", PositiveKind, [OnModule], "1-import", "7-emit",
  "Number of microbatches of a step.">;
def Pipe_Schedule : DiscardableAttr<"pipe.schedule", StringKind, [OnModule], "1-import", "7-emit",
  "Name of the schedule; `csv` if `pipe.table` has it.">;
def Pipe_Table : DiscardableAttr<"pipe.table", StringKind, [OnModule], "1-import", "7-emit",
  "Actions of every position as in PyTorch's schedule files, a line each.">;
def Pipe_StageAt : DiscardableAttr<"pipe.stage_at", StringsKind, [OnModule], "1-import", "7-emit",
  "Nodes at which `--stage-at` begins stages.">;
def Pipe_StageOfNodes : DiscardableAttr<"pipe.stage_of_nodes", NumbersByNameKind, [OnModule], "1-import", "7-emit",
  "Stage of each node by name, if the model's annotations assign stages.">;
def Pipe_MaxHeldBytes : DiscardableAttr<"pipe.max_held_bytes", CountKind, [OnModule], "1-import", "7-emit",
  "Most bytes of shared values that a stage may hold through a step. Values beyond that are computed or received again in "
  "every microbatch. Unlimited if absent.">;
def Pipe_Recompute : DiscardableAttr<"pipe.recompute", RecomputeKind, [OnModule], "1-import", "7-emit",
  "Activations that the backward pass recomputes (activation checkpointing; Chen et al. 2016): none, full, selective or auto; "
  "none if absent.">;
def Pipe_ActivationBytes : DiscardableAttr<"pipe.activation_bytes", CountsKind, [OnModule], "5-localize", "7-emit",
  "Most bytes of activations that each pipeline position may keep if `pipe.recompute` is auto. If absent, each position keeps "
  "as few bytes as possible.">;

// The stages.
def Pipe_Stage : DiscardableAttr<"pipe.stage", StageKind, [OnOp, OnFunction], "3-place", "7-emit",
  "Pipeline stage of an op after `3-place`, and of a stage function after `6-schedule`.">;
def Pipe_Part : DiscardableAttr<"pipe.part", CountKind, [OnOp], "6-schedule", "6-schedule",
  "Function of the stage that the op will be moved to, as a StagePart, when training. Lives between two passes.">;
def Pipe_Action : DiscardableAttr<"pipe.action", ActionKind, [OnFunction], "6-schedule", "7-emit",
  "Kind of action that runs the function, as in PyTorch's schedule files. Absent for the forward action `F`. The update "
  "consists of parts `U0`, `U1`, ..., each of which runs on all stages before the next part begins.">;
def Pipe_Held : DiscardableAttr<"pipe.held", HeldKind, [OnArgument], "6-schedule", "7-emit",
  "The argument takes result `result` of function `by` of the stage. If `by` is the argument's own function, it takes the "
  "result for the microbatch before, and zeros for the first one.">;
def Pipe_RecomputedFlops : DiscardableAttr<"pipe.recomputed_flops", CountsKind, [OnModule], "6-schedule", "7-emit",
  "Floating-point operations that recomputation adds to one microbatch on one rank, for each stage, when training.">;

#endif
