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
  /// Pointer to the first element of the matrix. The pointer is aligned to 16
  /// bytes.
  mlir::Value memory;
  /// Number of elements from one row of the matrix to the next. A row must
  /// begin at a multiple of 16 bytes.
  int64_t pitch;
};

/// Emits products of small matrices on tensor cores. Each matrix is distributed
/// over the 32 threads of a warp, which must execute the code together.
class WarpProduct {
public:
  /// Sizes of a matrix product left · right. `rows` is the number of rows of
  /// the left matrix. `columns` is the number of columns of the right matrix.
  /// The left matrix has as many columns as the right matrix has rows. This
  /// number is a multiple of `depth`. Example: a 16 x 24 matrix is multiplied
  /// by a 24 x 8 matrix, and 24 is a multiple of 8.
  static constexpr int64_t rows = 16, columns = 8, depth = 8;
  /// Number of threads of a warp (lanes) that share a row of a 16 x 8 result.
  static constexpr int64_t lanesOfRow = 4;

  /// Two neighboring elements of an operand: two values for f32, one packed i32
  /// for bf16 and f16.
  using Pair = llvm::SmallVector<mlir::Value, 2>;
  /// Elements of a 16 x 8 left matrix that one thread holds. Thread t of the
  /// warp holds columns 2 (t % 4) and 2 (t % 4) + 1 of two rows. `top` is from
  /// row t / 4, and `bottom` is from row t / 4 + 8.
  struct Left {
    Pair top, bottom;
  };
  /// Elements (f32) of a 16 x 8 result that one thread holds. The elements are
  /// [g, c], [g, c + 1], [g + 8, c] and [g + 8, c + 1]. In thread t of the
  /// warp, g is t / 4, and c is 2 (t % 4).
  using Sums = llvm::SmallVector<mlir::Value, 4>;

  /// Prepares to emit matrix products left · right for the current thread.
  /// `element` is the element type of the left matrix and of the right matrix:
  /// f32, bf16 or f16. The elements of the result are always f32. `thread` is
  /// the index of the current thread in its block. `w` emits the code. `w` must
  /// outlive this object.
  WarpProduct(KernelWriter &w, mlir::Type element, const Index &thread);

  /// Returns the first of the two rows of a 16 x 8 result in which this thread
  /// holds elements. Thread t of the warp holds elements of rows g and g + 8,
  /// where g is t / 4. Example: thread 5 holds elements of rows 1 and 9, so the
  /// function returns 1.
  const Index &row() const { return g; }
  /// Returns the first of this thread's two neighboring columns of a 16 x 8
  /// result: 0, 2, 4 or 6.
  const Index &pair() const { return twoQuads; }
  /// Returns the index of this thread's warp in the block.
  const Index &warp() const { return warpNumber; }

  /// Returns this thread's elements of a 16 x 8 result that is 0 everywhere.
  Sums zeros() const;
  /// Emits the conversion of two f32 numbers to a pair of operand elements. For
  /// bf16 and f16, `first` is in the lower 16 bits of the returned i32.
  Pair pairOf(mlir::Value first, mlir::Value second) const;
  /// Emits the conversion of a result to the left operand of another product.
  /// `sums` are this thread's elements of the result. A result and a left
  /// operand are distributed over the threads in the same way, so threads
  /// exchange no elements.
  Left leftOf(llvm::ArrayRef<mlir::Value> sums) const;

  /// Emits the load of a right operand with `count` (a multiple of 8) rows and
  /// 8 columns. The operand is the transpose of 8 rows of `matrix`: column j
  /// has the first `count` elements of row `row` + j. The returned list has the
  /// elements for this thread. Entry i has two elements of column t / 4: those
  /// in rows 8 i + k and 8 i + k + 1. Here, t is the index of the thread in its
  /// warp, and k is 2 (t % 4).
  std::vector<Pair> rightFromRows(const SharedMatrix &matrix, int64_t row,
                                  int64_t count) const;
  /// Emits the load of a right operand from `matrix`: `count` rows from `row`
  /// on, and 8 columns from `column` on. `count` must be a multiple of 8. The
  /// returned list has the format of rightFromRows().
  std::vector<Pair> rightFromColumns(const SharedMatrix &matrix, int64_t column,
                                     int64_t row, int64_t count) const;

  /// Emits sums + left · right. `sums` and the result are 16 x 8 matrices.
  /// Entry i of `left` belongs to columns 8 i to 8 i + 7 of the left operand.
  /// Entry i of `right` belongs to rows 8 i to 8 i + 7 of the right operand.
  /// All values are the elements that this thread holds.
  Sums add(llvm::ArrayRef<mlir::Value> sums, llvm::ArrayRef<Left> left,
           llvm::ArrayRef<Pair> right) const;

private:
  /// Returns whether the left and the right matrix of a product have elements
  /// of type f32. The product of a 16 x 8 matrix and an 8 x 8 matrix takes
  /// three tensor core instructions if the elements are f32. This product takes
  /// one instruction if the elements are bf16 or f16.
  bool isWide() const { return element.isF32(); }
  /// Emits the conversion of `value` from f32 to a type of 16 bits. The member
  /// `element` is this type, bf16 or f16. Returns the 16 bits of the converted
  /// number as an i16.
  mlir::Value bitsOf(mlir::Value value) const;
  /// Emits sums + left · right for operands of type f32. The left operand is a
  /// 16 x 8 matrix. The right operand is an 8 x 8 matrix. `sums` and the result
  /// are 16 x 8 matrices. All arguments and the result contain only the
  /// elements that this thread holds.
  Sums addWide(llvm::ArrayRef<mlir::Value> sums, const Left &left,
               const Pair &right) const;
  /// Emits one tensor core instruction, which computes sums + left · right. The
  /// left operand is a 16 x k matrix, and the right operand is a k x 8 matrix.
  /// k is 8 if the operands are f32. If the operands are bf16 or f16, k is 8 or
  /// 16. `left` and `right` are the registers in which this thread holds
  /// elements of the operands.
  Sums multiply(llvm::ArrayRef<mlir::Value> sums,
                llvm::ArrayRef<mlir::Value> left,
                llvm::ArrayRef<mlir::Value> right) const;
  /// Strides, in elements, of a right operand in shared memory. The element in
  /// row k and column j has the offset `start` + k · `inside` + j · `across`.
  struct Steps {
    int64_t start, inside, across;
  };
  /// Emits the load of a right operand with `count` rows and 8 columns. `count`
  /// must be a multiple of 8. `steps` tells where the elements of the operand
  /// are in `matrix`. The returned list has the format of rightFromRows().
  std::vector<Pair> load(const SharedMatrix &matrix, const Steps &steps,
                         int64_t count) const;
  /// Emits the load of the two f32 elements that this thread holds of an 8 x 8
  /// right operand. The operand begins at element `start` of `matrix`, and has
  /// the strides in `steps`. Ignores `steps.start`.
  Pair loadPair(const SharedMatrix &matrix, const Steps &steps,
                int64_t start) const;
  /// Emits one ldmatrix instruction, which loads `count` (1, 2 or 4) blocks of
  /// 8 x 8 elements of 16 bits. Block i begins at element `start` + i · `step`
  /// of `matrix`. Thread t gets row t / 4 of each block, columns 2 (t % 4) and
  /// 2 (t % 4) + 1. `isTransposed` exchanges rows and columns.
  std::vector<Pair> loadSquares(const SharedMatrix &matrix, int64_t start,
                                int64_t step, int64_t count,
                                bool isTransposed) const;

  KernelWriter &w;
  const mlir::Type element;
  /// `lane` is the index of this thread in its warp. `g` is lane / 4, and
  /// `twoQuads` is 2 (lane % 4). `warpNumber` is the index of the warp in its
  /// block of threads.
  Index lane, g, twoQuads, warpNumber;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_WARPPRODUCT_H
