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
  /// Number of elements from one row of the matrix to the next. A row must
  /// begin at a multiple of 16 bytes.
  int64_t pitch;
};

/// Emits products of small matrices on tensor cores. Each matrix is distributed
/// over the 32 threads of a warp, which must execute the code together.
class WarpProduct {
public:
  /// Sizes of one product: 16 rows of the left operand, 8 columns of the right
  /// operand, groups of 8 contracted elements.
  static constexpr int64_t rows = 16, columns = 8, depth = 8;
  /// Number of threads of a warp (lanes) that share a row of a 16 x 8 result.
  static constexpr int64_t lanesOfRow = 4;

  /// Two neighboring elements of an operand: two values for f32, one packed i32
  /// for bf16 and f16.
  using Pair = llvm::SmallVector<mlir::Value, 2>;
  /// This thread's elements of a 16 x 8 left operand: two of row g (`top`) and
  /// two of row g + 8 (`bottom`). Thread t of the warp has g = t / 4.
  struct Left {
    Pair top, bottom;
  };
  /// This thread's four elements of a 16 x 8 result, all f32. For thread t of
  /// the warp, with g = t / 4 and c = 2 (t % 4), they are at
  ///
  ///   (g, c)   (g, c + 1)   (g + 8, c)   (g + 8, c + 1)
  using Sums = llvm::SmallVector<mlir::Value, 4>;

  /// `element` is the type of operands: f32, bf16 or f16. `thread` is the index
  /// of the current thread in its block. `w` must outlive this object.
  WarpProduct(KernelWriter &w, mlir::Type element, const Index &thread);

  /// Returns the first of this thread's two rows g and g + 8 of a 16 x 8
  /// result.
  const Index &row() const { return g; }
  /// Returns the first of this thread's two neighboring columns of a 16 x 8
  /// result: 0, 2, 4 or 6.
  const Index &pair() const { return twoQuads; }
  /// Returns the index of this thread's warp in the block.
  const Index &warp() const { return warpNumber; }

  /// Returns this thread's elements of a 16 x 8 result that is 0 everywhere.
  Sums zeros() const;
  /// Emits the conversion of two f32 to the element type of operands (f32, bf16
  /// or f16). Returns them as a pair of neighboring elements.
  Pair pairOf(mlir::Value first, mlir::Value second) const;
  /// Emits the conversion of a 16 x 8 result to the left operand of another
  /// product, which contracts the 8 columns. `sums` are this thread's elements
  /// of the result.
  Left leftOf(llvm::ArrayRef<mlir::Value> sums) const;

  /// Emits the loads of a right operand. Its element (k, j) is element (`row` +
  /// j, k) of `matrix`, for k < `count` and j < 8. `count` must be a multiple
  /// of 8. Returns this thread's elements: one pair for each 8 values of k.
  std::vector<Pair> rightFromRows(const SharedMatrix &matrix, int64_t row,
                                  int64_t count) const;
  /// Emits the loads of a right operand. Its element (k, j) is element (`row` +
  /// k, `column` + j) of `matrix`, for k < `count` and j < 8. `count` must be a
  /// multiple of 8. Returns this thread's elements: one pair for each 8 values
  /// of k.
  std::vector<Pair> rightFromColumns(const SharedMatrix &matrix, int64_t column,
                                     int64_t row, int64_t count) const;

  /// Emits sums + left · right, a 16 x 8 matrix. All arguments and the result
  /// are this thread's elements. Entry i of `left` and `right` belongs to the
  /// contracted elements 8 i to 8 i + 7.
  Sums add(llvm::ArrayRef<mlir::Value> sums, llvm::ArrayRef<Left> left,
           llvm::ArrayRef<Pair> right) const;

private:
  /// Returns whether operands are f32. A product then needs three tensor core
  /// instructions instead of one.
  bool isWide() const { return element.isF32(); }
  /// Emits the conversion of an f32 to `element` (bf16 or f16). Returns its
  /// bits as an i16.
  mlir::Value bitsOf(mlir::Value value) const;
  /// Emits sums + left · right with operands of type f32. The product contracts
  /// 8 elements.
  Sums addWide(llvm::ArrayRef<mlir::Value> sums, const Left &left,
               const Pair &right) const;
  /// Emits one tensor core instruction, which computes sums + left · right. It
  /// contracts one group of 8 elements, or two for bf16 and f16. `left` and
  /// `right` are this thread's registers of the operands.
  Sums multiply(llvm::ArrayRef<mlir::Value> sums,
                llvm::ArrayRef<mlir::Value> left,
                llvm::ArrayRef<mlir::Value> right) const;
  /// Layout of a right operand in shared memory. Element k of column j is at
  /// `start` + k · `inside` + j · `across`, counted in elements.
  struct Steps {
    int64_t start, inside, across;
  };
  /// Emits the loads of a right operand with `count` rows and 8 columns.
  /// `steps` is its layout in `matrix`. Returns this thread's elements: one
  /// pair for each 8 rows.
  std::vector<Pair> load(const SharedMatrix &matrix, const Steps &steps,
                         int64_t count) const;
  /// Emits the loads of this thread's two elements of a right operand of type
  /// f32 with 8 rows and 8 columns. The operand begins at element `start` of
  /// `matrix`. `steps` has the distances between its rows and columns.
  Pair loadPair(const SharedMatrix &matrix, const Steps &steps,
                int64_t start) const;
  /// Emits one ldmatrix instruction, which loads `count` (1, 2 or 4) squares of
  /// 8 x 8 elements of 16 bits. Square i begins at element `start` + i · `step`
  /// of `matrix`. Returns the two elements that this thread gets of each
  /// square.
  std::vector<Pair> loadSquares(const SharedMatrix &matrix, int64_t start,
                                int64_t step, int64_t count,
                                bool isTransposed) const;

  KernelWriter &w;
  const mlir::Type element;
  /// Position of this thread: its index in the warp (`lane`), its first row `g`
  /// and first column `twoQuads` in a 16 x 8 result, and the index of its warp
  /// in the block.
  Index lane, g, twoQuads, warpNumber;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_WARPPRODUCT_H
