//===- Passes.td - passes of phase 3-place -----------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def CutStages : Pass<"cut-stages", "::mlir::func::FuncOp"> {
  let summary = "assigns ops to pipeline stages and joins the stages by transfers";
  let description = [{
    - In: one graph.
    - Out: every op has a `pipe.stage`, and a `pipe.transfer` for every value that another stage reads.

    Forward ops divide into links, which carry work, and free ops. Links are contractions and ops that depend on a link, on a
    trained weight or on a weight of more than 4096 elements. The links in program order form the chain that is cut into
    `pipe.stages` stages. If there are too few links, or the user cuts before the first one, all ops that depend on an input
    of the model are links. Free ops are weights, constants and cheap ops on inputs, constants and small weights, such as masks;
    every stage that reads one gets a clone. Ops of the backward pass and of the update follow: the gradient of an op is on
    the op's stage, the update of a weight on the first stage that reads it.

    ```
    %y = graph.matmul %x, %a {pipe.stage = 0}
    %s = pipe.transfer %y from 0 to 1 {pipe.stage = 1}
    %z = graph.matmul %s, %b {pipe.stage = 1}
    ```

    The cut minimises the time of the slowest stage by dynamic programming (`plan/stage/StageCut`). Among the cuts within 5 %
    of the minimum, the one with the fewest bytes between stages is taken. `pipe.stage_at` pins cuts, `pipe.stage_of_nodes`
    assigns nodes to stages (annotations of the model), and `rank.memory_limit` bounds the weights of a stage. When training,
    results such as the loss go to stage 0. The pass fails if the requested cuts do not exist.
    [example: test/passes/3-place/cut-stages.mlir @two_stages]
  }];
  let statistics = [Statistic<"numTransfers", "transfers", "transfers between stages">,
                    Statistic<"numClones", "clones", "clones of ops for further stages">];
  let dependentDialects = ["::pcc::pipe::PipeDialect"];
}

def VerifyPlaced : Pass<"verify-placed", "::mlir::func::FuncOp"> {
  let summary = "checks that every op is on a stage and reads values of that stage only";
  let description = [{
    Gate of `3-place`. The pass changes nothing and checks that every op has a `pipe.stage`, that operands come from the same
    stage or through a `pipe.transfer`, and that a transfer sends what its stage made. A transfer goes to an existing stage,
    and for values of the forward pass to a later one. A stage writes a parameter at most once, and all stages that write it
    write equal values.

    A failure is a defect of pcc; the exit code is 1.
    [example: test/passes/3-place/verify-placed.mlir @placed]
  }];
  let statistics = [Statistic<"numOps", "ops", "ops checked">];
}
