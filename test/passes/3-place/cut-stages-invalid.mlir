// RUN: pcc-opt --cut-stages --split-input-file --verify-diagnostics %s

!x = tensor<8x8xf32>

// expected-error @unknown {{cannot cut the model into 3 stages}}
module attributes {pipe.stages = 3 : i64} {
  func.func @more_stages_than_work(%x: !x) -> !x {
    %0 = graph.matmul %x, %x : !x, !x
    return %0 : !x
  }
}

// -----

!x = tensor<8x8xf32>

// expected-error @unknown {{cannot cut before 'z': no node or value has that name}}
module attributes {pipe.stages = 2 : i64, pipe.stage_at = ["z"]} {
  func.func @cut_at_no_node(%x: !x) -> !x {
    %0 = graph.matmul %x, %x : !x, !x
    return %0 : !x
  }
}

// -----

!x = tensor<8x8xf32>

module attributes {pipe.stages = 2 : i64, pipe.stage_at = ["a"]} {
  func.func @cut_before_the_first(%x: !x) -> !x {
    // expected-error @below {{cannot cut before 'a': it comes first}}
    %0 = graph.matmul %x, %x {graph.name = "a"} : !x, !x
    return %0 : !x
  }
}

// -----

!x = tensor<8x8xf32>

// expected-error @unknown {{3 stages need 2 cuts, got 1}}
module attributes {pipe.stages = 3 : i64, pipe.stage_at = ["a"]} {
  func.func @too_few_cuts(%x: !x) -> !x {
    %0 = graph.matmul %x, %x {graph.name = "a"} : !x, !x
    return %0 : !x
  }
}

// -----

!x = tensor<8x8xf32>

module attributes {pipe.stages = 2 : i64, pipe.stage_of_nodes = {a = 1 : i64, b = 0 : i64}} {
  func.func @stages_against_the_order(%x: !x) -> !x {
    %0 = graph.matmul %x, %x : !x, !x loc("a")
    // expected-error @unknown {{cannot put node 'b' on stage 0: node 'a' of stage 1 comes before it}}
    %1 = graph.matmul %0, %x : !x, !x loc("b")
    return %1 : !x
  }
}

// -----

!x = tensor<8x8xf32>

// expected-error @unknown {{cannot cut the model into 2 stages as annotated: no node with work is on stage 0}}
module attributes {pipe.stages = 2 : i64, pipe.stage_of_nodes = {a = 1 : i64}} {
  func.func @nothing_on_the_first_stage(%x: !x) -> !x {
    %0 = graph.matmul %x, %x : !x, !x loc("a")
    return %0 : !x
  }
}

// -----

!x = tensor<8x8xf32>

// expected-error @unknown {{cannot cut before 'c': no node from there on depends on an input}}
module attributes {pipe.stages = 2 : i64, pipe.stage_at = ["c"]} {
  func.func @cut_before_a_constant(%x: !x) -> (!x, !x) {
    %0 = graph.matmul %x, %x : !x, !x
    %1 = graph.matmul %0, %x : !x, !x
    %c = graph.constant {graph.name = "c"} dense<1.0> : !x
    return %1, %c : !x, !x
  }
}

// -----

!x = tensor<8x8xf32>

// expected-error @unknown {{cannot cut before 'x': it is an input; a stage can begin at 'b' or 'c'}}
module attributes {pipe.stages = 2 : i64, pipe.stage_at = ["x"]} {
  func.func @cut_before_an_input(%x: !x {graph.name = "x"}) -> !x {
    %0 = graph.matmul %x, %x : !x, !x loc("a")
    %1 = graph.matmul %0, %x : !x, !x loc("b")
    %2 = graph.matmul %1, %x : !x, !x loc("c")
    return %2 : !x
  }
}

// -----

!x = tensor<8x8xf32>

// expected-error @unknown {{cannot cut before 'w': it is a weight; a stage can begin at 'c'}}
module attributes {pipe.stages = 2 : i64, pipe.stage_at = ["w"]} {
  graph.parameter @w : tensor<8x8xf32>
  func.func @cut_before_a_weight(%x: !x) -> !x {
    %w = graph.get_parameter @w : !x
    %0 = graph.matmul %x, %x : !x, !x loc("a")
    %1 = graph.matmul %0, %x : !x, !x loc("b")
    %2 = graph.matmul %1, %w : !x, !x loc("c")
    return %2 : !x
  }
}

// -----

!x = tensor<8x8xf32>

// expected-error @unknown {{cannot cut before 'k': it is an output, and no node from there on depends on an input; a stage can begin at 'b'}}
module attributes {pipe.stages = 2 : i64, pipe.stage_at = ["k"]} {
  func.func @cut_before_an_output_that_is_constant(%x: !x) -> (!x, !x {graph.name = "k"}) {
    %0 = graph.matmul %x, %x : !x, !x loc("a")
    %1 = graph.matmul %0, %x : !x, !x loc("b")
    %c = graph.constant dense<1.0> : !x
    return %1, %c : !x, !x
  }
}
