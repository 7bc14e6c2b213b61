// RUN: pcc-opt --bucket-collectives --split-input-file %s | %python %source/test/inline-aliases.py | FileCheck %s

#rows = #dist.sharding<"[8@tp:2, -]">
#columns = #dist.sharding<"[-, 6@tp:2]">
#whole = #dist.sharding<"[-, -]">

// Both gathers become one of their elements in a row, rank by rank; the first is used only behind the second.
// CHECK-LABEL: @two_gathers
// CHECK-DAG:     %[[X:.*]] = graph.reshape %arg0 : tensor<4x3xf32> to tensor<12xf32>
// CHECK-DAG:     %[[Y:.*]] = graph.reshape %arg1 : tensor<5x3xf32> to tensor<15xf32>
// CHECK:         %[[P:.*]] = graph.concat %[[X]], %[[Y]] along 0
// CHECK:         dist.collective all_gather %{{.*}} from "[2@tp:2, -, -]" to "[-, -, -]" shape [2, 1, 27]
// CHECK-SAME:      received 108 value "x, y"
// CHECK-NOT:     dist.collective
// CHECK:         graph.slice %{{.*}} starts [0, 0] sizes [2, 12]
// CHECK:         graph.reshape %{{.*}} to tensor<8x3xf32>
// CHECK:         graph.slice %{{.*}} starts [0, 12] sizes [2, 15]
// CHECK:         %[[T:.*]] = graph.transpose %{{.*}} [1, 0, 2]
// CHECK:         graph.reshape %[[T]] {{.*}}to tensor<5x6xf32>
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @two_gathers(%x: tensor<4x3xf32>, %y: tensor<5x3xf32>) -> (tensor<8x3xf32>, tensor<5x6xf32>) {
    %0 = dist.collective all_gather %x from #rows to #whole shape [8, 3] received 48 value "x"
        : tensor<4x3xf32> to tensor<8x3xf32>
    %1 = dist.collective all_gather %y from #columns to #whole shape [5, 6] received 60 value "y"
        : tensor<5x3xf32> to tensor<5x6xf32>
    return %0, %1 : tensor<8x3xf32>, tensor<5x6xf32>
  }
}

// -----

#sum = #dist.sharding<"[-] partial sum(tp:2)">
#whole = #dist.sharding<"[-]">

// Ranks along dp have sums of their own.
// CHECK-LABEL: @two_sums
// CHECK:         dist.collective all_reduce %{{.*}} from "[-, 2@dp:2, -] partial sum(tp:2)" to "[-, 2@dp:2, -]"
// CHECK-SAME:      shape [1, 2, 12] received 48 value "x, y"
// CHECK-NOT:     dist.collective
module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>} {
  func.func @two_sums(%x: tensor<8xf32>, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
    %0 = dist.collective all_reduce %x from #sum to #whole shape [8] received 32 value "x"
        : tensor<8xf32> to tensor<8xf32>
    %1 = dist.collective all_reduce %y from #sum to #whole shape [4] received 16 value "y"
        : tensor<4xf32> to tensor<4xf32>
    return %0, %1 : tensor<8xf32>, tensor<4xf32>
  }
}

// -----

#sum = #dist.sharding<"[-] partial sum(tp:2)">
#max = #dist.sharding<"[-] partial max(tp:2)">
#whole = #dist.sharding<"[-]">

// Another reduction, another dtype, or what the first is needed for: calls of their own.
// CHECK-LABEL: @apart
// CHECK-COUNT-4: dist.collective all_reduce
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @apart(%x: tensor<4xf32>, %y: tensor<4xbf16>, %z: tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>) {
    %0 = dist.collective all_reduce %x from #sum to #whole shape [4] received 16 value "x"
        : tensor<4xf32> to tensor<4xf32>
    %1 = dist.collective all_reduce %y from #sum to #whole shape [4] received 8 value "y"
        : tensor<4xbf16> to tensor<4xbf16>
    %2 = dist.collective all_reduce %z from #max to #whole shape [4] received 16 value "z"
        : tensor<4xf32> to tensor<4xf32>
    %3 = graph.mul %0, %2 : tensor<4xf32>, tensor<4xf32>
    %4 = dist.collective all_reduce %3 from #sum to #whole shape [4] received 16 value "p"
        : tensor<4xf32> to tensor<4xf32>
    return %4, %1, %2 : tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>
  }
}

// -----

#sum = #dist.sharding<"[-] partial sum(tp:2)">
#whole = #dist.sharding<"[-]">

// Packing half a megabyte takes longer than a call.
// CHECK-LABEL: @large
// CHECK-COUNT-2: dist.collective all_reduce
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @large(%x: tensor<131072xf32>, %y: tensor<131072xf32>) -> (tensor<131072xf32>, tensor<131072xf32>) {
    %0 = dist.collective all_reduce %x from #sum to #whole shape [131072] received 524288 value "x"
        : tensor<131072xf32> to tensor<131072xf32>
    %1 = dist.collective all_reduce %y from #sum to #whole shape [131072] received 524288 value "y"
        : tensor<131072xf32> to tensor<131072xf32>
    return %0, %1 : tensor<131072xf32>, tensor<131072xf32>
  }
}

// -----

#uneven = #dist.sharding<"[7@tp:2]">
#whole = #dist.sharding<"[-]">

// A bucket of uneven pieces would bring padding along.
// CHECK-LABEL: @uneven
// CHECK-COUNT-2: dist.collective all_gather
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @uneven(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<7xf32>, tensor<7xf32>) {
    %0 = dist.collective all_gather %x from #uneven to #whole shape [7] received 16 value "x"
        : tensor<4xf32> to tensor<7xf32>
    %1 = dist.collective all_gather %y from #uneven to #whole shape [7] received 16 value "y"
        : tensor<4xf32> to tensor<7xf32>
    return %0, %1 : tensor<7xf32>, tensor<7xf32>
  }
}
