// RUN: pcc-opt %s | pcc-opt | FileCheck %s

// Ten elements over four ranks: three each, the last rank has one and two of padding.
// CHECK-LABEL: @uneven
func.func @uneven() -> tensor<3xi64> {
  // CHECK: dist.global_index #split of 10 : tensor<3xi64>
  %i = dist.global_index #dist.sharding<"[10@tp:4]"> of 10 : tensor<3xi64>
  return %i : tensor<3xi64>
}

// CHECK-LABEL: @strided
func.func @strided() -> tensor<6xi64> {
  // CHECK: dist.global_index #split1 of 12 : tensor<6xi64>
  %i = dist.global_index #dist.sharding<"[3|4@tp:2]"> of 12 : tensor<6xi64>
  return %i : tensor<6xi64>
}
