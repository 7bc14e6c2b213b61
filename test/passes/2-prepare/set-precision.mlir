// RUN: pcc-opt %s --set-precision --split-input-file | FileCheck %s

// A weight that does not train is read in the asked type; a bias as well, since nothing reads it in another. Behind the last
// contraction all is computed in f32.
// CHECK-LABEL: module
// CHECK: graph.parameter @w : tensor<8x4xbf16> = <"m.bin", 0, 128, tensor<8x4xf32>, [#graph.cast<bf16>]>
// CHECK: graph.parameter @b : tensor<4xbf16> = {{.*}}#graph.cast<bf16>
// CHECK: graph.parameter @c : tensor<4xf32> = <"m.bin", 144, 16, tensor<4xf32>>
// CHECK-LABEL: @main
module attributes {graph.precision = bf16} {
  graph.parameter @w : tensor<8x4xf32> = <"m.bin", 0, 128, tensor<8x4xf32>>
  graph.parameter @b : tensor<4xf32> = <"m.bin", 128, 16, tensor<4xf32>>
  graph.parameter @c : tensor<4xf32> = <"m.bin", 144, 16, tensor<4xf32>>
  func.func @main(%x: tensor<2x8xf32>) -> (tensor<2x8xf32>) {
    %w = graph.get_parameter @w : tensor<8x4xf32>
    %b = graph.get_parameter @b : tensor<4xf32>
    %c = graph.get_parameter @c : tensor<4xf32>
    // CHECK-DAG: %[[X:.*]] = graph.cast %arg0 : tensor<2x8xf32> to tensor<2x8xbf16>
    // CHECK-DAG: %[[W:.*]] = graph.get_parameter @w : tensor<8x4xbf16>
    // CHECK-DAG: %[[B:.*]] = graph.get_parameter @b : tensor<4xbf16>
    // CHECK: %[[H:.*]] = graph.matmul %[[X]], %[[W]] : tensor<2x8xbf16>, tensor<8x4xbf16>
    // CHECK: graph.add %[[H]], %[[B]] : tensor<2x4xbf16>, tensor<4xbf16>
    // CHECK: graph.relu %{{.*}} : tensor<2x4xbf16>
    // CHECK: %[[Y:.*]] = graph.matmul %{{.*}}, %[[W]] {transpose_rhs} : tensor<2x4xbf16>, tensor<8x4xbf16>
    // CHECK: %[[WIDE:.*]] = graph.cast %[[Y]] : tensor<2x8xbf16> to tensor<2x8xf32>
    // CHECK: graph.log_softmax %[[WIDE]] over 1 : tensor<2x8xf32>
    %h = graph.matmul %x, %w : tensor<2x8xf32>, tensor<8x4xf32>
    %a = graph.add %h, %b : tensor<2x4xf32>, tensor<4xf32>
    %n = graph.layer_norm %a, %c from 1 epsilon 1.0e-05 : tensor<2x4xf32>, tensor<4xf32>
    %r = graph.relu %n : tensor<2x4xf32>
    %y = graph.matmul %r, %w {transpose_rhs} : tensor<2x4xf32>, tensor<8x4xf32>
    %l = graph.log_softmax %y over 1 : tensor<2x8xf32>
    return %l : tensor<2x8xf32>
  }
}

// -----

// Weights that train stay in f32, and are cast where they are used: an embedding's rows are cast, not the table.
// CHECK-LABEL: module
// CHECK: graph.parameter @table : tensor<8x4xf32>
// CHECK: graph.parameter @narrow : tensor<4x4xf32> = <"m.bin", 128, 32, tensor<4x4xf16>, [#graph.cast<f32>]>
// CHECK: graph.parameter @frozen : tensor<4x4xbf16>
// CHECK-LABEL: @main
module attributes {graph.precision = bf16, graph.training = {freeze = ["frozen"]}} {
  graph.parameter @table : tensor<8x4xf32> = <"m.bin", 0, 128, tensor<8x4xf32>>
  graph.parameter @narrow : tensor<4x4xf16> = <"m.bin", 128, 32, tensor<4x4xf16>>
  graph.parameter @frozen : tensor<4x4xf32>
  func.func @main(%ids: tensor<2xi64>) -> tensor<f32> {
    %table = graph.get_parameter @table : tensor<8x4xf32>
    // CHECK: %[[MASTER:.*]] = graph.get_parameter @narrow : tensor<4x4xf32>
    // CHECK: %[[W:.*]] = graph.cast %[[MASTER]] : tensor<4x4xf32> to tensor<4x4xbf16>
    %narrow = graph.get_parameter @narrow : tensor<4x4xf16>
    %frozen = graph.get_parameter @frozen : tensor<4x4xf32>
    // CHECK: %[[ROWS:.*]] = graph.gather %{{.*}}, %arg0 along 0 : tensor<8x4xf32>, tensor<2xi64>
    // CHECK: %[[X:.*]] = graph.cast %[[ROWS]] : tensor<2x4xf32> to tensor<2x4xbf16>
    %x = graph.gather %table, %ids along 0 : tensor<8x4xf32>, tensor<2xi64>
    // CHECK: graph.matmul %[[X]], %{{.*}} : tensor<2x4xbf16>, tensor<4x4xbf16>
    %h = graph.matmul %x, %frozen : tensor<2x4xf32>, tensor<4x4xf32>
    %n = graph.cast %h : tensor<2x4xf32> to tensor<2x4xf16>
    // CHECK-NEXT: graph.matmul %{{.*}}, %[[W]] : tensor<2x4xbf16>, tensor<4x4xbf16>
    %y = graph.matmul %n, %narrow : tensor<2x4xf16>, tensor<4x4xf16>
    // CHECK: graph.reduce sum %{{.*}} over [0, 1] : tensor<2x4xf32>
    %s = graph.cast %y : tensor<2x4xf16> to tensor<2x4xf32>
    %loss = graph.reduce sum %s over [0, 1] : tensor<2x4xf32>
    return %loss : tensor<f32>
  }
}

// -----

// Sums, and functions that lose digits, are made in f32; what meets a narrow operand of its own size is narrow again. A number that
// the type has is a constant of it; with another one the op is computed in f32.
// CHECK-LABEL: @main
module attributes {graph.precision = bf16} {
  graph.parameter @w : tensor<4x4xf32>
  func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %w = graph.get_parameter @w : tensor<4x4xf32>
    %half = graph.constant dense<0.5> : tensor<f32>
    %third = graph.constant dense<0.333> : tensor<f32>
    // CHECK-DAG: %[[HALF:.*]] = graph.constant dense<5.000000e-01> : tensor<bf16>
    // CHECK-DAG: %[[THIRD:.*]] = graph.constant dense<3.330000e-01> : tensor<f32>
    // CHECK: %[[H:.*]] = graph.matmul
    %h = graph.matmul %x, %w : tensor<2x4xf32>, tensor<4x4xf32>
    // CHECK: %[[A:.*]] = graph.mul %[[H]], %[[HALF]] : tensor<2x4xbf16>, tensor<bf16>
    %a = graph.mul %h, %half : tensor<2x4xf32>, tensor<f32>
    // CHECK: %[[WIDE:.*]] = graph.cast %[[A]] : tensor<2x4xbf16> to tensor<2x4xf32>
    // CHECK: %[[PRODUCT:.*]] = graph.mul %[[WIDE]], %[[THIRD]] : tensor<2x4xf32>, tensor<f32>
    // CHECK: %[[B:.*]] = graph.cast %[[PRODUCT]] {graph.name = "b"} : tensor<2x4xf32> to tensor<2x4xbf16>
    %b = graph.mul %a, %third {graph.name = "b"} : tensor<2x4xf32>, tensor<f32>
    // CHECK: %[[E:.*]] = graph.exp %{{.*}} : tensor<2x4xf32>
    %e = graph.exp %b : tensor<2x4xf32>
    // CHECK: %[[S:.*]] = graph.reduce sum %[[E]] over [1] keep : tensor<2x4xf32>
    %s = graph.reduce sum %e over [1] keep : tensor<2x4xf32>
    // CHECK: graph.div %[[E]], %[[S]] : tensor<2x4xf32>, tensor<2x1xf32>
    %p = graph.div %e, %s : tensor<2x4xf32>, tensor<2x1xf32>
    // CHECK: %[[SUM:.*]] = graph.add %{{.*}}, %{{.*}} : tensor<2x4xf32>, tensor<2x4xf32>
    // CHECK: %[[ROUNDED:.*]] = graph.cast %[[SUM]] : tensor<2x4xf32> to tensor<2x4xbf16>
    %r = graph.add %p, %b : tensor<2x4xf32>, tensor<2x4xf32>
    // CHECK: graph.matmul %[[ROUNDED]]
    %y = graph.matmul %r, %w : tensor<2x4xf32>, tensor<4x4xf32>
    return %y : tensor<2x4xf32>
  }
}

// -----

// Positions are not rounded, not even in products of them; a mask of huge numbers does not become one of infinities.
// CHECK-LABEL: @main
module attributes {graph.precision = f16} {
  graph.parameter @w : tensor<4x4xf32>
  func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %w = graph.get_parameter @w : tensor<4x4xf32>
    %h = graph.matmul %x, %w : tensor<2x4xf32>, tensor<4x4xf32>
    %i = graph.iota 0 : tensor<2x1xi64>
    %f = graph.cast %i : tensor<2x1xi64> to tensor<2x1xf32>
    %rates = graph.constant dense<[[1.0, 0.3, 0.1, 0.03]]> : tensor<1x4xf32>
    // CHECK: %[[ANGLE:.*]] = graph.matmul %{{.*}}, %{{.*}} : tensor<2x1xf32>, tensor<1x4xf32>
    %angle = graph.matmul %f, %rates : tensor<2x1xf32>, tensor<1x4xf32>
    // CHECK: %[[COS:.*]] = graph.cos %[[ANGLE]] : tensor<2x4xf32>
    // CHECK: graph.cast %[[COS]] : tensor<2x4xf32> to tensor<2x4xf16>
    %cos = graph.cos %angle : tensor<2x4xf32>
    // CHECK: graph.mul %{{.*}} : tensor<2x4xf16>, tensor<2x4xf16>
    %t = graph.mul %h, %cos : tensor<2x4xf32>, tensor<2x4xf32>
    %zero = graph.constant dense<0.0> : tensor<f32>
    %least = graph.constant dense<-3.0e38> : tensor<f32>
    %seen = graph.compare ge %i, %i : tensor<2x1xi64>, tensor<2x1xi64>
    // CHECK: %[[MASK:.*]] = graph.select
    // CHECK: graph.max %[[MASK]]
    // CHECK: graph.min
    // CHECK: graph.cast %{{.*}} : tensor<2x1xf32> to tensor<2x1xf16>
    %mask = graph.select %seen, %zero, %least : tensor<2x1xi1>, tensor<f32>, tensor<f32>
    %m = graph.add %t, %mask : tensor<2x4xf32>, tensor<2x1xf32>
    %y = graph.matmul %m, %w : tensor<2x4xf32>, tensor<4x4xf32>
    return %y : tensor<2x4xf32>
  }
}

// -----

// A narrow model can be computed in f32.
// CHECK-LABEL: @main
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xbf16>) -> tensor<2x4xbf16>
module attributes {graph.precision = f32} {
  graph.parameter @w : tensor<4x4xbf16>
  func.func @main(%x: tensor<2x4xbf16>) -> tensor<2x4xbf16> {
    // CHECK-DAG: %[[WIDE:.*]] = graph.cast %[[X]] : tensor<2x4xbf16> to tensor<2x4xf32>
    // CHECK-DAG: %[[W:.*]] = graph.get_parameter @w : tensor<4x4xf32>
    // CHECK: %[[Y:.*]] = graph.matmul %[[WIDE]], %[[W]] : tensor<2x4xf32>, tensor<4x4xf32>
    // CHECK: %[[OUT:.*]] = graph.cast %[[Y]] : tensor<2x4xf32> to tensor<2x4xbf16>
    // CHECK: return %[[OUT]]
    %w = graph.get_parameter @w : tensor<4x4xbf16>
    %y = graph.matmul %x, %w : tensor<2x4xbf16>, tensor<4x4xbf16>
    return %y : tensor<2x4xbf16>
  }
}

// -----

// An op that reads an input and a weight of one dim computes in f32, too.
// CHECK-LABEL: @main
module attributes {graph.precision = f32} {
  graph.parameter @b : tensor<4xbf16>
  graph.parameter @w : tensor<4x4xbf16>
  func.func @main(%x: tensor<2x4xbf16>) -> tensor<2x4xbf16> {
    // CHECK: %[[A:.*]] = graph.add %{{.*}}, %{{.*}} : tensor<2x4xf32>, tensor<4xf32>
    // CHECK: graph.matmul %[[A]], %{{.*}} : tensor<2x4xf32>, tensor<4x4xf32>
    %b = graph.get_parameter @b : tensor<4xbf16>
    %w = graph.get_parameter @w : tensor<4x4xbf16>
    %a = graph.add %x, %b : tensor<2x4xbf16>, tensor<4xbf16>
    %y = graph.matmul %a, %w : tensor<2x4xbf16>, tensor<4x4xbf16>
    return %y : tensor<2x4xbf16>
  }
}

// -----

// Rows of a narrow table that is trained, and therefore stored in f32, are f32 up to a contraction.
// CHECK-LABEL: @main
module attributes {graph.precision = bf16, graph.training = {freeze = []}} {
  graph.parameter @table : tensor<8x4xbf16>
  func.func @main(%ids: tensor<2xi64>, %scale: tensor<4xbf16>) -> tensor<2x2xbf16> {
    // CHECK: %[[TABLE:.*]] = graph.get_parameter @table : tensor<8x4xf32>
    // CHECK: %[[ROWS:.*]] = graph.gather %[[TABLE]], %arg0 along 0 : tensor<8x4xf32>, tensor<2xi64>
    // CHECK: %[[SCALED:.*]] = graph.mul %[[ROWS]], %{{.*}} : tensor<2x4xf32>, tensor<4xf32>
    // CHECK: %[[X:.*]] = graph.cast %[[SCALED]] : tensor<2x4xf32> to tensor<2x4xbf16>
    // CHECK: graph.matmul %[[X]], %[[X]] {{.*}}tensor<2x4xbf16>
    %table = graph.get_parameter @table : tensor<8x4xbf16>
    %rows = graph.gather %table, %ids along 0 : tensor<8x4xbf16>, tensor<2xi64>
    %x = graph.mul %rows, %scale : tensor<2x4xbf16>, tensor<4xbf16>
    %y = graph.matmul %x, %x {transpose_rhs} : tensor<2x4xbf16>, tensor<2x4xbf16>
    return %y : tensor<2x2xbf16>
  }
}
