//===- WarpProduct.h - small matrix products on tensor cores --------------===//
//
// The 32 threads of a warp multiply a left matrix of 16 rows with a right
// matrix of 8 columns (the instruction mma.m16n8). The elements of the
// contraction are processed in groups of eight. In each group, a thread holds
// two neighboring elements of its rows and of its column:
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

/// Matrix in the shared memory of a block of threads.
struct SharedMatrix {
  /// Pointer to the first element, aligned to 16 bytes.
  mlir::Value memory;
  /// Number of elements from the start of one row to the start of the next.
  /// The distance is a multiple of 16 bytes.
  int64_t pitch;
};

/// Emits products of small matrices on tensor cores. Each matrix is distributed
/// over the 32 threads of a warp, all of which must execute the emitted code
/// together.
class WarpProduct {
public:
  /// Sizes of one product: a left operand has 16 rows, a right operand has 8
  /// columns, and the contracted dim is divided into groups of 8 elements.
  static constexpr int64_t rows = 16, columns = 8, depth = 8;
  /// Number of neighboring threads (lanes) of a warp that share one row of a
  /// 16 x 8 result.
  static constexpr int64_t lanesOfRow = 4;

  /// Two neighboring elements of an operand: two SSA values for f32, or one
  /// i32 that packs both elements for bf16 and f16.
  using Pair = llvm::SmallVector<mlir::Value, 2>;
  /// Elements that this thread holds of a left operand with 16 rows and one
  /// group of 8 columns: two elements of row g (`top`) and two of row g + 8
  /// (`bottom`). Here g is the number of the thread in its warp, divided by 4.
  struct Left {
    Pair top, bottom;
  };
  /// The four elements, all f32, that this thread holds of a 16 x 8 result:
  /// columns 2 · quad and 2 · quad + 1 of row g, then the same columns of row g
  /// + 8. For thread t of the warp, g is t / 4 and quad is t % 4.
  using Sums = llvm::SmallVector<mlir::Value, 4>;

  /// `element` is the type of operands: f32, bf16 or f16. `thread` is the
  /// number of the current thread in its block. `w` must outlive this object.
  WarpProduct(KernelWriter &w, mlir::Type element, const Index &thread);

  /// Returns g, the index of the first of this thread's two rows of a 16 x 8
  /// result: 0 to 7. The second row is g + 8.
  const Index &row() const { return g; }
  /// Returns the index of the first of this thread's two neighboring columns
  /// of a 16 x 8 result: 0, 2, 4 or 6.
  const Index &pair() const { return twoQuads; }
  /// Returns the number, within the block, of this thread's warp.
  const Index &warp() const { return warpNumber; }

  /// Returns a 16 x 8 result with all elements 0.
  Sums zeros() const;
  /// Emits the conversion of two f32 to two neighboring elements of an
  /// operand.
  Pair pairOf(mlir::Value first, mlir::Value second) const;
  /// Emits the conversion of `sums`, a 16 x 8 result, to the left operand of
  /// another product. The eight columns of `sums` become one group of the
  /// contracted dim of that product.
  Left leftOf(llvm::ArrayRef<mlir::Value> sums) const;

  /// Emits the loads of a right operand whose columns are rows of `matrix`:
  /// column j consists of the first `count` elements of row `row` + j. `count`,
  /// a multiple of 8, is the size of the contracted dim. Returns one pair per
  /// group of 8 contracted elements.
  std::vector<Pair> rightFromRows(const SharedMatrix &matrix, int64_t row,
                                  int64_t count) const;
  /// Emits the loads of a right operand whose columns are columns of `matrix`:
  /// column j consists of the elements in rows [row, row + count) of column
  /// `column` + j. `count`, a multiple of 8, is the size of the contracted dim.
  /// Returns one pair per group of 8 contracted elements.
  std::vector<Pair> rightFromColumns(const SharedMatrix &matrix, int64_t column,
                                     int64_t row, int64_t count) const;

  /// Emits sums + left · right, and returns the elements of the 16 x 8 result
  /// that this thread holds. `left` and `right` have one entry per group of 8
  /// elements of the contracted dim, so their lengths must be equal.
  Sums add(llvm::ArrayRef<mlir::Value> sums, llvm::ArrayRef<Left> left,
           llvm::ArrayRef<Pair> right) const;

private:
  /// Returns whether the operands have elements of type f32. If so, a product
  /// needs three tensor core instructions; bf16 and f16 need one.
  bool isWide() const { return element.isF32(); }
  /// Emits the conversion of `value`, an f32, to `element` (bf16 or f16).
  /// Returns the bits of the converted number as an i16.
  mlir::Value bitsOf(mlir::Value value) const;
  /// Emits sums + left · right for one group of 8 elements of the contracted
  /// dim, with f32 elements.
  Sums addWide(llvm::ArrayRef<mlir::Value> sums, const Left &left,
               const Pair &right) const;
  /// Emits one tensor core instruction, which computes sums + left · right. It
  /// contracts one group of 8 elements, or, for bf16 and f16, one or two
  /// groups. `left` and `right` are the registers in which this thread holds
  /// its elements of the operands.
  Sums multiply(llvm::ArrayRef<mlir::Value> sums,
                llvm::ArrayRef<mlir::Value> left,
                llvm::ArrayRef<mlir::Value> right) const;
  /// Places of a right operand's elements in a matrix in shared memory. Element
  /// k of column j has the offset start + k · inside + j · across, counted in
  /// elements.
  struct Steps {
    int64_t start, inside, across;
  };
  /// Emits the loads of a right operand whose contracted dim has `count`
  /// elements. `steps` are the offsets of the operand's elements in `matrix`.
  /// Returns one pair per group of 8 contracted elements.
  std::vector<Pair> load(const SharedMatrix &matrix, const Steps &steps,
                         int64_t count) const;
  /// Emits the loads of this thread's two f32 elements in one group of 8
  /// contracted elements. `start` is the offset of the group's first element in
  /// `matrix`.
  Pair loadPair(const SharedMatrix &matrix, const Steps &steps,
                int64_t start) const;
  /// Emits one ldmatrix instruction, which loads `count` (1, 2 or 4) squares of
  /// 8 x 8 elements of 16 bits from `matrix`. The first square begins at
  /// element `start`. Each further square begins `step` elements after the
  /// preceding one. Transposes the squares if `isTransposed` is true. Returns
  /// the pair of elements that this thread gets of each square.
  std::vector<Pair> loadSquares(const SharedMatrix &matrix, int64_t start,
                                int64_t step, int64_t count,
                                bool isTransposed) const;

  KernelWriter &w;
  const mlir::Type element;
  /// `lane` is the number of this thread in its warp. `g`, `twoQuads` and
  /// `warpNumber` are the results of row(), pair() and warp().
  Index lane, g, twoQuads, warpNumber;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_WARPPRODUCT_H
