//===- WarpProduct.h - small matrix products on tensor cores --------------===//
//
// The 32 threads of a warp multiply a left matrix of 16 rows with a right
// matrix of 8 columns (the instruction mma.m16n8). The elements of the
// contraction are processed in groups of eight. In each group, a thread holds
// two neighbouring elements of its rows and of its column:
//
//   left, 16 x 8              right, 8 x 8              sums, 16 x 8
//   row g:      t0 t1 t2 t3   rows 0, 1:  t0 of col g   row g:      t0 t1 t2 t3
//   row g + 8:  t0 t1 t2 t3   rows 2, 3:  t1 of col g   row g + 8:  t0 t1 t2 t3
//
// with g = lane / 4, quad = lane % 4, and two elements at each t<quad>. Sums
// have the layout of a left operand, so that they can become the left operand
// of another product without data movement.
//
// bf16 and f16 are multiplied exactly and summed in f32. An f32 is split into
// two tf32 numbers of 11 bits. The three larger ones of their four products are
// summed (Ootomo and Yokota 2022; 3xTF32 of CUTLASS), with a relative error of
// about 2^-21 per product. An infinite f32 has no finite rest, so that its sums
// are NaN.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_WARPPRODUCT_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_WARPPRODUCT_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Matrix in shared memory.
struct SharedMatrix {
  /// Pointer to the first element, aligned to 16 bytes.
  mlir::Value memory;
  /// Number of elements from one row to the next: a multiple of 16 bytes.
  int64_t pitch;
};

/// Emitter of products of small matrices. All threads of a warp must execute
/// the emitted code together.
class WarpProduct {
public:
  /// Number of rows of a left operand, of columns of a right operand, and of
  /// elements of the contraction in a group.
  static constexpr int64_t rows = 16, columns = 8, depth = 8;
  /// Number of neighbouring lanes that share a row of sums.
  static constexpr int64_t lanesOfRow = 4;

  /// Two neighbouring elements: one i32 for bf16 and f16, two values for f32.
  using Pair = llvm::SmallVector<mlir::Value, 2>;
  /// This thread's part of a left operand of 16 rows and 8 elements of the
  /// contraction: two elements of row g and two of row g + 8.
  struct Left {
    Pair top, bottom;
  };
  /// This thread's part of 16 x 8 sums, in f32: columns 2 · quad and
  /// 2 · quad + 1 of row g, then of row g + 8.
  using Sums = llvm::SmallVector<mlir::Value, 4>;

  /// `element` is f32, bf16 or f16. `thread` is the number of the current
  /// thread in its block. `w` is borrowed.
  WarpProduct(KernelWriter &w, mlir::Type element, const Index &thread);

  /// Returns g, the first of this thread's two rows of a product: 0 to 7.
  const Index &row() const { return g; }
  /// Returns 2 · quad, the first of this thread's two columns of a product: 0,
  /// 2, 4 or 6.
  const Index &pair() const { return twoQuads; }
  /// Returns the number of this thread's warp in the block.
  const Index &warp() const { return warpNumber; }

  /// Returns sums of 0.
  Sums zeros() const;
  /// Converts two f32 to neighbouring elements of an operand.
  Pair pairOf(mlir::Value first, mlir::Value second) const;
  /// Converts sums to the left operand of another product, which contracts the
  /// eight columns of the sums.
  Left leftOf(llvm::ArrayRef<mlir::Value> sums) const;

  /// Emits the loads of a right operand whose column j is row `row` + j of
  /// `matrix`. The contraction runs over the first `count` elements of the
  /// rows; `count` is a multiple of 8. Returns one pair per group of eight.
  std::vector<Pair> rightFromRows(const SharedMatrix &matrix, int64_t row,
                                  int64_t count) const;
  /// Emits the loads of a right operand whose column j is column `column` + j
  /// of `matrix`. The contraction runs over the rows [row, row + count);
  /// `count` is a multiple of 8.
  std::vector<Pair> rightFromColumns(const SharedMatrix &matrix, int64_t column,
                                     int64_t row, int64_t count) const;

  /// Emits sums + Σ left[i] · right[i], where i is the number of a group of
  /// eight elements of the contraction. `left` and `right` have equal lengths.
  Sums add(llvm::ArrayRef<mlir::Value> sums, llvm::ArrayRef<Left> left,
           llvm::ArrayRef<Pair> right) const;

private:
  /// Returns whether elements are f32, so that each product needs three
  /// instructions.
  bool isWide() const { return element.isF32(); }
  /// Converts an f32 to the narrow element type; returns its bits as an i16.
  mlir::Value bitsOf(mlir::Value value) const;
  /// Emits sums + left · right for one group of f32 elements.
  Sums addWide(llvm::ArrayRef<mlir::Value> sums, const Left &left,
               const Pair &right) const;
  /// Emits one tensor core instruction. `left` and `right` are its registers.
  Sums multiply(llvm::ArrayRef<mlir::Value> sums,
                llvm::ArrayRef<mlir::Value> left,
                llvm::ArrayRef<mlir::Value> right) const;
  /// Layout of a right operand in a matrix, in elements: position of the first
  /// element, step to the next element of the contraction, and step to the next
  /// column.
  struct Steps {
    int64_t start, inside, across;
  };
  /// Emits the loads of a right operand with `count` elements of the
  /// contraction.
  std::vector<Pair> load(const SharedMatrix &matrix, const Steps &steps,
                         int64_t count) const;
  /// Emits the loads of two f32 elements of the group that begins at `start`.
  Pair loadPair(const SharedMatrix &matrix, const Steps &steps,
                int64_t start) const;
  /// Emits one ldmatrix instruction on 1, 2 or 4 square matrices of 8 x 8
  /// elements of 16 bits. The first one begins at `start`, and each further one
  /// `step` elements behind the one before. Transposes them if `isTransposed`.
  /// Returns one pair per square.
  std::vector<Pair> loadSquares(const SharedMatrix &matrix, int64_t start,
                                int64_t step, int64_t count,
                                bool isTransposed) const;

  KernelWriter &w;
  const mlir::Type element;
  /// Number of the thread in its warp, and what row(), pair() and warp()
  /// return.
  Index lane, g, twoQuads, warpNumber;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_WARPPRODUCT_H
