// RUN: pcc-opt --erase-pins --split-input-file --verify-diagnostics %s

#half = #dist.sharding<"[8@tp:2]">
#whole = #dist.sharding<"[-]">

func.func @not_resharded(%x: tensor<8xf32> {dist.sharding = #half}) -> tensor<8xf32> {
  // expected-error @below {{has another sharding than its operand; insert-reshards must run before}}
  %0 = dist.pin %x to #whole value "x" {dist.shardings = [#whole], dist.split = #whole} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
