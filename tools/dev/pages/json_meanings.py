"""The meaning of every field of pcc's JSON. docs/json.md is rendered from it and from samples that the tools write: a field of
a sample without a row is an error, and so is a row whose field is in no sample, unless its last entry is SELDOM.

A row is (field, unit, meaning) or (field, unit, meaning, flag). NAME in a field stands for any key. Fields below a row whose
flag is FOLDED are described by its meaning. A NUMBER may look like an integer in a sample, but is none."""

FOLDED, SELDOM, NUMBER = "folded", "seldom", "number"

INSPECT = "pcc inspect BUNDLE --json"
EXPLAIN = "pcc explain MODEL --json"
PIPELINE = "pcc plan --stage-times F,B,W --json"
COMPILE = "pcc MODEL --report FILE"
VERIFY = "pcc verify MODEL --report FILE"
RUN = "pcc run BUNDLE --report FILE"
TABLE = "pcc run BUNDLE --format json"
METRICS = "pcc run BUNDLE --metrics FILE"

# command -> the names of its samples, the introduction of its section
DOCUMENTS = {
    INSPECT: (["inspect-inference", "inspect-training"], "One object. With `--rank R` the lists hold only what concerns rank R. "
              "`bundle.json` in the bundle holds the same, with an entry per program in place of one per rank."),
    EXPLAIN: (["explain", "explain-training", "explain-advised", "explain-one-stage"], "One object. It has the fields of `inspect` that are known "
              "before kernels exist, and says why each collective is there. Prices are those of the cluster model. `explain.json` in a bundle holds the same, without "
              "`price`, `other_cut`, `cuts[].other` and the prices of options; its `bundle` is the seal of the `bundle.json` that it belongs to."),
    PIPELINE: (["plan-pipeline"], "One object."),
    COMPILE: (["compile-inference", "compile-training", "compile-unknown"], "One object, which is written also where the compilation "
              "fails."),
    VERIFY: (["verify", "verify-changed"], "One object."),
    RUN: (["run-inference", "run-training"], "One object. It is written by rank 0 with the measurements of all ranks. `--measurements FILE` "
          "writes the same and the timeline."),
    TABLE: (["table"], "One object on stdout: the table of ranks. `--format csv` has the fields of `ranks[]` as columns."),
    METRICS: (["metrics"], "One object per line and step, when training."),
}

PLAN = [
    ("world", "", "number of ranks"),
    ("mesh", "", "the axes of more than one rank, major to minor"),
    ("mesh.NAME", "", "size of the axis NAME, such as `tp`"),
    ("target", "", "what the bundle runs on: `cpu` or `cuda`"),
    ("microbatches", "", "number of microbatches of a step"),
    ("schedule", "", "name of the pipeline schedule: `forward` without training, else as for `--schedule`"),
]
COLLECTIVE = [
    ("collectives", "", "collectives that communicate, stage by stage in the order of the program; equal ones of one node are one entry"),
    ("collectives[].kind", "", "`all_reduce`, `all_gather`, `reduce_scatter`, `all_to_all`, `permute` or `exchange`"),
    ("collectives[].axes", "", "the axes along which the ranks of a group differ"),
    ("collectives[].ranks_per_group", "", "number of ranks that communicate with each other"),
    ("collectives[].stage", "", "stage whose ranks run it"),
    ("collectives[].dtype", "", "element type of the operand"),
    ("collectives[].reduction", "", "`sum`, `max`, `min` or `prod`; null where elements only move"),
    ("collectives[].local_bytes", "bytes", "size of the operand on one rank"),
    ("collectives[].received_bytes", "bytes", "the most that one rank receives in one call"),
    ("collectives[].per", "", "whether it runs once per `microbatch` or once per `step`"),
    ("collectives[].count", "", "how often it runs per microbatch or step"),
    ("collectives[].node", "", "the ONNX node that needs it; empty where the node has no name"),
    ("collectives[].value", "", "name of the value that is moved or reduced"),
]
TRANSFER = [
    ("transfers", "", "values that stages send to each other"),
    ("transfers[].from_stage", "", "stage that sends"),
    ("transfers[].to_stage", "", "stage that receives"),
    ("transfers[].value", "", "name of the value"),
    ("transfers[].dtype", "", "element type"),
    ("transfers[].shape", "elements", "shape on one rank, of one microbatch"),
    ("transfers[].bytes", "bytes", "size on one rank"),
    ("transfers[].per", "", "whether it is sent once per `microbatch` or once per `step`"),
]


def timeline(name, what, row):
    """Returns the rows of a step over time. `row` says what one of its rows stands for."""
    return [(name, "", what), (f"{name}.seconds", "seconds", "when the last action or message ends", NUMBER),
            (f"{name}.collectives_left_out", "", "number of collectives that `messages` leaves out, if there are more than 5,000", SELDOM),
            (f"{name}.rows", "", f"one entry for {row}"), (f"{name}.rows[].name", "", "name of the row"),
            (f"{name}.rows[].idle_seconds", "seconds", "time without an action, and time that it waits or communicates inside of one", NUMBER),
            (f"{name}.rows[].weight_bytes", "bytes", "weights of one rank"), (f"{name}.rows[].state_bytes", "bytes", "optimizer state of one rank"),
            (f"{name}.rows[].arena_bytes", "bytes", "arena of one rank"),
            (f"{name}.rows[].memory", "seconds, bytes", "what the arena holds from a time on: time, bytes of gradients, bytes of all else", NUMBER),
            (f"{name}.rows[].actions", "seconds", "actions in order: name as in `ranks[].actions`, start, end", FOLDED),
            (f"{name}.rows[].messages", "seconds", "messages, collectives and waits: name, start, end, and the number that a send and its "
             "receive share, or -1", FOLDED)]


def ports(list_name, what):
    return [(list_name, "", f"{what}, as the model names them"), (f"{list_name}[].name", "", "name"),
            (f"{list_name}[].dtype", "", "element type"), (f"{list_name}[].shape", "elements", "global shape of a step")]


def parts(list_name, what, further=()):
    return [(list_name, "", f"what the rank holds of {what}"), (f"{list_name}[].name", "", "name"), *further,
            (f"{list_name}[].runs", "indices", "per dim the runs [first, end) of global indices, in local order; empty for an empty part")]


INSPECT_ROWS = [
    *PLAN, ("tf32", "", "whether GPUs may round the factors of f32 products (`--tf32`)"), *ports("inputs", "inputs of the model"),
    *ports("outputs", "outputs of the model"),
    ("stages", "", "pipeline stages, pp times virtual stages"),
    ("stages[].stage", "", "number of the stage"),
    ("stages[].ranks", "", "ranks that run it"),
    ("stages[].flops", "operations", "floating-point operations of a step, over all its ranks"),
    ("stages[].recomputed_flops", "operations", "the part of `flops` that activation checkpointing (`--recompute`) adds"),
    ("stages[].weight_bytes", "bytes", "global size of the weights that the stage reads, each counted once"),
    ("stages[].activation_bytes", "bytes", "size of the arena of a rank that runs the stage"),
    ("ranks", "", "one entry per rank"),
    ("ranks[].rank", "", "number of the rank"),
    ("ranks[].stages", "", "stages that the rank runs"),
    ("ranks[].coordinates", "", "where the rank lies on the mesh"),
    ("ranks[].coordinates.NAME", "", "its coordinate on the axis NAME"),
    ("ranks[].arena_bytes", "bytes", "size of the arena, without weights and the memory of libraries"),
    ("ranks[].arena_lower_bound_bytes", "bytes", "largest sum of live buffers at any instruction: no plan can take less"),
    ("ranks[].weight_bytes", "bytes", "size of the shards of weights"),
    ("ranks[].gradient_bytes", "bytes", "size of the gradients that are accumulated through a step"),
    ("ranks[].state_bytes", "bytes", "size of the optimizer's state"),
    ("ranks[].received_bytes", "bytes", "what the rank receives in a step, by collectives and transfers"),
    ("ranks[].instructions", "", "number of instructions of its program"),
    ("ranks[].actions", "", "forward and backward actions of a step in order: stage, kind (F, B, I, W), microbatch"),
    *parts("ranks[].parameters", "the weights of its stages",
           [("ranks[].parameters[].dtype", "", "element type of the weight"),
            ("ranks[].parameters[].shape", "elements", "global shape of the weight, as its file has it")]),
    *parts("ranks[].inputs", "inputs that it reads"), *parts("ranks[].outputs", "outputs that it writes"),
    *COLLECTIVE, *TRANSFER,
    ("kernels", "", "generated kernels of all programs"),
    ("kernels.unique", "", "number of different kernels"),
    ("kernels.calls", "", "number of launches in the code"),
    *timeline("planned_step", "a step as predicted from the prices of the cluster; with `--rank R`, the row of rank R",
              "all ranks of a position on the pipeline"),
]

STEP = [("kind", "", "kind of the step, as of `collectives`"), ("axes", "", "axes along which its ranks differ"),
        ("received_bytes", "bytes", "the most that one rank receives"),
        ("shared", "", "whether another reader needs the step, too; it then adds nothing to the price")]
ENDPOINT = [("op", "", "the op, or `weight`, `input`, `output` or `pin`"), ("node", "", "the ONNX node, or the name of the weight or input"),
            ("source", "", "line of the program from which the model was exported, FILE:LINE"),
            ("pinned", "", "option or annotation that fixes the sharding")]
CHOICE = [("strategy", "", "what the op splits along the axis"), ("received_bytes", "bytes", "what its reshards make a rank receive"),
          ("calls", "", "number of communicating calls"), ("seconds", "seconds", "modelled time"),
          ("memory_bytes", "bytes", "size on one rank of the op's results and of the weights that only it reads"),
          ("refused", "", "why the choice is not allowed at any price"), ("steps", "", "the calls")]


PRICE = [("seconds", "seconds", "duration of a step as predicted", NUMBER), ("idle_share", "", "mean share in which a rank is idle, from 0 to 1", NUMBER),
         ("memory_bytes", "bytes", "weights, optimizer state and arena of a rank that needs the most; what libraries take is not in it"),
         ("received_bytes", "bytes", "what a rank receives that receives the most")]


def below(prefix, rows):
    return [(f"{prefix}.{row[0]}", *row[1:]) for row in rows]


EXPLAIN_ROWS = [
    *PLAN,
    ("received_bytes", "bytes", "per position, what one of its ranks receives in a step"),
    ("totals", "", "communication of a step, summed by position, axes and kind"),
    ("totals[].position", "", "position on the pipeline: all ranks with one coordinate on `pp`"),
    ("totals[].axes", "", "axes, joined by `+`; `pp` for transfers"),
    ("totals[].kind", "", "kind of the collectives, or `transfer`"),
    ("totals[].calls", "", "calls in a step"),
    ("totals[].received_bytes", "bytes", "what one rank receives in a step"),
    ("totals[].seconds", "seconds", "modelled time of all calls of a step"),
    ("totals[].link", "", "level of the network that they use, as the cluster file names it"),
    *COLLECTIVE,
    ("collectives[].shape", "elements", "global shape of the value"),
    ("collectives[].from", "", "sharding before the collective"),
    ("collectives[].to", "", "sharding after the collective"),
    ("collectives[].seconds", "seconds", "modelled time of one call"),
    ("collectives[].link", "", "level of the network that it uses, as the cluster file names it"),
    ("collectives[].block", "", "block of the model that it belongs to, such as the layer `h.3`; blocks are told by names of weights"),
    ("collectives[].source", "", "source line of the node that makes the value"),
    ("collectives[].cause", "", "what makes the value; null where a dump does not tell"),
    *below("collectives[].cause", ENDPOINT),
    ("collectives[].cause.uses", "", "what needs the value in another sharding, with the fields of `cause`", FOLDED),
    ("collectives[].decision", "", "the decision that the collective follows from; null where a dump does not tell"),
    *below("collectives[].decision", [*ENDPOINT, ("axis", "", "axis that was decided"), *CHOICE]),
    *below("collectives[].decision.steps[]", STEP),
    ("collectives[].alternatives", "", "what else was possible, cheapest first, with `strategy` to `steps` of `decision`", FOLDED),
    ("collectives[].further_decisions", "", "decisions of other ops that led to the collective, each with its `alternatives`", FOLDED),
    *TRANSFER,
    ("price", "", "what a step of the plan costs, as compile and `inspect` tell it"),
    *below("price", PRICE),
    ("stages", "", "pipeline stages"),
    ("stages[].stage", "", "number of the stage"),
    ("stages[].flops", "operations", "floating-point operations of a step, over all its ranks"),
    ("stages[].idle_share", "", "share of the step in which its ranks are idle, from 0 to 1", NUMBER),
    ("stages[].begins_at", "", "the ONNX node that first reads a value of another stage; null for the first stage"),
    ("cuts", "", "boundaries between two stages that send values to each other"),
    ("cuts[].from_stage", "", "the earlier stage"),
    ("cuts[].to_stage", "", "the later stage"),
    ("cuts[].optimizer_step", "", "whether the entry holds the messages of the optimizer step, not those of the model"),
    ("cuts[].node", "", "the ONNX node at which the later stage begins"),
    ("cuts[].forward_bytes", "bytes", "what a rank of the later stage receives in a step"),
    ("cuts[].backward_bytes", "bytes", "what a rank of the earlier stage receives in a step"),
    ("cuts[].seconds", "seconds", "modelled time of the direction that takes longer"),
    ("cuts[].other", "", "the best other place for this cut alone, with the fields of `lints[].remedy`; null if there is none", FOLDED),
    ("cuts[].other_reason", "", "why `other` is null, has no price or changes nothing"),
    ("other_cut", "", "another cut into stages, with the fields of `lints[].remedy`: of all that were tried the one with the shortest "
     "step, which may be longer than that of the plan; null if no cut can move or none changes the price", FOLDED),
    ("lints", "", "what looks wrong; see passes/explain/README.md"),
    ("lints[].code", "", "code of the lint, such as `PCC-L003`"),
    ("lints[].name", "", "name of the lint"),
    ("lints[].message", "", "what was found"),
    ("lints[].node", "", "the ONNX node"),
    ("lints[].remedy", "", "an option that changes it; null if none is known, if the plan cannot be compiled with it, or if it changes nothing"),
    ("lints[].remedy.option", "", "the option, such as `--shard 'w=[tp,-]'`"),
    ("lints[].remedy.price", "", "what a step costs with it, with the fields of `price`; null if it was not tried", FOLDED),
    ("blocks", "", "graphs of the blocks of the model, at most four that differ in more than names"),
    ("blocks[].name", "", "name of the first such block; null for the graph of a model without blocks"),
    ("blocks[].count", "", "number of blocks with an equal graph"),
    ("blocks[].left_out", "", "number of ops that are left out, because a graph has at most 120 nodes"),
    ("blocks[].nodes", "", "ops of the forward pass on one rank, weights, and values from outside"),
    ("blocks[].nodes[].kind", "", "`op`, `weight`, `collective` or `outside`"),
    ("blocks[].nodes[].op", "", "the op, or the kind of the collective"),
    ("blocks[].nodes[].name", "", "the ONNX node, or the name of the weight"),
    ("blocks[].nodes[].sharding", "", "sharding of the result"),
    ("blocks[].nodes[].type", "", "element type and shape of the result on one rank"),
    ("blocks[].nodes[].stage", "", "stage that runs it"),
    ("blocks[].nodes[].operands", "", "numbers of the nodes whose results it reads, from 0"),
    ("blocks[].nodes[].read_outside", "", "whether an op outside of the block reads the result"),
    ("values", "", "the values that VALUE names; empty without it"),
    ("values[].name", "", "name of the value"),
    ("values[].maker", "", "what makes it, with the fields of `collectives[].cause`", FOLDED),
    ("values[].part", "", "part of a step that makes it: forward, backward or update"),
    ("values[].stage", "", "stage that makes it"),
    ("values[].dtype", "", "element type"),
    ("values[].shape", "elements", "global shape"),
    ("values[].sharding", "", "its sharding"),
    ("values[].local_shape", "elements", "shape on one rank, padding included"),
    ("values[].local_bytes", "bytes", "size on one rank"),
    ("values[].origins", "", "for each axis, why the value is split, partial or whole along it"),
    ("values[].origins[].axis", "", "the axis"),
    ("values[].origins[].what", "", "what the axis does to the value"),
    ("values[].origins[].steps", "", "ops and values from this value to the one that was decided"),
    ("values[].origins[].reason", "", "why that one lies so"),
    ("values[].origins[].decisions", "", "what was decided there, with the fields of `collectives[].decision`", FOLDED),
    ("values[].uses", "", "readers of the value"),
    *below("values[].uses[]", ENDPOINT),
    ("values[].uses[].stage", "", "stage of the reader"),
    ("values[].uses[].sharding", "", "sharding in which the reader gets the value"),
    ("values[].uses[].reshard", "", "communicating steps on the way, as `collectives[].decision.steps`", FOLDED),
]

COMPILE_ROWS = [
    ("phases", "", "the phases that ran"),
    ("phases[].name", "", "name of the phase, such as `4-shard`"),
    ("phases[].seconds", "seconds", "time of the phase"),
    ("phases[].cpu_seconds", "seconds", "processor time of all threads in the phase"),
    ("phases[].peak_memory_bytes", "bytes", "largest resident size of the process until the phase's end"),
    ("bundle", "", "the work after the phases: optimising and linking machine code, and writing the bundle; absent without a bundle"),
    ("bundle.seconds", "seconds", "time of this work"),
    ("bundle.cpu_seconds", "seconds", "processor time of all threads in it"),
    ("bundle.peak_memory_bytes", "bytes", "largest resident size of the process until its end"),
    ("seconds", "seconds", "time of the whole compilation"),
    ("peak_memory_bytes", "bytes", "largest resident size of the process"),
    ("unsupported", "", "ops that pcc cannot import; the exit code is then 4"),
    ("unsupported[].op", "", "type of the op"),
    ("unsupported[].domain", "", "its domain; empty for the standard one"),
    ("unsupported[].count", "", "number of its nodes"),
    ("unsupported[].nodes", "", "names of its nodes, `#N` for a node without a name"),
    ("notes", "", "the notes"),
    ("error", "", "the error, where the compilation failed"),
]


def errors(prefix=""):
    return [(f"{prefix}max_relative_error", "", "largest error of all outputs: the largest difference over the largest expected magnitude",
             NUMBER),
            (f"{prefix}values", "", "one entry per output"), (f"{prefix}values[].name", "", "name of the output"),
            (f"{prefix}values[].max_relative_error", "", "its error", NUMBER),
            (f"{prefix}values[].nan_elements", "", "how many of its elements are NaN, on one rank as well")]


VERIFY_ROWS = [
    ("equal", "", "whether everything that was compared is equal within its tolerance"),
    ("dtype", "", "types that the simulated ranks computed in: `f64`, or `model` for the model's own"),
    *errors(),
    ("first_difference", "", "the first value of the program that differs; null if none does"),
    ("first_difference.value", "", "name of the value; empty for an op result without a name in the model, such as one of the backward pass"),
    ("first_difference.node", "", "the ONNX node that computes it; empty for an output, the loss and the optimizer step"),
    ("first_difference.op", "", "the op that computes a value without a name, or `graph.set_parameter` for a parameter that gets a wrong value"),
    ("first_difference.place", "", "the place of `op`, such as `in the optimizer step`; empty without `op`"),
    ("first_difference.index", "indices", "global index of the element"),
    ("first_difference.expected", "", "what the unpartitioned graph computes; texts stand for NaN and infinities", NUMBER),
    ("first_difference.got", "", "what the rank computes", NUMBER),
    ("first_difference.rank", "", "the rank"),
    ("own_types", "", "errors in the model's own types, against the unpartitioned graph in f64; absent if that is the only type, or if values differ"),
    ("own_types.equal", "", "whether no output of the ranks has more than 20 times the error of one rank, unless one rank has no correct digit of it"),
    *errors("own_types."),
    ("own_types.values[].overflowed_elements", "",
     "how many of its elements are infinite or NaN on one rank but not in f64, or the reverse; errors leave them out"),
    ("own_types.one_rank_max_relative_error", "", "largest error of the unpartitioned graph in the model's own types", NUMBER),
    ("own_types.values[].one_rank_max_relative_error", "", "the output's error in the unpartitioned graph", NUMBER),
    ("run", "", "with `--run`: what the executables compute, against the unpartitioned graph in the model's types"),
    ("run.equal", "", "whether the outputs are equal within the precision of the model's types"),
    *errors("run."),
]

RUN_ROWS = [
    ("ranks", "", "one entry per rank"),
    ("ranks[].rank", "", "number of the rank"),
    ("ranks[].seconds", "seconds", "time of all timed steps"),
    ("ranks[].steps", "seconds", "time of each timed step"),
    ("ranks[].compute_seconds", "seconds", "time in instructions other than collectives"),
    ("ranks[].wait_seconds", "seconds", "time in collectives"),
    ("ranks[].idle_seconds", "seconds", "time in waits for messages of other stages"),
    ("ranks[].weight_bytes", "bytes", "size of the weights"),
    ("ranks[].state_bytes", "bytes", "size of the state of the optimizer"),
    ("ranks[].arena_bytes", "bytes", "size of the arena, as planned and as allocated"),
    ("ranks[].peak_memory_bytes", "bytes", "largest resident size of the rank's process; with `--comm thread`, that of the one process of all ranks"),
    ("ranks[].peak_live_activations", "", "by stage; empty without training"),
    ("ranks[].peak_live_activations.NAME", "", "most forward passes of stage NAME whose activations were alive at once"),
    ("steps", "", "one entry per timed step"),
    ("steps[].step", "", "number of the step: from 1 over all resumed runs when training, else from 0"),
    ("steps[].seconds", "seconds", "time of the slowest rank"),
    ("steps[].loss", "", "loss; null without training", NUMBER),
    ("steps[].grad_norm", "", "global norm of the gradients before clipping; null without training", NUMBER),
    *timeline("timeline", "the last step, with `--measurements FILE`, which writes all of this", "each rank"),
]

TABLE_ROWS = [
    ("steps", "", "number of timed steps"),
    ("samples_per_second", "1/second", "speed at the median duration of a step"),
    ("ranks", "", "one entry per group of ranks that run the same stages, at most 16, and one for the whole run"),
    ("ranks[].ranks", "", "numbers of the ranks, such as `4-7`; `all` for the whole run"),
    ("ranks[].stages", "", "numbers of their stages"),
    ("ranks[].median_seconds", "seconds", "median duration of a step over all ranks of the group; in `all`, each step has the "
     "duration of its slowest rank"),
    ("ranks[].min_seconds", "seconds", "shortest duration of a step"),
    ("ranks[].max_seconds", "seconds", "longest duration of a step"),
    ("ranks[].p90_seconds", "seconds", "90th percentile (nearest rank)"),
    ("ranks[].p99_seconds", "seconds", "99th percentile"),
    ("ranks[].deviation_seconds", "seconds", "standard deviation of the sample"),
    ("ranks[].compute", "", "share of the time in instructions other than collectives, on average over the ranks"),
    ("ranks[].collectives", "", "share in collectives"),
    ("ranks[].idle", "", "the time without computation: collectives, and waits for messages of other stages"),
    ("ranks[].weight_bytes", "bytes", "most bytes of weights of one rank"),
    ("ranks[].state_bytes", "bytes", "the same of the state of the optimizer"),
    ("ranks[].arena_bytes", "bytes", "the same of the arena"),
    ("ranks[].peak_memory_bytes", "bytes", "largest resident size of a process; with `--comm thread`, that of the one process of all ranks"),
    ("ranks[].slowest_rank", "", "number of the rank that took longest for all steps"),
]

METRICS_ROWS = [
    ("step", "", "number of the step, from 1 over all resumed runs"),
    ("loss", "", "loss", NUMBER),
    ("grad_norm", "", "global norm of the gradients before clipping", NUMBER),
    ("lr", "", "learning rate", NUMBER),
    ("seconds", "seconds", "time of the step"),
    ("samples", "", "number of samples seen since training began"),
    ("samples_per_second", "1/second", "speed"),
    ("tokens_per_second", "1/second", "speed, where labels are token ids", SELDOM),
    ("mfu", "", "executed operations over those of the peak; absent where no peak is known", NUMBER),
    ("peak_memory_bytes", "bytes", "largest resident size so far of the process of rank 0"),
    ("peak_live_activations", "", "by stage: most forward passes whose activations were alive at once"),
    ("loss_scale", "", "loss scale; absent without one", NUMBER),
]

PIPELINE_ROWS = [
    ("schedule", "", "name of the pipeline schedule"),
    ("pp", "", "number of pipeline ranks"),
    ("virtual_stages", "", "stages per pipeline rank"),
    ("microbatches", "", "number of microbatches of a step"),
    ("seconds", "seconds", "predicted time of a step", NUMBER),
    ("bubble", "", "share of the step in which a rank waits", NUMBER),
]

ROWS = {INSPECT: INSPECT_ROWS, EXPLAIN: EXPLAIN_ROWS, PIPELINE: PIPELINE_ROWS, COMPILE: COMPILE_ROWS, VERIFY: VERIFY_ROWS, RUN: RUN_ROWS,
        TABLE: TABLE_ROWS, METRICS: METRICS_ROWS}
