"""Prints a model whose outputs y0, y1, … are x times a scale each, plus an offset each, raised to a power each."""
import sys

n = int(sys.argv[1])
print('func.func @main(%x: tensor<4x8xf32> {graph.name = "x"}) -> (')
print(",\n".join(f'    tensor<4x8xf32> {{graph.name = "y{i}"}}' for i in range(n)) + ") {")
for i in range(n):
    print(f"  %scale{i} = graph.constant dense<{0.5 + i / 8:e}> : tensor<f32>")
    print(f"  %offset{i} = graph.constant dense<{i / 4:e}> : tensor<1x1xf32>")
    print(f"  %power{i} = graph.constant dense<{i % 3 + 1:e}> : tensor<f32>")
    print(f"  %a{i} = graph.mul %x, %scale{i} : tensor<4x8xf32>, tensor<f32>")
    print(f"  %b{i} = graph.add %a{i}, %offset{i} : tensor<4x8xf32>, tensor<1x1xf32>")
    print(f"  %y{i} = graph.pow %b{i}, %power{i} : tensor<4x8xf32>, tensor<f32>")
print(f"  return {', '.join(f'%y{i}' for i in range(n))} : {', '.join(['tensor<4x8xf32>'] * n)}\n}}")
