package cpu

const (
	// taskRows are the rows of A in one task when there are many: BLOCK_M of
	// gemm_f32.c, so that a task's part of A stays in the second-level cache.
	taskRows = 120
	// tasksPerThread is enough for the threads to finish at nearly the same time.
	tasksPerThread = 8
	// taskWork is what is worth waking another thread for, 10 to 20 µs: that many
	// multiply-adds, where reading an element of W costs as much as two.
	taskWork = 1 << 19
)

// GemmF32 is the function [GemmF32] on the threads of the pool, with the same
// result to the last bit: few rows are split over panels of W, many over blocks
// of rows as well.
func (p *Pool) GemmF32(dst []float32, ldd int, a []float32, lda, m int, w *PackedF32, n, k int, bias []float32) {
	checkGemmF32(dst, ldd, a, lda, m, w, n, k, bias)
	if m == 0 || n == 0 {
		return
	}
	rowTasks, colTasks, cols := p.split(m, n, k)
	if rowTasks*colTasks == 1 {
		active.gemmF32(dst, ldd, a, lda, m, w, 0, n, k, bias)
		return
	}
	p.Run(rowTasks*colTasks, func(task int) {
		i, j := task/colTasks*taskRows, task%colTasks*cols
		active.gemmF32(dst[i*ldd:], ldd, a[i*lda:], lda, min(taskRows, m-i), w, j, min(j+cols, n), k, bias)
	})
}

// split returns how many blocks of taskRows rows, and how many of cols columns, a
// product is worth. cols is a multiple of the four panels that the kernel for one
// row takes at once.
func (p *Pool) split(m, n, k int) (rowTasks, colTasks, cols int) {
	const step = 4 * panelRows
	most := min(p.Threads()*tasksPerThread, (m+2)*n*k/taskWork)
	if p.Threads() == 1 || most <= 1 {
		return 1, 1, n
	}
	rowTasks = ceilDiv(m, taskRows)
	steps := ceilDiv(n, step)
	colTasks = min(steps, ceilDiv(most, rowTasks))
	cols = ceilDiv(steps, colTasks) * step
	return rowTasks, ceilDiv(n, cols), cols
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
